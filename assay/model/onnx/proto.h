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
inline constexpr int oldest_opset = 1, canonical_opset = 18, newest_written_opset = 21, newest_opset = 28;

// Parses. A first pass over the bytes counts messages and strings and their nesting, so that a small hostile
// file cannot unfold into gigabytes. Throws Error{model} when the bytes are not a well-formed ONNX model and
// Error{resources} beyond 2 GiB or 8 million parts. O(bytes).
onnx::ModelProto parse(std::string_view bytes);

// Names end up in messages, tables and JSON: throws Error{model} unless `name` is UTF-8 without control
// characters. `what` says whose name it is ("an input of node 'conv1' (Conv)").
const std::string& checked_name(const std::string& name, std::string_view what);

// The element type in which Assay holds tensors of an ONNX type: floats of any other size become float32,
// integers of 2 and 4 bits int8 and uint8, 16-bit integers int32, uint32 and uint64 int64. Throws
// Error{unsupported} naming `what` for strings and complex numbers.
DType held_as(int onnx_type, std::string_view what);

// Element types below a byte, and floats of 8 bits, by the numbers that files have: libraries of older
// versions of the format have no names for them.
enum ShortType {
  float8e4m3fn = 17,
  float8e4m3fnuz,
  float8e5m2,
  float8e5m2fnuz,
  uint4,
  int4,
  float4e2m1,
  float8e8m0,
  uint2,
  int2,
  float6e2m3,
  float6e3m2
};
constexpr bool is_short_type(std::int64_t type) { return type >= float8e4m3fn && type <= float6e3m2; }

// The ONNX type of an element type.
int onnx_type(DType dtype);

// Integers of 16 bits and of 32 bits without sign are held in wider types.
constexpr bool is_narrow_integer(std::int64_t type) {
  return type == onnx::TensorProto::UINT16 || type == onnx::TensorProto::INT16 ||
         type == onnx::TensorProto::UINT32;
}
// The number as integers of the ONNX type keep it: modulo their range.
std::int64_t wrapped(int onnx_type, std::int64_t number);

// "float16"; "type 99" for one that ONNX 1.12 does not know.
std::string type_name(int onnx_type);

}  // namespace assay::onnx_format
