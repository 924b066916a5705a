#pragma once

// Figures that are shares of a sample, which another sample would give otherwise.

#include <optional>
#include <span>
#include <string>

#include <assay/gate.h>
#include "assay/evidence/study.h"

namespace assay::evidence {

// Both ends of an interval together are missed with a probability of at most this.
inline constexpr double interval_miss = 0.05;

// What the counted figures of a command are a sample of: "records", "mutants"; empty: they describe these
// records exactly, as coverage does, and are a sample of nothing.
std::string sampled_by(const std::string& command);

// "90.00 % to 97.31 %" (Clopper and Pearson) of a counted share of a sample; of figures whose result has an
// interval, as those of items have, that one; else nothing. Of figures of a group of records only gates have
// one; the others have theirs in the result.
std::optional<std::string> interval_of(const report::Measurement& figure, const StepResult& result);
std::optional<std::string> interval_of(const report::Gate& gate, const StepResult& result);

// step, figure, measured, interval, sample of: first what is counted, then the tables in which a result gives
// intervals of its own, then means, of which a result keeps too little for one.
report::Table sample_table(std::span<const StepResult> results);

}  // namespace assay::evidence
