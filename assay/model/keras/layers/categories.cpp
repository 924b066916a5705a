// Layers that turn numbers into categories: Discretization, IntegerLookup, CategoryEncoding.

#include <algorithm>

#include "assay/model/keras/arrays.h"
#include "assay/model/keras/layers/layers.h"

namespace assay::keras {
namespace {

constexpr std::int64_t as_real = 1, as_whole = 7;

ValueId add_named(LayerBuilder& layer, const char* op, const char* suffix, std::vector<ValueId> operands,
                  std::map<std::string, Attribute> attributes = {}) {
  return layer.add(op, suffix, std::move(operands), std::move(attributes), suffix);
}

// Numbers [batch, ...] from 0 as int, one_hot (an axis more, instead of a last axis of size 1), multi_hot or
// count over the last axis.
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
  const auto count = std::ssize(boundaries);
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

namespace {

// The numbers that a lookup knows, without those that stand for masks and unknown numbers in front of them.
std::vector<std::int64_t> known_numbers(const LayerBuilder& layer, bool masked, std::int64_t unknown) {
  std::vector<std::int64_t> numbers = layer.config().integers("vocabulary");
  if (numbers.empty()) {
    layer.unsupported("a layer without a vocabulary in its config",
                      "give the vocabulary that adapt() found to a new layer");
  }
  if (unknown < std::ssize(numbers)) {
    std::vector<std::int64_t> special(unknown, layer.config().integer("oov_token", -1));
    if (masked) special.insert(special.begin(), layer.config().integer("mask_token", 0));
    const auto places = std::ssize(special);
    if (special.size() < numbers.size() && std::equal(special.begin(), special.end(), numbers.begin()))
      numbers.erase(numbers.begin(), numbers.begin() + places);
  }
  std::vector<std::int64_t> sorted = numbers;
  if (masked) sorted.push_back(layer.config().integer("mask_token", 0));
  std::sort(sorted.begin(), sorted.end());
  const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
  if (twice != sorted.end()) layer.invalid(fmt::format("its vocabulary has {} twice", *twice));
  return numbers;
}

struct Lookup {
  std::vector<std::int64_t> numbers, places;
  std::int64_t first_bucket = 0, buckets = 1;  // where unknown numbers go
};

ValueId found_or_bucket(LayerBuilder& layer, ValueId x, const Lookup& table, const char* suffix) {
  const ValueId last = layer.constant("last", integers({-1}));
  const std::map<std::string, Attribute> drop{{"keepdims", std::int64_t{0}}};
  const ValueId upright = add_named(layer, "Unsqueeze", "_upright", {x, last});
  const ValueId equal =
      add_named(layer, "Equal", "_equal", {upright, layer.constant("vocabulary", integers(table.numbers))});
  const ValueId ones = add_named(layer, "Cast", "_ones", {equal}, {{"to", as_whole}});
  const ValueId own =
      add_named(layer, "Mul", "_own", {ones, layer.constant("places", integers(table.places))});
  const ValueId place = add_named(layer, "ReduceSum", "_place", {own, last}, drop);
  const ValueId count = add_named(layer, "ReduceMax", "_count", {ones, last}, drop);
  const ValueId there = add_named(layer, "Cast", "_there", {count}, {{"to", std::int64_t{9}}});  // 9: bool
  const ValueId bucket =
      add_named(layer, "Mod", "_bucket", {x, layer.constant("unknown", integers({table.buckets}))});
  const ValueId beside = add_named(layer, "Add", "_beside",
                                   {bucket, layer.constant("first_unknown", integers({table.first_bucket}))});
  return layer.add("Where", suffix, {there, place, beside}, {}, suffix);
}

}  // namespace

// The place of a number in the vocabulary, after one for masked numbers and those for unknown ones.
KerasTensors integer_lookup(LayerBuilder& layer, std::span<const KerasTensor> inputs) {
  const LayerConfig& config = layer.config();
  const std::string mode = config.text("output_mode", "int");
  const bool as_number = mode == "int", masked = config.has("mask_token");
  const std::int64_t unknown = config.integer("num_oov_indices", 1);
  if (config.flag("invert", false)) layer.unsupported("invert", "look numbers up after the network");
  if (masked && !as_number) layer.unsupported("a mask_token that is left out", "use output_mode int");
  if (config.text("oov_method", "floormod") != "floormod")
    layer.unsupported("oov_method farmhash", "use floormod");
  if (unknown < 1) {
    layer.unsupported("num_oov_indices below 1, which stops Keras at unknown numbers",
                      "give unknown numbers a place of their own");
  }
  Lookup table{.numbers = known_numbers(layer, masked, unknown),
               .places = {},
               .first_bucket = masked ? 1 : 0,
               .buckets = unknown};
  for (std::size_t i = 0; i < table.numbers.size(); ++i)
    table.places.push_back(table.first_bucket + unknown + static_cast<std::int64_t>(i));
  if (masked) {
    table.numbers.push_back(config.integer("mask_token", 0));
    table.places.push_back(0);
  }
  KerasTensor x = layer.as_keras(layer.single(inputs)).without_mask();
  if (x.dtype != DType::int64) x.value = add_named(layer, "Cast", "_numbers", {x.value}, {{"to", as_whole}});
  x.dtype = DType::int64;
  const char* suffix = as_number ? "" : "_index";
  const KerasTensor result = x.with(found_or_bucket(layer, x.value, table, suffix));
  if (as_number) return {result};
  const auto size = std::ssize(table.numbers) + unknown;
  const bool padded = config.flag("pad_to_max_tokens", false);
  const std::int64_t wide = padded ? config.size("max_tokens", size) : size;
  if (wide < size) layer.invalid(fmt::format("has {} numbers where max_tokens is {}", size, wide));
  return {encoded(layer, result, mode, wide)};
}

KerasTensors category_encoding(LayerBuilder& layer, std::span<const KerasTensor> inputs) {
  if (inputs.size() == 2) layer.unsupported("count_weights", "multiply after the layer");
  KerasTensor x = layer.as_keras(layer.single(inputs));
  if (x.dtype != DType::int64) x.value = add_named(layer, "Cast", "_numbers", {x.value}, {{"to", as_whole}});
  return {encoded(layer, x, layer.config().text("output_mode", "multi_hot"),
                  layer.config().size("num_tokens", 0))};
}

}  // namespace assay::keras
