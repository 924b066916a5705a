#pragma once

// Element types of all values of a graph, without running it.

#include <functional>
#include <optional>
#include <vector>

#include <assay/graph.h>

namespace assay::inline model {

// The ONNX element type (TensorProto.DataType) of a node's input, where it is known.
using TypeOfInput = std::function<std::optional<int>(std::size_t)>;
// That of one of the node's outputs, as it follows from its inputs and attributes.
std::optional<int> result_type(const Node& node, std::size_t output, const TypeOfInput& input);

// One type per value. Inputs and constants state theirs, and an operator's outputs follow from its inputs and
// attributes. O(nodes).
std::vector<DType> element_types(const Graph& graph);

}  // namespace assay::inline model
