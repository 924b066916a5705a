#include "assay/engine/arithmetic.h"

#include <gtest/gtest.h>

#include <assay/session.h>
#include "tests/engine/backends/network.h"

namespace assay {
namespace {

double of_plan(const Graph& graph, const std::string& engine) {
  double sum = 0;
  for (const PlannedSegment& part : Session(graph, {.engine = engine}).plan()) sum += part.multiply_adds;
  return sum;
}

TEST(MultiplyAdds, AreThoseOfTheDefinition) {
  GraphBuilder build("net");
  const auto weights = [&](const Shape& shape) {
    return build.constant("", Array::zeros(DType::float32, shape));
  };
  using Ints = std::vector<std::int64_t>;
  ValueId x = build.input("input", DType::float32, {-1, 4, 8, 6});
  // 6 channels of 8 x 6 results, each of 2 channels (two groups) by 3 x 3: 6 * 48 * 18 = 5,184.
  x = build.add("Conv", "conv", {x, weights({6, 2, 3, 3})},
                {{"group", std::int64_t{2}}, {"pads", Ints(4, 1)}});
  x = build.add("Relu", "relu", {x});
  // Every one of 6 * 48 values goes to 5 channels by 2 x 2: 288 * 20 = 5,760.
  x = build.add("ConvTranspose", "up", {x, weights({6, 5, 2, 2})}, {{"strides", Ints{2, 2}}});
  x = build.add("Flatten", "flat", {x});  // 5 * 16 * 12 = 960
  // 960 * 7 = 6,720, and 7 * 3 = 21.
  x = build.add("Gemm", "dense", {x, weights({7, 960})}, {{"transB", std::int64_t{1}}});
  build.output(build.add("MatMul", "scores", {x, weights({7, 3})}));
  const Graph graph = build.build();
  for (const char* engine : {"auto", "reference"}) EXPECT_EQ(of_plan(graph, engine), 5184 + 5760 + 6720 + 21);
}

TEST(MultiplyAdds, OfRecurrentCellsAreThoseOfAllStepsAndDirections) {
  GraphBuilder build("net");
  const auto weights = [&](const Shape& shape) {
    return build.constant("", Array::zeros(DType::float32, shape));
  };
  const ValueId steps = build.input("input", DType::float32, {9, -1, 3});
  const ValueId last = build.value("last");
  // Two directions of 4 gates by 5 units read 3 features and 5 states: 9 * 2 * 20 * 8 = 2,880.
  build.node({.name = "cell",
              .op = "LSTM",
              .inputs = {steps, weights({2, 20, 3}), weights({2, 20, 5})},
              .outputs = {no_value, last},
              .attributes = {{"hidden_size", std::int64_t{5}}, {"direction", std::string("bidirectional")}}});
  build.output(last);
  EXPECT_EQ(of_plan(build.build(), "reference"), 2880);
}

TEST(MultiplyAdds, OfTheProcessorAreAtLeastWhatALoopWithoutVectorsMakes) {
  EXPECT_GT(peak_multiply_adds(), 0.1);  // a product in 10 ns: no processor that runs this is as slow
}

}  // namespace
}  // namespace assay
