#pragma once

// Parts of batches, and records of tokens as text.

#include <vector>

#include <assay/inspection.h>

namespace assay::inspection {

// REQUIRES int64 records of one axis. Throws Error{data} for a token that the vocabulary does not have.
std::vector<RecordText> texts_of(const Vocabulary& vocabulary, const Batch& batch, const Dataset& dataset);

// Records [begin, end) of a batch.
Batch slice(const Batch& batch, std::size_t begin, std::size_t end);

}  // namespace assay::inspection
