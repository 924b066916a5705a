#pragma once

// The outcome of a mutant before it is run.

#include <cstdint>
#include <string>

#include <assay/mutation.h>

namespace assay::mutation {

// `sites` and `summary`: how much was changed, and what.
MutantOutcome outcome_of(const Mutant& mutant, std::int64_t sites, std::string summary);

}  // namespace assay::mutation
