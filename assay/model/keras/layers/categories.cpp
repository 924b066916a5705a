// Layers that turn numbers into categories: Discretization, CategoryEncoding.

#include "assay/model/keras/arrays.h"
#include "assay/model/keras/layers/layers.h"

namespace assay::keras {
namespace {

constexpr std::int64_t as_real = 1, as_whole = 7;

ValueId add_named(LayerBuilder& layer, const char* op, const char* suffix, std::vector<ValueId> operands,
                  std::map<std::string, Attribute> attributes = {}) {
  return layer.add(op, suffix, std::move(operands), std::move(attributes), suffix);
}

// Numbers [batch, ...] from 0 as int, one_hot (an axis more, in the place of a last axis of size 1),
// multi_hot or count over the last axis.
KerasTensor encoded(LayerBuilder& layer, const KerasTensor& numbers, const std::string& mode,
                    std::int64_t count) {
  KerasTensor result = numbers.without_mask();
  result.dtype = DType::float32;
  const bool over_last = mode != "one_hot";
  if (mode != "one_hot" && mode != "multi_hot" && mode != "count")
    layer.unsupported(fmt::format("output_mode '{}'", mode), "use int, one_hot, multi_hot or count");
  ValueId value = numbers.value;
  if (!over_last && numbers.rank() > 1 && numbers.shape.back() == 1) {
    value = add_named(layer, "Squeeze", "_flat", {value, layer.constant("last", integers({-1}))});
    result.shape.pop_back();
  }
  const ValueId depth = layer.constant("tokens", integers({count}));
  const ValueId values = layer.constant("off_on", Array::of(Shape{2}, std::vector<float>{0, 1}));
  if (!over_last) {
    result.value = layer.add("OneHot", "", {value, depth, values}, {{"axis", std::int64_t{-1}}}, "");
    result.shape.push_back(count);
    return result;
  }
  const ValueId each =
      add_named(layer, "OneHot", "_each", {value, depth, values}, {{"axis", std::int64_t{-1}}});
  result.value =
      layer.add(mode == "count" ? "ReduceSum" : "ReduceMax", "",
                {each, layer.constant("before_last", integers({-2}))}, {{"keepdims", std::int64_t{0}}}, "");
  result.shape.back() = count;
  return result;
}

}  // namespace

// The number of boundaries that a value has reached.
KerasTensors discretization(LayerBuilder& layer, std::span<const KerasTensor> inputs) {
  const KerasTensor x = layer.as_keras(layer.single(inputs));
  const std::vector<double> list = layer.config().reals("bin_boundaries");
  if (list.empty()) layer.unsupported("a layer without boundaries", "adapt() it before the model is saved");
  const std::vector<float> boundaries(list.begin(), list.end());
  const auto count = static_cast<std::int64_t>(boundaries.size());
  const ValueId upright =
      add_named(layer, "Unsqueeze", "_upright", {x.value, layer.constant("last", integers({-1}))});
  ValueId number = x.dtype == DType::float32
                       ? upright
                       : add_named(layer, "Cast", "_numbers", {upright}, {{"to", as_real}});
  const ValueId reached =
      add_named(layer, "GreaterOrEqual", "_reached",
                {number, layer.constant("boundaries", Array::of(Shape{count}, boundaries))});
  const std::string mode = layer.config().text("output_mode", "int");
  const bool as_number = mode == "int";
  const ValueId ones = add_named(layer, "Cast", "_ones", {reached}, {{"to", as_whole}});
  const ValueId bin =
      layer.add("ReduceSum", as_number ? "" : "_bin", {ones, layer.constant("last", integers({-1}))},
                {{"keepdims", std::int64_t{0}}}, as_number ? "" : "_bin");
  KerasTensor result = x.with(bin).without_mask();
  result.dtype = DType::int64;
  if (as_number) return {result};
  return {encoded(layer, result, mode, count + 1)};
}

KerasTensors category_encoding(LayerBuilder& layer, std::span<const KerasTensor> inputs) {
  if (inputs.size() == 2) layer.unsupported("count_weights", "multiply behind the layer");
  KerasTensor x = layer.as_keras(layer.single(inputs));
  if (x.dtype != DType::int64) x.value = add_named(layer, "Cast", "_numbers", {x.value}, {{"to", as_whole}});
  return {encoded(layer, x, layer.config().text("output_mode", "multi_hot"),
                  layer.config().size("num_tokens", 0))};
}

}  // namespace assay::keras
