#include "assay/results/testing/coverage.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include <assay/dataset.h>
#include <assay/extend/abilities.h>
#include "assay/coverage/criteria/idc.h"
#include "assay/coverage/select.h"
#include "assay/coverage/settings.h"
#include "assay/data/files/image.h"
#include "assay/data/summary.h"
#include "assay/results/document.h"
#include "assay/results/networks/evaluation.h"
#include "assay/results/warnings.h"
#include "assay/support/files/hash.h"
#include "assay/support/text/parse.h"
#include "assay/support/text/text.h"

namespace assay::results {
namespace {

report::Cell digits_cell(const std::string& digits) {
  if (digits.empty()) return std::monostate{};
  if (digits.size() <= 18) return static_cast<std::int64_t>(std::stoll(digits));
  return digits;
}

std::string class_text(std::int64_t only_class) {
  return only_class == coverage::every_class ? "" : std::to_string(only_class);
}

report::Measurement measurement_of(const coverage::CoverageFigure& figure) {
  return {.criterion = figure.name,
          .layer = figure.coverage.layer,
          .class_name = class_text(figure.only_class),
          .context = figure.context == "all" ? "" : figure.context,
          .covered = figure.coverage.coverable.empty() ? "" : figure.coverage.covered,
          .coverable = figure.coverage.coverable,
          .value = figure.coverage.value,
          .higher_is_better = true};
}

bool same_place(const coverage::CoverageFigure& a, const coverage::CoverageFigure& b) {
  return a.criterion == b.criterion && a.context == b.context && a.only_class == b.only_class;
}

// All figures. A criterion that looks at one layer only is there twice: by layer, and as "all".
std::vector<coverage::CoverageFigure> named_figures(const coverage::CoverageState& state) {
  const std::vector<coverage::CoverageFigure> figures = state.figures();
  std::vector<coverage::CoverageFigure> named;
  for (const coverage::CoverageFigure& figure : figures) {
    named.push_back(figure);
    const auto rows = std::ranges::count_if(
        figures, [&](const coverage::CoverageFigure& other) { return same_place(figure, other); });
    if (rows != 1 || figure.coverage.layer == "all") continue;
    named.push_back(figure);
    named.back().coverage.layer = "all";
  }
  return named;
}

const coverage::Idc* as_idc(const std::unique_ptr<coverage::Criterion>& criterion) {
  return dynamic_cast<const coverage::Idc*>(criterion.get());
}

// Calls visit(criterion) for the totals that are IDC, of all that count the same neurons for the first.
template <typename Visit>
void for_each_idc(const coverage::CoverageState& state, const Visit& visit) {
  std::set<std::vector<std::pair<std::string, std::size_t>>> seen;
  for (std::size_t c = 0; c < state.specs().size(); ++c) {
    const auto total = state.total(c);
    const coverage::Idc* idc = as_idc(total);
    if (idc == nullptr) continue;
    std::vector<std::pair<std::string, std::size_t>> counted;
    for (const auto& layer : idc->layers()) counted.emplace_back(layer.name, layer.neurons.size());
    if (seen.insert(std::move(counted)).second) visit(*idc);
  }
}

std::string cluster_counts(const coverage::Idc::LayerCombinations& layer) {
  std::vector<std::string> counts;
  for (const coverage::ImportantNeuron& neuron : layer.neurons)
    counts.push_back(std::to_string(neuron.clusters.centroids.size()));
  return joined(counts, "x");
}

std::string comma_list(std::span<const std::uint32_t> numbers) {
  std::vector<std::string> texts;
  for (const std::uint32_t number : numbers) texts.push_back(std::to_string(number));
  return joined(texts, ",");
}

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

report::Table criteria_table(const coverage::CoverageState& state) {
  const std::vector<coverage::CoverageFigure> figures = named_figures(state);
  std::vector<report::Measurement> measurements;
  for (const coverage::CoverageFigure& figure : figures) measurements.push_back(measurement_of(figure));
  report::Table table = report::criteria_table(measurements);
  table.title = "Coverage";
  const auto remove = [&](const char* id) {
    const auto at = std::ranges::find(table.columns, id, &report::Column::id) - table.columns.begin();
    table.columns.erase(table.columns.begin() + at);
    for (auto& row : table.rows) row.erase(row.begin() + at);
  };
  const auto says_nothing = [&](const char* id) {
    const auto at = static_cast<std::size_t>(std::ranges::find(table.columns, id, &report::Column::id) -
                                             table.columns.begin());
    return std::ranges::all_of(
        table.rows, [&](const auto& row) { return std::holds_alternative<std::monostate>(row[at]); });
  };
  remove("better");
  for (const char* id : {"class", "context", "measure"}) {
    if (says_nothing(id)) remove(id);
  }
  table.columns.push_back({"attainable", "attainable", Kind::count});
  table.columns.push_back({"attainable_coverage", "of attainable", Kind::percent});
  table.columns.push_back({"note", "note"});
  for (std::size_t i = 0; i < figures.size(); ++i) {
    const coverage::Coverage& c = figures[i].coverage;
    table.rows[i].push_back(digits_cell(c.attainable));
    const bool defined = !c.attainable.empty() && c.attainable != "0";
    table.rows[i].push_back(defined ? report::Cell(c.attainable_value) : report::Cell());
    table.rows[i].push_back(text_cell(c.note));
  }
  return table;
}

report::Table cluster_table(const coverage::Profile& profile) {
  report::Table table{"clusters",
                      "Important neurons and their clusters over the training set",
                      {{"layer", "layer"},
                       {"rank", "rank", Kind::count},
                       {"neuron", "neuron", Kind::count},
                       {"relevance", "relevance", Kind::number, 1},
                       {"silhouette", "silhouette", Kind::number, 3},
                       {"centroids", "centroids (records)"}},
                      {},
                      false};
  for (const coverage::LayerClusters& layer : profile.clusters) {
    for (std::size_t i = 0; i < layer.important.size(); ++i) {
      const coverage::ImportantNeuron& neuron = layer.important[i];
      std::string centroids;
      for (std::size_t c = 0; c < neuron.clusters.centroids.size(); ++c) {
        centroids += fmt::format("{}{:.3f} ({})", c == 0 ? "" : "  ", neuron.clusters.centroids[c],
                                 neuron.clusters.sizes[c]);
      }
      table.rows.push_back({layer.layer, report::count_cell(i + 1), report::count_cell(neuron.neuron),
                            neuron.relevance, neuron.clusters.silhouette, centroids});
    }
  }
  return table;
}

report::Table context_table(const coverage::CoverageState& state) {
  report::Table table{"contexts",
                      "What each context covers, and what no other does",
                      {{"context", "context"},
                       {"records", "records", Kind::count},
                       {"criterion", "criterion"},
                       {"layer", "layer"},
                       {"covered", "covered", Kind::count},
                       {"only_here", "only here", Kind::count}},
                      {},
                      false};
  const std::vector<std::string> contexts = state.contexts();
  for (const std::string& context : contexts) {
    std::size_t records = 0;
    for (const auto& part : state.parts()) records += part->context == context ? part->records : 0;
    for (std::size_t c = 0; c < state.specs().size(); ++c) {
      const auto here = state.total(c, context);
      auto elsewhere = coverage::make_criterion(state.profile(), state.specs()[c]);
      for (const auto& part : state.parts()) {
        if (part->context == context) continue;
        for (const auto& [only_class, list] : part->criteria) elsewhere->merge(*list[c]);
      }
      std::uint64_t covered = 0, only = 0;
      const auto* comparable = coverage::ability<coverage::Comparable>(*here);
      if (comparable == nullptr) continue;
      const std::vector<coverage::Difference> differences = comparable->difference(*elsewhere, 0);
      for (const coverage::Difference& difference : differences) {
        covered += difference.both + difference.only_here;
        only += difference.only_here;
      }
      if (!differences.empty())
        table.rows.push_back({context, report::count_cell(records), state.specs()[c].text(),
                              std::string("all"), report::count_cell(covered), report::count_cell(only)});
    }
  }
  return table;
}

report::Table layer_table(const coverage::CoverageState& state) {
  report::Table table{"layers",
                      "Layers",
                      {{"layer", "layer"},
                       {"op", "operator"},
                       {"neurons", "neurons", Kind::count},
                       {"dead", "dead", Kind::count},
                       {"constant", "constant", Kind::count},
                       {"duplicate", "duplicate", Kind::count}},
                      {},
                      false};
  std::vector<std::vector<coverage::Coverage>> results;
  for (std::size_t c = 0; c < state.specs().size(); ++c) {
    std::vector<coverage::Coverage> rows = state.result(c);
    if (std::ranges::all_of(rows, [](const coverage::Coverage& row) { return row.coverable.empty(); }))
      continue;
    results.push_back(std::move(rows));
    const std::string name = state.specs()[c].text();
    table.columns.push_back({name, name, Kind::percent});
  }
  for (const coverage::LayerStatistics& layer : state.profile().statistics) {
    std::size_t dead = 0, constant = 0, duplicate = 0;
    for (std::size_t n = 0; n < layer.neurons(); ++n) {
      if (!layer.counts(n)) continue;
      if (layer.constant(n))
        ++(layer.low[n] == 0 ? dead : constant);
      else if (layer.duplicate(n))
        ++duplicate;
    }
    std::vector<report::Cell> row{layer.layer,
                                  layer.op,
                                  report::count_cell(layer.counted()),
                                  report::count_cell(dead),
                                  report::count_cell(constant),
                                  report::count_cell(duplicate)};
    for (const auto& result : results) {
      const auto found = std::ranges::find(result, layer.layer, &coverage::Coverage::layer);
      row.push_back(found == result.end() ? report::Cell() : report::Cell(found->value));
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

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

report::Table neuron_table(const coverage::CoverageState& state, const Dataset* test) {
  report::Table table{"neurons",
                      "Neurons",
                      {{"layer", "layer"},
                       {"neuron", "neuron", Kind::count},
                       {"low", "low", Kind::number, 4},
                       {"high", "high", Kind::number, 4},
                       {"mean", "mean", Kind::number, 4},
                       {"sd", "sd", Kind::number, 4},
                       {"status", "status"},
                       {"relevance", "relevance", Kind::number, 2},
                       {"first_record", "first covered by"}},
                      {},
                      true};
  const coverage::Profile& profile = state.profile();
  std::vector<std::unique_ptr<coverage::Criterion>> totals;
  for (std::size_t c = 0; c < state.specs().size(); ++c) {
    auto total = state.total(c);
    const auto* itemised = coverage::ability<coverage::Itemised>(*total);
    if (itemised == nullptr || itemised->neurons(0).empty()) continue;
    const std::string name = state.specs()[c].text();
    table.columns.push_back({name, name, Kind::percent});
    totals.push_back(std::move(total));
  }
  for (std::size_t l = 0; l < profile.statistics.size(); ++l) {
    const coverage::LayerStatistics& layer = profile.statistics[l];
    std::vector<std::vector<coverage::Itemised::NeuronCoverage>> covered;
    for (const auto& total : totals)
      covered.push_back(coverage::ability<coverage::Itemised>(*total)->neurons(l));
    const auto clusters = std::ranges::find(profile.clusters, layer.layer, &coverage::LayerClusters::layer);
    for (std::size_t n = 0; n < layer.neurons(); ++n) {
      if (!layer.counts(n)) continue;
      const char* status = layer.constant(n)    ? (layer.low[n] == 0 ? "dead" : "constant")
                           : layer.duplicate(n) ? "duplicate"
                                                : "active";
      report::Cell relevance;
      if (clusters != profile.clusters.end()) {
        const auto found = std::ranges::find(clusters->important, n, &coverage::ImportantNeuron::neuron);
        if (found != clusters->important.end()) relevance = found->relevance;
      }
      std::optional<std::size_t> first;
      for (const auto& rows : covered) {
        if (n < rows.size() && rows[n].first)
          first = std::min(first.value_or(*rows[n].first), *rows[n].first);
      }
      std::vector<report::Cell> row{
          layer.layer,
          report::count_cell(n),
          static_cast<double>(layer.low[n]),
          static_cast<double>(layer.high[n]),
          layer.mean[n],
          layer.deviation[n],
          std::string(status),
          relevance,
          !first ? report::Cell()
                 : report::Cell(test != nullptr ? test->id(*first) : state.record_name(*first))};
      for (const auto& rows : covered) {
        const bool there = n < rows.size() && rows[n].coverable > 0;
        row.push_back(there ? report::Cell(static_cast<double>(rows[n].covered) / rows[n].coverable)
                            : report::Cell());
      }
      table.rows.push_back(std::move(row));
    }
  }
  return table;
}

report::Table histogram_table(const coverage::Profile& profile, const coverage::Observations& seen) {
  report::Table table{"histograms",
                      "Activations of the important neurons, training against test",
                      {{"layer", "layer"},
                       {"neuron", "neuron", Kind::count},
                       {"low", "low", Kind::number, 4},
                       {"high", "high", Kind::number, 4},
                       {"train", "training"},
                       {"test", "test"},
                       {"boundaries", "cluster boundaries"}},
                      {},
                      true};
  for (std::size_t l = 0; l < profile.clusters.size() && l < seen.histograms.size(); ++l) {
    const coverage::LayerClusters& layer = profile.clusters[l];
    const coverage::LayerStatistics& statistics = profile.statistics[profile.position(layer.layer)];
    for (std::size_t i = 0; i < layer.important.size(); ++i) {
      const coverage::ImportantNeuron& neuron = layer.important[i];
      if (neuron.histogram.size() < 3) continue;
      // The outer bins hold what lies outside the training range; the page adds a bin's width on each side.
      const double low = statistics.low[neuron.neuron], high = statistics.high[neuron.neuron];
      const double bin = (high - low) / static_cast<double>(neuron.histogram.size() - 2);
      std::vector<std::string> boundaries;
      for (std::size_t c = 0; c + 1 < neuron.clusters.centroids.size(); ++c) {
        boundaries.push_back(
            fmt::format("{:.6g}", (neuron.clusters.centroids[c] + neuron.clusters.centroids[c + 1]) / 2));
      }
      table.rows.push_back({layer.layer, report::count_cell(neuron.neuron), low - bin, high + bin,
                            comma_list(neuron.histogram), comma_list(seen.histograms[l][i]),
                            joined(boundaries, ",")});
    }
  }
  return table;
}

report::Table growth_table(const coverage::CoverageState& state, const coverage::Observations& seen) {
  report::Table table{"growth",
                      "Coverage over the test set",
                      {{"records", "records", Kind::count},
                       {"criterion", "criterion"},
                       {"coverage", "coverage", Kind::percent}},
                      {},
                      true};
  for (std::size_t c = 0; c < state.specs().size(); ++c) {
    if (state.result(c).back().coverable.empty()) continue;
    for (const coverage::GrowthPoint& point : seen.growth)
      table.rows.push_back({report::count_cell(point.records), state.specs()[c].text(), point.values[c]});
  }
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

void add_facts(report::Document& document, const coverage::CoverageState& state) {
  std::uint64_t labelled = 0, correct = 0;
  bool whole = true;
  for (const auto& part : state.parts()) {
    labelled += part->labelled;
    correct += part->correct;
    whole &= part->non_finite.empty();
  }
  document.facts.push_back({"records", "test records", report::count_cell(state.records()), Kind::count});
  if (labelled > 0)
    document.facts.push_back({"test_accuracy",
                              whole ? "test accuracy" : "test accuracy, of the records that are left",
                              static_cast<double>(correct) / static_cast<double>(labelled), Kind::percent});
  document.facts.push_back(
      {"training_records", "training records", report::count_cell(state.profile().records), Kind::count});
  add_warnings(document, coverage_warnings(state));
}

// Of all layers together, or the range of what layers have that do not add up.
std::string figure_of(const std::vector<coverage::Coverage>& rows) {
  const coverage::Coverage& last = rows.back();
  const auto shown = [](const coverage::Coverage& row) {
    if (row.coverable == "0") return std::string("- (nothing is coverable)");
    if (row.coverable == "1") return std::string("has one combination only");
    return row.coverable.empty() ? fmt::format("{:.4g}", row.value) : report::percent(row.value);
  };
  if (last.layer == "all" || rows.size() == 1) return shown(last);
  const auto [low, high] = std::ranges::minmax_element(rows, {}, &coverage::Coverage::value);
  return fmt::format("{} ({}) to {} ({})", shown(*low), low->layer, shown(*high), high->layer);
}

std::string headline_of(const coverage::CoverageState& state, const std::string& subject) {
  constexpr std::size_t most = 4;  // criteria; the table has them all
  std::vector<std::string> texts;
  for (std::size_t c = 0; c < std::min(most, state.specs().size()); ++c) {
    const std::vector<coverage::Coverage> rows = state.result(c);
    texts.push_back(state.specs()[c].text() + " " + figure_of(rows));
  }
  if (state.specs().size() > most)
    texts.push_back(fmt::format("{} more criteria", state.specs().size() - most));
  return subject + ": " + joined(texts);
}

void add_details(report::Document& document, const coverage::CoverageState& state,
                 const CoverageDetails& details) {
  const bool one_part = state.parts().size() == 1;
  document.tables.push_back(neuron_table(state, one_part ? details.test : nullptr));
  document.tables.push_back(histogram_table(state.profile(), *details.seen));
  document.tables.push_back(growth_table(state, *details.seen));
  if (details.seen->records.empty()) return;
  const auto wrong = std::ranges::count_if(details.seen->records, [](const coverage::RecordFacts& record) {
    return record.label >= 0 && record.label != record.predicted;
  });
  document.facts.push_back({"misclassified", "misclassified records", std::int64_t{wrong}, Kind::count});
  document.tables.push_back(record_table(state, *details.seen, *details.test, details.records));
}

}  // namespace

std::string records_hash(const coverage::CoverageState& state) {
  const auto& parts = state.parts();
  if (parts.size() == 1 && parts[0]->walked.size() == parts[0]->data_size) return parts[0]->data_hash;
  Hasher hash;
  for (const auto& part : parts) {
    hash.text(part->context).text(part->data_hash);
    for (const auto& [begin, end] : part->walked.ranges())
      hash.number(static_cast<std::int64_t>(begin)).number(static_cast<std::int64_t>(end));
  }
  return hash.hex();
}

std::string records_text(const coverage::CoverageState& state, const Dataset& last) {
  const auto& parts = state.parts();
  if (parts.size() > 1)
    return fmt::format("the {} data sets of the state, {} records, the last of them {}", parts.size(),
                       state.records(), last.describe());
  const std::size_t walked = parts.empty() ? 0 : parts[0]->walked.size();
  return walked == last.size() ? last.describe() : fmt::format("{} records of {}", walked, last.describe());
}

report::Table idc_table(const coverage::CoverageState& state) {
  report::Table table{"idc",
                      "Importance-driven coverage",
                      {{"layer", "layer"},
                       {"m", "m", Kind::count},
                       {"clusters", "clusters per neuron"},
                       {"covered", "covered"},
                       {"coverable", "coverable"},
                       {"idc", "IDC", Kind::percent}},
                      {},
                      false};
  for_each_idc(state, [&](const coverage::Idc& idc) {
    const std::vector<coverage::Coverage> rows = idc.Idc::result();  // of all combinations, always
    for (std::size_t l = 0; l < rows.size(); ++l) {
      const coverage::Idc::LayerCombinations& layer = idc.layers()[l];
      table.rows.push_back({layer.name, report::count_cell(layer.neurons.size()), cluster_counts(layer),
                            rows[l].covered, rows[l].coverable, rows[l].value});
    }
  });
  return table;
}

std::vector<report::Definition> definitions_of(const coverage::CoverageState& state) {
  std::vector<report::Definition> definitions;
  std::set<std::string> defined;
  for (const Spec& spec : state.specs()) {
    const coverage::CriterionInfo& info = coverage::criteria().find(spec.name);
    if (!defined.insert(info.name).second) continue;
    definitions.push_back({info.name, info.definition, info.paper});
    if (!info.limits.empty())
      definitions.push_back({info.name + " (limits)", info.limits, "docs/algorithms/criteria.md"});
  }
  const coverage::Profile& profile = state.profile();
  if (!profile.method.empty()) {
    definitions.push_back({"importance",
                           profile.method + ", summed over the correctly classified training records",
                           "Gerasimou et al., ICSE 2020, section 3.1; docs/algorithms/importance.md"});
    definitions.push_back({"clusters", profile.clusterer,
                           "Gerasimou et al., ICSE 2020, section 3.2; docs/algorithms/clustering.md"});
  }
  definitions.push_back({"attainable",
                         "items left when neurons that are constant over the training set, that agree with "
                         "another on every training record, "
                         "and items beyond the bounds of the activation function are taken out",
                         "docs/algorithms/criteria.md"});
  return definitions;
}

std::vector<report::Measurement> measurements_of(const coverage::CoverageState& state) {
  std::vector<report::Measurement> measurements;
  for (const coverage::CoverageFigure& figure : named_figures(state))
    measurements.push_back(measurement_of(figure));
  return measurements;
}

report::Document document_of(const coverage::CoverageState& state, const std::string& subject,
                             const CoverageDetails& details) {
  report::Document document;
  document.headline = headline_of(state, subject);
  add_facts(document, state);
  document.tables = {criteria_table(state)};
  if (report::Table idc = idc_table(state); !idc.rows.empty()) {
    document.tables.push_back(std::move(idc));
    document.tables.push_back(cluster_table(state.profile()));
    if (details.test != nullptr && state.parts().size() == 1) {
      if (details.uncovered > 0)
        document.tables.push_back(uncovered_table(state, *details.test, details.uncovered));
      if (details.combinations > 0)
        document.tables.push_back(combination_table(state, *details.test, details.combinations));
    }
  }
  if (!state.contexts().empty()) document.tables.push_back(context_table(state));
  document.tables.push_back(layer_table(state));
  if (details.seen != nullptr) add_details(document, state, details);
  document.definitions = definitions_of(state);
  return document;
}

report::Document combined_document_of(const coverage::CoverageState& state, const std::string& subject) {
  report::Document document;
  document.headline = headline_of(state, subject);
  add_facts(document, state);
  document.tables = {criteria_table(state)};
  if (!state.contexts().empty()) document.tables.push_back(context_table(state));
  document.tables.push_back(layer_table(state));
  document.tables.push_back(neuron_table(state, nullptr));
  document.definitions = definitions_of(state);
  document.provenance = {{"model_hash", state.profile().model_hash},
                         {"test_hash", records_hash(state)},
                         {"profile_hash", state.profile_hash()},
                         {"train", state.profile().data},
                         {"train_hash", state.profile().data_hash}};
  if (!state.profile().settings.empty())
    document.provenance.emplace_back("profile_settings", coverage::text_of(state.profile().settings));
  for (const auto& part : state.parts()) {
    document.provenance.emplace_back("data" + (part->context.empty() ? "" : " " + part->context),
                                     part->data + " (" + part->data_hash + ")");
  }
  return document;
}

report::Document document_of(const coverage::Learned& learned) {
  report::Document document;
  if (learned.importance.records > 0) add_scores(document, learned.importance.evaluation, "training");
  if (learned.non_finite > 0)
    document.warnings.push_back(dropped_records(learned.non_finite, "training", learned.non_finite_ids));
  return document;
}

std::vector<FigureByGroup> covered_by_group(const coverage::CoverageState& state,
                                            std::vector<std::vector<std::vector<std::uint64_t>>> items,
                                            std::span<const groups::Group> groups) {
  std::vector<FigureByGroup> figures;
  for (std::size_t c = 0; c < items.size(); ++c) {
    const std::vector<coverage::Coverage> result = state.result(c);
    const bool adds_up = result.size() == 1 || (!result.empty() && result.back().layer == "all");
    const selection::CoveredRows rows = coverage::rows_of(std::move(items[c]));
    if (!adds_up || result.back().coverable.empty() || rows.items.empty()) continue;
    const auto coverable = number_of<std::uint64_t>(result.back().coverable);
    if (!coverable) continue;  // more than items that records cover one by one could be
    figures.push_back(united_by_group(
        {.name = state.specs()[c].text(),
         .sum_title = "covered",
         .weight_title = "coverable",
         .meaning = "what the records of the group cover together"},
        groups, [&](std::size_t record) { return rows.row(record); }, *coverable));
  }
  return figures;
}

}  // namespace assay::results
