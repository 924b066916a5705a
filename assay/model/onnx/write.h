#pragma once

#include <assay/graph.h>
#include "assay/model/onnx/proto.h"

namespace assay::onnx_format {

// A body of a branch or loop as a separate model: an input without axes is one whose shape is open.
onnx::ModelProto body_model(const Graph& graph);

}  // namespace assay::onnx_format
