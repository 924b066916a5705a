#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include <assay/error.h>
#include "assay/model/keras/read.h"
#include "network.h"

namespace assay::testing {
namespace {

std::string tensor(const std::string& name) {
  return fmt::format(
      R"({{"class_name": "__keras_tensor__", "config": {{"shape": [null], "keras_history": ["{}", 0, 0]}}}})",
      name);
}

// One output of a node that has several.
std::string part_of(const std::string& name, int number) {
  return fmt::format(R"({{"class_name": "__keras_tensor__", "config": {{"keras_history": ["{}", 0, {}]}}}})",
                     name, number);
}

std::string list(const std::vector<std::string>& items) {
  return fmt::format("[{}]", fmt::join(items, ", "));
}

std::string input3(const std::string& name, const Shape& record) {
  return fmt::format(
      R"({{"module": "keras.layers", "class_name": "InputLayer", "name": "{0}", "inbound_nodes": [], "config": {{"name": "{0}", "dtype": "float32", "batch_shape": {1}}}}})",
      name, shape_json(record));
}

// An operation of Keras 3, called once.
std::string node3(const std::string& module, const std::string& class_name, const std::string& name,
                  const std::string& config, const std::string& args, const std::string& kwargs = "") {
  return fmt::format(
      R"({{"module": "{}", "class_name": "{}", "name": "{}", "config": {{"name": "{}"{}{}}}, "inbound_nodes": [{{"args": [{}], "kwargs": {{{}}}}}]}})",
      module, class_name, name, name, config.empty() ? "" : ", ", config, args, kwargs);
}
std::string operation3(const std::string& class_name, const std::string& name, const std::string& args,
                       const std::string& config = "") {
  return node3("keras.src.ops.numpy", class_name, name, config, args);
}
// What the network of these nodes, behind an input "x", gives for its last node.
Values run3(const std::vector<std::string>& nodes, const std::string& last, const Values& x,
            const std::map<std::string, Values>& weights = {{"layers/none/vars/0", numbers({1}, {0})}}) {
  std::vector<std::string> layers{input3("x", Shape(x.shape.begin() + 1, x.shape.end()))};
  layers.insert(layers.end(), nodes.begin(), nodes.end());
  const auto path = temporary("operations.keras");
  write_keras(path, functional_json(layers, {"x"}, {last}), weights);
  return run_graph(read_keras_zip(path), {x}).front();
}

TEST(KerasOperations, ArithmeticWithNumbersAndTensors) {
  const Values x = random_values({2, 3, 4, 2}, 1);
  const Values found =
      run3({operation3("Divide", "scaled", tensor("x") + ", 2.0"),
            operation3("Subtract", "turned", "1.0, " + tensor("scaled")),
            operation3(
                "Multiply", "by_channel",
                tensor("turned") +
                    R"(, {"class_name": "__numpy__", "config": {"value": [2.0, -3.0], "dtype": "float32"}})"),
            operation3("Add", "sum", tensor("by_channel") + ", " + tensor("x")),
            operation3("Power", "squared", tensor("sum") + ", 2"),
            operation3("Absolute", "size", tensor("squared")),
            node3("keras.src.ops.nn", "Relu6", "bounded", "", tensor("size"))},
           "bounded", x);
  EXPECT_TRUE(same(found, tabulate(x.shape, [&](const Shape& i) {
                     const double sum = (1 - at(x, i) / 2) * (i[3] == 0 ? 2 : -3) + at(x, i);
                     return std::min(sum * sum, 6.0);
                   })));
}

TEST(KerasOperations, TensorsOfOtherRanksMeetFromTheRight) {
  // A layer Add of [2, 3] and [2, 3, 3] puts the axis after the batch, as the operation must not.
  const Values x = random_values({3, 3, 3}, 1);
  const std::string mean = R"("axis": 1, "keepdims": false)";
  const Values found = run3({operation3("Mean", "mean", tensor("x"), mean),
                             operation3("Add", "sum", tensor("x") + ", " + tensor("mean"))},
                            "sum", x);
  EXPECT_TRUE(same(found, tabulate(x.shape, [&](const Shape& i) {
                     double sum = 0;  // of record i[1]: numpy lines the axes up from the right
                     for (std::int64_t k = 0; k < 3; ++k) sum += at(x, {i[1], k, i[2]});
                     return at(x, i) + sum / 3;
                   })));
}

TEST(KerasOperations, ReductionsOfPictures) {
  const Values x = random_values({2, 3, 4, 2}, 1);
  for (const bool keep : {true, false}) {
    const Values found =
        run3({operation3("Mean", "mean", tensor("x"),
                         std::string(R"("axis": [1, 2], "keepdims": )") + (keep ? "true" : "false")),
              operation3("Multiply", "again", tensor("mean") + ", 1.0")},
             "again", x);
    Values expected = plain_pool(x, {{3, 4}, {1, 1}, {1, 1}, "valid"}, mean);
    if (!keep) expected.shape = {2, 2};
    EXPECT_TRUE(same(found, expected)) << keep;
  }
}

TEST(KerasOperations, MoveAxesAndElements) {
  const Values x = random_values({2, 3, 4}, 1);
  const std::string all =
      R"({"class_name": "__slice__", "config": {"start": null, "stop": null, "step": null}})";
  const std::string some = R"({"class_name": "__slice__", "config": {"start": 3, "stop": 0, "step": -2}})";
  const Values found =
      run3({operation3("Transpose", "turned", tensor("x"), R"("axes": [0, 2, 1])"),             // [2, 4, 3]
            operation3("GetItem", "some", tensor("turned") + ", [" + all + ", " + some + "]"),  // places 3, 1
            operation3("GetItem", "last",
                       tensor("turned") + R"(, [{"class_name": "__ellipsis__", "config": {}}, -1])"),
            operation3("ExpandDims", "upright", tensor("last"), R"("axis": -1)"),  // [2, 4, 1]
            operation3("Reshape", "flat", tensor("upright"), R"("newshape": [-1, 4])"),
            operation3("Stack", "pair", list({tensor("flat"), tensor("flat")}), R"("axis": 1)"),
            operation3("Matmul", "product", tensor("some") + ", " + tensor("x")),  // [2, 2, 4]
            operation3("Concatenate", "joined", list({tensor("pair"), tensor("product")}), R"("axis": 1)")},
           "joined", x);
  EXPECT_TRUE(same(found, tabulate({2, 4, 4}, [&](const Shape& i) {
                     if (i[1] < 2) return double{at(x, {i[0], 2, i[2]})};
                     double sum = 0;
                     for (std::int64_t k = 0; k < 3; ++k)
                       sum += double{at(x, {i[0], k, i[1] == 2 ? 3 : 1})} * at(x, {i[0], k, i[2]});
                     return sum;
                   })));
}

TEST(KerasOperations, PartsProductsAndSpread) {
  const Values x = random_values({2, 3, 4}, 1);
  const auto part = [](int number) { return part_of("parts", number); };
  const Values found = run3(
      {operation3("Split", "parts", tensor("x"),
                  R"("indices_or_sections": [1, 3], "axis": -1)"),  // 1, 2 and 1
       operation3("Flip", "turned", part(1), R"("axis": 1)"),
       operation3("Einsum", "product", part(0) + ", " + tensor("turned"), R"("subscripts": "bij,bik->bk")"),
       operation3("Swapaxes", "swapped", tensor("x"), R"("axis1": 1, "axis2": -1)"),
       operation3("Std", "spread", tensor("swapped"), R"("axis": [1, 2], "keepdims": false)"),
       operation3("ExpandDims", "upright", tensor("spread"), R"("axis": 1)"),
       operation3("Log1p", "log", tensor("upright")),
       operation3("Add", "sum", tensor("product") + ", " + tensor("log"))},
      "sum", x);
  EXPECT_TRUE(same(found, tabulate({2, 2}, [&](const Shape& i) {
                     double sum = 0, mean = 0, squares = 0;
                     for (std::int64_t t = 0; t < 3; ++t) {
                       sum += double{at(x, {i[0], t, 0})} * at(x, {i[0], 2 - t, 1 + i[1]});
                       for (std::int64_t c = 0; c < 4; ++c) {
                         const double v = at(x, {i[0], t, c});
                         mean += v / 12, squares += v * v / 12;
                       }
                     }
                     return sum + std::log1p(std::sqrt(squares - mean * mean));
                   })));
}

TEST(KerasOperations, CopiesAndMargins) {
  const Values x = random_values({2, 3}, 1);
  const Values found =
      run3({operation3("Repeat", "beside", tensor("x"), R"("repeats": 2, "axis": 1)"),  // aabbcc
            operation3("Tile", "behind", tensor("x"), R"("repeats": [1, 2])"),          // abcabc
            operation3("Cumsum", "sums", tensor("behind"), R"("axis": -1)"),
            operation3("Multiply", "product", tensor("beside") + ", " + tensor("sums")),
            operation3("Pad", "wide", tensor("product"), R"("pad_width": [[0, 0], [1, 0]])"),
            operation3("OnesLike", "ones", tensor("wide")),
            operation3("Add", "sum", tensor("wide") + ", " + tensor("ones"))},
           "sum", x);
  EXPECT_TRUE(same(found, tabulate({2, 7}, [&](const Shape& i) {
                     double sum = 0;
                     for (std::int64_t k = 0; k < i[1]; ++k) sum += at(x, {i[0], k % 3});
                     return i[1] == 0 ? 1.0 : sum * at(x, {i[0], (i[1] - 1) / 2}) + 1;
                   })));
}

TEST(KerasOperations, ComparisonsChoose) {
  const Values x = random_values({2, 5}, 1);
  const Values found = run3({operation3("Greater", "high", tensor("x") + ", 0.25"),
                             operation3("Where", "chosen", tensor("high") + ", " + tensor("x") + ", 0.0"),
                             operation3("Cast", "ones", tensor("high"), R"("dtype": "float32")"),
                             operation3("Sum", "count", tensor("ones"), R"("axis": -1, "keepdims": true)"),
                             operation3("Add", "sum", tensor("chosen") + ", " + tensor("count"))},
                            "sum", x);
  EXPECT_TRUE(same(found, tabulate(x.shape, [&](const Shape& i) {
                     double count = 0;
                     for (std::int64_t k = 0; k < 5; ++k) count += at(x, {i[0], k}) > 0.25;
                     return (at(x, i) > 0.25 ? at(x, i) : 0) + count;
                   })));
}

TEST(KerasOperations, ChooseElementsByPosition) {
  const Values x = random_values({2, 3, 4}, 1);
  const Values found = run3(
      {operation3("Take", "chosen", tensor("x") + ", [[3, -3], [0, 0]]", R"("axis": 2)"),  // [2, 3, 2, 2]
       operation3("Take", "last", tensor("chosen") + ", -1", R"("axis": -1)"),             // [2, 3, 2]
       operation3("Argsort", "order", tensor("x"), R"("axis": 1)"),
       operation3("TakeAlongAxis", "rising", tensor("x") + ", " + tensor("order"), R"("axis": 1)"),
       operation3("Concatenate", "both", list({tensor("last"), tensor("rising")}), R"("axis": -1)")},
      "both", x);
  EXPECT_TRUE(same(found, tabulate({2, 3, 6}, [&](const Shape& i) {
                     if (i[2] < 2) return double{at(x, {i[0], i[1], i[2] == 0 ? 1 : 0})};
                     std::vector<double> column;
                     for (std::int64_t k = 0; k < 3; ++k) column.push_back(at(x, {i[0], k, i[2] - 2}));
                     std::sort(column.begin(), column.end());
                     return column[static_cast<std::size_t>(i[1])];
                   })));
}

TEST(KerasOperations, ChooseRowsOfATableByNumber) {
  const Values x = random_values({2, 3, 4}, 1);
  const std::string table =
      R"({"class_name": "__numpy__", "config": {"value": [[1.5, 2.5], [3.5, 4.5], [5.5, 6.5], [7.5, 8.5]], "dtype": "float32"}})";
  const Values found = run3({operation3("Argmax", "largest", tensor("x"), R"("axis": -1)"),  // [2, 3]
                             operation3("Take", "rows", table + ", " + tensor("largest"), R"("axis": 0)")},
                            "rows", x);
  EXPECT_TRUE(same(found, tabulate({2, 3, 2}, [&](const Shape& i) {
                     std::int64_t largest = 0;
                     for (std::int64_t k = 1; k < 4; ++k) {
                       if (at(x, {i[0], i[1], k}) > at(x, {i[0], i[1], largest})) largest = k;
                     }
                     return 1.5 + 2.0 * static_cast<double>(largest) + static_cast<double>(i[2]);
                   })));
}

TEST(KerasOperations, PutElementsInOrder) {
  const Values x = random_values({2, 3, 4}, 1);
  const Values found =
      run3({node3("keras.src.ops.math", "TopK", "best", R"("k": 2, "sorted": true)", tensor("x")),
            node3("keras.src.ops.core", "Cast", "places", R"("dtype": "float32")", part_of("best", 1)),
            operation3("Sort", "sorted", tensor("x"), R"("axis": -1)"),
            operation3("Concatenate", "all", list({part_of("best", 0), tensor("places"), tensor("sorted")}),
                       R"("axis": -1)")},
           "all", x);
  EXPECT_TRUE(same(found, tabulate({2, 3, 8}, [&](const Shape& i) {
                     std::vector<std::pair<double, std::int64_t>> row;
                     for (std::int64_t k = 0; k < 4; ++k) row.emplace_back(at(x, {i[0], i[1], k}), k);
                     std::sort(row.begin(), row.end());
                     if (i[2] < 2) return row[static_cast<std::size_t>(3 - i[2])].first;
                     if (i[2] < 4) return static_cast<double>(row[static_cast<std::size_t>(5 - i[2])].second);
                     return row[static_cast<std::size_t>(i[2] - 4)].first;
                   })));
}

TEST(KerasOperations, MoveWhatStandsAlongAxes) {
  const Values x = random_values({2, 3, 4}, 1);
  const Values found = run3(
      {operation3("Roll", "rolled", tensor("x"), R"("shift": [4, -1], "axis": [1, 2])"),
       operation3("Moveaxis", "moved", tensor("rolled"), R"("source": 2, "destination": 1)"),  // [2, 4, 3]
       operation3("Repeat", "twice", tensor("moved"), R"("repeats": 2, "axis": 1)"),           // [2, 8, 3]
       operation3("Repeat", "some", tensor("twice"), R"("repeats": [0, 2, 1], "axis": -1)"),
       node3("keras.src.ops.core", "Unstack", "row", R"("num": 8, "axis": 1)", tensor("some")),
       operation3("Stack", "three", list({part_of("row", 0), part_of("row", 1), part_of("row", 7)}),
                  R"("axis": 1)")},
      "three", x);
  EXPECT_TRUE(same(found, tabulate({2, 3, 3}, [&](const Shape& i) {
                     const std::int64_t row = i[1] < 2 ? 0 : 3, column = i[2] < 2 ? 1 : 2;
                     return double{at(x, {i[0], (column + 2) % 3, (row + 1) % 4})};
                   })));
}

TEST(KerasOperations, LengthsAndBroadcasts) {
  const Values x = random_values({2, 3, 4}, 1);
  const auto norm = [](const std::string& name, const std::string& config) {
    return node3("keras.src.ops.linalg", "Norm", name, config, tensor("x"));
  };
  const Values found = run3(
      {norm("length", R"("ord": 2, "axis": -1, "keepdims": true)"),  // [2, 3, 1]
       norm("sum", R"("ord": 1, "axis": 2, "keepdims": true)"),
       norm("matrix", R"("ord": null, "axis": [1, 2], "keepdims": true)"),  // [2, 1, 1]
       node3("keras.src.ops.math", "Logsumexp", "soft", R"("axis": [2], "keepdims": true)", tensor("x")),
       operation3("BroadcastTo", "wide", tensor("matrix"), R"("shape": [null, 3, 1])"),
       operation3("Concatenate", "all",
                  list({tensor("length"), tensor("sum"), tensor("wide"), tensor("soft")}), R"("axis": -1)")},
      "all", x);
  EXPECT_TRUE(
      same(found, tabulate({2, 3, 4}, [&](const Shape& i) {
             double squares = 0, sum = 0, all = 0, exponentials = 0;
             for (std::int64_t k = 0; k < 4; ++k) {
               const double v = at(x, {i[0], i[1], k});
               squares += v * v, sum += std::abs(v), exponentials += std::exp(v);
               for (std::int64_t row = 0; row < 3; ++row) all += std::pow(at(x, {i[0], row, k}), 2);
             }
             const double expected[] = {std::sqrt(squares), sum, std::sqrt(all), std::log(exponentials)};
             return expected[i[2]];
           })));
}

// A file may hold any numbers where Keras has axes, sizes and places.
TEST(KerasOperations, ArgumentsThatDoNotFitAreRefused) {
  const Values x = random_values({2, 3, 4}, 1);
  const std::pair<const char*, const char*> calls[] = {
      {"Take", R"(, [4] | "axis": 2)"},
      {"Take", R"(, [-5] | "axis": 2)"},
      {"Take", R"(, [0.5] | "axis": 2)"},
      {"Take", R"(, [1] | "axis": 3)"},
      {"Take", R"(, [1] | "axis": 0)"},
      {"Take", R"(, [1] | "axis": null)"},
      {"Take", R"(, {} | "axis": 1)"},
      {"TakeAlongAxis", R"(, [[[0]]] | "axis": 1)"},
      {"Sort", R"(| "axis": null)"},
      {"Argsort", R"(| "axis": [1, 2])"},
      {"TopK", R"(| "k": 5)"},
      {"TopK", R"(| "k": 0)"},
      {"TopK", R"(| "k": 9223372036854775807)"},
      {"Norm", R"(| "ord": 3, "axis": 1)"},
      {"Norm", R"(| "ord": 1, "axis": [1, 2])"},
      {"Norm", R"(| "axis": null)"},
      {"Logsumexp", R"(| "axis": [1, 1])"},
      {"Squeeze", R"(| "axis": [2, 2])"},
      {"Roll", R"(| "shift": 1, "axis": null)"},
      {"Roll", R"(| "shift": [1, 2], "axis": 1)"},
      {"Roll", R"(| "shift": [], "axis": [])"},
      {"Moveaxis", R"(| "source": [1, 1], "destination": [1, 2])"},
      {"Moveaxis", R"(| "source": [1, 2], "destination": [2, 2])"},
      {"Moveaxis", R"(| "source": 0, "destination": 1)"},
      {"BroadcastTo", R"(| "shape": [null, 3, 5])"},
      {"BroadcastTo", R"(| "shape": [2, 3, 4])"},
      {"BroadcastTo", R"(| "shape": [4])"},
      {"Tile", R"(| "repeats": [1, 9223372036854775807, 1])"},
      {"Tile", R"(| "repeats": [1, 1, 0])"},
      {"Repeat", R"(| "repeats": 0, "axis": 1)"},
      {"Repeat", R"(| "repeats": [1, 1], "axis": 1)"},
      {"Repeat", R"(| "repeats": [1, 9223372036854775807, 1], "axis": 1)"},
      {"Repeat", R"(| "repeats": 2, "axis": null)"},
      {"Reshape", R"(| "newshape": [-1, 4294967296, 4294967296])"},
      {"Split", R"(| "indices_or_sections": [-9223372036854775808, 9223372036854775807], "axis": 1)"},
      {"GetItem", R"(, [0, 9223372036854775807])"},
  };
  for (const auto& [name, text] : calls) {
    const std::string whole = text;
    const auto bar = whole.find('|');
    const std::string args = whole.substr(0, bar);
    const std::string config = bar == std::string::npos ? "" : whole.substr(bar + 1);
    try {
      run3({operation3(name, "y", tensor("x") + args, config)}, "y", x);
      ADD_FAILURE() << name << text;
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find("operation 'y'"), std::string::npos) << error.what();
    }
  }
}

TEST(KerasOperations, OfKeras2) {
  const auto path = temporary("lambda.h5");
  const Values x = random_values({2, 3, 4, 3}, 1), kernel = random_values({1, 1, 3, 2}, 2),
               bias = random_values({2}, 3);
  const auto lambda = [](const std::string& function, const std::string& inbound) {
    return node_json("TFOpLambda", "tf." + function, R"("function": ")" + function + "\"", list({inbound}));
  };
  write_h5(
      path,
      functional_json(
          {input_json("x", {3, 4, 3}),
           node_json(
               "SlicingOpLambda", "tf.__operators__.getitem", R"("function": "__operators__.getitem")",
               R"([["x", 0, 0, {"slice_spec": {"class_name": "__tuple__", "items": [{"class_name": "__ellipsis__"}, {"start": null, "stop": null, "step": -1}]}}]])"),
           lambda("nn.bias_add",
                  R"(["tf.__operators__.getitem", 0, 0, {"bias": [-0.5, 0.25, 1.0], "name": null}])"),
           lambda("math.subtract",
                  R"(["_CONSTANT_VALUE", -1, 1.0, {"y": ["tf.nn.bias_add", 0, 0], "name": null}])"),
           node_json("Conv2D", "conv", R"("filters": 2, "kernel_size": [1, 1])",
                     list({call_json({"tf.math.subtract"})})),
           lambda("__operators__.add", R"(["conv", 0, 0, {"y": 3.0, "name": null}])"),
           lambda("nn.relu6", R"(["tf.__operators__.add", 0, 0, {}])"),
           lambda("math.reduce_mean", R"(["tf.nn.relu6", 0, 0, {"axis": [1, 2], "keepdims": false}])"),
           lambda(
               "concat",
               R"([["tf.math.reduce_mean", 0, 0, {"axis": -1}], ["tf.math.reduce_mean", 0, 0, {"axis": -1}]])")},
          {"x"}, {"tf.concat"}),
      {{"conv", {{"conv/kernel:0", kernel}, {"conv/bias:0", bias}}}});
  const double shift[] = {-0.5, 0.25, 1.0};
  const Values before = tabulate(x.shape, [&](const Shape& i) {
    return 1 - (at(x, {i[0], i[1], i[2], 2 - i[3]}) + shift[i[3]]);
  });
  const Values bounded = map(plain_conv(before, kernel, bias, {{1, 1}, {1, 1}, {1, 1}, "valid"}),
                             [](double v) { return std::clamp(v + 3, 0.0, 6.0); });
  const Values means = plain_pool(bounded, {{3, 4}, {1, 1}, {1, 1}, "valid"}, mean);
  EXPECT_TRUE(same(run_graph(read_keras_h5(path), {x}).front(), tabulate({2, 4}, [&](const Shape& i) {
                     return at(means, {i[0], 0, 0, i[1] % 2});
                   })));
}

TEST(KerasOperations, GatherOfKeras2) {
  const Values x = random_values({2, 4, 3}, 1);
  const auto lambda = [](const std::string& name, const std::string& function, const std::string& inbound) {
    return node_json("TFOpLambda", name, R"("function": ")" + function + "\"", list({inbound}));
  };
  const auto path = temporary("gather.h5");
  write_h5(
      path,
      functional_json(
          {input_json("x", {4, 3}),
           lambda("order", "argsort", R"(["x", 0, 0, {"axis": 1, "direction": "DESCENDING"}])"),
           lambda("first", "compat.v1.gather", R"(["order", 0, 0, {"indices": 0, "axis": 2}])"),  // [2, 4]
           lambda("rows", "compat.v1.gather",
                  R"(["x", 0, 0, {"indices": ["first", 0, 0], "batch_dims": 1, "axis": 1}])")},
          {"x"}, {"rows"}),
      {});
  EXPECT_TRUE(same(run_graph(read_keras_h5(path), {x}).front(), tabulate({2, 4, 3}, [&](const Shape& i) {
                     std::vector<std::pair<double, std::int64_t>> rows;
                     for (std::int64_t k = 0; k < 4; ++k) rows.emplace_back(-at(x, {i[0], k, 0}), k);
                     std::sort(rows.begin(), rows.end());
                     return double{at(x, {i[0], rows[static_cast<std::size_t>(i[1])].second, i[2]})};
                   })));
}

TEST(KerasOperations, WhatCannotBeReadIsNamed) {
  const Values x = random_values({2, 3, 4}, 1);
  const auto fault = [&](const std::string& node) -> std::string {
    try {
      run3({node}, "y", x);
      return "";
    } catch (const Error& error) {
      EXPECT_EQ(error.fault(), Fault::unsupported) << error.what();
      return error.what();
    }
  };
  EXPECT_NE(fault(operation3("Fft", "y", tensor("x"))).find("operation 'y' (Fft): the operation 'fft'"),
            std::string::npos);
  EXPECT_NE(fault(operation3("Mean", "y", tensor("x"), R"("axis": 0)")).find("batch"), std::string::npos);
  EXPECT_NE(fault(operation3("Mean", "y", tensor("x"), R"("axis": null)")).find("name the axes"),
            std::string::npos);
  EXPECT_NE(fault(operation3("Reshape", "y", tensor("x"), R"("newshape": [-1, 4])")).find("mixes records"),
            std::string::npos);
  EXPECT_NE(fault(operation3("GetItem", "y",
                             tensor("x") + R"(, [{"class_name": "__ellipsis__"}, )" + tensor("x") + "]"))
                .find("neither a number nor a slice"),
            std::string::npos);
  EXPECT_NE(fault(operation3("GetItem", "y", tensor("x") + ", 0")).find("take all records"),
            std::string::npos);
}

// What stands for a tensor once a file is read may stand in the file itself.
TEST(KerasOperations, AForgedMarkOfATensorIsRefused) {
  const Values x = random_values({2, 3, 4}, 1);
  for (const std::string mark : {R"({"tensor": 9})", R"({"tensor": -1})", R"({"tensor": "x"})"}) {
    try {
      run3({operation3("Add", "y", tensor("x") + ", " + mark)}, "y", x);
      ADD_FAILURE() << mark;
    } catch (const Error& error) {
      EXPECT_EQ(error.fault(), Fault::model) << error.what();
    }
  }
}

}  // namespace
}  // namespace assay::testing
