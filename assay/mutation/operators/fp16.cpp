// Weights in IEEE 754 binary16 (float16).

#include "assay/mutation/operators/rounding.h"

namespace assay::mutation {

OperatorInfo fp16_operator() {
  return rounding_operator("fp16", "float16 precision", "IEEE 754 binary16 (float16)",
                           "becomes infinite beyond 65504 and loses weights below 6e-8", binary16);
}

}  // namespace assay::mutation
