#pragma once

// Records left out of training.

#include <vector>

#include <assay/extend/mutation_operator.h>

namespace assay::mutation {

ProgramChange remove_records(Program& program, const std::vector<std::size_t>& chosen);

}  // namespace assay::mutation
