#include "assay/task/counts.h"

#include <nlohmann/json.hpp>

namespace assay::task {

Counts& Counts::operator+=(const Counts& other) {
  matched += other.matched;
  decided += other.decided;
  wanted += other.wanted;
  return *this;
}

Sums& Sums::operator+=(const Sums& other) {
  records += other.records;
  whole += other.whole;
  items += other.items;
  right += other.right;
  surprise += other.surprise;
  spans += other.spans;
  if (classes.size() < other.classes.size()) classes.resize(other.classes.size());
  for (std::size_t c = 0; c < other.classes.size(); ++c) classes[c] += other.classes[c];
  if (amounts.size() < other.amounts.size()) amounts.resize(other.amounts.size());
  for (std::size_t i = 0; i < other.amounts.size(); ++i) amounts[i] += other.amounts[i];
  return *this;
}

std::optional<double> share(std::uint64_t part, std::uint64_t whole) {
  if (whole == 0) return std::nullopt;
  return static_cast<double>(part) / whole;
}

std::optional<double> precision(const Counts& counts) { return share(counts.matched, counts.decided); }
std::optional<double> recall(const Counts& counts) { return share(counts.matched, counts.wanted); }
std::optional<double> dice(const Counts& counts) {
  return share(2 * counts.matched, counts.decided + counts.wanted);
}
std::optional<double> intersection_over_union(const Counts& counts) {
  return share(counts.matched, counts.decided + counts.wanted - counts.matched);
}

double mean_over_classes(const Sums& sums, const Measure& measure) {
  double sum = 0;
  std::size_t defined = 0;
  for (const Counts& counts : sums.classes) {
    const std::optional<double> value = measure(counts);
    if (!value) continue;
    sum += *value;
    ++defined;
  }
  return defined == 0 ? 0 : sum / defined;
}

void add_by_class(std::vector<Figure>& figures, const std::string& name, const Sums& sums,
                  const Measure& measure) {
  for (std::size_t c = 0; c < sums.classes.size(); ++c) {
    if (const auto value = measure(sums.classes[c]))
      figures.push_back({.name = name, .of_class = static_cast<std::int64_t>(c), .value = *value});
  }
}

void count_record(Sums& sums) {
  sums.records = sums.items > 0 ? 1 : 0;
  sums.whole = sums.items > 0 && sums.right == sums.items ? 1 : 0;
}

Sums sums_of(const Judgement& judgement, std::size_t classes) {
  const bool by_class = classes <= most_counted_classes;
  Sums sums{.classes = std::vector<Counts>(by_class ? classes : 0)};
  for (std::size_t i = 0; i < judgement.wanted.size(); ++i) {
    const std::int64_t wanted = judgement.wanted[i], decided = judgement.decided[i];
    if (wanted < 0) continue;
    const bool right = decided == wanted;
    ++sums.items;
    sums.right += right ? 1 : 0;
    if (!by_class) continue;
    Counts& counts = sums.classes[wanted];
    ++counts.wanted;
    counts.matched += right ? 1 : 0;
    if (decided >= 0) ++sums.classes[decided].decided;
  }
  count_record(sums);
  return sums;
}

void to_json(nlohmann::json& json, const Counts& counts) {
  json = nlohmann::json::array({counts.matched, counts.decided, counts.wanted});
}

void from_json(const nlohmann::json& json, Counts& counts) {
  json.at(0).get_to(counts.matched);
  json.at(1).get_to(counts.decided);
  json.at(2).get_to(counts.wanted);
}

void to_json(nlohmann::json& json, const Sums& sums) {
  json = nlohmann::json::array({sums.records, sums.whole, sums.items, sums.right, sums.surprise, sums.classes,
                                sums.spans, sums.amounts});
}

void from_json(const nlohmann::json& json, Sums& sums) {
  json.at(0).get_to(sums.records);
  json.at(1).get_to(sums.whole);
  json.at(2).get_to(sums.items);
  json.at(3).get_to(sums.right);
  json.at(4).get_to(sums.surprise);
  json.at(5).get_to(sums.classes);
  json.at(6).get_to(sums.spans);
  json.at(7).get_to(sums.amounts);
}

}  // namespace assay::task
