#include <limits>

#include "assay/engine/lanes/segment.h"
#include "tests/engine/backends/network.h"

namespace assay {
namespace {

using test::Ints;
using test::Network;

struct ConvolutionCase {
  std::int64_t in, out, groups;
  Ints kernel, pads, strides, dilations;
};

class EveryBackend : public testing::TestWithParam<const Backend*> {};
INSTANTIATE_TEST_SUITE_P(Backends, EveryBackend, testing::ValuesIn(test::tested_backends()),
                         [](const auto& at) { return std::string(at.param->name()); });

TEST_P(EveryBackend, ConvolutionsAgree) {
  const Backend* const backend = GetParam();
  const ConvolutionCase cases[] = {{1, 6, 1, {5, 5}, {0, 0, 0, 0}, {1, 1}, {1, 1}},
                                   {3, 20, 1, {3, 3}, {1, 0, 2, 1}, {2, 1}, {1, 1}},
                                   {8, 16, 4, {3, 3}, {1, 1, 1, 1}, {1, 1}, {2, 2}},
                                   {16, 16, 16, {3, 3}, {1, 1, 1, 1}, {2, 2}, {1, 1}},
                                   {4, 5, 1, {3}, {2, 0}, {2}, {1}},
                                   {2, 3, 1, {3, 2, 2}, {1, 0, 1, 0, 1, 0}, {1, 2, 1}, {1, 1, 1}},
                                   {5, 7, 1, {1, 1}, {0, 0, 0, 0}, {2, 2}, {1, 1}},
                                   {2, 33, 1, {7, 7}, {3, 3, 3, 3}, {1, 1}, {1, 1}},
                                   {3, 9, 1, {2, 4}, {0, 0, 0, 0}, {5, 3}, {1, 1}}};
  for (const ConvolutionCase& c : cases) {
    Shape input{c.in};
    for (std::size_t d = 0; d < c.kernel.size(); ++d) input.push_back(13);
    Network net(*backend, input);
    Shape weights{c.out, c.in / c.groups};
    weights.insert(weights.end(), c.kernel.begin(), c.kernel.end());
    const ValueId conv =
        net.add("Conv", {net.input, net.constant(weights), net.constant({c.out})},
                {{"pads", c.pads}, {"strides", c.strides}, {"dilations", c.dilations}, {"group", c.groups}});
    const ValueId relu = net.add("Relu", {conv});
    net.expect_agreement({relu}, {{relu, Reduction::mean},
                                  {relu, Reduction::max},
                                  {relu, Reduction::max, 1, /*whole=*/true},
                                  {relu, Reduction::min, 1, /*whole=*/true}});
  }
}

TEST_P(EveryBackend, AutomaticPaddingAgrees) {
  const Backend* const backend = GetParam();
  for (const char* automatic : {"SAME_UPPER", "SAME_LOWER", "VALID"}) {
    Network net(*backend, {3, 10, 11});
    const ValueId conv = net.add("Conv", {net.input, net.constant({4, 3, 4, 3})},
                                 {{"auto_pad", std::string(automatic)}, {"strides", Ints{2, 3}}});
    const ValueId pool = net.add(
        "MaxPool", {conv},
        {{"auto_pad", std::string(automatic)}, {"kernel_shape", Ints{2, 2}}, {"strides", Ints{2, 2}}});
    net.expect_agreement({pool});
  }
}

TEST_P(EveryBackend, NormalisationFoldsIntoConvolutionAndDense) {
  const Backend* const backend = GetParam();
  Network net(*backend, {3, 8, 8});
  const auto norm = [&](ValueId in, std::int64_t channels) {
    return net.add("BatchNormalization", {in, net.constant({channels}), net.constant({channels}),
                                          net.constant({channels}), net.constant({channels}, 0.05, 1.0)});
  };
  const ValueId conv =
      norm(net.add("Conv", {net.input, net.constant({10, 3, 3, 3}), net.constant({10})}), 10);
  const ValueId flat = net.add("Flatten", {net.add("LeakyRelu", {conv}, {{"alpha", 0.2F}})});
  const ValueId dense = norm(net.add("Gemm", {flat, net.constant({360, 12}), net.constant({12})}), 12);
  net.expect_agreement({net.add("Tanh", {dense})});
}

TEST_P(EveryBackend, AWantedValueIsNotFusedAway) {
  const Backend* const backend = GetParam();
  Network net(*backend, {3, 8, 8});
  const ValueId conv = net.add("Conv", {net.input, net.constant({10, 3, 3, 3}), net.constant({10})});
  const ValueId norm = net.add("BatchNormalization", {conv, net.constant({10}), net.constant({10}),
                                                      net.constant({10}), net.constant({10}, 0.05, 1.0)});
  const ValueId relu = net.add("Relu", {norm});
  net.expect_agreement({conv, norm, relu}, {{conv, Reduction::mean}, {norm, Reduction::max}});
}

TEST_P(EveryBackend, ResidualsConcatenationAndGlobalPoolingAgree) {
  const Backend* const backend = GetParam();
  Network net(*backend, {8, 9, 9});
  const ValueId a = net.add("Conv", {net.input, net.constant({8, 8, 3, 3}), net.constant({8})},
                            {{"pads", Ints{1, 1, 1, 1}}});
  const ValueId sum = net.add("Relu", {net.add("Add", {a, net.input})});
  const ValueId b = net.add("Conv", {sum, net.constant({20, 8, 1, 1})});
  const ValueId both = net.add("Concat", {sum, b}, {{"axis", std::int64_t{1}}});
  const ValueId pooled = net.add("GlobalAveragePool", {both});
  const ValueId flat = net.add("Flatten", {pooled});
  const ValueId out =
      net.add("Softmax", {net.add("MatMul", {flat, net.constant({28, 5})})}, {{"axis", std::int64_t{-1}}});
  net.expect_agreement({out, both},
                       {{sum, Reduction::mean}, {both, Reduction::mean}, {pooled, Reduction::max}});
}

TEST_P(EveryBackend, ConstantsBroadcastPerChannelAndAsOneNumber) {
  const Backend* const backend = GetParam();
  Network net(*backend, {5, 4, 4});
  ValueId x = net.add("Mul", {net.input, net.constant({5, 1, 1})});
  x = net.add("Add", {net.constant({1}), x});
  x = net.add("Sub", {x, net.constant({1, 5, 1, 1})});
  x = net.add("Sub", {x, net.input});
  net.expect_agreement({net.add("Clip", {x, net.constant({}, 0, -0.5), net.constant({}, 0, 0.7)})});
}

TEST_P(EveryBackend, EveryActivationAgrees) {
  const Backend* const backend = GetParam();
  for (const char* op : {"Relu", "LeakyRelu", "Sigmoid", "Tanh", "Elu", "HardSwish"}) {
    Network net(*backend, {4, 5, 5});
    const ValueId alone = net.add(op, {net.input});
    const ValueId fused = net.add(op, {net.add("Conv", {alone, net.constant({6, 4, 2, 2})})});
    net.expect_agreement({alone, fused});
  }
}

TEST_P(EveryBackend, PoolingFormsAgree) {
  const Backend* const backend = GetParam();
  const std::vector<std::map<std::string, Attribute>> forms{
      {{"kernel_shape", Ints{2, 2}}, {"strides", Ints{2, 2}}},
      {{"kernel_shape", Ints{3, 3}}, {"strides", Ints{2, 2}}, {"pads", Ints{1, 1, 1, 1}}},
      {{"kernel_shape", Ints{3, 2}}, {"strides", Ints{2, 1}}, {"pads", Ints{0, 1, 1, 0}}},
      {{"kernel_shape", Ints{2, 2}}, {"strides", Ints{2, 2}}, {"ceil_mode", std::int64_t{1}}},
  };
  for (const auto& form : forms) {
    for (const char* op : {"MaxPool", "AveragePool"}) {
      Network net(*backend, {3, 9, 9});
      net.expect_agreement({net.add(op, {net.input}, form)});
    }
  }
  Network net(*backend, {3, 9, 9});
  net.expect_agreement({net.add(
      "AveragePool", {net.input},
      {{"kernel_shape", Ints{3, 3}}, {"pads", Ints{1, 1, 1, 1}}, {"count_include_pad", std::int64_t{1}}})});
}

TEST_P(EveryBackend, AFlattenedValueCanBeWantedAndReshaped) {
  const Backend* const backend = GetParam();
  Network net(*backend, {3, 6, 6});
  const ValueId conv = net.add("Conv", {net.input, net.constant({17, 3, 3, 3})});
  const ValueId flat = net.add("Flatten", {conv});
  const ValueId again = net.add("Reshape", {conv, net.integers({0, -1})});
  net.expect_agreement({flat, again, net.add("Relu", {flat})});
}

TEST_P(EveryBackend, ResultsAreTheSameForEveryThreadCountAndAgreeForEveryBatchSize) {
  const Backend* const backend = GetParam();
  const auto run = [&](std::int64_t rows, int threads) {
    Network net(*backend, {1, 28, 28}, rows);
    const ValueId conv = net.add("Relu", {net.add("Conv", {net.input, net.constant({6, 1, 5, 5})})});
    const ValueId flat = net.add(
        "Flatten", {net.add("MaxPool", {conv}, {{"kernel_shape", Ints{2, 2}}, {"strides", Ints{2, 2}}})});
    net.expect_agreement({net.add("Gemm", {flat, net.constant({864, 10}, 0.05)})},
                         {{conv, Reduction::mean}, {conv, Reduction::max, 1, /*whole=*/true}}, threads);
  };
  for (const std::int64_t rows : {1, 2, 3, 31, 64, 65, 130}) {
    for (const int threads : {1, 2, 3}) run(rows, threads);
  }
}

TEST_P(EveryBackend, LeavesToTheKernelsWhatItWouldDoDifferently) {
  const Backend* const backend = GetParam();
  Network windows(*backend, {3, 9, 9});
  EXPECT_FALSE(windows.supported(windows.add("AveragePool", {windows.input},
                                             {{"kernel_shape", Ints{2, 2}},
                                              {"strides", Ints{2, 2}},
                                              {"ceil_mode", std::int64_t{1}},
                                              {"count_include_pad", std::int64_t{1}}})));
  Network axis(*backend, {3, 9});
  EXPECT_FALSE(axis.supported(axis.add("Softmax", {axis.input}, {{"axis", std::int64_t{0}}})));
  if (backend->keeps_nan()) return;
  Network weights(*backend, {3, 9, 9});
  const ValueId nan = weights.constant({2, 3, 1, 1}, 0, std::numeric_limits<double>::quiet_NaN());
  EXPECT_FALSE(weights.supported(weights.add("Conv", {weights.input, nan})));
}

}  // namespace
}  // namespace assay
