// libtorch's module as an engine and as a device. What hardware alone can show is left out: everything is
// copied to a device that is the processor (torch:cpu).

#include <gmock/gmock.h>

#include <cmath>
#include <limits>

#include <assay/error.h>
#include <assay/session.h>
#include "tests/engine/backends/network.h"
#include "tests/engine/graphs.h"

namespace assay {
namespace {

using test::Ints;
using test::Network;

// What a session with these options ends in; empty where it is made.
std::string refusal(const SessionOptions& options, Fault fault) {
  try {
    const Session session(test::lenet_like(), options);
    return {};
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), fault) << error.what();
    return error.what();
  }
}

TEST(Devices, ThatDoNotExistAreRefused) {
  for (const char* device : {"", "gpu", "cuda:", "cuda:x", "cuda:-1", "cuda:12345", "CUDA", "cpu:0"})
    EXPECT_THAT(refusal({.device = device}, Fault::usage), testing::HasSubstr("unknown device")) << device;
}

TEST(Devices, AreNotForEnginesOfTheProcessor) {
  for (const char* engine : {"lanes", "channels", "reference"})
    EXPECT_THAT(refusal({.device = "cuda", .engine = engine}, Fault::usage),
                testing::HasSubstr("runs on the processor"))
        << engine;
  EXPECT_THAT(refusal({.engine = "fast"}, Fault::usage), testing::HasSubstr("no engine 'fast'"));
}

TEST(Devices, WithoutTheModuleTheMessageSaysHowToGetIt) {
  if (has_torch_module()) GTEST_SKIP() << "the module is here";
  for (const SessionOptions& options : {SessionOptions{.device = "cuda"}, SessionOptions{.engine = "torch"}})
    EXPECT_THAT(refusal(options, Fault::unsupported), testing::HasSubstr("ASSAY_TORCH"));
}

TEST(Devices, WithoutAGpuTheMessageSaysWhatIsMissing) {
  if (!has_torch_module()) GTEST_SKIP() << "libassay_torch.so is not here (-DASSAY_TORCH=ON)";
  const std::string said = refusal({.device = "cuda:99"}, Fault::unsupported);
  EXPECT_THAT(said, testing::HasSubstr("device 'cuda:99' is not available"));
}

class Torch : public testing::Test {
 protected:
  void SetUp() override {
    if (!has_torch_module()) GTEST_SKIP() << "libassay_torch.so is not here (-DASSAY_TORCH=ON)";
  }
  const Backend& backend() { return torch_backend("torch:cpu"); }
};

// Forward, observed, with respect to the input and to weights: as on the processor.
class TorchNetworks : public Torch {
 protected:
  void expect_same(const Array& actual, const Array& expected) {
    ASSERT_EQ(actual.shape(), expected.shape());
    EXPECT_TRUE(array::allclose(actual, expected, 1e-4, 2e-5))
        << (actual - expected).abs().max().item<float>();
  }
};

TEST_F(TorchNetworks, RunOnADeviceAsOnTheProcessor) {
  const Session device(test::lenet_like(), {.threads = 2, .device = "torch:cpu"}),
      reference(test::lenet_like(), {.threads = 2, .engine = "reference"});
  Rng rng(3);
  const Tensors given = device.bind(test::random_array(rng, {37, 1, 12, 12}));
  const ValueId output = device.logits(), input = given.begin()->first;
  const std::vector<PlannedSegment> plan = device.plan();
  ASSERT_EQ(plan.size(), 1U);
  EXPECT_EQ(plan[0].engine, "torch");
  expect_same(device.run(given, std::span(&output, 1)).at(output),
              reference.run(given, std::span(&output, 1)).at(output));
  for (const Reduction reduction :
       {Reduction::mean, Reduction::max, Reduction::min, Reduction::every_position}) {
    const auto seen = device.observe(given, taps_of(device.layers(), reduction), std::span(&output, 1)),
               expected =
                   reference.observe(given, taps_of(reference.layers(), reduction), std::span(&output, 1));
    for (std::size_t i = 0; i < seen.layers.size(); ++i)
      EXPECT_THAT(seen.layers[i].values,
                  testing::Pointwise(testing::FloatNear(1e-4F), expected.layers[i].values));
  }
  const auto objective = [&](const Tensors& values) { return values.at(output).square().sum(); };
  const auto slopes = [&](const Session& session) {
    return session.gradients(given, std::span(&output, 1), objective, std::span(&input, 1)).at(input);
  };
  expect_same(slopes(device), slopes(reference));
}

TEST_F(TorchNetworks, LearnOnADeviceAsOnTheProcessor) {
  const Graph graph = test::lenet_like();
  Rng rng(4);
  const Array records = test::random_array(rng, {9, 1, 12, 12});
  std::vector<ValueId> weights;
  Tensors constants;
  for (const ValueId id : graph.value_ids()) {
    if (!graph.is_constant(id) || graph.constant(id).dtype() != DType::float32) continue;
    weights.push_back(id);
    constants.emplace(id, graph.constant(id).requires_grad_());
  }
  const auto learnt = [&](const SessionOptions& options) {
    const Session session(graph, options);
    const RecordObjective objective{
        .read = {session.logits()},
        .gradients = [](std::size_t, std::span<const float> elements, std::span<float> slopes) {
          for (std::size_t i = 0; i < elements.size(); ++i) slopes[i] += elements[i];
        }};
    Tensors own = constants;
    return session.learn(session.bind(records), objective, weights, nullptr, own);
  };
  const RecordGradients found = learnt({.threads = 2, .device = "torch:cpu"}),
                        expected = learnt({.threads = 2, .engine = "reference"});
  expect_same(found.value, expected.value);
  for (const ValueId id : weights) expect_same(found.gradients[0].at(id), expected.gradients[0].at(id));
}

// What no other back end runs.
TEST_F(Torch, FunctionsAgree) {
  for (const char* op :
       {"Softsign", "Mish", "Softplus", "Selu", "Celu", "HardSigmoid", "ThresholdedRelu", "Shrink", "Gelu",
        "Swish", "Sin", "Cos", "Atan", "Erf", "Exp", "Abs", "Neg", "Reciprocal"}) {
    SCOPED_TRACE(op);
    Network net(backend(), {4, 5});
    net.expect_agreement({net.add(op, {net.input})});
  }
  Network net(backend(), {4, 5});
  net.expect_agreement({net.add("PRelu", {net.input, net.constant({4, 1})})});
}

TEST_F(Torch, NormalisationsAgree) {
  Network net(backend(), {6, 5, 4});
  const ValueId scale = net.constant({6}), shift = net.constant({6});
  net.expect_agreement(
      {net.add("InstanceNormalization", {net.input, scale, shift}),
       net.add("GroupNormalization", {net.input, scale, shift}, {{"num_groups", std::int64_t{3}}}),
       net.add("LRN", {net.input}, {{"size", std::int64_t{4}}, {"alpha", 0.3F}}),
       net.add("LpNormalization", {net.input}, {{"axis", std::int64_t{-1}}}),
       net.add("MeanVarianceNormalization", {net.input}, {{"axes", Ints{2, 3}}})});
}

TEST_F(Torch, MovementsAgree) {
  Network net(backend(), {8, 6, 4});
  std::vector<ValueId> kept;
  for (const char* mode : {"constant", "edge", "reflect", "wrap"})
    kept.push_back(
        net.add("Pad", {net.input, net.integers({0, 0, 1, 2, 0, 1, 3, 0})}, {{"mode", std::string(mode)}}));
  for (const char* mode : {"DCR", "CRD"})
    kept.push_back(
        net.add("DepthToSpace", {net.input}, {{"blocksize", std::int64_t{2}}, {"mode", std::string(mode)}}));
  kept.push_back(net.add("SpaceToDepth", {net.input}, {{"blocksize", std::int64_t{2}}}));
  kept.push_back(net.add("Trilu", {net.input, net.whole(1)}, {{"upper", std::int64_t{0}}}));
  kept.push_back(net.add("Tile", {net.input, net.integers({1, 2, 1, 3})}));
  kept.push_back(net.add("CumSum", {net.input, net.whole(-1)},
                         {{"reverse", std::int64_t{1}}, {"exclusive", std::int64_t{1}}}));
  kept.push_back(net.add("Where", {net.truths({6, 4}), net.input, net.constant({})}));
  kept.push_back(
      net.add("Einsum", {net.input, net.constant({4, 3})}, {{"equation", std::string("bchw,wo->bcho")}}));
  net.expect_agreement(kept);
}

TEST_F(Torch, ResizingAgrees) {
  for (const char* mode : {"nearest", "linear"}) {
    for (const char* coordinates : {"asymmetric", "align_corners", "half_pixel", "pytorch_half_pixel"}) {
      SCOPED_TRACE(std::string(mode) + " " + coordinates);
      Network net(backend(), {3, 6, 4});
      const std::map<std::string, Attribute> form{
          {"mode", std::string(mode)}, {"coordinate_transformation_mode", std::string(coordinates)}};
      net.expect_agreement(
          {net.add("Resize", {net.input, no_value, no_value, net.integers({7, 3, 9, 5})}, form)});
    }
  }
}

TEST_F(Torch, ReductionsAgree) {
  for (const char* op :
       {"ReduceL1", "ReduceL2", "ReduceLogSumExp", "ReduceSumSquare", "ReduceMax", "ReduceMean"}) {
    SCOPED_TRACE(op);
    Network net(backend(), {4, 5, 3});
    net.expect_agreement({net.add(op, {net.input, net.integers({-1, 1})}),
                          net.add(op, {net.input, net.integers({2})}, {{"keepdims", std::int64_t{0}}})});
  }
}

TEST_F(Torch, LeavesToTheReferenceResultsThatItDoesNotCompute) {
  Network net(backend(), {4, 5});
  const std::vector<ValueId> results =
      net.add_several("LayerNormalization", {net.input, net.constant({5}), net.constant({5})}, 3);
  EXPECT_TRUE(net.supported(results[0]));
  EXPECT_FALSE(net.supported(results[1]));
  EXPECT_FALSE(net.supported(results[2]));
}

TEST_F(Torch, SignsOfWhatIsNotANumberAreNoNumbers) {
  GraphBuilder build("net");
  const ValueId x = build.input("x", DType::float32, {-1, 3});
  build.set_outputs({build.add("Sign", "sign", {x})});
  const Session session(build.build(), {.threads = 1, .device = "torch:cpu"});
  const std::vector<float> numbers{std::numeric_limits<float>::quiet_NaN(), -3, 0};
  const Tensors found = session.run({{session.graph().inputs()[0], Array::of<float>({1, 3}, numbers)}},
                                    session.graph().outputs());
  const auto signs = found.at(session.graph().outputs()[0]).as<float>();
  EXPECT_TRUE(std::isnan(signs[0]));
  EXPECT_EQ(signs[1], -1);
  EXPECT_EQ(signs[2], 0);
}

TEST_F(Torch, LeavesToTheReferenceWhatMixesRecords) {
  Network net(backend(), {4, 5});
  EXPECT_FALSE(net.supported(net.add("ReduceMean", {net.input, net.integers({0})})));
  EXPECT_FALSE(net.supported(net.add("CumSum", {net.input, net.whole(0)})));
}

}  // namespace
}  // namespace assay
