#include "assay/results/testing/coverage_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include <assay/extend/abilities.h>
#include <assay/results.h>
#include "assay/results/document.h"
#include "assay/results/testing/coverage.h"
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

}  // namespace

std::vector<report::Measurement> measurements_of(const coverage::CoverageState& state) {
  std::vector<report::Measurement> measurements;
  for (const coverage::CoverageFigure& figure : named_figures(state))
    measurements.push_back(measurement_of(figure));
  return measurements;
}

report::Table coverage_table(const coverage::CoverageState& state) {
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

}  // namespace assay::results
