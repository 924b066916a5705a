#include "keras_seeds.h"

#include <unistd.h>

#include <filesystem>
#include <tuple>

#include "assay/support/files/file.h"
#include "tests/model/keras_build.h"

namespace assay::fuzz {
namespace {

using namespace assay::testing;
namespace fs = std::filesystem;

struct Seed {
  const char* class_name;
  Shape record;
  const char* config;
  std::vector<Shape> weights;
};

// One layer each, on an input of its own.
const std::vector<Seed>& seeds() {
  static const std::vector<Seed> list{
      {"Dense", {2}, R"("units": 3, "activation": "gelu")", {{2, 3}, {3}}},
      {"Conv1D", {5, 2}, R"("filters": 3, "kernel_size": [2], "padding": "causal")", {{2, 2, 3}, {3}}},
      {"Conv2D",
       {5, 6, 2},
       R"("filters": 4, "kernel_size": [2, 3], "strides": [2, 2], "padding": "same", "groups": 2)",
       {{2, 3, 1, 4}, {4}}},
      {"Conv2DTranspose",
       {3, 3, 2},
       R"("filters": 3, "kernel_size": [2, 2], "strides": [2, 2], "output_padding": [1, 1])",
       {{2, 2, 3, 2}, {3}}},
      {"DepthwiseConv2D", {4, 4, 2}, R"("kernel_size": [2, 2], "depth_multiplier": 2)", {{2, 2, 2, 2}, {4}}},
      {"SeparableConv2D",
       {4, 4, 2},
       R"("kernel_size": [2, 2], "filters": 3)",
       {{2, 2, 2, 1}, {1, 1, 2, 3}, {3}}},
      {"MaxPooling2D", {4, 4, 2}, R"("pool_size": [2, 2], "padding": "same")", {}},
      {"GlobalAveragePooling2D", {4, 4, 2}, R"("keepdims": true)", {}},
      {"UpSampling2D", {4, 4, 2}, R"("size": [2, 3], "interpolation": "bilinear")", {}},
      {"BatchNormalization", {4, 4, 2}, R"("axis": [3], "epsilon": 0.001)", {{2}, {2}, {2}, {2}}},
      {"LayerNormalization", {4, 2}, R"("axis": [-1])", {{2}, {2}}},
      {"GroupNormalization", {4, 4, 2}, R"("groups": 2)", {{2}, {2}}},
      {"Normalization", {4, 2}, R"("axis": [-1], "mean": [1, 2], "variance": [3, 4])", {}},
      {"Rescaling", {4, 2}, R"("scale": 0.5, "offset": [1, 2])", {}},
      {"ReLU", {4, 2}, R"("max_value": 6, "negative_slope": 0.1, "threshold": 1)", {}},
      {"PReLU", {4, 4, 2}, R"("shared_axes": [1, 2])", {{1, 1, 2}}},
      {"Softmax", {4, 4, 2}, R"("axis": 2)", {}},
      {"Dropout", {4}, R"("rate": 0.5)", {}},
      {"Flatten", {4, 4, 2}, "", {}},
      {"Reshape", {4, 4, 2}, R"("target_shape": [8, -1])", {}},
      {"Permute", {4, 2}, R"("dims": [2, 1])", {}},
      {"RepeatVector", {4}, R"("n": 3)", {}},
      {"ZeroPadding2D", {4, 4, 2}, R"("padding": [[1, 0], [2, 1]])", {}},
      {"Cropping2D", {4, 4, 2}, R"("cropping": [[1, 0], [2, 1]])", {}},
      {"Embedding", {4}, R"("input_dim": 3, "output_dim": 2)", {{3, 2}}},
      {"LSTM",
       {4, 2},
       R"("units": 1, "return_state": true, "recurrent_activation": "hard_sigmoid")",
       {{2, 4}, {1, 4}, {4}}},
      {"GRU",
       {4, 2},
       R"("units": 1, "reset_after": true, "return_sequences": true, "go_backwards": true)",
       {{2, 3}, {1, 3}, {2, 3}}},
      {"SimpleRNN", {4, 2}, R"("units": 1)", {{2, 1}, {1, 1}, {1}}},
      {"Bidirectional",
       {4, 2},
       R"("merge_mode": "sum", "layer": {"class_name": "SimpleRNN", "config": {"units": 1}})",
       {{2, 1}, {1, 1}, {1}, {2, 1}, {1, 1}, {1}}},
      {"EinsumDense",
       {3, 2},
       R"("equation": "abc,cde->abde", "output_shape": [null, 2, 3], "bias_axes": "de")",
       {{2, 2, 3}, {2, 3}}},
      {"Discretization", {3}, R"("bin_boundaries": [0.5, 1], "output_mode": "multi_hot")", {}},
      {"CategoryEncoding", {3}, R"("num_tokens": 4, "output_mode": "count")", {}},
      {"ConvLSTM1D",
       {3, 4, 2},
       R"("filters": 1, "kernel_size": [2], "padding": "same", "return_sequences": true, "return_state": true)",
       {{2, 2, 4}, {2, 1, 4}, {4}}},
      {"RNN",
       {4, 2},
       R"("return_state": true, "cell": {"class_name": "StackedRNNCells", "config": {"cells": [{"class_name": "SimpleRNNCell", "config": {"units": 1}}, {"class_name": "GRUCell", "config": {"units": 1}}]}})",
       {{2, 1}, {1, 1}, {1}, {1, 3}, {1, 3}, {3}}},
      {"SpectralNormalization",
       {2},
       R"("layer": {"class_name": "Dense", "config": {"units": 3}})",
       {{2, 3}, {3}, {1, 3}}},
      {"Activation", {4, 4}, R"("activation": "sparsemax")", {}},
      {"TimeDistributed",
       {4, 2},
       R"("layer": {"class_name": "BatchNormalization", "config": {"axis": -1}})",
       {{2}, {2}, {2}, {2}}},
  };
  return list;
}

std::string temporary_file() {
  return (fs::temp_directory_path() / ("assay_fuzz_" + std::to_string(getpid()))).string();
}

std::string taken_back(const std::string& path) {
  std::string bytes = read_file(path);
  fs::remove(path);
  return bytes;
}

}  // namespace

std::vector<std::string> keras_configs() {
  std::vector<std::string> configs;
  for (const Seed& seed : seeds()) {
    configs.push_back(functional_json(
        {input_json("x", seed.record),
         node_json(seed.class_name, seed.class_name, seed.config, "[" + call_json({"x"}) + "]")},
        {"x"}, {seed.class_name}));
  }
  for (const char* merge : {"Add", "Subtract", "Average", "Concatenate", "Dot"}) {
    configs.push_back(
        functional_json({input_json("x", {3, 4, 2}), input_json("y", {2}),
                         node_json("Flatten", "f", "", "[" + call_json({"x"}) + "]"),
                         node_json(merge, "m", R"("axes": [1, 1])",
                                   "[" + call_json({"x", "y"}) + ", " + call_json({"f", "f"}) + "]")},
                        {"x", "y"}, {"m"}));
  }
  const auto operation = [](const char* class_name, const char* config, const std::string& inbound) {
    return std::string(R"({"module": "keras.src.ops.numpy", "class_name": ")") + class_name +
           R"(", "name": ")" + class_name + R"(", "config": {)" + config + R"(}, "inbound_nodes": [)" +
           inbound + "]}";
  };
  const std::string x = R"({"class_name": "__keras_tensor__", "config": {"keras_history": ["x", 0, 0]}})";
  for (
      const auto& [class_name, config, more] :
      {std::tuple{"Add", "", ", 2.5"},
       {"Where", "", ", 1.0, [[2, 3]]"},
       {"Mean", R"("axis": [1], "keepdims": true)", ""},
       {"Any", R"("axis": -1)", ""},
       {"Reshape", R"("newshape": [-1, 6])", ""},
       {"Transpose", R"("axes": [0, 2, 1])", ""},
       {"Clip", R"("x_min": 0, "x_max": 1)", ""},
       {"Cast", R"("dtype": "int32")", ""},
       {"ExpandDims", R"("axis": 1)", ""},
       {"GetItem", "",
        R"(, [{"class_name": "__ellipsis__"}, {"class_name": "__slice__", "config": {"start": 1, "stop": null, "step": -1}}, null, 0])"}}) {
    configs.push_back(
        functional_json({input_json("x", {2, 3}),
                         operation(class_name, config, R"({"args": [)" + x + more + R"(], "kwargs": {}})")},
                        {"x"}, {class_name}));
  }
  for (const char* call : {R"(["x", 0, 0, {"y": ["x", 0, 0], "axis": -1}])",
                           R"(["_CONSTANT_VALUE", -1, 1.5, {"y": ["x", 0, 0]}])",
                           R"([["x", 0, 0, {"axis": 1}], ["x", 0, 0, {"axis": 1}]])"}) {
    for (const char* function : {"math.subtract", "concat", "math.l2_normalize"})
      configs.push_back(
          functional_json({input_json("x", {2, 3}),
                           node_json("TFOpLambda", "f", std::string(R"("function": ")") + function + "\"",
                                     std::string("[") + call + "]")},
                          {"x"}, {"f"}));
  }
  // A mask of words that reaches attention and a recurrent layer of both directions.
  configs.push_back(functional_json(
      {input_json("x", {4}),
       node_json("Embedding", "Embedding", R"("input_dim": 3, "output_dim": 2, "mask_zero": true)",
                 "[" + call_json({"x"}) + "]"),
       node_json("Attention", "a", "", "[" + call_json({"Embedding", "Embedding"}) + "]"),
       node_json(
           "Bidirectional", "Bidirectional",
           R"("merge_mode": "sum", "layer": {"class_name": "SimpleRNN", "config": {"units": 1, "return_sequences": true}})",
           "[" + call_json({"a"}) + "]")},
      {"x"}, {"Bidirectional"}));
  const std::string inner = sequential_json({layer_json("Dense", "Dense", R"("units": 3)")});
  configs.push_back(
      sequential_json({layer_json("Flatten", "f", R"("batch_input_shape": [null, 1, 2])"), inner}));
  return configs;
}

std::string keras_weights() {
  const std::string path = temporary_file();
  {
    Hdf5Writer file(path);
    for (const Seed& seed : seeds()) {
      std::vector<std::string> names;
      for (std::size_t i = 0; i < seed.weights.size(); ++i) {
        names.push_back("w" + std::to_string(i));
        file.dataset(std::string(seed.class_name) + "/" + names.back(), random_values(seed.weights[i], i));
      }
      file.texts(seed.class_name, "weight_names", names);
    }
    file.texts("", "layer_names", {});  // no complaint about weights that a model does not use
  }
  return taken_back(path);
}

std::vector<std::string> keras_archives() {
  std::vector<std::string> archives;
  const std::string path = temporary_file();
  for (const Seed& seed : seeds()) {
    std::map<std::string, Values> weights;
    for (std::size_t i = 0; i < seed.weights.size(); ++i) {
      weights["layers/dense/vars/" + std::to_string(i)] = random_values(seed.weights[i], i);
    }
    if (std::string(seed.class_name) != "Dense" && !weights.empty()) continue;
    write_keras(path,
                sequential_json({layer_json("InputLayer", "x", "\"batch_shape\": " + shape_json(seed.record)),
                                 layer_json(seed.class_name, "l", seed.config)}),
                weights);
    archives.push_back(taken_back(path));
    fs::remove(path + ".weights");
  }
  return archives;
}

}  // namespace assay::fuzz
