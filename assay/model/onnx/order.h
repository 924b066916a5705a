#pragma once

// The order of nodes in a file, which the format prescribes and some writers ignore.

#include <onnx/onnx_pb.h>

namespace assay::onnx_format {

// Brings the nodes of all graphs, bodies and functions into an order in which each comes after those that
// make what it reads, and otherwise keeps their order. Nodes of a cycle come last; their graph is refused.
// O(nodes log nodes).
void sort_nodes(onnx::ModelProto& model);

}  // namespace assay::onnx_format
