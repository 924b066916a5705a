// Tables of a coverage result that show records of the test set.

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

#include <assay/extend/abilities.h>
#include "assay/data/files/image.h"
#include "assay/data/summary.h"
#include "assay/results/document.h"
#include "assay/results/first_rows.h"
#include "assay/results/testing/coverage_tables.h"
#include "assay/support/files/hash.h"
#include "assay/support/text/text.h"

namespace assay::results {
namespace {

std::string thumbnail(const Dataset& data, std::size_t record) {
  const Shape shape = data.record_shape();
  if (shape.size() != 3 || data.dtype() != DType::float32 || (shape[0] != 1 && shape[0] != 3)) return {};
  const Batch batch = data.read(std::span(&record, 1));
  const auto values = batch.inputs.as<float>();
  const auto range = data.valid_range();
  const float low = range ? range->low[0] : *std::ranges::min_element(values),
              high = range ? range->high[0] : *std::ranges::max_element(values);
  Image image = picture_of(values, shape, low, high);
  constexpr int most = 96;
  if (std::max(image.width, image.height) > most) {
    const double shrink = static_cast<double>(most) / std::max(image.width, image.height);
    image = resized(image, std::max(1, static_cast<int>(image.width * shrink)),
                    std::max(1, static_cast<int>(image.height * shrink)));
  }
  return "data:image/png;base64," + base64(encode_png(image));
}

// The values that a criterion has of records.
struct SurpriseColumn {
  std::string id;
  std::map<std::size_t, double> values;
};

// One of each id: criteria of other options have the same values.
std::vector<SurpriseColumn> surprise_columns(const coverage::CoverageState& state) {
  std::vector<SurpriseColumn> columns;
  for (std::size_t c = 0; c < state.specs().size(); ++c) {
    const auto total = state.total(c);
    const auto* valued = coverage::ability<coverage::Valued>(*total);
    if (valued == nullptr) continue;
    std::string id = state.specs()[c].name;
    if (id.ends_with("sc")) id.back() = 'a';  // lsc holds LSA
    if (std::ranges::find(columns, id, &SurpriseColumn::id) != columns.end()) continue;
    const coverage::RecordValues values = valued->values();
    columns.push_back({std::move(id), {values.values.begin(), values.values.end()}});
  }
  return columns;
}

// The first `count` by each of: misclassified with most confidence, most in doubt, most surprising.
std::vector<coverage::RecordFacts> remarkable(const std::vector<coverage::RecordFacts>& records,
                                              const std::vector<SurpriseColumn>& surprise,
                                              std::size_t count) {
  using Facts = coverage::RecordFacts;
  std::set<std::size_t> chosen;
  const auto take = [&](const auto& score) {
    std::vector<std::size_t> order(records.size());
    std::iota(order.begin(), order.end(), 0);
    std::ranges::stable_sort(order, std::greater(), [&](std::size_t i) { return score(records[i]); });
    for (const std::size_t i : order | std::views::take(count))
      if (score(records[i]) > 0) chosen.insert(i);
  };
  take([](const Facts& r) { return r.label >= 0 && r.label != r.predicted ? 1.0 + r.confidence : 0.0; });
  take([](const Facts& r) { return r.doubt("deepgini"); });
  for (const SurpriseColumn& one : surprise)
    take([&](const Facts& r) { return if_finite(value_at(one.values, r.record).value_or(0)).value_or(0); });
  std::vector<Facts> found;
  for (const std::size_t i : chosen) found.push_back(records[i]);
  return found;
}

}  // namespace

report::Table uncovered_table(const coverage::CoverageState& state, const Dataset& test, std::size_t count) {
  struct Row {
    std::string layer;
    std::size_t m;
    coverage::Idc::Neighbour nearest;
    std::size_t neuron;
  };
  std::vector<Row> rows;
  for_each_idc(state, [&](const coverage::Idc& idc) {
    for (const coverage::Idc::LayerCombinations& layer : idc.layers()) {
      for (const coverage::Idc::Neighbour& one : layer.nearest_uncovered(count))
        rows.push_back({layer.name, layer.neurons.size(), one, layer.neurons[one.neuron].neuron});
    }
  });
  return table_of(
      "uncovered",
      "Uncovered combinations nearest to the data (gap: share of the distance between two centroids)", rows,
      {{"layer", &Row::layer},
       {"m", &Row::m},
       {"combination", [](auto& row) { return coverage::to_text(row.nearest.combination); }},
       {"neuron", "by neuron", &Row::neuron},
       {"gap", 4, [](auto& row) { return row.nearest.gap; }},
       {"record", "nearest record", [&](auto& row) { return test.id(row.nearest.record); }}});
}

report::Table combination_table(const coverage::CoverageState& state, const Dataset& test,
                                std::size_t count) {
  struct Row {
    std::string layer;
    std::size_t m;
    std::string combination;
    std::uint64_t records;
    std::size_t first;
  };
  std::vector<Row> rows;
  std::size_t all = 0;
  for_each_idc(state, [&](const coverage::Idc& idc) {
    for (const coverage::Idc::LayerCombinations& layer : idc.layers()) {
      auto sorted = layer.in_order();
      all += sorted.size();
      std::ranges::stable_sort(
          sorted, [](const auto* a, const auto* b) { return a->second.records > b->second.records; });
      for (const auto* entry : sorted | std::views::take(count)) {
        const auto& [combination, covered] = *entry;
        rows.push_back({layer.name, layer.neurons.size(), coverage::to_text(combination), covered.records,
                        covered.first});
      }
    }
  });
  return table_of("combinations", title_of_first("Covered combinations with most records", rows.size(), all),
                  rows,
                  {{"layer", &Row::layer},
                   {"m", &Row::m},
                   {"combination", &Row::combination},
                   {"records", &Row::records},
                   {"first", "first record", [&](auto& row) { return test.id(row.first); }}});
}

report::Table record_table(const coverage::CoverageState& state, const coverage::Observations& seen,
                           const Dataset& test, std::size_t count) {
  using Facts = coverage::RecordFacts;
  const std::vector<std::string> classes = test.class_names();
  const auto name = [&](std::int64_t number) {
    return number < 0 ? std::nullopt : std::optional(class_name(classes, number));
  };
  const auto is_wrong = [](const Facts& r) {
    return r.label >= 0 ? std::optional(r.label != r.predicted) : std::nullopt;
  };
  ColumnsOf<Facts> columns{{"record", [&](auto& r) { return test.id(r.record); }},
                           {"label", [&](auto& r) { return name(r.label); }},
                           {"prediction", [&](auto& r) { return name(r.predicted); }},
                           {"confidence", Kind::percent, &Facts::confidence},
                           {"gini", 3, [](auto& r) { return r.doubt("deepgini"); }},
                           {"misclassified", is_wrong}};
  const std::vector<SurpriseColumn> surprise = surprise_columns(state);
  for (const SurpriseColumn& one : surprise)
    columns.add({one.id, 3, [&one](auto& r) { return value_at(one.values, r.record); }});
  columns.add({"thumbnail", "picture", [&](auto& r) { return unless_empty(thumbnail(test, r.record)); }});
  return detailed(table_of("records", "Misclassified and most surprising records",
                           remarkable(seen.records, surprise, count), columns));
}

}  // namespace assay::results
