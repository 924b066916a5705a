#include "assay/results/document.h"

#include <algorithm>
#include <iterator>

#include "assay/results/label_warnings.h"

namespace assay::results {
namespace {

template <typename T>
void append_list(std::vector<T>& list, std::vector<T>& more) {
  list.insert(list.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

}  // namespace

void append(report::Document& document, report::Document more) {
  if (!more.headline.empty()) document.headline = std::move(more.headline);
  append_list(document.facts, more.facts);
  append_list(document.tables, more.tables);
  append_list(document.gates, more.gates);
  append_list(document.warnings, more.warnings);
  append_list(document.pictures, more.pictures);
  append_list(document.notices, more.notices);
  append_list(document.definitions, more.definitions);
  append_list(document.provenance, more.provenance);
}

void add_provenance(report::Document& document, const std::string& name, const Dataset& data) {
  document.provenance.emplace_back(name, data.describe());
  document.provenance.emplace_back(name + "_hash", data.hash());
  add_numbering_notice(document, data);
}

void add_provenance(report::Document& document, const Graph& network,
                    const std::vector<std::pair<std::string, DatasetPtr>>& datasets) {
  document.provenance.emplace_back("model", network.name());
  document.provenance.emplace_back("model_hash", network.hash());
  for (const auto& [name, dataset] : datasets) add_provenance(document, name, *dataset);
}

void add_network_notices(report::Document& document, const Session& session) {
  const auto add = [&](const std::string& notice) {
    const auto is_there = [&](const Message& one) { return std::string(one) == notice; };
    if (std::ranges::none_of(document.notices, is_there)) document.notices.emplace_back(notice);
  };
  std::ranges::for_each(session.graph().notices(), add);
  std::ranges::for_each(session.notices(), add);
}

void add_provenance(report::Document& document, const Session& session,
                    const std::vector<std::pair<std::string, DatasetPtr>>& datasets) {
  add_provenance(document, session.graph(), datasets);
  add_network_notices(document, session);
}

report::Fact count_fact(std::string id, std::string title, std::uint64_t count) {
  return {std::move(id), std::move(title), report::count_cell(count), Kind::count};
}

std::optional<double> defined_share(std::uint64_t part, std::uint64_t all) {
  return all > 0 ? std::optional(share_of(part, all)) : std::nullopt;
}

std::optional<double> low_of(const OptionalInterval& interval) {
  return interval ? std::optional(interval->first) : std::nullopt;
}
std::optional<double> high_of(const OptionalInterval& interval) {
  return interval ? std::optional(interval->second) : std::nullopt;
}

double share_of(std::uint64_t part, std::uint64_t all) { return static_cast<double>(part) / all; }

report::Table figures_for_gates(std::span<const report::Measurement> figures) {
  report::Table table = report::criteria_table(figures);
  table.title = "Figures for gates";
  return detailed(std::move(table));
}

std::string class_name(const std::vector<std::string>& names, std::int64_t number) {
  return number >= 0 && static_cast<std::size_t>(number) < names.size() ? names[number]
                                                                        : std::to_string(number);
}

}  // namespace assay::results
