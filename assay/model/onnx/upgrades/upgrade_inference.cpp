// Rules for operators that training runs otherwise, that have other parameters since, or that draw numbers.

#include <algorithm>

#include <assay/error.h>
#include "assay/model/onnx/proto.h"
#include "assay/model/onnx/upgrades/upgrade_rules.h"

namespace assay::onnx_format {
namespace {

void keep_first_output(Node& node) {
  while (node.outputs.size() > 1) node.outputs.pop_back();
}

// Before set 9, spatial = 0 meant one scale, bias, mean and variance per position instead of per channel.
void batch_norm_per_position(Upgrade& u) {
  const bool spatial = u.node.integer("spatial", 1) != 0;
  u.node.attributes.erase("spatial");
  if (spatial) return;
  u.require_inputs({0, 1, 2, 3, 4});
  const ValueId front = u.integers("batch_axis", {0});
  const auto with_batch = [&](std::string_view role, std::size_t i) {
    return u.before(role, "Unsqueeze", {u.node.inputs[i], front});
  };
  const ValueId epsilon = u.real("epsilon", u.node.real("epsilon", 1e-5f));
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
  u.require_inputs({0, 1, 2});
  const auto channels = u.graph.dimension(u.node.inputs[0], 1);
  ValueId wanted = no_value;  // [groups, channels / groups]
  if (channels && *channels % groups == 0) {
    wanted = u.integers("channels_by_group", {groups, *channels / groups});
  } else {
    const ValueId count = u.before("channels", "Shape", {u.node.inputs[0]},
                                   {{"start", std::int64_t{1}}, {"end", std::int64_t{2}}});
    const ValueId group_count = u.integers("groups", {groups});
    const ValueId size = u.before("group_size", "Div", {count, group_count});
    wanted = u.before("channels_by_group", "Concat", {group_count, size}, {{"axis", std::int64_t{0}}});
  }
  const ValueId column = u.integers("column", {1}), flat = u.integers("flat", {-1});
  for (const std::size_t i : {1, 2}) {
    const std::string role = i == 1 ? "scale" : "bias";
    const ValueId upright = u.before(role + "_column", "Unsqueeze", {u.node.inputs[i], column});
    const ValueId repeated = u.before(role + "_repeated", "Expand", {upright, wanted});
    u.node.inputs[i] = u.before(role, "Reshape", {repeated, flat});
  }
}

// A training mode that the file fixes is taken away: Assay decides when it trains.
void dropout_for_inference(Upgrade& u) {
  const Array* mode = u.has_input(2) ? u.graph.constant(u.node.inputs[2]) : nullptr;
  if (mode == nullptr) return;
  if (mode->dtype() == DType::boolean && mode->count() == 1 && mode->as<bool>()[0])
    u.graph.remark("exported in training mode; nothing is dropped in inference", u.node.describe());
  u.node.inputs.resize(2);
}

// Random numbers are their mean, so that a network says the same of a record each time.
void random_as_mean(Upgrade& u) {
  const bool normal = u.node.op.starts_with("RandomNormal"), like = u.node.op.ends_with("Like");
  if (like) u.require_inputs({0});
  const float mean = normal ? u.node.real("mean", 0) : u.node.real("low", 0) / 2 + u.node.real("high", 1) / 2;
  const ValueId shape =
      like ? u.before("shape", "Shape", {u.node.inputs[0]}) : u.integers("shape", required_ints(u, "shape"));
  u.graph.remark("draws random numbers; their mean is in their place", u.node.describe());
  u.node.op = "Expand";
  u.node.inputs = {u.real("mean", mean), shape};
  u.node.attributes.clear();
}

// Draws of 0 and 1 are their mean, or where only these can be told the likelier one.
void bernoulli_as_mean(Upgrade& u) {
  u.require_inputs({0});
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

constexpr UpgradeRule table_of_inference[] = {
    {"BatchNormalization", 9, batch_norm_per_position},
    {"BatchNormalization", every_opset, batch_norm_for_inference},
    {"Dropout", every_opset, dropout_for_inference},
    {"Bernoulli", every_opset, bernoulli_as_mean},
    {"RandomNormal", every_opset, random_as_mean},
    {"RandomNormalLike", every_opset, random_as_mean},
    {"RandomUniform", every_opset, random_as_mean},
    {"RandomUniformLike", every_opset, random_as_mean},
    {"GroupNormalization", 21, group_norm_per_channel},
};

}  // namespace

std::span<const UpgradeRule> rules_of_inference() { return table_of_inference; }

}  // namespace assay::onnx_format
