#pragma once

// Products of whole numbers, where operand and weights of a layer are quantised to 8 bits: sums are exact.

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "assay/engine/channels/operators.h"

namespace assay::channels {

// Weights [units][inputs] of a group as multiples of a scale a unit, from -128 to 127.
struct ByteWeights {
  std::vector<std::int8_t> whole;
  std::vector<float> scales;
};
// A layer that reads numbers (byte - zero) scale, of bytes without sign.
struct ByteLayer {
  float scale = 1;
  std::optional<float> zero;  // none: what makes the least number of a record 0
  std::vector<ByteWeights> groups;
};
// Writes the weights of `count` units from `first` on, one unit after the other.
using WeightsOfUnits = std::function<void(std::int64_t first, std::int64_t count, float* to)>;
// Where a node de-quantises the operand, and the weights of all units are multiples but for the rounding of
// floats: however they were made, so that mutants and trained networks need no mark. Nothing otherwise, and
// where the processor does not sum products of bytes. O(weights) where they are multiples, about O(units)
// where not.
std::optional<ByteLayer> byte_layer_of(const Graph& graph, ValueId operand, std::int64_t groups,
                                       std::int64_t units, std::int64_t inputs,
                                       const WeightsOfUnits& weights);

// Of windows that begin at `rows` of the operand and read `runs` from there, each group so far from the one
// before.
struct ByteWindows {
  std::vector<std::int32_t> rows;
  std::vector<Run> runs;
  std::int64_t group_step = 0;
};
// `bias` of all groups. Records whose numbers are others, NaN say, are computed in floating point.
std::unique_ptr<Operation> byte_products(Compiler& compiler, const Value& operand, const Value& result,
                                         ByteLayer layer, ByteWindows windows, std::vector<float> bias,
                                         std::optional<Value> added, const Finish& finish);

}  // namespace assay::channels
