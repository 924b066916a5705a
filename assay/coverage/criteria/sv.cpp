// Sign-value coverage: a neuron's change of sign alone changes the value of a neuron of the next layer.

#include "assay/coverage/criteria/record_pairs.h"

namespace assay::coverage {

CriterionInfo sv_criterion() {
  return pair_criterion(
      Change::sign, Change::value, "sv",
      "sign-value coverage: a neuron's change of sign alone changes the value, not the sign, of a "
      "neuron of the next layer",
      "pairs (i, j) of neurons of consecutive layers for which two records exist whose signs "
      "(activation > 0) in the first layer differ at i and nowhere else, and whose activations of j "
      "have the same sign and differ by at least the factor; divided by all pairs");
}

}  // namespace assay::coverage
