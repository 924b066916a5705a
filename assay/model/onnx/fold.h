#pragma once

// Nodes of which the reader makes constants: Constant, and Identity, Cast, ConstantOfShape and
// DequantizeLinear of constants.

#include <cstdint>
#include <optional>

#include "assay/model/onnx/graph.h"

namespace assay::onnx_format {

// The result of a DequantizeLinear node of constants, in float32, if there is one scale for all, one a
// position of an axis, or one a block; nothing for other nodes and forms.
std::optional<Array> dequantised_constant(const Node& node, const OnnxGraph& graph);

class Folder {
 public:
  // The node's only output, if it can be known now. Shares storage with the input where the elements stay as
  // they are; otherwise at most 64 MiB are made in all, and nodes beyond are left to run time. Throws
  // Error{model} or Error{unsupported} for a Constant without a usable value.
  std::optional<Array> fold(const Node& node, const OnnxGraph& graph);

 private:
  bool afford(std::int64_t count, DType dtype);
  std::optional<Array> constant_of_shape(const Node& node, const Array& shape);
  std::int64_t budget_ = std::int64_t{64} << 20;
};

}  // namespace assay::onnx_format
