#include "assay/results/testing/extension.h"

#include <fmt/format.h>

#include <algorithm>

#include "assay/results/document.h"
#include "assay/support/text/so_many.h"

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

report::Table extension_table(const coverage::CoverageState& state,
                              std::span<const attack::Extension> extensions) {
  struct Row {
    std::string criterion, layer;
    std::vector<report::Cell> values;  // of the test set, then with each extension
  };
  std::vector<Row> rows;
  for (std::size_t c = 0; c < state.specs().size(); ++c) {
    const Spec& spec = state.specs()[c];
    const std::size_t first = rows.size();
    for (const coverage::Coverage& coverage : summary_of(*state.total(c), spec))
      rows.push_back({spec.text(), coverage.layer, {value_cell(coverage)}});
    for (const attack::Extension& extension : extensions) {
      const auto both = state.total(c);
      both->merge(*extension.state.total(c));
      std::size_t row = first;
      for (const coverage::Coverage& coverage : summary_of(*both, spec))
        rows.at(row++).values.push_back(value_cell(coverage));
    }
  }
  ColumnsOf<Row> columns{{"criterion", &Row::criterion},
                         {"layer", &Row::layer},
                         {"test", "test set", Kind::percent, [](auto& row) { return row.values[0]; }}};
  for (std::size_t e = 0; e < extensions.size(); ++e) {
    const std::string& name = extensions[e].name;
    columns.add({name, "+ " + name, Kind::percent, [e](auto& row) { return row.values[e + 1]; }});
  }
  return table_of("extensions", "Coverage of the test set, and extended by each attack", rows, columns);
}

}  // namespace

report::Document document_of(const coverage::CoverageState& state,
                             std::span<const attack::Extension> extensions) {
  report::Document document;
  for (const attack::Extension& extension : extensions) {
    document.definitions.push_back(
        {"+ " + extension.name,
         fmt::format("the test set and {} made from it by {}", so_many(extension.made.stored, "record"),
                     extension.made.spec.text()),
         attack::attacks().find(extension.made.spec.name).paper});
  }
  document.tables = {extension_table(state, extensions)};
  return document;
}

}  // namespace assay::results
