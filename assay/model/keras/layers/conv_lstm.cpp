// ConvLSTM1D to 3D (Shi et al. 2015): an LSTM whose products are convolutions, written out step by step.

#include <algorithm>
#include <numeric>

#include "assay/model/keras/arrays.h"
#include "assay/model/keras/layers/layers.h"
#include "assay/model/keras/layers/window.h"

namespace assay::keras {
namespace {

constexpr std::int64_t most_steps = 1000;

class ConvolutionalLstm {
 public:
  explicit ConvolutionalLstm(LayerBuilder& layer)
      : layer_(layer),
        rank_(spatial_rank(layer.class_name())),
        filters_(layer.config().size("filters", 0)),
        first_(layer.channels_first_config()) {}

  KerasTensors build(std::span<const KerasTensor> inputs) {
    if (inputs.size() != 1 && inputs.size() != 3)
      layer_.invalid(
          fmt::format("is called with {} tensors; it takes its input, and two states", inputs.size()));
    const KerasTensor& input = inputs[0];
    if (!input.masked_by.empty())
      layer_.unsupported(fmt::format("the mask of layer '{}'", input.masked_by), "leave the mask out");
    if (layer_.config().flag("stateful", false)) layer_.notice("its state starts from zero for every batch");
    layer_.require_rank(input, rank_ + 3);
    const KerasTensor x = layer_.as_keras(input);
    const std::int64_t steps = layer_.known(x, 1);
    if (steps > most_steps)
      layer_.unsupported(fmt::format("{} steps", steps), fmt::format("use at most {}", most_steps));
    const Shape positions = products(x, steps);
    const bool backwards = layer_.config().flag("go_backwards", false);
    if (inputs.size() == 3) {
      h_ = state_of(inputs[1]);
      c_ = state_of(inputs[2]);
    }
    std::vector<ValueId> states;
    for (std::int64_t t = 0; t < steps; ++t) states.push_back(step(backwards ? steps - 1 - t : t, t));
    return results(x, steps, positions, states);
  }

 private:
  ValueId add(const char* op, const std::string& suffix, std::vector<ValueId> operands,
              std::map<std::string, Attribute> attributes = {}) {
    return layer_.add(op, suffix, std::move(operands), std::move(attributes), suffix);
  }

  // A state that is given, with the filters in front of the positions.
  ValueId state_of(const KerasTensor& state) {
    layer_.require_rank(state, rank_ + 2);
    return first_ ? layer_.as_keras(state).value : layer_.as_channels_first(state).value;
  }

  // A kernel [window..., in, out] as [out, in, window...].
  Array kernel(const char* label, const Shape& window, std::int64_t channels) {
    Shape shape = window;
    shape.insert(shape.end(), {channels, 4 * filters_});
    std::vector<int> order(rank_ + 2);
    order[0] = static_cast<int>(rank_) + 1;
    order[1] = static_cast<int>(rank_);
    std::iota(order.begin() + 2, order.end(), 0);
    return transposed(layer_.weight(label, shape), order);
  }

  ValueId channels_to_front(ValueId rows) {
    std::vector<std::int64_t> order(rank_ + 2, 0);
    std::iota(order.begin() + 2, order.end(), 1);
    order[1] = std::ssize(order) - 1;
    return add("Transpose", "_channels_first", {rows}, {{"perm", order}});
  }

  // The products of the inputs of all steps: [batch, steps, gates, positions...]. Gives the positions.
  Shape products(const KerasTensor& x, std::int64_t steps) {
    const std::size_t channels = first_ ? 2 : x.rank() - 1;
    Shape before(x.shape.begin() + 2, x.shape.end());
    before.erase(before.begin() + (channels - 2));
    const Window window{.size = layer_.config().sizes("kernel_size", rank_, 1),
                        .stride = layer_.config().sizes("strides", rank_, 1),
                        .dilation = layer_.config().sizes("dilation_rate", rank_, 1),
                        .padding = layer_.config().text("padding", "valid")};
    if (window.padding != "valid" && window.padding != "same")
      layer_.unsupported(fmt::format("padding '{}'", window.padding), "Keras has valid and same");
    std::vector<std::int64_t> folded{-1};
    for (std::size_t axis = 2; axis < x.rank(); ++axis) folded.push_back(layer_.known(x, axis));
    Shape positions = positions_after(layer_, before, window);
    const ValueId rows = add("Reshape", "_folded", {x.value, layer_.constant("folded", integers(folded))});
    std::vector<ValueId> operands{
        first_ ? rows : channels_to_front(rows),
        layer_.constant("kernel", kernel("kernel", window.size, layer_.known(x, channels)))};
    recurrent_ = layer_.constant("recurrent_kernel", kernel("recurrent_kernel", window.size, filters_));
    if (layer_.config().flag("use_bias", true))
      operands.push_back(layer_.constant("bias", layer_.weight("bias", {4 * filters_})));
    const ValueId together = layer_.add("Conv", "", operands, window_attributes(before, window), "_products");
    std::vector<std::int64_t> apart{-1, steps, 4 * filters_};
    apart.insert(apart.end(), positions.begin(), positions.end());
    products_ = add("Reshape", "_by_step", {together, layer_.constant("by_step", integers(apart))});
    const Window same{.size = window.size,
                      .stride = std::vector<std::int64_t>(rank_, 1),
                      .dilation = std::vector<std::int64_t>(rank_, 1),
                      .padding = "same"};
    recurrence_ = window_attributes(positions, same);
    return positions;
  }

  // The activation under `key` of a value, which stays the value where it is linear.
  ValueId function(const char* key, const char* otherwise, ValueId value, const std::string& suffix) {
    if (!layer_.config().has(key)) {
      return add(otherwise == std::string_view("tanh") ? "Tanh" : "HardSigmoid", suffix, {value},
                 otherwise == std::string_view("tanh")
                     ? std::map<std::string, Attribute>{}
                     : std::map<std::string, Attribute>{{"alpha", 0.2F}, {"beta", 0.5F}});
    }
    LayerBuilder part = layer_.inner_named(layer_.config(), suffix);
    KerasTensor x;
    x.value = value;
    x.shape = Shape(rank_ + 2, -1);
    x.layout = Layout::channels_first;
    return activate(part, x, key).value;
  }

  // The state h after the step at `place`, the `number`th to be computed.
  ValueId step(std::int64_t place, std::int64_t number) {
    const std::string name = fmt::format("_step{}", number);
    const ValueId at =
        layer_.constant(fmt::format("place_{}", place), Array::of(Shape{}, std::vector<std::int64_t>{place}));
    ValueId gates = add("Gather", name + "_input", {products_, at}, {{"axis", std::int64_t{1}}});
    if (h_ != no_value) {
      const ValueId recurrent = add("Conv", name + "_recurrent", {h_, recurrent_}, recurrence_);
      gates = add("Add", name + "_gates", {gates, recurrent});
    }
    const std::vector<std::string> names{name + "_i", name + "_f", name + "_c", name + "_o"};
    const std::vector<std::string_view> suffixes(names.begin(), names.end());
    const auto parts = layer_.add("Split", name + "_split", {gates},
                                  {{"axis", std::int64_t{1}}, {"num_outputs", std::int64_t{4}}}, suffixes);
    const auto gate = [&](std::size_t which, const char* label) {
      return function("recurrent_activation", "hard_sigmoid", parts[which], name + label);
    };
    const ValueId candidate = function("activation", "tanh", parts[2], name + "_candidate");
    const ValueId fresh = add("Mul", name + "_fresh", {gate(0, "_in"), candidate});
    c_ = c_ == no_value
             ? fresh
             : add("Add", name + "_cell", {add("Mul", name + "_kept", {gate(1, "_forget"), c_}), fresh});
    const ValueId shown = function("activation", "tanh", c_, name + "_shown");
    h_ = add("Mul", name + "_state", {gate(3, "_out"), shown});
    return h_;
  }

  KerasTensors results(const KerasTensor& x, std::int64_t steps, const Shape& positions,
                       const std::vector<ValueId>& states) {
    KerasTensor last = x.without_mask();
    // States are stored with the filters first: as Keras has them where they are first there as well.
    last.layout = first_ ? Layout::keras : Layout::channels_first;
    last.shape.assign(1, x.shape[0]);
    last.shape.insert(last.shape.end(), positions.begin(), positions.end());
    last.shape.insert(first_ ? last.shape.begin() + 1 : last.shape.end(), filters_);
    KerasTensor result = last;
    if (layer_.config().flag("return_sequences", false)) {
      // Channels first of [batch, steps, positions..., filters] is [batch, filters, steps, positions...].
      const std::int64_t place = first_ ? 1 : 2;
      std::vector<ValueId> rows;
      const ValueId axis = layer_.constant("steps_axis", integers({place}));
      for (const ValueId state : states) rows.push_back(add("Unsqueeze", "_row", {state, axis}));
      result.value = layer_.add("Concat", "_steps", rows, {{"axis", place}}, "");
      result.shape.insert(result.shape.begin() + 1, steps);
    } else {
      result.value = layer_.add("Identity", "_last", {states.back()}, {}, "");
    }
    KerasTensors outputs{result};
    if (layer_.config().flag("return_state", false)) {
      outputs.push_back(last.with(h_));
      outputs.push_back(last.with(c_));
    }
    return outputs;
  }

  LayerBuilder& layer_;
  std::size_t rank_;
  std::int64_t filters_;
  bool first_;  // Keras has the channels in front of the positions
  ValueId products_ = no_value, recurrent_ = no_value, h_ = no_value, c_ = no_value;
  std::map<std::string, Attribute> recurrence_;
};

}  // namespace

KerasTensors convolutional_lstm(LayerBuilder& layer, std::span<const KerasTensor> inputs) {
  return ConvolutionalLstm(layer).build(inputs);
}

}  // namespace assay::keras
