#include "apps/assay/coverage_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "assay/coverage/idc.h"
#include "assay/data/image.h"
#include "assay/data/summary.h"
#include "assay/support/text.h"

namespace assay::app {
namespace {

using Kind = Column::Kind;

Cell count_cell(const std::string& digits) {
  if (digits.empty()) return std::monostate{};
  if (digits.size() <= 18) return static_cast<std::int64_t>(std::stoll(digits));
  return digits;
}

Cell whole(std::size_t value) { return static_cast<std::int64_t>(value); }

Cell text_or_nothing(const std::string& text) { return text.empty() ? Cell() : Cell(text); }

std::string class_text(std::int64_t only_class) { return only_class == every_class ? "" : std::to_string(only_class); }

// kmnc where only one kmnc was measured, whatever its options; else kmnc[sections=100].
std::string short_name(const CoverageState& state, const CoverageFigure& figure) {
  const Spec& spec = state.specs()[figure.criterion];
  const auto alike = std::ranges::count(state.specs(), spec.name, &Spec::name);
  return alike == 1 ? spec.name : figure.name;
}

Measurement measurement_of(const CoverageState& state, const CoverageFigure& figure) {
  return {.criterion = short_name(state, figure), .layer = figure.coverage.layer, .class_name = class_text(figure.only_class),
          .context = figure.context == "all" ? "" : figure.context, .covered = figure.coverage.coverable.empty() ? "" : figure.coverage.covered,
          .coverable = figure.coverage.coverable, .value = figure.coverage.value, .higher_is_better = true};
}

bool same_place(const CoverageFigure& a, const CoverageFigure& b) {
  return a.criterion == b.criterion && a.context == b.context && a.only_class == b.only_class;
}

// All figures. A criterion that looks at one layer only is there twice: by layer, and as "all".
std::vector<CoverageFigure> named_figures(const CoverageState& state) {
  const std::vector<CoverageFigure> figures = state.figures();
  std::vector<CoverageFigure> named;
  for (const CoverageFigure& figure : figures) {
    named.push_back(figure);
    const auto rows = std::ranges::count_if(figures, [&](const CoverageFigure& other) { return same_place(figure, other); });
    if (rows != 1 || figure.coverage.layer == "all") continue;
    named.push_back(figure);
    named.back().coverage.layer = "all";
  }
  return named;
}

const Idc* as_idc(const std::unique_ptr<Criterion>& criterion) { return dynamic_cast<const Idc*>(criterion.get()); }

// Calls visit(spec text, criterion) for the totals that are IDC.
template <typename Visit>
void for_each_idc(const CoverageState& state, const Visit& visit) {
  for (std::size_t c = 0; c < state.specs().size(); ++c) {
    const auto total = state.total(c);
    if (const Idc* idc = as_idc(total)) visit(state.specs()[c].text(), *idc);
  }
}

std::string cluster_counts(const Idc::LayerCombinations& layer) {
  std::vector<std::string> counts;
  for (const ImportantNeuron& neuron : layer.neurons) counts.push_back(std::to_string(neuron.clusters.centroids.size()));
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
  const float low = range ? range->low[0] : *std::ranges::min_element(values), high = range ? range->high[0] : *std::ranges::max_element(values);
  Image image = picture_of(values, shape, low, high);
  constexpr int most = 96;
  if (std::max(image.width, image.height) > most) {
    const double shrink = static_cast<double>(most) / std::max(image.width, image.height);
    image = resized(image, std::max(1, static_cast<int>(image.width * shrink)), std::max(1, static_cast<int>(image.height * shrink)));
  }
  return "data:image/png;base64," + base64(encode_png(image));
}

}  // namespace

std::vector<Measurement> measurements_of(const CoverageState& state) {
  std::vector<Measurement> measurements;
  for (const CoverageFigure& figure : named_figures(state)) measurements.push_back(measurement_of(state, figure));
  return measurements;
}

Table criteria_table(const CoverageState& state) {
  const std::vector<CoverageFigure> figures = named_figures(state);
  std::vector<Measurement> measurements;
  for (const CoverageFigure& figure : figures) measurements.push_back(measurement_of(state, figure));
  Table table = assay::criteria_table(measurements);
  table.title = "Coverage";
  const auto remove = [&](const char* id) {
    const auto at = std::ranges::find(table.columns, id, &Column::id) - table.columns.begin();
    table.columns.erase(table.columns.begin() + at);
    for (auto& row : table.rows) row.erase(row.begin() + at);
  };
  const auto says_nothing = [&](const char* id) {
    const auto at = static_cast<std::size_t>(std::ranges::find(table.columns, id, &Column::id) - table.columns.begin());
    return std::ranges::all_of(table.rows, [&](const auto& row) { return std::holds_alternative<std::monostate>(row[at]); });
  };
  remove("better");
  for (const char* id : {"class", "context", "measure"}) {
    if (says_nothing(id)) remove(id);
  }
  table.columns.push_back({"attainable", "attainable", Kind::count});
  table.columns.push_back({"attainable_coverage", "of attainable", Kind::percent});
  table.columns.push_back({"note", "note"});
  for (std::size_t i = 0; i < figures.size(); ++i) {
    const Coverage& c = figures[i].coverage;
    table.rows[i].push_back(count_cell(c.attainable));
    table.rows[i].push_back(c.attainable.empty() ? Cell() : Cell(c.attainable_value));
    table.rows[i].push_back(text_or_nothing(c.note));
  }
  return table;
}

Table idc_table(const CoverageState& state) {
  Table table{"idc", "Importance-driven coverage",
              {{"layer", "layer"}, {"m", "m", Kind::count}, {"clusters", "clusters per neuron"}, {"covered", "covered"}, {"coverable", "coverable"},
               {"idc", "IDC", Kind::percent}}, {}, false};
  for_each_idc(state, [&](const std::string&, const Idc& idc) {
    const std::vector<Coverage> rows = idc.result();
    for (std::size_t l = 0; l < rows.size(); ++l) {
      const Idc::LayerCombinations& layer = idc.layers()[l];
      table.rows.push_back({layer.name, whole(layer.neurons.size()), cluster_counts(layer), rows[l].covered, rows[l].coverable, rows[l].value});
    }
  });
  return table;
}

Table cluster_table(const Profile& profile) {
  Table table{"clusters", "Important neurons and their clusters over the training set",
              {{"layer", "layer"}, {"rank", "rank", Kind::count}, {"neuron", "neuron", Kind::count}, {"relevance", "relevance", Kind::number, 1},
               {"silhouette", "silhouette", Kind::number, 3}, {"centroids", "centroids (records)"}}, {}, false};
  for (const LayerClusters& layer : profile.clusters) {
    for (std::size_t i = 0; i < layer.important.size(); ++i) {
      const ImportantNeuron& neuron = layer.important[i];
      std::string centroids;
      for (std::size_t c = 0; c < neuron.clusters.centroids.size(); ++c) {
        centroids += fmt::format("{}{:.3f} ({})", c == 0 ? "" : "  ", neuron.clusters.centroids[c], neuron.clusters.sizes[c]);
      }
      table.rows.push_back({layer.layer, whole(i + 1), whole(neuron.neuron), neuron.relevance, neuron.clusters.silhouette, centroids});
    }
  }
  return table;
}

Table context_table(const CoverageState& state) {
  Table table{"contexts", "What each context covers, and what no other does",
              {{"context", "context"}, {"records", "records", Kind::count}, {"criterion", "criterion"}, {"layer", "layer"}, {"covered", "covered", Kind::count},
               {"only_here", "only here", Kind::count}}, {}, false};
  const std::vector<std::string> contexts = state.contexts();
  for (const std::string& context : contexts) {
    std::size_t records = 0;
    for (const auto& part : state.parts()) records += part->context == context ? part->records : 0;
    for (std::size_t c = 0; c < state.specs().size(); ++c) {
      const auto here = state.total(c, context);
      auto elsewhere = make_criterion(state.profile(), state.specs()[c]);
      for (const auto& part : state.parts()) {
        if (part->context == context) continue;
        for (const auto& [only_class, list] : part->criteria) elsewhere->merge(*list[c]);
      }
      std::uint64_t covered = 0, only = 0;
      const std::vector<Difference> differences = here->difference(*elsewhere, 0);
      for (const Difference& difference : differences) {
        covered += difference.both + difference.only_here;
        only += difference.only_here;
      }
      if (!differences.empty()) table.rows.push_back({context, whole(records), state.specs()[c].text(), std::string("all"), whole(covered), whole(only)});
    }
  }
  return table;
}

Table layer_table(const CoverageState& state) {
  Table table{"layers", "Layers",
              {{"layer", "layer"}, {"op", "operator"}, {"neurons", "neurons", Kind::count}, {"dead", "dead", Kind::count}, {"constant", "constant", Kind::count},
               {"duplicate", "duplicate", Kind::count}}, {}, false};
  std::vector<std::vector<Coverage>> results;
  for (std::size_t c = 0; c < state.specs().size(); ++c) {
    std::vector<Coverage> rows = state.total(c)->result();
    if (std::ranges::all_of(rows, [](const Coverage& row) { return row.coverable.empty(); })) continue;
    results.push_back(std::move(rows));
    const std::string name = state.specs()[c].text();
    table.columns.push_back({name, name, Kind::percent});
  }
  for (const LayerStatistics& layer : state.profile().statistics) {
    std::size_t dead = 0, constant = 0, duplicate = 0;
    for (std::size_t n = 0; n < layer.neurons(); ++n) {
      if (layer.constant(n)) ++(layer.low[n] == 0 ? dead : constant);
      else if (layer.duplicate(n)) ++duplicate;
    }
    std::vector<Cell> row{layer.layer, layer.op, whole(layer.neurons()), whole(dead), whole(constant), whole(duplicate)};
    for (const auto& result : results) {
      const auto found = std::ranges::find(result, layer.layer, &Coverage::layer);
      row.push_back(found == result.end() ? Cell() : Cell(found->value));
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

Table uncovered_table(const CoverageState& state, const Dataset& test, std::size_t count) {
  Table table{"uncovered", "Uncovered combinations nearest to the data (gap: share of the distance between two centroids)",
              {{"layer", "layer"}, {"m", "m", Kind::count}, {"combination", "combination"}, {"neuron", "by neuron", Kind::count}, {"gap", "gap", Kind::number, 4},
               {"record", "nearest record"}}, {}, false};
  for_each_idc(state, [&](const std::string&, const Idc& idc) {
    for (const Idc::LayerCombinations& layer : idc.layers()) {
      for (const Idc::Neighbour& neighbour : layer.nearest_uncovered(count)) {
        table.rows.push_back({layer.name, whole(layer.neurons.size()), to_text(neighbour.combination), whole(layer.neurons[neighbour.neuron].neuron),
                              neighbour.gap, test.id(neighbour.record)});
      }
    }
  });
  return table;
}

Table combination_table(const CoverageState& state, const Dataset& test, std::size_t count) {
  Table table{"combinations", "Covered combinations with most records",
              {{"layer", "layer"}, {"m", "m", Kind::count}, {"combination", "combination"}, {"records", "records", Kind::count}, {"first", "first record"}}, {}, false};
  for_each_idc(state, [&](const std::string&, const Idc& idc) {
    for (const Idc::LayerCombinations& layer : idc.layers()) {
      std::vector<std::pair<Combination, Idc::Covered>> sorted(layer.covered.begin(), layer.covered.end());
      std::ranges::stable_sort(sorted, [](const auto& a, const auto& b) { return a.second.records > b.second.records; });
      sorted.resize(std::min(sorted.size(), count));
      for (const auto& [combination, covered] : sorted) {
        table.rows.push_back({layer.name, whole(layer.neurons.size()), to_text(combination), whole(covered.records), test.id(covered.first)});
      }
    }
  });
  return table;
}

Table neuron_table(const CoverageState& state, const Dataset* test) {
  Table table{"neurons", "Neurons",
              {{"layer", "layer"}, {"neuron", "neuron", Kind::count}, {"low", "low", Kind::number, 4}, {"high", "high", Kind::number, 4},
               {"mean", "mean", Kind::number, 4}, {"sd", "sd", Kind::number, 4}, {"status", "status"}, {"relevance", "relevance", Kind::number, 2},
               {"first_record", "first covered by"}}, {}, true};
  const Profile& profile = state.profile();
  std::vector<std::unique_ptr<Criterion>> totals;
  for (std::size_t c = 0; c < state.specs().size(); ++c) {
    auto total = state.total(c);
    if (total->neurons(0).empty()) continue;
    const std::string name = state.specs()[c].text();
    table.columns.push_back({name, name, Kind::percent});
    totals.push_back(std::move(total));
  }
  for (std::size_t l = 0; l < profile.statistics.size(); ++l) {
    const LayerStatistics& layer = profile.statistics[l];
    std::vector<std::vector<Criterion::NeuronCoverage>> coverage;
    for (const auto& total : totals) coverage.push_back(total->neurons(l));
    const auto clusters = std::ranges::find(profile.clusters, layer.layer, &LayerClusters::layer);
    for (std::size_t n = 0; n < layer.neurons(); ++n) {
      const char* status = layer.constant(n) ? (layer.low[n] == 0 ? "dead" : "constant") : layer.duplicate(n) ? "duplicate" : "active";
      Cell relevance;
      if (clusters != profile.clusters.end()) {
        const auto found = std::ranges::find(clusters->important, n, &ImportantNeuron::neuron);
        if (found != clusters->important.end()) relevance = found->relevance;
      }
      std::optional<std::size_t> first;
      for (const auto& rows : coverage) {
        if (n < rows.size() && rows[n].first) first = std::min(first.value_or(*rows[n].first), *rows[n].first);
      }
      std::vector<Cell> row{layer.layer, whole(n), static_cast<double>(layer.low[n]), static_cast<double>(layer.high[n]), layer.mean[n], layer.deviation[n],
                            std::string(status), relevance, !first ? Cell() : Cell(test != nullptr ? test->id(*first) : state.record_name(*first))};
      for (const auto& rows : coverage) {
        const bool there = n < rows.size() && rows[n].coverable > 0;
        row.push_back(there ? Cell(static_cast<double>(rows[n].covered) / rows[n].coverable) : Cell());
      }
      table.rows.push_back(std::move(row));
    }
  }
  return table;
}

Table histogram_table(const Profile& profile, const Observations& seen) {
  Table table{"histograms", "Activations of the important neurons, training against test",
              {{"layer", "layer"}, {"neuron", "neuron", Kind::count}, {"low", "low", Kind::number, 4}, {"high", "high", Kind::number, 4}, {"train", "training"},
               {"test", "test"}, {"boundaries", "cluster boundaries"}}, {}, true};
  for (std::size_t l = 0; l < profile.clusters.size() && l < seen.histograms.size(); ++l) {
    const LayerClusters& layer = profile.clusters[l];
    const LayerStatistics& statistics = profile.statistics[profile.position(layer.layer)];
    for (std::size_t i = 0; i < layer.important.size(); ++i) {
      const ImportantNeuron& neuron = layer.important[i];
      if (neuron.histogram.size() < 3) continue;
      // The outer bins hold what lies outside the training range; the page adds a bin's width on each side.
      const double low = statistics.low[neuron.neuron], high = statistics.high[neuron.neuron];
      const double bin = (high - low) / static_cast<double>(neuron.histogram.size() - 2);
      std::vector<std::string> boundaries;
      for (std::size_t c = 0; c + 1 < neuron.clusters.centroids.size(); ++c) {
        boundaries.push_back(fmt::format("{:.6g}", (neuron.clusters.centroids[c] + neuron.clusters.centroids[c + 1]) / 2));
      }
      table.rows.push_back({layer.layer, whole(neuron.neuron), low - bin, high + bin, comma_list(neuron.histogram), comma_list(seen.histograms[l][i]),
                            joined(boundaries, ",")});
    }
  }
  return table;
}

Table growth_table(const CoverageState& state, const Observations& seen) {
  Table table{"growth", "Coverage over the test set",
              {{"records", "records", Kind::count}, {"criterion", "criterion"}, {"coverage", "coverage", Kind::percent}}, {}, true};
  for (std::size_t c = 0; c < state.specs().size(); ++c) {
    if (state.total(c)->result().back().coverable.empty()) continue;
    for (const GrowthPoint& point : seen.growth) table.rows.push_back({whole(point.records), state.specs()[c].text(), point.values[c]});
  }
  return table;
}

Table record_table(const CoverageState& state, const Observations& seen, const Dataset& test, std::size_t count) {
  Table table{"records", "Misclassified and most surprising records",
              {{"record", "record"}, {"label", "label"}, {"prediction", "prediction"}, {"confidence", "confidence", Kind::percent}, {"gini", "gini", Kind::number, 3},
               {"misclassified", "misclassified"}}, {}, true};
  const std::vector<std::string> classes = test.class_names();
  const auto class_name = [&](std::int64_t c) -> Cell {
    if (c < 0) return {};
    return static_cast<std::size_t>(c) < classes.size() ? classes[static_cast<std::size_t>(c)] : std::to_string(c);
  };
  std::vector<std::map<std::size_t, double>> surprise;
  for (std::size_t c = 0; c < state.specs().size(); ++c) {
    const auto values = state.total(c)->values();
    if (!values) continue;
    surprise.emplace_back(values->values.begin(), values->values.end());
    const std::string& name = state.specs()[c].name;
    const std::string id = name.ends_with("sc") ? name.substr(0, name.size() - 1) + "a" : name;  // lsc holds LSA
    if (std::ranges::find(table.columns, id, &Column::id) != table.columns.end()) {
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
    std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) { return score(seen.records[a]) > score(seen.records[b]); });
    for (std::size_t i = 0; i < std::min(count, order.size()); ++i) {
      if (score(seen.records[order[i]]) > 0) chosen.insert(order[i]);
    }
  };
  take([](const RecordFacts& r) { return r.label >= 0 && r.label != r.predicted ? 1.0 + r.confidence : 0.0; });
  take([](const RecordFacts& r) { return r.doubt("deepgini"); });
  for (const auto& values : surprise) {
    take([&](const RecordFacts& r) {
      const auto found = values.find(r.record);
      return found == values.end() || !std::isfinite(found->second) ? 0.0 : found->second;
    });
  }
  for (const std::size_t i : chosen) {
    const RecordFacts& r = seen.records[i];
    std::vector<Cell> row{test.id(r.record), class_name(r.label), class_name(r.predicted), r.confidence, r.doubt("deepgini"),
                          r.label >= 0 ? Cell(r.label != r.predicted) : Cell()};
    for (const auto& values : surprise) {
      const auto found = values.find(r.record);
      row.push_back(found == values.end() ? Cell() : Cell(found->second));
    }
    row.push_back(text_or_nothing(thumbnail(test, r.record)));
    table.rows.push_back(std::move(row));
  }
  return table;
}

std::vector<Definition> definitions_of(const CoverageState& state) {
  std::vector<Definition> definitions;
  std::set<std::string> defined;
  for (const Spec& spec : state.specs()) {
    const CriterionInfo& info = find_criterion(spec.name);
    if (defined.insert(info.name).second) definitions.push_back({info.name, info.definition, info.paper});
  }
  const Profile& profile = state.profile();
  if (!profile.method.empty()) {
    definitions.push_back({"importance", profile.method + ", summed over the correctly classified training records",
                           "Gerasimou et al., ICSE 2020, section 3.1; docs/algorithms/importance.md"});
    definitions.push_back({"clusters", profile.clusterer, "Gerasimou et al., ICSE 2020, section 3.2; docs/algorithms/clustering.md"});
  }
  definitions.push_back({"attainable", "items left when neurons that are constant over the training set, that agree with another on every training record, "
                                       "and items beyond the bounds of the activation function are taken out", "docs/algorithms/criteria.md"});
  return definitions;
}

void add_facts(Document& document, const CoverageState& state) {
  std::uint64_t labelled = 0, correct = 0;
  std::size_t non_finite = 0;
  for (const auto& part : state.parts()) {
    labelled += part->labelled;
    correct += part->correct;
    non_finite += part->non_finite.size();
  }
  document.facts.push_back({"records", "test records", whole(state.records()), Kind::count});
  if (labelled > 0) document.facts.push_back({"test_accuracy", "test accuracy", static_cast<double>(correct) / static_cast<double>(labelled), Kind::percent});
  document.facts.push_back({"training_records", "training records", whole(state.profile().records), Kind::count});
  if (non_finite > 0) document.notices.push_back(fmt::format("{} records have activations that are not finite and cover nothing", non_finite));
}

std::string headline_of(const CoverageState& state, const std::string& subject) {
  constexpr std::size_t most = 4;  // criteria; the table has them all
  std::vector<std::string> texts;
  for (std::size_t c = 0; c < std::min(most, state.specs().size()); ++c) {
    const Coverage row = state.total(c)->result().back();
    const std::string& name = state.specs()[c].name;
    const std::string m = state.specs()[c].options.contains("m") ? fmt::format(" (m {})", state.specs()[c].options.at("m")) : "";
    texts.push_back(row.coverable.empty() ? fmt::format("{}{} {:.4g}", name, m, row.value) : fmt::format("{}{} {}", name, m, percent(row.value)));
  }
  if (state.specs().size() > most) texts.push_back(fmt::format("{} more criteria", state.specs().size() - most));
  return subject + ": " + joined(texts);
}

}  // namespace assay::app
