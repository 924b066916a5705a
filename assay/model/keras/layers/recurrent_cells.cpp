// Cells on top of each other: RNN of StackedRNNCells; and two directions that are layers apart.

#include <nlohmann/json.hpp>

#include <limits>
#include <memory>

#include "assay/model/keras/arrays.h"
#include "assay/model/keras/layers/layers.h"

namespace assay::keras {
namespace {

// The steps of a backward direction, which Keras computes from the last one, in the order of the others.
KerasTensor turned_round(LayerBuilder& layer, const KerasTensor& steps) {
  return steps.with(layer.add("Slice", "_turned",
                              {steps.value, layer.constant("first", integers({-1})),
                               layer.constant("beyond", integers({std::numeric_limits<std::int64_t>::min()})),
                               layer.constant("time_axis", integers({stored_axis(steps, 1)})),
                               layer.constant("step", integers({-1}))},
                              {}, "_turned"));
}

// The same layer in the other direction.
LayerConfig backwards(const LayerConfig& layer, const nlohmann::json& written) {
  nlohmann::json config = written["config"];
  config["go_backwards"] = true;
  return {layer.class_name(), layer.where(), std::make_shared<const nlohmann::json>(std::move(config))};
}

KerasTensors merged(LayerBuilder& layer, const KerasTensors& directions, const std::string& mode) {
  LayerBuilder merge =
      layer.inner(LayerConfig("Concatenate", layer.config().where(),
                              std::make_shared<const nlohmann::json>(nlohmann::json{{"axis", -1}})));
  if (mode == "concat") return concatenate(merge, directions);
  if (mode == "sum") return add(merge, directions);
  return mode == "ave" ? average(merge, directions) : multiply(merge, directions);
}

}  // namespace

// Cells on top of each other are layers on top of each other.
KerasTensors recurrent_cells(LayerBuilder& layer, std::span<const KerasTensor> inputs) {
  const std::vector<LayerConfig> cells = layer.config().cells();
  if (cells.size() == 1) {
    LayerBuilder only = layer.inner(cells[0]);
    return recurrent(only, inputs);
  }
  if (inputs.size() != 1) layer.unsupported("an initial state of several cells", "let it start from zero");
  if (!inputs[0].masked_by.empty() && cells[0].flag("go_backwards", false))
    layer.unsupported(fmt::format("the mask of layer '{}'", inputs[0].masked_by),
                      "set its mask_zero to false");
  KerasTensors x(inputs.begin(), inputs.end()), states;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    LayerBuilder one =
        i + 1 < cells.size() ? layer.inner_named(cells[i], fmt::format("_cell{}", i)) : layer.inner(cells[i]);
    KerasTensors results = recurrent(one, x);
    states.insert(states.end(), results.begin() + 1, results.end());
    x.assign(1, results[0]);
  }
  x.insert(x.end(), states.begin(), states.end());
  return x;
}

// Each direction is built alone; they meet at their ends, in front of the states of both.
KerasTensors bidirectional_layers(LayerBuilder& layer, std::span<const KerasTensor> inputs,
                                  const LayerConfig& config, const std::string& merge, BuildLayer build) {
  if (inputs.size() != 1) layer.unsupported("an initial state of these layers", "let it start from zero");
  if (config.flag("go_backwards", false))
    layer.unsupported("go_backwards inside Bidirectional", "leave it out");
  if (!inputs[0].masked_by.empty())
    layer.unsupported(fmt::format("the mask of layer '{}'", inputs[0].masked_by),
                      "set its mask_zero to false");
  const char* key = layer.config().has("backward_layer") ? "backward_layer" : "layer";
  const LayerConfig other = layer.config().child(key);
  if (other.class_name() != config.class_name())
    layer.unsupported("a backward_layer of another class", "make both directions alike");
  LayerBuilder forward = layer.inner_named(config, "_forward");
  LayerBuilder backward = layer.inner_named(backwards(other, layer.config().value(key)), "_backward");
  const KerasTensors there = build(forward, inputs), back = build(backward, inputs);
  KerasTensors directions{there[0], back[0]};
  if (directions[0].rank() != directions[1].rank())
    layer.invalid("one of its directions returns all steps, the other the last one");
  if (config.flag("return_sequences", false)) directions[1] = turned_round(layer, directions[1]);
  KerasTensors results = merge == "none" ? directions : merged(layer, directions, merge);
  results.insert(results.end(), there.begin() + 1, there.end());
  results.insert(results.end(), back.begin() + 1, back.end());
  return results;
}

}  // namespace assay::keras
