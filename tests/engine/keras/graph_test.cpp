#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "assay/model/keras/read.h"
#include "network.h"

namespace assay::testing {
namespace {

struct Merge {
  const char* class_name;
  double (*function)(double, double);
};

TEST(KerasMerge, ElementwiseInBothLayouts) {
  const Merge merges[] = {{"Add", [](double a, double b) { return a + b; }},
                          {"Subtract", [](double a, double b) { return a - b; }},
                          {"Multiply", [](double a, double b) { return a * b; }},
                          {"Average", [](double a, double b) { return (a + b) / 2; }},
                          {"Maximum", [](double a, double b) { return std::max(a, b); }},
                          {"Minimum", [](double a, double b) { return std::min(a, b); }}};
  for (const Shape& record : {Shape{3}, Shape{3, 2}, Shape{2, 3, 4}}) {
    for (const Merge& merge : merges) {
      const auto path = temporary("merge.h5");
      write_h5(path,
               functional_json({input_json("a", record), input_json("b", record),
                                node_json(merge.class_name, "merge", "", "[" + call_json({"a", "b"}) + "]")},
                               {"a", "b"}, {"merge"}),
               {});
      Shape shape = record;
      shape.insert(shape.begin(), 2);
      const Values a = random_values(shape, 1), b = random_values(shape, 2);
      EXPECT_TRUE(same(run_graph(read_keras_h5(path), {a, b}).front(),
                       tabulate(shape, [&](const Shape& i) { return merge.function(at(a, i), at(b, i)); })))
          << merge.class_name << to_string(record);
    }
  }
}

TEST(KerasMerge, SqueezeAndExcitationBroadcasts) {
  // image * dense(mean(image)): a vector against an image gets its axes of size 1 after the batch.
  const auto path = temporary("merge.h5");
  write_h5(
      path,
      functional_json({input_json("image", {3, 2, 4}),
                       node_json("GlobalAveragePooling2D", "squeeze", "", "[" + call_json({"image"}) + "]"),
                       node_json("Dense", "excite", R"("units": 4, "activation": "sigmoid")",
                                 "[" + call_json({"squeeze"}) + "]"),
                       node_json("Multiply", "scale", "", "[" + call_json({"image", "excite"}) + "]")},
                      {"image"}, {"scale"}),
      {{"excite",
        {{"excite/kernel:0", random_values({4, 4}, 1)}, {"excite/bias:0", random_values({4}, 2)}}}});
  const Values x = random_values({2, 3, 2, 4}, 3);
  Values pooled = plain_pool(x, {{3, 2}, {1, 1}, {1, 1}, "valid"}, mean);
  pooled.shape = {2, 4};
  const Values gate = map(plain_dense(pooled, random_values({4, 4}, 1), random_values({4}, 2)),
                          [](double v) { return 1 / (1 + std::exp(-v)); });
  EXPECT_TRUE(same(run_graph(read_keras_h5(path), {x}).front(), tabulate(x.shape, [&](const Shape& i) {
                     return double{at(x, i)} * at(gate, {i[0], i[3]});
                   })));
}

TEST(KerasConcatenate, AlongAnyAxis) {
  for (const int axis : {1, 2, 3, -1}) {
    Shape a_record{2, 3, 4}, b_record = a_record;
    const std::size_t at_axis = axis < 0 ? 2 : static_cast<std::size_t>(axis) - 1;
    b_record[at_axis] += 2;
    const auto path = temporary("concatenate.h5");
    write_h5(path,
             functional_json({input_json("a", a_record), input_json("b", b_record),
                              node_json("Concatenate", "join", R"("axis": )" + std::to_string(axis),
                                        "[" + call_json({"a", "b"}) + "]")},
                             {"a", "b"}, {"join"}),
             {});
    const auto batched = [](Shape s) {
      s.insert(s.begin(), 2);
      return s;
    };
    const Values a = random_values(batched(a_record), 1), b = random_values(batched(b_record), 2);
    Shape shape = a.shape;
    shape[at_axis + 1] += b_record[at_axis];
    EXPECT_TRUE(same(run_graph(read_keras_h5(path), {a, b}).front(),
                     tabulate(shape,
                              [&](const Shape& i) {
                                Shape j = i;
                                if (i[at_axis + 1] < a_record[at_axis]) return at(a, i);
                                j[at_axis + 1] -= a_record[at_axis];
                                return at(b, j);
                              })))
        << axis;
  }
}

TEST(KerasConcatenate, OfFlattenedImagesFeedsDense) {
  const auto path = temporary("concatenate.h5");
  const Values kernel = random_values({16, 2}, 1), bias = random_values({2}, 2);
  write_h5(path,
           functional_json({input_json("image", {2, 3, 2}), input_json("vector", {4}),
                            node_json("Flatten", "flat", "", "[" + call_json({"image"}) + "]"),
                            node_json("Concatenate", "join", "", "[" + call_json({"flat", "vector"}) + "]"),
                            node_json("Dense", "out", R"("units": 2)", "[" + call_json({"join"}) + "]")},
                           {"image", "vector"}, {"out"}),
           {{"out", {{"out/kernel:0", kernel}, {"out/bias:0", bias}}}});
  const Values image = random_values({2, 2, 3, 2}, 3), vector = random_values({2, 4}, 4);
  const Values joined = tabulate({2, 16}, [&](const Shape& i) {
    return i[1] < 12 ? image.data[static_cast<std::size_t>(i[0] * 12 + i[1])] : at(vector, {i[0], i[1] - 12});
  });
  EXPECT_TRUE(
      same(run_graph(read_keras_h5(path), {image, vector}).front(), plain_dense(joined, kernel, bias)));
}

TEST(KerasDot, ContractsOneAxis) {
  const auto run = [](const Shape& a, const Shape& b, const std::string& axes, const Values& x,
                      const Values& y) {
    const auto path = temporary("dot.h5");
    write_h5(path,
             functional_json({input_json("a", a), input_json("b", b),
                              node_json("Dot", "dot", R"("axes": )" + axes + R"(, "normalize": false)",
                                        "[" + call_json({"a", "b"}) + "]")},
                             {"a", "b"}, {"dot"}),
             {});
    return run_graph(read_keras_h5(path), {x, y}).front();
  };
  EXPECT_TRUE(same(run({3}, {3}, "1", numbers({1, 3}, {1, 2, 3}), numbers({1, 3}, {4, 5, 6})),
                   numbers({1, 1}, {32})));
  const Values x = random_values({2, 3, 4}, 1), y = random_values({2, 5, 4}, 2);
  EXPECT_TRUE(same(run({3, 4}, {5, 4}, "[2, 2]", x, y), tabulate({2, 3, 5}, [&](const Shape& i) {
                     double sum = 0;
                     for (std::int64_t k = 0; k < 4; ++k)
                       sum += double{at(x, {i[0], i[1], k})} * at(y, {i[0], i[2], k});
                     return sum;
                   })));
}

TEST(KerasDot, OfVectorsWithSequencesByTheirAngle) {
  const auto path = temporary("dot.h5");
  write_h5(path,
           functional_json({input_json("a", {4}), input_json("b", {5, 4}),
                            node_json("Dot", "dot", R"("axes": [1, 2], "normalize": true)",
                                      "[" + call_json({"a", "b"}) + "]")},
                           {"a", "b"}, {"dot"}),
           {});
  const Values x = random_values({2, 4}, 1), y = random_values({2, 5, 4}, 2);
  EXPECT_TRUE(same(run_graph(read_keras_h5(path), {x, y}).front(), tabulate({2, 5}, [&](const Shape& i) {
                     double sum = 0, a = 0, b = 0;
                     for (std::int64_t k = 0; k < 4; ++k) {
                       const double left = at(x, {i[0], k}), right = at(y, {i[0], i[1], k});
                       sum += left * right, a += left * left, b += right * right;
                     }
                     return sum / std::sqrt(a * b);
                   })));
}

TEST(KerasFunctional, ASharedLayerIsCalledTwiceWithOneWeight) {
  const auto path = temporary("shared.h5");
  const Values kernel = random_values({3, 3}, 1), bias = random_values({3}, 2);
  // out = d(d(a)) - d(b); listed before its inputs, to be sorted.
  write_h5(path,
           functional_json({node_json("Subtract", "out", "", R"([[["d", 1, 0, {}], ["d", 2, 0, {}]]])"),
                            input_json("a", {3}), input_json("b", {3}),
                            node_json("Dense", "d", R"("units": 3)",
                                      R"([[["a", 0, 0, {}]], [["d", 0, 0, {}]], [["b", 0, 0, {}]]])")},
                           {"a", "b"}, {"out"}),
           {{"d", {{"d/kernel:0", kernel}, {"d/bias:0", bias}}}});
  const Graph graph = read_keras_h5(path);
  const Values a = random_values({2, 3}, 3), b = random_values({2, 3}, 4);
  const Values twice = plain_dense(plain_dense(a, kernel, bias), kernel, bias),
               once = plain_dense(b, kernel, bias);
  EXPECT_TRUE(same(run_graph(graph, {a, b}).front(),
                   tabulate({2, 3}, [&](const Shape& i) { return double{at(twice, i)} - at(once, i); })));
  EXPECT_EQ(graph.parameter_count(), 12);
  EXPECT_TRUE(graph.find_node("d") && graph.find_node("d@2") && graph.find_node("d@3"));
}

TEST(KerasFunctional, NestedModelsWithTheirWeightsInOneGroup) {
  for (const int first_call : {0, 1}) {  // Keras numbers a nested model's calls from either
    const auto path = temporary("nested.h5");
    const Values k1 = random_values({4, 3}, 1), b1 = random_values({3}, 2), k2 = random_values({3, 2}, 3),
                 b2 = random_values({2}, 4);
    const std::string encoder = functional_json(
        {input_json("code_in", {4}), node_json("Dense", "hidden", R"("units": 3, "activation": "tanh")",
                                               "[" + call_json({"code_in"}) + "]")},
        {"code_in"}, {"hidden"}, "encoder");
    const std::string nested =
        encoder.substr(0, encoder.size() - 1) +
        R"(, "name": "encoder", "inbound_nodes": [[["x", 0, 0, {}]], [["y", 0, 0, {}]]]})";
    const std::string calls =
        fmt::format(R"([[["encoder", {}, 0, {{}}], ["encoder", {}, 0, {{}}]]])", first_call, first_call + 1);
    write_h5(path,
             functional_json(
                 {input_json("x", {4}), input_json("y", {4}), nested, node_json("Add", "sum", "", calls),
                  node_json("Dense", "out", R"("units": 2)", "[" + call_json({"sum"}) + "]")},
                 {"x", "y"}, {"out"}),
             {{"encoder", {{"hidden/kernel:0", k1}, {"hidden/bias:0", b1}}},
              {"out", {{"out/kernel:0", k2}, {"out/bias:0", b2}}}});
    const Graph graph = read_keras_h5(path);
    const Values x = random_values({2, 4}, 5), y = random_values({2, 4}, 6);
    const auto encode = [&](const Values& v) {
      return map(plain_dense(v, k1, b1), [](double t) { return std::tanh(t); });
    };
    const Values a = encode(x), b = encode(y);
    const Values sum = tabulate({2, 3}, [&](const Shape& i) { return double{at(a, i)} + at(b, i); });
    EXPECT_TRUE(same(run_graph(graph, {x, y}).front(), plain_dense(sum, k2, b2))) << first_call;
    EXPECT_TRUE(graph.find_node("encoder/hidden") && graph.find_node("encoder@2/hidden"));
  }
}

TEST(KerasFunctional, SequentialInsideSequential) {
  const auto path = temporary("nested.h5");
  const Values kernel = random_values({3, 3, 2, 4}, 1), bias = random_values({4}, 2),
               dense = random_values({4, 2}, 3);
  const std::string inner =
      fmt::format(R"({{"class_name": "Sequential", "config": {{"name": "features", "layers": [{}, {}]}}}})",
                  layer_json("Conv2D", "conv",
                             R"("filters": 4, "kernel_size": [3, 3], "batch_input_shape": [null, 5, 6, 2])"),
                  layer_json("GlobalMaxPooling2D", "pool"));
  write_h5(
      path, sequential_json({inner, layer_json("Dense", "out", R"("units": 2, "use_bias": false)")}),
      {{"features", {{"conv/kernel:0", kernel}, {"conv/bias:0", bias}}}, {"out", {{"out/kernel:0", dense}}}});
  const Values x = random_values({2, 5, 6, 2}, 4);
  const Values conv = plain_conv(x, kernel, bias, {{3, 3}, {1, 1}, {1, 1}, "valid"});
  Values pooled = plain_pool(conv, {{3, 4}, {1, 1}, {1, 1}, "valid"}, largest);
  pooled.shape = {2, 4};
  EXPECT_TRUE(same(run_graph(read_keras_h5(path), {x}).front(), plain_dense(pooled, dense, {})));
}

TEST(KerasFunctional, SeveralOutputs) {
  const auto path = temporary("outputs.h5");
  write_h5(
      path,
      functional_json({input_json("x", {3}),
                       node_json("Activation", "r", R"("activation": "relu")", "[" + call_json({"x"}) + "]"),
                       node_json("Activation", "t", R"("activation": "tanh")", "[" + call_json({"x"}) + "]")},
                      {"x"}, {"t", "r"}),
      {});
  const Values x = random_values({2, 3}, 3);
  const auto outputs = run_graph(read_keras_h5(path), {x});
  ASSERT_EQ(outputs.size(), 2U);
  EXPECT_TRUE(same(outputs[0], map(x, [](double v) { return std::tanh(v); })));
  EXPECT_TRUE(same(outputs[1], map(x, [](double v) { return std::max(v, 0.0); })));
}

TEST(KerasChannelsFirst, ModelsKeepTheirLayout) {
  // Keras flattens position by position even when channels come first.
  const auto path = temporary("first.h5");
  const Values kernel = random_values({2, 2, 2, 3}, 1), bias = random_values({3}, 2),
               dense = random_values({36, 2}, 3);
  write_h5(
      path,
      sequential_json({layer_json("Conv2D", "conv",
                                  R"("filters": 3, "kernel_size": [2, 2], "data_format": "channels_first",
                                        "batch_input_shape": [null, 2, 5, 4])"),
                       layer_json("Flatten", "flat", R"("data_format": "channels_first")"),
                       layer_json("Dense", "out", R"("units": 2, "use_bias": false)")}),
      {{"conv", {{"conv/kernel:0", kernel}, {"conv/bias:0", bias}}}, {"out", {{"out/kernel:0", dense}}}});
  const Values x = random_values({2, 5, 4, 2}, 4);  // in channels-last for the second writing
  const Values first = tabulate({2, 2, 5, 4}, [&](const Shape& i) {
    return at(x, {i[0], i[2], i[3], i[1]});
  });
  Values flat = plain_conv(x, kernel, bias, {{2, 2}, {1, 1}, {1, 1}, "valid"});
  flat.shape = {2, 36};
  EXPECT_TRUE(same(run_graph(read_keras_h5(path), {first}, true).front(), plain_dense(flat, dense, {})));
}

TEST(Keras3, ArchiveWithTensorsInsideItsCalls) {
  const auto tensor = [](const std::string& layer) {
    return fmt::format(
        R"({{"class_name": "__keras_tensor__", "config": {{"shape": [null, 3], "dtype": "float32", "keras_history": ["{}", 0, 0]}}}})",
        layer);
  };
  const auto node = [](const std::string& arguments) {
    return R"([{"args": [)" + arguments + R"(], "kwargs": {"mask": null}}])";
  };
  const std::string config = functional_json(
      {R"({"module": "keras.layers", "class_name": "InputLayer", "registered_name": null, "name": "x", "inbound_nodes": [],
           "config": {"batch_shape": [null, 3], "dtype": "float32", "sparse": false, "name": "x"}})",
       node_json("Dense", "first", R"("units": 3, "activation": "relu")", node(tensor("x"))),
       node_json(
           "Dense", "second",
           R"("units": 3, "activation": {"module": "keras.activations", "class_name": "function", "config": "tanh"})",
           node(tensor("first"))),
       node_json("Add", "sum", "", node("[" + tensor("first") + ", " + tensor("second") + "]"))},
      {"x"}, {"sum"});
  const Values k1 = random_values({3, 3}, 1), b1 = random_values({3}, 2), k2 = random_values({3, 3}, 3),
               b2 = random_values({3}, 4);
  const auto path = temporary("model.keras");
  write_keras(path, config,
              {{"layers/dense/vars/0", k1},
               {"layers/dense/vars/1", b1},
               {"layers/dense_1/vars/0", k2},
               {"layers/dense_1/vars/1", b2}});
  const Values x = random_values({2, 3}, 5);
  const Values a = map(plain_dense(x, k1, b1), [](double v) { return std::max(v, 0.0); });
  const Values b = map(plain_dense(a, k2, b2), [](double v) { return std::tanh(v); });
  EXPECT_TRUE(same(run_graph(read_keras_zip(path), {x}).front(),
                   tabulate({2, 3}, [&](const Shape& i) { return double{at(a, i)} + at(b, i); })));
}

TEST(Keras3, ArchivesWrittenUnderWindows) {
  // TensorFlow 2.13 joined the names of groups with backslashes.
  const std::string inner = sequential_json(
      {layer_json("Dense", "hidden", R"("units": 3, "activation": "relu", "batch_input_shape": [null, 4])")});
  const std::string nested = inner.substr(0, inner.size() - 1) + R"(, "name": "model"})";
  const auto path = temporary("windows.keras");
  const Values k1 = random_values({4, 3}, 1), b1 = random_values({3}, 2), k2 = random_values({3, 2}, 3),
               b2 = random_values({2}, 4);
  write_keras(path, sequential_json({nested, layer_json("Dense", "out", R"("units": 2)")}),
              {{R"(_layer_checkpoint_dependencies\sequential\layers\dense/vars/0)", k1},
               {R"(_layer_checkpoint_dependencies\sequential\layers\dense/vars/1)", b1},
               {R"(_layer_checkpoint_dependencies\dense/vars/0)", k2},
               {R"(_layer_checkpoint_dependencies\dense/vars/1)", b2}},
              "2.13.1");
  const Values x = random_values({2, 4}, 5);
  const Values hidden = map(plain_dense(x, k1, b1), [](double v) { return std::max(v, 0.0); });
  EXPECT_TRUE(same(run_graph(read_keras_zip(path), {x}).front(), plain_dense(hidden, k2, b2)));
}

TEST(Keras1, OldNamesAreUnderstood) {
  const auto path = temporary("old.h5");
  const Values kernel = random_values({3, 2, 1, 4}, 1), bias = random_values({4}, 2),
               dense = random_values({32, 2}, 3), b = random_values({2}, 4);
  const std::string config =
      "{\"class_name\": \"Sequential\", \"config\": [" +
      layer_json("Convolution2D", "conv",
                 R"("nb_filter": 4, "nb_row": 3, "nb_col": 2, "subsample": [1, 1], "border_mode": "same",
                 "dim_ordering": "tf", "bias": true, "activation": "relu", "batch_input_shape": [null, 4, 5, 1])") +
      ", " +
      layer_json("MaxPooling2D", "pool",
                 R"("pool_size": [2, 2], "strides": [2, 2], "border_mode": "valid", "dim_ordering": "tf")") +
      ", " + layer_json("Dropout", "drop", R"("p": 0.5)") + ", " + layer_json("Flatten", "flat") + ", " +
      layer_json("Dense", "out", R"("output_dim": 2, "activation": "linear")") + "]}";
  const Values small = random_values({16, 2}, 3);
  write_h5(
      path, config,
      {{"conv", {{"conv_W:0", kernel}, {"conv_b:0", bias}}}, {"out", {{"out_W:0", small}, {"out_b:0", b}}}},
      "1.2.2");
  const Values x = random_values({2, 4, 5, 1}, 5);
  const Values conv = map(plain_conv(x, kernel, bias, {{3, 2}, {1, 1}, {1, 1}, "same"}),
                          [](double v) { return std::max(v, 0.0); });
  Values pooled = plain_pool(conv, {{2, 2}, {2, 2}, {1, 1}, "valid"}, largest);
  pooled.shape = {2, 16};
  EXPECT_TRUE(same(run_graph(read_keras_h5(path), {x}).front(), plain_dense(pooled, small, b)));
}

// [rows, columns, stack, filters] as Keras 1 stored it with dim_ordering "th".
Values filters_first(const Values& kernel) {
  const Shape& s = kernel.shape;
  return tabulate({s[3], s[2], s[0], s[1]}, [&](const Shape& i) {
    return at(kernel, {i[2], i[3], i[1], i[0]});
  });
}

TEST(Keras1, KernelsHaveTheFiltersInFrontWhereChannelsComeFirst) {
  // All sizes are 3: the shape does not tell the order.
  const auto path = temporary("th.h5");
  const Values kernel = random_values({3, 3, 3, 3}, 1), bias = random_values({3}, 2);
  const std::string config =
      "{\"class_name\": \"Sequential\", \"config\": [" +
      layer_json("Convolution2D", "conv",
                 R"("nb_filter": 3, "nb_row": 3, "nb_col": 3, "border_mode": "valid", "dim_ordering": "th",
                 "bias": true, "activation": "linear", "batch_input_shape": [null, 3, 5, 4])") +
      "]}";
  const Values x = random_values({2, 5, 4, 3}, 4);  // in channels-last for the second writing
  const auto first = [](const Values& v) {
    return tabulate({v.shape[0], v.shape[3], v.shape[1], v.shape[2]}, [&](const Shape& i) {
      return at(v, {i[0], i[2], i[3], i[1]});
    });
  };
  const Values expected = first(plain_conv(x, kernel, bias, {{3, 3}, {1, 1}, {1, 1}, "valid"}));
  for (const char* version : {"1.2.2", ""}) {  // the first ones recorded none
    write_h5(path, config, {{"conv", {{"conv_W:0", filters_first(kernel)}, {"conv_b:0", bias}}}}, version);
    EXPECT_TRUE(same(run_graph(read_keras_h5(path), {first(x)}, true).front(), expected)) << version;
  }
}

TEST(Keras1, ConvolutionsOfOneDimensionHaveAnAxisMore) {
  const auto path = temporary("conv1d.h5");
  const Values kernel = random_values({3, 2, 4}, 1), bias = random_values({4}, 2);
  const std::string config =
      "{\"class_name\": \"Sequential\", \"config\": [" +
      layer_json("Convolution1D", "conv", R"("nb_filter": 4, "filter_length": 3, "border_mode": "valid",
                 "subsample_length": 1, "bias": true, "activation": "linear", "batch_input_shape": [null, 6, 2])") +
      "]}";
  const Values x = random_values({2, 6, 2}, 4);
  const Values expected = plain_conv(x, kernel, bias, {{3}, {1}, {1}, "valid"});
  const Values turned = tabulate({4, 2, 3, 1}, [&](const Shape& i) {
    return at(kernel, {i[2], i[1], i[0]});
  });
  for (const Values& stored : {Values{{3, 1, 2, 4}, kernel.data}, turned}) {
    write_h5(path, config, {{"conv", {{"conv_W:0", stored}, {"conv_b:0", bias}}}}, "1.2.2");
    EXPECT_TRUE(same(run_graph(read_keras_h5(path), {x}).front(), expected)) << to_string(stored.shape);
  }
}

}  // namespace
}  // namespace assay::testing
