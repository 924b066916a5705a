#include <assay/results.h>

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "assay/engine/layers/unit_views.h"
#include "assay/results/document.h"
#include "assay/results/networks/evaluation.h"
#include "assay/results/warnings.h"

namespace assay::results {
namespace {

report::Table ranking_table(const relevance::Importance& importance, std::size_t top) {
  struct Ranked {
    const relevance::LayerImportance& layer;
    std::size_t rank, neuron;
    double total;  // of the absolute relevance of the layer
  };
  std::vector<Ranked> ranked;
  for (const relevance::LayerImportance& layer : importance.layers) {
    const double total = std::accumulate(layer.absolute.begin(), layer.absolute.end(), 0.0);
    const std::vector<std::size_t> ranking = layer.ranking();
    for (std::size_t i = 0; i < std::min(top, ranking.size()); ++i)
      ranked.push_back({layer, i + 1, ranking[i], total});
  }
  return table_of("neurons", "Neurons by relevance", ranked,
                  {{"layer", [](auto& one) { return one.layer.layer.name; }},
                   {"rank", &Ranked::rank},
                   {"neuron", &Ranked::neuron},
                   {"relevance", [](auto& one) { return one.layer.relevance[one.neuron]; }},
                   {"share", "share of the absolute sum", Kind::percent, [](auto& one) {
                      return one.total > 0 ? std::optional(one.layer.absolute[one.neuron] / one.total)
                                           : std::nullopt;
                    }}});
}

report::Table conservation_table(const relevance::Importance& importance, double share) {
  using relevance::LayerImportance;
  const auto conserved = [](const LayerImportance& layer) {
    return layer.total_in != 0 ? std::optional(layer.total_here / layer.total_in) : std::nullopt;
  };
  return table_of(
      "layers", "Layers", importance.layers,
      {{"layer", [](auto& layer) { return layer.layer.name; }},
       {"neurons", [](auto& layer) { return layer.layer.neurons; }},
       {"relevance_in", "relevance put in", 1, &LayerImportance::total_in},
       {"relevance_here", "arriving here", 1, &LayerImportance::total_here},
       {"conserved", "conserved (1: all)", 3, conserved},
       {"m", "smallest m", [&](auto& layer) { return layer.smallest_m(share, layer.relevance.size()); }}});
}

// The exact definition of the attribution.
std::string method_of(const relevance::Importance& importance, const Session& session,
                      const relevance::ImportanceOptions& options) {
  relevance::AttributionOptions attribution = options.attribution;
  attribution.outputs = importance.evaluation.mean_squared_error.has_value();
  for (const relevance::LayerImportance& layer : importance.layers)
    attribution.wanted.push_back(relevance_carrier(session, layer.layer).value);
  return relevance::make_attribution(options.method, session, attribution)->describe();
}

std::string headline_of(const relevance::LayerImportance& layer, const std::string& network, double share) {
  const std::size_t first = layer.ranking().front();
  if (std::ranges::all_of(layer.absolute, [](double a) { return a == 0; }))
    return fmt::format("{}: no neuron of {} carries any relevance", network, layer.layer.name);
  const double conserved = layer.total_in == 0 ? 0 : layer.total_here / layer.total_in;
  return fmt::format(
      "{}: neuron {} of {} carries most relevance ({:.2f}); {} of {} neurons hold {} of it; "
      "{:.2f} of the relevance put in arrives there",
      network, first, layer.layer.name, layer.relevance[first],
      layer.smallest_m(share, layer.relevance.size()), layer.relevance.size(), report::percent(share),
      conserved);
}

}  // namespace

report::Document document_of(const relevance::Importance& importance, const Session& session,
                             const relevance::ImportanceOptions& options, double share, std::size_t top) {
  report::Document document;
  add_scores(document, importance.evaluation, "data");
  document.facts.push_back(count_fact("records", "records", importance.records));
  document.facts.push_back(count_fact("used", "of them used (correct and finite)", importance.used));
  document.tables = {conservation_table(importance, share), ranking_table(importance, top)};
  add_warnings(document, importance_warnings(importance));
  document.headline = headline_of(importance.layers.at(0), session.graph().name(), share);
  document.definitions = {
      {"relevance", method_of(importance, session, options), "docs/algorithms/relevance.md"},
      {"importance",
       "relevance of a neuron (over all positions of a channel) summed over the correctly classified records",
       "Gerasimou et al., Importance-Driven Deep Learning System Testing, ICSE 2020, section 3.1"}};
  return document;
}

}  // namespace assay::results
