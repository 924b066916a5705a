#include "assay/model/onnx/proto.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/wire_format_lite.h>

#include <limits>

#include <assay/error.h>
#include "assay/support/ascii.h"
#include "assay/support/text/visible.h"

namespace assay::onnx_format {
namespace {

namespace pb = google::protobuf;
using Wire = pb::internal::WireFormatLite;

constexpr int largest_depth = 64;
constexpr std::int64_t largest_part_count = 8'000'000;

// Walks the wire format with the message descriptions at hand and counts what parsing would allocate.
class Census {
 public:
  // False where the bytes are not well formed.
  bool walk(pb::io::CodedInputStream& in, const pb::Descriptor& message, int depth) {
    if (depth > largest_depth) fail(Fault::model, "messages are nested more than {} deep", largest_depth);
    while (const std::uint32_t tag = in.ReadTag()) {
      const pb::FieldDescriptor* field = message.FindFieldByNumber(Wire::GetTagFieldNumber(tag));
      if (field == nullptr || Wire::GetTagWireType(tag) == Wire::WIRETYPE_LENGTH_DELIMITED) count_part();
      const bool nested = field != nullptr && field->cpp_type() == pb::FieldDescriptor::CPPTYPE_MESSAGE &&
                          Wire::GetTagWireType(tag) == Wire::WIRETYPE_LENGTH_DELIMITED;
      if (nested ? !walk_nested(in, *field->message_type(), depth + 1) : !Wire::SkipField(&in, tag))
        return false;
    }
    return in.ConsumedEntireMessage();
  }

 private:
  bool walk_nested(pb::io::CodedInputStream& in, const pb::Descriptor& message, int depth) {
    int size = 0;
    if (!in.ReadVarintSizeAsInt(&size) || size < 0) return false;
    const auto limit = in.PushLimit(size);
    if (!walk(in, message, depth)) return false;
    const bool complete = in.BytesUntilLimit() == 0;
    in.PopLimit(limit);
    return complete;
  }
  void count_part() {
    if (++parts_ > largest_part_count) {
      fail(Fault::resources, "the file has more than {} nodes, tensors, attributes and names",
           largest_part_count);
    }
  }
  std::int64_t parts_ = 0;
};

bool is_utf8_without_controls(std::string_view text) {
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    if (length == 0 || byte_of(text[0]) < 0x20 || text[0] == 0x7f) return false;
    text.remove_prefix(length);
  }
  return true;
}

}  // namespace

onnx::ModelProto parse(std::string_view bytes) {
  constexpr std::size_t limit = std::numeric_limits<int>::max();
  if (bytes.size() > limit) {
    fail(Fault::resources, "larger than the 2 GiB of one ONNX file; save the weights as external data");
  }
  constexpr std::string_view damaged = "not an ONNX model, or a truncated one";
  pb::io::CodedInputStream first(reinterpret_cast<const std::uint8_t*>(bytes.data()),
                                 static_cast<int>(bytes.size()));
  if (!Census().walk(first, *onnx::ModelProto::descriptor(), 0)) fail(Fault::model, "{}", damaged);
  pb::io::CodedInputStream second(reinterpret_cast<const std::uint8_t*>(bytes.data()),
                                  static_cast<int>(bytes.size()));
  onnx::ModelProto model;
  if (!model.ParseFromCodedStream(&second) || !second.ConsumedEntireMessage())
    fail(Fault::model, "{}", damaged);
  if (!model.has_graph()) fail(Fault::model, "not an ONNX model: it holds no graph");
  return model;
}

const std::string& checked_name(const std::string& name, std::string_view what) {
  if (!is_utf8_without_controls(name)) fail(Fault::model, "the name of {} is not printable UTF-8 text", what);
  return name;
}

DType held_as(int type, std::string_view what) {
  switch (type) {
    case onnx::TensorProto::FLOAT:
    case onnx::TensorProto::FLOAT16:
    case onnx::TensorProto::BFLOAT16:
    case onnx::TensorProto::DOUBLE:
    case float8e4m3fn:
    case float8e4m3fnuz:
    case float8e5m2:
    case float8e5m2fnuz:
    case float4e2m1:
    case float8e8m0:
    case float6e2m3:
    case float6e3m2:
      return DType::float32;
    case onnx::TensorProto::INT64:
    case onnx::TensorProto::UINT32:
    case onnx::TensorProto::UINT64:
      return DType::int64;
    case onnx::TensorProto::INT32:
    case onnx::TensorProto::INT16:
    case onnx::TensorProto::UINT16:
      return DType::int32;
    case onnx::TensorProto::INT8:
    case int4:
    case int2:
      return DType::int8;
    case onnx::TensorProto::UINT8:
    case uint4:
    case uint2:
      return DType::uint8;
    case onnx::TensorProto::BOOL:
      return DType::boolean;
    default:
      break;
  }
  if (type == onnx::TensorProto::UNDEFINED) fail(Fault::model, "{} has no element type", what);
  fail(Fault::unsupported, "{} has elements of {}; export it with float32, integer or bool elements", what,
       type_name(type));
}

int onnx_type(DType dtype) {
  switch (dtype) {
    case DType::float32:
      return onnx::TensorProto::FLOAT;
    case DType::float64:
      return onnx::TensorProto::DOUBLE;
    case DType::int64:
      return onnx::TensorProto::INT64;
    case DType::int32:
      return onnx::TensorProto::INT32;
    case DType::int8:
      return onnx::TensorProto::INT8;
    case DType::uint8:
      return onnx::TensorProto::UINT8;
    case DType::boolean:
      return onnx::TensorProto::BOOL;
    case DType::float16:
      return onnx::TensorProto::FLOAT16;
    case DType::bfloat16:
      return onnx::TensorProto::BFLOAT16;
    case DType::int16:
      return onnx::TensorProto::INT16;
    case DType::uint16:
      return onnx::TensorProto::UINT16;
    case DType::uint32:
      return onnx::TensorProto::UINT32;
    case DType::uint64:
      return onnx::TensorProto::UINT64;
  }
  return onnx::TensorProto::UNDEFINED;
}

std::int64_t wrapped(int type, std::int64_t number) {
  switch (type) {
    case onnx::TensorProto::UINT8:
      return static_cast<std::uint8_t>(number);
    case onnx::TensorProto::INT8:
      return static_cast<std::int8_t>(number);
    case onnx::TensorProto::UINT16:
      return static_cast<std::uint16_t>(number);
    case onnx::TensorProto::INT16:
      return static_cast<std::int16_t>(number);
    case onnx::TensorProto::INT32:
      return static_cast<std::int32_t>(number);
    case onnx::TensorProto::UINT32:
      return static_cast<std::uint32_t>(number);
    default:
      return number;
  }
}

std::string type_name(int type) {
  constexpr const char* short_names[] = {"float8e4m3fn", "float8e4m3fnuz", "float8e5m2", "float8e5m2fnuz",
                                         "uint4",        "int4",           "float4e2m1", "float8e8m0",
                                         "uint2",        "int2",           "float6e2m3", "float6e3m2"};
  if (is_short_type(type)) return short_names[type - float8e4m3fn];
  if (!onnx::TensorProto::DataType_IsValid(type)) return fmt::format("type {}", type);
  const std::string name = onnx::TensorProto::DataType_Name(static_cast<onnx::TensorProto::DataType>(type));
  if (name == "FLOAT") return "float32";
  if (name == "DOUBLE") return "float64";
  return lower_case(name);
}

}  // namespace assay::onnx_format
