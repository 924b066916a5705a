#pragma once

// Tables of a coverage result, one function each.

#include <cstddef>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <assay/coverage.h>
#include <assay/dataset.h>
#include <assay/report.h>
#include "assay/coverage/criteria/idc.h"

namespace assay::results {

// Calls visit(criterion) for the totals that are IDC, of all that count the same neurons for the first.
template <typename Visit>
void for_each_idc(const coverage::CoverageState& state, const Visit& visit) {
  std::set<std::vector<std::pair<std::string, std::size_t>>> seen;
  for (std::size_t c = 0; c < state.specs().size(); ++c) {
    const auto total = state.total(c);
    const coverage::Idc* idc = dynamic_cast<const coverage::Idc*>(total.get());
    if (idc == nullptr) continue;
    std::vector<std::pair<std::string, std::size_t>> counted;
    for (const auto& layer : idc->layers()) counted.emplace_back(layer.name, layer.neurons.size());
    if (seen.insert(std::move(counted)).second) visit(*idc);
  }
}

// A row per criterion, layer, class and context.
report::Table coverage_table(const coverage::CoverageState& state);
// Important neurons with their clusters.
report::Table cluster_table(const coverage::Profile& profile);
// What each context covers, and what no other does.
report::Table context_table(const coverage::CoverageState& state);
report::Table layer_table(const coverage::CoverageState& state);
// `test`: names the first record that covers a neuron; none: the state's own names.
report::Table neuron_table(const coverage::CoverageState& state, const Dataset* test);
// Activations of the important neurons, training against test.
report::Table histogram_table(const coverage::Profile& profile, const coverage::Observations& seen);
// Coverage over the test set.
report::Table growth_table(const coverage::CoverageState& state, const coverage::Observations& seen);

// Of records of the test set: the uncovered combinations nearest to them, the covered ones with most, and the
// records that are misclassified, most in doubt or most surprising, `count` of each.
report::Table uncovered_table(const coverage::CoverageState& state, const Dataset& test, std::size_t count);
report::Table combination_table(const coverage::CoverageState& state, const Dataset& test, std::size_t count);
report::Table record_table(const coverage::CoverageState& state, const coverage::Observations& seen,
                           const Dataset& test, std::size_t count);

}  // namespace assay::results
