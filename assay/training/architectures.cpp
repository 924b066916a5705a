#include <assay/training.h>

#include <assay/error.h>
#include "assay/support/text/text.h"
#include "assay/training/sequential.h"

namespace assay::training {
namespace {

// LeNets of the DeepImportance study (Gerasimou et al., ICSE 2020), after LeCun et al. 1998.
Graph lenet1(const SpecOptions& options) {
  const std::int64_t extra = options.count("extra", 0);
  return Sequential("lenet1", 1, 28)
      .conv("conv1", 4 + extra, 5, true)
      .relu()
      .max_pool()
      .conv("conv2", 12 + extra, 5, true)
      .relu()
      .max_pool()
      .flatten()
      .dense("logits", 10)
      .build();
}

Graph lenet4() {
  return Sequential("lenet4", 1, 28)
      .conv("conv1", 6, 5, true)
      .relu()
      .max_pool()
      .conv("conv2", 16, 5, true)
      .relu()
      .max_pool()
      .flatten()
      .dense("fc1", 84)
      .relu()
      .dense("logits", 10)
      .build();
}

Graph lenet5_named(const char* name) {
  return Sequential(name, 1, 28)
      .conv("conv1", 6, 5, true)
      .relu()
      .max_pool()
      .conv("conv2", 16, 5, true)
      .relu()
      .max_pool()
      .flatten()
      .dense("fc1", 120)
      .relu()
      .dense("fc2", 84)
      .relu()
      .dense("logits", 10)
      .build();
}
Graph lenet5() { return lenet5_named("lenet5"); }

// Networks A, B and C of DeepMutation (Ma et al., ISSRE 2018); A is LeNet-5.
Graph deepmutation_a() { return lenet5_named("deepmutation-a"); }

Graph deepmutation_b() {
  return Sequential("deepmutation-b", 1, 28)
      .conv("conv1", 32, 3, true)
      .relu()
      .conv("conv2", 32, 3, true)
      .relu()
      .max_pool()
      .conv("conv3", 64, 3, true)
      .relu()
      .conv("conv4", 64, 3, true)
      .relu()
      .max_pool()
      .flatten()
      .dense("fc1", 200)
      .relu()
      .dense("logits", 10)
      .build();
}

Graph deepmutation_c() {
  return Sequential("deepmutation-c", 3, 32)
      .conv("conv1", 64, 3, false)
      .relu()
      .conv("conv2", 64, 3, false)
      .relu()
      .max_pool()
      .conv("conv3", 128, 3, false)
      .relu()
      .conv("conv4", 128, 3, false)
      .relu()
      .max_pool()
      .flatten()
      .dense("fc1", 256)
      .relu()
      .dense("fc2", 256)
      .relu()
      .dense("logits", 10)
      .build();
}

// The 20-layer CIFAR-10 ConvNet of the DeepImportance study. The paper gives the number of layers and
// parameters; these widths without padding are the ones that give both.
Graph cifar_convnet() {
  return Sequential("cifar-convnet", 3, 32)
      .conv("conv1", 32, 3, false)
      .relu()
      .conv("conv2", 32, 3, false)
      .relu()
      .max_pool()
      .dropout(0.25F)
      .conv("conv3", 64, 3, false)
      .relu()
      .conv("conv4", 64, 3, false)
      .relu()
      .max_pool()
      .dropout(0.25F)
      .flatten()
      .dense("fc1", 512)
      .relu()
      .dropout(0.5F)
      .dense("fc2", 128)
      .relu()
      .dense("logits", 10)
      .build();
}

// NVIDIA's Dave-2 (Bojarski et al. 2016) as the driving study uses it: 100 x 100 frames, steering angle 2 *
// atan(x).
Graph dave2() {
  return Sequential("dave2", 3, 100)
      .conv("conv1", 24, 5, false, 2)
      .relu()
      .conv("conv2", 36, 5, false, 2)
      .relu()
      .conv("conv3", 48, 5, false, 2)
      .relu()
      .conv("conv4", 64, 3, false)
      .relu()
      .conv("conv5", 64, 3, false)
      .relu()
      .flatten()
      .dense("fc1", 1164)
      .relu()
      .dense("fc2", 100)
      .relu()
      .dense("fc3", 50)
      .relu()
      .dense("fc4", 10)
      .relu()
      .dense("angle", 1)
      .apply("Atan")
      .scale(2)
      .build();
}

Graph dave2_dropout() {
  return Sequential("dave2-dropout", 3, 100)
      .conv("conv1", 16, 3, false)
      .relu()
      .max_pool()
      .conv("conv2", 32, 3, false)
      .relu()
      .max_pool()
      .conv("conv3", 64, 3, false)
      .relu()
      .max_pool()
      .flatten()
      .dense("fc1", 500)
      .relu()
      .dropout(0.5F)
      .dense("fc2", 100)
      .relu()
      .dropout(0.25F)
      .dense("fc3", 20)
      .relu()
      .dense("angle", 1)
      .apply("Atan")
      .scale(2)
      .build();
}

// Next symbol of a text: embedding, one LSTM layer, a dense layer on its last state. Sellam et al. use 512
// units and windows of 30.
Graph next_symbol_lstm(const SpecOptions& options) {
  const std::int64_t symbols = options.count("symbols", 2), window = options.count("window", 1),
                     width = options.count("embedding", 1), units = options.count("units", 1);
  using Ints = std::vector<std::int64_t>;
  GraphBuilder build("next-symbol-lstm");
  const auto zeros = [&](const char* name, Shape shape) {
    return build.constant(name, Array::zeros(DType::float32, std::move(shape)));
  };
  const ValueId tokens = build.input("input", DType::int64, {-1, window});
  const ValueId embedded =
      build.add("Gather", "embedding", {zeros("embedding/table", {symbols, width}), tokens});
  const ValueId steps = build.add("Transpose", "steps", {embedded}, {{"perm", Ints{1, 0, 2}}});
  const ValueId states = build.value("lstm"), state = build.value("lstm/last");
  build.node({.name = "lstm",
              .op = "LSTM",
              .inputs = {steps, zeros("lstm/W", {1, 4 * units, width}),
                         zeros("lstm/R", {1, 4 * units, units}), zeros("lstm/B", {1, 8 * units})},
              .outputs = {states, state},
              .attributes = {{"hidden_size", units}}});
  const ValueId last = build.add(
      "Squeeze", "last",
      {state, build.constant("last/axes", Array::of<std::int64_t>({1}, std::vector<std::int64_t>{0}))});
  build.output(build.add("Gemm", "logits",
                         {last, zeros("logits/kernel", {units, symbols}), zeros("logits/bias", {symbols})}));
  return build.build();
}

// One without options.
template <Graph (*build)()>
Graph fixed(const SpecOptions&) {
  return build();
}

}  // namespace

Catalogue<ArchitectureInfo>& architectures() {
  static const char* const importance = "Gerasimou et al., ICSE 2020";
  static const char* const mutation = "Ma et al., ISSRE 2018";
  static Catalogue<ArchitectureInfo> all(
      {"architecture"},
      {
          {"lenet1",
           "two convolutions, one dense layer",
           importance,
           7206,
           {1, 28, 28},
           {{"extra", "0", "filters more in each convolution"}},
           lenet1},
          {"lenet4", "two convolutions, two dense layers", importance, 69362, {1, 28, 28}, {}, fixed<lenet4>},
          {"lenet5",
           "two convolutions, three dense layers",
           importance,
           107786,
           {1, 28, 28},
           {},
           fixed<lenet5>},
          {"deepmutation-a", "LeNet-5", mutation, 107786, {1, 28, 28}, {}, fixed<deepmutation_a>},
          {"deepmutation-b",
           "four convolutions, two dense layers",
           mutation,
           694402,
           {1, 28, 28},
           {},
           fixed<deepmutation_b>},
          {"deepmutation-c",
           "four convolutions, three dense layers, for CIFAR-10",
           mutation,
           1147978,
           {3, 32, 32},
           {},
           fixed<deepmutation_c>},
          {"cifar-convnet",
           "four convolutions with dropout, for CIFAR-10",
           importance,
           952234,
           {3, 32, 32},
           {},
           fixed<cifar_convnet>},
          {"dave2",
           "five convolutions, five dense layers, steering angle of a frame",
           "Bojarski et al. 2016; Gerasimou et al., ICSE 2020",
           2116983,
           {3, 100, 100},
           {},
           fixed<dave2>},
          {"dave2-dropout",
           "three convolutions with max pooling, four dense layers with dropout, steering angle of a frame",
           "Pei et al., DeepXplore, SOSP 2017 (Dave-dropout)",
           3276225,
           {3, 100, 100},
           {},
           fixed<dave2_dropout>},
          {"next-symbol-lstm",
           "embedding, one LSTM layer, one dense layer: the next symbol of a text",
           "Sellam et al., DeepBase, SIGMOD 2019",
           88672,
           {30},
           {{"symbols", "96", "different tokens"},
            {"window", "30", "tokens of a record"},
            {"embedding", "16", "numbers that represent a token"},
            {"units", "128", "of the LSTM layer"}},
           next_symbol_lstm},
      });
  return all;
}

Graph build_architecture(const std::string& text) {
  const Spec spec = parse_spec("architecture", text);
  const ArchitectureInfo& info = architectures().find(spec.name);
  return info.make(SpecOptions("architecture", spec, info.options));
}

}  // namespace assay::training
