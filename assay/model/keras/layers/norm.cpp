// Normalisations.

#include <algorithm>
#include <cmath>
#include <functional>

#include "assay/model/keras/arrays.h"
#include "assay/model/keras/layers/layers.h"

namespace assay::keras {
namespace {

// The axis that is normalised.
std::size_t channel_axis(const LayerBuilder& layer, const KerasTensor& x, std::int64_t fallback) {
  const auto axes = layer.config().integers("axis");
  if (axes.size() > 1) layer.unsupported("normalising several axes", "use one axis, usually -1");
  const std::size_t axis = layer.keras_axis(axes.empty() ? fallback : axes[0], x.rank());
  if (axis == 0) layer.unsupported("normalising the batch axis", "normalise an axis of the records");
  return axis;
}

// What `normalise` makes of x stored so that its axis is at position 1, stored as x was again where the axis
// is neither the first nor the last one of Keras.
KerasTensor with_axis_at_one(LayerBuilder& layer, const KerasTensor& x, std::size_t axis, const char* suffix,
                             const std::function<KerasTensor(const KerasTensor&, const char*)>& normalise) {
  if (axis == 1) return normalise(layer.as_keras(x), suffix);
  if (axis + 1 == x.rank()) return normalise(layer.as_channels_first(x), suffix);
  std::vector<std::int64_t> order{0, static_cast<std::int64_t>(axis)}, back{0};
  for (std::size_t i = 1; i < x.rank(); ++i) {
    if (i != axis) order.push_back(i);
    back.push_back(i == axis ? 1 : static_cast<std::int64_t>(i < axis ? i + 1 : i));
  }
  const KerasTensor plain = layer.as_keras(x);
  KerasTensor transposed =
      plain.with(layer.add("Transpose", "_turned", {plain.value}, {{"perm", order}}, "_turned"));
  for (std::size_t i = 0; i < order.size(); ++i) transposed.shape[i] = x.shape[order[i]];
  const KerasTensor normal = normalise(transposed, "_normal");
  return plain.with(layer.add("Transpose", "_turned_back", {normal.value}, {{"perm", back}}, suffix));
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
  const auto count = std::ssize(values);
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
  Shape shape, broadcast(x.rank(), 1);
  std::vector<std::int64_t> reduced;
  for (const std::size_t axis : axes) {
    shape.push_back(layer.known(x, axis));
    broadcast[axis] = shape.back();
    reduced.push_back(axis);
  }
  const auto step = [&](const char* op, const std::string& suffix, std::vector<ValueId> operands) {
    return layer.add(op, suffix, std::move(operands), {}, suffix);
  };
  const bool scaled = layer.config().flag("scale", true), centred = layer.config().flag("center", true);
  const auto epsilon = layer.config().single("epsilon", 1e-3);
  const ValueId list = layer.constant("axes", integers(reduced));
  const ValueId from_mean =
      step("Sub", "_from_mean", {x.value, step("ReduceMean", "_mean", {x.value, list})});
  const ValueId variance =
      step("ReduceMean", "_variance", {step("Mul", "_square", {from_mean, from_mean}), list});
  const ValueId spread = step(
      "Sqrt", "_spread", {step("Add", "_shifted", {variance, layer.constant("epsilon", scalar(epsilon))})});
  ValueId value = step("Div", scaled || centred ? "_normal" : "", {from_mean, spread});
  if (scaled) {
    const Array gamma = layer.weight("gamma", shape).reshape(broadcast);
    value = step("Mul", centred ? "_scaled" : "", {value, layer.constant("gamma", gamma)});
  }
  if (centred) {
    const Array beta = layer.weight("beta", shape).reshape(broadcast);
    value = step("Add", "", {value, layer.constant("beta", beta)});
  }
  return x.with(value);
}

KerasTensor batch_normalised(LayerBuilder& layer, const KerasTensor& x, const char* suffix) {
  const std::int64_t channels = channels_of(layer, x);
  const Array gamma = vector_weight(layer, "scale", "gamma", channels, 1);
  const Array beta = vector_weight(layer, "center", "beta", channels, 0);
  const Array mean = layer.weight("moving_mean", {channels});
  const Array variance = layer.weight("moving_variance", {channels});
  if (layer.config().flag("renorm", false)) {  // three more, for training
    for (int i = 0; i < 3 && layer.more_weights(); ++i) layer.skip_weight();
  }
  const std::map<std::string, Attribute> attributes{{"epsilon", layer.config().single("epsilon", 1e-3)},
                                                    {"momentum", layer.config().single("momentum", 0.99)}};
  return x.with(layer.add("BatchNormalization", suffix,
                          {x.value, layer.constant("gamma", gamma), layer.constant("beta", beta),
                           layer.constant("moving_mean", mean), layer.constant("moving_variance", variance)},
                          attributes, suffix));
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
      {{"num_groups", groups}, {"epsilon", layer.config().single("epsilon", 1e-3)}}, suffix));
}

}  // namespace

// (x - mean) / sqrt(variance + epsilon) * gamma + beta (Ioffe and Szegedy 2015), with the statistics of
// training.
KerasTensors batch_normalization(LayerBuilder& layer, std::span<const KerasTensor> inputs) {
  const KerasTensor& x = layer.single(inputs);
  if (layer.config().integer("mode", 0) != 0)
    layer.unsupported("mode other than 0 (Keras 1)", "normalise by feature");
  return {with_axis_at_one(layer, x, channel_axis(layer, x, -1), "",
                           [&](const KerasTensor& stored, const char* suffix) {
                             return batch_normalised(layer, stored, suffix);
                           })};
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
  const Array gamma = scaled ? layer.weight("gamma", shape) : filled(count, 1).reshape(shape);
  std::vector<ValueId> operands{x.value, layer.constant("gamma", gamma)};
  if (centred) operands.push_back(layer.constant("beta", layer.weight("beta", shape)));
  return {x.with(layer.add("LayerNormalization", "", operands,
                           {{"axis", -std::ssize(axes)}, {"epsilon", layer.config().single("epsilon", 1e-3)}},
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
  return {with_axis_at_one(
      layer, given, channel_axis(layer, given, -1), "",
      [&](const KerasTensor& x, const char* suffix) { return group_normalised(layer, x, suffix); })};
}

// x / sqrt(mean of x^2 + epsilon) * scale (Zhang and Sennrich 2019), over the last axes
KerasTensors rms_normalization(LayerBuilder& layer, std::span<const KerasTensor> inputs) {
  const KerasTensor x = layer.as_keras(layer.single(inputs));
  auto axes = layer.config().integers("axis");
  if (axes.empty()) axes = {-1};
  for (std::int64_t& axis : axes) axis = layer.keras_axis(axis, x.rank());
  std::sort(axes.begin(), axes.end());
  Shape shape;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const std::size_t place = x.rank() - axes.size() + i;
    if (place == 0 || axes[i] != static_cast<std::int64_t>(place))
      layer.unsupported("normalising axes other than the last ones", "use axis -1");
    shape.push_back(layer.known(x, place));
  }
  const Array scale = layer.weight("scale", shape);
  const auto epsilon = layer.config().single("epsilon", 1e-6);
  const auto step = [&](const char* op, const char* suffix, std::vector<ValueId> operands) {
    return layer.add(op, suffix, std::move(operands), {}, suffix);
  };
  const ValueId square = step("Mul", "_square", {x.value, x.value});
  const ValueId mean = step("ReduceMean", "_mean", {square, layer.constant("axes", integers(axes))});
  const ValueId shifted = step("Add", "_shifted", {mean, layer.constant("epsilon", scalar(epsilon))});
  const ValueId normal = step("Div", "_normal", {x.value, step("Sqrt", "_spread", {shifted})});
  return {x.with(step("Mul", "", {normal, layer.constant("scale", scale)}))};
}

// A layer whose kernel training divides by its largest singular value; the file holds the kernel as it is
// used.
KerasTensors spectral_normalization(LayerBuilder& layer, std::span<const KerasTensor> inputs) {
  const LayerConfig config = layer.config().child("layer");
  // The vector that finds that value, and in newer files the kernel once more: in front of the layer's
  // weights in .keras files, in .h5 files the vector follows them.
  const bool named = layer.weights_are_named();
  if (!named) layer.skip_own_weights();
  LayerBuilder inner = layer.inner(config);
  KerasTensors results = find_keras_layer(config)(inner, inputs);
  if (layer.keras_major() >= 3 && inputs[0].dtype == DType::int64) {  // Keras gives the type of its input
    results[0].value = layer.add("Cast", "_whole", {results[0].value}, {{"to", std::int64_t{7}}}, "_whole");
    results[0].dtype = DType::int64;
  }
  if (named && layer.more_weights()) layer.skip_weight();
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

namespace {

// Statistics for some axes of x, to be broadcast along the others; those given in the config may have fewer
// axes (or none), which are the last ones of those.
Array along_axes(LayerBuilder& layer, const KerasTensor& x, const std::vector<std::size_t>& axes,
                 const std::vector<float>& values) {
  if (values.size() == 1) return scalar(values[0]);
  Shape shape(x.rank(), 1);
  std::int64_t count = 1;
  for (auto axis = axes.rbegin(); axis != axes.rend() && count < std::ssize(values); ++axis)
    count *= shape[*axis] = layer.known(x, *axis);
  if (count != std::ssize(values))
    layer.invalid(fmt::format("has {} numbers for an input of shape {}", values.size(), to_string(x.shape)));
  return Array::of(shape, values);
}

std::vector<std::size_t> kept_axes(const LayerBuilder& layer, const KerasTensor& x) {
  std::vector<std::size_t> axes;
  if (!layer.config().has("axis")) return axes;
  for (const std::int64_t axis : layer.config().integers("axis"))
    axes.push_back(layer.keras_axis(axis, x.rank()));
  std::sort(axes.begin(), axes.end());
  if (!axes.empty() && axes[0] == 0)
    layer.unsupported("statistics for each record", "leave the batch axis out");
  return axes;
}

}  // namespace

// (x - mean) / max(sqrt(variance), 1e-7), or its inverse, with statistics given in the config or learned by
// adapt().
KerasTensors normalization(LayerBuilder& layer, std::span<const KerasTensor> inputs) {
  const KerasTensor& given = layer.single(inputs);
  const std::vector<std::size_t> axes = kept_axes(layer, given);
  const bool by_last = axes.empty() || (axes.size() == 1 && axes[0] + 1 == given.rank());
  const KerasTensor x = by_last && given.layout != Layout::flattened ? given : layer.as_keras(given);
  std::vector<float> mean = floats(layer.config().reals("mean")),
                     variance = floats(layer.config().reals("variance"));
  if (mean.empty()) {
    Shape shape;
    for (const std::size_t axis : axes) shape.push_back(layer.known(x, axis));
    const Array m = layer.weight("mean", shape), v = layer.weight("variance", shape);
    mean.assign(m.as<float>().begin(), m.as<float>().end());
    variance.assign(v.as<float>().begin(), v.as<float>().end());
    if (layer.more_weights()) layer.skip_weight();  // how many records adapt() saw
  }
  for (float& value : variance) value = std::max(std::sqrt(value), 1e-7F);
  const auto constant = [&](const char* label, const std::vector<float>& values) {
    return layer.constant(label,
                          by_last ? per_channel(layer, x, values) : along_axes(layer, x, axes, values));
  };
  const bool inverse = layer.config().flag("invert", false);
  const ValueId first = inverse ? constant("deviation", variance) : constant("mean", mean);
  const ValueId second = inverse ? constant("mean", mean) : constant("deviation", variance);
  const char* between = inverse ? "_spread" : "_centred";
  const ValueId half = layer.add(inverse ? "Mul" : "Sub", between, {x.value, first}, {}, between);
  return {x.with(layer.add(inverse ? "Add" : "Div", "", {half, second}, {}, ""))};
}

// x * gamma (Touvron et al. 2021), of networks such as ConvNeXt
KerasTensors layer_scale(LayerBuilder& layer, std::span<const KerasTensor> inputs) {
  KerasTensor x = layer.single(inputs);
  if (x.layout == Layout::flattened) x = layer.as_keras(x);
  const Array gamma = layer.weight("gamma", {layer.known(x, x.rank() - 1)});
  Shape shape = gamma.shape();
  if (x.layout == Layout::channels_first) shape.insert(shape.end(), x.rank() - 2, 1);
  return {x.with(layer.add("Mul", "", {x.value, layer.constant("gamma", gamma.reshape(shape))}, {}, ""))};
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
