#pragma once

// How much a network multiplies, and how much the processor could.

#include "assay/engine/backend.h"

namespace assay {

// Multiply-adds of a record by the definition of a convolution, matrix product or recurrent cell, in any
// form; 0 for other nodes and where shapes are unknown.
double multiply_adds(const Graph& graph, const Node& node, const ShapeOf& shape_of);

// Multiply-adds of float32 that one thread makes in a nanosecond with all operands in registers: what bounds
// every loop. Measured anew with each call, in about ten milliseconds.
double peak_multiply_adds();

}  // namespace assay
