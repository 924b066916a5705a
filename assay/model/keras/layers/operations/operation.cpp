#include "assay/model/keras/layers/operations/operation.h"

#include <nlohmann/json.hpp>

#include <algorithm>

#include "assay/model/keras/arrays.h"

namespace assay::keras::operations {
namespace {

// Other names of the same functions.
std::string usual_name(const std::string& name) {
  static const std::map<std::string, std::string> same{{"abs", "absolute"},
                                                       {"add_v2", "add"},
                                                       {"clip_by_value", "clip"},
                                                       {"concat", "concatenate"},
                                                       {"convert_to_tensor", "identity"},
                                                       {"div", "divide"},
                                                       {"eq", "equal"},
                                                       {"getitem", "get_item"},
                                                       {"hard_swish", "hard_silu"},
                                                       {"mul", "multiply"},
                                                       {"ne", "not_equal"},
                                                       {"neg", "negative"},
                                                       {"pow", "power"},
                                                       {"re_lu", "relu"},
                                                       {"re_lu6", "relu6"},
                                                       {"reduce_all", "all"},
                                                       {"reduce_any", "any"},
                                                       {"reduce_logsumexp", "logsumexp"},
                                                       {"reduce_max", "max"},
                                                       {"reduce_mean", "mean"},
                                                       {"reduce_min", "min"},
                                                       {"reduce_prod", "prod"},
                                                       {"reduce_sum", "sum"},
                                                       {"stop_gradient", "identity"},
                                                       {"sub", "subtract"},
                                                       {"swish", "silu"},
                                                       {"true_divide", "divide"},
                                                       {"truediv", "divide"}};
  const auto it = same.find(name);
  return it == same.end() ? name : it->second;
}

std::string operation_name(const LayerConfig& config) {
  const std::string& kind = config.class_name();
  if (kind != "TFOpLambda" && kind != "SlicingOpLambda") return usual_name(keras_snake_case(kind));
  const std::string function = config.text("function", "");
  return usual_name(function.substr(function.rfind('.') + 1));
}

bool is_tensor(const json& value) { return value.is_object() && value.contains("tensor"); }

}  // namespace

Operation::Operation(LayerBuilder& layer, std::span<const KerasTensor> inputs)
    : layer_(layer), inputs_(inputs), name_(operation_name(layer.config())) {
  static const json empty = json::object();
  arguments_ = layer.call().arguments ? layer.call().arguments.get() : &empty;
}

const json& Operation::argument(std::size_t place, Keys names) const {
  static const json nothing;
  const json& places = part("args");
  if (place < places.size()) return places[place];
  for (const char* name : names) {
    const json& named = part("kwargs");
    if (named.is_object() && named.contains(name)) return named[name];
    if (const json& value = layer_.config().value(name); !value.is_null()) return value;
  }
  return nothing;
}

bool Operation::flag(std::size_t place, Keys names, bool otherwise) const {
  const json& value = argument(place, names);
  return value.is_boolean() ? value.get<bool>() : otherwise;
}

double Operation::number(std::size_t place, Keys names, double otherwise) const {
  const json& value = argument(place, names);
  if (value.is_null()) return otherwise;
  const Array array = constant(value, false);
  if (array.count() != 1) layer_.invalid("an argument that is one number is a list");
  return array.as<float>()[0];
}

std::optional<std::vector<std::int64_t>> Operation::whole_numbers(std::size_t place, Keys names) const {
  const json& value = bare(argument(place, names));
  if (value.is_null()) return std::nullopt;
  std::vector<std::int64_t> result;
  for (const json& item : value.is_array() ? value : json::array({value})) {
    if (!item.is_number_integer() && !item.is_null())
      layer_.unsupported("an argument that is computed", "use fixed sizes");
    result.push_back(item.is_null() ? -1 : item.get<std::int64_t>());
  }
  return result;
}

std::optional<std::int64_t> Operation::whole_number(std::size_t place, Keys names) const {
  const auto numbers = whole_numbers(place, names);
  return numbers && numbers->size() == 1 ? std::optional(numbers->front()) : std::nullopt;
}

std::vector<std::int64_t> Operation::axes(std::size_t place, const KerasTensor& x) const {
  const auto given = whole_numbers(place, {"axis", "axes"});
  if (!given) layer_.unsupported("reducing over all records", "name the axes");
  std::vector<std::int64_t> result;
  for (const auto axis : *given) result.push_back(own_axis(axis, x.rank()));
  std::sort(result.begin(), result.end());
  if (std::ranges::adjacent_find(result) != result.end()) layer_.invalid("names an axis twice");
  return result;
}

std::int64_t Operation::one_axis(std::size_t place, std::size_t rank) const {
  const auto axis = whole_number(place, {"axis"});
  if (!axis) layer_.unsupported("working along all axes or several", "name one axis");
  return own_axis(*axis, rank);
}

std::int64_t Operation::times(std::int64_t size, std::int64_t count) const {
  if (count < 1 || count > longest_axis / std::max<std::int64_t>(size, 1))
    layer_.invalid(fmt::format("repeats {} positions {} times", size, count));
  return size < 0 ? size : size * count;
}

std::int64_t Operation::own_axis(std::int64_t axis, std::size_t rank) const {
  const std::size_t found = layer_.keras_axis(axis, rank);
  if (found == 0) layer_.unsupported("an operation along the batch axis", "leave records apart");
  return found;
}

KerasTensor Operation::tensor(std::size_t place, Keys names) const {
  const json& value = argument(place, names);
  if (!is_tensor(value)) layer_.invalid(fmt::format("its argument {} is not a tensor", place + 1));
  return tensor_of(value);
}

KerasTensor Operation::first() {
  return layer_.as_keras(tensor(0, {"x", "a", "input", "inputs", "features", "logits", "tensor", "values"}))
      .without_mask();
}

KerasTensors Operation::tensors(std::size_t place, Keys names) const {
  const json& value = bare(argument(place, names));
  KerasTensors result;
  if (is_tensor(value)) return {tensor_of(value)};
  for (const json& item : value) {
    if (!is_tensor(item)) layer_.unsupported("a list with constants", "join tensors only");
    result.push_back(tensor_of(item));
  }
  if (result.empty()) layer_.invalid("is called without tensors");
  return result;
}

Operand Operation::operand(std::size_t place, Keys names) const {
  const json& value = argument(place, names);
  if (is_tensor(value)) return {.constant = false, .tensor = tensor_of(value), .array = {}};
  if (value.is_null()) layer_.invalid(fmt::format("has no argument {}", place + 1));
  return {.constant = true, .tensor = {}, .array = constant(value, true)};
}

ValueId Operation::step(const char* op, const std::string& suffix, std::vector<ValueId> operands,
                        std::map<std::string, Attribute> attributes) {
  return layer_.add(op, suffix, std::move(operands), std::move(attributes), suffix);
}

KerasTensor Operation::result(const KerasTensor& like, const char* op, std::vector<ValueId> operands,
                              std::map<std::string, Attribute> attributes) {
  return like.without_mask().with(layer_.add(op, "", std::move(operands), std::move(attributes), ""));
}

ValueId Operation::list(const char* name, const std::vector<std::int64_t>& values) {
  return layer_.constant(name, integers(values));
}

const json& Operation::bare(const json& value) {
  if (!value.is_object() || !value.contains("class_name")) return value;
  const json* inner = &value;
  if (value.contains("items")) return value["items"];
  if (value.contains("config")) inner = &value["config"];
  return inner->is_object() && inner->contains("value") ? (*inner)["value"] : *inner;
}

const json& Operation::part(const char* key) const {
  static const json nothing = json::array();
  return arguments_->contains(key) ? (*arguments_)[key] : nothing;
}

// A file may hold what looks like the mark of a tensor.
const KerasTensor& Operation::tensor_of(const json& value) const {
  const json& index = value["tensor"];
  if (!index.is_number_unsigned() || index.get<std::size_t>() >= inputs_.size())
    layer_.invalid("its arguments name a tensor that it is not called with");
  return inputs_[index.get<std::size_t>()];
}

// Numbers, nested as their shape says; whole ones as such where `exact`.
Array Operation::constant(const json& given, bool exact) const {
  const json& value = bare(given);
  Shape shape;
  for (const json* at = &value; at->is_array(); at = &(*at)[0]) {
    shape.push_back(std::ssize(*at));
    if (at->empty() || shape.size() > 8) layer_.invalid("a constant is empty or too deep");
  }
  std::vector<double> numbers;
  bool whole = exact;
  const auto gather = [&](auto&& self, const json& item) -> void {
    if (item.is_array()) {
      for (const json& inner : item) self(self, inner);
    } else if (item.is_number() || item.is_boolean()) {
      whole = whole && item.is_number_integer();
      numbers.push_back(item.is_boolean() ? (item.get<bool>() ? 1.0 : 0.0) : item.get<double>());
    } else {
      layer_.unsupported("an argument that is neither a number nor a tensor", "use numbers and tensors");
    }
  };
  gather(gather, value);
  if (std::ssize(numbers) != element_count(shape)) layer_.invalid("a constant's rows differ in length");
  if (whole) return Array::of(shape, std::vector<std::int64_t>(numbers.begin(), numbers.end()));
  return Array::of(shape, std::vector<float>(numbers.begin(), numbers.end()));
}

void reduce_shape(Shape& shape, const std::vector<std::int64_t>& axes, bool keep) {
  for (std::size_t i = axes.size(); i-- > 0;) {
    if (keep)
      shape[axes[i]] = 1;
    else
      shape.erase(shape.begin() + axes[i]);
  }
}

}  // namespace assay::keras::operations
