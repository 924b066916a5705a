#include "assay/model/element_type.h"

#include <assay/extend/operator_traits.h>

namespace assay {
namespace {

DType named(std::int64_t onnx_type) {
  switch (onnx_type) {
    case 2:
      return DType::uint8;
    case 3:
      return DType::int8;
    case 6:
      return DType::int32;
    case 7:
      return DType::int64;
    case 9:
      return DType::boolean;
    case 11:
      return DType::float64;
    default:
      return DType::float32;
  }
}

DType result_type(const Node& node, std::size_t output, const std::vector<DType>& types) {
  const auto input = [&](std::size_t i) {
    const bool there = i < node.inputs.size() && node.inputs[i] != no_value;
    return there ? types[static_cast<std::size_t>(node.inputs[i])] : DType::float32;
  };
  if (node.has("output_types")) {  // of branches and loops
    const std::vector<std::int64_t> outputs = node.integers("output_types", {});
    return output < outputs.size() ? named(outputs[output]) : DType::float32;
  }
  if (is_kind(node.op, OperatorKind::index)) return DType::int64;
  if (is_kind(node.op, OperatorKind::truth)) return DType::boolean;
  if (node.op == "Cast") return named(node.integer("to", 1));
  if (node.op == "EyeLike" && node.has("dtype")) return named(node.integer("dtype", 1));
  if (node.op == "CastLike" || node.op == "Where") return input(1);
  if (node.op == "OneHot") return input(2);
  if (node.op == "NonMaxSuppression" || (node.op == "Unique" && output > 0)) return DType::int64;
  if (node.op == "DequantizeLinear") return input(1);
  if (node.op == "QuantizeLinear" || (node.op == "DynamicQuantizeLinear" && output != 1)) {
    const bool given = node.inputs.size() > 2 && node.inputs[2] != no_value;
    return given ? input(2) : node.integer("output_dtype", 2) == 3 ? DType::int8 : DType::uint8;
  }
  if (node.op == "ConstantOfShape") {
    const auto found = node.attributes.find("value");
    const Array* value = found == node.attributes.end() ? nullptr : std::get_if<Array>(&found->second);
    return value == nullptr ? DType::float32 : value->dtype();
  }
  if (output == 1 && (node.op == "TopK" || node.op == "MaxPool")) return DType::int64;
  if (output == 1 && node.op == "Dropout") return DType::boolean;
  return input(0);
}

}  // namespace

std::vector<DType> element_types(const Graph& graph) {
  std::vector<DType> types;
  for (const Value& value : graph.values()) types.push_back(value.dtype);
  for (const Node& node : graph.nodes()) {
    for (std::size_t i = 0; i < node.outputs.size(); ++i) {
      if (node.outputs[i] == no_value) continue;
      types[static_cast<std::size_t>(node.outputs[i])] = result_type(node, i, types);
    }
  }
  return types;
}

}  // namespace assay
