// Weights in 4-bit integers, as language models are often deployed.

#include "assay/mutation/operators/integer_rounding.h"

namespace assay::mutation {

OperatorInfo int4_operator() {
  return {
      .name = "int4",
      .title = "int4 quantisation",
      .summary = "the weights of a layer are rounded to 4-bit integers times a scale",
      .definition =
          "symmetric, per neuron and constant: scale = max |w| / 7 over the neuron's weights, w becomes "
          "scale * round(w / scale), ties to even; per constant where weights belong to no single neuron. "
          "Computation stays float32, biases stay",
      .limits =
          "one mutant per layer; without the calibration and the small blocks of deployed schemes, so "
          "coarser than these",
      .paper = "a precision fault; Dettmers, Zettlemoyer, The case for 4-bit precision, ICML 2023",
      .level = OperatorInfo::Level::layer,
      .refusal = [](const SubjectLayer&, const SpecOptions&) { return std::string(); },
      .apply = [](const MutationSite& target, Edit& edit) { round_to_integers(target, edit, 7); }};
}

}  // namespace assay::mutation
