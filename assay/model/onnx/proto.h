#pragma once

// The protobuf form of an ONNX file: parsed within limits, and the small conversions that reader and writer
// share.

#include <onnx/onnx_pb.h>

#include <string>
#include <string_view>

#include <assay/array.h>

namespace assay::onnx_format {

// Operator sets that can be read; files are written in the lowest one of `canonical_opset`..
// `newest_written_opset` that has every operator in use.
inline constexpr int oldest_opset = 1, canonical_opset = 18, newest_written_opset = 21, newest_opset = 24;

// Parses. A first pass over the bytes counts messages and strings and their nesting, so that a small hostile
// file cannot unfold into gigabytes. Throws Error{model} when the bytes are not a well-formed ONNX model and
// Error{resources} beyond 2 GiB or 8 million parts. O(bytes).
onnx::ModelProto parse(std::string_view bytes);

// Names end up in messages, tables and JSON: throws Error{model} unless `name` is UTF-8 without control
// characters. `what` says whose name it is ("an input of node 'conv1' (Conv)").
const std::string& checked_name(const std::string& name, std::string_view what);

// The element type in which Assay holds tensors of an ONNX type: 16-bit and 64-bit floats become float32,
// 16-bit integers int32, uint32 and uint64 int64. Throws Error{unsupported} naming `what` for strings,
// complex numbers and types below 8 bits.
DType held_as(int onnx_type, std::string_view what);

// The ONNX type of an element type.
int onnx_type(DType dtype);

// "float16"; "type 99" for one that ONNX 1.12 does not know.
std::string type_name(int onnx_type);

}  // namespace assay::onnx_format
