// Operators of the fast paths under random attributes: outputs and gradients are those of the plain kernels.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include <assay/array_math.h>
#include <assay/error.h>
#include <assay/extend/random.h>
#include <assay/model.h>
#include <assay/session.h>
#include "assay/engine/backend.h"
#include "tests/engine/backends/network.h"

namespace assay {
namespace {

using Ints = std::vector<std::int64_t>;
using Attributes = std::map<std::string, Attribute>;

// A network of one operator whose form is drawn.
class Drawn {
 public:
  explicit Drawn(std::uint64_t seed) : rng_(seed) {}

  std::int64_t between(std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(rng_.below(static_cast<std::uint64_t>(high - low + 1)));
  }
  bool coin() { return rng_.below(2) == 0; }
  template <typename T>
  T one_of(std::initializer_list<T> list) {
    return list.begin()[rng_.below(list.size())];
  }
  Ints some(std::size_t count, std::int64_t low, std::int64_t high) {
    Ints values(count);
    for (auto& value : values) value = between(low, high);
    return values;
  }
  // Of a value of so many axes, not that of records; counted from the end half of the time.
  std::int64_t axis(std::int64_t rank) { return between(1, rank - 1) - (coin() ? rank : 0); }
  float real(double low, double high) { return static_cast<float>(rng_.uniform(low, high)); }

  ValueId input(Shape record) {
    Shape declared = record;
    declared.insert(declared.begin(), -1);
    const ValueId id = builder.input(fmt::format("x{}", records.size()), DType::float32, declared);
    record.insert(record.begin(), rows);
    records.emplace(id, numbers(record, -2, 2));
    return id;
  }
  ValueId weights(const Shape& shape, double low = -1, double high = 1) {
    return builder.constant("", numbers(shape, low, high));
  }
  ValueId number(float value) { return builder.constant("", Array::of<float>({}, std::vector{value})); }
  ValueId integers(const Ints& values) {
    return builder.constant("", Array::of<std::int64_t>({std::ssize(values)}, values));
  }
  ValueId add(const std::string& op, std::vector<ValueId> inputs, const Attributes& attributes = {}) {
    return builder.add(op, op, std::move(inputs), attributes);
  }
  std::vector<ValueId> add_several(const std::string& op, std::vector<ValueId> inputs, std::size_t results,
                                   const Attributes& attributes = {}) {
    std::vector<ValueId> outputs;
    for (std::size_t o = 0; o < results; ++o) outputs.push_back(builder.value(fmt::format("{}_{}", op, o)));
    builder.node(
        {.name = op, .op = op, .inputs = std::move(inputs), .outputs = outputs, .attributes = attributes});
    return outputs;
  }

  Array numbers(const Shape& shape, double low, double high) {
    std::vector<float> values(static_cast<std::size_t>(element_count(shape)));
    for (float& value : values) value = real(low, high);
    return Array::of<float>(shape, values).clone();
  }

  static constexpr std::int64_t rows = 3;
  GraphBuilder builder{"drawn"};
  Tensors records;

 private:
  Rng rng_;
};

using Draw = std::function<std::vector<ValueId>(Drawn&)>;

// Windows
// ---------------------------------------------------------------------------------------------------

void draw_padding(Drawn& d, std::size_t axes, std::int64_t most, Attributes& attributes) {
  const auto automatic = d.one_of<std::string>({"", "", "NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID"});
  if (!automatic.empty()) attributes["auto_pad"] = automatic;
  if (automatic.size() < 7 && d.coin()) attributes["pads"] = d.coin() ? d.some(2 * axes, 0, most) : Ints{};
}

void draw_steps(Drawn& d, std::size_t axes, Attributes& attributes) {
  if (d.coin()) attributes["strides"] = d.some(axes, 1, 3);
  if (d.between(0, 2) == 0) attributes["dilations"] = d.some(axes, 1, 2);
  if (d.between(0, 9) == 0) attributes["strides"] = Ints{};
}

std::vector<ValueId> convolution(Drawn& d) {
  const auto axes = static_cast<std::size_t>(d.one_of({1, 2, 2, 2, 3}));
  const std::int64_t group = d.between(1, 3), in = group * d.between(1, 2), out = group * d.between(1, 3);
  const Ints kernel = d.some(axes, 1, 4);
  Shape record{in}, weights{out, in / group};
  for (const std::int64_t size : d.some(axes, 5, 9)) record.push_back(size);
  weights.insert(weights.end(), kernel.begin(), kernel.end());
  Attributes attributes{{"group", group}};
  draw_steps(d, axes, attributes);
  draw_padding(d, axes, 3, attributes);
  if (d.coin()) attributes["kernel_shape"] = kernel;
  std::vector<ValueId> inputs{d.input(record), d.weights(weights)};
  if (d.coin()) inputs.push_back(d.weights({out}));
  return {d.add("Conv", inputs, attributes)};
}

std::vector<ValueId> transposed(Drawn& d) {
  const auto axes = static_cast<std::size_t>(d.one_of({1, 2, 2, 2, 3}));
  const std::int64_t group = d.between(1, 2), in = group * d.between(1, 2), out = d.between(1, 2);
  const Ints kernel = d.some(axes, 1, 4), sizes = d.some(axes, 3, 5);
  Shape record{in}, weights{in, out};
  record.insert(record.end(), sizes.begin(), sizes.end());
  weights.insert(weights.end(), kernel.begin(), kernel.end());
  Attributes attributes{{"group", group}};
  draw_steps(d, axes, attributes);
  draw_padding(d, axes, 2, attributes);
  if (d.between(0, 2) == 0) attributes["output_padding"] = d.some(axes, 0, 1);
  if (d.coin()) attributes["output_shape"] = d.some(axes, 3, 14);
  std::vector<ValueId> inputs{d.input(record), d.weights(weights)};
  if (d.coin()) inputs.push_back(d.weights({group * out}));
  return {d.add("ConvTranspose", inputs, attributes)};
}

std::vector<ValueId> pool(Drawn& d) {
  const auto axes = static_cast<std::size_t>(d.one_of({1, 2, 2, 2, 3}));
  const bool average = d.coin();
  Shape record{d.between(1, 3)};
  for (const std::int64_t size : d.some(axes, 5, 9)) record.push_back(size);
  Attributes attributes{{"kernel_shape", d.some(axes, 1, 4)}};
  draw_steps(d, axes, attributes);
  draw_padding(d, axes, 2, attributes);
  if (d.coin()) attributes["ceil_mode"] = std::int64_t{1};
  if (average && d.coin()) attributes["count_include_pad"] = std::int64_t{1};
  if (!average && d.coin()) attributes["storage_order"] = std::int64_t{0};
  return {d.add(average ? "AveragePool" : "MaxPool", {d.input(record)}, attributes)};
}

std::vector<ValueId> global_pool(Drawn& d) {
  Shape record{d.between(1, 3)};
  for (const std::int64_t size : d.some(static_cast<std::size_t>(d.between(1, 3)), 1, 5))
    record.push_back(size);
  return {d.add(d.one_of<std::string>({"GlobalAveragePool", "GlobalMaxPool"}), {d.input(record)})};
}

// Products
// ---------------------------------------------------------------------------------------------------

std::vector<ValueId> gemm(Drawn& d) {
  const std::int64_t in = d.between(1, 6), out = d.between(1, 6);
  const bool flipped = d.coin();
  Attributes attributes;
  if (flipped) attributes["transB"] = std::int64_t{1};
  if (d.coin()) attributes["alpha"] = d.real(-2, 2);
  if (d.coin()) attributes["beta"] = d.real(-2, 2);
  std::vector<ValueId> inputs{d.input({in}), d.weights(flipped ? Shape{out, in} : Shape{in, out})};
  if (d.coin()) inputs.push_back(d.weights(d.one_of<Shape>({{out}, {1, out}, {}, {1}, {1, 1}})));
  return {d.add("Gemm", inputs, attributes)};
}

std::vector<ValueId> matmul(Drawn& d) {
  const std::int64_t in = d.between(1, 6), out = d.between(1, 6), rank = d.between(1, 3);
  Shape record = d.some(static_cast<std::size_t>(rank), 1, 4);
  record.back() = in;
  const ValueId x = d.input(record);
  if (d.coin() || rank == 1)
    return {d.add("MatMul", {x, d.weights(d.one_of<Shape>({{in, out}, {in, out}, {1, in, out}, {in}}))})};
  Shape other = record;
  other.back() = out, other[other.size() - 2] = in;
  if (rank == 3 && d.coin()) other[0] = 1;
  return {d.add("MatMul", {x, d.input(other)})};
}

std::vector<ValueId> recurrence(Drawn& d) {
  const auto op = d.one_of<std::string>({"LSTM", "GRU", "RNN"});
  const std::int64_t gates = op == "LSTM" ? 4 : op == "GRU" ? 3 : 1, hidden = d.between(1, 5);
  const std::int64_t steps = d.between(1, 4), features = d.between(1, 4);
  const auto direction = d.one_of<std::string>({"forward", "reverse", "bidirectional"});
  const std::int64_t directions = direction == "bidirectional" ? 2 : 1;
  const bool records_first = d.coin();
  Attributes attributes{{"hidden_size", hidden}, {"direction", direction}};
  if (records_first) attributes["layout"] = std::int64_t{1};
  if (op == "GRU" && d.coin()) attributes["linear_before_reset"] = std::int64_t{1};
  if (d.between(0, 4) == 0) attributes["clip"] = d.real(0.1, 1);
  if (op == "LSTM" && d.between(0, 4) == 0) attributes["input_forget"] = std::int64_t{1};
  if (d.between(0, 3) == 0) {
    std::vector<std::string> functions;
    const std::int64_t each = gates == 4 ? 3 : gates == 3 ? 2 : 1;
    for (std::int64_t i = 0; i < each * directions; ++i)
      functions.push_back(d.one_of<std::string>({"Sigmoid", "Tanh", "tanh", "HardSigmoid", "LeakyRelu"}));
    attributes["activations"] = functions;
    if (d.coin()) attributes["activation_alpha"] = std::vector<float>{0.3F, 0.1F};
  }
  ValueId x = d.input({steps, features});
  if (!records_first) x = d.builder.add("Transpose", "steps_first", {x}, {{"perm", Ints{1, 0, 2}}});
  std::vector<ValueId> inputs{x, d.weights({directions, gates * hidden, features}),
                              d.weights({directions, gates * hidden, hidden})};
  inputs.push_back(d.coin() ? d.weights({directions, 2 * gates * hidden}) : no_value);
  if (op == "LSTM" && d.between(0, 4) == 0) {
    inputs.resize(7, no_value);
    inputs.push_back(d.weights({directions, 3 * hidden}));
  }
  return d.add_several(op, inputs, 2, attributes);
}

// Axes
// ---------------------------------------------------------------------------------------------------

Shape record_of_rank(Drawn& d, std::int64_t least, std::int64_t most) {
  return d.some(static_cast<std::size_t>(d.between(least, most)), 1, 4);
}

// What is normalised by itself, where two elements that are alike leave rounding alone of gradients.
Shape wide_record(Drawn& d, std::int64_t least) {
  return d.some(static_cast<std::size_t>(d.between(least, 3)), 4, 6);
}

std::vector<ValueId> softmax(Drawn& d) {
  const Shape record = record_of_rank(d, 1, 3);
  Attributes attributes;
  if (d.coin()) attributes["axis"] = d.axis(std::ssize(record) + 1);
  return {d.add(d.one_of<std::string>({"Softmax", "LogSoftmax"}), {d.input(record)}, attributes)};
}

std::vector<ValueId> layer_normalisation(Drawn& d) {
  const Shape record = wide_record(d, 1);
  const std::int64_t rank = std::ssize(record) + 1, axis = d.coin() ? d.axis(rank) : -1;
  Attributes attributes;
  if (axis != -1 || d.coin()) attributes["axis"] = axis;
  if (d.coin()) attributes["epsilon"] = d.real(1e-6, 0.5);
  if (d.coin()) attributes["stash_type"] = std::int64_t{1};
  const Shape normal(record.begin() + (axis < 0 ? axis + rank : axis) - 1, record.end());
  std::vector<ValueId> inputs{d.input(record), d.weights(normal)};
  if (d.coin()) inputs.push_back(d.weights(normal));
  return {d.add("LayerNormalization", inputs, attributes)};
}

std::vector<ValueId> channel_normalisation(Drawn& d) {
  const auto op =
      d.one_of<std::string>({"InstanceNormalization", "GroupNormalization", "BatchNormalization"});
  Shape record = op == "BatchNormalization" ? record_of_rank(d, 1, 3) : wide_record(d, 2);
  const std::int64_t groups = d.between(1, 3), channels = record[0] *= groups;
  Attributes attributes;
  if (d.coin()) attributes["epsilon"] = d.real(1e-6, 0.5);
  if (op == "GroupNormalization") attributes["num_groups"] = groups;
  if (op == "BatchNormalization" && d.coin()) attributes["momentum"] = 0.3F;
  std::vector<ValueId> inputs{d.input(record), d.weights({channels}), d.weights({channels})};
  if (op == "BatchNormalization") {
    inputs.push_back(d.weights({channels}));
    inputs.push_back(d.weights({channels}, 0.2, 2));
  }
  return {d.add(op, inputs, attributes)};
}

std::vector<ValueId> reduction(Drawn& d) {
  const Shape record = record_of_rank(d, 1, 3);
  const std::int64_t rank = std::ssize(record) + 1;
  const auto op = d.one_of<std::string>({"ReduceMean", "ReduceSum", "ReduceMax", "ReduceMin", "ReduceL2"});
  Attributes attributes;
  if (d.coin()) attributes["keepdims"] = d.between(0, 1);
  if (d.coin()) attributes["noop_with_empty_axes"] = d.between(0, 1);
  Ints axes;
  for (std::int64_t axis = 1; axis < rank; ++axis) {
    if (d.coin()) axes.push_back(d.coin() ? axis : axis - rank);
  }
  if (axes.empty()) axes.push_back(-1);
  return {d.add(op, {d.input(record), d.integers(axes)}, attributes)};
}

// Movement
// ---------------------------------------------------------------------------------------------------

std::vector<ValueId> concatenation(Drawn& d) {
  const Shape record = record_of_rank(d, 1, 3);
  const std::int64_t axis = d.axis(std::ssize(record) + 1);
  const std::size_t along = static_cast<std::size_t>((axis < 0 ? axis + std::ssize(record) + 1 : axis) - 1);
  std::vector<ValueId> inputs;
  for (std::int64_t i = d.between(1, 3); i > 0; --i) {
    Shape part = record;
    part[along] = d.between(1, 3);
    inputs.push_back(d.input(part));
  }
  return {d.add("Concat", inputs, {{"axis", axis}})};
}

std::vector<ValueId> split(Drawn& d) {
  Shape record = record_of_rank(d, 1, 3);
  const std::int64_t axis = d.axis(std::ssize(record) + 1);
  const Ints parts = d.some(static_cast<std::size_t>(d.between(1, 3)), 1, 3);
  std::int64_t& along =
      record[static_cast<std::size_t>((axis < 0 ? axis + std::ssize(record) + 1 : axis) - 1)];
  along = 0;
  for (const std::int64_t part : parts) along += part;
  if (d.coin())
    return d.add_several("Split", {d.input(record), d.integers(parts)}, parts.size(), {{"axis", axis}});
  const std::int64_t count = std::min<std::int64_t>(along, 2);
  return d.add_several("Split", {d.input(record)}, static_cast<std::size_t>(count),
                       {{"axis", axis}, {"num_outputs", count}});
}

std::vector<ValueId> slice(Drawn& d) {
  const Shape record = record_of_rank(d, 1, 3);
  const std::int64_t rank = std::ssize(record) + 1;
  Ints axes, starts, ends, steps;
  for (std::int64_t axis = 1; axis < rank; ++axis) {
    if (!axes.empty() && d.coin()) continue;
    axes.push_back(d.coin() ? axis : axis - rank);
    starts.push_back(d.between(-6, 6));
    ends.push_back(d.coin() ? d.between(-6, 6)
                            : d.one_of({std::numeric_limits<std::int64_t>::max(),
                                        std::numeric_limits<std::int64_t>::min()}));
    steps.push_back(d.one_of<std::int64_t>({1, 1, 2, -1, -2}));
  }
  std::vector<ValueId> inputs{d.input(record), d.integers(starts), d.integers(ends), d.integers(axes)};
  if (d.coin()) inputs.push_back(d.integers(steps));
  return {d.add("Slice", inputs)};
}

std::vector<ValueId> gather(Drawn& d) {
  const Shape record = record_of_rank(d, 1, 3);
  const std::int64_t rank = std::ssize(record) + 1, axis = d.axis(rank);
  const std::int64_t size = record[static_cast<std::size_t>((axis < 0 ? axis + rank : axis) - 1)];
  const auto shape = d.one_of<Shape>({{}, {1}, {2}, {3}, {1, 1}, {2, 2}});
  const Ints at = d.some(static_cast<std::size_t>(element_count(shape)), -size, size - 1);
  const ValueId indices = d.builder.constant("", Array::of<std::int64_t>(shape, at));
  return {d.add("Gather", {d.input(record), indices}, {{"axis", axis}})};
}

std::vector<ValueId> pad(Drawn& d) {
  const Shape record = record_of_rank(d, 1, 3);
  const auto rank = static_cast<std::size_t>(std::ssize(record) + 1);
  const auto mode = d.one_of<std::string>({"", "constant", "reflect", "edge", "wrap"});
  Attributes attributes;
  if (!mode.empty()) attributes["mode"] = mode;
  const bool some_axes = d.coin();
  const std::size_t count = some_axes ? 1 : rank;
  Ints pads = d.some(2 * count, -1, 2);
  if (!some_axes) pads[0] = pads[rank] = 0;
  std::vector<ValueId> inputs{d.input(record), d.integers(pads)};
  inputs.push_back(d.coin() ? d.number(d.real(-1, 1)) : no_value);
  if (some_axes) inputs.push_back(d.integers({d.axis(static_cast<std::int64_t>(rank))}));
  while (inputs.back() == no_value) inputs.pop_back();
  return {d.add("Pad", inputs, attributes)};
}

std::vector<ValueId> transposition(Drawn& d) {
  const Shape record = record_of_rank(d, 1, 4);
  Ints order;
  for (std::int64_t i = 0; i <= std::ssize(record); ++i) order.push_back(i);
  for (std::size_t i = order.size() - 1; i > 1; --i)
    std::swap(order[i], order[static_cast<std::size_t>(d.between(1, static_cast<std::int64_t>(i)))]);
  return {d.add("Transpose", {d.input(record)}, {{"perm", order}})};
}

std::vector<ValueId> view(Drawn& d) {
  const Shape record = record_of_rank(d, 2, 3);
  const ValueId x = d.input(record);
  const auto op = d.one_of<std::string>({"Flatten", "Reshape", "Unsqueeze", "Identity", "Dropout"});
  if (op == "Flatten")
    return {d.add(op, {x}, d.coin() ? Attributes{} : Attributes{{"axis", std::int64_t{1}}})};
  if (op == "Unsqueeze") return {d.add(op, {x, d.integers({d.axis(std::ssize(record) + 2)})})};
  if (op == "Reshape")
    return {d.add(op, {x, d.integers(d.one_of<Ints>({{0, -1}, {-1, element_count(record)}, {0, 1, -1}}))})};
  return {d.add(op, {x})};
}

std::vector<ValueId> choice(Drawn& d) {
  const Shape record = record_of_rank(d, 1, 3);
  const Array truth = d.numbers(d.coin() ? record : Shape{record.back()}, -1, 1) > 0;
  const ValueId condition = d.builder.constant("", truth), x = d.input(record), other = d.number(0.7F);
  return {d.coin() ? d.add("Where", {condition, x, other}) : d.add("Where", {condition, other, x})};
}

// Elements
// ---------------------------------------------------------------------------------------------------

std::vector<ValueId> unary(Drawn& d) {
  const ValueId x = d.input(record_of_rank(d, 1, 3));
  const auto op = d.one_of<std::string>(
      {"Abs",  "Atan",  "Elu",  "Erf",  "Exp",     "Gelu",     "HardSigmoid", "HardSwish", "LeakyRelu",
       "Mish", "Neg",   "Relu", "Selu", "Sigmoid", "Softplus", "Softsign",    "Tanh",      "ThresholdedRelu",
       "Celu", "Shrink"});
  Attributes attributes;
  if (op == "Gelu" && d.coin()) attributes["approximate"] = d.one_of<std::string>({"tanh", "none"});
  const bool has_alpha = op == "Elu" || op == "HardSigmoid" || op == "LeakyRelu" || op == "Selu" ||
                         op == "ThresholdedRelu" || op == "Celu";
  if (has_alpha && d.coin()) attributes["alpha"] = d.real(0.1, 1.5);
  if (op == "HardSigmoid" && d.coin()) attributes["beta"] = d.real(0.1, 0.9);
  if (op == "Selu" && d.coin()) attributes["gamma"] = d.real(0.1, 1.5);
  if (op == "Shrink" && d.coin()) attributes["lambd"] = d.real(0.1, 1);
  return {d.add(op, {x}, attributes)};
}

std::vector<ValueId> positive(Drawn& d) {
  const ValueId x = d.input(record_of_rank(d, 1, 3));
  d.records.at(x) = d.records.at(x).abs() + 0.1;
  return {d.add(d.one_of<std::string>({"Log", "Reciprocal", "Sqrt"}), {x})};
}

std::vector<ValueId> clip(Drawn& d) {
  std::vector<ValueId> inputs{d.input(record_of_rank(d, 1, 3))};
  const float low = d.real(-1, 1), high = d.real(-1, 1);  // perhaps crossed
  inputs.push_back(d.coin() ? d.number(low) : no_value);
  inputs.push_back(d.coin() ? d.number(high) : no_value);
  while (inputs.back() == no_value) inputs.pop_back();
  return {d.add("Clip", inputs)};
}

std::vector<ValueId> binary(Drawn& d) {
  const Shape record = record_of_rank(d, 1, 3);
  const auto op = d.one_of<std::string>({"Add", "Sub", "Mul", "Div", "Max", "Min", "Pow"});
  const ValueId x = d.input(record);
  Shape other = record;
  for (std::int64_t& size : other) size = d.coin() ? size : 1;
  if (op == "Pow") return {d.add(op, {x, d.number(d.one_of({2.0F, 1.0F, 3.0F}))})};
  if (op == "Div") return {d.add(op, {x, d.weights(other, 0.5, 2)})};
  if (d.coin()) return {d.add(op, {x, d.input(other)})};
  if (d.coin()) other.erase(other.begin());
  if (d.coin() && std::ssize(other) == std::ssize(record)) other.insert(other.begin(), 1);
  const ValueId constant = d.weights(other);
  return {d.coin() ? d.add(op, {x, constant}) : d.add(op, {constant, x})};
}

struct AttributeForm {
  std::string name;
  Draw draw;
};

const std::vector<AttributeForm>& attribute_forms() {
  static const std::vector<AttributeForm> all{
      {"Convolution", convolution},
      {"Transposed", transposed},
      {"Pool", pool},
      {"GlobalPool", global_pool},
      {"Gemm", gemm},
      {"MatMul", matmul},
      {"Recurrence", recurrence},
      {"Softmax", softmax},
      {"LayerNormalisation", layer_normalisation},
      {"ChannelNormalisation", channel_normalisation},
      {"Reduction", reduction},
      {"Concatenation", concatenation},
      {"Split", split},
      {"Slice", slice},
      {"Gather", gather},
      {"Pad", pad},
      {"Transposition", transposition},
      {"View", view},
      {"Choice", choice},
      {"Unary", unary},
      {"Positive", positive},
      {"Clip", clip},
      {"Binary", binary},
  };
  return all;
}

class RandomAttributes : public testing::TestWithParam<AttributeForm> {};
INSTANTIATE_TEST_SUITE_P(Operators, RandomAttributes, testing::ValuesIn(attribute_forms()),
                         [](const auto& at) { return at.param.name; });

struct Computed {
  Tensors outputs, gradients;
  std::size_t nodes = 0;  // that the engine runs
};

Computed computed(const Graph& graph, const Tensors& records, const std::string& engine) {
  const Session session(graph, {.threads = 1, .engine = engine});
  Computed found{.outputs = session.run(records, graph.outputs()), .gradients = {}};
  for (const PlannedSegment& segment : session.plan())
    found.nodes += segment.engine == engine ? segment.nodes.size() : 0;
  const auto objective = [&](const Tensors& values) {
    Array sum = array::zeros({});
    for (const ValueId id : graph.outputs()) {
      const Array& value = values.at(id);
      sum = sum +
            (value * array::cos(array::arange(value.count(), DType::float32).reshape(value.shape()))).sum();
    }
    return sum;
  };
  const std::vector<ValueId> inputs(graph.inputs().begin(), graph.inputs().end());
  found.gradients = session.gradients(records, graph.outputs(), objective, inputs);
  return found;
}

void expect_same(const Tensors& actual, const Tensors& expected, const std::string& what) {
  for (const auto& [id, tensor] : expected) {
    ASSERT_EQ(actual.at(id).shape(), tensor.shape()) << what;
    EXPECT_TRUE(array::allclose(actual.at(id), tensor, 1e-4, 2e-5, /*equal_nan=*/true))
        << what << (actual.at(id) - tensor).abs().max().item<float>();
  }
}

std::string form_of(const Graph& graph) {
  std::string text;
  for (const Node& node : graph.nodes()) {
    text += node.op + ":";
    for (const auto& [name, value] : node.attributes) {
      text += " " + name + "=";
      if (const auto* number = std::get_if<std::int64_t>(&value)) text += std::to_string(*number);
      if (const auto* real = std::get_if<float>(&value)) text += std::to_string(*real);
      if (const auto* word = std::get_if<std::string>(&value)) text += *word;
      if (const auto* list = std::get_if<Ints>(&value)) text += to_string(*list);
    }
    for (const ValueId id : node.inputs) {
      if (id == no_value) continue;
      text += graph.is_constant(id) ? " constant " + to_string(graph.constant(id).shape())
                                    : " " + to_string(graph.value(id).shape);
    }
    text += "\n";
  }
  return text;
}

TEST_P(RandomAttributes, OutputsAndGradientsAreThoseOfTheKernels) {
  constexpr std::uint64_t cases = 60;
  std::map<std::string, std::size_t> fast;
  std::size_t valid = 0;
  for (std::uint64_t seed = 1; seed <= cases; ++seed) {
    Drawn drawn(seed);
    drawn.builder.set_outputs(GetParam().draw(drawn));
    const Graph graph = drawn.builder.build();
    Computed expected;
    try {
      expected = computed(graph, drawn.records, "reference");
    } catch (const Error&) {
      continue;  // no such form exists
    }
    ++valid;
    for (const Backend* backend : test::tested_backends()) {
      const std::string engine(backend->name());
      const std::string what = fmt::format("{}, case {}: {}", engine, seed, form_of(graph));
      const Computed actual = computed(graph, drawn.records, engine);
      fast[engine] += actual.nodes;
      expect_same(actual.outputs, expected.outputs, what);
      expect_same(actual.gradients, expected.gradients, what + " gradients");
    }
  }
  EXPECT_GT(valid, cases / 4);
  EXPECT_GT(fast["lanes"], std::size_t{0});
}

}  // namespace
}  // namespace assay
