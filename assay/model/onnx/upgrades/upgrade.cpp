// The rules of onnx_upgrade.h, one small function each; the table is at the end.

#include "assay/model/onnx/upgrades/upgrade.h"

#include <algorithm>

#include <assay/error.h>
#include "assay/model/onnx/fold.h"
#include "assay/model/onnx/proto.h"

namespace assay::onnx_format {
namespace {

using Ints = std::vector<std::int64_t>;

Array ints(const Ints& values) { return Array::of<std::int64_t>({std::ssize(values)}, values); }
Array scalar(float value) { return Array::of<float>({}, std::vector{value}); }

// Attribute -> constant input, if the node carries it and the input is not there.
void ints_to_input(Upgrade& u, const char* attribute, std::size_t input) {
  if (!u.node.has(attribute)) return;
  const Ints values = u.node.integers(attribute, {});
  u.node.attributes.erase(attribute);
  if (!u.has_input(input)) u.set_input(input, u.constant(attribute, ints(values)));
}

void real_to_input(Upgrade& u, const char* attribute, std::size_t input) {
  if (!u.node.has(attribute)) return;
  const float value = u.node.real(attribute, 0);
  u.node.attributes.erase(attribute);
  if (!u.has_input(input)) u.set_input(input, u.constant(attribute, scalar(value)));
}

Ints required_ints(const Upgrade& u, const char* attribute) {
  if (!u.node.has(attribute))
    fail(Fault::model, "{}: attribute '{}' is missing", u.node.describe(), attribute);
  return u.node.integers(attribute, {});
}

void keep_first_output(Node& node) {
  while (node.outputs.size() > 1) node.outputs.pop_back();
}

void axes_to_input(Upgrade& u) { ints_to_input(u, "axes", 1); }

// Set 13: split. Set 18: num_outputs where no sizes are given.
void split_to_input(Upgrade& u) { ints_to_input(u, "split", 1); }
void split_num_outputs(Upgrade& u) {
  if (!u.has_input(1)) u.node.attributes.try_emplace("num_outputs", std::ssize(u.node.outputs));
}

void slice_to_inputs(Upgrade& u) {
  required_ints(u, "starts");
  required_ints(u, "ends");
  ints_to_input(u, "starts", 1);
  ints_to_input(u, "ends", 2);
  ints_to_input(u, "axes", 3);
}

void clip_to_inputs(Upgrade& u) {
  real_to_input(u, "min", 1);
  real_to_input(u, "max", 2);
}

void pad_to_inputs(Upgrade& u) {
  required_ints(u, "pads");
  ints_to_input(u, "pads", 1);
  real_to_input(u, "value", 2);
}

void dropout_to_inputs(Upgrade& u) {
  u.node.attributes.try_emplace("ratio", 0.5f);
  real_to_input(u, "ratio", 1);
}

void top_k_to_input(Upgrade& u) {
  if (!u.node.has("k")) fail(Fault::model, "{}: attribute 'k' is missing", u.node.describe());
  const std::int64_t k = u.node.integer("k", 0);
  u.node.attributes.erase("k");
  u.set_input(1, u.constant("k", ints({k})));
}

void upsample_scales_to_input(Upgrade& u) {
  if (!u.node.has("scales")) fail(Fault::model, "{}: attribute 'scales' is missing", u.node.describe());
  const std::vector<float> scales = u.node.reals("scales", {});
  u.node.attributes.erase("scales");
  u.set_input(1, u.constant("scales", Array::of<float>({std::ssize(scales)}, scales)));
}

// Upsample and the first Resize scale from the corner and take the element before: (X, scales) -> (X, ,
// scales).
void resize_from_corner(Upgrade& u) {
  u.node.op = "Resize";
  if (!u.has_input(1)) fail(Fault::model, "{}: the scales are missing", u.node.describe());
  u.node.inputs = {u.node.inputs[0], no_value, u.node.inputs[1]};
  u.node.attributes["coordinate_transformation_mode"] = std::string("asymmetric");
  u.node.attributes["nearest_mode"] = std::string("floor");
}

// Exporters write empty constants for the inputs that they do not use.
void resize_without_empty_inputs(Upgrade& u) {
  for (std::size_t i = 1; i < u.node.inputs.size(); ++i) {
    const Array* array = u.graph.constant(u.node.inputs[i]);
    if (array != nullptr && array->count() == 0) u.node.inputs[i] = no_value;
  }
  if (u.node.text("coordinate_transformation_mode", "half_pixel") != "tf_crop_and_resize" && u.has_input(1)) {
    u.node.inputs[1] = no_value;  // the region of interest, which only that mode reads
  }
  if (u.has_input(2) == u.has_input(3)) {
    fail(Fault::model, "{}: exactly one of scales and sizes must be given", u.node.describe());
  }
}

void scatter_to_elements(Upgrade& u) { u.node.op = "ScatterElements"; }

// Before set 13 the input was seen as a matrix, the axes from `axis` on being its columns.
void softmax_along_one_axis(Upgrade& u) {
  if (!u.has_input(0)) fail(Fault::model, "{}: input 0 is missing", u.node.describe());
  const std::int64_t axis = u.node.integer("axis", 1);
  u.node.attributes["axis"] = std::int64_t{-1};
  const auto rank = u.graph.rank(u.node.inputs[0]), out_rank = u.graph.rank(u.node.outputs[0]);
  const auto known = rank ? rank : out_rank;
  if (axis == -1 || (known && axis == *known - 1)) return;
  const ValueId x = u.node.inputs[0];
  const ValueId shape = u.before("shape", "Shape", {x});
  u.node.inputs[0] = u.before("matrix", "Flatten", {x}, {{"axis", axis}});
  u.after("unflatten", "Reshape", shape);
}

// Before set 9, spatial = 0 meant one scale, bias, mean and variance per position instead of per channel.
void batch_norm_per_position(Upgrade& u) {
  const bool spatial = u.node.integer("spatial", 1) != 0;
  u.node.attributes.erase("spatial");
  if (spatial) return;
  for (std::size_t i = 0; i < 5; ++i) {
    if (!u.has_input(i)) fail(Fault::model, "{}: input {} is missing", u.node.describe(), i);
  }
  const ValueId front = u.constant("batch_axis", ints({0}));
  const auto with_batch = [&](std::string_view role, std::size_t i) {
    return u.before(role, "Unsqueeze", {u.node.inputs[i], front});
  };
  const ValueId epsilon = u.constant("epsilon", scalar(u.node.real("epsilon", 1e-5f)));
  const ValueId centred = u.before("centred", "Sub", {u.node.inputs[0], with_batch("mean", 3)});
  const ValueId deviation = u.before(
      "deviation", "Sqrt", {u.before("variance_epsilon", "Add", {with_batch("variance", 4), epsilon})});
  const ValueId normal = u.before("normal", "Div", {centred, deviation});
  const ValueId scaled = u.before("scaled", "Mul", {normal, with_batch("scale", 1)});
  const ValueId bias = with_batch("bias", 2);
  u.node.op = "Add";
  u.node.inputs = {scaled, bias};
  keep_first_output(u.node);
  u.node.attributes.clear();
}

// Statistics of training are outputs no more, and the stored ones are used: Assay decides when it trains.
void batch_norm_for_inference(Upgrade& u) {
  const bool extra =
      u.node.outputs.size() > 1 && std::any_of(u.node.outputs.begin() + 1, u.node.outputs.end(),
                                               [](ValueId id) { return id != no_value; });
  if (extra || u.node.integer("training_mode", 0) != 0) {
    u.graph.remark("exported in training mode; the stored mean and variance are used", u.node.describe());
  }
  u.node.attributes.erase("training_mode");
  u.node.attributes.erase("spatial");
  keep_first_output(u.node);
}

// Before set 21 there was one scale and bias per group.
void group_norm_per_channel(Upgrade& u) {
  const std::int64_t groups = u.node.integer("num_groups", 0);
  if (groups < 1) fail(Fault::model, "{}: num_groups is {}", u.node.describe(), groups);
  if (!u.has_input(0) || !u.has_input(1) || !u.has_input(2)) {
    fail(Fault::model, "{}: input, scale and bias are needed", u.node.describe());
  }
  const auto channels = u.graph.dimension(u.node.inputs[0], 1);
  ValueId wanted = no_value;  // [groups, channels / groups]
  if (channels && *channels % groups == 0) {
    wanted = u.constant("channels_by_group", ints({groups, *channels / groups}));
  } else {
    const ValueId count = u.before("channels", "Shape", {u.node.inputs[0]},
                                   {{"start", std::int64_t{1}}, {"end", std::int64_t{2}}});
    const ValueId group_count = u.constant("groups", ints({groups}));
    const ValueId size = u.before("group_size", "Div", {count, group_count});
    wanted = u.before("channels_by_group", "Concat", {group_count, size}, {{"axis", std::int64_t{0}}});
  }
  const ValueId column = u.constant("column", ints({1})), flat = u.constant("flat", ints({-1}));
  for (const std::size_t i : {1, 2}) {
    const std::string role = i == 1 ? "scale" : "bias";
    const ValueId upright = u.before(role + "_column", "Unsqueeze", {u.node.inputs[i], column});
    const ValueId repeated = u.before(role + "_repeated", "Expand", {upright, wanted});
    u.node.inputs[i] = u.before(role, "Reshape", {repeated, flat});
  }
}

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

// Before set 7
// ------------------------------------------------------------------------------------------------

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
  Ints axes;
  for (std::int64_t i = 0; i < missing; ++i) axes.push_back(*second + i);
  if (axes.empty()) return;
  u.node.inputs[1] = u.before("aligned", "Unsqueeze", {u.node.inputs[1], u.constant("behind", ints(axes))});
}

// One slope a channel.
void align_slopes(Upgrade& u) {
  const auto rank = u.has_input(0) ? u.graph.rank(u.node.inputs[0]) : std::nullopt;
  const auto slopes = u.has_input(1) ? u.graph.rank(u.node.inputs[1]) : std::nullopt;
  if (!rank || slopes != 1 || *rank < 3) return;
  Ints axes;
  for (std::int64_t i = 1; i + 1 < *rank; ++i) axes.push_back(i);
  u.node.inputs[1] = u.before("aligned", "Unsqueeze", {u.node.inputs[1], u.constant("behind", ints(axes))});
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
  Ints repeats(static_cast<std::size_t>(*rank), 1);
  repeats[static_cast<std::size_t>(along)] = copies->to(DType::int64).as<std::int64_t>()[0];
  u.node.inputs = {u.node.inputs[0], u.constant("repeats", ints(repeats))};
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

// Later sets
// ------------------------------------------------------------------------------------------------

void region_from_corner(Upgrade& u) {
  u.node.attributes.try_emplace("coordinate_transformation_mode", std::string("output_half_pixel"));
}

// Set 20: the axis is an input, and counts from the end by default.
void transform_axis_to_input(Upgrade& u) {
  const std::int64_t axis = u.node.integer("axis", 1);
  u.node.attributes.erase("axis");
  u.set_input(2, u.constant("axis", Array::of<std::int64_t>({}, std::vector{axis})));
}

void grid_mode_names(Upgrade& u) {
  const std::string mode = u.node.text("mode", "bilinear");
  u.node.attributes["mode"] = std::string(mode == "bilinear" ? "linear" : mode == "bicubic" ? "cubic" : mode);
}

// Random numbers are their mean, so that a network says the same of a record each time.
void random_as_mean(Upgrade& u) {
  const bool normal = u.node.op.starts_with("RandomNormal"), like = u.node.op.ends_with("Like");
  if (like && !u.has_input(0)) fail(Fault::model, "{}: input 0 is missing", u.node.describe());
  const float mean = normal ? u.node.real("mean", 0) : u.node.real("low", 0) / 2 + u.node.real("high", 1) / 2;
  const ValueId shape = like ? u.before("shape", "Shape", {u.node.inputs[0]})
                             : u.constant("shape", ints(required_ints(u, "shape")));
  u.graph.remark("draws random numbers; their mean is in their place", u.node.describe());
  u.node.op = "Expand";
  u.node.inputs = {u.constant("mean", scalar(mean)), shape};
  u.node.attributes.clear();
}

// Draws of 0 and 1 are their mean, or where only these can be told the likelier one.
void bernoulli_as_mean(Upgrade& u) {
  if (!u.has_input(0)) fail(Fault::model, "{}: input 0 is missing", u.node.describe());
  const std::int64_t type = u.node.integer("dtype", 0);
  const bool real =
      type == 0 || held_as(type < 0 || type > 1000 ? -1 : static_cast<int>(type),
                           fmt::format("attribute 'dtype' of {}", u.node.describe())) == DType::float32;
  u.graph.remark("draws random numbers; their mean is in their place", u.node.describe());
  u.node.attributes.clear();
  if (real) {
    u.node.op = "Identity";
    return;
  }
  const ValueId likely = u.before("likely", "Greater", {u.node.inputs[0], u.real("half", 0.5F)});
  u.node.op = "Cast";
  u.node.inputs = {likely};
  u.node.attributes["to"] = type;
}

// A training mode that the file fixes is taken away: Assay decides when it trains.
void dropout_for_inference(Upgrade& u) {
  const Array* mode = u.has_input(2) ? u.graph.constant(u.node.inputs[2]) : nullptr;
  if (mode == nullptr) return;
  if (mode->dtype() == DType::boolean && mode->count() == 1 && mode->as<bool>()[0])
    u.graph.remark("exported in training mode; nothing is dropped in inference", u.node.describe());
  u.node.inputs.resize(2);
}

// Results of integers that are held in a wider type keep their declared width.
void keep_own_width(Upgrade& u) {
  const auto type = u.graph.element_type(u.node.outputs[0]);
  if (!type || !is_narrow_integer(*type)) return;
  u.after("held", "Cast");
  u.nodes_after.back().attributes["to"] = std::int64_t{onnx_type(held_as(*type, u.node.describe()))};
  u.after("own_width", "Cast");
  u.nodes_after.back().attributes["to"] = std::int64_t{*type};
}

// The operator that exports of Keras under JAX keep of TensorFlow: 1 - erf(x).
void erfc_by_erf(Upgrade& u) {
  if (!u.has_input(0)) fail(Fault::model, "{}: input 0 is missing", u.node.describe());
  const ValueId erf = u.before("erf", "Erf", {u.node.inputs[0]});
  u.node.op = "Sub";
  u.node.inputs = {u.real("one", 1), erf};
  u.node.attributes.clear();
}

void refuse_tensorflow_call(Upgrade& u) {
  fail(Fault::unsupported,
       "{}: calls a function of TensorFlow that the file does not contain, so no program can run it; give "
       "the "
       "model as it is (model.save('net.keras')), or export it under another back end (KERAS_BACKEND=torch)",
       u.node.describe());
}

constexpr UpgradeRule rules[] = {
    {"Erfc", every_opset, erfc_by_erf},
    {"StatefulPartitionedCall", every_opset, refuse_tensorflow_call},
    {"PartitionedCall", every_opset, refuse_tensorflow_call},
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
    {"RoiAlign", 16, region_from_corner},
    {"DFT", 20, transform_axis_to_input},
    {"GridSample", every_opset, grid_mode_names},
    {"Abs", every_opset, keep_own_width},
    {"Add", every_opset, keep_own_width},
    {"BitShift", every_opset, keep_own_width},
    {"BitwiseNot", every_opset, keep_own_width},
    {"CumSum", every_opset, keep_own_width},
    {"Div", every_opset, keep_own_width},
    {"Einsum", every_opset, keep_own_width},
    {"Gemm", every_opset, keep_own_width},
    {"MatMul", every_opset, keep_own_width},
    {"Mul", every_opset, keep_own_width},
    {"Neg", every_opset, keep_own_width},
    {"Pow", every_opset, keep_own_width},
    {"Sub", every_opset, keep_own_width},
    {"Sum", every_opset, keep_own_width},
    {"Resize", 11, resize_from_corner},  // before Upsample becomes one
    {"Upsample", 9, upsample_scales_to_input},
    {"Upsample", every_opset, resize_from_corner},
    {"Resize", every_opset, resize_without_empty_inputs},
    {"BatchNormalization", 9, batch_norm_per_position},
    {"BatchNormalization", every_opset, batch_norm_for_inference},
    {"Slice", 10, slice_to_inputs},
    {"TopK", 10, top_k_to_input},
    {"Clip", 11, clip_to_inputs},
    {"Pad", 11, pad_to_inputs},
    {"Scatter", every_opset, scatter_to_elements},
    {"Dropout", 12, dropout_to_inputs},
    {"Dropout", every_opset, dropout_for_inference},
    {"Bernoulli", every_opset, bernoulli_as_mean},
    {"RandomNormal", every_opset, random_as_mean},
    {"RandomNormalLike", every_opset, random_as_mean},
    {"RandomUniform", every_opset, random_as_mean},
    {"RandomUniformLike", every_opset, random_as_mean},
    {"Squeeze", 13, axes_to_input},
    {"Unsqueeze", 13, axes_to_input},
    {"Split", 13, split_to_input},
    {"Split", 18, split_num_outputs},
    {"Softmax", 13, softmax_along_one_axis},
    {"LogSoftmax", 13, softmax_along_one_axis},
    {"Hardmax", 13, softmax_along_one_axis},
    {"ReduceSum", 13, axes_to_input},
    {"ReduceL1", 18, axes_to_input},
    {"ReduceL2", 18, axes_to_input},
    {"ReduceLogSum", 18, axes_to_input},
    {"ReduceLogSumExp", 18, axes_to_input},
    {"ReduceMax", 18, axes_to_input},
    {"ReduceMean", 18, axes_to_input},
    {"ReduceMin", 18, axes_to_input},
    {"ReduceProd", 18, axes_to_input},
    {"ReduceSumSquare", 18, axes_to_input},
    {"ReduceL1", every_opset, keep_own_width},
    {"ReduceProd", every_opset, keep_own_width},
    {"ReduceSum", every_opset, keep_own_width},
    {"ReduceSumSquare", every_opset, keep_own_width},
    {"GroupNormalization", 21, group_norm_per_channel},
    {"CastLike", every_opset, cast_like_to_cast},
    {"Cast", every_opset, cast_to_held_type},
    {"EyeLike", every_opset, eye_of_held_type},
};

}  // namespace

std::span<const UpgradeRule> upgrade_rules() { return rules; }

void Upgrade::require_inputs(std::initializer_list<std::size_t> inputs) const {
  for (const std::size_t i : inputs) {
    if (!has_input(i)) fail(Fault::model, "{}: input {} is missing", node.describe(), i);
  }
}

void Upgrade::set_input(std::size_t i, ValueId id) {
  if (node.inputs.size() <= i) node.inputs.resize(i + 1, no_value);
  node.inputs[i] = id;
}

ValueId Upgrade::constant(std::string_view role, Array array) {
  return graph.new_constant(fmt::format("{}/{}", node.name, role), std::move(array));
}

ValueId Upgrade::integers(std::string_view role, const std::vector<std::int64_t>& values) {
  return constant(role, Array::of<std::int64_t>({std::ssize(values)}, values));
}

ValueId Upgrade::integer(std::string_view role, std::int64_t value) {
  return constant(role, Array::of<std::int64_t>({}, std::vector{value}));
}

ValueId Upgrade::real(std::string_view role, float value) {
  return constant(role, Array::of<float>({}, std::vector{value}));
}

ValueId Upgrade::before(std::string_view role, std::string op, std::vector<ValueId> inputs,
                        std::map<std::string, Attribute> attributes) {
  // Optional inputs at the end are left out, as they are where the written file is read again.
  while (!inputs.empty() && inputs.back() == no_value) inputs.pop_back();
  const std::string name = graph.unique_node_name(fmt::format("{}/{}", node.name, role));
  const ValueId out = graph.new_value(name);
  graph.add({.name = name,
             .op = std::move(op),
             .inputs = std::move(inputs),
             .outputs = {out},
             .attributes = std::move(attributes)});
  return out;
}

ValueId Upgrade::length(std::string_view role, ValueId x, std::int64_t axis) {
  const ValueId size = before(role, "Shape", {x}, {{"start", axis}, {"end", axis + 1}});
  return before(fmt::format("{}_number", role), "Squeeze", {size, integers("front", {0})});
}

ValueId Upgrade::places(std::string_view role, ValueId x, std::int64_t axis) {
  const ValueId count = length(fmt::format("{}_count", role), x, axis);
  return before(role, "Range", {integer("zero", 0), count, integer("one", 1)});
}

void Upgrade::after(std::string_view role, std::string op, ValueId second_input) {
  const ValueId inner = graph.new_value(fmt::format("{}/inner", node.name));
  nodes_after.push_back({.name = graph.unique_node_name(fmt::format("{}/{}", node.name, role)),
                         .op = std::move(op),
                         .inputs = {inner},
                         .outputs = {node.outputs[0]},
                         .attributes = {}});
  if (second_input != no_value) nodes_after.back().inputs.push_back(second_input);
  node.outputs[0] = inner;
}

void Upgrade::forward(std::size_t output, ValueId value) {
  if (output >= node.outputs.size() || node.outputs[output] == no_value) return;
  graph.add({.name = graph.unique_node_name(fmt::format("{}/output_{}", node.name, output)),
             .op = "Identity",
             .inputs = {value},
             .outputs = {node.outputs[output]},
             .attributes = {}});
}

void add_upgraded(OnnxGraph& graph, Node node, int opset) {
  if (node.outputs.empty()) fail(Fault::model, "{}: the node has no output", node.describe());
  Upgrade upgrade{graph, node, {}};
  if (opset < 7) {
    for (const char* hint : {"consumed_inputs", "is_test"}) node.attributes.erase(hint);
  }
  for (const UpgradeRule& rule : rules) {
    if (opset < rule.since && node.op == rule.op) rule.apply(upgrade);
  }
  upgrade_classical(upgrade);
  upgrade_fused(upgrade);
  upgrade_quantised(upgrade);
  upgrade_attention(upgrade);
  upgrade_states(upgrade);
  while (!node.inputs.empty() && node.inputs.back() == no_value) node.inputs.pop_back();
  graph.add(std::move(node));
  // The one that was added last reads the node's own output.
  auto& added = upgrade.nodes_after;
  for (auto last = added.rbegin(); last != added.rend(); ++last) graph.add(std::move(*last));
}

}  // namespace assay::onnx_format
