// Sign-value coverage: a neuron's change of sign alone changes the value of a neuron of the next layer.

#include "assay/coverage/criteria/record_pairs.h"

namespace assay::coverage {

CriterionInfo sv_criterion() {
  return {
      .name = "sv",
      .summary =
          "sign-value coverage: a neuron's change of sign alone changes the value, not the sign, of a "
          "neuron of the next layer",
      .definition =
          "pairs (i, j) of neurons of consecutive layers for which two records exist whose signs "
          "(activation > 0) in the first layer differ at i and nowhere else, and whose activations of j "
          "have the same sign and differ by at least the factor; divided by all pairs",
      .limits =
          "keeps the activations of all records, 4 bytes each and layer pair, and compares records that "
          "are alike: slow where few neurons make few patterns of signs of many records; layers are "
          "consecutive in the order of computation, even next to a branch",
      .paper = "Sun et al., Testing Deep Neural Networks, arXiv:1803.04792",
      .options = {{"effect", "2",
                   "how many times the activation of the second neuron has to be that of the other record"}},
      .make = [](const CriterionSetup& setup) -> std::unique_ptr<Criterion> {
        return std::make_unique<RecordPairs>(setup,
                                             PairConditions{.cause = Change::sign,
                                                            .effect = Change::value,
                                                            .effect_factor = factor_option(setup, "effect")});
      }};
}

}  // namespace assay::coverage
