// Laws over the table of operator traits: what it says of an operator holds of the kernel.

#include <assay/extend/operator_traits.h>
#include <assay/model.h>

#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/ranges.h>

#include <assay/session.h>
#include "assay/model/trees.h"
#include "fixture.h"
#include "tests/random_arrays.h"

namespace assay::testing {
namespace {

TEST(OperatorTraits, AreOfTheOperatorsWithAKernel) {
  for (const KernelInfo& kernel : kernels()) EXPECT_NE(traits_of(kernel.op), nullptr) << kernel.op;
  for (const OperatorTraits& one : operator_traits()) EXPECT_NE(find_kernel(one.op), nullptr) << one.op;
}

// Activation functions
// ------------------------------------------------------------------------------------------------

struct ActivationFunction {
  std::string op;
  Attributes attributes = {};
  std::vector<float> numbers = {};  // further operands
  bool usual = true;                // slopes and thresholds are not negative
  std::string describe() const {
    return fmt::format("{} with {} attributes and numbers {}", op, attributes.size(),
                       fmt::join(numbers, ", "));
  }
};

// Each activation function with its defaults, then forms whose range depends on attributes.
std::vector<ActivationFunction> activation_functions() {
  std::vector<ActivationFunction> all;
  for (const OperatorTraits& one : operator_traits()) {
    if (!is_activation(one.op)) continue;
    all.push_back({std::string(one.op)});
    if (one.op == "PRelu") all.back().numbers = {0.25F};
    if (one.op == "StraightThrough") all.back().attributes = {{"step", std::string("Round")}};
  }
  const std::vector<ActivationFunction> others{{"Celu", {{"alpha", 2.0F}}},
                                               {"Celu", {{"alpha", -1.0F}}, {}, false},
                                               {"Clip", {}, {0, 6}},
                                               {"Clip", {}, {-0.5F}},
                                               {"Elu", {{"alpha", 0.5F}}},
                                               {"Elu", {{"alpha", -0.5F}}, {}, false},
                                               {"Gelu", {{"approximate", std::string("tanh")}}},
                                               {"HardSigmoid", {{"alpha", 0.5F}, {"beta", 0.25F}}},
                                               {"LeakyRelu", {{"alpha", 0.5F}}},
                                               {"Selu", {{"alpha", 2.0F}, {"gamma", 0.5F}}},
                                               {"Selu", {{"alpha", -2.0F}, {"gamma", 0.5F}}, {}, false},
                                               {"Shrink", {{"lambd", 1.0F}, {"bias", 0.25F}}},
                                               {"Swish", {{"alpha", 0.5F}}},
                                               {"Swish", {{"alpha", -1.0F}}, {}, false},
                                               {"ThresholdedRelu", {{"alpha", 0.25F}}},
                                               {"ThresholdedRelu", {{"alpha", -0.5F}}, {}, false}};
  all.insert(all.end(), others.begin(), others.end());
  return all;
}

std::vector<float> grid() {
  std::vector<float> points;
  for (const float far : {1000.0F, 100.0F, 30.0F}) points.push_back(-far);
  for (int i = -1000; i <= 1000; ++i) points.push_back(static_cast<float>(i) / 100);
  for (const float far : {30.0F, 100.0F, 1000.0F}) points.push_back(far);
  return points;
}

struct Curve {
  ValueRange range;
  std::vector<float> x, y;
  bool rises() const {
    for (std::size_t i = 1; i < y.size(); ++i) {
      if (y[i] < y[i - 1] - 1e-6F * std::abs(y[i - 1])) return false;
    }
    return true;
  }
  bool rectifies() const {
    for (std::size_t i = 0; i < y.size(); ++i) {
      if (y[i] != 0 && y[i] != x[i]) return false;
    }
    return y.front() == 0 && y.back() == x.back();
  }
};

// The function over the grid, as a session computes it.
Curve curve_of(const ActivationFunction& function) {
  Curve curve{.range = {}, .x = grid(), .y = {}};
  const auto points = static_cast<std::int64_t>(curve.x.size());
  GraphBuilder builder;
  std::vector<ValueId> inputs{builder.input("x", DType::float32, {-1, points})};
  for (const float number : function.numbers)
    inputs.push_back(builder.constant({}, Array::of<float>({}, {number})));
  builder.output(builder.add(function.op, "f", std::move(inputs), function.attributes));
  const Session session(builder.build());
  curve.range = range_of(session.graph(), session.graph().nodes()[0]);
  const ValueId out = session.graph().outputs()[0];
  const Array result = session.run(session.bind(Array::of<float>({1, points}, curve.x)), std::span(&out, 1))
                           .at(out)
                           .contiguous();
  curve.y.assign(result.elements<float>(), result.elements<float>() + result.count());
  return curve;
}

TEST(ActivationFunctions, KeepWithinTheirRangeAndReachItsBounds) {
  constexpr double far = 5;  // what an open end must go beyond
  for (const ActivationFunction& function : activation_functions()) {
    SCOPED_TRACE(function.describe());
    const Curve curve = curve_of(function);
    const auto [low, high] = std::ranges::minmax(curve.y);
    EXPECT_GE(low, curve.range.low - 1e-6);
    EXPECT_LE(high, curve.range.high + 1e-6);
    EXPECT_LE(low, std::isfinite(curve.range.low) ? curve.range.low + 0.02 : -far);
    EXPECT_GE(high, std::isfinite(curve.range.high) ? curve.range.high - 0.02 : far);
  }
}

TEST(ActivationFunctions, RiseWhereTheyAreMonotoneAndNowhereElse) {
  for (const ActivationFunction& function : activation_functions()) {
    if (is_softmax(function.op) || !function.usual) continue;
    EXPECT_EQ(curve_of(function).rises(), has_trait(function.op, Trait::monotone)) << function.describe();
  }
}

TEST(ActivationFunctions, AreRectifiersWhereTheyGiveZeroOrTheirOperand) {
  for (const ActivationFunction& function : activation_functions()) {
    const bool plain = function.attributes.empty() && function.numbers.empty();  // Clip may be a ReLU
    if (!plain && !has_trait(function.op, Trait::rectifies)) continue;
    EXPECT_EQ(curve_of(function).rectifies(), has_trait(function.op, Trait::rectifies))
        << function.describe();
  }
}

// Operators of all kinds, each on an example
// ------------------------------------------------------------------------------------------------

struct Example {
  std::vector<Array> inputs;
  Attributes attributes = {};
  std::size_t data = 0;  // position of the operand that the traits are about
};

// A tree of one node, and both its leaves as results.
Forest stump() {
  return {.nodes = {{.column = 2, .split = 0, .yes = ~std::int64_t{0}, .no = ~std::int64_t{1}}},
          .roots = {0},
          .targets = {0, 1},
          .weights = {1, 1},
          .width = 2};
}

const std::map<std::string, Example>& examples() {
  const Ints ones{1, 1}, twos{2, 2};
  const Array picture = random_tensor({2, 3, 4, 4}, 1), matrix = random_tensor({3, 4}, 2);
  const Array other = random_tensor({3, 4}, 3), flags = array::rand({3, 4}) > 0.5;
  const Array channels = random_tensor({3}, 4), spread = random_tensor({3}, 5).abs() + 0.5;
  const auto index = [](const Ints& shape, const Ints& values) { return ints(values).reshape(shape); };
  static const std::map<std::string, Example> all{
      {"Add", {{matrix, other}}},
      {"AveragePool", {{picture}, {{"kernel_shape", twos}}}},
      {"BatchNormalization", {{picture, channels, channels, channels, spread}}},
      {"Cast", {{matrix}, {{"to", std::int64_t{1}}}}},
      {"CastLike", {{matrix, other}}},
      {"CenterCropPad", {{matrix, ints({2, 6})}}},
      {"Col2Im", {{random_tensor({1, 4, 4}, 17), ints({4, 4}), ints({2, 2})}, {{"strides", twos}}}},
      {"Compress", {{matrix, truth({1, 0, 1})}, {{"axis", std::int64_t{0}}}}},
      {"Concat", {{matrix, other}, {{"axis", std::int64_t{1}}}}},
      {"Conv", {{picture, random_tensor({2, 3, 2, 2}, 6)}}},
      {"ConvTranspose", {{picture, random_tensor({3, 2, 2, 2}, 6)}}},
      {"CumSum", {{matrix, ints({1})}}},
      {"DFT", {{random_tensor({2, 5, 1}, 14)}}},
      {"DepthToSpace", {{random_tensor({1, 4, 2, 3}, 7)}, {{"blocksize", std::int64_t{2}}}}},
      {"DequantizeLinear", {{matrix, floats({}, {1})}}},
      {"Div", {{matrix, other}}},
      {"DynamicQuantizeLinear", {{floats({1, 3}, {0, 7, 255})}}},
      {"EyeLike", {{matrix}}},
      {"Expand", {{random_tensor({3, 1}, 8), ints({2, 3, 4})}}},
      {"Gather", {{matrix, ints({2, 0})}}},
      {"GatherElements", {{matrix, index({2, 2}, {1, 0, 2, 1})}}},
      {"GatherND", {{matrix, index({2, 1}, {2, 0})}}},
      {"Gemm", {{matrix, random_tensor({4, 2}, 9)}}},
      {"GridSample", {{picture, random_tensor({2, 2, 3, 2}, 15)}}},
      {"GroupNormalization",
       {{random_tensor({2, 4, 3}, 10), array::ones({4}), array::ones({4})},
        {{"num_groups", std::int64_t{2}}}}},
      {"InstanceNormalization", {{picture, channels, channels}}},
      {"LRN", {{picture}, {{"size", std::int64_t{3}}}}},
      {"LayerNormalization", {{matrix, array::ones({4})}}},
      {"LpPool", {{picture}, {{"kernel_shape", twos}}}},
      {"MatMul", {{matrix, random_tensor({4, 2}, 9)}}},
      {"MaxPool", {{picture}, {{"kernel_shape", twos}}}},
      {"MaxUnpool",
       {{random_tensor({1, 1, 1, 2}, 16), index({1, 1, 1, 2}, {1, 6})},
        {{"kernel_shape", twos}, {"strides", twos}}}},
      {"Mean", {{matrix, other}}},
      {"Mul", {{matrix, other}}},
      {"PRelu", {{picture, channels.reshape({3, 1, 1})}}},
      {"Pad", {{matrix, ints({0, 1, 2, 0})}}},
      {"QuantizeLinear", {{array::round(picture), floats({}, {1}), ints({0})[0].to(DType::int8)}}},
      {"ReduceMax", {{matrix, ints({1})}}},
      {"ReduceMean", {{matrix, ints({1})}}},
      {"ReduceMin", {{matrix, ints({1})}}},
      {"ReduceSum", {{matrix, ints({1})}}},
      {"Reshape", {{matrix, ints({2, -1})}}},
      {"Resize", {{random_tensor({1, 1, 2, 2}, 11), Array(), floats({4}, {1, 1, 2, 2})}}},
      {"ReverseSequence", {{matrix, ints({3, 1, 2, 0})}}},
      {"RoiAlign", {{picture, floats({1, 4}, {0, 0, 3, 3}), ints({1})}}},
      {"ScatterElements", {{matrix, index({1, 2}, {1, 0}), random_tensor({1, 2}, 12)}}},
      {"ScatterND", {{matrix, index({1, 1}, {1}), random_tensor({1, 4}, 12)}}},
      {"Slice", {{matrix, ints({1, 0}), ints({3, 2})}}},
      {"SpaceToDepth", {{picture}, {{"blocksize", std::int64_t{2}}}}},
      {"Split", {{matrix, ints({2, 2})}, {{"axis", std::int64_t{1}}}}},
      {"Squeeze", {{random_tensor({3, 1, 4}, 13), ints({1})}}},
      {"StraightThrough", {{picture}, {{"step", std::string("Round")}}}},
      {"Sub", {{matrix, other}}},
      {"Sum", {{matrix, other}}},
      {"Tile", {{matrix, ints({2, 1})}}},
      {"TopK", {{matrix, ints({2})}}},
      {"TreeEnsemble", {{matrix}, attributes_of(stump())}},
      {"Trilu", {{matrix}}},
      {"Unsqueeze", {{matrix, ints({1})}}},
      {"Where", {{flags, matrix, other}, {}, 1}},
  };
  return all;
}

// Operators that are not listed take one picture with numbers between 0 and 1.
Example example_of(std::string_view op) {
  const auto found = examples().find(std::string(op));
  return found != examples().end() ? found->second : Example{{random_tensor({2, 3, 4, 4}, 1).sigmoid()}};
}

Array result_of(const OperatorTraits& one, const Example& example) {
  return run_all(std::string(one.op), example.inputs, example.attributes, one.op == "Split" ? 2 : 1)[0];
}

Array result_with(const OperatorTraits& one, Example example, std::size_t position, const Array& operand) {
  example.inputs[position] = operand;
  return result_of(one, example);
}

std::set<float> elements(const Array& tensor) {
  const Array flat = tensor.to(DType::float32).contiguous();
  return {flat.elements<float>(), flat.elements<float>() + flat.count()};
}

bool contains_all(const std::set<float>& these, const std::set<float>& those) {
  return std::ranges::includes(these, those);
}

// Calls check(traits, example) for every operator that is chosen, at least one.
template <typename Chosen, typename Check>
void for_each_operator(const Chosen& chosen, const Check& check) {
  std::size_t count = 0;
  for (const OperatorTraits& one : operator_traits()) {
    if (!chosen(one)) continue;
    SCOPED_TRACE(one.op);
    ++count;
    check(one, example_of(one.op));
  }
  EXPECT_GT(count, 0U);
}

auto having(Trait trait) {
  return [=](const OperatorTraits& one) { return one.has(trait); };
}

TEST(OperatorTraits, MovementAndPassThroughMakeNoNewNumbers) {
  const auto moves = [](const OperatorTraits& one) { return is_movement(one.op) || is_pass_through(one.op); };
  for_each_operator(moves, [](const OperatorTraits& one, const Example& example) {
    std::set<float> given{0};
    for (const Array& input : example.inputs) {
      if (input.defined() && is_real(input.dtype())) given.merge(elements(input));
    }
    const Array result = result_of(one, example);
    EXPECT_GT(result.count(), 0);
    EXPECT_TRUE(contains_all(given, elements(result)));
    if (!is_pass_through(one.op) && !one.has(Trait::reshapes)) return;
    EXPECT_TRUE(same(result.flatten(), example.inputs[0].flatten(), 0));
  });
}

TEST(OperatorTraits, SameRank) {
  for_each_operator(having(Trait::same_rank), [](const OperatorTraits& one, const Example& example) {
    EXPECT_EQ(result_of(one, example).rank(), example.inputs[0].rank());
  });
}

TEST(OperatorTraits, Broadcasts) {
  for_each_operator(having(Trait::broadcasts), [](const OperatorTraits& one, const Example&) {
    const bool one_way = one.has(Trait::same_rank);
    std::vector<Array> operands{array::ones({2, 3, one_way ? 4 : 1}), array::ones({4})};
    if (one.op == "Where") operands.push_back(array::ones({1}));
    EXPECT_EQ(run(std::string(one.op), operands).shape(), (Ints{2, 3, 4}));
  });
}

TEST(OperatorTraits, ByChannel) {
  for_each_operator(having(Trait::by_channel), [](const OperatorTraits& one, const Example& example) {
    Array after = example.inputs[0].clone();
    after.select(1, 0).mul_(-1);
    const auto others = [](const Array& result) { return result.narrow(1, 1, 2); };
    EXPECT_TRUE(same(others(result_with(one, example, 0, after)), others(result_of(one, example)), 1e-6));
  });
}

TEST(OperatorTraits, LinearAndBilinear) {
  const auto chosen = having(Trait::linear | Trait::bilinear);
  for_each_operator(chosen, [](const OperatorTraits& one, const Example& example) {
    const bool bilinear = one.has(Trait::bilinear);
    for (const std::size_t i : bilinear ? std::vector<std::size_t>{0, 1} : std::vector{example.data}) {
      const Array &a = example.inputs[i], b = random_tensor(a.shape(), 20);
      const Array middle = result_with(one, example, i, (a + b) / 2);
      const Array ends = result_with(one, example, i, a) + result_with(one, example, i, b);
      EXPECT_TRUE(same(middle, ends / 2, 1e-5)) << "operand " << i;
    }
  });
}

TEST(OperatorTraits, Affine) {
  for_each_operator(having(Trait::affine), [](const OperatorTraits& one, const Example& example) {
    const Array& x = example.inputs[0];
    const Array zero = result_with(one, example, 0, array::zeros_like(x));
    const Array once = result_of(one, example), twice = result_with(one, example, 0, x * 2);
    EXPECT_TRUE(same(twice - zero, (once - zero) * 2, 1e-4));
    Array changed = x.clone();
    changed.flatten()[0].add_(1);
    EXPECT_EQ(result_with(one, example, 0, changed).ne(once).sum().item<std::int64_t>(), 1);
  });
}

TEST(OperatorTraits, Selects) {
  for_each_operator(having(Trait::selects), [](const OperatorTraits& one, const Example& example) {
    EXPECT_TRUE(contains_all(elements(example.inputs[0]), elements(result_of(one, example))));
  });
}

TEST(OperatorTraits, TruthsAndIndicesHaveTheirElementTypes) {
  const auto chosen = [](const OperatorTraits& one) {
    return one.kind == OperatorKind::truth || one.kind == OperatorKind::index;
  };
  for_each_operator(chosen, [](const OperatorTraits& one, const Example&) {
    std::vector<Array> operands(one.has(Trait::broadcasts) ? 2 : 1, array::ones({2, 3}));
    if (one.op == "NonMaxSuppression") operands = {array::ones({1, 2, 4}), array::ones({1, 1, 2})};
    const bool truth = one.kind == OperatorKind::truth;
    EXPECT_EQ(run(std::string(one.op), operands).dtype(), truth ? DType::boolean : DType::int64);
  });
}

}  // namespace
}  // namespace assay::testing
