// Activation functions, named in other layers or layers themselves.

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "assay/model/keras/arrays.h"
#include "assay/model/keras/layers/layers.h"
#include "assay/support/ascii.h"

namespace assay::inline model {
namespace {

using Attributes = std::map<std::string, Attribute>;

// Writes the nodes of one activation function of one tensor. The last node's value is the layer's result.
class ActivationWriter {
 public:
  // `label` is appended to the layer's name to name the nodes; empty when the layer is the activation itself.
  ActivationWriter(LayerBuilder& layer, const KerasTensor& x, std::string label)
      : layer_(layer), x_(x), label_(std::move(label)) {}

  LayerBuilder& layer() { return layer_; }
  const KerasTensor& x() const { return x_; }
  void restore_keras_layout() { x_ = layer_.as_keras(x_); }

  // A constant scalar.
  ValueId number(std::string_view name, double value) {
    return layer_.constant(label_.empty() ? name : label_.substr(1) + "_" + std::string(name), scalar(value));
  }
  // An intermediate node.
  ValueId step(std::string op, std::string_view name, std::vector<ValueId> inputs,
               Attributes attributes = {}) {
    const std::string suffix = label_ + "_" + std::string(name);
    return layer_.add(std::move(op), suffix, std::move(inputs), std::move(attributes), suffix);
  }
  // The last node.
  KerasTensor result(std::string op, std::vector<ValueId> inputs, Attributes attributes = {}) {
    return x_.with(layer_.add(std::move(op), label_, std::move(inputs), std::move(attributes), ""));
  }

 private:
  LayerBuilder& layer_;
  KerasTensor x_;
  std::string label_;
};

KerasTensor softmax(ActivationWriter& write, const char* op, std::int64_t axis) {
  if (write.x().layout == Layout::flattened) write.restore_keras_layout();
  const auto stored = stored_axis(write.x(), write.layer().keras_axis(axis, write.x().rank()));
  return write.result(op, {write.x().value}, {{"axis", stored}});
}

// Exponentials that sum to 1 over several axes together.
KerasTensor softmax_of_axes(ActivationWriter& write, std::vector<std::int64_t> axes) {
  write.restore_keras_layout();
  for (std::int64_t& axis : axes) axis = write.layer().keras_axis(axis, write.x().rank());
  const ValueId list = write.layer().constant("axes", integers(axes));
  const ValueId total = write.step("ReduceLogSumExp", "total", {write.x().value, list});
  return write.result("Exp", {write.step("Sub", "log", {write.x().value, total})});
}

KerasTensor clip(ActivationWriter& write, ValueId x, double low, double high) {
  return write.result("Clip", {x, write.number("min", low), write.number("max", high)});
}

// f(x) = max_value where x >= max_value, x where threshold < x, negative_slope * (x - threshold) elsewhere.
KerasTensor general_relu(ActivationWriter& write, double slope, double threshold,
                         std::optional<double> max_value) {
  const ValueId x = write.x().value;
  if (!max_value && threshold == 0) {
    if (slope == 0) return write.result("Relu", {x});
    return write.result("LeakyRelu", {x}, {{"alpha", static_cast<float>(slope)}});
  }
  if (slope == 0 && threshold == 0) return clip(write, x, 0, *max_value);
  const Attributes alpha{{"alpha", static_cast<float>(threshold)}};
  if (slope == 0 && !max_value) return write.result("ThresholdedRelu", {x}, alpha);
  ValueId positive = threshold == 0 ? write.step("Relu", "positive", {x})
                                    : write.step("ThresholdedRelu", "positive", {x}, alpha);
  if (slope == 0) return clip(write, positive, 0, *max_value);
  if (max_value) {
    positive =
        write.step("Clip", "clipped", {positive, write.number("min", 0), write.number("max", *max_value)});
  }
  const ValueId below = write.step("Sub", "below", {write.number("threshold", threshold), x});
  const ValueId negative =
      write.step("Mul", "negative", {write.step("Relu", "shortfall", {below}), write.number("slope", slope)});
  return write.result("Sub", {positive, negative});
}

KerasTensor relu_layer(ActivationWriter& write, const LayerConfig& config) {
  std::optional<double> limit;
  if (config.has("max_value")) limit = config.real("max_value", 0);
  return general_relu(write, config.real("negative_slope", 0), config.real("threshold", 0), limit);
}

// x * sigmoid(x)
KerasTensor swish(ActivationWriter& write) {
  return write.result("Mul", {write.x().value, write.step("Sigmoid", "gate", {write.x().value})});
}

// Keras 2: 0.2 x + 0.5, Keras 3: x / 6 + 0.5, both kept within 0 and 1.
float hard_sigmoid_slope(const LayerBuilder& layer) { return layer.keras_major() >= 3 ? 1.0F / 6.0F : 0.2F; }

KerasTensor hard_sigmoid(ActivationWriter& write) {
  return write.result("HardSigmoid", {write.x().value},
                      {{"alpha", hard_sigmoid_slope(write.layer())}, {"beta", 0.5F}});
}

// x * relu6(x + 3) / 6
KerasTensor hard_swish(ActivationWriter& write) {
  const ValueId gate =
      write.step("HardSigmoid", "gate", {write.x().value}, {{"alpha", 1.0F / 6.0F}, {"beta", 0.5F}});
  return write.result("Mul", {write.x().value, gate});
}

// x/2 * (1 + erf(x / sqrt 2)) (Hendrycks and Gimpel 2016), or its tanh approximation.
KerasTensor gelu(ActivationWriter& write, bool approximate) {
  const ValueId x = write.x().value;
  ValueId curve;
  if (approximate) {
    const ValueId square = write.step("Mul", "square", {x, x});
    const ValueId scaled = write.step("Mul", "scaled", {square, write.number("cubic", 0.044715)});
    const ValueId plus = write.step("Add", "plus", {scaled, write.number("one", 1)});
    const ValueId cubic = write.step("Mul", "cubic", {plus, x});
    curve = write.step("Tanh", "tanh",
                       {write.step("Mul", "inner", {cubic, write.number("root", std::sqrt(2 / M_PI))})});
  } else {
    curve = write.step("Erf", "erf", {write.step("Mul", "inner", {x, write.number("root", std::sqrt(0.5))})});
  }
  const ValueId gate = write.step("Add", "gate", {curve, write.number("one", 1)});
  const ValueId half = write.step("Mul", "half", {x, write.number("half", 0.5)});
  return write.result("Mul", {half, gate});
}

// x beyond -0.5 and 0.5, moved towards 0 by `bias`; 0 between them.
KerasTensor shrink(ActivationWriter& write, float bias) {
  return write.result("Shrink", {write.x().value}, {{"lambd", 0.5F}, {"bias", bias}});
}

// x - tanh(x)
KerasTensor tanh_shrink(ActivationWriter& write) {
  const ValueId x = write.x().value;
  return write.result("Sub", {x, write.step("Tanh", "tanh", {x})});
}

// -softplus(-x)
KerasTensor log_sigmoid(ActivationWriter& write) {
  const ValueId negative = write.step("Neg", "negative", {write.x().value});
  return write.result("Neg", {write.step("Softplus", "softplus", {negative})});
}

// (x + sqrt(x^2 + 4)) / 2
KerasTensor squareplus(ActivationWriter& write) {
  const ValueId x = write.x().value;
  const ValueId square = write.step("Mul", "square", {x, x});
  const ValueId shifted = write.step("Add", "shifted", {square, write.number("b", 4)});
  const ValueId sum = write.step("Add", "sum", {x, write.step("Sqrt", "root", {shifted})});
  return write.result("Mul", {sum, write.number("half", 0.5)});
}

// The first half of the channels times the sigmoid of the others.
KerasTensor gated(ActivationWriter& write) {
  if (write.x().layout == Layout::flattened) write.restore_keras_layout();
  LayerBuilder& layer = write.layer();
  const std::size_t last = write.x().rank() - 1;
  const std::int64_t channels = layer.known(write.x(), last);
  if (channels % 2 != 0) layer.invalid(fmt::format("glu halves {} channels", channels));
  const std::int64_t axis = stored_axis(write.x(), last);
  const auto half = [&](const char* name, std::int64_t from) {
    const auto list = [&](const char* what, std::int64_t value) {
      return layer.constant(fmt::format("glu_{}_{}", name, what), integers({value}));
    };
    return write.step(
        "Slice", name,
        {write.x().value, list("start", from), list("end", from + channels / 2), list("axis", axis)});
  };
  const ValueId open = half("open", 0), gate = write.step("Sigmoid", "gate", {half("shut", channels / 2)});
  KerasTensor result = write.result("Mul", {open, gate});
  result.shape[last] = channels / 2;
  return result;
}

// max(x - t, 0) along the last axis, after Martins and Astudillo 2016: of the values in falling order those
// count for which 1 + k x_k is above the sum of the first k. Keras takes the sum of all these sums for t, not
// the last of them, so that its results need not sum to 1.
KerasTensor sparsemax(ActivationWriter& write) {
  write.restore_keras_layout();
  LayerBuilder& layer = write.layer();
  const ValueId x = write.x().value;
  const std::int64_t count = layer.known(write.x(), write.x().rank() - 1);
  std::vector<float> numbers;
  for (std::int64_t i = 1; i <= count; ++i) numbers.push_back(static_cast<float>(i));
  const ValueId k = layer.constant("count", integers({count})), last = layer.constant("last", integers({-1}));
  const std::string_view names[] = {"_falling", "_places"};
  const ValueId falling = layer.add("TopK", "_falling", {x, k}, {{"axis", std::int64_t{-1}}}, names)[0];
  const ValueId sums = write.step(
      "CumSum", "sums", {falling, layer.constant("axis", Array::of(Shape{}, std::vector<std::int64_t>{-1}))});
  const ValueId scaled =
      write.step("Mul", "scaled", {falling, layer.constant("numbers", Array::of(Shape{count}, numbers))});
  const ValueId above =
      write.step("Greater", "above", {write.step("Add", "plus", {scaled, write.number("one", 1)}), sums});
  const ValueId kept = write.step("Cast", "kept", {above}, {{"to", std::int64_t{1}}});
  const ValueId sum = write.step("ReduceSum", "sum", {write.step("Mul", "taken", {sums, kept}), last});
  const ValueId excess = write.step("Sub", "excess", {sum, write.number("one", 1)});
  const ValueId threshold =
      write.step("Div", "threshold", {excess, write.step("ReduceSum", "number", {kept, last})});
  return write.result("Relu", {write.step("Sub", "shifted", {x, threshold})});
}

// 0 below -1, x above 1, (x + 1)^2 / 4 between.
KerasTensor sparse_plus(ActivationWriter& write) {
  const ValueId x = write.x().value;
  const ValueId within = write.step("Clip", "within", {x, write.number("low", -1), write.number("high", 1)});
  const ValueId half =
      write.step("Mul", "half",
                 {write.step("Add", "plus", {within, write.number("one", 1)}), write.number("half", 0.5)});
  const ValueId above =
      write.step("Relu", "above", {write.step("Sub", "beyond", {x, write.number("one", 1)})});
  return write.result("Add", {write.step("Mul", "curve", {half, half}), above});
}

struct SimpleActivation {
  std::string_view name, op;
};

// Functions that are one ONNX operator without attributes.
constexpr std::array simple{
    SimpleActivation{"relu", "Relu"},         SimpleActivation{"sigmoid", "Sigmoid"},
    SimpleActivation{"tanh", "Tanh"},         SimpleActivation{"softplus", "Softplus"},
    SimpleActivation{"softsign", "Softsign"}, SimpleActivation{"exponential", "Exp"},
    SimpleActivation{"mish", "Mish"},
};

// The function `config` names; `config.class_name()` is "relu" as well as "ReLU".
KerasTensor apply(ActivationWriter& write, const LayerConfig& config) {
  const std::string& name = config.class_name();
  for (const SimpleActivation& item : simple) {
    if (item.name == name) return write.result(std::string(item.op), {write.x().value});
  }
  if (name == "linear") return write.result("Identity", {write.x().value});
  if (name == "relu6") return clip(write, write.x().value, 0, 6);
  if (name == "selu") {
    return write.result("Selu", {write.x().value}, {{"alpha", 1.67326324F}, {"gamma", 1.05070098F}});
  }
  if (name == "softmax") return softmax(write, "Softmax", -1);
  if (name == "log_softmax") return softmax(write, "LogSoftmax", -1);
  if (name == "swish" || name == "silu") return swish(write);
  if (name == "hard_sigmoid") return hard_sigmoid(write);
  if (name == "hard_swish" || name == "hard_silu") return hard_swish(write);
  if (name == "gelu") return gelu(write, config.flag("approximate", false));
  if (name == "elu" || name == "ELU") {
    return write.result("Elu", {write.x().value}, {{"alpha", config.single("alpha", 1)}});
  }
  if (name == "celu") return write.result("Celu", {write.x().value}, {{"alpha", 1.0F}});
  if (name == "hard_tanh") return clip(write, write.x().value, -1, 1);
  if (name == "hard_shrink") return shrink(write, 0);
  if (name == "soft_shrink") return shrink(write, 0.5F);
  if (name == "tanh_shrink") return tanh_shrink(write);
  if (name == "log_sigmoid") return log_sigmoid(write);
  if (name == "glu") return gated(write);
  if (name == "sparsemax") return sparsemax(write);
  if (name == "sparse_plus") return sparse_plus(write);
  if (name == "sparse_sigmoid")
    return write.result("HardSigmoid", {write.x().value}, {{"alpha", 0.5F}, {"beta", 0.5F}});
  if (name == "squareplus") return squareplus(write);
  if (name == "leaky_relu") return general_relu(write, 0.2, 0, {});
  if (name == "LeakyReLU")
    return general_relu(write, config.real("negative_slope", config.real("alpha", 0.3)), 0, {});
  if (name == "ThresholdedReLU") return general_relu(write, 0, config.real("theta", 1), {});
  if (name == "ReLU") return relu_layer(write, config);
  if (name == "Softmax" && config.integers("axis").size() > 1)
    return softmax_of_axes(write, config.integers("axis"));
  if (name == "Softmax") return softmax(write, "Softmax", config.integer("axis", -1));
  write.layer().unsupported(fmt::format("activation '{}'", name),
                            "use a built-in activation or export the model to ONNX");
}

bool is_linear(const LayerConfig& config) { return config.class_name() == "linear"; }

}  // namespace

std::string_view preact_suffix(const LayerBuilder& layer, const std::string& key) {
  return !layer.config().has(key) || is_linear(layer.config().child(key)) ? "" : "_preact";
}

KerasTensor activate(LayerBuilder& layer, const KerasTensor& x, const std::string& key) {
  if (preact_suffix(layer, key).empty()) return x;
  const LayerConfig function = layer.config().child(key);
  ActivationWriter write(layer, x, fmt::format("_{}", lower_case(function.class_name())));
  return apply(write, function);
}

}  // namespace assay::inline model

namespace assay::keras {

KerasTensors activation(LayerBuilder& layer, std::span<const KerasTensor> inputs) {
  if (!layer.config().has("activation")) layer.invalid("names no activation");
  ActivationWriter write(layer, layer.single(inputs), "");
  return {apply(write, layer.config().child("activation"))};
}

KerasTensors advanced_activation(LayerBuilder& layer, std::span<const KerasTensor> inputs) {
  if (layer.class_name() == "Softmax" && !layer.single(inputs).masked_by.empty()) {
    layer.unsupported(fmt::format("the mask of layer '{}'", inputs.front().masked_by),
                      "set its mask_zero to false");
  }
  ActivationWriter write(layer, layer.single(inputs), "");
  return {apply(write, layer.config())};
}

// f(x) = x for x > 0, alpha * x otherwise; alpha has the shape of a record, with 1 on shared axes.
KerasTensors parametric_relu(LayerBuilder& layer, std::span<const KerasTensor> inputs) {
  KerasTensor x = layer.single(inputs);
  if (x.layout == Layout::flattened) x = layer.as_keras(x);
  Shape shape(x.rank() - 1, 1);
  const auto shared = layer.config().integers("shared_axes");
  for (std::size_t axis = 1; axis < x.rank(); ++axis) {
    const bool is_shared = std::find(shared.begin(), shared.end(), axis) != shared.end();
    if (!is_shared) shape[axis - 1] = layer.known(x, axis);
  }
  Array alpha = layer.weight("alpha", shape);
  if (x.layout == Layout::channels_first) {
    std::vector<int> order{static_cast<int>(shape.size()) - 1};
    for (int i = 0; i + 1 < static_cast<int>(shape.size()); ++i) order.push_back(i);
    alpha = transposed(alpha, order);
  }
  return {x.with(layer.add("PRelu", "", {x.value, layer.constant("alpha", std::move(alpha))}, {}, ""))};
}

}  // namespace assay::keras
