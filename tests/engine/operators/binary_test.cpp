#include <cmath>
#include <limits>

#include "fixture.h"

namespace assay::testing {
namespace {

struct BinaryFunction {
  std::string op;
  double (*written_out)(double, double);
  bool differentiable = true;
  Attributes attributes = {};
};

double floor_mod(double a, double b) { return a - b * std::floor(a / b); }

class Binary : public ::testing::TestWithParam<BinaryFunction> {};

// Shapes that broadcast, both ways.
const std::vector<std::pair<Ints, Ints>>& shapes() {
  static const std::vector<std::pair<Ints, Ints>> all{{{2, 3}, {2, 3}}, {{2, 3}, {3}}, {{3, 1}, {2, 1, 4}},
                                                      {{}, {2, 2}},     {{2, 2}, {1}}, {{0, 3}, {3}}};
  return all;
}

Array positive(const Ints& shape, std::uint64_t seed) { return array::abs(random_tensor(shape, seed)) + 0.3; }

TEST_P(Binary, AgreesWithTheFunctionWrittenOutWhateverTheBroadcasting) {
  const BinaryFunction& f = GetParam();
  for (const auto& [left, right] : shapes()) {
    const Array a = positive(left, 1), b = positive(right, 2);
    const std::vector<Array> both = array::broadcast(std::vector{a, b});
    const Array actual = run(f.op, {a, b}, f.attributes);
    const Array expected = tabulate(
        both[0].shape(),
        [&](const Ints& i) { return f.written_out(at_index(both[0], i), at_index(both[1], i)); },
        actual.dtype());
    EXPECT_TRUE(same(actual, expected, 1e-6));
  }
}

TEST_P(Binary, HasTheRightGradient) {
  const BinaryFunction& f = GetParam();
  if (f.differentiable) {
    EXPECT_TRUE(gradients_agree(f.op, {positive({3, 1}, 1), positive({2, 1, 4}, 2)}, f.attributes));
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, Binary,
    ::testing::Values(
        BinaryFunction{"Add", [](double a, double b) { return a + b; }},
        BinaryFunction{"Sub", [](double a, double b) { return a - b; }},
        BinaryFunction{"Mul", [](double a, double b) { return a * b; }},
        BinaryFunction{"Div", [](double a, double b) { return a / b; }},
        BinaryFunction{"Pow", [](double a, double b) { return std::pow(a, b); }},
        BinaryFunction{"Max", [](double a, double b) { return std::max(a, b); }},
        BinaryFunction{"Min", [](double a, double b) { return std::min(a, b); }},
        BinaryFunction{"Sum", [](double a, double b) { return a + b; }},
        BinaryFunction{"Mean", [](double a, double b) { return (a + b) / 2; }},
        BinaryFunction{"Mod", floor_mod, false},
        BinaryFunction{
            "Mod", [](double a, double b) { return std::fmod(a, b); }, false, {{"fmod", std::int64_t{1}}}},
        BinaryFunction{"Less", [](double a, double b) { return a < b ? 1.0 : 0.0; }, false},
        BinaryFunction{"LessOrEqual", [](double a, double b) { return a <= b ? 1.0 : 0.0; }, false},
        BinaryFunction{"Greater", [](double a, double b) { return a > b ? 1.0 : 0.0; }, false},
        BinaryFunction{"GreaterOrEqual", [](double a, double b) { return a >= b ? 1.0 : 0.0; }, false},
        BinaryFunction{"Equal", [](double a, double b) { return a == b ? 1.0 : 0.0; }, false}),
    [](const auto& test) { return test.param.op + (test.param.attributes.empty() ? "" : "WithAttributes"); });

TEST(Comparison, TellsEqualsApart) {
  const Array a = ints({1, 2, 3}), b = ints({2, 2, 2});
  EXPECT_TRUE(same(run("Equal", {a, b}), truth({0, 1, 0})));
  EXPECT_TRUE(same(run("Less", {a, b}), truth({1, 0, 0})));
  EXPECT_TRUE(same(run("LessOrEqual", {a, b}), truth({1, 1, 0})));
  EXPECT_TRUE(same(run("Greater", {a, b}), truth({0, 0, 1})));
  EXPECT_TRUE(same(run("GreaterOrEqual", {a, b}), truth({0, 1, 1})));
}

TEST(Logic, FollowsItsTables) {
  const Array a = truth({0, 0, 1, 1}), b = truth({0, 1, 0, 1});
  EXPECT_TRUE(same(run("And", {a, b}), truth({0, 0, 0, 1})));
  EXPECT_TRUE(same(run("Or", {a, b}), truth({0, 1, 1, 1})));
  EXPECT_TRUE(same(run("Xor", {a, b}), truth({0, 1, 1, 0})));
}

TEST(Div, TruncatesIntegers) {
  EXPECT_TRUE(same(run("Div", {ints({7, -7, 7, -7}), ints({2, 2, -2, -2})}), ints({3, -3, -3, 3})));
  EXPECT_TRUE(same(run("Div", {ints({7, -7}), ints({-1})}), ints({-7, 7})));
}

TEST(Div, OfIntegersDoesNotTrap) {
  for (const auto type : {DType::int64, DType::int32, DType::int8}) {
    const std::int64_t sign_bit = type == DType::int64 ? 63 : type == DType::int32 ? 31 : 7;
    const Array one = array::ones({1}, type), least = array::shift_left(one, array::scalar(sign_bit, type));
    EXPECT_TRUE(same(run("Div", {least, -one}), least))
        << to_string(type);  // wraps, as two's complement does
    EXPECT_TRUE(same(run("Mod", {least, -one}), array::zeros({1}, type))) << to_string(type);
    EXPECT_TRUE(same(run("Mod", {least, -one}, {{"fmod", std::int64_t{1}}}), array::zeros({1}, type)))
        << to_string(type);
    EXPECT_EQ(fault_of("Div", {one, one - 1}), Fault::model);
    EXPECT_EQ(fault_of("Mod", {one, one - 1}), Fault::model);
  }
}

TEST(Mod, TakesTheSignOfTheDivisorOrWithFmodOfTheDividend) {
  const Array a = ints({-4, 7, 5, 4, -7, 8}), b = ints({2, -3, 8, -2, 3, 5});
  EXPECT_TRUE(same(run("Mod", {a, b}), ints({0, -2, 5, 0, 2, 3})));
  EXPECT_TRUE(same(run("Mod", {a, b}, {{"fmod", std::int64_t{1}}}), ints({0, 1, 5, 0, -1, 3})));
}

TEST(Pow, HasTheTypeOfTheBase) {
  EXPECT_TRUE(same(run("Pow", {ints({2, 3}), ints({3, 2})}), ints({8, 9})));
  EXPECT_TRUE(same(run("Pow", {ints({4, 9}), floats({1}, {0.5})}), ints({2, 3})));
  EXPECT_TRUE(same(run("Pow", {floats({2}, {2, 3}), ints({2})}), floats({2}, {4, 9})));
}

TEST(Variadic, JoinsAnyNumberOfInputs) {
  const Array a = floats({2}, {1, 5}), b = floats({2}, {4, 2}), c = floats({1}, {3});
  EXPECT_TRUE(same(run("Sum", {a, b, c}), floats({2}, {8, 10})));
  EXPECT_TRUE(same(run("Max", {a, b, c}), floats({2}, {4, 5})));
  EXPECT_TRUE(same(run("Min", {a, b, c}), floats({2}, {1, 2})));
  EXPECT_TRUE(same(run("Mean", {a, b, c}), floats({2}, {8 / 3.0f, 10 / 3.0f})));
  for (const auto* op : {"Sum", "Max", "Min", "Mean"}) {
    EXPECT_TRUE(same(run(op, {a}), a));
    EXPECT_EQ(fault_of(op, {}), Fault::model);
    EXPECT_EQ(fault_of(op, {a, Array()}), Fault::model);
    EXPECT_TRUE(gradients_agree(op, {a, b, c}));
  }
}

TEST(Where, ChoosesElementByElement) {
  const Array condition = truth({1, 0}), a = random_tensor({3, 1}, 1), b = random_tensor({2}, 2);
  const Array expected = tabulate({3, 2}, [&](const Ints& i) {
    return i[1] == 0 ? at_index(a, {i[0], 0}) : at_index(b, {i[1]});
  });
  EXPECT_TRUE(same(run("Where", {condition, a, b}), expected));
  EXPECT_TRUE(gradients_agree("Where", {condition, a, b}));
}

}  // namespace
}  // namespace assay::testing
