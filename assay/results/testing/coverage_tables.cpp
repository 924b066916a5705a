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

const char* status_of(const coverage::LayerStatistics& layer, std::size_t neuron) {
  if (layer.constant(neuron)) return layer.low[neuron] == 0 ? "dead" : "constant";
  return layer.duplicate(neuron) ? "duplicate" : "active";
}

struct NeuronRow {
  const coverage::LayerStatistics& layer;
  std::size_t position, neuron;  // of the layer, in the layer
};

// What a criterion tells of every neuron, layer by layer.
struct NeuronCriterion {
  std::string name;
  std::vector<std::vector<coverage::Itemised::NeuronCoverage>> layers;

  coverage::Itemised::NeuronCoverage of(const NeuronRow& row) const {
    const auto& neurons = layers[row.position];
    return row.neuron < neurons.size() ? neurons[row.neuron] : coverage::Itemised::NeuronCoverage{};
  }
};

std::vector<NeuronCriterion> neuron_criteria(const coverage::CoverageState& state) {
  std::vector<NeuronCriterion> criteria;
  for (std::size_t c = 0; c < state.specs().size(); ++c) {
    const auto total = state.total(c);
    const auto* itemised = coverage::ability<coverage::Itemised>(*total);
    if (itemised == nullptr || itemised->neurons(0).empty()) continue;
    NeuronCriterion& one = criteria.emplace_back(NeuronCriterion{state.specs()[c].text(), {}});
    for (std::size_t l = 0; l < state.profile().statistics.size(); ++l)
      one.layers.push_back(itemised->neurons(l));
  }
  return criteria;
}

// Of neurons that are important; others have none.
std::optional<double> relevance_of(const coverage::Profile& profile, const NeuronRow& row) {
  const auto layer = std::ranges::find(profile.clusters, row.layer.layer, &coverage::LayerClusters::layer);
  if (layer == profile.clusters.end()) return std::nullopt;
  const auto found = std::ranges::find(layer->important, row.neuron, &coverage::ImportantNeuron::neuron);
  return found == layer->important.end() ? std::nullopt : std::optional(found->relevance);
}

struct ContextRow {
  std::string context;
  std::size_t records = 0;
  std::string criterion;
  std::uint64_t covered = 0, only = 0;
};

std::vector<ContextRow> context_rows(const coverage::CoverageState& state) {
  std::vector<ContextRow> rows;
  for (const std::string& context : state.contexts()) {
    std::size_t records = 0;
    for (const auto& part : state.parts()) records += part->context == context ? part->records : 0;
    for (std::size_t c = 0; c < state.specs().size(); ++c) {
      const auto here = state.total(c, context);
      auto elsewhere = coverage::make_criterion(state.profile(), state.specs()[c]);
      for (const auto& part : state.parts()) {
        if (part->context == context) continue;
        for (const auto& [only_class, list] : part->criteria) elsewhere->merge(*list[c]);
      }
      const auto* comparable = coverage::ability<coverage::Comparable>(*here);
      if (comparable == nullptr) continue;
      const std::vector<coverage::Difference> differences = comparable->difference(*elsewhere, 0);
      if (differences.empty()) continue;
      ContextRow& row = rows.emplace_back(ContextRow{context, records, state.specs()[c].text()});
      for (const coverage::Difference& difference : differences) {
        row.covered += difference.both + difference.only_here;
        row.only += difference.only_here;
      }
    }
  }
  return rows;
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
    table.rows[i].push_back(cell_of(unless_empty(c.note)));
  }
  return table;
}

report::Table idc_table(const coverage::CoverageState& state) {
  struct Row {
    std::string layer;
    std::size_t m;
    std::string clusters;
    coverage::Coverage coverage;
  };
  std::vector<Row> rows;
  for_each_idc(state, [&](const coverage::Idc& idc) {
    const std::vector<coverage::Coverage> found = idc.Idc::result();  // of all combinations, always
    for (std::size_t l = 0; l < found.size(); ++l) {
      const coverage::Idc::LayerCombinations& layer = idc.layers()[l];
      rows.push_back({layer.name, layer.neurons.size(), cluster_counts(layer), found[l]});
    }
  });
  return table_of("idc", "Importance-driven coverage", rows,
                  {{"layer", &Row::layer},
                   {"m", &Row::m},
                   {"clusters", "clusters per neuron", &Row::clusters},
                   {"covered", [](auto& row) { return row.coverage.covered; }},
                   {"coverable", [](auto& row) { return row.coverage.coverable; }},
                   {"idc", "IDC", Kind::percent, [](auto& row) { return row.coverage.value; }}});
}

report::Table cluster_table(const coverage::Profile& profile) {
  struct Row {
    const std::string& layer;
    std::size_t rank;
    const coverage::ImportantNeuron& neuron;
  };
  std::vector<Row> rows;
  for (const coverage::LayerClusters& layer : profile.clusters) {
    for (std::size_t i = 0; i < layer.important.size(); ++i)
      rows.push_back({layer.layer, i + 1, layer.important[i]});
  }
  const auto centroids = [](const Row& row) {
    const clustering::Clustering& clusters = row.neuron.clusters;
    std::vector<std::string> texts;
    for (std::size_t c = 0; c < clusters.centroids.size(); ++c)
      texts.push_back(fmt::format("{:.3f} ({})", clusters.centroids[c], clusters.sizes[c]));
    return joined(texts, "  ");
  };
  return table_of("clusters", "Important neurons and their clusters over the training set", rows,
                  {{"layer", [](auto& row) { return row.layer; }},
                   {"rank", &Row::rank},
                   {"neuron", [](auto& row) { return row.neuron.neuron; }},
                   {"relevance", 1, [](auto& row) { return row.neuron.relevance; }},
                   {"silhouette", 3, [](auto& row) { return row.neuron.clusters.silhouette; }},
                   {"centroids", "centroids (records)", centroids}});
}

report::Table context_table(const coverage::CoverageState& state) {
  return table_of("contexts", "What each context covers, and what no other does", context_rows(state),
                  {{"context", &ContextRow::context},
                   {"records", &ContextRow::records},
                   {"criterion", &ContextRow::criterion},
                   {"layer", [](auto&) { return "all"; }},
                   {"covered", &ContextRow::covered},
                   {"only_here", "only here", &ContextRow::only}});
}

report::Table layer_table(const coverage::CoverageState& state) {
  using Layer = coverage::LayerStatistics;
  const auto neurons = [](const char* status) {
    return [status](const Layer& layer) {
      std::size_t count = 0;
      for (const std::size_t n : positions(layer.neurons()))
        count += layer.counts(n) && status_of(layer, n) == std::string_view(status);
      return count;
    };
  };
  ColumnsOf<Layer> columns{{"layer", &Layer::layer},          {"op", "operator", &Layer::op},
                           {"neurons", &Layer::counted},      {"dead", neurons("dead")},
                           {"constant", neurons("constant")}, {"duplicate", neurons("duplicate")}};
  for (std::size_t c = 0; c < state.specs().size(); ++c) {
    const std::vector<coverage::Coverage> rows = state.result(c);
    if (std::ranges::all_of(rows, [](const coverage::Coverage& row) { return row.coverable.empty(); }))
      continue;
    columns.add({state.specs()[c].text(), Kind::percent, [rows](const Layer& layer) {
                   const auto found = std::ranges::find(rows, layer.layer, &coverage::Coverage::layer);
                   return found == rows.end() ? std::nullopt : std::optional(found->value);
                 }});
  }
  return table_of("layers", "Layers", state.profile().statistics, columns);
}

report::Table neuron_table(const coverage::CoverageState& state, const Dataset* test) {
  const coverage::Profile& profile = state.profile();
  const std::vector<NeuronCriterion> criteria = neuron_criteria(state);
  std::vector<NeuronRow> rows;
  for (std::size_t l = 0; l < profile.statistics.size(); ++l) {
    for (const std::size_t n : positions(profile.statistics[l].neurons()))
      if (profile.statistics[l].counts(n)) rows.push_back({profile.statistics[l], l, n});
  }
  const auto first_record = [&](const NeuronRow& row) -> std::optional<std::string> {
    std::optional<std::size_t> first;
    for (const NeuronCriterion& one : criteria) {
      if (const auto covered = one.of(row); covered.first)
        first = std::min(first.value_or(*covered.first), *covered.first);
    }
    if (!first) return std::nullopt;
    return test != nullptr ? test->id(*first) : state.record_name(*first);
  };
  ColumnsOf<NeuronRow> columns{{"layer", [](auto& row) { return row.layer.layer; }},
                               {"neuron", &NeuronRow::neuron},
                               {"low", 4, [](auto& row) { return row.layer.low[row.neuron]; }},
                               {"high", 4, [](auto& row) { return row.layer.high[row.neuron]; }},
                               {"mean", 4, [](auto& row) { return row.layer.mean[row.neuron]; }},
                               {"sd", 4, [](auto& row) { return row.layer.deviation[row.neuron]; }},
                               {"status", [](auto& row) { return status_of(row.layer, row.neuron); }},
                               {"relevance", [&](auto& row) { return relevance_of(profile, row); }},
                               {"first_record", "first covered by", first_record}};
  for (const NeuronCriterion& one : criteria) {
    columns.add({one.name, Kind::percent, [&one](auto& row) {
                   const auto covered = one.of(row);
                   return defined_share(covered.covered, covered.coverable);
                 }});
  }
  return detailed(table_of("neurons", "Neurons", rows, columns));
}

report::Table histogram_table(const coverage::Profile& profile, const coverage::Observations& seen) {
  struct Row {
    const std::string& layer;
    const coverage::ImportantNeuron& neuron;
    double low, high;
    const std::vector<std::uint32_t>& test;

    // The outer bins hold what lies outside the training range; the page adds a bin's width on each side.
    double bin() const { return (high - low) / static_cast<double>(neuron.histogram.size() - 2); }
  };
  std::vector<Row> rows;
  for (std::size_t l = 0; l < profile.clusters.size() && l < seen.histograms.size(); ++l) {
    const auto& [layer, important, m, combinations] = profile.clusters[l];
    const coverage::LayerStatistics& statistics = profile.statistics[profile.position(layer)];
    for (std::size_t i = 0; i < important.size(); ++i) {
      const std::size_t n = important[i].neuron;
      if (important[i].histogram.size() >= 3)
        rows.push_back({layer, important[i], statistics.low[n], statistics.high[n], seen.histograms[l][i]});
    }
  }
  const auto boundaries = [](const Row& row) {
    const std::vector<double>& centroids = row.neuron.clusters.centroids;
    std::vector<std::string> texts;
    for (std::size_t c = 0; c + 1 < centroids.size(); ++c)
      texts.push_back(fmt::format("{:.6g}", (centroids[c] + centroids[c + 1]) / 2));
    return joined(texts, ",");
  };
  return detailed(table_of("histograms", "Activations of the important neurons, training against test", rows,
                           {{"layer", [](auto& row) { return row.layer; }},
                            {"neuron", [](auto& row) { return row.neuron.neuron; }},
                            {"low", 4, [](auto& row) { return row.low - row.bin(); }},
                            {"high", 4, [](auto& row) { return row.high + row.bin(); }},
                            {"train", "training", [](auto& row) { return comma_list(row.neuron.histogram); }},
                            {"test", [](auto& row) { return comma_list(row.test); }},
                            {"boundaries", "cluster boundaries", boundaries}}));
}

report::Table growth_table(const coverage::CoverageState& state, const coverage::Observations& seen) {
  struct Row {
    const coverage::GrowthPoint& point;
    std::size_t criterion;
  };
  std::vector<Row> rows;
  for (std::size_t c = 0; c < state.specs().size(); ++c) {
    if (state.result(c).back().coverable.empty()) continue;
    for (const coverage::GrowthPoint& point : seen.growth) rows.push_back({point, c});
  }
  return detailed(
      table_of("growth", "Coverage over the test set", rows,
               {{"records", [](auto& row) { return row.point.records; }},
                {"criterion", [&](auto& row) { return state.specs()[row.criterion].text(); }},
                {"coverage", Kind::percent, [](auto& row) { return row.point.values[row.criterion]; }}}));
}

}  // namespace assay::results
