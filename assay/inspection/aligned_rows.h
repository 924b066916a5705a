#pragma once

// The rows that measures see: activations and behaviours of records, aligned.

#include <cstdint>
#include <span>
#include <vector>

#include <assay/inspection.h>
#include "assay/inspection/requested_hypotheses.h"
#include "assay/inspection/state.h"
#include "assay/inspection/symbols/alignment.h"

namespace assay::inspection {

// Records that are looked at together.
struct Chunk {
  Batch batch;
  std::vector<char> padding;  // [records, symbols], or empty
  std::vector<Array> units;   // by group; undefined for those that are not open
  RequestedHypotheses::Values behaviours;
  std::size_t size() const { return batch.indices.size(); }
};

// Rows of a chunk as one pair sees them.
struct AlignedRows {
  std::vector<std::uint32_t> records, symbols;
  std::vector<float> units, behaviours;
  std::size_t padding = 0, not_finite = 0;
};

// The first `count` records of a chunk; rows of padding and rows that are not finite left out. `documents`:
// of each record of the data set, by which its rows are named.
AlignedRows aligned_rows(const Chunk& chunk, std::size_t count, const StatePair& pair,
                         const Alignment& alignment, const RequestedHypotheses& hypotheses,
                         std::span<const std::uint32_t> documents, std::size_t threads);
// Activations of a group as they are, [rows, units], at all positions that are not padding and finite.
std::vector<float> raw_rows(const Chunk& chunk, std::size_t group);

}  // namespace assay::inspection
