// Rules for element types that Assay holds in wider ones.

#include "assay/model/onnx/proto.h"
#include "assay/model/onnx/upgrades/upgrade_rules.h"

namespace assay::onnx_format {
namespace {

// Element types that Assay holds in another one.
void type_attribute(Upgrade& u, const char* attribute) {
  if (!u.node.has(attribute)) return;
  const std::int64_t type = u.node.integer(attribute, 0);
  const int narrow = type < 0 || type > 1000 ? -1 : static_cast<int>(type);
  const DType held = held_as(narrow, fmt::format("attribute '{}' of {}", attribute, u.node.describe()));
  u.node.attributes[attribute] = std::int64_t{onnx_type(held)};
}

// Types that are held in wider ones, which a cast to them rounds or cuts to.
bool is_rounded_to(std::int64_t type) {
  return type == onnx::TensorProto::FLOAT16 || type == onnx::TensorProto::BFLOAT16 || is_short_type(type) ||
         is_narrow_integer(type);
}

// Whether every number of the first type is one of the second.
bool is_within(std::optional<int> type, std::int64_t other) {
  using T = onnx::TensorProto;
  if (type == other) return true;
  const bool byte = type == T::UINT8 || type == T::BOOL;
  if (other == T::UINT16) return byte;
  if (other == T::INT16) return byte || type == T::INT8;
  return other == T::UINT32 && (byte || type == T::UINT16);
}

void cast_to_held_type(Upgrade& u) {
  const std::int64_t to = u.node.integer("to", 0);
  if (is_rounded_to(to) && u.has_input(0) && !is_within(u.graph.element_type(u.node.inputs[0]), to)) {
    std::map<std::string, Attribute> attributes{{"to", to}};
    if (u.node.has("saturate")) attributes["saturate"] = u.node.integer("saturate", 1);
    if (u.node.has("round_mode")) attributes["round_mode"] = u.node.text("round_mode", "up");
    u.node.inputs[0] = u.before("rounded", "Cast", {u.node.inputs[0]}, std::move(attributes));
  }
  type_attribute(u, "to");
  for (const char* of_short_floats : {"saturate", "round_mode"}) u.node.attributes.erase(of_short_floats);
}

// Towards a type that Assay holds in another one, where the file tells.
void cast_like_to_cast(Upgrade& u) {
  const auto type = u.has_input(1) ? u.graph.element_type(u.node.inputs[1]) : std::nullopt;
  if (!type || !is_rounded_to(*type)) return;
  u.node.op = "Cast";
  u.node.inputs.resize(1);
  u.node.attributes["to"] = std::int64_t{*type};
}

void eye_of_held_type(Upgrade& u) { type_attribute(u, "dtype"); }

// Results of integers that are held in a wider type keep their declared width.
void keep_own_width(Upgrade& u) {
  const auto type = u.graph.element_type(u.node.outputs[0]);
  if (!type || !is_narrow_integer(*type)) return;
  u.after("held", "Cast");
  u.nodes_after.back().attributes["to"] = std::int64_t{onnx_type(held_as(*type, u.node.describe()))};
  u.after("own_width", "Cast");
  u.nodes_after.back().attributes["to"] = std::int64_t{*type};
}

constexpr UpgradeRule table_of_types[] = {
    {"Abs", every_opset, keep_own_width},         {"Add", every_opset, keep_own_width},
    {"BitShift", every_opset, keep_own_width},    {"BitwiseNot", every_opset, keep_own_width},
    {"CumSum", every_opset, keep_own_width},      {"Div", every_opset, keep_own_width},
    {"Einsum", every_opset, keep_own_width},      {"Gemm", every_opset, keep_own_width},
    {"MatMul", every_opset, keep_own_width},      {"Mul", every_opset, keep_own_width},
    {"Neg", every_opset, keep_own_width},         {"Pow", every_opset, keep_own_width},
    {"Sub", every_opset, keep_own_width},         {"Sum", every_opset, keep_own_width},
    {"ReduceL1", every_opset, keep_own_width},    {"ReduceProd", every_opset, keep_own_width},
    {"ReduceSum", every_opset, keep_own_width},   {"ReduceSumSquare", every_opset, keep_own_width},
    {"CastLike", every_opset, cast_like_to_cast}, {"Cast", every_opset, cast_to_held_type},
    {"EyeLike", every_opset, eye_of_held_type},
};

}  // namespace

std::span<const UpgradeRule> rules_of_types() { return table_of_types; }

}  // namespace assay::onnx_format
