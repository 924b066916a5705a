#include "assay/results/testing/comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include <assay/error.h>

#include "assay/results/document.h"
#include "assay/results/testing/coverage.h"
#include "assay/support/text/text.h"

namespace assay::results {
namespace {

std::string side_name(bool here) { return here ? "first" : "second"; }

// The share that a layer's items reach, where there is one.
report::Cell share_cell(const std::vector<coverage::Coverage>& rows, const std::string& layer) {
  const auto row = std::ranges::find(rows, layer, &coverage::Coverage::layer);
  return row == rows.end() || row->coverable.empty() ? report::Cell() : report::Cell(row->value);
}

report::Table item_table(const coverage::Comparison& comparison) {
  report::Table table{"difference",
                      "Items covered by one and not by the other",
                      {{"criterion", "criterion"},
                       {"layer", "layer"},
                       {"both", "both", Kind::count},
                       {"only_a", "only first", Kind::count},
                       {"only_b", "only second", Kind::count},
                       {"coverage_a", "first", Kind::percent},
                       {"coverage_b", "second", Kind::percent}},
                      {},
                      false};
  for (const coverage::ComparedCriterion& criterion : comparison.criteria) {
    for (const coverage::Difference& layer : criterion.layers)
      table.rows.push_back({criterion.name, layer.layer, report::count_cell(layer.both),
                            report::count_cell(layer.only_here), report::count_cell(layer.only_there),
                            share_cell(criterion.before, layer.layer),
                            share_cell(criterion.after, layer.layer)});
  }
  return table;
}

report::Table measure_table(const coverage::Comparison& comparison) {
  report::Table table{"measures",
                      "Measures without a greatest value",
                      {{"criterion", "criterion"},
                       {"layer", "layer"},
                       {"value_a", "first", Kind::number, 6},
                       {"value_b", "second", Kind::number, 6},
                       {"change", "change", Kind::number, 6}},
                      {},
                      false};
  for (const coverage::ComparedCriterion& criterion : comparison.criteria) {
    for (const coverage::Coverage& row : criterion.before) {
      const auto match = std::ranges::find(criterion.after, row.layer, &coverage::Coverage::layer);
      if (!row.coverable.empty() || match == criterion.after.end()) continue;
      table.rows.push_back({criterion.name, row.layer, row.value, match->value, match->value - row.value});
    }
  }
  return table;
}

// The neurons of each layer with most items that one side only covers.
report::Table changed_neuron_table(const coverage::Comparison& comparison, std::size_t most) {
  report::Table table{"changed_neurons",
                      "Neurons whose items changed most",
                      {{"criterion", "criterion"},
                       {"layer", "layer"},
                       {"neuron", "neuron", Kind::count},
                       {"only_a", "only first", Kind::count},
                       {"only_b", "only second", Kind::count}},
                      {},
                      false};
  using Entry = std::pair<std::size_t, coverage::Difference::Sides>;
  for (const coverage::ComparedCriterion& criterion : comparison.criteria) {
    for (const coverage::Difference& layer : criterion.layers) {
      std::vector<Entry> order(layer.neurons.begin(), layer.neurons.end());
      std::ranges::stable_sort(order, std::greater<>(),
                               [](const Entry& entry) { return entry.second.here + entry.second.there; });
      order.resize(std::min(order.size(), most));
      for (const auto& [neuron, sides] : order)
        table.rows.push_back({criterion.name, layer.layer, report::count_cell(neuron),
                              report::count_cell(sides.here), report::count_cell(sides.there)});
    }
  }
  return table;
}

// The records of each side that were the first to cover most of what the other side does not.
report::Table changed_record_table(const coverage::Comparison& comparison, const coverage::CoverageState& a,
                                   const coverage::CoverageState& b, std::size_t most) {
  report::Table table{"changed_records",
                      "Records that were first to cover what the other state does not",
                      {{"state", "state"},
                       {"record", "record"},
                       {"items", "items", Kind::count},
                       {"criteria", "by criterion"}},
                      {},
                      false};
  for (const bool here : {true, false}) {
    std::size_t rows = 0;
    for (const coverage::ComparedRecord& record : comparison.records) {
      if (record.here != here || rows++ >= most) continue;
      std::string criteria;
      for (const auto& [name, items] : record.by_criterion)
        criteria += fmt::format("{}{} {}", criteria.empty() ? "" : ", ", name, items);
      table.rows.push_back({side_name(here), (here ? a : b).record_name(record.record),
                            report::count_cell(record.items), criteria});
    }
  }
  return table;
}

report::Table example_table(const coverage::Comparison& comparison, const coverage::CoverageState& a,
                            const coverage::CoverageState& b) {
  report::Table table{"items",
                      "Examples",
                      {{"criterion", "criterion"},
                       {"layer", "layer"},
                       {"covered_by", "covered by"},
                       {"item", "item"},
                       {"record", "first record"}},
                      {},
                      false};
  for (const coverage::ComparedCriterion& criterion : comparison.criteria) {
    for (const coverage::Difference& layer : criterion.layers) {
      for (const coverage::Difference::Item& item : layer.examples)
        table.rows.push_back(
            {criterion.name, layer.layer, side_name(item.here), item.item,
             item.record ? report::Cell((item.here ? a : b).record_name(*item.record)) : report::Cell()});
    }
  }
  return table;
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
  document.headline = fmt::format("{} items are covered by the first state only, {} by the second only",
                                  comparison.only_here, comparison.only_there);
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
