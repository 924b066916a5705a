// Weights in bfloat16.

#include "assay/mutation/operators/rounding.h"

namespace assay::mutation {

OperatorInfo bf16_operator() {
  return rounding_operator("bf16", "bfloat16 precision", "bfloat16",
                           "has 8 significant bits, so that weights change by up to 0.4 %", bfloat16);
}

}  // namespace assay::mutation
