// Weights in 8-bit integers.

#include "assay/mutation/operators/integer_rounding.h"

namespace assay::mutation {

OperatorInfo int8_operator() {
  return {.name = "int8",
          .title = "int8 quantisation",
          .summary = "the weights of a layer are rounded to 8-bit integers times a scale",
          .definition =
              "symmetric, per neuron and constant: scale = max |w| / 127 over the neuron's weights, w "
              "becomes scale * round(w / scale), ties to even; per constant "
              "where weights belong to no single neuron. Computation stays float32, biases stay",
          .limits = "one mutant per layer; activations are not quantised",
          .paper = "a precision fault: the usual scheme of integer inference, Jacob et al., CVPR 2018",
          .level = OperatorInfo::Level::layer,
          .refusal = [](const SubjectLayer&, const SpecOptions&) { return std::string(); },
          .apply = [](const MutationSite& target, Edit& edit) { round_to_integers(target, edit, 127); }};
}

}  // namespace assay::mutation
