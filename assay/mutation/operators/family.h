#pragma once

// Operators that other operators are made of.

#include <assay/extend/mutation_operator.h>

namespace assay::mutation {

OperatorInfo afrm_operator();
OperatorInfo lam_operator();
OperatorInfo ld_operator();

// An operator of the layer level, applied to a network before training.
ProgramFault before_training(const OperatorInfo& op);

}  // namespace assay::mutation
