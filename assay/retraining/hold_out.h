#pragma once

// Records that are kept from training, to be judged by.

#include <cstdint>
#include <vector>

#include "assay/data/dataset.h"

namespace assay {

struct HoldOut {
  std::vector<std::size_t> kept, held;  // positions, ascending; together all records, each once
};

// About `share` of the records are held out. Seed and id alone decide on which side a record falls: records with one id (made
// from one original by several attacks, say) are never on both sides, and the sides stay when a data set grows or is sliced.
HoldOut hold_out(const Dataset& dataset, double share, std::uint64_t seed);

}  // namespace assay
