// Branches, loops, functions, sequences and optional values of ONNX files: what they compute, whether they
// are written out as nodes or run as networks of their own.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

#include <assay/adapt.h>
#include <assay/array_math.h>
#include <assay/session.h>
#include "tests/model/onnx_build.h"

namespace assay {
namespace {

using namespace testing_onnx;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

onnx::GraphProto body(const Names& inputs, const std::vector<onnx::NodeProto>& nodes, const Names& outputs) {
  onnx::GraphProto made;
  const auto type = [](onnx::ValueInfoProto& info, const std::string& name, int element) {
    info.set_name(name);
    info.mutable_type()->mutable_tensor_type()->set_elem_type(element);
  };
  for (const auto& name : inputs) {
    type(*made.add_input(), name,
         name == "round"       ? onnx::TensorProto::INT64
         : name == "condition" ? onnx::TensorProto::BOOL
                               : onnx::TensorProto::FLOAT);
  }
  for (const auto& one : nodes) *made.add_node() = one;
  for (const auto& name : outputs) type(*made.add_output(), name, onnx::TensorProto::FLOAT);
  return made;
}

// Outputs of the network for x [rows, columns], as it is read and as it is written and read again.
std::vector<std::vector<float>> run(const OnnxFile& file, const Shape& shape, const std::vector<float>& x) {
  const Graph graph = file.read();
  const auto results = [&](const Graph& network) {
    const Session session(network, {.threads = 1, .engine = "reference"});
    const Tensors values =
        session.run({{network.inputs()[0], Array::of<float>(shape, x)}}, network.outputs());
    std::vector<std::vector<float>> lists;
    for (const ValueId id : network.outputs()) {
      const Array array = values.at(id).to(DType::float32).contiguous();
      lists.emplace_back(array.as<float>().begin(), array.as<float>().end());
    }
    return lists;
  };
  const auto folder = fresh_folder("control");
  write_onnx(graph, folder / "again.onnx");
  const Graph again = read_model(folder / "again.onnx");
  EXPECT_EQ(again.hash(), graph.hash());
  const auto first = results(graph);
  EXPECT_EQ(results(again), first);
  return first;
}

OnnxFile file_of(const Shape& shape) {
  OnnxFile file(18);
  file.input("x", shape);
  return file;
}

// y = the sum of x is above 0 ? x + weight : -x
OnnxFile branching() {
  OnnxFile file = file_of({-1, 2});
  file.weight(floats("weight", {2}, {10, 20}));
  file.weight(floats("nothing", {}, {0}));
  auto& sum = file.node("ReduceSum", {"x"}, {"sum"});
  set(sum, "keepdims", std::int64_t{0});
  file.node("Greater", {"sum", "nothing"}, {"positive"});
  auto& branch = file.node("If", {"positive"}, {"y"}, "branch");
  set_body(branch, "then_branch", body({}, {onnx_node("Add", {"x", "weight"}, {"inner"})}, {"inner"}));
  set_body(branch, "else_branch", body({}, {onnx_node("Neg", {"x"}, {"inner"})}, {"inner"}));
  file.output("y");
  return file;
}

TEST(Branches, RunAsNetworksOfTheirOwnWhereTheConditionDependsOnRecords) {
  EXPECT_THAT(run(branching(), {1, 2}, {1, 2})[0], ElementsAre(11, 22));
  EXPECT_THAT(run(branching(), {1, 2}, {1, -2})[0], ElementsAre(-1, 2));
  EXPECT_THAT(branching().read().notices(), Contains(HasSubstr("separate network")));
}

// y = x has `columns` columns ? x + weight : -x, and once more; the file leaves open how many there are.
OnnxFile asking_for_columns(std::int64_t columns) {
  OnnxFile file = file_of({-1, -1});
  file.weight(floats("weight", {1}, {10}));
  file.weight(integers("wanted", {columns}));
  file.weight(integers("last", {1}));
  const auto ask = [&](const std::string& of, const std::string& name, const std::string& output) {
    file.node("Shape", {of}, {name + "/shape"});
    file.node("Gather", {name + "/shape", "last"}, {name + "/columns"});
    file.node("Equal", {name + "/columns", "wanted"}, {name + "/asked"});
    auto& branch = file.node("If", {name + "/asked"}, {output}, name);
    set_body(branch, "then_branch", body({}, {onnx_node("Add", {of, "weight"}, {"inner"})}, {"inner"}));
    set_body(branch, "else_branch", body({}, {onnx_node("Neg", {of}, {"inner"})}, {"inner"}));
  };
  ask("x", "first", "between");
  ask("between", "second", "y");
  file.output("y");
  return file;
}

TEST(Branches, ArePartOfTheNetworkOnceTheShapeOfRecordsTellsTheCondition) {
  for (const std::int64_t columns : {2, 3}) {
    const Graph graph = asking_for_columns(columns).read();
    EXPECT_THAT(ops(graph), Contains("If"));
    const Session session(graph, {.threads = 1, .record_shape = {2}});
    EXPECT_THAT(ops(session.graph()), Not(Contains("If")));
    EXPECT_THAT(session.notices(), Contains(HasSubstr("node 'first' (If) and 1 more")));
    const ValueId y = session.logits();
    const Tensors values =
        session.run({{session.graph().inputs()[0], Array::of<float>({2, 2}, std::vector<float>{1, 2, 3, 4})}},
                    std::span(&y, 1));
    const Array found = values.at(y).contiguous();
    if (columns == 2)
      EXPECT_THAT(found.as<float>(), ElementsAre(21, 22, 23, 24));
    else
      EXPECT_THAT(found.as<float>(), ElementsAre(1, 2, 3, 4));
  }
}

// One condition for all records, which is an input, follows from no shape.
TEST(Branches, StayWhereAnInputIsTheCondition) {
  OnnxFile file = file_of({-1, 2});
  file.input("asked", {}, onnx::TensorProto::BOOL);
  file.weight(floats("weight", {2}, {10, 20}));
  auto& branch = file.node("If", {"asked"}, {"y"}, "branch");
  set_body(branch, "then_branch", body({}, {onnx_node("Add", {"x", "weight"}, {"inner"})}, {"inner"}));
  set_body(branch, "else_branch", body({}, {onnx_node("Neg", {"x"}, {"inner"})}, {"inner"}));
  file.output("y");
  EXPECT_THAT(ops(Session(file.read(), {.record_shapes = {{"x", {2}}}}).graph()), Contains("If"));
}

// A condition that asks for the number of records differs from batch to batch.
TEST(Branches, StayWhereTheSizeOfTheBatchTellsTheCondition) {
  OnnxFile file = file_of({-1, 2});
  file.weight(floats("weight", {2}, {10, 20}));
  file.weight(integers("wanted", {2}));
  file.weight(integers("first", {0}));
  file.node("Shape", {"x"}, {"shape"});
  file.node("Gather", {"shape", "first"}, {"records"});
  file.node("Equal", {"records", "wanted"}, {"asked"});
  auto& branch = file.node("If", {"asked"}, {"y"}, "branch");
  set_body(branch, "then_branch", body({}, {onnx_node("Add", {"x", "weight"}, {"inner"})}, {"inner"}));
  set_body(branch, "else_branch", body({}, {onnx_node("Neg", {"x"}, {"inner"})}, {"inner"}));
  file.output("y");
  EXPECT_THAT(ops(Session(file.read(), {.record_shape = {2}}).graph()), Contains("If"));
  EXPECT_THAT(run(file, {1, 2}, {1, 2})[0], ElementsAre(-1, -2));
  EXPECT_THAT(run(file, {2, 2}, {1, 2, 3, 4})[0], ElementsAre(11, 22, 13, 24));
}

// Scores before a softmax are values of the graph, though branches hold it.
TEST(Branches, HandOnWhatBothDoLast) {
  const auto file = [](std::int64_t axis_of_second) {
    OnnxFile file = branching();
    auto& branch = *file.proto.mutable_graph()->mutable_node(2);
    for (int b = 0; b < 2; ++b) {
      onnx::NodeProto softmax = onnx_node("Softmax", {b == 0 ? "summed" : "turned"}, {"chosen"});
      set(softmax, "axis", b == 0 ? std::int64_t{1} : axis_of_second);
      *branch.mutable_attribute(b)->mutable_g() =
          body({},
               {b == 0 ? onnx_node("Add", {"x", "weight"}, {"summed"}) : onnx_node("Neg", {"x"}, {"turned"}),
                softmax},
               {"chosen"});
    }
    return file;
  };
  const auto of_file = ops(file(1).read());
  EXPECT_EQ(of_file.back(), "Softmax");
  EXPECT_THAT(of_file, Contains("If"));
  EXPECT_EQ(ops(file(-1).read()).back(), "If") << "which differ as far as the file tells";
  EXPECT_THAT(run(file(1), {1, 2}, {1, -9})[0],
              ElementsAre(testing::FloatNear(std::exp(-10.0F), 1e-6F), testing::FloatNear(1, 1e-4F)));
  EXPECT_THAT(
      run(file(1), {1, 2}, {-1, 1.5F})[0],
      ElementsAre(testing::FloatNear(1 / (1 + std::exp(12.5F)), 1e-5F), testing::FloatNear(1, 1e-4F)));
}

TEST(Branches, PassGradients) {
  const Graph graph = branching().read();
  const Session session(graph, {.threads = 1});
  const ValueId x = graph.inputs()[0];
  for (const float sign : {1.0F, -1.0F}) {
    const Tensors given{{x, Array::of<float>({1, 2}, std::vector{sign, 2 * sign})}};
    const Tensors slopes = session.gradients(
        given, graph.outputs(), [&](const Tensors& values) { return values.at(graph.outputs()[0]).sum(); },
        std::vector{x});
    EXPECT_EQ(slopes.at(x).sum().item<float>(), 2 * sign);
  }
}

TEST(Branches, BecomeNodesWhereTheConditionIsKnown) {
  for (const std::int64_t width : {2, 3}) {
    OnnxFile file = file_of({-1, width});
    file.weight(integers("one", {1}));
    file.weight(integers("two", {2}));
    file.node("Shape", {"x"}, {"shape"});
    file.node("Gather", {"shape", "one"}, {"width"});
    file.node("Equal", {"width", "two"}, {"narrow"});
    auto& branch = file.node("If", {"narrow"}, {"y"}, "branch");
    set_body(branch, "then_branch", body({}, {onnx_node("Neg", {"x"}, {"inner"})}, {"inner"}));
    set_body(branch, "else_branch", body({}, {onnx_node("Relu", {"x"}, {"inner"})}, {"inner"}));
    file.output("y");
    EXPECT_THAT(ops(file.read()), ElementsAre(width == 2 ? "Neg" : "Relu"));
  }
}

TEST(Branches, OnesInsideOthersSeeWhatIsAroundBoth) {
  OnnxFile file = branching();
  auto& outer = *file.proto.mutable_graph()->mutable_node(2);
  onnx::NodeProto inner = onnx_node("If", {"negative"}, {"inner"});
  set_body(inner, "then_branch", body({}, {onnx_node("Mul", {"x", "weight"}, {"deep"})}, {"deep"}));
  set_body(inner, "else_branch", body({}, {}, {"x"}));
  *outer.mutable_attribute(1)->mutable_g() =
      body({}, {onnx_node("Less", {"sum", "nothing"}, {"negative"}), inner}, {"inner"});
  EXPECT_THAT(run(file, {1, 2}, {-1, -2})[0], ElementsAre(-10, -40));
  EXPECT_THAT(run(file, {1, 2}, {1, -1})[0], ElementsAre(1, -1));
}

// What a body computes from constants runs while the body is prepared, even a branch in it.
TEST(Branches, OnConstantsInsideOthersRunWhileThoseArePrepared) {
  OnnxFile file = branching();
  onnx::NodeProto inner = onnx_node("If", {"certain"}, {"inner"});
  set_body(inner, "then_branch", body({}, {onnx_node("Neg", {"weight"}, {"deep"})}, {"deep"}));
  set_body(inner, "else_branch", body({}, {onnx_node("Abs", {"weight"}, {"deep"})}, {"deep"}));
  *file.proto.mutable_graph()->mutable_node(2)->mutable_attribute(0)->mutable_g() =
      body({},
           {onnx_node("Greater", {"nothing", "nothing"}, {"certain"}), inner,
            onnx_node("Add", {"x", "inner"}, {"sum"})},
           {"sum"});
  EXPECT_THAT(run(file, {1, 2}, {1, 2})[0], ElementsAre(11, 22));
}

// As PyTorch's newer exporter writes: is this a single number?
TEST(Branches, OnNumbersOfAxesBecomeNodes) {
  OnnxFile file = file_of({-1, 3, 2});
  file.weight(integers("middle", {1}));
  file.weight(integers("none", {0}));
  set(file.node("ReduceMean", {"x", "middle"}, {"mean"}), "keepdims", std::int64_t{0});
  file.node("Shape", {"mean"}, {"sizes"});
  file.node("Size", {"sizes"}, {"axes"});
  file.node("Equal", {"axes", "none"}, {"single"});
  auto& branch = file.node("If", {"single"}, {"y"}, "branch");
  set_body(branch, "then_branch", body({}, {onnx_node("Neg", {"mean"}, {"inner"})}, {"inner"}));
  set_body(branch, "else_branch", body({}, {onnx_node("Relu", {"mean"}, {"inner"})}, {"inner"}));
  file.output("y");
  EXPECT_THAT(ops(file.read()), ElementsAre("ReduceMean", "Relu"));
}

TEST(Branches, NeedBothOfTheirBodies) {
  OnnxFile file = branching();
  file.proto.mutable_graph()->mutable_node(2)->mutable_attribute()->RemoveLast();
  expect_error(Fault::model, {"'branch'", "else_branch"}, [&] { file.read(); });
}

// Adds x to the state in every round, and gives the state of each; `rounds` may be a value of the network.
OnnxFile adding(const std::string& rounds, const onnx::NodeProto& goes_on) {
  OnnxFile file = file_of({-1, 2});
  file.weight(integers("three", {3}));
  file.proto.mutable_graph()->mutable_initializer(0)->clear_dims();
  auto& loop = file.node("Loop", {rounds, "", "x"}, {"y", "each"}, "loop");
  set_body(
      loop, "body",
      body({"round", "condition", "state"},
           {onnx_node("Add", {"state", "x"}, {"sum"}), onnx_node("Identity", {"sum"}, {"seen"}), goes_on},
           {"goes_on", "sum", "seen"}));
  file.output("y");
  file.output("each");
  return file;
}

// A setting decides which network runs, as voice-activity networks take their sampling rate.
TEST(Branches, AreWrittenOutWhereTheInputThatDecidesIsFixed) {
  OnnxFile file = file_of({-1, 2});
  file.input("rate", {}, onnx::TensorProto::INT64);
  file.weight(integers("high", {16000}));
  file.proto.mutable_graph()->mutable_initializer(0)->clear_dims();
  file.weight(floats("weight", {2, 1}, {1, 2}));
  file.node("Equal", {"rate", "high"}, {"is_high"});
  auto& branch = file.node("If", {"is_high"}, {"y"}, "branch");
  set_body(branch, "then_branch", body({}, {onnx_node("MatMul", {"x", "weight"}, {"inner"})}, {"inner"}));
  set_body(branch, "else_branch", body({}, {onnx_node("Neg", {"x"}, {"inner"})}, {"inner"}));
  file.output("y");
  const Graph graph = file.read();
  EXPECT_THAT(ops(graph), Contains("If"));
  EXPECT_THAT(ops(with_fixed_input(graph, "rate", 16000)), ElementsAre("MatMul"));
  EXPECT_THAT(ops(with_fixed_input(graph, "rate", 8000)), ElementsAre("Neg"));
  const Session session(with_fixed_input(graph, "rate", 16000), {.threads = 1});
  EXPECT_EQ(session.layers().size(), 1U);
  expect_error(Fault::usage, {"no input 'speed'"}, [&] { with_fixed_input(graph, "speed", 1); });
}

TEST(FixedInputs, OfOpenShapesAreTheNumberForAsManyRecordsAsThereAre) {
  OnnxFile file = file_of({-1, 2});
  file.input("offset", {-1, -1});
  file.node("Add", {"x", "offset"}, {"y"});
  file.output("y");
  const Graph graph = with_fixed_input(file.read(), "offset", 2.5);
  ASSERT_EQ(graph.inputs().size(), 1U);
  for (const std::int64_t rows : {1, 3}) {
    const Session session(graph, {.threads = 1});
    const Tensors given{{graph.inputs()[0], array::zeros({rows, 2})}};
    const Array sum = session.run(given, graph.outputs()).at(graph.outputs()[0]);
    EXPECT_TRUE(array::equal(sum, array::full({rows, 2}, 2.5F)));
  }
}

TEST(Loops, OfAKnownNumberOfRoundsAreWrittenOut) {
  const OnnxFile file = adding("three", onnx_node("Identity", {"condition"}, {"goes_on"}));
  EXPECT_THAT(ops(file.read()), Not(Contains("Loop")));
  const auto results = run(file, {1, 2}, {1, 2});
  EXPECT_THAT(results[0], ElementsAre(4, 8));
  EXPECT_THAT(results[1], ElementsAre(2, 4, 3, 6, 4, 8));
}

TEST(Loops, RunAsLongAsTheirConditionHolds) {
  onnx::NodeProto goes_on = onnx_node("Less", {"total", "limit"}, {"goes_on"});
  OnnxFile file = adding("", goes_on);
  auto& graph = *file.proto.mutable_graph()->mutable_node(0)->mutable_attribute(0)->mutable_g();
  *graph.add_node() = graph.node(2);
  *graph.mutable_node(2) = onnx_node("ReduceSum", {"sum"}, {"total"});
  set(*graph.mutable_node(2), "keepdims", std::int64_t{0});
  file.weight(floats("limit", {}, {10}));
  const auto results = run(file, {1, 2}, {1, 2});  // sums of 6, 9 and 12
  EXPECT_THAT(results[0], ElementsAre(4, 8));
  EXPECT_THAT(results[1], ElementsAre(2, 4, 3, 6, 4, 8));
}

TEST(Loops, WithNothingButTheirRoundsAreWrittenOut) {
  OnnxFile file = file_of({-1, 2});
  file.weight(integers("three", {3}));
  auto& loop = file.node("Loop", {"three"}, {"each"}, "loop");
  set_body(loop, "body",
           body({"round", "condition"},
                {onnx_node("Neg", {"x"}, {"seen"}), onnx_node("Identity", {"condition"}, {"goes_on"})},
                {"goes_on", "seen"}));
  file.output("each");
  EXPECT_THAT(run(file, {1, 2}, {1, 2})[0], ElementsAre(-1, -2, -1, -2, -1, -2));
}

TEST(Loops, OfNoRoundGiveTheirStatesBack) {
  OnnxFile file = adding("none", onnx_node("Identity", {"condition"}, {"goes_on"}));
  file.weight(integers("none", {0}));
  EXPECT_THAT(run(file, {1, 2}, {1, 2})[0], ElementsAre(1, 2));
}

// Running sums along axis 1 of x [N, 3]; from the end when `backward`.
OnnxFile scanning(std::int64_t declared, bool backward) {
  OnnxFile file = file_of({1, declared});
  file.weight(floats("start", {1}, {100}));
  auto& scan = file.node("Scan", {"start", "x"}, {"last", "sums"}, "scan");
  set(scan, "num_scan_inputs", std::int64_t{1});
  set(scan, "scan_input_axes", Ints{1});
  set(scan, "scan_output_axes", Ints{-1});
  set(scan, "scan_input_directions", Ints{backward ? 1 : 0});
  set(scan, "scan_output_directions", Ints{backward ? 1 : 0});
  set_body(scan, "body",
           body({"state", "slice"},
                {onnx_node("Add", {"state", "slice"}, {"sum"}), onnx_node("Identity", {"sum"}, {"seen"})},
                {"sum", "seen"}));
  file.output("last");
  file.output("sums");
  return file;
}

TEST(Scans, GiveTheSameWrittenOutAndRun) {
  for (const std::int64_t declared : {3, -1}) {
    EXPECT_EQ(ops(scanning(declared, false).read()).front() == "Scan", declared < 0);
    const auto forward = run(scanning(declared, false), {1, 3}, {1, 2, 3});
    EXPECT_THAT(forward[0], ElementsAre(106));
    EXPECT_THAT(forward[1], ElementsAre(101, 103, 106));
    EXPECT_THAT(run(scanning(declared, true), {1, 3}, {1, 2, 3})[1], ElementsAre(106, 105, 103));
  }
}

TEST(Functions, AreReadAsTheirNodesWithTheAttributesOfTheCall) {
  OnnxFile file = file_of({-1, 2});
  auto& function = *file.proto.add_functions();
  function.set_name("Twice");
  function.set_domain("mine");
  function.add_input("a");
  function.add_output("b");
  function.add_attribute("slope");
  onnx::NodeProto leaky = onnx_node("LeakyRelu", {"a"}, {"t"});
  auto& slope = *leaky.add_attribute();
  slope.set_name("alpha");
  slope.set_type(onnx::AttributeProto::FLOAT);
  slope.set_ref_attr_name("slope");
  *function.add_node() = leaky;
  *function.add_node() = onnx_node("Add", {"t", "t"}, {"b"});
  for (const auto& [from, to, alpha] : {std::tuple("x", "h", 0.5F), std::tuple("h", "y", 0.25F)}) {
    auto& call = file.node("Twice", {from}, {to}, std::string("call_") + to);
    call.set_domain("mine");
    set(call, "slope", alpha);
  }
  file.output("y");
  EXPECT_THAT(run(file, {1, 2}, {-1, 3})[0], ElementsAre(-0.5, 12));
  EXPECT_TRUE(file.read().find_value("call_h/t").has_value());
}

TEST(Functions, ThatCallThemselvesAreRefused) {
  OnnxFile file = file_of({-1, 2});
  auto& function = *file.proto.add_functions();
  function.set_name("Endless");
  function.set_domain("mine");
  function.add_input("a");
  function.add_output("b");
  *function.add_node() = onnx_node("Endless", {"a"}, {"b"});
  function.mutable_node(0)->set_domain("mine");
  file.node("Endless", {"x"}, {"y"}).set_domain("mine");
  file.output("y");
  expect_error(Fault::model, {"functions call each other"}, [&] { file.read(); });
}

TEST(Sequences, AreSettledWhileReading) {
  OnnxFile file = file_of({-1, 4});
  file.weight(integers("parts", {1, 3}));
  file.weight(integers("last", {-1}));
  file.proto.mutable_graph()->mutable_initializer(1)->clear_dims();
  auto& split = file.node("SplitToSequence", {"x", "parts"}, {"pieces"});
  set(split, "axis", std::int64_t{1});
  file.node("SequenceAt", {"pieces", "last"}, {"tail"});
  file.node("SequenceInsert", {"pieces", "tail"}, {"more"});
  file.node("SequenceErase", {"more", ""}, {"again"});
  file.node("Optional", {"again"}, {"maybe"});
  file.node("OptionalGetElement", {"maybe"}, {"surely"});
  auto& join = file.node("ConcatFromSequence", {"surely"}, {"y"});
  set(join, "axis", std::int64_t{1});
  file.node("SequenceLength", {"more"}, {"count"});
  file.output("y");
  file.output("count");
  const auto results = run(file, {1, 4}, {1, 2, 3, 4});
  EXPECT_THAT(results[0], ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(results[1], ElementsAre(3));
}

TEST(Sequences, WhoseLengthIsNotKnownAreRefused) {
  OnnxFile file = file_of({-1, -1});
  file.node("SplitToSequence", {"x"}, {"pieces"}, "split");
  file.node("ConcatFromSequence", {"pieces"}, {"y"});
  file.output("y");
  expect_error(Fault::unsupported, {"'split'", "not known"}, [&] { file.read(); });
}

TEST(Sequences, OfNodesWithoutTheirInputsAreRefused) {
  for (const char* const op : {"SplitToSequence", "OptionalGetElement"}) {
    OnnxFile file = file_of({-1, 4});
    file.node(op, {}, {"y"}, "bare");
    file.node("Relu", {"x"}, {"z"});
    file.output("z");
    expect_error(Fault::model, {"'bare'", "input 0 is missing"}, [&] { file.read(); });
  }
}

TEST(Sequences, OfPiecesOfNoSizeAreRefused) {
  OnnxFile file = file_of({-1, 4});
  file.weight(integers("parts", {std::numeric_limits<std::int64_t>::max(), 5}));
  set(file.node("SplitToSequence", {"x", "parts"}, {"pieces"}, "split"), "axis", std::int64_t{1});
  set(file.node("ConcatFromSequence", {"pieces"}, {"y"}), "axis", std::int64_t{1});
  file.output("y");
  expect_error(Fault::model, {"'split'", "a piece of 5"}, [&] { file.read(); });
}

// Classes and their names behind a network, as exporters of classical toolkits write them.
TEST(ClassicalTails, AreLeftOutWithANotice) {
  OnnxFile file = file_of({-1, 2});
  file.node("Sigmoid", {"x"}, {"p"});
  file.node("ArgMax", {"p"}, {"position"});
  file.node("ArrayFeatureExtractor", {"names", "position"}, {"named"}).set_domain("ai.onnx.ml");
  file.weight(integers("names", {7, 9}));
  file.node("Identity", {"named"}, {"label"});
  file.node("ZipMap", {"p"}, {"scores"}).set_domain("ai.onnx.ml");
  file.output("label");
  auto& scores = file.output("scores");
  scores.mutable_type()->mutable_sequence_type()->mutable_elem_type()->mutable_map_type()->set_key_type(7);
  const Graph graph = file.read();
  ASSERT_EQ(graph.outputs().size(), 1U);
  EXPECT_EQ(graph.value(graph.outputs()[0]).name, "p");
  EXPECT_THAT(graph.notices(), Contains(HasSubstr("left out: 'label'")));
}

// Classes that are texts, without a list of names.
TEST(ClassicalTails, OfTextsAreLeftOutWithANotice) {
  OnnxFile file = file_of({-1, 2});
  file.node("Sigmoid", {"x"}, {"p"});
  file.node("ArgMax", {"p"}, {"position"});
  file.node("ArrayFeatureExtractor", {"names", "position"}, {"label"}).set_domain("ai.onnx.ml");
  onnx::TensorProto names;
  names.set_name("names");
  names.set_data_type(onnx::TensorProto::STRING);
  names.add_dims(2);
  for (const char* name : {"cat", "dog"}) names.add_string_data(name);
  file.weight(names);
  file.output("label").mutable_type()->mutable_tensor_type()->set_elem_type(onnx::TensorProto::STRING);
  file.output("p");
  EXPECT_EQ(run(file, {1, 2}, {0, 0})[0], (std::vector<float>{0.5F, 0.5F}));
  EXPECT_THAT(file.read().notices(), Contains(HasSubstr("left out: 'label'")));
}

TEST(ClassicalTails, ThatAreEverythingAreRefused) {
  OnnxFile file = file_of({-1, 2});
  file.node("LabelEncoder", {"x"}, {"label"}).set_domain("ai.onnx.ml");
  file.output("label");
  expect_error(Fault::unsupported, {"'label'", "ai.onnx.ml"}, [&] { file.read(); });
  OnnxFile vectors = file_of({-1, 2});
  vectors.node("Neighbours", {"x"}, {"label"}, "vectors").set_domain("ai.onnx.ml");
  vectors.output("label");
  expect_error(Fault::unsupported, {"'vectors'", "ai.onnx.ml"}, [&] { vectors.read(); });
}

// y of one operator of classical machine learning for x [1, columns].
std::vector<float> columns(const std::string& op, const std::vector<float>& x,
                           const std::function<void(onnx::NodeProto&)>& change) {
  OnnxFile file = file_of({-1, std::ssize(x)});
  auto& made = file.node(op, {"x"}, {"y"});
  made.set_domain("ai.onnx.ml");
  change(made);
  file.output("y");
  return run(file, {1, std::ssize(x)}, x)[0];
}

TEST(ClassicalColumns, AreArithmetic) {
  using Reals = std::vector<float>;
  EXPECT_THAT(columns("Binarizer", {1, 2, 3}, [](auto& n) { set(n, "threshold", 2.0F); }),
              ElementsAre(0, 0, 1));
  EXPECT_THAT(columns("Normalizer", {3, -4}, [](auto& n) { set(n, "norm", "L2"); }),
              ElementsAre(0.6F, -0.8F));
  EXPECT_THAT(columns("Normalizer", {1, -3}, [](auto& n) { set(n, "norm", "L1"); }),
              ElementsAre(0.25F, -0.75F));
  EXPECT_THAT(columns("Normalizer", {2, 4}, [](auto& n) { set(n, "norm", "MAX"); }), ElementsAre(0.5F, 1));
  EXPECT_THAT(columns("Normalizer", {0, 0}, [](auto& n) { set(n, "norm", "MAX"); }), ElementsAre(0, 0));
  const auto impute = [](auto& n) {
    set(n, "imputed_value_floats", Reals{7, 8});
    set(n, "replaced_value_float", -1.0F);
  };
  EXPECT_THAT(columns("Imputer", {-1, 5}, impute), ElementsAre(7, 5));
  const auto mark = [](auto& n) {
    set(n, "imputed_value_floats", Reals{7});
    set(n, "replaced_value_float", std::numeric_limits<float>::quiet_NaN());
  };
  EXPECT_THAT(columns("Imputer", {1, std::numeric_limits<float>::quiet_NaN()}, mark), ElementsAre(1, 7));
  EXPECT_THAT(columns("OneHotEncoder", {3, 9},
                      [](auto& n) {
                        set(n, "cats_int64s", Ints{2, 3});
                      }),
              ElementsAre(0, 1, 0, 0));
  EXPECT_THAT(columns("FeatureVectorizer", {3, 9}, [](auto& n) { set(n, "inputdimensions", Ints{2}); }),
              ElementsAre(3, 9));
}

TEST(ClassicalColumns, AreChosenByTheirNumbers) {
  OnnxFile file = file_of({-1, 3});
  file.weight(integers("chosen", {2, 0}));
  file.node("ArrayFeatureExtractor", {"x", "chosen"}, {"y"}).set_domain("ai.onnx.ml");
  file.output("y");
  EXPECT_THAT(run(file, {2, 3}, {1, 2, 3, 4, 5, 6})[0], ElementsAre(3, 1, 6, 4));
}

TEST(ClassicalColumns, OfTextsAreRefused) {
  OnnxFile file = file_of({-1, 1});
  auto& encoder = file.node("OneHotEncoder", {"x"}, {"y"}, "encoder");
  encoder.set_domain("ai.onnx.ml");
  file.output("y");
  expect_error(Fault::unsupported, {"'encoder'", "texts", "whole numbers"}, [&] { file.read(); });
}

TEST(ClassicalColumns, WithoutTheirInputsAreDamaged) {
  for (const char* op : {"Binarizer", "Imputer", "Normalizer", "OneHotEncoder"}) {
    OnnxFile file = file_of({-1, 1});
    auto& made = file.node(op, {}, {"y"}, "bare");
    made.set_domain("ai.onnx.ml");
    set(made, "cats_int64s", Ints{1});
    file.output("y");
    expect_error(Fault::model, {"'bare'", "input 0 is missing"}, [&] { file.read(); });
  }
}

TEST(LinearModels, AreALayerAndWhatMakesProbabilities) {
  EXPECT_THAT(columns("LinearRegressor", {1, 2},
                      [](auto& n) {
                        set(n, "coefficients", std::vector<float>{3, 4});
                        set(n, "intercepts", std::vector<float>{5});
                      }),
              ElementsAre(16));
  const auto scores = [](const std::string& transform, const std::vector<float>& coefficients) {
    OnnxFile file = file_of({-1, 2});
    auto& made = file.node("LinearClassifier", {"x"}, {"label", "y"});
    made.set_domain("ai.onnx.ml");
    set(made, "coefficients", coefficients);
    set(made, "intercepts", std::vector<float>(coefficients.size() / 2, 0.5F));
    set(made, "classlabels_ints", Ints{0, 1});
    set(made, "post_transform", transform.c_str());
    file.output("label");
    file.output("y");
    return run(file, {1, 2}, {1, 2})[1];
  };
  const auto near = [](const std::vector<float>& values) {
    return ::testing::Pointwise(::testing::FloatNear(1e-6F), values);
  };
  const auto sigmoid = [](double x) { return static_cast<float>(1 / (1 + std::exp(-x))); };
  EXPECT_THAT(scores("NONE", {1, 0, 0, 1}), near({1.5F, 2.5F}));
  EXPECT_THAT(scores("SOFTMAX", {1, 0, 0, 1}), near({sigmoid(-1), sigmoid(1)}));
  EXPECT_THAT(scores("LOGISTIC", {1, 0, 0, 1}), near({sigmoid(1.5), sigmoid(2.5)}));
  EXPECT_THAT(scores("LOGISTIC", {0, 1}), near({sigmoid(-2.5), sigmoid(2.5)}));
  EXPECT_THAT(scores("NONE", {0, 1}), near({-1.5F, 2.5F}));
}

// Sampling as variational networks do: what a network says of a record must not change from run to run.
TEST(RandomNumbers, AreTheirMean) {
  OnnxFile file = file_of({-1, 2});
  auto& normal = file.node("RandomNormalLike", {"x"}, {"noise"});
  set(normal, "mean", 2.0F);
  set(normal, "scale", 3.0F);
  set(file.node("RandomUniform", {}, {"shift"}), "shape", Ints{2});
  file.node("Add", {"x", "noise"}, {"noisy"});
  file.node("Add", {"noisy", "shift"}, {"y"});
  file.output("y");
  EXPECT_THAT(run(file, {1, 2}, {1, 2})[0], ElementsAre(3.5F, 4.5F));
  EXPECT_THAT(file.read().notices(), Contains(HasSubstr("random numbers")));
}

onnx::SparseTensorProto sparse(const Ints& places, const Ints& shape_of_places) {
  onnx::SparseTensorProto made;
  *made.mutable_values() = floats("w", {2}, {5, 7});
  *made.mutable_indices() = integers("places", places);
  made.mutable_indices()->clear_dims();
  for (const std::int64_t dim : shape_of_places) made.mutable_indices()->add_dims(dim);
  for (const std::int64_t dim : {2, 3}) made.add_dims(dim);
  return made;
}

TEST(SparseTensors, AreDense) {
  for (const auto& weights : {sparse({1, 5}, {2}), sparse({0, 1, 1, 2}, {2, 2})}) {
    OnnxFile file = file_of({-1, 2});
    *file.proto.mutable_graph()->add_sparse_initializer() = weights;
    file.node("MatMul", {"x", "w"}, {"y"});
    file.output("y");
    EXPECT_THAT(run(file, {1, 2}, {1, 10})[0], ElementsAre(0, 5, 70));
    OnnxFile inside = file_of({-1, 2});
    auto& attribute = *inside.node("Constant", {}, {"w"}).add_attribute();
    attribute.set_name("sparse_value");
    attribute.set_type(onnx::AttributeProto::SPARSE_TENSOR);
    *attribute.mutable_sparse_tensor() = weights;
    inside.node("MatMul", {"x", "w"}, {"y"});
    inside.output("y");
    EXPECT_THAT(run(inside, {1, 2}, {1, 10})[0], ElementsAre(0, 5, 70));
  }
}

TEST(ClassicalTails, ScalingInFrontIsArithmetic) {
  OnnxFile file = file_of({-1, 2});
  auto& scaler = file.node("Scaler", {"x"}, {"y"});
  scaler.set_domain("ai.onnx.ml");
  set(scaler, "offset", std::vector<float>{1, 2});
  set(scaler, "scale", std::vector<float>{10, 0.5F});
  file.output("y");
  EXPECT_THAT(run(file, {1, 2}, {3, 4})[0], ElementsAre(20, 1));
}

}  // namespace
}  // namespace assay
