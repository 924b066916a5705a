// Weights in bfloat16.

#include <assay/extend/mutation_operator.h>
#include "assay/mutation/operators/rounding.h"

namespace assay::mutation {

OperatorInfo bf16_operator() {
  return {
      .name = "bf16",
      .title = "bfloat16 precision",
      .summary = "the weights of a layer are rounded to bfloat16",
      .definition =
          "every weight of the layer is rounded to the nearest number of bfloat16, ties to even; computation "
          "stays float32, biases stay",
      .limits =
          "one mutant per layer; the format has 8 significant bits, so that weights change by up to 0.4 %",
      .paper = "a precision fault: the format as hardware stores it",
      .level = OperatorInfo::Level::layer,
      .refusal = [](const SubjectLayer&, const SpecOptions&) { return std::string(); },
      .apply =
          [](const MutationSite& target, Edit& edit) {
            change_all_weights(target, edit, [](float w) { return rounded_to(bfloat16, w); });
          }};
}

}  // namespace assay::mutation
