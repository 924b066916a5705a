#pragma once

#include <span>
#include <vector>

#include "assay/evidence/study.h"

namespace assay::evidence {

// Throws Error{usage} for requirements without id or gates, ids and step names that occur twice, steps that
// are not there and gates that cannot be read: before anything runs.
void check_study(const Study& study);

// Every gate of every requirement, decided by the first step that measured what it asks about (or the one
// that the requirement names); a gate on warnings, which every step has, by all of them. A requirement
// without a measurement fails.
std::vector<Outcome> outcomes_of(const Study& study, std::span<const StepResult> results);

// Steps with a failed gate.
std::vector<std::string> steps_with_failed_gates(std::span<const StepResult> results);

// Whether all gates of a requirement hold.
bool is_met(std::size_t requirement, std::span<const Outcome> outcomes);

}  // namespace assay::evidence
