// LSTM, GRU, SimpleRNN, Bidirectional, TimeDistributed.

#include <algorithm>
#include <array>
#include <functional>
#include <limits>

#include "assay/model/keras/arrays.h"
#include "assay/model/keras/layers/layers.h"
#include "assay/model/keras/layers/recurrent_weights.h"

namespace assay::keras {
namespace {

const Cell& cell_of(const LayerBuilder& layer) {
  static const std::array cells{Cell{"LSTM", "LSTM", {0, 3, 1, 2}},  // Keras i f c o, ONNX i o f c
                                Cell{"GRU", "GRU", {0, 1, 2}},       // z r h in both
                                Cell{"SimpleRNN", "RNN", {0}}};
  for (const Cell& cell : cells) {
    if (cell.class_name == layer.class_name()) return cell;
  }
  layer.unsupported("this class inside a recurrent wrapper", "use LSTM, GRU or SimpleRNN");
}

struct CellActivation {
  std::string op;
  std::optional<float> alpha, beta;
};

CellActivation cell_activation(const LayerBuilder& layer, const char* key, const char* otherwise) {
  const std::string name = layer.config().has(key) ? layer.config().child(key).class_name() : otherwise;
  if (name == "tanh") return {"Tanh", {}, {}};
  if (name == "sigmoid") return {"Sigmoid", {}, {}};
  if (name == "relu") return {"Relu", {}, {}};
  if (name == "softsign") return {"Softsign", {}, {}};
  if (name == "softplus") return {"Softplus", {}, {}};
  if (name == "elu") return {"Elu", 1.0F, {}};
  if (name == "linear") return {"Affine", 1.0F, 0.0F};
  if (name == "hard_sigmoid") return {"HardSigmoid", layer.keras_major() >= 3 ? 1.0F / 6.0F : 0.2F, 0.5F};
  layer.unsupported(fmt::format("{} '{}'", key, name),
                    "use tanh, sigmoid, hard_sigmoid, relu, elu, softsign, softplus or linear");
}

// The attributes ONNX wants: one list of functions a direction, then their parameters in order.
void add_activations(std::span<const LayerBuilder> directions, const Cell& cell,
                     std::map<std::string, Attribute>& attributes) {
  std::vector<std::string> names;
  std::vector<float> alphas, betas;
  for (const LayerBuilder& layer : directions) {
    const CellActivation gate = cell_activation(layer, "recurrent_activation", "hard_sigmoid");
    const CellActivation out = cell_activation(layer, "activation", "tanh");
    std::vector<CellActivation> functions;
    if (cell.op == "RNN") functions = {out};
    if (cell.op == "GRU") functions = {gate, out};
    if (cell.op == "LSTM") functions = {gate, out, out};
    for (const CellActivation& function : functions) {
      names.push_back(function.op);
      if (function.alpha) alphas.push_back(*function.alpha);
      if (function.beta) betas.push_back(*function.beta);
    }
  }
  attributes["activations"] = names;
  if (!alphas.empty()) attributes["activation_alpha"] = alphas;
  if (!betas.empty()) attributes["activation_beta"] = betas;
}

// One translation for one direction or two.
class Recurrent {
 public:
  // A direction is its cell and config; two are those of Bidirectional, with `merge` the way to combine them.
  Recurrent(std::vector<LayerBuilder> directions, std::string merge)
      : directions_of_(std::move(directions)),
        layer_(directions_of_.front()),
        cell_(cell_of(layer_)),
        directions_(directions_of_.size()),
        apart_(merge == "none"),
        merge_(apart_ ? "concat" : std::move(merge)) {}

  KerasTensors build(std::span<const KerasTensor> inputs) {
    if (inputs.empty()) layer_.invalid("is called without tensors");
    const KerasTensor x = layer_.as_keras(inputs[0]);
    layer_.require_rank(x, 3);
    units_ = layer_.config().size("units", 0);
    backwards_ = layer_.config().flag("go_backwards", false);
    sequences_ = layer_.config().flag("return_sequences", false);
    if (backwards_ && directions_ == 2)
      layer_.unsupported("go_backwards inside Bidirectional", "leave it out");
    // Keras 2.4 and newer give zeros where a step of both directions is masked.
    const bool old = sequences_ && directions_ == 2 &&
                     (layer_.keras_major() < 2 || (layer_.keras_major() == 2 && layer_.keras_minor() < 4));
    if (!x.masked_by.empty() && (x.mask == no_value || old)) {
      layer_.unsupported(
          fmt::format("the mask of layer '{}'{}", x.masked_by,
                      old ? " where the steps of both directions are returned by Keras before 2.4" : ""),
          "set its mask_zero to false and train again, or pad so that no mask is needed");
    }
    zeros_ = layer_.config().flag("zero_output_for_mask", false) || directions_ == 2;
    if (layer_.config().flag("stateful", false)) layer_.notice("its state starts from zero for every batch");
    run(x, inputs.subspan(1));
    KerasTensors outputs{sequences_ ? all_steps(x) : last_step(x)};
    if (apart_) outputs = parted(outputs[0]);
    if (layer_.config().flag("return_state", false)) states(x, outputs);
    return outputs;
  }

 private:
  // The ONNX node: y_ [time, directions, batch, units], h_ and c_ [directions, batch, units].
  void run(const KerasTensor& x, std::span<const KerasTensor> initial) {
    const std::int64_t features = layer_.known(x, 2);
    const auto gates = std::ssize(cell_.order);
    const bool reset_after = cell_.op == "GRU" && layer_.config().flag("reset_after", false);
    RecurrentWeights weights;
    for (std::size_t d = 0; d < directions_; ++d)
      read_direction(layer_, cell_, features, units_, reset_after, weights);
    const std::int64_t d = directions_;
    std::vector<ValueId> operands{
        layer_.add("Transpose", "_time_first", {x.mask == no_value ? x.value : counted_first(x)},
                   {{"perm", std::vector<std::int64_t>{1, 0, 2}}}, "_time_first"),
        layer_.constant("kernel", Array::of(Shape{d, gates * units_, features}, weights.input)),
        layer_.constant("recurrent_kernel", Array::of(Shape{d, gates * units_, units_}, weights.recurrent)),
        weights.biased ? bias(weights, d, reset_after ? 2 * gates * units_ : gates * units_) : no_value};
    const bool masked = x.mask != no_value;
    if (masked || !initial.empty()) operands.push_back(masked ? lengths(x) : no_value);
    add_states(initial, operands);
    std::map<std::string, Attribute> attributes{{"hidden_size", units_},
                                                {"direction", std::string(directions_ == 2 ? "bidirectional"
                                                                          : backwards_     ? "reverse"
                                                                                           : "forward")}};
    if (cell_.op == "GRU") attributes["linear_before_reset"] = std::int64_t{reset_after};
    add_activations(directions_of_, cell_, attributes);
    std::vector<std::string_view> names{"_steps", "_last"};
    if (cell_.op == "LSTM") names.emplace_back("_cell");
    const auto outputs = layer_.add(std::string(cell_.op), "", operands, attributes, names);
    y_ = outputs[0];
    h_ = outputs[1];
    if (outputs.size() > 2) c_ = outputs[2];
  }

  ValueId step(const char* op, const char* suffix, std::vector<ValueId> operands,
               std::map<std::string, Attribute> attributes = {}) {
    return layer_.add(op, suffix, std::move(operands), std::move(attributes), suffix);
  }

  // Steps that are masked leave the state as it is, so that a cell may as well see the others alone. They
  // come first, in their order; steps after them are beyond lengths().
  ValueId counted_first(const KerasTensor& x) {
    const ValueId time =
        layer_.constant("time_axis_number", Array::of(Shape{}, std::vector<std::int64_t>{1}));
    const std::map<std::string, Attribute> exclusive{{"exclusive", std::int64_t{1}}};
    const auto upright = [&](const char* suffix, ValueId value, std::int64_t axis) {
      return step("Unsqueeze", suffix,
                  {value, layer_.constant(fmt::format("axis_{}", axis), integers({axis}))});
    };
    const auto cast = [&](const char* suffix, ValueId value, std::int64_t type) {
      return step("Cast", suffix, {value}, {{"to", type}});
    };
    constexpr std::int64_t real = 1, whole = 7, truth = 9;
    // Step t is number `before` among those that count: place j takes it where the two are equal.
    const ValueId before = step("CumSum", "_before", {x.mask, time}, exclusive);
    const ValueId ones = cast("_ones", step("Equal", "_any", {x.mask, x.mask}), whole);
    const ValueId places = step("CumSum", "_places", {ones, time}, exclusive);
    const ValueId there =
        step("And", "_taken",
             {step("Equal", "_there",
                   {upright("_before_upright", before, 1), upright("_places_upright", places, 2)}),
              cast("_counts", upright("_mask_upright", x.mask, 1), truth)});
    const ValueId from =
        step("ArgMax", "_from", {cast("_taken_real", there, real)}, {{"axis", std::int64_t{2}}});
    return step("GatherND", "_counted_first", {x.value, from}, {{"batch_dims", std::int64_t{1}}});
  }

  ValueId lengths(const KerasTensor& x) {
    const ValueId sum = step("ReduceSum", "_counted", {x.mask, layer_.constant("steps_axis", integers({1}))},
                             {{"keepdims", std::int64_t{0}}});
    return step("Cast", "_lengths", {sum}, {{"to", std::int64_t{6}}});  // 6: int32
  }

  // Steps [batch, steps, width] where they were. One that is masked gives zeros, or repeats what was computed
  // before it, zeros at first.
  ValueId put_back(ValueId steps, const KerasTensor& x, const char* suffix) {
    const ValueId time =
        layer_.constant("time_axis_number", Array::of(Shape{}, std::vector<std::int64_t>{1}));
    const auto upright = [&](const char* name, ValueId value) {
      return step("Unsqueeze", name, {value, layer_.constant("axis_2", integers({2}))});
    };
    // The place of a step that counts is the number of those before it. A backward direction computes the
    // next one that counts before a step that does not.
    const bool next = zeros_ || backwards_;
    const ValueId at =
        upright("_at", next ? step("CumSum", "_before_each", {x.mask, time}, {{"exclusive", std::int64_t{1}}})
                            : step("CumSum", "_so_far", {x.mask, time}));
    const Array pads = next ? integers({0, 0, 0, 0, 1, 0}) : integers({0, 1, 0, 0, 0, 0});
    const ValueId padded = step("Pad", "_beside_zeros", {steps, layer_.constant("zeros", pads)},
                                {{"mode", std::string("constant")}});
    const std::map<std::string, Attribute> by_record{{"batch_dims", std::int64_t{1}}};
    if (!zeros_) return layer_.add("GatherND", "_put_back", {padded, at}, by_record, suffix);
    const ValueId counts =
        step("Cast", "_step_counts", {upright("_step_upright", x.mask)}, {{"to", std::int64_t{1}}});
    const ValueId placed = step("GatherND", "_placed", {padded, at}, by_record);
    return layer_.add("Mul", "_put_back", {placed, counts}, {}, suffix);
  }

  // ONNX has a bias for the input and one for the recurrent part. Where Keras has one for both, constant
  // zeros stand in for the other.
  ValueId bias(const RecurrentWeights& weights, std::int64_t directions, std::int64_t width) {
    const ValueId own = layer_.constant("bias", Array::of(Shape{directions, width}, weights.bias));
    const std::int64_t missing = 2 * std::ssize(cell_.order) * units_ - width;
    if (missing == 0) return own;
    return layer_.add("Pad", "_biases", {own, layer_.constant("bias_pads", integers({0, 0, 0, missing}))},
                      {{"mode", std::string("constant")}}, "_biases");
  }

  // Initial states given as further inputs: h, and c for an LSTM, of each direction.
  void add_states(std::span<const KerasTensor> initial, std::vector<ValueId>& operands) {
    if (initial.empty()) return;
    const std::size_t kinds = cell_.op == "LSTM" ? 2 : 1, wanted = kinds * directions_;
    if (initial.size() != wanted)
      layer_.invalid(fmt::format("is given {} initial states instead of {}", initial.size(), wanted));
    const ValueId axis = layer_.constant("direction_axis", integers({0}));
    for (std::size_t kind = 0; kind < kinds; ++kind) {
      std::vector<ValueId> states;
      for (std::size_t d = 0; d < directions_; ++d) {
        const KerasTensor& state = initial[d * kinds + kind];
        layer_.require_rank(state, 2);
        states.push_back(
            layer_.add("Unsqueeze", "_initial", {layer_.as_keras(state).value, axis}, {}, "_initial"));
      }
      operands.push_back(directions_ == 1 ? states[0]
                                          : layer_.add("Concat", "_initials", states,
                                                       {{"axis", std::int64_t{0}}}, "_initials"));
    }
  }

  // [..., directions, units] to [..., width].
  ValueId combine(ValueId value, std::int64_t axis, const char* suffix) {
    std::vector<std::int64_t> shape(static_cast<std::size_t>(axis), 0);
    if (directions_ == 1 || merge_ == "concat") {
      shape.push_back(width());
      return layer_.add("Reshape", "_output", {value, layer_.constant("output_shape", integers(shape))}, {},
                        suffix);
    }
    const char* op = merge_ == "sum" ? "ReduceSum" : merge_ == "ave" ? "ReduceMean" : "ReduceProd";
    return layer_.add(op, "_output", {value, layer_.constant("directions", integers({axis}))},
                      {{"keepdims", std::int64_t{0}}}, suffix);
  }

  std::int64_t width() const {
    return merge_ == "concat" ? units_ * static_cast<std::int64_t>(directions_) : units_;
  }

  KerasTensor all_steps(const KerasTensor& x) {
    const bool masked = x.mask != no_value;
    ValueId steps = y_;
    if (backwards_ && !masked) steps = in_order_computed(steps, 0, "_computed");
    const std::vector<std::int64_t> order{2, 0, 1, 3};
    const ValueId batch_first =
        layer_.add("Transpose", "_batch_first", {steps}, {{"perm", order}}, "_batch_first");
    ValueId combined = combine(batch_first, 2, masked ? "_counted_steps" : "");
    if (masked) combined = put_back(combined, x, backwards_ ? "_put_back" : "");
    if (masked && backwards_) combined = in_order_computed(combined, 1, "");
    KerasTensor result = x.with(combined);
    result.shape = {x.shape[0], x.shape[1], width()};
    return result;
  }

  // Reversed steps: Keras keeps the order in which they were computed.
  ValueId in_order_computed(ValueId steps, std::int64_t axis, const char* suffix) {
    return layer_.add(
        "Slice", "_computed",
        {steps, layer_.constant("first", integers({-1})),
         layer_.constant("beyond", integers({std::numeric_limits<std::int64_t>::min()})),
         layer_.constant("time_axis", integers({axis})), layer_.constant("step", integers({-1}))},
        {}, suffix);
  }

  KerasTensor last_step(const KerasTensor& x) {
    const std::vector<std::int64_t> order{1, 0, 2};
    const ValueId batch_first =
        layer_.add("Transpose", "_batch_first", {h_}, {{"perm", order}}, "_batch_first");
    KerasTensor result = x.with(combine(batch_first, 1, "")).without_mask();
    result.shape = {x.shape[0], width()};
    return result;
  }

  // The directions apart, as merge_mode None gives them.
  KerasTensors parted(const KerasTensor& both) {
    const std::array<std::string_view, 2> names{"_forward", "_backward"};
    const auto parts = layer_.add("Split", "_split", {both.value},
                                  {{"axis", std::int64_t{-1}}, {"num_outputs", std::int64_t{2}}}, names);
    KerasTensors result{both.with(parts[0]), both.with(parts[1])};
    for (KerasTensor& one : result) one.shape.back() = units_;
    return result;
  }

  // return_state: the last h (and c) as further outputs, of the forward direction before the other.
  void states(const KerasTensor& x, KerasTensors& outputs) {
    const ValueId axis = layer_.constant("direction_axis", integers({0}));
    std::vector<std::pair<ValueId, std::string>> list{{h_, "_state_h"}};
    if (cell_.op == "LSTM") list.emplace_back(c_, "_state_c");
    for (std::size_t d = 0; d < directions_; ++d) {
      for (const auto& [value, name] : list) {
        KerasTensor state = x.without_mask();
        if (directions_ == 1) {
          state.value = layer_.add("Squeeze", name, {value, axis}, {}, name);
        } else {
          const std::string own = name + (d == 0 ? "_forward" : "_backward");
          const ValueId number =
              layer_.constant(fmt::format("direction_{}", d),
                              Array::of(Shape{}, std::vector<std::int64_t>{static_cast<std::int64_t>(d)}));
          state.value = layer_.add("Gather", own, {value, number}, {{"axis", std::int64_t{0}}}, own);
        }
        state.shape = {x.shape[0], units_};
        outputs.push_back(state);
      }
    }
  }

  std::vector<LayerBuilder> directions_of_;
  LayerBuilder& layer_;
  const Cell& cell_;
  std::size_t directions_;
  bool apart_;
  std::string merge_;
  std::int64_t units_ = 0;
  bool backwards_ = false, sequences_ = false;
  bool zeros_ = false;  // where a step is masked; otherwise what was before
  ValueId y_ = no_value, h_ = no_value, c_ = no_value;
};

// A layer of one cell, which RNN has apart from itself.
LayerConfig single_cell(const LayerConfig& config) {
  return config.class_name() == "RNN" ? config.cells().front() : config;
}

// The layer that goes backwards: one of its own where the config has one, else like the other. One node
// computes both, so they may differ in their activations only.
LayerBuilder backward_of(LayerBuilder& layer, const LayerBuilder& forward) {
  if (!layer.config().has("backward_layer")) return forward;
  LayerBuilder backward = layer.inner(single_cell(layer.config().child("backward_layer")));
  const LayerConfig &a = forward.config(), &b = backward.config();
  const auto refuse = [&](const std::string& what) {
    layer.unsupported(fmt::format("a backward_layer that differs in {}", what),
                      "make both directions alike but for their activations, or export the model to ONNX");
  };
  if (a.class_name() != b.class_name()) {
    refuse(fmt::format("its class ({} and {})", a.class_name(), b.class_name()));
  }
  if (a.size("units", 0) != b.size("units", 0)) {
    refuse(fmt::format("units ({} and {})", a.size("units", 0), b.size("units", 0)));
  }
  const std::pair<const char*, bool> flags[] = {
      {"use_bias", true}, {"reset_after", false}, {"return_sequences", false}, {"return_state", false}};
  for (const auto& [key, otherwise] : flags) {
    if (a.flag(key, otherwise) != b.flag(key, otherwise)) refuse(key);
  }
  if (!a.flag("go_backwards", false) && !b.flag("go_backwards", true))
    layer.invalid("its backward_layer goes forward");
  return backward;
}

}  // namespace

KerasTensors recurrent(LayerBuilder& layer, std::span<const KerasTensor> inputs) {
  return Recurrent({layer}, "concat").build(inputs);
}

KerasTensors bidirectional(LayerBuilder& layer, std::span<const KerasTensor> inputs) {
  const std::string merge = layer.config().text("merge_mode", "none");
  if (merge != "concat" && merge != "sum" && merge != "ave" && merge != "mul" && merge != "none") {
    layer.unsupported(fmt::format("merge_mode '{}'", merge), "use concat, sum, ave, mul or None");
  }
  const LayerConfig config = layer.config().child("layer");
  if (config.class_name().starts_with("ConvLSTM"))
    return bidirectional_layers(layer, inputs, config, merge, convolutional_lstm);
  if (config.class_name() == "RNN" && config.cells().size() > 1)
    return bidirectional_layers(layer, inputs, config, merge, recurrent_cells);
  const LayerBuilder forward = layer.inner(single_cell(config));
  return Recurrent({forward, backward_of(layer, forward)}, merge).build(inputs);
}

KerasTensors each_step(LayerBuilder& layer, std::span<const KerasTensor> inputs,
                       const std::function<KerasTensors(const KerasTensor&)>& apply) {
  const KerasTensor x = layer.as_keras(layer.single(inputs));
  if (x.rank() < 3) layer.invalid("its input has no steps");
  const Shape outer = x.shape;
  std::vector<std::int64_t> folded{-1};
  for (std::size_t axis = 2; axis < x.rank(); ++axis) folded.push_back(layer.known(x, axis));
  const std::int64_t steps = layer.known(x, 1);
  KerasTensor one = x.without_mask().with(
      layer.add("Reshape", "_folded", {x.value, layer.constant("folded", integers(folded))}, {}, "_folded"));
  one.shape = folded;
  const KerasTensors results = apply(one);
  if (results.size() != 1) layer.unsupported("an inner layer with several outputs", "use one output");
  KerasTensor result = layer.as_keras(results.front());
  std::vector<std::int64_t> unfolded{-1, steps};
  for (std::size_t axis = 1; axis < result.rank(); ++axis) unfolded.push_back(layer.known(result, axis));
  result.value = layer.add("Reshape", "_unfolded",
                           {result.value, layer.constant("unfolded", integers(unfolded))}, {}, "");
  result.shape = unfolded;
  result.shape[0] = outer[0];
  result.masked_by = x.masked_by;
  result.mask = x.mask;
  return {result};
}

// Applies a layer to every step. Dense does so by itself.
KerasTensors time_distributed(LayerBuilder& layer, std::span<const KerasTensor> inputs) {
  const LayerConfig config = layer.config().child("layer");
  if (config.class_name() == "Dense" && layer.single(inputs).rank() >= 3) {
    LayerBuilder inner = layer.inner(config);
    const KerasTensor x = layer.as_keras(inputs[0]);
    return dense(inner, std::span(&x, 1));
  }
  const BuildLayer build = find_keras_layer(config);
  // Keras hands the mask to layers that take one, without the steps.
  constexpr std::array takes{
      "LSTM", "GRU", "SimpleRNN", "RNN", "Bidirectional", "Softmax", "GlobalAveragePooling1D"};
  if (!layer.single(inputs).masked_by.empty() && std::ranges::find(takes, config.class_name()) != takes.end())
    layer.unsupported(fmt::format("the mask of layer '{}'", inputs[0].masked_by),
                      "set its mask_zero to false");
  return each_step(layer, inputs, [&](const KerasTensor& one) {
    LayerBuilder step = layer.inner_named(config, "_step");
    return build(step, std::span(&one, 1));
  });
}

// Layers that augment or prepare data, one after the other.
KerasTensors pipeline(LayerBuilder& layer, std::span<const KerasTensor> inputs) {
  const std::vector<LayerConfig> parts = layer.config().children("layers");
  if (parts.empty()) return identity(layer, inputs);
  KerasTensors x(inputs.begin(), inputs.end());
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const BuildLayer build = find_keras_layer(parts[i]);
    LayerBuilder one = i + 1 < parts.size() ? layer.inner_named(parts[i], fmt::format("_layer{}", i))
                                            : layer.inner(parts[i]);
    x = build(one, x);
  }
  return x;
}

}  // namespace assay::keras
