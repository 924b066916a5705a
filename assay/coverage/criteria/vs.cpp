// Value-sign coverage: a neuron that changes its value changes the sign of a neuron of the next layer.

#include "assay/coverage/criteria/record_pairs.h"

namespace assay::coverage {

CriterionInfo vs_criterion() {
  return {
      .name = "vs",
      .summary =
          "value-sign coverage: a neuron's change of value, no sign of its layer changing, changes the sign "
          "of a neuron of the next layer",
      .definition =
          "pairs (i, j) of neurons of consecutive layers for which two records exist whose signs (activation "
          "> 0) in the first layer are the same, whose activations of i differ by at least the factor, and "
          "whose signs differ at j; divided by all pairs",
      .limits =
          "keeps the activations of all records, 4 bytes each and layer pair, and compares records that are "
          "alike: slow where few neurons make few patterns of signs of many records; layers are consecutive "
          "in the order of computation, even next to a branch",
      .paper = "Sun et al., Testing Deep Neural Networks, arXiv:1803.04792",
      .options = {{"factor", "2",
                   "how many times the activation of the first neuron has to be that of the other record"}},
      .make = [](const CriterionSetup& setup) -> std::unique_ptr<Criterion> {
        return std::make_unique<RecordPairs>(setup,
                                             PairConditions{.cause = Change::value,
                                                            .effect = Change::sign,
                                                            .cause_factor = factor_option(setup, "factor")});
      }};
}

}  // namespace assay::coverage
