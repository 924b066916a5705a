#include "assay/results/testing/comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include <assay/error.h>

#include "assay/results/document.h"
#include "assay/results/testing/coverage.h"
#include "assay/support/text/so_many.h"
#include "assay/support/text/text.h"

namespace assay::results {
namespace {

std::string side_name(bool here) { return here ? "first" : "second"; }

// The share that a layer's items reach, where there is one.
std::optional<double> reached_share(const std::vector<coverage::Coverage>& rows, const std::string& layer) {
  const auto row = std::ranges::find(rows, layer, &coverage::Coverage::layer);
  return row == rows.end() || row->coverable.empty() ? std::nullopt : std::optional(row->value);
}

// What both states have of one layer.
struct ComparedLayer {
  const coverage::ComparedCriterion& criterion;
  const coverage::Difference& layer;

  std::optional<double> before() const { return reached_share(criterion.before, layer.layer); }
  std::optional<double> after() const { return reached_share(criterion.after, layer.layer); }
};

report::Table item_table(const coverage::Comparison& comparison) {
  std::vector<ComparedLayer> rows;
  for (const coverage::ComparedCriterion& criterion : comparison.criteria)
    for (const coverage::Difference& layer : criterion.layers) rows.push_back({criterion, layer});
  return table_of("difference", "Items covered by one and not by the other", rows,
                  {{"criterion", [](auto& row) { return row.criterion.name; }},
                   {"layer", [](auto& row) { return row.layer.layer; }},
                   {"both", [](auto& row) { return row.layer.both; }},
                   {"only_a", "only first", [](auto& row) { return row.layer.only_here; }},
                   {"only_b", "only second", [](auto& row) { return row.layer.only_there; }},
                   {"coverage_a", "first", Kind::percent, &ComparedLayer::before},
                   {"coverage_b", "second", Kind::percent, &ComparedLayer::after}});
}

report::Table measure_table(const coverage::Comparison& comparison) {
  struct Measured {
    std::string criterion, layer;
    double before, after;
  };
  std::vector<Measured> rows;
  for (const coverage::ComparedCriterion& criterion : comparison.criteria) {
    for (const coverage::Coverage& row : criterion.before) {
      const auto match = std::ranges::find(criterion.after, row.layer, &coverage::Coverage::layer);
      if (row.coverable.empty() && match != criterion.after.end())
        rows.push_back({criterion.name, row.layer, row.value, match->value});
    }
  }
  return table_of("measures", "Measures without a greatest value", rows,
                  {{"criterion", &Measured::criterion},
                   {"layer", &Measured::layer},
                   {"value_a", "first", 6, &Measured::before},
                   {"value_b", "second", 6, &Measured::after},
                   {"change", 6, [](auto& row) { return row.after - row.before; }}});
}

// The neurons of each layer with most items that one side only covers.
report::Table changed_neuron_table(const coverage::Comparison& comparison, std::size_t most) {
  struct Changed {
    std::string criterion, layer;
    std::size_t neuron;
    coverage::Difference::Sides only;
  };
  std::vector<Changed> rows;
  using Entry = std::pair<std::size_t, coverage::Difference::Sides>;
  for (const coverage::ComparedCriterion& criterion : comparison.criteria) {
    for (const coverage::Difference& layer : criterion.layers) {
      std::vector<Entry> order(layer.neurons.begin(), layer.neurons.end());
      std::ranges::stable_sort(order, std::greater<>(),
                               [](const Entry& entry) { return entry.second.here + entry.second.there; });
      for (const auto& [neuron, sides] : order | std::views::take(most))
        rows.push_back({criterion.name, layer.layer, neuron, sides});
    }
  }
  return table_of("changed_neurons", "Neurons whose items changed most", rows,
                  {{"criterion", &Changed::criterion},
                   {"layer", &Changed::layer},
                   {"neuron", &Changed::neuron},
                   {"only_a", "only first", [](auto& row) { return row.only.here; }},
                   {"only_b", "only second", [](auto& row) { return row.only.there; }}});
}

// The records of each side that were the first to cover most of what the other side does not.
report::Table changed_record_table(const coverage::Comparison& comparison, const coverage::CoverageState& a,
                                   const coverage::CoverageState& b, std::size_t most) {
  using coverage::ComparedRecord;
  std::vector<ComparedRecord> rows;
  for (const bool here : {true, false}) {
    const auto is_of_side = [here](const ComparedRecord& record) { return record.here == here; };
    std::ranges::copy(comparison.records | std::views::filter(is_of_side) | std::views::take(most),
                      std::back_inserter(rows));
  }
  const auto criteria = [](const ComparedRecord& record) {
    std::vector<std::string> parts;
    for (const auto& [name, items] : record.by_criterion) parts.push_back(fmt::format("{} {}", name, items));
    return joined(parts);
  };
  return table_of("changed_records", "Records that were first to cover what the other state does not", rows,
                  {{"state", [](auto& record) { return side_name(record.here); }},
                   {"record", [&](auto& record) { return (record.here ? a : b).record_name(record.record); }},
                   {"items", &ComparedRecord::items},
                   {"criteria", "by criterion", criteria}});
}

report::Table example_table(const coverage::Comparison& comparison, const coverage::CoverageState& a,
                            const coverage::CoverageState& b) {
  struct Example {
    std::string criterion, layer;
    const coverage::Difference::Item& item;
  };
  std::vector<Example> rows;
  for (const coverage::ComparedCriterion& criterion : comparison.criteria) {
    for (const coverage::Difference& layer : criterion.layers)
      for (const coverage::Difference::Item& item : layer.examples)
        rows.push_back({criterion.name, layer.layer, item});
  }
  const auto record = [&](const Example& row) -> std::optional<std::string> {
    if (!row.item.record) return std::nullopt;
    return (row.item.here ? a : b).record_name(*row.item.record);
  };
  return table_of("items", "Examples", rows,
                  {{"criterion", &Example::criterion},
                   {"layer", &Example::layer},
                   {"covered_by", "covered by", [](auto& row) { return side_name(row.item.here); }},
                   {"item", [](auto& row) { return row.item.item; }},
                   {"record", "first record", record}});
}

std::vector<std::string> texts_of(const std::vector<Spec>& specs) {
  std::vector<std::string> texts;
  for (const Spec& spec : specs) texts.push_back(spec.text());
  return texts;
}

bool several_data_sets(const coverage::CoverageState& state) {
  return std::ranges::any_of(
      state.parts(), [&](const auto& part) { return part->data_hash != state.parts().front()->data_hash; });
}

// Networks that come from one another (retrained, pruned a little, quantised) share most of their layers.
void add_network_difference(report::Document& document, const coverage::Profile& a,
                            const coverage::Profile& b) {
  std::size_t common = 0;
  for (const coverage::LayerStatistics& layer : a.statistics) {
    common += std::ranges::any_of(b.statistics, [&](const coverage::LayerStatistics& other) {
      return other.layer == layer.layer && other.neurons() == layer.neurons();
    });
  }
  const std::size_t most = std::max(a.statistics.size(), b.statistics.size());
  document.notices.push_back(
      "the networks differ: layers are compared where name and number of neurons agree, combinations where "
      "clusters agree");
  if (2 * common >= most) return;
  document.warnings.push_back(
      {"unrelated-networks",
       fmt::format("the two networks have {} of {} layers in common, by name and number of neurons", common,
                   most),
       "neither network was made from the other: neurons of the same number have nothing to do with each "
       "other, and "
       "layers of the same name little"});
}

void add_comparison_notices(report::Document& document, const coverage::Comparison& comparison,
                            const coverage::CoverageState& a, const coverage::CoverageState& b) {
  for (const Spec& spec : comparison.unmatched_here)
    document.notices.push_back(fmt::format("{} was measured in the first state only", spec.text()));
  for (const Spec& spec : comparison.unmatched_there)
    document.notices.push_back(fmt::format("{} was measured in the second state only", spec.text()));
  for (const coverage::CoverageState* state : {&a, &b}) {
    if (several_data_sets(*state))
      document.notices.push_back(
          fmt::format("the {} state holds several data sets: its records are positions in their own",
                      side_name(state == &a)));
  }
  if (a.profile().model_hash != b.profile().model_hash)
    add_network_difference(document, a.profile(), b.profile());
  else if (a.profile_hash() != b.profile_hash())
    document.notices.push_back(
        "the states were measured with two profiles: where these give a criterion its bounds (sections, "
        "corners, "
        "clusters), items of the same name are not the same");
}

}  // namespace

report::Document document_of(const coverage::Comparison& comparison, const coverage::CoverageState& here,
                             const coverage::CoverageState& there, std::size_t most) {
  const report::Table measures = measure_table(comparison);
  const bool counted = std::ranges::any_of(
      comparison.criteria, [](const coverage::ComparedCriterion& one) { return !one.layers.empty(); });
  if (!counted && measures.rows.empty())
    fail(Fault::mismatch,
         "the states ({}; {}) have nothing in common to compare: no criterion with the same options on a "
         "layer of "
         "the same name and number of neurons",
         joined(texts_of(here.specs())), joined(texts_of(there.specs())));
  report::Document document;
  document.headline =
      fmt::format("{} covered by the first state only, {} by the second only",
                  so_many(comparison.only_here, "item is", "items are"), comparison.only_there);
  document.facts = {
      count_fact("records_a", "records of the first", here.records()),
      count_fact("records_b", "records of the second", there.records()),
      {"same_network", "same network", here.profile().model_hash == there.profile().model_hash}};
  document.tables = {item_table(comparison)};
  for (report::Table table :
       {measures, changed_neuron_table(comparison, most), changed_record_table(comparison, here, there, most),
        example_table(comparison, here, there)}) {
    if (!table.rows.empty()) document.tables.push_back(std::move(table));
  }
  add_comparison_notices(document, comparison, here, there);
  document.definitions = definitions_of(here);
  return document;
}

}  // namespace assay::results
