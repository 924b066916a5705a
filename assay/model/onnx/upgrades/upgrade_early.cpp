// Rules for files of operator sets before 7, one small function each.

#include <assay/error.h>
#include "assay/model/onnx/proto.h"
#include "assay/model/onnx/upgrades/upgrade_rules.h"

namespace assay::onnx_format {
namespace {

// The second operand began at axis `axis` of the first, else ended with it.
void align_second_operand(Upgrade& u) {
  const bool broadcasts = u.node.integer("broadcast", 0) != 0;
  const auto axis = u.node.has("axis") ? std::optional(u.node.integer("axis", 0)) : std::nullopt;
  u.node.attributes.erase("broadcast");
  u.node.attributes.erase("axis");
  if (!broadcasts || !axis || !u.has_input(0) || !u.has_input(1)) return;
  const auto rank = u.graph.rank(u.node.inputs[0]), second = u.graph.rank(u.node.inputs[1]);
  if (!rank || !second) {
    fail(Fault::unsupported, "{}: its operands' numbers of axes are not known, which attribute 'axis' needs",
         u.node.describe());
  }
  const std::int64_t missing = *rank - (*axis < 0 ? *axis + *rank : *axis) - *second;
  if (missing < 0) fail(Fault::model, "{}: axis {} does not fit the operands", u.node.describe(), *axis);
  std::vector<std::int64_t> axes;
  for (std::int64_t i = 0; i < missing; ++i) axes.push_back(*second + i);
  if (axes.empty()) return;
  u.node.inputs[1] = u.before("aligned", "Unsqueeze", {u.node.inputs[1], u.integers("behind", axes)});
}

// One slope a channel.
void align_slopes(Upgrade& u) {
  const auto rank = u.has_input(0) ? u.graph.rank(u.node.inputs[0]) : std::nullopt;
  const auto slopes = u.has_input(1) ? u.graph.rank(u.node.inputs[1]) : std::nullopt;
  if (!rank || slopes != 1 || *rank < 3) return;
  std::vector<std::int64_t> axes;
  for (std::int64_t i = 1; i + 1 < *rank; ++i) axes.push_back(i);
  u.node.inputs[1] = u.before("aligned", "Unsqueeze", {u.node.inputs[1], u.integers("behind", axes)});
}

void drop_broadcast(Upgrade& u) { u.node.attributes.erase("broadcast"); }

void shape_to_input(Upgrade& u) {
  required_ints(u, "shape");
  ints_to_input(u, "shape", 1);
}

// Set 6: the type is a number, before it was its name.
void cast_by_number(Upgrade& u) {
  const std::string name = u.node.text("to", "");
  onnx::TensorProto::DataType type{};
  if (!onnx::TensorProto::DataType_Parse(name, &type))
    fail(Fault::model, "{}: '{}' is not an element type", u.node.describe(), name);
  u.node.attributes["to"] = std::int64_t{type};
}

void rename_paddings(Upgrade& u) {
  if (u.node.has("paddings")) u.node.attributes["pads"] = required_ints(u, "paddings");
  u.node.attributes.erase("paddings");
}

void concat_along_channels(Upgrade& u) { u.node.attributes.try_emplace("axis", std::int64_t{1}); }

// Numbers of copies along one axis.
void tile_one_axis(Upgrade& u) {
  if (u.node.inputs.size() < 3) return;
  const auto rank = u.graph.rank(u.node.inputs[0]);
  const Array *const copies = u.graph.constant(u.node.inputs[1]), *const axis =
                                                                      u.graph.constant(u.node.inputs[2]);
  if (!rank || copies == nullptr || axis == nullptr || copies->count() != 1 || axis->count() != 1)
    fail(Fault::unsupported, "{}: copies and axis must be constants", u.node.describe());
  const std::int64_t along = axis->to(DType::int64).as<std::int64_t>()[0];
  if (along < 0 || along >= *rank) fail(Fault::model, "{}: there is no axis {}", u.node.describe(), along);
  std::vector<std::int64_t> repeats(*rank, 1);
  repeats[along] = copies->to(DType::int64).as<std::int64_t>()[0];
  u.node.inputs = {u.node.inputs[0], u.integers("repeats", repeats)};
}

void whole_power(Upgrade& u) {
  if (!u.node.has("p")) return;
  const auto* const real = std::get_if<float>(&u.node.attributes.at("p"));
  if (real != nullptr) u.node.attributes["p"] = static_cast<std::int64_t>(*real);
}

void upsample_by_two_scales(Upgrade& u) {
  if (u.node.has("scales")) return;
  u.node.attributes["scales"] =
      std::vector<float>{1, 1, u.node.real("height_scale", 1), u.node.real("width_scale", 1)};
  u.node.attributes.erase("height_scale");
  u.node.attributes.erase("width_scale");
}

void drop_output_sequence(Upgrade& u) { u.node.attributes.erase("output_sequence"); }

constexpr UpgradeRule table_of_early_sets[] = {
    {"Add", 7, align_second_operand},
    {"And", 7, align_second_operand},
    {"Div", 7, align_second_operand},
    {"Equal", 7, align_second_operand},
    {"Greater", 7, align_second_operand},
    {"Less", 7, align_second_operand},
    {"Mul", 7, align_second_operand},
    {"Or", 7, align_second_operand},
    {"Pow", 7, align_second_operand},
    {"Sub", 7, align_second_operand},
    {"Xor", 7, align_second_operand},
    {"PRelu", 7, align_slopes},
    {"Gemm", 7, drop_broadcast},
    {"Reshape", 5, shape_to_input},
    {"Cast", 6, cast_by_number},
    {"Pad", 2, rename_paddings},
    {"Concat", 4, concat_along_channels},
    {"Tile", 6, tile_one_axis},
    {"LpPool", 2, whole_power},
    {"GlobalLpPool", 2, whole_power},
    {"Upsample", 7, upsample_by_two_scales},
    {"GRU", 7, drop_output_sequence},
    {"LSTM", 7, drop_output_sequence},
    {"RNN", 7, drop_output_sequence},
};

}  // namespace

std::span<const UpgradeRule> rules_of_early_sets() { return table_of_early_sets; }

}  // namespace assay::onnx_format
