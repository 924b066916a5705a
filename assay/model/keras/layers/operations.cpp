// Arithmetic that a functional model has outside layers: Keras 3's operations (module keras.src.ops) and
// Keras 2's TFOpLambda and SlicingOpLambda.

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cctype>
#include <functional>
#include <limits>
#include <utility>

#include "assay/model/keras/arrays.h"
#include "assay/model/keras/layers/layers.h"

namespace assay::keras {
namespace {

using nlohmann::json;

constexpr std::int64_t real_type = 1, whole_type = 7, truth_type = 9;  // numbers of ONNX's types

using Keys = std::initializer_list<const char*>;

// One operand of arithmetic: a tensor, or a constant of the file.
struct Operand {
  bool constant = false;
  KerasTensor tensor;
  Array array;

  std::size_t rank() const { return constant ? array.shape().size() : tensor.rank(); }
  Shape shape() const { return constant ? array.shape() : tensor.shape; }
  DType dtype() const { return constant ? array.dtype() : tensor.dtype; }
};

// One call of one operation, with its arguments wherever they stand: by place, by name, or in the config.
class Operation {
 public:
  Operation(LayerBuilder& layer, std::span<const KerasTensor> inputs)
      : layer_(layer), inputs_(inputs), name_(operation_name(layer.config())) {
    static const json empty = json::object();
    arguments_ = layer.call().arguments ? layer.call().arguments.get() : &empty;
  }

  const std::string& name() const { return name_; }
  LayerBuilder& layer() { return layer_; }

  // The name of Keras's function: "NotEqual", "math.not_equal" and "__operators__.ne" are not_equal.
  static std::string operation_name(const LayerConfig& config) {
    std::string name = keras_snake_case(config.class_name());
    if (config.class_name() == "TFOpLambda" || config.class_name() == "SlicingOpLambda") {
      name = config.text("function", "");
      name = name.substr(name.rfind('.') + 1);
    }
    static const std::map<std::string, std::string> same{{"abs", "absolute"},
                                                         {"add_v2", "add"},
                                                         {"clip_by_value", "clip"},
                                                         {"concat", "concatenate"},
                                                         {"div", "divide"},
                                                         {"eq", "equal"},
                                                         {"getitem", "get_item"},
                                                         {"mul", "multiply"},
                                                         {"ne", "not_equal"},
                                                         {"neg", "negative"},
                                                         {"pow", "power"},
                                                         {"reduce_all", "all"},
                                                         {"reduce_any", "any"},
                                                         {"reduce_max", "max"},
                                                         {"reduce_mean", "mean"},
                                                         {"reduce_min", "min"},
                                                         {"reduce_prod", "prod"},
                                                         {"reduce_sum", "sum"},
                                                         {"sub", "subtract"},
                                                         {"swish", "silu"},
                                                         {"true_divide", "divide"},
                                                         {"truediv", "divide"},
                                                         {"unstack", "unstack"},
                                                         {"hard_swish", "hard_silu"},
                                                         {"stop_gradient", "identity"},
                                                         {"re_lu", "relu"},
                                                         {"re_lu6", "relu6"},
                                                         {"convert_to_tensor", "identity"}};
    const auto it = same.find(name);
    return it == same.end() ? name : it->second;
  }

  // An argument by its place or one of its names; null when it is not there.
  const json& argument(std::size_t place, Keys names) const {
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

  bool flag(std::size_t place, Keys names, bool otherwise) const {
    const json& value = argument(place, names);
    return value.is_boolean() ? value.get<bool>() : otherwise;
  }

  double number(std::size_t place, Keys names, double otherwise) const {
    const json& value = argument(place, names);
    if (value.is_null()) return otherwise;
    const Array array = constant(value, false);
    if (array.count() != 1) layer_.invalid("an argument that is one number is a list");
    return array.as<float>()[0];
  }

  // Whole numbers, one or a list of them; a size that is not known is -1.
  std::optional<std::vector<std::int64_t>> whole_numbers(std::size_t place, Keys names) const {
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

  // The axes of a reduction among those of `x`; the batch may not be one.
  std::vector<std::int64_t> axes(std::size_t place, const KerasTensor& x) const {
    const auto given = whole_numbers(place, {"axis", "axes"});
    if (!given) layer_.unsupported("reducing over all records", "name the axes");
    std::vector<std::int64_t> result;
    for (const auto axis : *given) result.push_back(own_axis(axis, x.rank()));
    std::sort(result.begin(), result.end());
    return result;
  }

  // An axis that is not the batch.
  std::int64_t own_axis(std::int64_t axis, std::size_t rank) const {
    const std::size_t found = layer_.keras_axis(axis, rank);
    if (found == 0) layer_.unsupported("an operation along the batch axis", "leave records apart");
    return static_cast<std::int64_t>(found);
  }

  KerasTensor tensor(std::size_t place, Keys names) const {
    const json& value = argument(place, names);
    if (!is_tensor(value)) layer_.invalid(fmt::format("its argument {} is no tensor", place + 1));
    return tensor_of(value);
  }
  // The first argument in Keras's layout, without mask.
  KerasTensor first() {
    return layer_.as_keras(tensor(0, {"x", "a", "input", "inputs", "features", "logits"})).without_mask();
  }

  KerasTensors tensors(std::size_t place, Keys names) const {
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

  Operand operand(std::size_t place, Keys names) const {
    const json& value = argument(place, names);
    if (is_tensor(value)) return {.constant = false, .tensor = tensor_of(value), .array = {}};
    if (value.is_null()) layer_.invalid(fmt::format("has no argument {}", place + 1));
    return {.constant = true, .tensor = {}, .array = constant(value, true)};
  }

  ValueId step(const char* op, const std::string& suffix, std::vector<ValueId> operands,
               std::map<std::string, Attribute> attributes = {}) {
    return layer_.add(op, suffix, std::move(operands), std::move(attributes), suffix);
  }
  KerasTensor result(const KerasTensor& like, const char* op, std::vector<ValueId> operands,
                     std::map<std::string, Attribute> attributes = {}) {
    return like.without_mask().with(layer_.add(op, "", std::move(operands), std::move(attributes), ""));
  }
  ValueId list(const char* name, const std::vector<std::int64_t>& values) {
    return layer_.constant(name, integers(values));
  }

  // "__tuple__", "__tensor__" and the like as what they hold.
  static const json& bare(const json& value) {
    if (!value.is_object() || !value.contains("class_name")) return value;
    const json* inner = &value;
    if (value.contains("items")) return value["items"];
    if (value.contains("config")) inner = &value["config"];
    return inner->is_object() && inner->contains("value") ? (*inner)["value"] : *inner;
  }
  static bool is_tensor(const json& value) { return value.is_object() && value.contains("tensor"); }

 private:
  const json& part(const char* key) const {
    static const json nothing = json::array();
    return arguments_->contains(key) ? (*arguments_)[key] : nothing;
  }
  // A file may hold what looks like the mark of a tensor.
  const KerasTensor& tensor_of(const json& value) const {
    const json& index = value["tensor"];
    if (!index.is_number_unsigned() || index.get<std::size_t>() >= inputs_.size())
      layer_.invalid("its arguments name a tensor that it is not called with");
    return inputs_[index.get<std::size_t>()];
  }

  // Numbers, nested as their shape says; whole ones as such where `exact`.
  Array constant(const json& given, bool exact) const {
    const json& value = bare(given);
    Shape shape;
    for (const json* at = &value; at->is_array(); at = &(*at)[0]) {
      shape.push_back(static_cast<std::int64_t>(at->size()));
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
    if (static_cast<std::int64_t>(numbers.size()) != element_count(shape))
      layer_.invalid("a constant's rows differ in length");
    if (whole) return Array::of(shape, std::vector<std::int64_t>(numbers.begin(), numbers.end()));
    return Array::of(shape, std::vector<float>(numbers.begin(), numbers.end()));
  }

  LayerBuilder& layer_;
  std::span<const KerasTensor> inputs_;
  std::string name_;
  const json* arguments_;
};

// A shape that two broadcast to, as numpy has it.
Shape broadcast_shape(const LayerBuilder& layer, const Shape& a, const Shape& b) {
  Shape result(std::max(a.size(), b.size()), 1);
  for (std::size_t i = 0; i < result.size(); ++i) {
    const std::int64_t left = i < a.size() ? a[a.size() - 1 - i] : 1;
    const std::int64_t right = i < b.size() ? b[b.size() - 1 - i] : 1;
    std::int64_t& size = result[result.size() - 1 - i];
    if (left == right || right == 1)
      size = left;
    else if (left == 1)
      size = right;
    else if (left < 0 || right < 0)
      size = std::max(left, right);
    else
      layer.invalid(fmt::format("its operands of shapes {} and {} do not fit", to_string(a), to_string(b)));
  }
  return result;
}

// A constant as it is stored beside a tensor of this layout.
Array stored_like(const Array& array, const KerasTensor& x) {
  if (x.layout != Layout::channels_first || array.count() == 1) return array;
  Shape shape = array.shape();  // [channels] only; see both_stored_alike
  shape.insert(shape.end(), x.rank() - 2, 1);
  return array.reshaped(shape);
}

// Whether a constant can stand beside a tensor in the layout that it has.
bool fits_layout(const Array& array, const KerasTensor& x) {
  return array.count() == 1 || x.layout == Layout::keras ||
         (x.layout == Layout::channels_first && array.shape().size() == 1);
}

// Two operands of element-wise arithmetic in one layout and one type.
class Pair {
 public:
  Pair(Operation& call, Operand a, Operand b) : call_(call) {
    LayerBuilder& layer = call.layer();
    if (a.constant && b.constant) layer.invalid("both its operands are constants");
    like_ = (a.constant ? b : a).tensor;
    align(layer, a, b);
    like_ = (a.constant ? b : a).tensor.without_mask();
    Shape shape = broadcast_shape(layer, a.shape(), b.shape());
    if (like_.layout == Layout::keras || (!a.constant && !b.constant)) like_.shape = shape;
    const bool real = a.dtype() == DType::float32 || b.dtype() == DType::float32;
    type_ = real ? DType::float32 : a.constant ? b.dtype() : a.dtype();
    if (type_ == DType::boolean && (a.constant || b.constant)) type_ = DType::int64;
    left_ = value(a, "left");
    right_ = value(b, "right");
  }

  KerasTensor like() const { return like_; }
  DType type() const { return type_; }
  ValueId left() const { return left_; }
  ValueId right() const { return right_; }
  // As real numbers, for a division.
  void make_real() {
    for (ValueId* side : {&left_, &right_}) {
      if (type_ == DType::float32) break;
      const std::string suffix = side == &left_ ? "_left_real" : "_right_real";
      *side = call_.step("Cast", suffix, {*side}, {{"to", real_type}});
    }
    type_ = DType::float32;
  }

 private:
  static void align(LayerBuilder& layer, Operand& a, Operand& b) {
    if (a.constant || b.constant) {
      KerasTensor& x = (a.constant ? b : a).tensor;
      const Array& array = (a.constant ? a : b).array;
      if (!fits_layout(array, x)) x = layer.as_keras(x);
      return;
    }
    KerasTensor &x = a.tensor, &y = b.tensor;
    if (x.layout == y.layout && x.rank() == y.rank() && x.block == y.block) return;
    const bool first =
        x.rank() == y.rank() && (x.layout == Layout::channels_first || y.layout == Layout::channels_first);
    x = first ? layer.as_channels_first(x) : layer.as_keras(x);
    y = first ? layer.as_channels_first(y) : layer.as_keras(y);
  }

  ValueId value(const Operand& side, const char* name) {
    LayerBuilder& layer = call_.layer();
    if (side.constant) return layer.constant(name, stored_like(side.array, like_).to(type_));
    if (side.tensor.dtype == type_) return side.tensor.value;
    const std::int64_t type = type_ == DType::float32 ? real_type : whole_type;
    return call_.step("Cast", fmt::format("_{}_cast", name), {side.tensor.value}, {{"to", type}});
  }

  Operation& call_;
  KerasTensor like_;
  DType type_ = DType::float32;
  ValueId left_ = no_value, right_ = no_value;
};

Pair operands(Operation& call) {
  return {call, call.operand(0, {"x1", "x", "a"}), call.operand(1, {"x2", "y", "b", "bias"})};
}

KerasTensors arithmetic(Operation& call, const char* op) {
  Pair pair = operands(call);
  if (op == std::string_view("Div") || op == std::string_view("Pow")) pair.make_real();
  KerasTensor result = call.result(pair.like(), op, {pair.left(), pair.right()});
  result.dtype = pair.type();
  return {result};
}

KerasTensors comparison(Operation& call, const char* op) {
  const Pair pair = operands(call);
  KerasTensor result = pair.like();
  if (op == std::string_view("Not")) {  // not equal
    result = call.result(pair.like(), "Not", {call.step("Equal", "_equal", {pair.left(), pair.right()})});
  } else {
    result = call.result(pair.like(), op, {pair.left(), pair.right()});
  }
  result.dtype = DType::boolean;
  return {result};
}

KerasTensors squared_difference(Operation& call) {
  const Pair pair = operands(call);
  const ValueId difference = call.step("Sub", "_difference", {pair.left(), pair.right()});
  return {call.result(pair.like(), "Mul", {difference, difference})};
}

// A function of one tensor, element by element, whatever its layout.
KerasTensors elementwise(Operation& call, const char* op) {
  const KerasTensor x = call.tensor(0, {"x", "input", "features"});
  return {call.result(x, op, {x.value})};
}

KerasTensors square(Operation& call) {
  const KerasTensor x = call.tensor(0, {"x"});
  return {call.result(x, "Mul", {x.value, x.value})};
}

KerasTensors rsqrt(Operation& call) {
  const KerasTensor x = call.tensor(0, {"x"});
  return {call.result(x, "Reciprocal", {call.step("Sqrt", "_root", {x.value})})};
}

// An activation function, under the name that layers know it by.
KerasTensors activated(Operation& call, const json& function) {
  const KerasTensor x = call.tensor(0, {"x", "features", "logits", "input"}).without_mask();
  LayerBuilder inner =
      call.layer().inner(LayerConfig("Activation", call.layer().config().where(),
                                     std::make_shared<const json>(json{{"activation", function}})));
  return activation(inner, std::span(&x, 1));
}

json with_config(const char* name, const char* key, const json& value) {
  return {{"class_name", name}, {"config", {{key, value}}}};
}

KerasTensors clip_operation(Operation& call) {
  const KerasTensor x = call.tensor(0, {"x", "t"});
  const auto low = static_cast<float>(call.number(1, {"x_min", "clip_value_min"}, 0));
  const auto high = static_cast<float>(call.number(2, {"x_max", "clip_value_max"}, 0));
  return {call.result(
      x, "Clip",
      {x.value, call.layer().constant("min", scalar(low)), call.layer().constant("max", scalar(high))})};
}

KerasTensors reduction(Operation& call, const char* op) {
  KerasTensor x = call.tensor(0, {"x", "input_tensor", "input"});
  if (x.layout == Layout::flattened) x = call.layer().as_keras(x);
  const auto axes = call.axes(1, x);
  const bool keep = call.flag(2, {"keepdims", "keep_dims"}, false);
  // Positions that go, or axes that stay as 1, leave the layout as it is.
  const bool channel_goes = std::ranges::find(axes, static_cast<std::int64_t>(x.rank()) - 1) != axes.end();
  if (!keep && (channel_goes || x.rank() - axes.size() < 3)) x = call.layer().as_keras(x);
  if (!keep && x.layout == Layout::channels_first) x = call.layer().as_keras(x);
  std::vector<std::int64_t> stored;
  for (const auto axis : axes) stored.push_back(stored_axis(x, static_cast<std::size_t>(axis)));
  const bool truth = op == std::string_view("any") || op == std::string_view("all");
  ValueId value = x.value;
  if (x.dtype == DType::boolean) {
    const std::int64_t type = op == std::string_view("ReduceMean") ? real_type : whole_type;
    value = call.step("Cast", "_numbers", {value}, {{"to", type}});
  } else if (truth) {
    call.layer().invalid("its input holds no truth values");
  }
  const std::map<std::string, Attribute> attributes{{"keepdims", std::int64_t{keep}}};
  const ValueId list = call.list("axes", stored);
  KerasTensor result = x.without_mask();
  if (truth) {
    const char* kind = op == std::string_view("any") ? "ReduceMax" : "ReduceMin";
    const ValueId reduced = call.step(kind, "_reduced", {value, list}, attributes);
    result = call.result(x, "Cast", {reduced}, {{"to", truth_type}});
  } else {
    result = call.result(x, op, {value, list}, attributes);
    if (x.dtype == DType::boolean) result.dtype = DType::int64;
    if (op == std::string_view("ReduceMean")) result.dtype = DType::float32;
  }
  for (std::size_t i = axes.size(); i-- > 0;) {
    const auto axis = static_cast<std::size_t>(axes[i]);
    if (keep)
      result.shape[axis] = 1;
    else
      result.shape.erase(result.shape.begin() + static_cast<std::ptrdiff_t>(axis));
  }
  return {result};
}

KerasTensors arg_extreme(Operation& call, const char* op) {
  const KerasTensor x = call.first();
  const auto axis = call.whole_numbers(1, {"axis"});
  if (!axis || axis->size() != 1) call.layer().unsupported("reducing over all records", "name the axis");
  const std::int64_t own = call.own_axis((*axis)[0], x.rank());
  const bool keep = call.flag(2, {"keepdims"}, false);
  KerasTensor result = call.result(x, op, {x.value}, {{"axis", own}, {"keepdims", std::int64_t{keep}}});
  result.dtype = DType::int64;
  if (keep)
    result.shape[static_cast<std::size_t>(own)] = 1;
  else
    result.shape.erase(result.shape.begin() + own);
  return {result};
}

KerasTensors expand_dims(Operation& call) {
  const KerasTensor x = call.first();
  const auto axes = call.whole_numbers(1, {"axis"});
  if (!axes || axes->size() != 1) call.layer().unsupported("several axes at once", "add one axis at a time");
  const std::int64_t axis = call.own_axis((*axes)[0], x.rank() + 1);
  KerasTensor result = call.result(x, "Unsqueeze", {x.value, call.list("axes", {axis})});
  result.shape.insert(result.shape.begin() + axis, 1);
  return {result};
}

KerasTensors squeeze(Operation& call) {
  const KerasTensor x = call.first();
  std::vector<std::int64_t> axes;
  if (const auto given = call.whole_numbers(1, {"axis"})) {
    for (const auto axis : *given) axes.push_back(call.own_axis(axis, x.rank()));
  } else {
    for (std::size_t axis = 1; axis < x.rank(); ++axis) {
      if (x.shape[axis] == 1) axes.push_back(static_cast<std::int64_t>(axis));
    }
  }
  std::sort(axes.begin(), axes.end());
  KerasTensor result = call.result(x, "Squeeze", {x.value, call.list("axes", axes)});
  for (std::size_t i = axes.size(); i-- > 0;) result.shape.erase(result.shape.begin() + axes[i]);
  return {result};
}

KerasTensors reshaped(Operation& call) {
  const KerasTensor x = call.first();
  auto target = call.whole_numbers(1, {"newshape", "shape", "new_shape"});
  if (!target || target->empty()) call.layer().invalid("names no shape");
  std::int64_t size = 1;
  for (std::size_t axis = 1; axis < x.rank(); ++axis) size *= call.layer().known(x, axis);
  std::int64_t rest = 1;
  std::size_t free = 0;
  for (std::size_t i = 1; i < target->size(); ++i) {
    if ((*target)[i] < 0)
      free = free == 0 ? i : target->size();
    else
      rest *= (*target)[i];
  }
  if (free >= target->size() && target->size() > 1)
    call.layer().invalid("its shape has several unknown sizes");
  if (free > 0 && (*target)[0] < 0) {  // the batch and one more: what the record leaves for it
    if (rest == 0 || size % rest != 0)
      call.layer().invalid(fmt::format("{} elements do not fit its shape", size));
    (*target)[free] = size / rest;
    rest *= (*target)[free];
  }
  if ((*target)[0] >= 0 || rest != size)
    call.layer().unsupported("a shape that mixes records", "keep the batch as the first axis");
  KerasTensor result = x.without_mask();
  std::vector<std::int64_t> shape = *target;
  shape[0] = 0;
  result = call.result(x, "Reshape", {x.value, call.list("shape", shape)});
  result.shape = *target;
  result.shape[0] = x.shape[0];
  return {result};
}

KerasTensors transposition(Operation& call) {
  const KerasTensor x = call.first();
  auto order = call.whole_numbers(1, {"axes", "perm"});
  if (!order || order->size() != x.rank()) call.layer().unsupported("reversing all axes", "name their order");
  auto sorted = *order;
  std::sort(sorted.begin(), sorted.end());
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    if (sorted[i] != static_cast<std::int64_t>(i))
      call.layer().invalid("its order does not permute the axes");
  }
  if ((*order)[0] != 0) call.layer().unsupported("moving the batch axis", "keep the batch as the first axis");
  KerasTensor result = call.result(x, "Transpose", {x.value}, {{"perm", *order}});
  for (std::size_t i = 0; i < order->size(); ++i)
    result.shape[i] = x.shape[static_cast<std::size_t>((*order)[i])];
  return {result};
}

KerasTensors joined(Operation& call, bool stacked) {
  KerasTensors parts = call.tensors(0, {"xs", "x", "values"});
  const auto axes = call.whole_numbers(1, {"axis"});
  const std::int64_t given = axes && axes->size() == 1 ? (*axes)[0] : 0;
  const std::size_t rank = parts[0].rank() + (stacked ? 1 : 0);
  const std::int64_t axis = call.own_axis(given, rank);
  std::vector<ValueId> values;
  std::int64_t total = 0;
  for (KerasTensor& part : parts) {
    part = call.layer().as_keras(part);
    if (part.rank() + (stacked ? 1 : 0) != rank) call.layer().invalid("its inputs have different ranks");
    const std::int64_t size = stacked ? 1 : part.shape[static_cast<std::size_t>(axis)];
    total = total < 0 || size < 0 ? -1 : total + size;
    values.push_back(stacked ? call.step("Unsqueeze", "_row", {part.value, call.list("axes", {axis})})
                             : part.value);
  }
  KerasTensor result = call.result(parts[0], "Concat", values, {{"axis", axis}});
  if (stacked)
    result.shape.insert(result.shape.begin() + axis, total);
  else
    result.shape[static_cast<std::size_t>(axis)] = total;
  return {result};
}

// The sides of a product, in Keras's layout.
KerasTensors product(Operation& call) {
  LayerBuilder& layer = call.layer();
  KerasTensor a = layer.as_keras(call.tensor(0, {"x1", "a"})),
              b = layer.as_keras(call.tensor(1, {"x2", "b"}));
  if (a.rank() < 2 || b.rank() < 2) layer.unsupported("a product of vectors", "use Dot");
  const auto turn = [&](KerasTensor& x, const char* name) {
    std::vector<std::int64_t> order;
    for (std::size_t i = 0; i < x.rank(); ++i) order.push_back(static_cast<std::int64_t>(i));
    std::swap(order[x.rank() - 1], order[x.rank() - 2]);
    x.value = call.step("Transpose", name, {x.value}, {{"perm", order}});
    std::swap(x.shape[x.rank() - 1], x.shape[x.rank() - 2]);
  };
  if (call.flag(2, {"transpose_a"}, false)) turn(a, "_turned_left");
  if (call.flag(3, {"transpose_b"}, false)) turn(b, "_turned_right");
  if (a.rank() == 2 && b.rank() == 2)
    layer.unsupported("a product of records with each other", "keep records apart, with Dot");
  KerasTensor result = call.result(a, "MatMul", {a.value, b.value});
  Shape left(a.shape.begin(), a.shape.end() - 2), right(b.shape.begin(), b.shape.end() - 2);
  result.shape = broadcast_shape(layer, left, right);
  result.shape.push_back(a.shape[a.rank() - 2]);
  result.shape.push_back(b.shape.back());
  return {result};
}

KerasTensors cast_operation(Operation& call) {
  const KerasTensor x = call.tensor(0, {"x"});
  const json& named = Operation::bare(call.argument(1, {"dtype"}));
  const std::string type = named.is_string() ? named.get<std::string>() : "float32";
  KerasTensor result = x.without_mask();
  if (type.starts_with("float") || type.starts_with("bfloat")) {
    result = call.result(x, "Cast", {x.value}, {{"to", real_type}});
    result.dtype = DType::float32;
  } else if (type == "bool") {
    result = call.result(x, "Cast", {x.value}, {{"to", truth_type}});
    result.dtype = DType::boolean;
  } else if (type.find("int") != std::string::npos) {
    result = call.result(x, "Cast", {x.value}, {{"to", whole_type}});
    result.dtype = DType::int64;
  } else {
    call.layer().unsupported(fmt::format("type '{}'", type), "use numbers");
  }
  return {result};
}

// One item of an index: what it takes of its axis.
struct Taken {
  std::int64_t start = 0, stop = std::numeric_limits<std::int64_t>::max(), step = 1;
  bool drops = false;  // one position, whose axis goes
};

Taken read_slice(Operation& call, const json& item) {
  if (item.is_number_integer()) {
    const auto at = item.get<std::int64_t>();
    return {.start = at,
            .stop = at == -1 ? std::numeric_limits<std::int64_t>::max() : at + 1,
            .step = 1,
            .drops = true};
  }
  const json& slice = item.is_object() && item.contains("config") ? item["config"] : item;
  if (!slice.is_object() || !(slice.contains("start") || slice.contains("stop") || slice.contains("step")))
    call.layer().unsupported("an index that is no number and no slice", "use slices");
  const auto read = [&](const char* key) -> std::optional<std::int64_t> {
    if (!slice.contains(key) || slice[key].is_null()) return std::nullopt;
    const json& value = Operation::bare(slice[key]);
    const json& inner = value.is_object() && value.contains("value") ? value["value"] : value;
    if (inner.is_null()) return std::nullopt;
    if (!inner.is_number_integer())
      call.layer().unsupported("an index that is computed", "use fixed indices");
    return inner.get<std::int64_t>();
  };
  Taken result;
  result.step = read("step").value_or(1);
  if (result.step == 0) call.layer().invalid("a slice has step 0");
  const bool back = result.step < 0;
  result.start = read("start").value_or(back ? -1 : 0);
  result.stop = read("stop").value_or(back ? std::numeric_limits<std::int64_t>::min()
                                           : std::numeric_limits<std::int64_t>::max());
  return result;
}

// How many positions of `size` a slice takes; -1 when nobody knows.
std::int64_t count_taken(const Taken& slice, std::int64_t size) {
  if (slice.drops) return 1;
  if (size < 0) return -1;
  const auto place = [&](std::int64_t at, std::int64_t low, std::int64_t high) {
    if (at < 0 && at >= -size) at += size;
    return std::clamp(at, low, high);
  };
  if (slice.step > 0) {
    const std::int64_t from = place(slice.start, 0, size), to = place(slice.stop, 0, size);
    return std::max<std::int64_t>((to - from + slice.step - 1) / slice.step, 0);
  }
  const std::int64_t from = place(slice.start, -1, size - 1);
  const std::int64_t to = slice.stop < -size ? -1 : place(slice.stop, -1, size - 1);
  return std::max<std::int64_t>((from - to - slice.step - 1) / -slice.step, 0);
}

bool is_ellipsis(const json& item) {
  return item.is_object() && item.value("class_name", "") == "__ellipsis__";
}

// x[key], with numbers, slices, "..." and new axes.
KerasTensors get_item(Operation& call) {
  const KerasTensor x = call.first();
  const json& key = call.argument(1, {"key", "slice_spec"});
  const bool one = !key.is_array() && !(key.is_object() && key.value("class_name", "") == "__tuple__");
  const json items = one ? json::array({key}) : Operation::bare(key);
  std::size_t named = 0;
  for (const json& item : items) named += !item.is_null() && !is_ellipsis(item);
  if (named > x.rank()) call.layer().invalid("its index has more axes than its input");
  std::vector<std::int64_t> starts, ends, axes, steps, dropped, fresh;
  Shape sliced = x.shape;
  std::size_t axis = 0, out = 0;
  bool elided = false;
  for (const json& item : items) {
    if (is_ellipsis(item)) {
      if (elided) call.layer().invalid("its index has two '...'");
      elided = true;
      out += x.rank() - named;
      axis += x.rank() - named;
      named = x.rank();
    } else if (item.is_null()) {
      fresh.push_back(static_cast<std::int64_t>(out++));
    } else {
      const Taken slice = read_slice(call, item);
      const bool all = slice.start == 0 && slice.step == 1 &&
                       slice.stop == std::numeric_limits<std::int64_t>::max() && !slice.drops;
      if (axis == 0 && !all) call.layer().unsupported("an index of records", "take all records");
      if (!all) {
        starts.push_back(slice.start);
        ends.push_back(slice.stop);
        steps.push_back(slice.step);
        axes.push_back(static_cast<std::int64_t>(axis));
        sliced[axis] = count_taken(slice, x.shape[axis]);
        if (sliced[axis] == 0) call.layer().invalid("its index takes nothing");
      }
      if (slice.drops)
        dropped.push_back(static_cast<std::int64_t>(axis));
      else
        ++out;
      ++axis;
    }
  }
  KerasTensor result = x.without_mask();
  const auto value = [&](const char* op, const char* suffix, std::vector<ValueId> operands) {
    result.value = call.step(op, suffix, std::move(operands));
  };
  if (!axes.empty()) {
    value("Slice", dropped.empty() && fresh.empty() ? "" : "_sliced",
          {result.value, call.list("starts", starts), call.list("ends", ends), call.list("axes", axes),
           call.list("steps", steps)});
  }
  result.shape = sliced;
  if (!dropped.empty()) {
    value("Squeeze", fresh.empty() ? "" : "_dropped", {result.value, call.list("dropped", dropped)});
    for (std::size_t i = dropped.size(); i-- > 0;) result.shape.erase(result.shape.begin() + dropped[i]);
  }
  if (!fresh.empty()) {
    if (fresh[0] == 0) call.layer().unsupported("a new axis before the batch", "keep the batch first");
    value("Unsqueeze", "", {result.value, call.list("fresh", fresh)});
    for (const auto place : fresh) result.shape.insert(result.shape.begin() + place, 1);
  }
  if (axes.empty() && fresh.empty()) result = call.result(x, "Identity", {x.value});
  return {result};
}

// Condition ? a : b
KerasTensors choice(Operation& call) {
  KerasTensor condition = call.layer().as_keras(call.tensor(0, {"condition"}));
  Operand a = call.operand(1, {"x1", "x"}), b = call.operand(2, {"x2", "y"});
  LayerBuilder& layer = call.layer();
  if (condition.dtype != DType::boolean)
    condition.value = call.step("Cast", "_truth", {condition.value}, {{"to", truth_type}});
  Shape shape = condition.shape;
  std::vector<ValueId> values{condition.value};
  for (Operand* side : {&a, &b}) {
    const std::string name = side == &a ? "then" : "else";
    shape = broadcast_shape(layer, shape, side->shape());
    if (side->constant) {
      values.push_back(layer.constant(name, side->array.to(DType::float32)));
    } else {
      const KerasTensor x = layer.as_keras(side->tensor);
      values.push_back(x.dtype == DType::float32
                           ? x.value
                           : call.step("Cast", "_" + name, {x.value}, {{"to", real_type}}));
    }
  }
  KerasTensor result = call.result(condition, "Where", values);
  result.shape = shape;
  result.dtype = DType::float32;
  return {result};
}

// x / |x| along an axis (tf.math.l2_normalize, keras.ops.normalize of order 2)
KerasTensors unit_length(Operation& call) {
  const KerasTensor x = call.first();
  const auto axes = call.whole_numbers(1, {"axis"});
  if (call.number(2, {"order"}, 2) != 2 && call.name() == "normalize")
    call.layer().unsupported("an order other than 2", "use order 2");
  const std::int64_t axis = call.own_axis(axes && axes->size() == 1 ? (*axes)[0] : -1, x.rank());
  const ValueId sum = call.step("ReduceSum", "_sum",
                                {call.step("Mul", "_square", {x.value, x.value}), call.list("axes", {axis})});
  const ValueId least = call.layer().constant("least", scalar(1e-12F));
  const ValueId length = call.step("Sqrt", "_length", {call.step("Max", "_above", {sum, least})});
  return {call.result(x, "Div", {x.value, length})};
}

// log(x + 1) and exp(x) - 1
KerasTensors beside_one(Operation& call, const char* op) {
  const KerasTensor x = call.tensor(0, {"x"});
  const ValueId one = call.layer().constant("one", scalar(1));
  if (op == std::string_view("Log"))
    return {call.result(x, "Log", {call.step("Add", "_more", {x.value, one})})};
  return {call.result(x, "Sub", {call.step("Exp", "_exp", {x.value}), one})};
}

// The mean of the squares of what is beside the mean, and its root.
KerasTensors spread(Operation& call, bool root) {
  const KerasTensor x = call.first();
  const auto axes = call.axes(1, x);
  const bool keep = call.flag(2, {"keepdims"}, false);
  const ValueId list = call.list("axes", axes);
  const ValueId beside =
      call.step("Sub", "_beside", {x.value, call.step("ReduceMean", "_mean", {x.value, list})});
  const ValueId square = call.step("Mul", "_square", {beside, beside});
  const std::map<std::string, Attribute> attributes{{"keepdims", std::int64_t{keep}}};
  KerasTensor result = x;
  if (root)
    result = call.result(x, "Sqrt", {call.step("ReduceMean", "_variance", {square, list}, attributes)});
  else
    result = call.result(x, "ReduceMean", {square, list}, attributes);
  for (std::size_t i = axes.size(); i-- > 0;) {
    if (keep)
      result.shape[static_cast<std::size_t>(axes[i])] = 1;
    else
      result.shape.erase(result.shape.begin() + axes[i]);
  }
  return {result};
}

// The elements of some axes in the opposite order.
KerasTensors flipped(Operation& call) {
  const KerasTensor x = call.first();
  const auto axes = call.axes(1, x);
  const std::vector<std::int64_t> last(axes.size(), -1),
      beyond(axes.size(), std::numeric_limits<std::int64_t>::min()), back(axes.size(), -1);
  return {call.result(x, "Slice",
                      {x.value, call.list("starts", last), call.list("ends", beyond), call.list("axes", axes),
                       call.list("steps", back)})};
}

KerasTensors swapped_axes(Operation& call) {
  const KerasTensor x = call.first();
  std::vector<std::int64_t> order;
  for (std::size_t i = 0; i < x.rank(); ++i) order.push_back(static_cast<std::int64_t>(i));
  const auto one = call.whole_numbers(1, {"axis1"}), other = call.whole_numbers(2, {"axis2"});
  if (!one || !other || one->size() != 1 || other->size() != 1) call.layer().invalid("names no two axes");
  const auto a = static_cast<std::size_t>(call.own_axis((*one)[0], x.rank()));
  const auto b = static_cast<std::size_t>(call.own_axis((*other)[0], x.rank()));
  std::swap(order[a], order[b]);
  KerasTensor result = call.result(x, "Transpose", {x.value}, {{"perm", order}});
  std::swap(result.shape[a], result.shape[b]);
  return {result};
}

// Parts of equal size, between positions (Keras 3) or of given sizes (Keras 2).
KerasTensors parted(Operation& call) {
  const KerasTensor x = call.first();
  const auto axes = call.whole_numbers(2, {"axis"});
  const std::int64_t axis = call.own_axis(axes && axes->size() == 1 ? (*axes)[0] : 0, x.rank());
  const std::int64_t size = call.layer().known(x, static_cast<std::size_t>(axis));
  const bool sizes_given = call.layer().config().class_name() == "TFOpLambda";
  const auto given = call.whole_numbers(1, {"indices_or_sections", "num_or_size_splits"});
  if (!given || given->empty()) call.layer().invalid("names no parts");
  std::vector<std::int64_t> sizes;
  const bool count =
      !Operation::bare(call.argument(1, {"indices_or_sections", "num_or_size_splits"})).is_array();
  if (count) {
    const std::int64_t parts = (*given)[0];
    if (parts < 1 || parts > 10'000 || size % parts != 0)
      call.layer().invalid(fmt::format("{} positions are not {} parts", size, parts));
    sizes.assign(static_cast<std::size_t>(parts), size / parts);
  } else if (sizes_given) {
    sizes = *given;
  } else {
    std::int64_t before = 0;
    for (const auto at : *given) sizes.push_back(at - std::exchange(before, at));
    sizes.push_back(size - before);
  }
  std::int64_t sum = 0;
  for (const auto part : sizes) {
    if (part < 1 || part > size)
      call.layer().invalid(fmt::format("a part of {} positions is not there", part));
    sum += part;
  }
  if (sum != size) call.layer().invalid(fmt::format("its parts are {} of {} positions", sum, size));
  std::vector<std::string> names;
  for (std::size_t i = 0; i < sizes.size(); ++i) names.push_back(i == 0 ? "" : fmt::format("_part{}", i));
  const std::vector<std::string_view> suffixes(names.begin(), names.end());
  const auto values =
      call.layer().add("Split", "", {x.value, call.list("sizes", sizes)}, {{"axis", axis}}, suffixes);
  KerasTensors results;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    results.push_back(x.with(values[i]));
    results.back().shape[static_cast<std::size_t>(axis)] = sizes[i];
  }
  return results;
}

// A product by an equation of which every tensor has the records first ("bid,bjd->bij").
KerasTensors product_by_equation(Operation& call) {
  LayerBuilder& layer = call.layer();
  const json& named = layer.config().value("subscripts");
  std::string equation = named.is_string() ? named.get<std::string>() : "";
  std::erase(equation, ' ');
  const std::size_t arrow = equation.find("->");
  if (arrow == std::string::npos || equation.find('.') != std::string::npos)
    layer.unsupported(fmt::format("the equation '{}'", equation), "write all axes and the result");
  KerasTensor result;
  std::vector<ValueId> values;
  std::map<char, std::int64_t> sizes;
  std::size_t at = 0;
  for (std::size_t i = 0; at <= arrow; ++i) {
    const std::string side = equation.substr(at, std::min(equation.find(',', at), arrow) - at);
    at += side.size() + 1;
    const KerasTensor x = layer.as_keras(call.tensor(i, {}));
    if (side.size() != x.rank() || side[0] != equation[0])
      layer.unsupported(fmt::format("the equation '{}'", equation),
                        "give every tensor all its axes, the records first");
    for (std::size_t axis = 0; axis < side.size(); ++axis) sizes[side[axis]] = x.shape[axis];
    values.push_back(x.value);
    if (i == 0) result = x;
  }
  const std::string made = equation.substr(arrow + 2);
  if (made.empty() || made[0] != equation[0])
    layer.unsupported(fmt::format("the equation '{}'", equation), "keep the records as the first axis");
  result = call.result(result, "Einsum", values, {{"equation", equation}});
  result.shape.clear();
  for (const char letter : made) {
    if (!sizes.contains(letter))
      layer.invalid(fmt::format("its equation '{}' has '{}' on one side only", equation, letter));
    result.shape.push_back(sizes[letter]);
  }
  return {result};
}

KerasTensors filled_like(Operation& call, float value) {
  const KerasTensor x = call.tensor(0, {"x", "input"});
  KerasTensor result = call.result(x, "ConstantOfShape", {call.step("Shape", "_shape", {x.value})},
                                   {{"value", Array::of<float>({1}, std::vector<float>{value})}});
  result.dtype = DType::float32;
  return {result};
}

// Every axis as many times as `repeats` says, the records once.
KerasTensors tiled(Operation& call) {
  const KerasTensor x = call.first();
  auto repeats = call.whole_numbers(1, {"repeats", "multiples"});
  if (!repeats || repeats->size() > x.rank()) call.layer().invalid("names no repeats for its axes");
  repeats->insert(repeats->begin(), x.rank() - repeats->size(), 1);
  if ((*repeats)[0] != 1) call.layer().unsupported("repeating records", "keep records once");
  KerasTensor result = call.result(x, "Tile", {x.value, call.list("repeats", *repeats)});
  for (std::size_t axis = 1; axis < x.rank(); ++axis) {
    const std::int64_t count = (*repeats)[axis];
    if (count < 1 || count > std::int64_t{1} << 31) call.layer().invalid("its repeats are no counts");
    if (result.shape[axis] > 0) result.shape[axis] *= count;
  }
  return {result};
}

// Every position of one axis several times, beside each other.
KerasTensors repeated(Operation& call) {
  const KerasTensor x = call.first();
  const auto count = call.whole_numbers(1, {"repeats"}), axes = call.whole_numbers(2, {"axis"});
  if (!count || count->size() != 1 || !axes || axes->size() != 1)
    call.layer().unsupported("repeats that differ, or without an axis", "name one number and one axis");
  const std::int64_t axis = call.own_axis((*axes)[0], x.rank()), times = (*count)[0];
  if (times < 1 || times > std::int64_t{1} << 31) call.layer().invalid("its repeats are no count");
  const std::int64_t size = call.layer().known(x, static_cast<std::size_t>(axis));
  std::vector<std::int64_t> repeats(x.rank() + 1, 1), shape(x.rank(), 0);
  repeats[static_cast<std::size_t>(axis) + 1] = times;
  shape[static_cast<std::size_t>(axis)] = size * times;
  const ValueId apart = call.step("Unsqueeze", "_apart", {x.value, call.list("axes", {axis + 1})});
  const ValueId tiles = call.step("Tile", "_tiles", {apart, call.list("repeats", repeats)});
  KerasTensor result = call.result(x, "Reshape", {tiles, call.list("shape", shape)});
  result.shape[static_cast<std::size_t>(axis)] = size * times;
  return {result};
}

// Zeros around, or another number.
KerasTensors padded(Operation& call) {
  const KerasTensor x = call.first();
  const json& given = Operation::bare(call.argument(1, {"pad_width", "paddings"}));
  const std::size_t rank = x.rank();
  std::vector<std::int64_t> pads(2 * rank, 0);
  KerasTensor result = x;
  for (std::size_t axis = 0; axis < rank; ++axis) {
    const json pair = given.is_array() && given.size() == rank ? Operation::bare(given[axis]) : json();
    if (!pair.is_array() || pair.size() != 2 || !pair[0].is_number_integer() || !pair[1].is_number_integer())
      call.layer().unsupported("a padding that is no pair for each axis", "name two numbers for each");
    pads[axis] = pair[0].get<std::int64_t>();
    pads[rank + axis] = pair[1].get<std::int64_t>();
    for (const std::int64_t pad : {pads[axis], pads[rank + axis]}) {
      if (pad < 0 || pad > std::int64_t{1} << 31)
        call.layer().invalid("its padding is negative or too large");
    }
    if (result.shape[axis] >= 0) result.shape[axis] += pads[axis] + pads[rank + axis];
  }
  if (pads[0] != 0 || pads[rank] != 0) call.layer().unsupported("padding records", "pad other axes");
  const json& mode = call.argument(2, {"mode"});
  std::string name = mode.is_string() ? mode.get<std::string>() : "constant";
  std::ranges::transform(name, name.begin(), [](unsigned char c) { return std::tolower(c); });
  if (name != "constant") call.layer().unsupported(fmt::format("mode '{}'", name), "pad with a constant");
  const auto value = static_cast<float>(call.number(3, {"constant_values"}, 0));
  const Shape shape = result.shape;
  result = call.result(x, "Pad",
                       {x.value, call.list("pads", pads), call.layer().constant("filling", scalar(value))},
                       {{"mode", std::string("constant")}});
  result.shape = shape;
  return {result};
}

KerasTensors summed_so_far(Operation& call) {
  const KerasTensor x = call.first();
  const auto axes = call.whole_numbers(1, {"axis"});
  if (!axes || axes->size() != 1) call.layer().unsupported("sums over all records", "name the axis");
  const std::int64_t axis = call.own_axis((*axes)[0], x.rank());
  return {call.result(
      x, "CumSum",
      {x.value, call.layer().constant("axis", Array::of(Shape{}, std::vector<std::int64_t>{axis}))})};
}

KerasTensors one_hot_operation(Operation& call) {
  KerasTensor x = call.first();
  const auto classes = call.whole_numbers(1, {"num_classes", "depth"});
  if (!classes || classes->size() != 1 || (*classes)[0] < 1)
    call.layer().invalid("names no number of classes");
  if (call.number(2, {"axis"}, -1) != -1) call.layer().unsupported("an axis other than the last", "use -1");
  if (x.dtype != DType::int64) x.value = call.step("Cast", "_numbers", {x.value}, {{"to", whole_type}});
  const ValueId values = call.layer().constant("off_on", Array::of(Shape{2}, std::vector<float>{0, 1}));
  KerasTensor result =
      call.result(x, "OneHot", {x.value, call.list("depth", *classes), values}, {{"axis", std::int64_t{-1}}});
  result.shape.push_back((*classes)[0]);
  result.dtype = DType::float32;
  return {result};
}

struct OperationKind {
  std::string_view name;
  std::function<KerasTensors(Operation&)> build;
};

const std::vector<OperationKind>& operation_kinds() {
  static const std::vector<OperationKind> kinds = [] {
    std::vector<OperationKind> list;
    const auto all = [&](auto build, std::initializer_list<std::pair<const char*, const char*>> names) {
      for (const auto& [name, op] : names)
        list.push_back({name, [build, op = op](Operation& call) { return build(call, op); }});
    };
    all(arithmetic, {{"add", "Add"},
                     {"subtract", "Sub"},
                     {"multiply", "Mul"},
                     {"divide", "Div"},
                     {"power", "Pow"},
                     {"maximum", "Max"},
                     {"minimum", "Min"},
                     {"bias_add", "Add"}});
    all(comparison, {{"equal", "Equal"},
                     {"not_equal", "Not"},
                     {"greater", "Greater"},
                     {"less", "Less"},
                     {"greater_equal", "GreaterOrEqual"},
                     {"less_equal", "LessOrEqual"},
                     {"logical_and", "And"},
                     {"logical_or", "Or"}});
    all(elementwise, {{"negative", "Neg"},
                      {"absolute", "Abs"},
                      {"exp", "Exp"},
                      {"log", "Log"},
                      {"sqrt", "Sqrt"},
                      {"reciprocal", "Reciprocal"},
                      {"sin", "Sin"},
                      {"cos", "Cos"},
                      {"erf", "Erf"},
                      {"sign", "Sign"},
                      {"floor", "Floor"},
                      {"ceil", "Ceil"},
                      {"round", "Round"},
                      {"logical_not", "Not"},
                      {"identity", "Identity"}});
    all([](Operation& call, const char* name) { return activated(call, name); },
        {{"relu", "relu"},
         {"relu6", "relu6"},
         {"sigmoid", "sigmoid"},
         {"tanh", "tanh"},
         {"silu", "silu"},
         {"softplus", "softplus"},
         {"softsign", "softsign"},
         {"selu", "selu"},
         {"log_sigmoid", "log_sigmoid"},
         {"hard_silu", "hard_silu"},
         {"hard_tanh", "hard_tanh"},
         {"tanh_shrink", "tanh_shrink"},
         {"squareplus", "squareplus"},
         {"hard_sigmoid", "hard_sigmoid"},
         {"mish", "mish"}});
    all([](Operation& call, const char* op) { return reduction(call, op); }, {{"mean", "ReduceMean"},
                                                                              {"sum", "ReduceSum"},
                                                                              {"max", "ReduceMax"},
                                                                              {"min", "ReduceMin"},
                                                                              {"prod", "ReduceProd"},
                                                                              {"amax", "ReduceMax"},
                                                                              {"amin", "ReduceMin"},
                                                                              {"any", "any"},
                                                                              {"all", "all"}});
    all(arg_extreme, {{"argmax", "ArgMax"}, {"argmin", "ArgMin"}});
    const auto one = [&](const char* name, auto build) { list.push_back({name, build}); };
    all(beside_one, {{"log1p", "Log"}, {"expm1", "Exp"}});
    for (const char* name : {"var", "reduce_variance"})
      one(name, [](Operation& call) { return spread(call, false); });
    for (const char* name : {"std", "reduce_std"})
      one(name, [](Operation& call) { return spread(call, true); });
    one("zeros_like", [](Operation& call) { return filled_like(call, 0); });
    one("ones_like", [](Operation& call) { return filled_like(call, 1); });
    one("tile", tiled);
    one("repeat", repeated);
    one("pad", padded);
    one("cumsum", summed_so_far);
    one("one_hot", one_hot_operation);
    one("flip", flipped);
    one("reverse", flipped);
    one("swapaxes", swapped_axes);
    one("split", parted);
    one("einsum", product_by_equation);
    one("square", square);
    one("rsqrt", rsqrt);
    one("squared_difference", squared_difference);
    one("clip", clip_operation);
    one("elu", [](Operation& call) {
      return activated(call, with_config("ELU", "alpha", call.number(1, {"alpha"}, 1)));
    });
    one("leaky_relu", [](Operation& call) {
      return activated(
          call, with_config("LeakyReLU", "negative_slope", call.number(1, {"negative_slope", "alpha"}, 0.2)));
    });
    one("gelu", [](Operation& call) {
      const bool keras3 = call.layer().config().class_name() == "Gelu";
      return activated(call, with_config("gelu", "approximate", call.flag(1, {"approximate"}, keras3)));
    });
    one("softmax", [](Operation& call) {
      return activated(call, with_config("Softmax", "axis", call.number(1, {"axis"}, -1)));
    });
    one("log_softmax", [](Operation& call) {
      if (call.number(1, {"axis"}, -1) != -1)
        call.layer().unsupported("an axis other than the last", "use -1");
      return activated(call, "log_softmax");
    });
    one("expand_dims", expand_dims);
    one("squeeze", squeeze);
    one("reshape", reshaped);
    one("transpose", transposition);
    one("concatenate", [](Operation& call) { return joined(call, false); });
    one("stack", [](Operation& call) { return joined(call, true); });
    one("matmul", product);
    one("cast", cast_operation);
    one("get_item", get_item);
    one("where", choice);
    one("l2_normalize", unit_length);
    one("normalize", unit_length);
    return list;
  }();
  return kinds;
}

const OperationKind* operation_kind(const std::string& name) {
  const auto& kinds = operation_kinds();
  const auto it = std::ranges::find(kinds, name, &OperationKind::name);
  return it == kinds.end() ? nullptr : &*it;
}

}  // namespace

KerasTensors operation(LayerBuilder& layer, std::span<const KerasTensor> inputs) {
  Operation call(layer, inputs);
  const OperationKind* kind = operation_kind(call.name());
  if (!kind) {
    layer.unsupported(fmt::format("the operation '{}'", call.name()),
                      "use a layer that does the same, or export the model to ONNX");
  }
  return kind->build(call);
}

}  // namespace assay::keras

namespace assay {

bool is_keras_operation(const std::string& class_name) {
  return !is_keras_layer(class_name) && keras::operation_kind(keras_snake_case(class_name)) != nullptr;
}

}  // namespace assay
