#include <nlohmann/json.hpp>

#include <memory>

#include "assay/model/keras/layers/layers.h"
#include "assay/model/keras/layers/operations/operations.h"

namespace assay::keras::operations {
namespace {

// An activation function, as the layer Activation has it in its config.
KerasTensors activated_as(Operation& call, const json& function) {
  const KerasTensor x = call.tensor(0, {"x", "features", "logits", "input"}).without_mask();
  LayerBuilder inner =
      call.layer().inner(LayerConfig("Activation", call.layer().config().where(),
                                     std::make_shared<const json>(json{{"activation", function}})));
  return activation(inner, std::span(&x, 1));
}

json with_config(const char* name, const char* key, const json& value) {
  return {{"class_name", name}, {"config", {{key, value}}}};
}

}  // namespace

KerasTensors activated(Operation& call, const char* name) { return activated_as(call, name); }

KerasTensors elu(Operation& call) {
  return activated_as(call, with_config("ELU", "alpha", call.number(1, {"alpha"}, 1)));
}

KerasTensors leaky_relu(Operation& call) {
  return activated_as(
      call, with_config("LeakyReLU", "negative_slope", call.number(1, {"negative_slope", "alpha"}, 0.2)));
}

KerasTensors gelu(Operation& call) {
  const bool keras3 = call.layer().config().class_name() == "Gelu";
  return activated_as(call, with_config("gelu", "approximate", call.flag(1, {"approximate"}, keras3)));
}

KerasTensors softmax(Operation& call) {
  return activated_as(call, with_config("Softmax", "axis", call.number(1, {"axis"}, -1)));
}

KerasTensors log_softmax(Operation& call) {
  if (call.number(1, {"axis"}, -1) != -1) call.layer().unsupported("an axis other than the last", "use -1");
  return activated(call, "log_softmax");
}

}  // namespace assay::keras::operations
