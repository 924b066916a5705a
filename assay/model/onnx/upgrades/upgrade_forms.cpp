// Rules for what sets from 7 on say in another form: attributes that became inputs, operators with another
// name or meaning.

#include <assay/error.h>
#include "assay/model/onnx/upgrades/upgrade_rules.h"

namespace assay::onnx_format {
namespace {

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
  u.set_input(1, u.integers("k", {k}));
}

void upsample_scales_to_input(Upgrade& u) {
  if (!u.node.has("scales")) fail(Fault::model, "{}: attribute 'scales' is missing", u.node.describe());
  const std::vector<float> scales = u.node.reals("scales", {});
  u.node.attributes.erase("scales");
  u.set_input(1, u.constant("scales", Array::of<float>({std::ssize(scales)}, scales)));
}

// Set 20: the axis is an input, and counts from the end by default.
void transform_axis_to_input(Upgrade& u) {
  const std::int64_t axis = u.node.integer("axis", 1);
  u.node.attributes.erase("axis");
  u.set_input(2, u.constant("axis", Array::of<std::int64_t>({}, std::vector{axis})));
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
  u.require_inputs({0});
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

void region_from_corner(Upgrade& u) {
  u.node.attributes.try_emplace("coordinate_transformation_mode", std::string("output_half_pixel"));
}

void grid_mode_names(Upgrade& u) {
  const std::string mode = u.node.text("mode", "bilinear");
  u.node.attributes["mode"] = std::string(mode == "bilinear" ? "linear" : mode == "bicubic" ? "cubic" : mode);
}

// The operator that exports of Keras under JAX keep of TensorFlow: 1 - erf(x).
void erfc_by_erf(Upgrade& u) {
  u.require_inputs({0});
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

constexpr UpgradeRule table_of_forms[] = {
    {"Erfc", every_opset, erfc_by_erf},
    {"StatefulPartitionedCall", every_opset, refuse_tensorflow_call},
    {"PartitionedCall", every_opset, refuse_tensorflow_call},
    {"RoiAlign", 16, region_from_corner},
    {"DFT", 20, transform_axis_to_input},
    {"GridSample", every_opset, grid_mode_names},
    {"Resize", 11, resize_from_corner},  // before Upsample becomes one
    {"Upsample", 9, upsample_scales_to_input},
    {"Upsample", every_opset, resize_from_corner},
    {"Resize", every_opset, resize_without_empty_inputs},
    {"Slice", 10, slice_to_inputs},
    {"TopK", 10, top_k_to_input},
    {"Clip", 11, clip_to_inputs},
    {"Pad", 11, pad_to_inputs},
    {"Scatter", every_opset, scatter_to_elements},
    {"Dropout", 12, dropout_to_inputs},
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
};

}  // namespace

std::span<const UpgradeRule> rules_of_forms() { return table_of_forms; }

}  // namespace assay::onnx_format
