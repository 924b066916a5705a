// Tables of a coverage result that show records of the test set.

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include <assay/extend/abilities.h>
#include "assay/data/files/image.h"
#include "assay/data/summary.h"
#include "assay/results/document.h"
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

}  // namespace

report::Table uncovered_table(const coverage::CoverageState& state, const Dataset& test, std::size_t count) {
  report::Table table{
      "uncovered",
      "Uncovered combinations nearest to the data (gap: share of the distance between two centroids)",
      {{"layer", "layer"},
       {"m", "m", Kind::count},
       {"combination", "combination"},
       {"neuron", "by neuron", Kind::count},
       {"gap", "gap", Kind::number, 4},
       {"record", "nearest record"}},
      {},
      false};
  for_each_idc(state, [&](const coverage::Idc& idc) {
    for (const coverage::Idc::LayerCombinations& layer : idc.layers()) {
      for (const coverage::Idc::Neighbour& neighbour : layer.nearest_uncovered(count)) {
        table.rows.push_back({layer.name, report::count_cell(layer.neurons.size()),
                              coverage::to_text(neighbour.combination),
                              report::count_cell(layer.neurons[neighbour.neuron].neuron), neighbour.gap,
                              test.id(neighbour.record)});
      }
    }
  });
  return table;
}

report::Table combination_table(const coverage::CoverageState& state, const Dataset& test,
                                std::size_t count) {
  report::Table table{"combinations",
                      "Covered combinations with most records",
                      {{"layer", "layer"},
                       {"m", "m", Kind::count},
                       {"combination", "combination"},
                       {"records", "records", Kind::count},
                       {"first", "first record"}},
                      {},
                      false};
  for_each_idc(state, [&](const coverage::Idc& idc) {
    for (const coverage::Idc::LayerCombinations& layer : idc.layers()) {
      auto sorted = layer.in_order();
      std::ranges::stable_sort(
          sorted, [](const auto* a, const auto* b) { return a->second.records > b->second.records; });
      sorted.resize(std::min(sorted.size(), count));
      for (const auto* entry : sorted) {
        const auto& [combination, covered] = *entry;
        table.rows.push_back({layer.name, report::count_cell(layer.neurons.size()),
                              coverage::to_text(combination), report::count_cell(covered.records),
                              test.id(covered.first)});
      }
    }
  });
  return table;
}

report::Table record_table(const coverage::CoverageState& state, const coverage::Observations& seen,
                           const Dataset& test, std::size_t count) {
  report::Table table{"records",
                      "Misclassified and most surprising records",
                      {{"record", "record"},
                       {"label", "label"},
                       {"prediction", "prediction"},
                       {"confidence", "confidence", Kind::percent},
                       {"gini", "gini", Kind::number, 3},
                       {"misclassified", "misclassified"}},
                      {},
                      true};
  const std::vector<std::string> classes = test.class_names();
  const auto class_cell = [&](std::int64_t c) {
    return c < 0 ? report::Cell() : report::Cell(class_name(classes, c));
  };
  std::vector<std::map<std::size_t, double>> surprise;
  for (std::size_t c = 0; c < state.specs().size(); ++c) {
    const auto total = state.total(c);
    const auto* valued = coverage::ability<coverage::Valued>(*total);
    if (valued == nullptr) continue;
    const coverage::RecordValues values = valued->values();
    surprise.emplace_back(values.values.begin(), values.values.end());
    const std::string& name = state.specs()[c].name;
    const std::string id =
        name.ends_with("sc") ? name.substr(0, name.size() - 1) + "a" : name;  // lsc holds LSA
    if (std::ranges::find(table.columns, id, &report::Column::id) != table.columns.end()) {
      surprise.pop_back();
      continue;
    }
    table.columns.push_back({id, id, Kind::number, 3});
  }
  table.columns.push_back({"thumbnail", "picture"});

  std::set<std::size_t> chosen;  // positions in seen.records
  const auto take = [&](const auto& score) {
    std::vector<std::size_t> order(seen.records.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::ranges::stable_sort(
        order, [&](std::size_t a, std::size_t b) { return score(seen.records[a]) > score(seen.records[b]); });
    for (std::size_t i = 0; i < std::min(count, order.size()); ++i) {
      if (score(seen.records[order[i]]) > 0) chosen.insert(order[i]);
    }
  };
  take([](const coverage::RecordFacts& r) {
    return r.label >= 0 && r.label != r.predicted ? 1.0 + r.confidence : 0.0;
  });
  take([](const coverage::RecordFacts& r) { return r.doubt("deepgini"); });
  for (const auto& values : surprise) {
    take([&](const coverage::RecordFacts& r) {
      const auto found = values.find(r.record);
      return found == values.end() || !std::isfinite(found->second) ? 0.0 : found->second;
    });
  }
  for (const std::size_t i : chosen) {
    const coverage::RecordFacts& r = seen.records[i];
    std::vector<report::Cell> row{
        test.id(r.record),       class_cell(r.label),
        class_cell(r.predicted), r.confidence,
        r.doubt("deepgini"),     r.label >= 0 ? report::Cell(r.label != r.predicted) : report::Cell()};
    for (const auto& values : surprise) {
      const auto found = values.find(r.record);
      row.push_back(found == values.end() ? report::Cell() : report::Cell(found->second));
    }
    row.push_back(text_cell(thumbnail(test, r.record)));
    table.rows.push_back(std::move(row));
  }
  return table;
}

}  // namespace assay::results
