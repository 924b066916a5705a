#include "assay/results/networks/pruning.h"

#include <fmt/format.h>

#include <algorithm>

#include "assay/results/document.h"
#include "assay/results/networks/evaluation.h"
#include "assay/support/numbers/mean.h"
#include "assay/support/text/so_many.h"

namespace assay::results {
namespace {

std::string told_score(const Evaluation& evaluation) {
  return evaluation.accuracy ? "accuracy " + report::percent(*evaluation.accuracy)
                             : fmt::format("mean squared error {:.4f}", inspection::score_of(evaluation));
}

report::Table pruned_table(const inspection::UnitsByLayer& units) {
  return table_of(
      "pruned", "Units", units,
      {{"layer", [](auto& entry) { return entry.first; }},
       {"count", "units", [](auto& entry) { return entry.second.size(); }},
       {"units", "numbers", [](auto& entry) { return fmt::to_string(fmt::join(entry.second, "+")); }}});
}

void add_random(report::Document& document, const inspection::Pruning& pruning) {
  const std::vector<double>& scores = pruning.random;
  const auto kind = pruning.after.accuracy ? Kind::percent : Kind::number;
  const auto [least, greatest] = std::ranges::minmax(scores);
  document.facts.push_back(
      {"random_mean", "after random choices of as many: mean", mean_of(scores), kind, 2});
  document.facts.push_back({"random_least", "least", least, kind, 2});
  document.facts.push_back({"random_greatest", "greatest", greatest, kind, 2});
  const auto lower = std::ranges::count_if(
      scores, [after = inspection::score_of(pruning.after)](double score) { return score < after; });
  document.facts.push_back(count_fact("random_lower", "random choices below the chosen units", lower));
}

}  // namespace

report::Document document_of(const inspection::Pruning& pruning, const Graph& network,
                             const inspection::UnitsByLayer& units, bool masked) {
  std::size_t count = 0;
  for (const auto& [layer, numbers] : units) count += numbers.size();
  report::Document document;
  add_scores(document, pruning.before, "before");
  add_scores(document, pruning.after, "after");
  document.facts.push_back(count_fact("units", masked ? "units masked" : "units removed", count));
  document.facts.push_back(count_fact("parameters_before", "parameters before", network.parameter_count()));
  document.facts.push_back(
      count_fact("parameters_after", "parameters after", pruning.graph.parameter_count()));
  document.headline = fmt::format("{} without {}: {} -> {}", network.name(), so_many(count, "unit"),
                                  told_score(pruning.before), told_score(pruning.after));
  document.tables.push_back(pruned_table(units));
  if (!pruning.random.empty()) add_random(document, pruning);
  return document;
}

}  // namespace assay::results
