#pragma once

// Multiplications of a network, and the processor's peak rate.

#include "assay/engine/backend.h"

namespace assay::inline engine {

// Multiply-adds of a record by the definition of a convolution, matrix product or recurrent cell, in any
// form; 0 for other nodes and where shapes are unknown.
double multiply_adds(const Graph& graph, const Node& node, const ShapeOf& shape_of);

// Multiply-adds of float32 per nanosecond of one thread with all operands in registers: the upper bound of
// every loop. Measured with each call, in about ten milliseconds.
double peak_multiply_adds();

}  // namespace assay::inline engine
