#include "assay/engine/preparation/shape_arithmetic.h"

#include <limits>
#include <set>

#include "assay/engine/shape_inference.h"
#include "fixture.h"

namespace assay::testing {
namespace {

Array number(std::int64_t value) { return array::scalar(value, DType::int64); }

// The kernel's result, which run() holds the rule's to where there is one.
void expect_rule(const std::string& op, const std::vector<Array>& inputs, const Attributes& attributes = {}) {
  EXPECT_TRUE(integer_result(make_node(op, inputs.size(), attributes), inputs)) << op;
  run(op, inputs, attributes);
}

void expect_none(const std::string& op, const std::vector<Array>& inputs, const Attributes& attributes = {}) {
  EXPECT_FALSE(integer_result(make_node(op, inputs.size(), attributes), inputs)) << op;
}

TEST(WholeNumbers, ArithmeticIsThatOfTheKernels) {
  for (const char* const op : {"Add", "Sub", "Mul"}) {
    expect_rule(op, {ints({3, -4, 5}), ints({2, 2, -7})});
    expect_rule(op, {ints({3, -4, 5}), number(-6)});
    expect_rule(op, {number(3), ints({1, 2})});
    expect_rule(op, {number(3), number(4)});
    expect_rule(op, {number(3), ints({4})});
    expect_none(op, {ints({1, 2, 3}), ints({1, 2})});
  }
  expect_rule("Div", {ints({7, -7, 8}), ints({2, 2, 3})});
  expect_none("Div", {number(7), number(0)});
  expect_none("Add", {number(std::numeric_limits<std::int64_t>::max()), number(1)});
  expect_none("Mul", {number(std::int64_t{1} << 40), number(std::int64_t{1} << 40)});
}

TEST(WholeNumbers, NumbersArePickedAndPutTogether) {
  const Array shape = ints({8, 3, 32, 30});
  for (const std::int64_t index : {0, 3, -1, -4}) expect_rule("Gather", {shape, number(index)});
  expect_rule("Gather", {shape, ints({2, 0, -1})});
  expect_none("Gather", {shape, number(4)});
  expect_none("Gather", {shape, number(-5)});
  expect_rule("Concat", {ints({8}), ints({-1, 3}), ints({})}, {{"axis", std::int64_t{0}}});
  expect_none("Concat", {ints({8}), number(3)}, {{"axis", std::int64_t{0}}});
  expect_rule("Unsqueeze", {number(8), ints({0})});
  expect_rule("Unsqueeze", {number(8), ints({-1})});
  expect_none("Unsqueeze", {ints({8}), ints({0})});
  expect_rule("Squeeze", {ints({8}), ints({0})});
  expect_none("Squeeze", {shape, ints({0})});
  expect_rule("Identity", {shape});
  expect_rule("Cast", {shape}, {{"to", std::int64_t{7}}});
  expect_none("Cast", {shape}, {{"to", std::int64_t{1}}});
}

TEST(WholeNumbers, SlicesEndWhereTheNumbersDo) {
  const Array shape = ints({8, 3, 32, 30});
  for (const std::int64_t begin : {-9, -4, -1, 0, 1, 4, 7}) {
    for (const std::int64_t end : {-9, -3, 0, 2, 4, 99})
      expect_rule("Slice", {shape, ints({begin}), ints({end}), ints({0})});
  }
  expect_rule("Slice", {shape, ints({1}), ints({3})});
  expect_rule("Slice", {shape, ints({1}), ints({3}), ints({-1}), ints({1})});
  expect_none("Slice", {shape, ints({3}), ints({0}), ints({0}), ints({-1})});
}

TEST(WholeNumbers, OnlySmallOnesAreKnown) {
  expect_none("Identity", {array::zeros({65}, DType::int64)});
  expect_none("Identity", {array::zeros({2, 2}, DType::int64)});
  expect_none("Identity", {array::zeros({2}, DType::int32)});
  expect_none("Concat", {array::zeros({40}, DType::int64), array::zeros({40}, DType::int64)},
              {{"axis", std::int64_t{0}}});
}

TEST(WholeNumbers, ShapesAreThoseOfTheKernels) {
  const Array x = array::zeros({8, 3, 32});
  for (const std::int64_t start : {-5, -2, 0, 1, 3}) {
    for (const std::int64_t end : {-4, -1, 0, 2, 9}) {
      const Attributes attributes{{"start", start}, {"end", end}};
      EXPECT_TRUE(
          run("Shape", {x}, attributes).equal(dimensions(make_node("Shape", 1, attributes), {8, 3, 32})))
          << start << " " << end;
    }
  }
}

TEST(ShapeRules, PartsAndIndicesAreKnownBeforeAnythingRuns) {
  const Array x = random_tensor({4, 5, 6}, 1);
  for (const std::int64_t step : {1, 2, 5, 9})
    EXPECT_EQ(run("Slice", {x, ints({1, -9}), ints({99, 4}), ints({-1, 1}), ints({step, 1})}).rank(), 3);
  run("Slice", {x, ints({3}), ints({1})});
  run("Gather", {x, number(-1)}, {{"axis", std::int64_t{1}}});
  run("Gather", {x, ints({0, 5, -6})}, {{"axis", std::int64_t{-1}}});
  EXPECT_EQ(fault_of("Gather", {x, ints({4})}), Fault::model);
  run("Expand", {random_tensor({1, 5, 1}, 1), ints({4, 1, 6})});
  run("Expand", {random_tensor({5}, 1), ints({2, 3, 5})});
  EXPECT_EQ(fault_of("Expand", {x, ints({-1, 5, 6})}), Fault::model);
}

// What forms_on_zeros() says where only types and shapes of the operands are known, but of the constants.
std::vector<ResultForm> forms_without_elements(const std::string& op, const std::vector<Array>& operands,
                                               const std::set<std::size_t>& constants,
                                               const Attributes& attributes = {}, std::size_t outputs = 1) {
  std::vector<Shape> shapes;
  for (const Array& operand : operands) shapes.push_back(operand.shape());
  std::vector<OperandShape> known;
  for (std::size_t i = 0; i < operands.size(); ++i)
    known.push_back({&shapes[i], operands[i].dtype(), constants.contains(i) ? &operands[i] : nullptr});
  return forms_on_zeros(make_node(op, operands.size(), attributes, outputs), known);
}

void expect_forms(const std::string& op, const std::vector<Array>& operands,
                  const std::set<std::size_t>& constants, const Attributes& attributes = {},
                  std::size_t outputs = 1) {
  const std::vector<ResultForm> forms = forms_without_elements(op, operands, constants, attributes, outputs);
  const std::vector<Array> results = run_all(op, operands, attributes, outputs);
  ASSERT_EQ(forms.size(), results.size()) << op;
  for (std::size_t i = 0; i < forms.size(); ++i)
    EXPECT_EQ(forms[i], (ResultForm{results[i].shape(), results[i].dtype()})) << op << ", result " << i;
}

TEST(FormsOnZeros, AreThoseOfTheKernelsWhereSizesFollowFromSizes) {
  const Array x = array::ones({2, 3, 4});
  expect_forms("ReduceL2", {x, ints({2})}, {1});
  expect_forms("LpNormalization", {x}, {});
  expect_forms("Div", {ints({7, -7, 8}), ints({2, 2, 3})}, {1});
  expect_forms("DynamicQuantizeLinear", {x}, {}, {}, 3);
  const Array sequence = array::ones({5, 2, 3}), input = array::ones({1, 16, 3}),
              inner = array::ones({1, 16, 4});
  expect_forms("LSTM", {sequence, input, inner}, {1, 2}, {{"hidden_size", std::int64_t{4}}}, 3);
}

TEST(FormsOnZeros, AreNoneWhereElementsMayTellSizes) {
  const Array x = array::ones({2, 3, 4});
  EXPECT_TRUE(forms_without_elements("ReduceL2", {x, ints({2})}, {}).empty());
  EXPECT_TRUE(forms_without_elements("NonZero", {x}, {}).empty());
  EXPECT_TRUE(forms_without_elements("Tile", {x, ints({1, 1, 2})}, {}).empty());
  EXPECT_TRUE(forms_without_elements("Range", {number(0), number(5), number(1)}, {}).empty());
}

}  // namespace
}  // namespace assay::testing
