#pragma once

// An attack turns records into records that the network should get wrong. It supplies one idea; choosing records, clipping,
// storing and checking are done once for all of them (assay/attack/run.h).

#include "assay/attack/network.h"

namespace assay {

// Immutable; may be used for any number of batches.
class Attack {
 public:
  virtual ~Attack() = default;
  // Changed inputs, in the order of the problem's records, in [0, 1]. Every record is at its own point of its own search: the
  // result for a record depends on the record, its random stream and the options alone, up to float rounding. Records for
  // which nothing was found come back as the search left them.
  virtual Tensor perturb(const AttackedNetwork& network, const AttackProblem& problem) const = 0;
};

}  // namespace assay
