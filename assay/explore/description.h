#pragma once

// What is told of a finding: decisions, distances from its seed.

#include <cstdint>
#include <span>
#include <vector>

#include <assay/explore.h>
#include <assay/extend/attack_problem.h>

namespace assay::explore {

// Fills in decisions of every network, and distances (l0, l1, l2, linf, in units of the valid range) of the
// records from their seeds; `points`, `seeds`: [findings, record...].
void describe(std::span<Finding> findings, const Array& points, const Array& seeds,
              const std::vector<const attack::AttackedNetwork*>& networks,
              const DisagreementOptions& options);
// Classes, of records or items; for regression outputs in steps of the margin. Findings with the same are
// compared as duplicates.
std::vector<std::int64_t> answers_of(const Finding& finding, double margin);

}  // namespace assay::explore
