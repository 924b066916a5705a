// Value-value coverage: a neuron that changes its value changes the value of a neuron of the next layer.

#include "assay/coverage/criteria/record_pairs.h"

namespace assay::coverage {

CriterionInfo vv_criterion() {
  return pair_criterion(
      Change::value, Change::value, "vv",
      "value-value coverage: a neuron's change of value, no sign of its layer changing, changes the "
      "value, not the sign, of a neuron of the next layer",
      "pairs (i, j) of neurons of consecutive layers for which two records exist whose signs "
      "(activation > 0) in the first layer are the same, whose activations of i differ by at least the "
      "factor, and "
      "whose activations of j have the same sign and differ by at least theirs; divided by all pairs");
}

}  // namespace assay::coverage
