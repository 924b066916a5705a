#include "assay/model/element_type.h"

#include <algorithm>
#include <iterator>
#include <string_view>

#include <assay/extend/operator_traits.h>

namespace assay::inline model {
namespace {

// ONNX's numbers of element types.
enum OnnxType { float32 = 1, uint8 = 2, int8 = 3, uint16 = 4, int16 = 5, int32 = 6, int64 = 7, boolean = 9 };
constexpr int float16 = 10, float64 = 11, uint32 = 12, uint64 = 13, bfloat16 = 16, uint4 = 21, int4 = 22,
              uint2 = 25, int2 = 26;

int position_of(DType type) {
  switch (type) {
    case DType::float32:
      return float32;
    case DType::float64:
      return float64;
    case DType::int64:
      return int64;
    case DType::int32:
      return int32;
    case DType::int8:
      return int8;
    case DType::uint8:
      return uint8;
    case DType::boolean:
      return boolean;
    case DType::float16:
      return float16;
    case DType::bfloat16:
      return bfloat16;
    case DType::int16:
      return int16;
    case DType::uint16:
      return uint16;
    case DType::uint32:
      return uint32;
    case DType::uint64:
      return uint64;
  }
  return float32;
}

DType named(std::int64_t onnx_type) {
  switch (onnx_type) {
    case uint8:
    case uint4:
    case uint2:
      return DType::uint8;
    case int8:
    case int4:
    case int2:
      return DType::int8;
    case uint16:
    case int16:
    case int32:
      return DType::int32;
    case int64:
    case uint32:
    case uint64:
      return DType::int64;
    case boolean:
      return DType::boolean;
    case float64:
      return DType::float64;
    default:
      return DType::float32;
  }
}

using Type = std::optional<int>;

int from_attribute(const Node& node, const char* attribute, int fallback) {
  const std::int64_t type = node.integer(attribute, 0);
  return type > 0 && type < 1000 ? static_cast<int>(type) : fallback;
}

// The type of the tensor that fills the result.
int filling_type(const Node& node) {
  const auto found = node.attributes.find("value");
  const Array* value = found == node.attributes.end() ? nullptr : std::get_if<Array>(&found->second);
  return value == nullptr ? float32 : position_of(value->dtype());
}

Type of_output_types(const Node& node, std::size_t output) {
  const std::vector<std::int64_t> outputs = node.integers("output_types", {});
  return output < outputs.size() ? static_cast<int>(outputs[output]) : float32;
}

// What quantises: the zero point's type, else the one that is named.
Type quantised(const Node& node, bool has_zero, const Type& zero) {
  if (!has_zero) return from_attribute(node, "output_dtype", uint8);
  return zero;
}

struct TypedOperator {
  std::string_view op;
  Type (*type)(const Node&, std::size_t output, const TypeOfInput& input);
};

template <std::size_t i>
Type of_input(const Node&, std::size_t, const TypeOfInput& input) {
  return input(i);
}
template <int type>
Type always(const Node&, std::size_t, const TypeOfInput&) {
  return type;
}
// The first output is of the first input's type, others are positions or numbers.
Type then_positions(const Node&, std::size_t output, const TypeOfInput& input) {
  return output == 0 ? input(0) : Type(int64);
}
Type by_dtype(const Node& node, std::size_t, const TypeOfInput&) {
  return from_attribute(node, "dtype", float32);
}
Type by_dtype_or_input(const Node& node, std::size_t, const TypeOfInput& input) {
  return node.integer("dtype", 0) > 0 ? Type(from_attribute(node, "dtype", float32)) : input(0);
}
Type by_output_datatype(const Node& node, std::size_t, const TypeOfInput&) {
  return from_attribute(node, "output_datatype", float32);
}

constexpr TypedOperator typed_operators[] = {
    {"BlackmanWindow", by_output_datatype},
    {"Bernoulli", by_dtype_or_input},
    {"BitCast",
     [](const Node& node, std::size_t, const TypeOfInput&) -> Type {
       return from_attribute(node, "to", float32);
     }},
    {"Cast",
     [](const Node& node, std::size_t, const TypeOfInput&) -> Type {
       return from_attribute(node, "to", float32);
     }},
    {"CastLike", of_input<1>},
    {"ConstantOfShape",
     [](const Node& node, std::size_t, const TypeOfInput&) -> Type { return filling_type(node); }},
    {"ConvInteger", always<int32>},
    {"DequantizeLinear", of_input<1>},
    {"Dropout",
     [](const Node&, std::size_t output, const TypeOfInput& input) -> Type {
       return output == 0 ? input(0) : Type(boolean);
     }},
    {"DynamicQuantizeLinear",
     [](const Node&, std::size_t output, const TypeOfInput&) -> Type {
       return output == 1 ? float32 : uint8;
     }},
    {"EyeLike", by_dtype_or_input},
    {"HammingWindow", by_output_datatype},
    {"HannWindow", by_output_datatype},
    {"MatMulInteger", always<int32>},
    {"MaxPool", then_positions},
    {"MelWeightMatrix", by_output_datatype},
    {"Multinomial",
     [](const Node& node, std::size_t, const TypeOfInput&) -> Type {
       return from_attribute(node, "dtype", int32);
     }},
    {"NonMaxSuppression", always<int64>},
    {"OneHot", of_input<2>},
    {"MatMulIntegerToFloat", always<float32>},
    {"QGemm",
     [](const Node& node, std::size_t, const TypeOfInput& input) -> Type {
       return node.inputs.size() > 8 && node.inputs[8] != no_value ? input(8) : Type(float32);
     }},
    {"QLinearConcat", of_input<1>},
    {"QLinearConv", of_input<7>},
    {"QLinearMatMul", of_input<7>},
    {"QLinearWhere", of_input<1>},
    {"QuantizeLinear",
     [](const Node& node, std::size_t, const TypeOfInput& input) -> Type {
       return quantised(node, node.inputs.size() > 2 && node.inputs[2] != no_value, input(2));
     }},
    {"RandomNormal", by_dtype},
    {"RandomNormalLike", by_dtype_or_input},
    {"RandomUniform", by_dtype},
    {"RandomUniformLike", by_dtype_or_input},
    {"TfIdfVectorizer", always<float32>},
    {"TopK", then_positions},
    {"TreeEnsemble", always<float32>},
    {"Unique", then_positions},
    {"Where", of_input<1>},
    {"ai.onnx.ml.FeatureVectorizer", always<float32>},
    {"ai.onnx.ml.LabelEncoder",
     [](const Node& node, std::size_t, const TypeOfInput&) -> Type {
       return node.has("values_int64s") ? int64 : float32;
     }},
    {"ai.onnx.ml.LinearClassifier", always<float32>},
    {"ai.onnx.ml.LinearRegressor", always<float32>},
    {"ai.onnx.ml.Normalizer", always<float32>},
    {"ai.onnx.ml.OneHotEncoder", always<float32>},
    {"ai.onnx.ml.SVMClassifier", always<float32>},
    {"ai.onnx.ml.SVMRegressor", always<float32>},
    {"ai.onnx.ml.Scaler", always<float32>},
    {"ai.onnx.ml.TreeEnsemble", always<float32>},
    {"ai.onnx.ml.TreeEnsembleClassifier", always<float32>},
    {"ai.onnx.ml.TreeEnsembleRegressor", always<float32>},
    {"com.microsoft.EmbedLayerNormalization", of_input<2>},
    {"com.microsoft.GatherBlockQuantized", of_input<2>},
    {"com.microsoft.QAttention", always<float32>},
    {"com.microsoft.QEmbedLayerNormalization", always<float32>},
};

}  // namespace

std::optional<int> result_type(const Node& node, std::size_t output, const TypeOfInput& input) {
  if (node.has("output_types")) return of_output_types(node, output);  // of branches and loops
  if (is_kind(node.op, OperatorKind::index)) return int64;
  if (is_kind(node.op, OperatorKind::truth)) return boolean;
  const auto* const found = std::ranges::find(typed_operators, node.op, &TypedOperator::op);
  if (found != std::end(typed_operators)) return found->type(node, output, input);
  if (const Type first = input(0)) return first;
  // Operands of one type: any of them tells.
  if (node.op != "Concat" && !has_trait(node.op, Trait::broadcasts)) return std::nullopt;
  for (std::size_t i = 1; i < node.inputs.size(); ++i) {
    if (const Type other = input(i)) return other;
  }
  return std::nullopt;
}

std::vector<DType> element_types(const Graph& graph) {
  std::vector<DType> types;
  for (const Value& value : graph.values()) types.push_back(value.dtype);
  const auto type_of_input = [&](const Node& node) -> TypeOfInput {
    return [&](std::size_t i) {
      const bool there = i < node.inputs.size() && node.inputs[i] != no_value;
      return there ? position_of(types[index_of(node.inputs[i])]) : float32;
    };
  };
  for (const Node& node : graph.nodes()) {
    for (std::size_t i = 0; i < node.outputs.size(); ++i) {
      if (node.outputs[i] == no_value) continue;
      types[index_of(node.outputs[i])] = named(result_type(node, i, type_of_input(node)).value_or(float32));
    }
  }
  return types;
}

}  // namespace assay::inline model
