// Normalisations.

#include <algorithm>
#include <cmath>

#include "assay/model/keras/arrays.h"
#include "assay/model/keras/layers/layers.h"

namespace assay::keras {
namespace {

// The tensor stored so that the (only) normalised axis is at position 1.
KerasTensor axis_at_one(LayerBuilder& layer, const KerasTensor& x, std::int64_t fallback) {
  const auto axes = layer.config().integers("axis");
  if (axes.size() > 1) layer.unsupported("normalising several axes", "use one axis, usually -1");
  const std::size_t axis = layer.keras_axis(axes.empty() ? fallback : axes[0], x.rank());
  if (axis == 1) return layer.as_keras(x);
  if (axis + 1 == x.rank()) return layer.as_channels_first(x);
  layer.unsupported(fmt::format("axis {} of rank {}", axis, x.rank()), "normalise the last axis, or axis 1");
}

std::int64_t channels_of(const LayerBuilder& layer, const KerasTensor& x) {
  return layer.known(x, x.layout == Layout::channels_first ? x.rank() - 1 : 1);
}

// A learned vector, or the number it stands for where the config leaves it out.
Array vector_weight(LayerBuilder& layer, const char* flag, const char* label, std::int64_t count,
                    float otherwise) {
  return layer.config().flag(flag, true) ? layer.weight(label, {count}) : filled(count, otherwise);
}

// A list of numbers, one a channel (or one for all), stored to broadcast along the last Keras axis.
Array per_channel(LayerBuilder& layer, const KerasTensor& x, const std::vector<float>& values) {
  const auto count = static_cast<std::int64_t>(values.size());
  if (count == 1) return scalar(values[0]);
  const std::int64_t channels = layer.known(x, x.rank() - 1);
  if (count != channels) layer.invalid(fmt::format("has {} numbers for {} channels", count, channels));
  Shape shape{count};
  if (x.layout == Layout::channels_first) shape.insert(shape.end(), x.rank() - 2, 1);
  return Array::of(shape, values);
}

// Layer normalisation over axes that are not the last ones, step by step.
KerasTensor normalised_anywhere(LayerBuilder& layer, const KerasTensor& x,
                                const std::vector<std::size_t>& axes) {
  Shape shape, stretched(x.rank(), 1);
  std::vector<std::int64_t> reduced;
  for (const std::size_t axis : axes) {
    shape.push_back(layer.known(x, axis));
    stretched[axis] = shape.back();
    reduced.push_back(static_cast<std::int64_t>(axis));
  }
  const auto step = [&](const char* op, const std::string& suffix, std::vector<ValueId> operands) {
    return layer.add(op, suffix, std::move(operands), {}, suffix);
  };
  const bool scaled = layer.config().flag("scale", true), centred = layer.config().flag("center", true);
  const auto epsilon = static_cast<float>(layer.config().real("epsilon", 1e-3));
  const ValueId list = layer.constant("axes", integers(reduced));
  const ValueId from_mean =
      step("Sub", "_from_mean", {x.value, step("ReduceMean", "_mean", {x.value, list})});
  const ValueId variance =
      step("ReduceMean", "_variance", {step("Mul", "_square", {from_mean, from_mean}), list});
  const ValueId spread = step(
      "Sqrt", "_spread", {step("Add", "_shifted", {variance, layer.constant("epsilon", scalar(epsilon))})});
  ValueId value = step("Div", scaled || centred ? "_normal" : "", {from_mean, spread});
  if (scaled) {
    const Array gamma = layer.weight("gamma", shape).reshaped(stretched);
    value = step("Mul", centred ? "_scaled" : "", {value, layer.constant("gamma", gamma)});
  }
  if (centred) {
    const Array beta = layer.weight("beta", shape).reshaped(stretched);
    value = step("Add", "", {value, layer.constant("beta", beta)});
  }
  return x.with(value);
}

std::vector<float> floats(const std::vector<double>& values) { return {values.begin(), values.end()}; }

// x with its channels at position 1.
KerasTensor group_normalised(LayerBuilder& layer, const KerasTensor& x, const char* suffix) {
  const std::int64_t channels = channels_of(layer, x);
  std::int64_t groups = layer.config().integer("groups", 32);
  if (groups == -1) groups = channels;
  if (groups < 1 || channels % groups != 0)
    layer.invalid(fmt::format("{} groups for {} channels", groups, channels));
  const Array gamma = vector_weight(layer, "scale", "gamma", channels, 1);
  const Array beta = vector_weight(layer, "center", "beta", channels, 0);
  return x.with(layer.add(
      "GroupNormalization", suffix, {x.value, layer.constant("gamma", gamma), layer.constant("beta", beta)},
      {{"num_groups", groups}, {"epsilon", static_cast<float>(layer.config().real("epsilon", 1e-3))}},
      suffix));
}

}  // namespace

// (x - mean) / sqrt(variance + epsilon) * gamma + beta (Ioffe and Szegedy 2015), with the statistics of
// training.
KerasTensors batch_normalization(LayerBuilder& layer, std::span<const KerasTensor> inputs) {
  const KerasTensor x = axis_at_one(layer, layer.single(inputs), -1);
  if (layer.config().integer("mode", 0) != 0)
    layer.unsupported("mode other than 0 (Keras 1)", "normalise by feature");
  const std::int64_t channels = channels_of(layer, x);
  const Array gamma = vector_weight(layer, "scale", "gamma", channels, 1);
  const Array beta = vector_weight(layer, "center", "beta", channels, 0);
  const Array mean = layer.weight("moving_mean", {channels});
  const Array variance = layer.weight("moving_variance", {channels});
  const std::map<std::string, Attribute> attributes{
      {"epsilon", static_cast<float>(layer.config().real("epsilon", 1e-3))},
      {"momentum", static_cast<float>(layer.config().real("momentum", 0.99))}};
  return {x.with(layer.add("BatchNormalization", "",
                           {x.value, layer.constant("gamma", gamma), layer.constant("beta", beta),
                            layer.constant("moving_mean", mean), layer.constant("moving_variance", variance)},
                           attributes, ""))};
}

KerasTensors layer_normalization(LayerBuilder& layer, std::span<const KerasTensor> inputs) {
  const KerasTensor x = layer.as_keras(layer.single(inputs));
  if (layer.config().flag("rms_scaling", false))
    layer.unsupported("rms_scaling", "use plain layer normalisation");
  std::vector<std::size_t> axes;
  for (const auto axis : layer.config().integers("axis")) axes.push_back(layer.keras_axis(axis, x.rank()));
  if (axes.empty()) axes = {x.rank() - 1};
  std::sort(axes.begin(), axes.end());
  bool last = true;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    if (axes[i] == 0) layer.unsupported("normalising the batch axis", "use BatchNormalization");
    last = last && axes[i] == x.rank() - axes.size() + i;
  }
  if (!last) return {normalised_anywhere(layer, x, axes)};
  Shape shape;
  for (const auto axis : axes) shape.push_back(layer.known(x, axis));
  const std::int64_t count = element_count(shape);
  const bool scaled = layer.config().flag("scale", true), centred = layer.config().flag("center", true);
  const Array gamma = scaled ? layer.weight("gamma", shape) : filled(count, 1).reshaped(shape);
  std::vector<ValueId> operands{x.value, layer.constant("gamma", gamma)};
  if (centred) operands.push_back(layer.constant("beta", layer.weight("beta", shape)));
  return {x.with(layer.add("LayerNormalization", "", operands,
                           {{"axis", -static_cast<std::int64_t>(axes.size())},
                            {"epsilon", static_cast<float>(layer.config().real("epsilon", 1e-3))}},
                           ""))};
}

KerasTensors group_normalization(LayerBuilder& layer, std::span<const KerasTensor> inputs) {
  const KerasTensor& given = layer.single(inputs);
  if (given.rank() == 2) {  // one position, for ONNX
    const ValueId axis = layer.constant("position", integers({2}));
    const KerasTensor flat = layer.as_keras(given);
    KerasTensor one = flat;
    one.value = layer.add("Unsqueeze", "_upright", {one.value, axis}, {}, "_upright");
    one.shape.push_back(1);
    const KerasTensor result = group_normalised(layer, one, "_normal");
    return {flat.with(layer.add("Squeeze", "_flat", {result.value, axis}, {}, ""))};
  }
  return {group_normalised(layer, axis_at_one(layer, given, -1), "")};
}

// x / sqrt(mean of x^2 + epsilon) * scale (Zhang and Sennrich 2019)
KerasTensors rms_normalization(LayerBuilder& layer, std::span<const KerasTensor> inputs) {
  const KerasTensor x = layer.as_keras(layer.single(inputs));
  const auto axes = layer.config().integers("axis");
  if (axes.size() > 1 || (axes.size() == 1 && layer.keras_axis(axes[0], x.rank()) + 1 != x.rank()))
    layer.unsupported("normalising axes other than the last", "use axis -1");
  const Array scale = layer.weight("scale", {layer.known(x, x.rank() - 1)});
  const auto epsilon = static_cast<float>(layer.config().real("epsilon", 1e-6));
  const auto step = [&](const char* op, const char* suffix, std::vector<ValueId> operands) {
    return layer.add(op, suffix, std::move(operands), {}, suffix);
  };
  const ValueId square = step("Mul", "_square", {x.value, x.value});
  const ValueId mean = step("ReduceMean", "_mean", {square, layer.constant("axes", integers({-1}))});
  const ValueId shifted = step("Add", "_shifted", {mean, layer.constant("epsilon", scalar(epsilon))});
  const ValueId normal = step("Div", "_normal", {x.value, step("Sqrt", "_spread", {shifted})});
  return {x.with(step("Mul", "", {normal, layer.constant("scale", scale)}))};
}

// A layer whose kernel training divides by its largest singular value; the file holds the kernel as it is
// used.
KerasTensors spectral_normalization(LayerBuilder& layer, std::span<const KerasTensor> inputs) {
  const LayerConfig config = layer.config().child("layer");
  // Keras 3 stores the vector that finds it in front of the layer's weights, .h5 files behind them.
  const Shape first = layer.next_shape();
  const bool in_front = first.size() == 2 && first[0] == 1 && !layer.weights_are_named();
  if (in_front) layer.skip_weight();
  LayerBuilder inner = layer.inner(config);
  KerasTensors results = find_keras_layer(config)(inner, inputs);
  if (!in_front && layer.more_weights()) layer.skip_weight();
  return results;
}

// x / |x|, with a length of at least 1e-6 (Keras 3: 1e-12)
KerasTensors unit_normalization(LayerBuilder& layer, std::span<const KerasTensor> inputs) {
  KerasTensor x = layer.single(inputs);
  if (x.layout == Layout::flattened) x = layer.as_keras(x);
  auto axes = layer.config().integers("axis");
  if (axes.empty()) axes = {-1};
  for (std::int64_t& axis : axes) axis = stored_axis(x, layer.keras_axis(axis, x.rank()));
  const auto step = [&](const char* op, const char* suffix, std::vector<ValueId> operands) {
    return layer.add(op, suffix, std::move(operands), {}, suffix);
  };
  const ValueId square = step("Mul", "_square", {x.value, x.value});
  const ValueId sum = step("ReduceSum", "_sum", {square, layer.constant("axes", integers(axes))});
  const ValueId least = layer.constant("least", scalar(layer.keras_major() >= 3 ? 1e-24F : 1e-12F));
  const ValueId length = step("Sqrt", "_length", {step("Max", "_above", {sum, least})});
  return {x.with(step("Div", "", {x.value, length}))};
}

// (x - mean) / max(sqrt(variance), 1e-7), with statistics given in the config or learned by adapt().
KerasTensors normalization(LayerBuilder& layer, std::span<const KerasTensor> inputs) {
  KerasTensor x = layer.single(inputs);
  if (x.layout == Layout::flattened) x = layer.as_keras(x);
  if (layer.config().flag("invert", false)) layer.unsupported("invert", "use Rescaling");
  const auto axes =
      layer.config().has("axis") ? layer.config().integers("axis") : std::vector<std::int64_t>{};
  if (axes.size() > 1 || (axes.size() == 1 && layer.keras_axis(axes[0], x.rank()) + 1 != x.rank())) {
    layer.unsupported("statistics for axes other than the last", "use axis -1 or None");
  }
  std::vector<float> mean = floats(layer.config().reals("mean")),
                     variance = floats(layer.config().reals("variance"));
  if (mean.empty()) {
    const Shape shape = axes.empty() ? Shape{} : Shape{layer.known(x, x.rank() - 1)};
    const Array m = layer.weight("mean", shape), v = layer.weight("variance", shape);
    mean.assign(m.as<float>().begin(), m.as<float>().end());
    variance.assign(v.as<float>().begin(), v.as<float>().end());
    if (layer.more_weights()) layer.skip_weight();  // how many records adapt() saw
  }
  for (float& value : variance) value = std::max(std::sqrt(value), 1e-7F);
  const ValueId centred = layer.add(
      "Sub", "_centred", {x.value, layer.constant("mean", per_channel(layer, x, mean))}, {}, "_centred");
  return {x.with(
      layer.add("Div", "", {centred, layer.constant("deviation", per_channel(layer, x, variance))}, {}, ""))};
}

// x * scale + offset
KerasTensors rescaling(LayerBuilder& layer, std::span<const KerasTensor> inputs) {
  KerasTensor x = layer.single(inputs);
  if (x.layout == Layout::flattened) x = layer.as_keras(x);
  const auto scale = floats(layer.config().reals("scale")), offset = floats(layer.config().reals("offset"));
  if (scale.empty()) layer.invalid("has no 'scale'");
  const bool shifted = std::any_of(offset.begin(), offset.end(), [](float v) { return v != 0; });
  const ValueId scaled =
      layer.add("Mul", "", {x.value, layer.constant("scale", per_channel(layer, x, scale))}, {},
                shifted ? "_scaled" : "");
  if (!shifted) return {x.with(scaled)};
  return {x.with(
      layer.add("Add", "_shift", {scaled, layer.constant("offset", per_channel(layer, x, offset))}, {}, ""))};
}

}  // namespace assay::keras
