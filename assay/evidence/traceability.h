#pragma once

// Both ways: from a requirement to the figure that decides it and the items and records behind it, and from a
// record to what it covers.

#include <span>
#include <vector>

#include "assay/evidence/study.h"

namespace assay::evidence {

// requirement, gate, holds, step, file, figure, value, its interval where it is a sample, where the items are
// listed, open items (the first few).
report::Table requirement_table(const Study& study, std::span<const Outcome> outcomes,
                                std::span<const StepResult> results);

// requirement, gate, figure, holds, measured, interval: every figure that a gate asks for, the worst first.
report::Table member_table(const Study& study, std::span<const Outcome> outcomes,
                           std::span<const StepResult> results);

// record, step, relation ("first to cover", "kills", "misclassified", "nearest to uncovered"), what.
report::Table record_table(std::span<const StepResult> results);

}  // namespace assay::evidence
