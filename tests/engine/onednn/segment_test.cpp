#include "assay/engine/onednn/segment.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

#include <assay/model.h>
#include <assay/random.h>
#include "assay/engine/kernel.h"

namespace assay {
namespace {

using Ints = std::vector<std::int64_t>;

// A graph under construction whose values are computed at once by the libtorch kernels, the second opinion.
class Network {
 public:
  explicit Network(Shape input_shape, std::int64_t rows = 7, std::uint64_t seed = 1) : rng_(seed) {
    Shape declared = input_shape;
    declared.insert(declared.begin(), -1);
    input_shape.insert(input_shape.begin(), rows);
    input = build_.input("input", DType::float32, declared);
    set(input, random(input_shape));
  }

  ValueId constant(Shape shape, double scale = 0.5, double shift = 0) {
    const Tensor tensor = random(shape) * scale + shift;
    const ValueId id = build_.constant("", to_array(tensor));
    values_[id] = tensor;
    return id;
  }
  ValueId integers(Ints values) {
    const Array array = Array::of<std::int64_t>({static_cast<std::int64_t>(values.size())}, values);
    const ValueId id = build_.constant("", array);
    values_[id] = to_tensor(array);
    return id;
  }
  ValueId add(const std::string& op, std::vector<ValueId> inputs,
              std::map<std::string, Attribute> attributes = {}) {
    const ValueId id = build_.add(op, op + std::to_string(count_++), inputs, attributes);
    std::vector<Tensor> tensors;
    for (const ValueId in : inputs) tensors.push_back(in == no_value ? Tensor() : values_.at(in));
    KernelContext context;
    set(id, run_node(build_.nodes().back(), tensors, context).at(0));
    return id;
  }

  // Runs the whole graph as one segment and compares every kept value and every tap with the kernels' values.
  void expect_agreement(std::vector<ValueId> keep, std::vector<onednn::Tap> taps = {}, int threads = 2) {
    build_.set_outputs(keep);
    const Graph graph = build_.build();
    std::vector<int> nodes;
    for (std::size_t n = 0; n < graph.nodes().size(); ++n) {
      ASSERT_TRUE(onednn::supports(graph, graph.nodes()[n], shape_of())) << graph.nodes()[n].describe();
      nodes.push_back(static_cast<int>(n));
    }
    const onednn::Segment segment(graph, nodes, shape_of(), keep, taps, threads);
    const std::int64_t rows = values_.at(input).size(0);
    std::vector<std::vector<float>> matrices;
    std::vector<float*> pointers;
    for (const onednn::Tap& tap : taps) {
      matrices.emplace_back(static_cast<std::size_t>(rows * values_.at(tap.value).size(1)));
      pointers.push_back(matrices.back().data());
    }
    Tensors results;
    segment.run({{input, values_.at(input)}}, results, pointers);
    for (const ValueId id : keep) expect_near(results.at(id), values_.at(id));
    for (std::size_t t = 0; t < taps.size(); ++t) {
      Tensor expected = values_.at(taps[t].value);
      if (expected.dim() > 2) {
        expected = expected.flatten(2);
        expected = taps[t].reduction == Reduction::mean ? expected.mean(2) : expected.amax(2);
      }
      expect_near(at::from_blob(pointers[t], expected.sizes(), at::kFloat), expected);
    }
  }

  bool supported(ValueId output) {
    build_.set_outputs({output});
    const Graph graph = build_.build();
    return onednn::supports(graph, graph.nodes().back(), shape_of());
  }

  const Tensor& value(ValueId id) const { return values_.at(id); }
  ValueId input = no_value;

 private:
  Tensor random(const Shape& shape) {
    std::vector<float> numbers(static_cast<std::size_t>(element_count(shape)));
    for (float& v : numbers) v = static_cast<float>(rng_.normal());
    return to_tensor(Array::of<float>(shape, numbers));
  }
  void set(ValueId id, const Tensor& tensor) {
    values_[id] = tensor;
    Shape shape = tensor.sizes().vec();
    if (!shape.empty()) shape[0] = 1;
    shapes_[id] = shape;
  }
  onednn::ShapeOf shape_of() const {
    return [this](ValueId id) -> const Shape& {
      static const Shape none;
      const auto it = shapes_.find(id);
      return it == shapes_.end() ? none : it->second;
    };
  }
  static void expect_near(const Tensor& actual, const Tensor& expected) {
    ASSERT_EQ(actual.sizes(), expected.sizes());
    const float scale = std::max(1.0F, expected.abs().max().item<float>());
    EXPECT_LE((actual - expected).abs().max().item<float>(), 2e-5F * scale);
  }

  GraphBuilder build_{"network"};
  Rng rng_;
  int count_ = 0;
  std::map<ValueId, Tensor> values_;
  std::map<ValueId, Shape> shapes_;
};

struct ConvolutionCase {
  std::int64_t in, out, groups;
  Ints kernel, pads, strides, dilations;
};

class Convolutions : public testing::TestWithParam<ConvolutionCase> {};

TEST_P(Convolutions, AgreeWithTheKernels) {
  const ConvolutionCase& c = GetParam();
  Shape input{c.in};
  for (std::size_t d = 0; d < c.kernel.size(); ++d) input.push_back(13);
  Network net(input);
  Shape weights{c.out, c.in / c.groups};
  weights.insert(weights.end(), c.kernel.begin(), c.kernel.end());
  const ValueId conv =
      net.add("Conv", {net.input, net.constant(weights), net.constant({c.out})},
              {{"pads", c.pads}, {"strides", c.strides}, {"dilations", c.dilations}, {"group", c.groups}});
  const ValueId relu = net.add("Relu", {conv});
  net.expect_agreement({relu}, {{relu, Reduction::mean}, {relu, Reduction::max}});
}

INSTANTIATE_TEST_SUITE_P(Forms, Convolutions,
                         testing::Values(ConvolutionCase{1, 6, 1, {5, 5}, {0, 0, 0, 0}, {1, 1}, {1, 1}},
                                         ConvolutionCase{3, 20, 1, {3, 3}, {1, 0, 2, 1}, {2, 1}, {1, 1}},
                                         ConvolutionCase{8, 16, 4, {3, 3}, {1, 1, 1, 1}, {1, 1}, {2, 2}},
                                         ConvolutionCase{16, 16, 16, {3, 3}, {1, 1, 1, 1}, {2, 2}, {1, 1}},
                                         ConvolutionCase{4, 5, 1, {3}, {2, 0}, {2}, {1}},
                                         ConvolutionCase{
                                             2, 3, 1, {3, 2, 2}, {1, 0, 1, 0, 1, 0}, {1, 2, 1}, {1, 1, 1}}));

TEST(Segment, AutomaticPaddingAgrees) {
  for (const char* automatic : {"SAME_UPPER", "SAME_LOWER", "VALID"}) {
    Network net({3, 10, 11});
    const ValueId conv = net.add("Conv", {net.input, net.constant({4, 3, 4, 3})},
                                 {{"auto_pad", std::string(automatic)}, {"strides", Ints{2, 3}}});
    const ValueId pool = net.add(
        "MaxPool", {conv},
        {{"auto_pad", std::string(automatic)}, {"kernel_shape", Ints{2, 2}}, {"strides", Ints{2, 2}}});
    net.expect_agreement({pool});
  }
}

TEST(Segment, NormalisationFoldsIntoConvolutionAndDense) {
  Network net({3, 8, 8});
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

TEST(Segment, AWantedValueIsNotFusedAway) {
  Network net({3, 8, 8});
  const ValueId conv = net.add("Conv", {net.input, net.constant({10, 3, 3, 3}), net.constant({10})});
  const ValueId norm = net.add("BatchNormalization", {conv, net.constant({10}), net.constant({10}),
                                                      net.constant({10}), net.constant({10}, 0.05, 1.0)});
  const ValueId relu = net.add("Relu", {norm});
  net.expect_agreement({conv, norm, relu}, {{conv, Reduction::mean}, {norm, Reduction::max}});
}

TEST(Segment, ResidualsConcatenationAndGlobalPoolingAgree) {
  Network net({8, 9, 9});
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

TEST(Segment, ConstantsBroadcastPerChannelAndAsOneNumber) {
  Network net({5, 4, 4});
  ValueId x = net.add("Mul", {net.input, net.constant({5, 1, 1})});
  x = net.add("Add", {net.constant({1}), x});
  x = net.add("Sub", {x, net.constant({1, 5, 1, 1})});
  x = net.add("Sub", {x, net.input});
  net.expect_agreement({net.add("Clip", {x, net.constant({}, 0, -0.5), net.constant({}, 0, 0.7)})});
}

TEST(Segment, EveryActivationAgrees) {
  for (const char* op : {"Relu", "LeakyRelu", "Sigmoid", "Tanh", "Elu", "HardSwish"}) {
    Network net({4, 5, 5});
    const ValueId alone = net.add(op, {net.input});
    const ValueId fused = net.add(op, {net.add("Conv", {alone, net.constant({6, 4, 2, 2})})});
    net.expect_agreement({alone, fused});
  }
}

TEST(Segment, PoolingFormsAgree) {
  const std::vector<std::map<std::string, Attribute>> forms{
      {{"kernel_shape", Ints{2, 2}}, {"strides", Ints{2, 2}}},
      {{"kernel_shape", Ints{3, 3}}, {"strides", Ints{2, 2}}, {"pads", Ints{1, 1, 1, 1}}},
      {{"kernel_shape", Ints{3, 2}}, {"strides", Ints{2, 1}}, {"pads", Ints{0, 1, 1, 0}}},
      {{"kernel_shape", Ints{2, 2}}, {"strides", Ints{2, 2}}, {"ceil_mode", std::int64_t{1}}},
  };
  for (const auto& form : forms) {
    for (const char* op : {"MaxPool", "AveragePool"}) {
      Network net({3, 9, 9});
      net.expect_agreement({net.add(op, {net.input}, form)});
    }
  }
  Network net({3, 9, 9});
  net.expect_agreement({net.add(
      "AveragePool", {net.input},
      {{"kernel_shape", Ints{3, 3}}, {"pads", Ints{1, 1, 1, 1}}, {"count_include_pad", std::int64_t{1}}})});
}

TEST(Segment, AFlattenedValueCanBeWantedAndReshaped) {
  Network net({3, 6, 6});
  const ValueId conv = net.add("Conv", {net.input, net.constant({17, 3, 3, 3})});
  const ValueId flat = net.add("Flatten", {conv});
  const ValueId again = net.add("Reshape", {conv, net.integers({0, -1})});
  net.expect_agreement({flat, again, net.add("Relu", {flat})});
}

TEST(Segment, ResultsAreTheSameForEveryThreadCountAndAgreeForEveryBatchSize) {
  const auto run = [](std::int64_t rows, int threads) {
    Network net({1, 28, 28}, rows);
    const ValueId conv = net.add("Relu", {net.add("Conv", {net.input, net.constant({6, 1, 5, 5})})});
    const ValueId flat = net.add(
        "Flatten", {net.add("MaxPool", {conv}, {{"kernel_shape", Ints{2, 2}}, {"strides", Ints{2, 2}}})});
    net.expect_agreement({net.add("Gemm", {flat, net.constant({864, 10}, 0.05)})}, {{conv, Reduction::mean}},
                         threads);
  };
  for (const std::int64_t rows : {1, 2, 3, 31, 64, 65, 130}) {
    for (const int threads : {1, 2, 3}) run(rows, threads);
  }
}

TEST(Supports, LeavesToTheKernelsWhatOneDnnWouldDoDifferently) {
  Network windows({3, 9, 9});
  EXPECT_FALSE(windows.supported(windows.add("AveragePool", {windows.input},
                                             {{"kernel_shape", Ints{2, 2}},
                                              {"strides", Ints{2, 2}},
                                              {"ceil_mode", std::int64_t{1}},
                                              {"count_include_pad", std::int64_t{1}}})));
  Network axis({3, 9});
  EXPECT_FALSE(axis.supported(axis.add("Softmax", {axis.input}, {{"axis", std::int64_t{0}}})));
  Network weights({3, 9, 9});
  const ValueId nan = weights.constant({2, 3, 1, 1}, 0, std::numeric_limits<double>::quiet_NaN());
  EXPECT_FALSE(weights.supported(weights.add("Conv", {weights.input, nan})));
}

}  // namespace
}  // namespace assay
