#pragma once

// Bodies of branches and loops on their way from files and into files.

#include <string>
#include <vector>

#include "assay/model/bodies.h"
#include "assay/model/onnx/proto.h"

namespace assay::onnx_format {

// The body as an attribute of its node.
Array body_bytes(const Graph& graph);
// ONNX element types of a body's outputs from the `first` on.
std::vector<std::int64_t> types_of_outputs(const Graph& graph, std::size_t first);

// A body as a file has it: what it captures has the names that these values have around it.
onnx::ModelProto body_in_file(const Node& node, const std::string& attribute,
                              const std::vector<std::string>& captured);

}  // namespace assay::onnx_format
