#include <assay/results.h>

#include <fmt/format.h>

#include <algorithm>

#include "assay/engine/layers/unit_views.h"
#include "assay/results/document.h"
#include "assay/results/networks/evaluation.h"
#include "assay/results/warnings.h"

namespace assay::results {
namespace {

report::Table ranking_table(const relevance::Importance& importance, std::size_t top) {
  report::Table table{"neurons",
                      "Neurons by relevance",
                      {{"layer", "layer"},
                       {"rank", "rank", Kind::count},
                       {"neuron", "neuron", Kind::count},
                       {"relevance", "relevance", Kind::number, 2},
                       {"share", "share of the absolute sum", Kind::percent}},
                      {}};
  for (const relevance::LayerImportance& layer : importance.layers) {
    double total = 0;
    for (const double a : layer.absolute) total += a;
    const std::vector<std::size_t> ranking = layer.ranking();
    for (std::size_t i = 0; i < std::min(top, ranking.size()); ++i) {
      const std::size_t n = ranking[i];
      table.rows.push_back({layer.layer.name, static_cast<std::int64_t>(i + 1), static_cast<std::int64_t>(n),
                            layer.relevance[n],
                            total > 0 ? report::Cell{layer.absolute[n] / total} : report::Cell{}});
    }
  }
  return table;
}

report::Table conservation_table(const relevance::Importance& importance, double share) {
  report::Table table{"layers",
                      "Layers",
                      {{"layer", "layer"},
                       {"neurons", "neurons", Kind::count},
                       {"relevance_in", "relevance put in", Kind::number, 1},
                       {"relevance_here", "arriving here", Kind::number, 1},
                       {"conserved", "conserved (1: all)", Kind::number, 3},
                       {"m", "smallest m", Kind::count}},
                      {}};
  for (const relevance::LayerImportance& layer : importance.layers) {
    table.rows.push_back(
        {layer.layer.name, layer.layer.neurons, layer.total_in, layer.total_here,
         layer.total_in != 0 ? report::Cell{layer.total_here / layer.total_in} : report::Cell{},
         static_cast<std::int64_t>(layer.smallest_m(share, layer.relevance.size()))});
  }
  return table;
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
