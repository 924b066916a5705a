#include "assay/results/testing/extension.h"

#include <fmt/format.h>

#include <algorithm>

#include "assay/results/document.h"

namespace assay::results {
namespace {

// A measure without a maximum is not a share, so it is shown as text.
report::Cell value_cell(const coverage::Coverage& coverage) {
  if (coverage.coverable.empty()) return fmt::format("{:.4g}", coverage.value);
  return coverage.value;
}

// Layer by layer for criteria whose layers do not add up, otherwise all layers together.
std::vector<coverage::Coverage> summary_of(const coverage::Criterion& criterion, const Spec& spec) {
  std::vector<coverage::Coverage> rows = coverage::result_of(criterion, spec.text());
  const auto all = std::ranges::find(rows, "all", &coverage::Coverage::layer);
  if (all != rows.end()) return {*all};
  return rows;
}

report::Table extension_table(const coverage::CoverageState& state) {
  report::Table table{"extensions",
                      "Coverage of the test set, and extended by each attack",
                      {{"criterion", "criterion"}, {"layer", "layer"}, {"test", "test set", Kind::percent}},
                      {},
                      false};
  for (std::size_t c = 0; c < state.specs().size(); ++c) {
    for (const coverage::Coverage& coverage : summary_of(*state.total(c), state.specs()[c]))
      table.rows.push_back({state.specs()[c].text(), coverage.layer, value_cell(coverage)});
  }
  return table;
}

// One more column: both sets together.
void add_column(report::Table& table, const coverage::CoverageState& state,
                const attack::Extension& extension) {
  table.columns.push_back({extension.name, "+ " + extension.name, Kind::percent});
  auto row = table.rows.begin();
  for (std::size_t c = 0; c < state.specs().size(); ++c) {
    const auto both = state.total(c);
    both->merge(*extension.state.total(c));
    for (const coverage::Coverage& coverage : summary_of(*both, state.specs()[c]))
      (row++)->push_back(value_cell(coverage));
  }
}

}  // namespace

report::Document document_of(const coverage::CoverageState& state,
                             std::span<const attack::Extension> extensions) {
  report::Document document;
  report::Table table = extension_table(state);
  for (const attack::Extension& extension : extensions) {
    add_column(table, state, extension);
    document.definitions.push_back({"+ " + extension.name,
                                    fmt::format("the test set and {} records made from it by {}",
                                                extension.made.stored, extension.made.spec.text()),
                                    attack::attacks().find(extension.made.spec.name).paper});
  }
  document.tables = {std::move(table)};
  return document;
}

}  // namespace assay::results
