#pragma once

// How states of mutation know records again: by content.

#include <cstdint>
#include <map>

#include <assay/dataset.h>
#include <assay/mutation_state.h>
#include "assay/support/files/hash.h"

namespace assay::mutation {

// Keys of the records of a data set, requested in its order: equal records are numbered as they come.
class RecordKeys {
 public:
  RecordKey next(const Batch& batch, std::size_t row);

 private:
  std::map<Hash128, std::uint32_t> seen_;
};

}  // namespace assay::mutation
