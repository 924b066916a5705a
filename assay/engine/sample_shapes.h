#pragma once

// What sample_shapes() (shape_inference.h) is made of: shapes seen while a graph runs on sample batches.

#include <functional>
#include <span>

#include "assay/engine/shape_inference.h"

namespace assay::inline engine {

// Whether an operand tells how large the result is, rather than what is in it.
bool tells_size(const Node& node, std::size_t input);

// Sees what the runs give for a value, before it is released.
using OnRuns = std::function<void(ValueId, std::span<const Array>)>;
// Runs the whole graph on several batches, node by node; what is returned is of the first.
SampleShapes look(const Graph& graph, const Constants& constants, std::span<const Tensors> batches,
                  const OnRuns& on_runs);

}  // namespace assay::inline engine
