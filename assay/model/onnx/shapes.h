#pragma once

// Shapes of values as far as they follow from those declared, without running the graph.

#include <optional>
#include <vector>

#include <assay/graph.h>

namespace assay::onnx_format {

// One a value, -1 for a dimension that is not known; nothing where not even the rank is. O(nodes).
std::vector<std::optional<Shape>> known_shapes(const Graph& graph);

}  // namespace assay::onnx_format
