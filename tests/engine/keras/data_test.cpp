// The published networks, from their .h5 and from the .onnx that other programs converted. Needs the data
// folder; skips without.

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include <assay/model.h>
#include "assay/model/keras/read.h"
#include "assay/support/files/file.h"
#include "network.h"

namespace assay::testing {
namespace {

namespace fs = std::filesystem;

fs::path models() {
  const char* folder = std::getenv("ASSAY_SHARED_DATA");
  return (folder ? fs::path(folder) : fs::path(ASSAY_SOURCE_DIR) / ".." / "shared" / "data") / "models";
}

// The value before the final softmax.
Graph without_softmax(const Graph& graph, const std::string& logits) {
  GraphBuilder edit(graph);
  edit.set_outputs({*graph.find_value(logits)});
  return edit.build();
}

// Keras keeps the image channels last, ONNX channels first: with one channel they are the same bytes.
void expect_equal_outputs(const Graph& keras, const fs::path& onnx, const Shape& record) {
  const Graph other = read_model(onnx);
  Shape shape = record;
  shape.insert(shape.begin(), 16);
  const Values x = map(random_values(shape, 7), [](double v) { return (v + 1) / 2; });
  Values first = x;
  if (shape.size() == 4) first.shape = {16, 1, shape[1], shape[2]};
  EXPECT_TRUE(same(run_graph(keras, {x}).front(), run_graph(other, {first}, true).front())) << onnx;
}

TEST(KerasPublished, DeepImportanceLeNetsEqualTheirOnnxFiles) {
  if (!fs::exists(models())) GTEST_SKIP() << "no data folder";
  for (const auto& [name, logits] :
       {std::pair{"LeNet1", "softmax_preact"}, {"LeNet4", "softmax_preact"}, {"LeNet5", "before_softmax"}}) {
    const fs::path stem = models() / "deepimportance" / name;
    const Graph graph = read_keras_h5(stem.string() + ".h5");
    expect_equal_outputs(without_softmax(graph, logits), stem.string() + ".onnx", {28, 28, 1});
    EXPECT_EQ(read_keras_h5(stem.string() + ".json").hash(), graph.hash());
  }
}

// DeepXplore published weights without architectures. These are the networks as its code builds them.
std::string convolutional(const std::vector<int>& filters, const std::vector<int>& units) {
  std::vector<std::string> layers{
      layer_json("InputLayer", "input_1", R"("batch_input_shape": [null, 28, 28, 1])")};
  for (std::size_t i = 0; i < filters.size(); ++i) {
    const std::string block = "block" + std::to_string(i + 1);
    layers.push_back(
        layer_json("Conv2D", block + "_conv1",
                   R"("kernel_size": [5, 5], "padding": "same", "activation": "relu", "filters": )" +
                       std::to_string(filters[i])));
    layers.push_back(layer_json("MaxPooling2D", block + "_pool1", R"("pool_size": [2, 2])"));
  }
  layers.push_back(layer_json("Flatten", "flatten"));
  for (std::size_t i = 0; i < units.size(); ++i) {
    layers.push_back(layer_json("Dense", "fc" + std::to_string(i + 1),
                                R"("activation": "relu", "units": )" + std::to_string(units[i])));
  }
  layers.push_back(layer_json("Dense", "before_softmax", R"("units": 10)"));
  layers.push_back(layer_json("Activation", "predictions", R"("activation": "softmax")"));
  return sequential_json(layers);
}

std::string dense(const std::vector<int>& units) {
  std::vector<std::string> layers{layer_json("InputLayer", "input_1", R"("batch_input_shape": [null, 135])")};
  for (std::size_t i = 0; i < units.size(); ++i) {
    layers.push_back(layer_json("Dense", "fc" + std::to_string(i + 1),
                                R"("activation": "relu", "units": )" + std::to_string(units[i])));
  }
  layers.push_back(layer_json("Dense", "before_softmax", R"("units": 2)"));
  layers.push_back(layer_json("Activation", "predictions", R"("activation": "softmax")"));
  return sequential_json(layers);
}

TEST(KerasPublished, DeepXploreWeightsWithAnArchitectureEqualTheirOnnxFiles) {
  if (!fs::exists(models())) GTEST_SKIP() << "no data folder";
  const std::pair<const char*, std::string> networks[] = {{"mnist_model1", convolutional({4, 12}, {})},
                                                          {"mnist_model2", convolutional({6, 16}, {84})},
                                                          {"mnist_model3", convolutional({6, 16}, {120, 84})},
                                                          {"pdf_model1", dense({200, 200})},
                                                          {"pdf_model2", dense({200, 200, 200})},
                                                          {"pdf_model3", dense({200, 200, 200, 200})}};
  for (const auto& [name, json] : networks) {
    const fs::path copy = temporary(std::string(name) + ".h5"), stem = models() / "deepxplore" / name;
    write_file(copy, read_file(stem.string() + ".h5"));
    write_file(temporary(std::string(name) + ".json"), json);
    const Graph graph = read_keras_h5(copy);
    const Shape record = std::string(name).starts_with("pdf") ? Shape{135} : Shape{28, 28, 1};
    expect_equal_outputs(without_softmax(graph, "before_softmax"), stem.string() + ".onnx", record);
    expect_equal_outputs(graph, stem.string() + "_softmax.onnx", record);
  }
}

}  // namespace
}  // namespace assay::testing
