// Relevance through branches and loops that records decide: that of the same network with the path fixed.

#include <gmock/gmock.h>

#include <numeric>

#include <assay/relevance.h>
#include <assay/session.h>
#include "tests/model/onnx_build.h"

namespace assay {
namespace {

using namespace testing_onnx;
using Floats = std::vector<float>;

onnx::GraphProto inner_graph(const Names& inputs, const std::vector<onnx::NodeProto>& nodes,
                             const Names& outputs) {
  onnx::GraphProto made;
  const auto type = [](onnx::ValueInfoProto& info, const std::string& name) {
    info.set_name(name);
    info.mutable_type()->mutable_tensor_type()->set_elem_type(name == "round" ? onnx::TensorProto::INT64
                                                              : name.starts_with("going")
                                                                  ? onnx::TensorProto::BOOL
                                                                  : onnx::TensorProto::FLOAT);
  };
  for (const auto& name : inputs) type(*made.add_input(), name);
  for (const auto& one : nodes) *made.add_node() = one;
  for (const auto& name : outputs) type(*made.add_output(), name);
  return made;
}

// x [1, 2] through two linear layers; h is what lies between.
OnnxFile beginning() {
  OnnxFile file(18);
  file.input("x", {1, 2});
  file.weight(floats("first", {2, 3}, {1, -1, 0.5F, 2, 0.25F, -1}));
  file.weight(floats("second", {3, 2}, {1, 2, -1, 0.5F, 1, -2}));
  file.weight(floats("third", {3, 2}, {-1, 1, 3, -0.5F, 2, 0.5F}));
  file.weight(floats("turn", {3, 3}, {0.5F, 1, 0, -1, 1, 0.5F, 1, 0, 1}));
  file.weight(floats("limit", {}, {6}));
  file.weight(floats("nothing", {}, {0}));
  file.node("MatMul", {"x", "first"}, {"sums"}, "early");
  file.node("Relu", {"sums"}, {"h"});
  return file;
}

OnnxFile with_branch() {
  OnnxFile file = beginning();
  set(file.node("ReduceSum", {"x"}, {"sum"}), "keepdims", std::int64_t{0});
  file.node("Greater", {"sum", "nothing"}, {"positive"});
  auto& branch = file.node("If", {"positive"}, {"y"}, "branch");
  const auto one = [](const char* weight, const char* output) {
    return inner_graph({}, {onnx_node("MatMul", {"h", weight}, {output})}, {output});
  };
  set_body(branch, "then_branch", one("second", "a"));
  set_body(branch, "else_branch", one("third", "b"));
  file.output("y", Shape{1, 2});
  return file;
}

OnnxFile fixed_branch(const std::string& weight) {
  OnnxFile file = beginning();
  file.node("MatMul", {"h", weight}, {"y"});
  file.output("y", Shape{1, 2});
  return file;
}

// h is turned until its sum is above the limit.
OnnxFile with_loop() {
  OnnxFile file = beginning();
  set(file.node("ReduceSum", {"h"}, {"sum"}), "keepdims", std::int64_t{0});
  file.node("LessOrEqual", {"sum", "limit"}, {"goes"});
  auto& loop = file.node("Loop", {"", "goes", "h"}, {"turned"}, "loop");
  auto total = onnx_node("ReduceSum", {"next"}, {"total"});
  set(total, "keepdims", std::int64_t{0});
  set_body(loop, "body",
           inner_graph(
               {"round", "going", "state"},
               {onnx_node("MatMul", {"state", "turn"}, {"product"}), onnx_node("Relu", {"product"}, {"next"}),
                total, onnx_node("LessOrEqual", {"total", "limit"}, {"going_on"})},
               {"going_on", "next"}));
  file.node("MatMul", {"turned", "second"}, {"y"});
  file.output("y", Shape{1, 2});
  return file;
}

OnnxFile fixed_rounds(int rounds) {
  OnnxFile file = beginning();
  std::string state = "h";
  for (int i = 0; i < rounds; ++i) {
    const std::string number = std::to_string(i);
    file.node("MatMul", {state, "turn"}, {"product" + number});
    state = "next" + number;
    file.node("Relu", {"product" + number}, {state});
  }
  file.node("MatMul", {state, "second"}, {"y"});
  file.output("y", Shape{1, 2});
  return file;
}

struct Found {
  Floats x, h;
  double start = 0;
  bool operator==(const Found&) const = default;
};

Found relevance_of(const OnnxFile& file, const Floats& x, const std::string& method) {
  const Session session(file.read(), {.threads = 1});
  const auto attribution = relevance::make_attribution(method, session);
  const Graph& graph = session.graph();
  const std::vector<ValueId> wanted{graph.inputs()[0], *graph.find_value("h")};
  relevance::Target target;
  target.classes = {1};
  const auto found =
      attribution->attribute({{graph.inputs()[0], Array::of<float>({1, 2}, x)}}, target, wanted);
  const auto list = [&](ValueId id) {
    const Array values = found.values.at(id).contiguous();
    return Floats(values.as<float>().begin(), values.as<float>().end());
  };
  return {list(wanted[0]), list(wanted[1]), found.start.at(0)};
}

class Paths : public ::testing::TestWithParam<const char*> {};

void expect_same(const Found& found, const Found& expected) {
  EXPECT_THAT(found.x, ::testing::Pointwise(::testing::FloatNear(1e-5F), expected.x));
  EXPECT_THAT(found.h, ::testing::Pointwise(::testing::FloatNear(1e-5F), expected.h));
  EXPECT_NEAR(found.start, expected.start, 1e-5);
}

TEST_P(Paths, GiveTheRelevanceOfTheBranchTaken) {
  expect_same(relevance_of(with_branch(), {1, 2}, GetParam()),
              relevance_of(fixed_branch("second"), {1, 2}, GetParam()));
  expect_same(relevance_of(with_branch(), {1, -2}, GetParam()),
              relevance_of(fixed_branch("third"), {1, -2}, GetParam()));
}

TEST_P(Paths, GiveTheRelevanceOfTheRoundsRun) {
  const std::vector<Floats> records{{4, 1}, {2, 0.5F}, {1, 0.25F}};
  std::vector<std::size_t> rounds;
  for (const Floats& x : records) {
    const Found found = relevance_of(with_loop(), x, GetParam());
    for (int count = 0; count < 6; ++count) {
      const Found fixed = relevance_of(fixed_rounds(count), x, GetParam());
      if (std::abs(fixed.start - found.start) > 1e-5) continue;
      rounds.push_back(static_cast<std::size_t>(count));
      expect_same(found, fixed);
    }
  }
  EXPECT_EQ(rounds.size(), records.size());
  EXPECT_NE(rounds.front(), rounds.back());
}

INSTANTIATE_TEST_SUITE_P(Methods, Paths, ::testing::Values("epsilon", "epsilon-plus", "gradient-x-input"),
                         [](const auto& info) {
                           std::string name = info.param;
                           std::erase(name, '-');
                           return name;
                         });

TEST(PathsTaken, ConserveRelevance) {
  for (const auto& [file, x] :
       {std::pair(with_branch(), Floats{1, 2}), std::pair(with_loop(), Floats{1, 0.25F})}) {
    const Found found = relevance_of(file, x, "epsilon");
    EXPECT_NEAR(std::accumulate(found.x.begin(), found.x.end(), 0.0), found.start, 1e-4);
    EXPECT_NEAR(std::accumulate(found.h.begin(), found.h.end(), 0.0), found.start, 1e-4);
    EXPECT_GT(std::abs(found.start), 0.1);
  }
}

TEST(PathsTaken, CarryRelevanceToTheLayersInFrontOfThem) {
  const Session session(with_loop().read());
  EXPECT_TRUE(relevance::carries_relevance(session, session.layer("early")));
}

}  // namespace
}  // namespace assay
