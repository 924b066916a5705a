// What a Keras file becomes, and what happens to files that are damaged, hostile or beyond us.

#include "assay/model/keras/read.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <functional>

#include <assay/error.h>
#include "assay/model/keras/config.h"
#include "assay/model/keras/weights.h"
#include "assay/support/files/file.h"
#include "tests/model/keras_build.h"
#include "tests/model/keras_temporary.h"

// libhdf5 1.10 itself loses a few object headers on damaged files, which only LeakSanitizer notices.
// NOLINTNEXTLINE(bugprone-reserved-identifier): the name that LeakSanitizer looks for
extern "C" const char* __lsan_default_suppressions() { return "leak:libhdf5"; }

namespace assay::testing {
namespace {

namespace fs = std::filesystem;

// Checks that reading fails with this fault and that the message has all these parts.
void expect_error(const std::function<void()>& read, Fault fault, const std::vector<std::string>& parts) {
  try {
    read();
    ADD_FAILURE() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), fault) << error.what();
    for (const auto& part : parts)
      EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
  }
}

LayerValues dense_values(const std::string& name, std::int64_t in, std::int64_t out, std::uint64_t seed = 1) {
  return {name,
          {{name + "/kernel:0", random_values({in, out}, seed)},
           {name + "/bias:0", random_values({out}, seed + 1)}}};
}

std::string lenet_json() {
  return sequential_json(
      {layer_json(
           "Conv2D", "conv",
           R"("filters": 2, "kernel_size": [3, 3], "activation": "relu", "batch_input_shape": [null, 6, 8, 3])"),
       layer_json("MaxPooling2D", "pool", R"("pool_size": [2, 2])"), layer_json("Flatten", "flat"),
       layer_json("Dense", "out", R"("units": 4, "activation": "softmax")")});
}
std::vector<LayerValues> lenet_values() {
  return {
      {"conv", {{"conv/kernel:0", random_values({3, 3, 3, 2}, 1)}, {"conv/bias:0", random_values({2}, 2)}}},
      {"pool", {}},
      {"flat", {}},
      dense_values("out", 12, 4)};
}

const Node& node(const Graph& graph, const std::string& name) {
  const auto index = graph.find_node(name);
  if (!index) throw std::runtime_error("no node " + name);
  return graph.node(*index);
}

std::vector<std::string> operators(const Graph& graph) {
  std::vector<std::string> result;
  for (const Node& item : graph.nodes()) result.push_back(item.op);
  return result;
}

TEST(KerasGraph, NamesAreKerasNames) {
  const auto path = temporary("lenet.h5");
  write_h5(path, lenet_json(), lenet_values());
  const Graph graph = read_keras_h5(path);
  EXPECT_EQ(operators(graph),
            (std::vector<std::string>{"Conv", "Relu", "MaxPool", "Flatten", "Gemm", "Softmax"}));
  EXPECT_EQ(node(graph, "conv").outputs, std::vector{*graph.find_value("conv_preact")});
  EXPECT_EQ(node(graph, "conv_relu").outputs, std::vector{*graph.find_value("conv")});
  EXPECT_EQ(node(graph, "out_softmax").outputs, std::vector{*graph.find_value("out")});
  EXPECT_EQ(graph.outputs()[0], *graph.find_value("out"));
  EXPECT_EQ(graph.value(graph.outputs()[0]).shape, (Shape{-1, 4}));
  const Value& input = graph.value(graph.inputs()[0]);
  EXPECT_EQ(input.name, "conv_input");
  EXPECT_EQ(input.shape, (Shape{-1, 3, 6, 8}));
  EXPECT_EQ(graph.constant(*graph.find_value("conv/kernel")).shape(), (Shape{2, 3, 3, 3}));
  EXPECT_EQ(graph.constant(*graph.find_value("out/kernel")).shape(), (Shape{4, 12}));
  EXPECT_EQ(graph.parameter_count(), 56 + 52);
}

TEST(KerasGraph, DenseRowsFollowTheChannels) {
  // 1 x 2 positions of 3 channels: Keras counts p0c0 p0c1 p0c2 p1c0 ..., stored are c0p0 c0p1 c1p0 ...
  const auto path = temporary("flatten.h5");
  write_h5(path,
           sequential_json({layer_json("Flatten", "flat", R"("batch_input_shape": [null, 1, 2, 3])"),
                            layer_json("Dense", "out", R"("units": 1, "use_bias": false)")}),
           {{"out", {{"out/kernel:0", numbers({6, 1}, {0, 1, 2, 3, 4, 5})}}}});
  const Graph graph = read_keras_h5(path);
  const auto kernel = graph.constant(*graph.find_value("out/kernel")).as<float>();
  EXPECT_EQ(std::vector<float>(kernel.begin(), kernel.end()), (std::vector<float>{0, 3, 1, 4, 2, 5}));
}

TEST(KerasGraph, GeneratedNamesGiveWayToLayers) {
  // As in Keras's own ResNet50: a layer is called what another layer's activation would be.
  const auto path = temporary("names.h5");
  write_h5(path,
           sequential_json({layer_json("Dense", "a",
                                       R"("units": 2, "activation": "relu", "batch_input_shape": [null, 2])"),
                            layer_json("Dense", "a_relu", R"("units": 2)")}),
           {dense_values("a", 2, 2), dense_values("a_relu", 2, 2)});
  const Graph graph = read_keras_h5(path);
  EXPECT_EQ(node(graph, "a_relu").op, "Gemm");
  EXPECT_EQ(node(graph, "a_relu_2").op, "Relu");
}

TEST(KerasWeightFiles, WeightsBesideJson) {
  const auto path = temporary("net.h5");
  fs::remove(temporary("net.json"));
  {
    Hdf5Writer file(path);
    write_layers(file, "", lenet_values());
  }
  expect_error([&] { read_keras_h5(path); }, Fault::model, {"holds weights but no architecture", "net.json"});
  write_file(temporary("net.json"), lenet_json());
  const std::string hash = read_keras_h5(path).hash();
  EXPECT_EQ(read_keras_h5(temporary("net.json")).hash(), hash);
  write_h5(temporary("whole.h5"), lenet_json(), lenet_values());
  EXPECT_EQ(read_keras_h5(temporary("whole.h5")).hash(), hash);
  fs::remove(path);
  expect_error([&] { read_keras_h5(temporary("net.json")); }, Fault::io,
               {"its weights are missing", "net.h5"});
}

TEST(KerasWeightFiles, OtherPrecisionsAreWidenedWithNotice) {
  const std::string config =
      sequential_json({layer_json("Dense", "d", R"("units": 2, "batch_input_shape": [null, 2])")});
  for (const auto& [precision, name] :
       {std::pair{Precision::half, "float16"}, std::pair{Precision::twice, "float64"}}) {
    for (const Storage storage : {Storage::contiguous, Storage::compressed}) {
      const auto path = temporary("precision.h5");
      {
        Hdf5Writer file(path);
        file.text("", "model_config", config, false);
        file.dataset("model_weights/d/d/kernel:0", numbers({2, 2}, {0.5, -1, 2, 0.25}), precision, storage);
        file.dataset("model_weights/d/d/bias:0", numbers({2}, {1, 2}), precision, storage);
        file.texts("model_weights/d", "weight_names", {"d/kernel:0", "d/bias:0"});
        file.texts("model_weights", "layer_names0", {"other"});  // long lists are split
        file.texts("model_weights", "layer_names1", {"d"});
      }
      const Graph graph = read_keras_h5(path);
      const auto kernel = graph.constant(*graph.find_value("d/kernel")).as<float>();
      EXPECT_EQ(std::vector<float>(kernel.begin(), kernel.end()), (std::vector<float>{0.5, 2, -1, 0.25}));
      ASSERT_EQ(graph.notices().size(), 1U);
      EXPECT_EQ(graph.notices()[0], std::string("2 weights are ") + name + " and are used as float32");
    }
  }
}

TEST(KerasWeightFiles, WholeNumbersOfOneByteAreRead) {
  const auto path = temporary("byte.h5");
  {
    Hdf5Writer file(path);
    file.text("", "model_config",
              sequential_json({layer_json(
                  "Dense", "d", R"("units": 2, "use_bias": false, "batch_input_shape": [null, 2])")}),
              false);
    file.dataset("model_weights/d/d/kernel:0", numbers({2, 2}, {127, -1, 2, -128}), Precision::byte);
    file.texts("model_weights/d", "weight_names", {"d/kernel:0"});
    file.texts("model_weights", "layer_names", {"d"});
  }
  const Graph graph = read_keras_h5(path);
  const auto kernel = graph.constant(*graph.find_value("d/kernel")).as<float>();
  EXPECT_EQ(std::vector<float>(kernel.begin(), kernel.end()), (std::vector<float>{127, 2, -1, -128}));
}

TEST(KerasWeightFiles, MismatchesNameLayerWeightAndShapes) {
  const auto path = temporary("mismatch.h5");
  const std::string config =
      sequential_json({layer_json("Dense", "d", R"("units": 3, "batch_input_shape": [null, 2])")});
  write_h5(path, config, {dense_values("d", 2, 4)});
  expect_error([&] { read_keras_h5(path); }, Fault::model,
               {"layer 'd' (Dense): weight 'kernel'", "[2, 4] where [2, 3] is expected"});
  write_h5(path, config, {{"d", {{"d/kernel:0", random_values({2, 3}, 1)}}}});
  expect_error([&] { read_keras_h5(path); }, Fault::model,
               {"layer 'd' (Dense): no weight 'bias' of shape [3]"});
  LayerValues more = dense_values("d", 2, 3);
  more.weights.emplace_back("d/extra:0", random_values({1}, 3));
  write_h5(path, config, {more});
  expect_error([&] { read_keras_h5(path); }, Fault::model,
               {"layer 'd' (Dense)", "3 weights for it where 2 are expected"});
  write_h5(path, config, {dense_values("e", 2, 3)});
  expect_error([&] { read_keras_h5(path); }, Fault::model, {"layer 'd' (Dense): no weight 'kernel'"});
  write_h5(path, config, {dense_values("d", 2, 3), dense_values("e", 2, 3)});
  expect_error([&] { read_keras_h5(path); }, Fault::model,
               {"has weights for layer 'e', which the architecture does not"});
}

TEST(KerasUnsupported, SaysWhatWouldHelp) {
  const auto path = temporary("unsupported.h5");
  const auto read = [&](const std::string& layer) {
    write_h5(path,
             sequential_json({layer_json("InputLayer", "in", R"("batch_shape": [null, 4, 4, 2])"), layer}),
             {});
    read_keras_h5(path);
  };
  expect_error([&] { read(layer_json("Lambda", "code")); }, Fault::unsupported,
               {"layer 'code' (Lambda)", "Python code", "ONNX"});
  expect_error([&] { read(layer_json("MaxPoling2D", "p")); }, Fault::unsupported,
               {"layer 'p' (MaxPoling2D)", "did you mean 'MaxPooling2D'?"});
  expect_error([&] { read(layer_json("UpSampling2D", "u", R"("interpolation": "area")")); },
               Fault::unsupported, {"layer 'u' (UpSampling2D)", "area", "bicubic, lanczos3"});
  write_h5(path, R"({"class_name": "MyModel", "config": {"units": 3}})", {});
  expect_error([&] { read_keras_h5(path); }, Fault::unsupported,
               {"class 'MyModel'", "subclassed", "functional"});
  write_h5(path,
           functional_json({input_json("x", {2}), node_json("Dense", "d", R"("units": 3)",
                                                            R"([[["x", 0, 0, {"training": true}]]])")},
                           {"x"}, {"d"}),
           {});
  expect_error([&] { read_keras_h5(path); }, Fault::unsupported, {"layer 'd' (Dense)", "'training'"});
}

TEST(KerasUnsupported, KnowsOtherFilesAndLayers) {
  const auto path = temporary("other.h5");
  const auto read = [&](const std::string& layer) {
    write_h5(path,
             sequential_json({layer_json("InputLayer", "in", R"("batch_shape": [null, 4, 4, 2])"), layer}),
             {});
    read_keras_h5(path);
  };
  expect_error([&] { read(layer_json("MaxPooling2D", "p", R"("data_format": "foo")")); }, Fault::model,
               {"layer 'p' (MaxPooling2D)", "'data_format' is 'foo'"});
  try {
    read(layer_json("CuDNNLSTM", "s"));
    ADD_FAILURE() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()).find("did you mean"), std::string::npos) << error.what();
  }
  fs::remove(temporary("other.json"));
  {
    Hdf5Writer file(path);
    file.dataset("measurements", numbers({2}, {1, 2}));
  }
  expect_error([&] { read_keras_h5(path); }, Fault::model, {"an HDF5 file without a Keras model"});
  const auto sharded = temporary("sharded.keras");
  write_zip(sharded, {{"config.json", lenet_json()}, {"model.weights.json", "{}"}});
  expect_error([&] { read_keras_zip(sharded); }, Fault::unsupported, {"several files", "model.save("});
  write_file(temporary("model.weights.json"), "{}");
  expect_error([&] { read_keras_h5(temporary("model.weights.json")); }, Fault::unsupported,
               {"several files"});
}

TEST(KerasWeightFiles, NumbersThatAreNoneAreNoticedAndCountersAreNot) {
  const auto path = temporary("notices.h5");
  const std::string config =
      sequential_json({layer_json("Normalization", "n", R"("axis": [-1], "batch_input_shape": [null, 2])"),
                       layer_json("Dense", "d", R"("units": 1, "use_bias": false)")});
  {
    Hdf5Writer file(path);
    file.text("", "model_config", config);
    file.dataset("model_weights/n/n/mean:0", numbers({2}, {1, 2}));
    file.dataset("model_weights/n/n/variance:0", numbers({2}, {1, 2}));
    file.integers("model_weights/n/n/count:0", {7});
    file.dataset("model_weights/d/d/kernel:0", numbers({2, 1}, {NAN, 2}));
    file.texts("model_weights/n", "weight_names", {"n/mean:0", "n/variance:0", "n/count:0"});
    file.texts("model_weights/d", "weight_names", {"d/kernel:0"});
    file.texts("model_weights", "layer_names", {"n", "d"});
  }
  const Graph graph = read_keras_h5(path);
  ASSERT_EQ(graph.notices().size(), 1U);
  EXPECT_NE(graph.notices()[0].find("layer 'd' (Dense): weight 'kernel' holds numbers that are NaN"),
            std::string::npos)
      << graph.notices()[0];
}

// ---- damaged and hostile files
// ---------------------------------------------------------------------------------

TEST(KerasHostile, LayersInACycle) {
  const auto path = temporary("cycle.h5");
  write_h5(
      path,
      functional_json({input_json("x", {2}), node_json("Add", "a", "", "[" + call_json({"x", "b"}) + "]"),
                       node_json("Activation", "b", R"("activation": "relu")", "[" + call_json({"a"}) + "]")},
                      {"x"}, {"b"}),
      {});
  expect_error([&] { read_keras_h5(path); }, Fault::model, {"layer 'a' (Add)", "cycle"});
}

TEST(KerasHostile, ReferencesToNothing) {
  const auto path = temporary("references.h5");
  const auto read = [&](const std::string& inbound, const std::string& output = "d") {
    write_h5(path,
             functional_json({input_json("x", {2}), node_json("Flatten", "d", "", inbound)}, {"x"}, {output}),
             {});
    read_keras_h5(path);
  };
  expect_error([&] { read("[" + call_json({"y"}) + "]"); }, Fault::model, {"'y', which does not exist"});
  expect_error([&] { read(R"([[["x", 7, 0, {}]]])"); }, Fault::model, {"its call 7 is read"});
  expect_error([&] { read(R"([[["x", 0, -3, {}]]])"); }, Fault::model, {"its output -3 is read"});
  expect_error([&] { read("[" + call_json({"x"}) + "]", "nowhere"); }, Fault::model, {"'nowhere'"});
  expect_error([&] { read("[]"); }, Fault::model, {"call 0 is read", "called 0 times"});
  expect_error([&] { read("17"); }, Fault::model, {"inbound_nodes"});
}

TEST(KerasHostile, GiantDimensionsAreNeverAllocated) {
  const auto path = temporary("giant.h5");
  const auto read = [&](const std::string& layer) {
    write_h5(path, sequential_json({layer}), {});
    read_keras_h5(path);
  };
  const std::string input = R"("batch_input_shape": [null, 2147483647], )";
  expect_error([&] { read(layer_json("Dense", "d", input + R"("units": 2147483647)")); }, Fault::model,
               {"no weight 'kernel'"});
  expect_error([&] { read(layer_json("Dense", "d", input + R"("units": 99999999999)")); }, Fault::model,
               {"'units'"});
  expect_error([&] { read(layer_json("Dense", "d", R"("batch_input_shape": [null, 1e300], "units": 1)")); },
               Fault::model, {"batch_input_shape"});
  expect_error(
      [&] { read(layer_json("LayerNormalization", "n", input + R"("scale": false, "center": false)")); },
      Fault::resources, {"2147483647 elements"});
  expect_error(
      [&] {
        read(
            layer_json("Flatten", "f", R"("batch_input_shape": [null, 2147483647, 2147483647, 2147483647])"));
      },
      Fault::resources, {"more elements than 64 bits"});
  const std::string twice =
      R"("batch_input_shape": [null, 2147483647, 2147483647, 1], "size": [2147483647, 2147483647])";
  expect_error([&] { read(layer_json("UpSampling2D", "u", twice)); }, Fault::resources,
               {"layer 'u'", "too large"});
}

TEST(KerasHostile, WrongTypesInTheConfig) {
  const auto path = temporary("types.h5");
  const auto read = [&](const std::string& config) {
    write_h5(path, config, {dense_values("d", 2, 3)});
    read_keras_h5(path);
  };
  const auto dense = [](const std::string& more) {
    return sequential_json({layer_json("Dense", "d", R"("batch_input_shape": [null, 2], )" + more)});
  };
  expect_error([&] { read(dense(R"("units": "three")")); }, Fault::model, {"layer 'd' (Dense)", "'units'"});
  expect_error([&] { read(dense(R"("units": 3, "use_bias": 1)")); }, Fault::model,
               {"'use_bias' is not true or false"});
  expect_error([&] { read(dense(R"("units": 3, "activation": [])")); }, Fault::model, {"'activation'"});
  expect_error([&] { read(dense(R"("units": -3)")); }, Fault::model, {"'units'"});
  expect_error([&] { read("{"); }, Fault::model, {"not valid JSON"});
  expect_error([&] { read("[]"); }, Fault::model, {"class_name"});
  expect_error([&] { read(R"({"class_name": "Sequential", "config": {"layers": []}})"); }, Fault::model,
               {"without layers"});
  expect_error([&] { read(R"({"class_name": "Sequential", "config": {"layers": [3]}})"); }, Fault::model,
               {"class_name"});
  expect_error([&] { read(sequential_json({layer_json("Dense", "d", R"("units": 3)")})); }, Fault::model,
               {"no input shape"});
  expect_error(
      [&] {
        read(sequential_json(
            {layer_json("Flatten", "f", R"("batch_input_shape": [null, 2])"), layer_json("Flatten", "f")}));
      },
      Fault::model, {"two layers are named 'f'"});
}

TEST(KerasHostile, DeepJson) {
  expect_error([&] { parse_keras_config(std::string(1'000'000, '['), "deep"); }, Fault::model,
               {"deep", "nested deeper"});
  std::string models = layer_json("Dense", "d");
  for (int i = 0; i < 30; ++i) models = sequential_json({models});
  expect_error([&] { parse_keras_config(models, "deep"); }, Fault::resources, {"models nested deeper"});
}

TEST(KerasHostile, SharedModelsThatMultiply) {
  // Each level calls the level below ten times: 10^8 layers from a small file.
  std::string inner = functional_json(
      {input_json("x", {2}), node_json("Add", "y", "", "[" + call_json({"x", "x"}) + "]")}, {"x"}, {"y"});
  for (int level = 0; level < 8; ++level) {
    std::string calls = R"([["x", 0, 0, {}]])";
    for (int i = 0; i < 9; ++i) calls += fmt::format(R"(, [["m", {}, 0, {{}}]])", i);
    const std::string model =
        inner.substr(0, inner.size() - 1) + R"(, "name": "m", "inbound_nodes": [)" + calls + "]}";
    inner = functional_json(
        {input_json("x", {2}), model, node_json("Flatten", "y", "", R"([[["m", 9, 0, {}]]])")}, {"x"}, {"y"});
  }
  const auto path = temporary("multiply.h5");
  write_h5(path, inner, {});
  expect_error([&] { read_keras_h5(path); }, Fault::resources, {"more than 100,000 layer calls"});
}

TEST(KerasHostile, TruncatedFilesAtEveryLength) {
  const auto whole = temporary("whole.h5"), cut = temporary("cut.h5");
  write_h5(whole, lenet_json(), lenet_values());
  const std::string bytes = read_file(whole);
  for (std::size_t length = 0; length < bytes.size(); length += 1 + bytes.size() / 150) {
    write_file(cut, bytes.substr(0, length));
    EXPECT_THROW(read_keras_h5(cut), Error) << length;
  }
}

TEST(KerasHostile, DamagedBytesNeverCrash) {
  const auto whole = temporary("whole.h5");
  write_h5(whole, lenet_json(), lenet_values());
  const std::string bytes = read_file(whole);
  for (std::size_t i = 0; i < bytes.size(); i += 41) {
    std::string damaged = bytes;
    damaged[i] = static_cast<char>(damaged[i] ^ 0x55);
    try {
      read_keras_memory(lenet_json(), damaged, "damaged", "2.11.0");
    } catch (const Error&) {  // a clear error, or a weight that changed, but nothing else
    }
  }
}

TEST(KerasHostile, LinksLeadNowhereElse) {
  const std::string config = sequential_json(
      {layer_json("Dense", "d", R"("units": 3, "use_bias": false, "batch_input_shape": [null, 2])")});
  const auto path = temporary("links.h5");
  for (const bool external : {true, false}) {
    {
      Hdf5Writer file(path);
      file.text("", "model_config", config);
      file.texts("model_weights", "layer_names", {"d"});
      file.texts("model_weights/d", "weight_names", {"kernel"});
      file.dataset("elsewhere", random_values({2, 3}, 1));
      if (external)
        file.external_link("model_weights/d/kernel", "/etc/passwd", "/x");
      else
        file.soft_link("model_weights/d/kernel", "/elsewhere");
    }
    expect_error([&] { read_keras_h5(path); }, Fault::model,
                 {"model_weights/d/kernel", "a link to another place"});
  }
}

TEST(KerasHostile, WrongKindsOfData) {
  const std::string config = sequential_json(
      {layer_json("Dense", "d", R"("units": 3, "use_bias": false, "batch_input_shape": [null, 2])")});
  const auto path = temporary("kinds.h5");
  const auto read = [&](const std::function<void(Hdf5Writer&)>& write) {
    {
      Hdf5Writer file(path);
      file.texts("model_weights", "layer_names", {"d"});
      write(file);
    }
    read_keras_h5(path);
  };
  const auto with_names = [&](Hdf5Writer& file, const char* name) {
    file.text("", "model_config", config);
    file.texts("model_weights/d", "weight_names", {name});
  };
  expect_error(
      [&] {
        read([&](Hdf5Writer& f) { with_names(f, "k"), f.integers("model_weights/d/k", {1, 2, 3, 4, 5, 6}); });
      },
      Fault::model, {"'model_weights/d/k' has an element type"});
  expect_error([&] { read([&](Hdf5Writer& f) { with_names(f, "k"), f.group("model_weights/d/k"); }); },
               Fault::model, {"no dataset 'model_weights/d/k'"});
  expect_error([&] { read([&](Hdf5Writer& f) { with_names(f, "../../k"); }); }, Fault::model, {"no dataset"});
  expect_error([&] { read([&](Hdf5Writer& f) { f.number("", "model_config", 3); }); }, Fault::model,
               {"'model_config'", "is not a string"});
  expect_error(
      [&] {
        read([&](Hdf5Writer& f) {
          f.text("", "model_config", config), f.number("model_weights/d", "weight_names", 3);
        });
      },
      Fault::model, {"'weight_names'", "is not a string"});
}

// A number as HDF5 writes addresses and sizes.
std::string bytes_of(std::uint64_t number) { return {reinterpret_cast<const char*>(&number), sizeof number}; }

TEST(KerasHostile, OverlappingWeights) {
  const auto path = temporary("overlap.h5");
  write_h5(path,
           sequential_json({layer_json("Dense", "d", R"("units": 64, "batch_input_shape": [null, 64])"),
                            layer_json("Dense", "e", R"("units": 64)")}),
           {{"d", {{"k", random_values({64, 64}, 1)}, {"b", random_values({64}, 2)}}},
            {"e", {{"k", random_values({64, 64}, 3)}, {"b", random_values({64}, 4)}}}});
  // The layout messages hold address and size; point the second kernel into the first.
  std::string bytes = read_file(path);
  const auto address_of = [&](std::uint64_t seed) {
    const Values values = random_values({64, 64}, seed);
    return static_cast<std::uint64_t>(
        bytes.find(std::string(reinterpret_cast<const char*>(values.data.data()), 64)));
  };
  const std::uint64_t first = address_of(1), second = address_of(3), size = 64 * 64 * 4;
  const std::size_t at = bytes.find(bytes_of(second) + bytes_of(size));
  ASSERT_NE(at, std::string::npos);
  bytes.replace(at, 8, bytes_of(first + 16));
  write_file(path, bytes);
  expect_error([&] { read_keras_h5(path); }, Fault::model, {"overlap in the file"});
}

TEST(KerasHostile, DatasetsThatClaimMoreThanTheFileHolds) {
  const auto path = temporary("claims.h5");
  write_h5(path,
           sequential_json({layer_json(
               "Dense", "d", R"("units": 64, "use_bias": false, "batch_input_shape": [null, 64])")}),
           {{"d", {{"k", random_values({64, 64}, 1)}}}});
  std::string bytes = read_file(path);
  const Values values = random_values({64, 64}, 1);
  const std::uint64_t address =
      bytes.find(std::string(reinterpret_cast<const char*>(values.data.data()), 64));
  const std::size_t at = bytes.find(bytes_of(address) + bytes_of(64 * 64 * 4));
  ASSERT_NE(at, std::string::npos);
  bytes.replace(at + 8, 8, bytes_of(64 * 64));  // a quarter of what the shape needs
  write_file(path, bytes);
  expect_error([&] { read_keras_h5(path); }, Fault::model, {"'model_weights/d/k'"});
}

TEST(KerasHostile, ZipBombs) {
  const auto path = temporary("bomb.keras");
  write_zip(path,
            {{"config.json", std::string((std::size_t{64} << 20) + 1, ' ')}, {"model.weights.h5", "x"}});
  EXPECT_LT(fs::file_size(path), 100'000U);
  expect_error([&] { read_keras_zip(path); }, Fault::resources,
               {"bomb.keras", "'config.json' unpacks", "67108865 bytes"});
}

TEST(KerasArchive, DamagesAreClearErrors) {
  const auto path = temporary("model.keras");
  expect_error([&] { read_keras_zip(temporary("none.keras")); }, Fault::io, {"no such file"});
  write_file(path, "PK\x03\x04 and nothing else");
  expect_error([&] { read_keras_zip(path); }, Fault::model, {"not a complete zip archive"});
  write_zip(path, {{"metadata.json", "{}"}});
  expect_error([&] { read_keras_zip(path); }, Fault::model, {"no 'config.json'"});
  write_zip(path,
            {{"config.json", sequential_json({layer_json("Flatten", "f", R"("batch_shape": [null, 3])")})}});
  expect_error([&] { read_keras_zip(path); }, Fault::model, {"no 'model.weights.h5'"});
  write_zip(path,
            {{"config.json", sequential_json({layer_json("Flatten", "f", R"("batch_shape": [null, 3])")})},
             {"model.weights.h5", "not HDF5"}});
  expect_error([&] { read_keras_zip(path); }, Fault::model, {"not a complete HDF5 file"});
}

TEST(KerasArchive, AByteThatChangedIsNoticed) {
  const auto path = temporary("model.keras");
  write_zip(path, {{"config.json", "{}"}, {"model.weights.h5", "short enough to be stored as it is"}});
  std::string bytes = read_file(path);
  const std::size_t at = bytes.find("{}", bytes.find("config.json"));
  ASSERT_NE(at, std::string::npos);
  bytes[at] = '[';
  write_file(path, bytes);
  expect_error([&] { read_keras_zip(path); }, Fault::model, {"'config.json' is damaged"});
}

TEST(KerasHostile, ArchivesThatClaimMoreThanTheyHold) {
  const auto path = temporary("claims.keras");
  const std::string config = "{ }";
  write_zip(path, {{"config.json", config}, {"model.weights.h5", "x"}});
  std::string bytes = read_file(path);
  // The central directory's entry ends with the name; 26 bytes before it stand the two sizes.
  const std::size_t at = bytes.rfind("config.json") - 26;
  const std::uint32_t packed = 60'000, claimed = 60'000'000;
  bytes.replace(at, 4, reinterpret_cast<const char*>(&packed), 4);
  bytes.replace(at + 4, 4, reinterpret_cast<const char*>(&claimed), 4);
  write_file(path, bytes);
  expect_error([&] { read_keras_zip(path); }, Fault::model, {"claims.keras"});
}

TEST(KerasArchive, GroupsAreNumberedByClass) {
  const auto path = temporary("model.keras");
  const std::string config = sequential_json({layer_json("InputLayer", "in", R"("batch_shape": [null, 2])"),
                                              layer_json("Dense", "z", R"("units": 3)"),
                                              layer_json("Activation", "act", R"("activation": "relu")"),
                                              layer_json("Dense", "a", R"("units": 1)")});
  write_keras(path, config,
              {{"layers/dense/vars/0", random_values({2, 3}, 1)},
               {"layers/dense/vars/1", random_values({3}, 2)},
               {"layers/dense_1/vars/0", random_values({3, 1}, 3)},
               {"layers/dense_1/vars/1", random_values({1}, 4)}});
  const Graph graph = read_keras_zip(path);
  EXPECT_EQ(graph.constant(*graph.find_value("z/bias")).as<float>()[0], random_values({3}, 2).data[0]);
  EXPECT_EQ(graph.constant(*graph.find_value("a/bias")).as<float>()[0], random_values({1}, 4).data[0]);
}

TEST(KerasSnakeCase, IsThatOfKeras) {
  for (const auto& [name, group] : {std::pair{"Dense", "dense"},
                                    {"Conv2D", "conv2d"},
                                    {"MaxPooling2D", "max_pooling2d"},
                                    {"BatchNormalization", "batch_normalization"},
                                    {"LSTM", "lstm"},
                                    {"SimpleRNN", "simple_rnn"},
                                    {"Conv2DTranspose", "conv2d_transpose"},
                                    {"PReLU", "p_re_lu"},
                                    {"ReLU", "re_lu"},
                                    {"SeparableConv1D", "separable_conv1d"},
                                    {"TimeDistributed", "time_distributed"}}) {
    EXPECT_EQ(keras_snake_case(name), group);
  }
}

}  // namespace
}  // namespace assay::testing
