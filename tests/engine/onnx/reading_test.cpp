// Files that other readers take and that are unusual: nodes in no order, types and operator sets left out,
// sequences that loops collect, records without an axis of their own.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <assay/array_math.h>
#include <assay/extend/random.h>
#include <assay/layer.h>
#include <assay/session.h>
#include "tests/engine/onnx/values.h"
#include "tests/model/onnx_build.h"

namespace assay {
namespace {

using namespace testing_onnx;
using ::testing::ElementsAre;
using ::testing::FloatNear;
using ::testing::Pointwise;

std::vector<float> numbers_of(const Array& tensor) {
  const Array array = tensor.to(DType::float32).contiguous();
  return {array.as<float>().begin(), array.as<float>().end()};
}

// The outputs for the first input.
std::vector<std::vector<float>> outputs_of_graph(const Graph& graph, const Shape& shape,
                                                 const std::vector<float>& x, SessionOptions options = {}) {
  options.threads = 1;
  const Session session(graph, options);
  const Tensors values = session.run(session.bind(Array::of<float>(shape, x)), graph.outputs());
  std::vector<std::vector<float>> lists;
  for (const ValueId id : graph.outputs()) lists.push_back(numbers_of(values.at(id)));
  return lists;
}

onnx::GraphProto body(const std::vector<onnx::NodeProto>& nodes, const Names& outputs) {
  onnx::GraphProto made;
  for (const auto& one : nodes) *made.add_node() = one;
  for (const auto& name : outputs) made.add_output()->set_name(name);
  return made;
}

TEST(Reading, SortsNodes) {
  OnnxFile file(18);
  file.input("x", {-1, 2});
  file.node("Add", {"product", "shift"}, {"y"});
  file.node("Mul", {"x", "scale"}, {"product"});
  for (const auto& [name, value] : {std::pair("shift", 1.0F), std::pair("scale", 3.0F)})
    set(file.node("Constant", {}, {name}), "value_float", value);
  file.output("y");
  EXPECT_THAT(outputs_of_graph(file.read(), {1, 2}, {2, 5})[0], ElementsAre(7, 16));
}

TEST(Reading, RefusesNodesThatWaitForEachOther) {
  OnnxFile file(18);
  file.input("x", {-1, 2});
  file.node("Add", {"x", "b"}, {"a"}, "first");
  file.node("Mul", {"a", "x"}, {"b"}, "second");
  file.output("b");
  expect_error(Fault::model, {"cycle"}, [&] { file.read(); });
}

TEST(Reading, NeedsNoStandardOperatorSetWhereNoNodeIsOfIt) {
  OnnxFile file(18);
  file.proto.clear_opset_import();
  auto& import = *file.proto.add_opset_import();
  import.set_domain("ai.onnx.ml");
  import.set_version(3);
  file.input("x", {-1, 2});
  auto& scaler = file.node("Scaler", {"x"}, {"y"});
  scaler.set_domain("ai.onnx.ml");
  set(scaler, "offset", std::vector<float>{0, 1});
  set(scaler, "scale", std::vector<float>{1, 2});
  file.output("y");
  EXPECT_THAT(outputs_of_graph(file.read(), {1, 2}, {3, 4})[0], ElementsAre(3, 6));
  file.node("Relu", {"x"}, {"z"});
  expect_error(Fault::model, {"no version of the standard operator set"}, [&] { file.read(); });
}

// Published speech networks state names of a branch's outputs, and an empty type.
TEST(Branches, NeedNoTypesOfTheirOutputs) {
  OnnxFile file(18);
  file.input("x", {-1, 2});
  file.weight(floats("zero", {}, {0}));
  auto& greatest = file.node("ReduceMax", {"x"}, {"greatest"});
  set(greatest, "keepdims", std::int64_t{0});
  file.node("Greater", {"greatest", "zero"}, {"condition"});
  auto& branch = file.node("If", {"condition"}, {"chosen"});
  auto yes = body({onnx_node("Shape", {"x"}, {"a"})}, {"a"}),
       no = body({onnx_node("Size", {"x"}, {"n"})}, {"b"});
  *no.add_node() = onnx_node("Unsqueeze", {"n", "front"}, {"b"});
  auto front = integers("front", {0});
  *no.add_initializer() = front;
  for (auto* one : {&yes, &no}) one->mutable_output(0)->mutable_type();
  set_body(branch, "then_branch", yes);
  set_body(branch, "else_branch", no);
  file.node("CastLike", {"x", "chosen"}, {"whole"});  // towards the type of the branches
  file.node("CastLike", {"whole", "x"}, {"y"});
  file.output("y");
  EXPECT_THAT(outputs_of_graph(file.read(), {1, 2}, {3.7F, 4.2F})[0], ElementsAre(3, 4));
}

TEST(Shapes, OfNoAxesAreFilledWithANumber) {
  OnnxFile file(18);
  file.input("x", {-1, 2});
  file.weight(integers("none", {0}));
  file.node("Shape", {"x"}, {"sizes"});
  file.node("Slice", {"sizes", "none", "none"}, {"empty"});
  auto& fill = file.node("ConstantOfShape", {"empty"}, {"two"});
  auto& value = *fill.add_attribute();
  value.set_name("value");
  value.set_type(onnx::AttributeProto::TENSOR);
  *value.mutable_t() = floats("", {1}, {2});
  file.node("Mul", {"x", "two"}, {"y"});
  file.output("y");
  EXPECT_THAT(outputs_of_graph(file.read(), {2, 2}, {1, 2, 3, 4})[0], ElementsAre(2, 4, 6, 8));
}

// What is removed is not there to be wrapped, reflected or repeated.
TEST(Pads, RemoveBeforeTheyContinue) {
  const auto padded = [](const char* mode, std::int64_t begin, std::int64_t end) {
    OnnxFile file(19);
    file.input("x", {-1, 4});
    file.weight(integers("pads", {0, begin, 0, end}));
    set(file.node("Pad", {"x", "pads"}, {"y"}), "mode", mode);
    file.output("y");
    return outputs_of_graph(file.read(), {1, 4}, {1, 2, 3, 4})[0];
  };
  EXPECT_THAT(padded("wrap", -1, 3), ElementsAre(2, 3, 4, 2, 3, 4));
  EXPECT_THAT(padded("wrap", 2, -1), ElementsAre(2, 3, 1, 2, 3));
  EXPECT_THAT(padded("reflect", 2, -1), ElementsAre(3, 2, 1, 2, 3));
  EXPECT_THAT(padded("reflect", -2, 1), ElementsAre(3, 4, 3));
  EXPECT_THAT(padded("edge", 2, -1), ElementsAre(1, 1, 1, 2, 3));
  EXPECT_THAT(padded("edge", -2, 1), ElementsAre(3, 4, 4));
}

// Bags of embeddings, as torch.onnx's dynamo writes them: each round appends the sum of one record.
TEST(Loops, CollectSequences) {
  OnnxFile file(18);
  file.input("x", {-1, 2});
  file.weight(integers("one", {1}));
  file.weight(integers("zero", {0}));
  auto& sizes = file.node("Shape", {"x"}, {"count"});
  set(sizes, "end", std::int64_t{1});
  file.node("Squeeze", {"count"}, {"rounds"});
  file.node("SequenceEmpty", {}, {"none"});
  auto& loop = file.node("Loop", {"rounds", "", "none"}, {"rows"});
  onnx::GraphProto inside;
  for (const char* name : {"round", "goes", "list"}) inside.add_input()->set_name(name);
  *inside.add_node() = onnx_node("Unsqueeze", {"round", "zero"}, {"from"});
  *inside.add_node() = onnx_node("Add", {"from", "one"}, {"to"});
  *inside.add_node() = onnx_node("Slice", {"x", "from", "to"}, {"row"});
  *inside.add_node() = onnx_node("Add", {"row", "row"}, {"twice"});
  *inside.add_node() = onnx_node("SequenceInsert", {"list", "twice"}, {"longer"});
  *inside.add_node() = onnx_node("Identity", {"goes"}, {"goes_on"});
  for (const char* name : {"goes_on", "longer"}) inside.add_output()->set_name(name);
  set_body(loop, "body", inside);
  set(file.node("ConcatFromSequence", {"rows"}, {"y"}), "axis", std::int64_t{0});
  file.node("SequenceLength", {"rows"}, {"length"});
  file.output("y");
  file.output("length");
  const auto results = outputs_of_graph(file.read(), {3, 2}, {1, 2, 3, 4, 5, 6});
  EXPECT_THAT(results[0], ElementsAre(2, 4, 6, 8, 10, 12));
  EXPECT_THAT(results[1], ElementsAre(3));
}

TEST(Classifiers, NameTheLabelOfEachRecord) {
  const auto labels = [](const std::vector<float>& coefficients, const Ints& names,
                         const std::vector<float>& x) {
    OnnxFile file(18);
    file.input("x", {-1, 2});
    auto& made = file.node("LinearClassifier", {"x"}, {"label", "scores"});
    made.set_domain("ai.onnx.ml");
    set(made, "coefficients", coefficients);
    set(made, "intercepts", std::vector<float>(coefficients.size() / 2, 0.0F));
    set(made, "classlabels_ints", names);
    file.output("label");
    file.output("scores");
    const Graph graph = file.read();
    const auto results = outputs_of_graph(graph, {2, 2}, x);
    EXPECT_EQ(results[0].size(), 2U);
    const Session session(graph, {.threads = 1});
    EXPECT_EQ(graph.value(session.logits()).name, "scores");
    return results[0];
  };
  EXPECT_THAT(labels({1, 0, 0, 1, -1, -1}, {10, 20, 30}, {3, 1, -2, -5}), ElementsAre(10, 30));
  EXPECT_THAT(labels({1, 0}, {4, 7}, {3, 1, -2, 5}), ElementsAre(7, 4));
}

// By 8 bits without sign from the least and greatest number of all, zero among them.
std::vector<double> rounded(const std::vector<double>& numbers) {
  double low = 0, high = 0;
  for (const double one : numbers) low = std::min(low, one), high = std::max(high, one);
  const double scale = (high - low) / 255, divisor = scale == 0 ? 1 : scale,
               zero = std::nearbyint(-low / divisor);
  std::vector<double> result;
  for (const double one : numbers)
    result.push_back((std::clamp(std::nearbyint(one / divisor) + zero, 0.0, 255.0) - zero) * scale);
  return result;
}

// One record, one direction: gates in the order input, output, forget, candidate.
TEST(QuantisedRecurrence, RoundsInputAndState) {
  constexpr std::size_t steps = 3, columns = 2, hidden = 2, rows = 4 * hidden;
  const std::vector<float> x = normal_values(steps * columns, 1);
  std::vector<std::int64_t> w(columns * rows), r(hidden * rows);
  Rng rng(2);
  for (auto* list : {&w, &r}) {
    for (auto& one : *list) one = static_cast<std::int64_t>(rng.below(255)) - 127;
  }
  constexpr double scale_w = 0.01, scale_r = 0.008;
  OnnxFile file(18);
  auto& import = *file.proto.add_opset_import();
  import.set_domain("com.microsoft");
  import.set_version(1);
  file.input("x", {3, -1, 2});
  const auto bytes = [&](const std::string& name, const Ints& dims, const std::vector<std::int64_t>& values) {
    onnx::TensorProto tensor;
    tensor.set_name(name);
    tensor.set_data_type(onnx::TensorProto::INT8);
    for (const auto dim : dims) tensor.add_dims(dim);
    for (const auto one : values) tensor.add_int32_data(static_cast<int>(one));
    file.weight(tensor);
  };
  bytes("w", {1, columns, rows}, w);
  bytes("r", {1, hidden, rows}, r);
  bytes("zero", {1}, {0});
  file.weight(floats("sw", {1}, {static_cast<float>(scale_w)}));
  file.weight(floats("sr", {1}, {static_cast<float>(scale_r)}));
  auto& lstm = file.node("DynamicQuantizeLSTM",
                         {"x", "w", "r", "", "", "", "", "", "sw", "zero", "sr", "zero"}, {"", "y"});
  lstm.set_domain("com.microsoft");
  set(lstm, "hidden_size", std::int64_t{hidden});
  file.output("y");
  const std::vector<float> actual = outputs_of_graph(file.read(), {1, 3, 2}, x)[0];

  const std::vector<double> input = rounded({x.begin(), x.end()});
  std::vector<double> state(hidden, 0), cell(hidden, 0);
  const auto sigmoid = [](double z) { return 1 / (1 + std::exp(-z)); };
  for (std::size_t t = 0; t < steps; ++t) {
    const std::vector<double> before = rounded(state);
    std::vector<double> gates(rows, 0);
    for (std::size_t g = 0; g < rows; ++g) {
      for (std::size_t c = 0; c < columns; ++c)
        gates[g] += input[t * columns + c] * static_cast<double>(w[c * rows + g]) * scale_w;
      for (std::size_t h = 0; h < hidden; ++h)
        gates[g] += before[h] * static_cast<double>(r[h * rows + g]) * scale_r;
    }
    for (std::size_t h = 0; h < hidden; ++h) {
      cell[h] =
          sigmoid(gates[2 * hidden + h]) * cell[h] + sigmoid(gates[h]) * std::tanh(gates[3 * hidden + h]);
      state[h] = sigmoid(gates[hidden + h]) * std::tanh(cell[h]);
    }
  }
  EXPECT_THAT(actual, Pointwise(FloatNear(1e-5F), std::vector<float>(state.begin(), state.end())));
}

// As verification networks have it: W x + b of one vector.
TEST(SingleRecords, MayBeVectors) {
  OnnxFile file(18);
  file.input("x", {2});
  file.weight(floats("w0", {3, 2}, {1, 0, 0, 1, 1, -1}));
  file.weight(floats("b0", {3}, {0.5F, 0, 0}));
  file.weight(floats("w1", {2, 3}, {1, 1, 1, 0, 2, -1}));
  file.node("MatMul", {"w0", "x"}, {"m0"});
  file.node("Add", {"m0", "b0"}, {"h0"});
  file.node("Relu", {"h0"}, {"r0"});
  file.node("MatMul", {"w1", "r0"}, {"y"});
  file.output("y", Shape{2});
  const Graph graph = file.read();
  const Session session(graph, {.threads = 1});
  ASSERT_EQ(session.layers().size(), 2U);
  EXPECT_EQ(session.layers()[0].neurons, 3);
  EXPECT_EQ(session.layers()[1].neurons, 2);
  const Tensors values = session.run(session.bind(Array::of<float>({2, 2}, std::vector<float>{3, 1, -4, 2})),
                                     session.graph().outputs());
  // [3, 1]: (3.5, 1, 2) -> (6.5, 0); [-4, 2]: (-3.5, 2, -6) -> (0, 2, 0) -> (2, 4)
  EXPECT_THAT(numbers_of(values.at(session.graph().outputs()[0])), ElementsAre(6.5F, 0, 2, 4));
}

// A picture without an axis of records, whose rows compete with each other: one at a time.
TEST(SingleRecords, RunAloneWhereSeveralCannotPassTogether) {
  OnnxFile file(18);
  file.input("x", {3, 2, 2});
  file.weight(integers("all", {-1}));
  file.weight(integers("two", {2}));
  file.node("Reshape", {"x", "all"}, {"flat"});
  file.node("TopK", {"flat", "two"}, {"greatest", "places"});
  file.node("Unique", {"greatest"}, {"y"});
  file.output("y", Shape{2});
  const Graph graph = file.read();
  const Session session(graph, {.threads = 1});
  std::vector<float> x(24);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i);
  const Tensors values =
      session.run(session.bind(Array::of<float>({2, 3, 2, 2}, x)), session.graph().outputs());
  EXPECT_THAT(numbers_of(values.at(session.graph().outputs()[0])), ElementsAre(10, 11, 22, 23));
}

// The width is open, and the file is for one record.
TEST(OpenAxes, MayBeAWidth) {
  OnnxFile file(18);
  file.input("x", {1, 1, 2, -1});
  file.node("GlobalAveragePool", {"x"}, {"p"});
  file.node("Flatten", {"p"}, {"y"});
  file.output("y", Shape{1, 1});
  SessionOptions options;
  options.record_shape = {1, 2, 3};
  const Graph graph = file.read();
  EXPECT_THAT(outputs_of_graph(graph, {2, 1, 2, 3}, {1, 2, 3, 4, 5, 9, 0, 0, 0, 0, 0, 6}, options)[0],
              ElementsAre(4, 1));
}

}  // namespace
}  // namespace assay
