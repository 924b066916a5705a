// Operators of language models that carry a state from step to step, or gate it (operator sets 24 to 28), as
// the products and movements that they stand for.

#include <limits>

#include <assay/error.h>
#include "assay/model/onnx/upgrades/upgrade.h"

namespace assay::onnx_format {
namespace {

using Numbers = std::vector<std::int64_t>;

// swish(a) * b (Shazeer, "GLU variants improve transformer", 2020).
void swiglu(Upgrade& u) {
  u.require_inputs({0, 1});
  const ValueId gate = u.node.inputs[0];
  const ValueId scaled = u.node.has("alpha")
                             ? u.before("scaled", "Mul", {gate, u.real("alpha", u.node.real("alpha", 1))})
                             : gate;
  const ValueId open = u.before("open", "Mul", {gate, u.before("share", "Sigmoid", {scaled})});
  u.node.op = "Mul";
  u.node.inputs = {open, u.node.inputs[1]};
  u.node.attributes.clear();
}

// Writes `update` into the cache from the position on that each record names.
void tensor_scatter(Upgrade& u) {
  u.require_inputs({0, 1});
  const auto rank = u.graph.rank(u.node.inputs[0]);
  if (!rank) fail(Fault::unsupported, "{}: the number of axes of the cache is not known", u.node.describe());
  const std::int64_t given = u.node.integer("axis", -2), axis = given < 0 ? given + *rank : given;
  if (axis < 1 || axis >= *rank)
    fail(Fault::model, "{}: axis {} is not one after the first of {}", u.node.describe(), given, *rank);
  const std::string mode = u.node.text("mode", "linear");
  if (mode != "linear" && mode != "circular")
    fail(Fault::model, "{}: mode '{}' is neither linear nor circular", u.node.describe(), mode);
  const ValueId cache = u.node.inputs[0], update = u.node.inputs[1];
  const auto axes_from = [](std::int64_t begin, std::int64_t end) {
    Numbers axes;
    for (std::int64_t i = begin; i < end; ++i) axes.push_back(i);
    return axes;
  };
  ValueId positions = u.places("steps", update, axis);
  if (axis + 1 < *rank)
    positions = u.before("upright_steps", "Unsqueeze",
                         {positions, u.integers("steps_axes", axes_from(1, *rank - axis))});
  if (u.has_input(2)) {
    const ValueId first =
        u.before("first", "Unsqueeze", {u.node.inputs[2], u.integers("first_axes", axes_from(1, *rank))});
    positions = u.before("positions", "Add", {first, positions});
  }
  if (mode == "circular") positions = u.before("around", "Mod", {positions, u.length("length", cache, axis)});
  positions = u.before("everywhere", "Expand", {positions, u.before("shape", "Shape", {update})});
  u.node.op = "ScatterElements";
  u.node.inputs = {cache, positions, update};
  u.node.attributes = {{"axis", axis}};
}

// A depthwise convolution over the past and the present (Gu and Dao, "Mamba", 2023).
void causal_convolution(Upgrade& u) {
  u.require_inputs({0, 1});
  const auto channels = u.graph.dimension(u.node.inputs[1], 0), taps = u.graph.dimension(u.node.inputs[1], 2);
  if (!channels || !taps || *channels < 1 || *taps < 1)
    fail(Fault::unsupported, "{}: the shape of its weights is not known", u.node.describe());
  const std::string activation = u.node.text("activation", "none");
  if (activation != "none" && activation != "silu" && activation != "swish")
    fail(Fault::model, "{}: activation '{}' is not silu, swish or none", u.node.describe(), activation);
  const ValueId x = u.node.inputs[0];
  const ValueId whole =
      u.has_input(3) ? u.before("with_past", "Concat", {u.node.inputs[3], x}, {{"axis", std::int64_t{2}}})
                     : u.before("with_past", "Pad", {x, u.integers("pads", {0, 0, *taps - 1, 0, 0, 0})});
  if (u.node.outputs.size() > 1 && u.node.outputs[1] != no_value) {
    const std::int64_t begin = *taps > 1 ? 1 - *taps : std::numeric_limits<std::int64_t>::max();
    u.forward(1, u.before("present", "Slice",
                          {whole, u.integers("begin", {begin}),
                           u.integers("end", {std::numeric_limits<std::int64_t>::max()}),
                           u.integers("axis", {2})}));
  }
  const ValueId bias = u.has_input(2) ? u.node.inputs[2] : no_value;
  u.node.outputs.resize(1);
  u.node.attributes.clear();
  if (activation == "none") {
    u.node.op = "Conv";
    u.node.inputs = {whole, u.node.inputs[1], bias};
    u.node.attributes["group"] = *channels;
    return;
  }
  const ValueId sums =
      u.before("convolution", "Conv", {whole, u.node.inputs[1], bias}, {{"group", *channels}});
  u.node.op = "Mul";
  u.node.inputs = {sums, u.before("share", "Sigmoid", {sums})};
}

// The types of the bits, which are held in others.
void bits_of_types(Upgrade& u) {
  u.require_inputs({0});
  const auto from = u.graph.element_type(u.node.inputs[0]);
  if (!from) fail(Fault::unsupported, "{}: the element type of its input is not known", u.node.describe());
  u.node.attributes["from"] = std::int64_t{*from};
}

}  // namespace

void upgrade_states(Upgrade& upgrade) {
  const std::string op = upgrade.node.op;
  if (op == "SwiGLU") swiglu(upgrade);
  if (op == "TensorScatter") tensor_scatter(upgrade);
  if (op == "CausalConvWithState") causal_convolution(upgrade);
  if (op == "BitCast") bits_of_types(upgrade);
}

}  // namespace assay::onnx_format
