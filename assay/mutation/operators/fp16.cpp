// Weights in IEEE 754 binary16 (float16).

#include <assay/extend/mutation_operator.h>
#include "assay/mutation/operators/rounding.h"

namespace assay::mutation {

OperatorInfo fp16_operator() {
  return {
      .name = "fp16",
      .title = "float16 precision",
      .summary = "the weights of a layer are rounded to IEEE 754 binary16 (float16)",
      .definition =
          "every weight of the layer is rounded to the nearest number of IEEE 754 binary16 (float16), ties "
          "to even; computation stays float32, biases stay",
      .limits = "one mutant per layer; the format becomes infinite beyond 65504 and loses weights below 6e-8",
      .paper = "a precision fault: the format as hardware stores it",
      .level = OperatorInfo::Level::layer,
      .refusal = [](const SubjectLayer&, const SpecOptions&) { return std::string(); },
      .apply =
          [](const MutationSite& target, Edit& edit) {
            change_all_weights(target, edit, [](float w) { return rounded_to(binary16, w); });
          }};
}

}  // namespace assay::mutation
