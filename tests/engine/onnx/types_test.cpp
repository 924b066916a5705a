// Element types that no file states follow from the nodes, and whole numbers keep the width of their own.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <assay/array_math.h>
#include <assay/session.h>
#include "tests/model/onnx_build.h"

namespace assay {
namespace {

using namespace testing_onnx;
using ::testing::ElementsAre;

using T = onnx::TensorProto;

// The only output for inputs of float32.
std::vector<float> outputs_of(const OnnxFile& file,
                              const std::vector<std::pair<Shape, std::vector<float>>>& inputs) {
  const Graph graph = file.read();
  const Session session(graph, {.threads = 1});
  Tensors given;
  for (std::size_t i = 0; i < inputs.size(); ++i)
    given.emplace(graph.inputs()[i], Array::of<float>(inputs[i].first, inputs[i].second));
  const Array array =
      session.run(given, graph.outputs()).at(graph.outputs()[0]).to(DType::float32).contiguous();
  return {array.as<float>().begin(), array.as<float>().end()};
}

void cast(OnnxFile& file, const std::string& from, const std::string& to, int type) {
  set(file.node("Cast", {from}, {to}), "to", std::int64_t{type});
}

// x and z [N, n] as whole numbers of the type, through the operator, and back as float32.
std::vector<float> arithmetic(const std::string& op, int type, const std::vector<float>& x,
                              const std::vector<float>& z, const std::string& direction = {}) {
  const auto count = static_cast<std::int64_t>(x.size());
  OnnxFile file(18);
  file.input("x", {-1, count});
  cast(file, "x", "a", type);
  if (z.empty()) {
    file.node(op, {"a"}, {"c"});
    cast(file, "c", "y", T::FLOAT);
    file.output("y");
    return outputs_of(file, {{{1, count}, x}});
  }
  file.input("z", {-1, count});
  cast(file, "z", "b", type);
  auto& node = file.node(op, {"a", "b"}, {"c"});
  if (!direction.empty()) set(node, "direction", direction.c_str());
  cast(file, "c", "y", T::FLOAT);
  file.output("y");
  return outputs_of(file, {{{1, count}, x}, {{1, count}, z}});
}

template <typename Number>
void expect_wraps(int type) {
  const auto low = static_cast<float>(std::numeric_limits<Number>::min()),
             high = static_cast<float>(std::numeric_limits<Number>::max());
  const auto as = [](std::int64_t number) { return static_cast<float>(static_cast<Number>(number)); };
  const auto most = static_cast<std::int64_t>(std::numeric_limits<Number>::max()),
             least = static_cast<std::int64_t>(std::numeric_limits<Number>::min());
  EXPECT_THAT(arithmetic("Add", type, {high, 3}, {2, 4}), ElementsAre(as(most + 2), 7)) << type;
  EXPECT_THAT(arithmetic("Sub", type, {low, 9}, {1, 4}), ElementsAre(as(least - 1), 5)) << type;
  EXPECT_THAT(arithmetic("Mul", type, {high, 3}, {3, 4}), ElementsAre(as(most * 3), 12)) << type;
  EXPECT_THAT(arithmetic("Sum", type, {high, 3}, {high, 4}), ElementsAre(as(most + most), 7)) << type;
}

TEST(WholeNumbers, WrapAtTheWidthOfTheirOwn) {
  expect_wraps<std::uint8_t>(T::UINT8);
  expect_wraps<std::int8_t>(T::INT8);
  expect_wraps<std::uint16_t>(T::UINT16);
  expect_wraps<std::int16_t>(T::INT16);
}

TEST(WholeNumbers, OfFourBytesWithoutSignWrapToo) {
  EXPECT_THAT(arithmetic("Sub", T::UINT32, {0, 5}, {1, 3}), ElementsAre(4294967295.0F, 2));
  EXPECT_THAT(arithmetic("Mul", T::UINT32, {65536, 2}, {65536, 3}), ElementsAre(0, 6));
  EXPECT_THAT(arithmetic("Neg", T::INT16, {-32768, 7}, {}), ElementsAre(-32768, -7));
  EXPECT_THAT(arithmetic("Abs", T::INT16, {-32768, -7}, {}), ElementsAre(-32768, 7));
}

TEST(WholeNumbers, AreCutByCasts) {
  const auto through = [](int type, float x) {
    OnnxFile file(18);
    file.input("x", {-1, 1});
    cast(file, "x", "whole", T::INT64);
    cast(file, "whole", "a", type);
    cast(file, "a", "y", T::FLOAT);
    file.output("y");
    return outputs_of(file, {{{1, 1}, {x}}})[0];
  };
  EXPECT_EQ(through(T::UINT8, 300), 44);
  EXPECT_EQ(through(T::INT8, 200), -56);
  EXPECT_EQ(through(T::UINT16, -1), 65535);
  EXPECT_EQ(through(T::INT16, 40000), -25536);
  EXPECT_EQ(through(T::UINT32, -2), 4294967294.0F);
}

TEST(WholeNumbers, ShiftOnlyTheBitsThatTheyHave) {
  EXPECT_THAT(arithmetic("BitShift", T::UINT16, {243, 1}, {10, 15}, "LEFT"),
              ElementsAre(52224, 32768));  // 243 * 1024 = 3 * 65536 + 52224
  EXPECT_THAT(arithmetic("BitShift", T::UINT8, {255, 1}, {1, 7}, "LEFT"), ElementsAre(254, 128));
  EXPECT_THAT(arithmetic("BitShift", T::UINT16, {65535, 8}, {8, 3}, "RIGHT"), ElementsAre(255, 1));
  EXPECT_THAT(arithmetic("BitwiseNot", T::UINT16, {295, 0}, {}), ElementsAre(65240, 65535));
  EXPECT_THAT(arithmetic("BitwiseNot", T::UINT8, {1, 255}, {}), ElementsAre(254, 0));
  EXPECT_THAT(arithmetic("BitwiseNot", T::INT16, {5, -1}, {}), ElementsAre(-6, 0));
}

// CastLike towards a value whose type only the nodes tell.
TEST(InferredTypes, TellWhatACastIsLike) {
  OnnxFile file(18);
  file.input("x", {-1, 2});
  cast(file, "x", "narrow", T::INT16);
  file.node("Identity", {"narrow"}, {"same"});
  file.node("CastLike", {"x", "same"}, {"like"});
  cast(file, "like", "y", T::FLOAT);
  file.output("y");
  EXPECT_THAT(outputs_of(file, {{{1, 2}, {40000, 3}}}), ElementsAre(-25536, 3));
}

// A mask of truths leaves positions out; it is not added as 0 and 1. It goes through operators that keep its
// type.
TEST(InferredTypes, TellMasksOfTruths) {
  OnnxFile file(23);
  for (const char* name : {"q", "k", "v"}) file.input(name, {-1, 1, 2, 1});
  file.input("m", {-1, 2});
  cast(file, "m", "truth", T::BOOL);
  file.weight(integers("axes", {1, 2}));
  file.node("Unsqueeze", {"truth", "axes"}, {"upright"});
  file.weight(integers("sizes", {1, 1, 2, 2}));
  file.node("Expand", {"upright", "sizes"}, {"mask"});
  file.node("Attention", {"q", "k", "v", "mask"}, {"y"});
  file.output("y");
  const Shape shape{1, 1, 2, 1};
  EXPECT_THAT(outputs_of(file, {{shape, {1, 2}}, {shape, {3, 9}}, {shape, {5, 7}}, {{1, 2}, {1, 0}}}),
              ElementsAre(5, 5));
}

TEST(Attention, IsZeroInRowsThatAMaskLeavesNothing) {
  for (const bool truths : {true, false}) {
    OnnxFile file(23);
    for (const char* name : {"q", "k", "v"}) file.input(name, {-1, 1, 2, 1});
    file.input("m", {-1, 1, 2, 2});
    if (truths) {
      cast(file, "m", "mask", T::BOOL);
    } else {
      file.node("Log", {"m"}, {"mask"});  // minus infinity where m is 0
    }
    file.node("Attention", {"q", "k", "v", "mask"}, {"y"});
    file.output("y");
    const Graph graph = file.read();
    const Session session(graph, {.threads = 1});
    Tensors given;
    const Shape shape{1, 1, 2, 1};
    const std::vector<std::pair<Shape, std::vector<float>>> inputs{
        {shape, {1, 2}}, {shape, {3, 9}}, {shape, {5, 7}}, {{1, 1, 2, 2}, {0, 0, 0, 1}}};
    for (std::size_t i = 0; i < inputs.size(); ++i)
      given.emplace(graph.inputs()[i], Array::of<float>(inputs[i].first, inputs[i].second));
    const ValueId q = graph.inputs()[0];
    const Array array = session.run(given, graph.outputs()).at(graph.outputs()[0]).contiguous();
    EXPECT_THAT(std::vector<float>(array.as<float>().begin(), array.as<float>().end()), ElementsAre(0, 7));
    const auto sum = [&](const Tensors& values) { return values.at(graph.outputs()[0]).sum(); };
    const Array slopes = session.gradients(given, graph.outputs(), sum, std::vector<ValueId>{q}).at(q);
    EXPECT_TRUE(slopes.isfinite().all().item<bool>());
  }
}

}  // namespace
}  // namespace assay
