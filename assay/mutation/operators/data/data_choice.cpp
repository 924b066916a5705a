#include "assay/mutation/operators/data/data_choice.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

#include <assay/error.h>
#include "assay/data/views.h"

namespace assay::mutation {
namespace {

std::map<std::int64_t, std::size_t> records_by_class(const Dataset& data) {
  std::map<std::int64_t, std::size_t> counts;
  for (std::size_t i = 0; i < data.size(); ++i) ++counts[data.label(i)];
  return counts;
}

// Most records first.
std::vector<std::int64_t> by_frequency(const std::map<std::int64_t, std::size_t>& counts) {
  std::vector<std::int64_t> order;
  for (const auto& [number, count] : counts) order.push_back(number);
  std::ranges::stable_sort(order, std::greater(), [&](std::int64_t number) { return counts.at(number); });
  return order;
}

}  // namespace

std::vector<SpecOption> data_options(const std::string& ratio, const std::string& share,
                                     const std::string& classes) {
  return {{"ratio", ratio, "share of the records " + share + ", in [0, 1]"},
          {"classes", classes,
           "whose records: all, random (one class, drawn by the seed), frequent (the one with most records), "
           "rare (those with fewer than the mean) or names joined by +, such as 3+5"}};
}

std::vector<std::int64_t> classes_meant(const std::string& text, const ProgramSite& site,
                                        const Dataset& data) {
  static const std::array<std::string, 5> words{"all", "random", "frequent", "next", "rare"};
  if (std::ranges::count(words, text) == 0) return classes_named(text, data);
  const std::map<std::int64_t, std::size_t> counts = records_by_class(data);
  const std::vector<std::int64_t> order = by_frequency(counts);
  if (text == "random") return {order[site.rng.below(order.size())]};
  if (text == "frequent") return {order.front()};
  if (text == "next") return {order[order.size() > 1 ? 1 : 0]};
  if (text == "all") return order;
  std::vector<std::int64_t> rare;
  for (const std::int64_t number : order)
    if (counts.at(number) * counts.size() < data.size()) rare.push_back(number);
  return rare;
}

std::vector<std::size_t> candidates(const ProgramSite& site, const Dataset& data) {
  const std::string& names = site.options.text("classes");
  std::vector<std::size_t> positions(data.size());
  std::iota(positions.begin(), positions.end(), std::size_t{0});
  if (names == "all") return positions;
  const std::vector<std::int64_t> wanted = classes_meant(names, site, data);
  std::erase_if(positions, [&](std::size_t i) { return std::ranges::count(wanted, data.label(i)) == 0; });
  return positions;
}

std::vector<std::size_t> chosen_records(const ProgramSite& site, const Dataset& data) {
  const double ratio = site.options.number("ratio", 0);
  if (ratio > 1)
    fail(Fault::usage, "{}: ratio={} is not in [0, 1]", site.options.owner(), site.options.text("ratio"));
  std::vector<std::size_t> records = candidates(site, data);
  site.rng.shuffle(records);
  const std::size_t count = std::llround(ratio * records.size());
  records.resize(std::min(records.size(), std::max<std::size_t>(ratio > 0, count)));
  return records;
}

void alter(const ProgramSite& site, Program& program, const std::vector<std::size_t>& chosen,
           const std::string& mark, std::function<void(Rng& rng, std::span<float> values)> change) {
  std::vector<bool> marked(program.training->size());
  for (const std::size_t i : chosen) marked[i] = true;
  const std::uint64_t seed = site.rng.next();
  program.training = altered(
      program.training, std::move(marked),
      [seed, change = std::move(change)](std::size_t position, std::span<float> values) {
        Rng rng(seed, {position});
        change(rng, values);
      },
      fmt::format("{} {}", mark, seed));
}

ElementRange range_of(const Dataset& data, std::size_t channel) {
  if (!data.valid_range()) return {};
  const ValidRange& range = *data.valid_range();
  return {range.low[std::min(channel, range.low.size() - 1)],
          range.high[std::min(channel, range.high.size() - 1)]};
}

bool yes(const SpecOptions& options, const std::string& name) {
  static const std::array<std::string, 2> words{"true", "false"};
  return options.word(name, words) == "true";
}

std::string needs_labels(const Program& program) {
  const Dataset& data = *program.training;
  if (data.has_labels()) return "";
  if (data.target_width() == 1 && data.class_count() > 1)
    return "it takes the label of each training record, and the task (embedding) has the number of the class "
           "as a target in its place";
  return data.target_width() > 0
             ? "it takes the class of each training record, and the task trains on items or numbers"
             : "the training data have no labels";
}

std::string needs_classes(const Program& program) {
  const std::string reason = needs_labels(program);
  return reason.empty() && program.training->class_count() < 2 ? "the training data have one class only"
                                                               : reason;
}

std::string needs_labels_for_classes(const Program& program, const SpecOptions& options) {
  return options.text("classes") == "all" ? "" : needs_labels(program);
}

std::string needs_numbers(const Program& program, const SpecOptions& options) {
  return program.training->dtype() == DType::float32
             ? needs_labels_for_classes(program, options)
             : "the inputs are whole numbers with a meaning, such as tokens";
}

ProgramFault data_fault(
    std::function<std::string(const Program& program, const SpecOptions& options)> refusal,
    std::function<ProgramChange(const ProgramSite& site, Program& program)> apply, double extreme) {
  return {.places = [refusal = std::move(refusal)](
                        const Program& program, const Subject&,
                        const SpecOptions& options) { return data_place(refusal(program, options)); },
          .apply = std::move(apply),
          .option = "ratio",
          .range = [extreme](const Program&) { return OptionRange{.mildest = 0, .extreme = extreme}; }};
}

}  // namespace assay::mutation
