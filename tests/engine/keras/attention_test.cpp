#include <gtest/gtest.h>

#include <cmath>

#include <assay/error.h>
#include "assay/model/keras/read.h"
#include "network.h"

namespace assay::testing {
namespace {

// softmax(score) over the last axis, then the values taken with it; no score is taken where `unseen`.
Values taken(const Values& value, std::int64_t rows, const std::function<double(const Shape&)>& score,
             bool causal) {
  const std::int64_t steps = value.shape[1];
  return tabulate({value.shape[0], rows, value.shape[2]}, [&](const Shape& i) {
    double sum = 0, total = 0;
    for (std::int64_t s = 0; s < steps; ++s) {
      if (causal && s > i[1]) continue;
      const double weight = std::exp(score({i[0], i[1], s}));
      total += weight;
      sum += weight * at(value, {i[0], s, i[2]});
    }
    return sum / total;
  });
}

double dot(const Values& a, const Values& b, const Shape& i) {
  double sum = 0;
  for (std::int64_t f = 0; f < a.shape[2]; ++f)
    sum += double{at(a, {i[0], i[1], f})} * at(b, {i[0], i[2], f});
  return sum;
}

// x [n, steps, features] with the kernel [features, heads, width] of one head.
Values head(const Values& x, const Values& kernel, const Values& bias, std::int64_t h) {
  return tabulate({x.shape[0], x.shape[1], kernel.shape[2]}, [&](const Shape& i) {
    double sum = bias.data.empty() ? 0 : at(bias, {h, i[2]});
    for (std::int64_t f = 0; f < x.shape[2]; ++f)
      sum += double{at(x, {i[0], i[1], f})} * at(kernel, {f, h, i[2]});
    return sum;
  });
}

// Weights in Keras's order: kernel and bias of query, key, value and output.
Values plain_heads(const Values& q, const Values& k, const Values& v, const std::vector<Values>& w,
                   bool causal) {
  const bool biased = w.size() == 8;
  const auto kernel = [&](std::size_t i) { return w[biased ? 2 * i : i]; };
  const auto bias = [&](std::size_t i) { return biased ? w[2 * i + 1] : Values{}; };
  const Values out = kernel(3);
  std::vector<Values> heads;
  for (std::int64_t h = 0; h < out.shape[0]; ++h) {
    const Values query = head(q, kernel(0), bias(0), h), key = head(k, kernel(1), bias(1), h);
    const double scale = 1 / std::sqrt(static_cast<double>(query.shape[2]));
    heads.push_back(taken(
        head(v, kernel(2), bias(2), h), q.shape[1],
        [&](const Shape& i) { return scale * dot(query, key, i); }, causal));
  }
  return tabulate({q.shape[0], q.shape[1], out.shape[2]}, [&](const Shape& i) {
    double sum = biased ? at(bias(3), {i[2]}) : 0;
    for (std::int64_t h = 0; h < out.shape[0]; ++h) {
      for (std::int64_t d = 0; d < out.shape[1]; ++d)
        sum += double{at(heads[static_cast<std::size_t>(h)], {i[0], i[1], d})} * at(out, {h, d, i[2]});
    }
    return sum;
  });
}

const std::vector<std::string> parts{"query", "key", "value", "attention_output"};

// Kernels and biases of a layer with 2 heads of 3 (values of 4) that gives 6 features.
std::vector<Values> drawn(std::int64_t query, std::int64_t value, bool biased) {
  const std::vector<std::pair<Shape, Shape>> shapes{
      {{query, 2, 3}, {2, 3}}, {{value, 2, 3}, {2, 3}}, {{value, 2, 4}, {2, 4}}, {{2, 4, 6}, {6}}};
  std::vector<Values> result;
  for (const auto& [kernel, bias] : shapes) {
    result.push_back(random_values(kernel, result.size() + 1));
    if (biased) result.push_back(random_values(bias, result.size() + 1));
  }
  return result;
}

LayerValues named(const std::vector<Values>& weights) {
  LayerValues result{"mha", {}};
  const bool biased = weights.size() == 8;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const std::string& part = parts[biased ? i / 2 : i];
    result.weights.emplace_back("mha/" + part + (biased && i % 2 == 1 ? "/bias:0" : "/kernel:0"), weights[i]);
  }
  return result;
}

TEST(KerasAttention, HeadsAttendToTheirOwnSequenceAndToOthers) {
  const auto path = temporary("heads.h5");
  const Values x = random_values({2, 5, 6}, 50), y = random_values({2, 4, 3}, 51);
  for (const bool biased : {true, false}) {
    for (const bool self : {true, false}) {
      const std::string config =
          std::string(R"("num_heads": 2, "key_dim": 3, "value_dim": 4, "output_shape": null, )") +
          R"("attention_axes": null, "use_bias": )" + (biased ? "true" : "false");
      const std::string call = self ? R"([[["x", 0, 0, {"value": ["x", 0, 0], "use_causal_mask": true}]]])"
                                    : R"([[["x", 0, 0, {"value": ["y", 0, 0]}]]])";
      const auto w = drawn(6, self ? 6 : 3, biased);
      std::vector<std::string> layers{input_json("x", {5, 6})}, inputs{"x"};
      if (!self) layers.push_back(input_json("y", {4, 3})), inputs.push_back("y");
      layers.push_back(node_json("MultiHeadAttention", "mha", config, call));
      write_h5(path, functional_json(layers, inputs, {"mha"}), {named(w)});
      const Graph graph = read_keras_h5(path);
      std::int64_t parameters = 0;
      for (const Values& one : w) parameters += element_count(one.shape);
      EXPECT_EQ(graph.parameter_count(), parameters);
      const Values& other = self ? x : y;
      EXPECT_TRUE(same(run_graph(graph, self ? std::vector{x} : std::vector{x, y}).front(),
                       plain_heads(x, other, other, w, self)))
          << biased << self;
    }
  }
}

TEST(KerasAttention, HeadsInAnArchiveOfKeras3) {
  const auto tensor = [](const std::string& layer) {
    return R"({"class_name": "__keras_tensor__", "config": {"shape": [null, 4, 6], "dtype": "float32", "keras_history": [")" +
           layer + R"(", 0, 0]}})";
  };
  for (const char* prefix : {"", "_"}) {
    for (const bool by_name : {true, false}) {
      const auto path = temporary("heads.keras");
      const std::string call =
          by_name ? R"([{"args": [], "kwargs": {"key": )" + tensor("k") + R"(, "query": )" + tensor("q") +
                        R"(, "value": )" + tensor("v") + R"(, "attention_mask": null}}])"
                  : R"([{"args": [)" + tensor("q") + ", " + tensor("v") + ", " + tensor("k") +
                        R"(], "kwargs": {"return_attention_scores": false}}])";
      const auto w = drawn(6, 6, true);
      std::map<std::string, Values> files;
      const char* groups[] = {"query_dense", "key_dense", "value_dense", "output_dense"};
      for (std::size_t i = 0; i < 8; ++i)
        files[std::string("layers/multi_head_attention/") + prefix + groups[i / 2] + "/vars/" +
              std::to_string(i % 2)] = w[i];
      write_keras(path,
                  functional_json({input_json("q", {4, 6}), input_json("v", {5, 6}), input_json("k", {5, 6}),
                                   node_json("MultiHeadAttention", "mha",
                                             R"("num_heads": 2, "key_dim": 3, "value_dim": 4)", call)},
                                  {"q", "v", "k"}, {"mha"}),
                  files);
      const Values q = random_values({2, 4, 6}, 1), v = random_values({2, 5, 6}, 2),
                   k = random_values({2, 5, 6}, 3);
      EXPECT_TRUE(same(run_graph(read_keras_zip(path), {q, v, k}).front(), plain_heads(q, k, v, w, false)));
    }
  }
}

TEST(KerasAttention, WithoutHeads) {
  const auto path = temporary("attention.h5");
  const Values q = random_values({2, 4, 3}, 1), v = random_values({2, 5, 3}, 2);
  for (const std::string kind : {"Attention", "AdditiveAttention"}) {
    for (const bool scaled : {true, false}) {
      const bool additive = kind == "AdditiveAttention";
      const Values scale = additive ? random_values({3}, 7) : numbers({}, {0.7F});
      LayerValues weights{"a", {}};
      if (scaled) weights.weights.emplace_back("a/scale:0", scale);
      write_h5(
          path,
          functional_json({input_json("q", {4, 3}), input_json("v", {5, 3}),
                           node_json(kind, "a", std::string(R"("use_scale": )") + (scaled ? "true" : "false"),
                                     "[" + call_json({"q", "v"}) + "]")},
                          {"q", "v"}, {"a"}),
          {weights});
      const auto score = [&](const Shape& i) {
        if (!additive) return (scaled ? double{scale.data[0]} : 1.0) * dot(q, v, i);
        double sum = 0;
        for (std::int64_t f = 0; f < 3; ++f) {
          sum += (scaled ? double{scale.data[static_cast<std::size_t>(f)]} : 1.0) *
                 std::tanh(double{at(q, {i[0], i[1], f})} + at(v, {i[0], i[2], f}));
        }
        return sum;
      };
      EXPECT_TRUE(same(run_graph(read_keras_h5(path), {q, v}).front(), taken(v, 4, score, false)))
          << kind << scaled;
    }
  }
}

TEST(KerasAttention, WhatItCannotDoIsRefused) {
  const auto path = temporary("refused.h5");
  const auto fault = [&](const std::string& arguments, const std::string& more) -> std::string {
    write_h5(path,
             functional_json({input_json("x", {5, 6}),
                              node_json("MultiHeadAttention", "mha", R"("num_heads": 2, "key_dim": 3)" + more,
                                        R"([[["x", 0, 0, {"value": ["x", 0, 0])" + arguments + "}]]]")},
                             {"x"}, {"mha"}),
             {});
    try {
      read_keras_h5(path);
      return "";
    } catch (const Error& error) {
      EXPECT_EQ(error.fault(), Fault::unsupported);
      return error.what();
    }
  };
  EXPECT_NE(fault("", R"(, "attention_axes": [1, 2])").find("attention_axes"), std::string::npos);
}

// A block of a transformer over words of which those that are 0 do not count, for queries and values.
TEST(KerasAttention, TakesTheMaskOfWords) {
  const auto path = temporary("masked.h5");
  const Values words = numbers({3, 4}, {1, 2, 0, 0, 3, 0, 2, 1, 0, 0, 0, 3}),
               table = random_values({4, 6}, 70);
  const auto w = drawn(6, 6, true);
  const auto write = [&](const std::string& more, const std::string& version) {
    write_h5(path,
             functional_json(
                 {input_json("words", {4}, R"("dtype": "int64")"),
                  node_json("Embedding", "table", R"("input_dim": 4, "output_dim": 6, "mask_zero": true)",
                            "[" + call_json({"words"}) + "]"),
                  node_json("MultiHeadAttention", "mha", R"("num_heads": 2, "key_dim": 3, "value_dim": 4)",
                            R"([[["table", 0, 0, {"value": ["table", 0, 0])" + more + "}]]]"),
                  node_json("GlobalAveragePooling1D", "mean", "", "[" + call_json({"mha"}) + "]")},
                 {"words"}, {"mean"}),
             {{"table", {{"table/embeddings:0", table}}}, named(w)}, version);
    return read_keras_h5(path);
  };
  // Of a record its words that count alone give the same at their places, without a causal mask.
  const Values found = run_graph(write("", "2.11.0"), {words}).front();
  for (std::int64_t n = 0; n < 3; ++n) {
    Values counted{{1, 0, 6}, {}};
    for (std::int64_t t = 0; t < 4; ++t) {
      const auto word = static_cast<std::int64_t>(at(words, {n, t}));
      if (word == 0) continue;
      ++counted.shape[1];
      for (std::int64_t f = 0; f < 6; ++f) counted.data.push_back(at(table, {word, f}));
    }
    const Values heads = plain_heads(counted, counted, counted, w, false);
    for (std::int64_t f = 0; f < found.shape[1]; ++f) {
      double sum = 0;
      for (std::int64_t t = 0; t < counted.shape[1]; ++t) sum += at(heads, {0, t, f});
      EXPECT_NEAR(at(found, {n, f}), sum / static_cast<double>(counted.shape[1]), 1e-5) << n << f;
    }
  }
  EXPECT_THROW(write("", "2.9.0"), Error);  // whose attention took no masks
}

TEST(KerasAttention, OfPairsThatACallNamesWithItsWeights) {
  const auto path = temporary("pairs.h5");
  const auto w = drawn(6, 6, true);
  write_h5(
      path,
      functional_json(
          {input_json("x", {4, 6}), input_json("pairs", {4, 4}),
           node_json(
               "MultiHeadAttention", "mha", R"("num_heads": 2, "key_dim": 3, "value_dim": 4)",
               R"([[["x", 0, 0, {"value": ["x", 0, 0], "attention_mask": ["pairs", 0, 0], "return_attention_scores": true}]]])"),
           node_json("Flatten", "weights", "", R"([[["mha", 0, 1, {}]]])")},
          {"x", "pairs"}, {"mha", "weights"}),
      {named(w)});
  const Values x = random_values({2, 4, 6}, 71);
  const Values pairs = tabulate({2, 4, 4}, [](const Shape& i) { return i[2] <= i[1] ? 1.0 : 0.0; });
  const auto found = run_graph(read_keras_h5(path), {x, pairs});
  EXPECT_TRUE(same(found[0], plain_heads(x, x, x, w, true)));  // what a causal mask gives
  ASSERT_EQ(found[1].shape, (Shape{2, 2 * 4 * 4}));
  for (std::int64_t n = 0; n < 2; ++n) {
    for (std::int64_t row = 0; row < 8; ++row) {
      double sum = 0;
      for (std::int64_t s = 0; s < 4; ++s) {
        const double weight = at(found[1], {n, 4 * row + s});
        if (s > row % 4) {
          EXPECT_EQ(weight, 0);
        }
        sum += weight;
      }
      EXPECT_NEAR(sum, 1, 1e-6);
    }
  }
}

// Steps of the query that do not count give zeros, values that do not count are not taken.
TEST(KerasAttention, PlainAttentionTakesTheMaskOfWords) {
  Network network({4});
  const Values words = numbers({2, 4}, {1, 2, 0, 0, 3, 0, 2, 1}), table = random_values({4, 6}, 70);
  const auto path = temporary("plain.h5");
  write_h5(path,
           functional_json(
               {input_json("words", {4}, R"("dtype": "int64")"),
                node_json("Embedding", "table", R"("input_dim": 4, "output_dim": 6, "mask_zero": true)",
                          "[" + call_json({"words"}) + "]"),
                node_json("Attention", "attention", "", "[" + call_json({"table", "table"}) + "]")},
               {"words"}, {"attention"}),
           {{"table", {{"table/embeddings:0", table}}}});
  const auto row = [&](std::int64_t n, std::int64_t t, std::int64_t f) {
    return double{at(table, {static_cast<std::int64_t>(at(words, {n, t})), f})};
  };
  EXPECT_TRUE(same(run_graph(read_keras_h5(path), {words}).front(), tabulate({2, 4, 6}, [&](const Shape& i) {
                     if (at(words, {i[0], i[1]}) == 0) return 0.0;
                     double sum = 0, total = 0;
                     for (std::int64_t s = 0; s < 4; ++s) {
                       if (at(words, {i[0], s}) == 0) continue;
                       double score = 0;
                       for (std::int64_t f = 0; f < 6; ++f) score += row(i[0], i[1], f) * row(i[0], s, f);
                       total += std::exp(score);
                       sum += std::exp(score) * row(i[0], s, i[2]);
                     }
                     return sum / total;
                   })));
}

}  // namespace
}  // namespace assay::testing
