// Networks of 8 bits: quantisation inside of segments, and layers that sum products of bytes.

#include <cmath>
#include <limits>

#include <assay/session.h>
#include "assay/engine/channels/kernels.h"
#include "assay/engine/channels/segment.h"
#include "assay/engine/lanes/segment.h"
#include "tests/engine/backends/network.h"

namespace assay {
namespace {

using test::Ints;
using test::Network;

// Numbers of 8 bits again as real ones; some of the operand's are out of range.
ValueId quantised(Network& net, ValueId x, int zero = 100, DType type = DType::uint8, double scale = 0.02) {
  const ValueId step = net.constant({}, 0, scale), origin = net.byte(zero, type);
  return net.add("DequantizeLinear", {net.add("QuantizeLinear", {x, step, origin}), step, origin});
}

TEST(Bytes, QuantisationIsPartOfSegments) {
  for (const Backend* const backend : {&lanes::backend(), &channels::backend()}) {
    for (const auto& [zero, type] : {std::pair{0, DType::uint8}, {100, DType::uint8}, {-7, DType::int8}}) {
      Network net(*backend, {3, 5, 7});
      const ValueId x = quantised(net, net.input, zero, type);
      net.expect_agreement({net.add("Tanh", {x})}, {{x, Reduction::mean}, {x, Reduction::max}});
    }
    Network net(*backend, {9});
    const ValueId step = net.constant({}, 0, 0.013), none = no_value;
    const ValueId whole = net.add("QuantizeLinear", {net.input, step, none});
    net.expect_agreement({whole, net.add("DequantizeLinear", {whole, step, none})});
  }
}

// One scale a channel, and 8-bit floating point; 16 bits are supported.
TEST(Bytes, OtherQuantisationsAreNotSupported) {
  for (const Backend* const backend : {&lanes::backend(), &channels::backend()}) {
    Network net(*backend, {3, 4});
    const ValueId step = net.constant({}, 0, 0.02);
    EXPECT_TRUE(net.supported(net.add("QuantizeLinear", {net.input, step})));
    EXPECT_TRUE(
        net.supported(net.add("QuantizeLinear", {net.input, step}, {{"output_dtype", std::int64_t{5}}})));
    EXPECT_FALSE(net.supported(net.add("QuantizeLinear", {net.input, net.constant({3}, 0, 0.02)})));
    // 8-bit floating point
    EXPECT_FALSE(
        net.supported(net.add("QuantizeLinear", {net.input, step}, {{"output_dtype", std::int64_t{17}}})));
  }
}

TEST(Bytes, ConvolutionsAgree) {
  struct Case {
    std::int64_t in, out, groups, kernel, stride, pad;
  };
  for (const Case& c : {Case{4, 7, 1, 3, 1, 1}, Case{8, 40, 1, 1, 2, 0}, Case{16, 16, 1, 3, 1, 1},
                        Case{16, 24, 2, 3, 2, 1}, Case{64, 130, 1, 3, 1, 0}, Case{6, 9, 1, 3, 1, 1}}) {
    for (const DType type : {DType::uint8, DType::int8}) {
      Network net(channels::backend(), {c.in, 9, 8}, 5);
      const ValueId x = quantised(net, net.input, type == DType::int8 ? 10 : 120, type);
      const ValueId conv = net.add(
          "Conv", {x, net.multiples({c.out, c.in / c.groups, c.kernel, c.kernel}), net.constant({c.out})},
          {{"group", c.groups},
           {"strides", Ints{c.stride, c.stride}},
           {"pads", Ints{c.pad, c.pad, c.pad, c.pad}}});
      net.expect_agreement({net.add("Relu", {conv})}, {{conv, Reduction::mean}});
    }
  }
}

TEST(Bytes, DenseLayersAgree) {
  for (const std::int64_t inputs : {4, 64, 1700, 6}) {
    Network rows(channels::backend(), {3, inputs}, 5), net(channels::backend(), {inputs}, 5);
    const ValueId product =
        rows.add("MatMul", {quantised(rows, rows.input), rows.multiples({inputs, 33}, 1)});
    rows.expect_agreement({rows.add("Tanh", {rows.add("Add", {product, rows.constant({33}, 0.1)})})});
    const ValueId dense =
        net.add("Gemm", {quantised(net, net.input), net.multiples({70, inputs}), net.constant({70}, 0.1)},
                {{"transB", std::int64_t{1}}});
    net.expect_agreement({net.add("Relu", {dense})});
  }
}

Array normal(const Shape& shape, std::uint64_t seed) {
  Rng rng(seed);
  std::vector<float> numbers(static_cast<std::size_t>(element_count(shape)));
  for (float& x : numbers) x = static_cast<float>(rng.normal());
  return Array::of<float>(shape, numbers);
}

// A network of one layer, and perhaps a function of its results: records of whole numbers up to 255, weights
// up to 127.
Graph dense_network(std::int64_t inputs, std::int64_t units, const std::vector<float>& weights,
                    const std::string& function = {}) {
  GraphBuilder build("net");
  const ValueId x = build.input("x", DType::float32, {-1, inputs}),
                one = build.constant("one", Array::of<float>({}, std::vector{1.0F})),
                zero = build.constant("zero", Array::zeros(DType::uint8, {}));
  const ValueId whole = build.add("QuantizeLinear", "whole", {x, one, zero});
  const ValueId y = build.add("Gemm", "y",
                              {build.add("DequantizeLinear", "again", {whole, one, zero}),
                               build.constant("w", Array::of<float>({units, inputs}, weights))},
                              {{"transB", std::int64_t{1}}});
  build.output(function.empty() ? y : build.add(function, "function", {y}));
  return build.build();
}

Array answers(const Graph& graph, const Array& records, const std::string& engine = "channels") {
  const Session session(graph, {.threads = 1, .engine = engine});
  const ValueId y = session.graph().outputs()[0];
  return session.run({{session.graph().inputs()[0], records}}, std::span(&y, 1)).at(y);
}

// Sums of floats round beyond 2^24; the sum of whole numbers is rounded once.
TEST(Bytes, SumsAreExact) {
  if (!channels::has_byte_products()) GTEST_SKIP() << "this processor does not sum products of bytes";
  constexpr std::int64_t inputs = 4096, units = 5;
  Rng rng(3);
  std::vector<float> record(inputs), weights(inputs * units);
  for (float& x : record) x = static_cast<float>(200 + rng.below(56));
  for (float& w : weights) w = static_cast<float>(100 + rng.below(28));
  for (std::int64_t u = 0; u < units; ++u) weights[static_cast<std::size_t>(u * inputs)] = 127;
  const Array found = answers(dense_network(inputs, units, weights), Array::of<float>({1, inputs}, record));
  for (std::int64_t u = 0; u < units; ++u) {
    std::int64_t sum = 0;
    for (std::int64_t i = 0; i < inputs; ++i)
      sum += std::int64_t{std::lround(record[static_cast<std::size_t>(i)])} *
             std::lround(weights[static_cast<std::size_t>(u * inputs + i)]);
    EXPECT_EQ(found.as<float>()[static_cast<std::size_t>(u)], static_cast<float>(sum));
  }
}

// What the network makes of these numbers behind its de-quantisation.
Array answers_behind(const Graph& graph, Tensors given, const Array& numbers,
                     const std::string& engine = "channels") {
  const Session session(graph, {.threads = 1, .engine = engine});
  for (const Node& node : session.graph().nodes()) {
    if (node.op == "DequantizeLinear") given[node.outputs[0]] = numbers;
  }
  const ValueId y = session.graph().outputs()[0];
  return session.run(given, std::span(&y, 1)).at(y);
}

// A record whose numbers lie between the steps, first or last, changes no other one.
TEST(Bytes, RecordsStandAlone) {
  constexpr std::int64_t inputs = 8, units = 5, records = 4;
  const std::vector<float> weights(inputs * units, 0.01F);
  for (const char* const function : {"", "Tanh", "Sigmoid"}) {
    const Graph graph = dense_network(inputs, units, weights, function);
    for (const std::int64_t other : {std::int64_t{0}, std::int64_t{1}, records - 1}) {
      std::vector<float> numbers(inputs * records);
      for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<float>(i % 7);
      numbers[static_cast<std::size_t>(other * inputs)] = 0.25F;
      const Array given = Array::of<float>({records, inputs}, numbers),
                  found = answers_behind(graph, {}, given);
      EXPECT_TRUE(array::allclose(found, answers_behind(graph, {}, given, "reference"), 1e-5, 1e-6));
      for (std::int64_t r = 0; r < records; ++r) {
        const Array alone = answers_behind(graph, {}, given.narrow(0, r, 1).contiguous());
        EXPECT_TRUE(array::equal(found.narrow(0, r, 1), alone))
            << function << " of record " << r << " beside " << other;
      }
    }
  }
}

// Windows over margins, in groups, with a sum and a function behind, and one record between the steps.
TEST(Bytes, ConvolutionsOfOtherRecordsAgree) {
  GraphBuilder build("net");
  const ValueId x = build.input("x", DType::float32, {-1, 8, 6, 5}),
                added = build.input("added", DType::float32, {-1, 12, 6, 5}),
                step = build.constant("step", Array::of<float>({}, std::vector{0.5F})),
                zero = build.constant("zero", Array::zeros(DType::uint8, {}));
  const ValueId again = build.add("DequantizeLinear", "again",
                                  {build.add("QuantizeLinear", "whole", {x, step, zero}), step, zero});
  const Array weights = array::clamp((normal({12, 4, 3, 3}, 5) * 40).round(), -127, 127) * 0.01;
  const ValueId conv =
      build.add("Conv", "conv", {again, build.constant("w", weights), build.constant("b", normal({12}, 6))},
                {{"group", std::int64_t{2}}, {"pads", Ints{1, 1, 1, 1}}});
  build.output(build.add("Sigmoid", "y", {build.add("Add", "sum", {conv, added})}));
  const Graph graph = build.build();
  const Array numbers = (normal({3, 8, 6, 5}, 8).abs() * 4).round() * 0.5;
  numbers.elements<float>()[0] = 0.3F;
  const Tensors given{{added, normal({3, 12, 6, 5}, 9)}};
  EXPECT_TRUE(array::allclose(answers_behind(graph, given, numbers),
                              answers_behind(graph, given, numbers, "reference"), 1e-5, 1e-5));
}

// Scale and zero point of a whole batch, as exporters of language models have it.
TEST(Bytes, ZeroPointsThatARunFindsAgree) {
  GraphBuilder build("net");
  const ValueId x = build.input("x", DType::float32, {-1, 5, 24}), scale = build.value("scale"),
                zero = build.value("zero"), whole = build.value("whole"),
                one = build.constant("one", Array::of<float>({}, std::vector{1.0F}));
  build.node(
      {.name = "dynamic", .op = "DynamicQuantizeLinear", .inputs = {x}, .outputs = {whole, scale, zero}});
  const Array weights = array::clamp((normal({24, 33}, 4) * 40).round(), -127, 127);
  const ValueId product =
      build.add("MatMul", "product",
                {build.add("DequantizeLinear", "again", {whole, one, zero}), build.constant("w", weights)});
  build.output(build.add("Mul", "y", {product, scale}));
  const Graph graph = build.build();
  for (const std::int64_t records : {1, 4}) {
    const Array given = normal({records, 5, 24}, 7) + 0.3;
    EXPECT_TRUE(array::allclose(answers(graph, given), answers(graph, given, "reference"), 1e-5, 1e-4));
  }
}

// Numbers between the steps, as patches and ablations put them there, count as they are.
TEST(Bytes, ReplacedValuesCountAsTheyAre) {
  const Graph graph = dense_network(8, 1, std::vector<float>(8, 3));
  std::vector<float> numbers(16, 0.25F);
  std::fill_n(numbers.begin() + 8, 8, 10.0002F);
  const Array found = answers_behind(graph, {}, Array::of<float>({2, 8}, numbers));
  EXPECT_EQ(found.as<float>()[0], 6);
  EXPECT_NEAR(found.as<float>()[1], 8 * 3 * 10.0002, 1e-4);
}

// Weights that are no multiples, of a mutant say, count as they are; NaN is not lost.
TEST(Bytes, OtherWeightsAndNanCount) {
  constexpr std::int64_t inputs = 8;
  std::vector<float> weights(inputs, 3);
  weights[2] = 127.3F;
  weights[5] = 0.001F;
  std::vector<float> records(2 * inputs, 10);
  const Array found = answers(dense_network(inputs, 1, weights), Array::of<float>({2, inputs}, records));
  EXPECT_NEAR(found.as<float>()[0], 10 * (6 * 3 + 127.3 + 0.001), 1e-3);
  records[3] = std::numeric_limits<float>::quiet_NaN();
  weights[2] = 127;
  weights[5] = 0;
  const Array spoilt = answers(dense_network(inputs, 1, weights), Array::of<float>({2, inputs}, records));
  EXPECT_TRUE(std::isnan(spoilt.as<float>()[0]));
  EXPECT_EQ(spoilt.as<float>()[1], 10 * (6 * 3 + 127));
}

}  // namespace
}  // namespace assay
