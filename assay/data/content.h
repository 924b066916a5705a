#pragma once

// The content of a record, without its name: a hash of its elements.

#include <assay/dataset.h>
#include "assay/support/files/hash.h"

namespace assay::inline data {

// Of all inputs of a batch's record. Equal records of equal preprocessing have equal hashes.
Hash128 content_of(const Batch& batch, std::size_t row);

}  // namespace assay::inline data
