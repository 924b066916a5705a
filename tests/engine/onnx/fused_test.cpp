// What ONNX Runtime's graph optimisations fuse, and root-mean-square normalisation, against the definitions
// written out in double precision.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include <assay/session.h>
#include "tests/engine/onnx/values.h"
#include "tests/model/onnx_build.h"

namespace assay {
namespace {

using namespace testing_onnx;
using Values = std::vector<float>;
using Row = std::vector<double>;

struct Given {
  Shape shape;
  Values values;
  int type = onnx::TensorProto::FLOAT;
};

// One node of domain com.microsoft; inputs i0, i1, ..., of which those from `constants` on are weights.
OnnxFile fused(const std::string& op, const std::vector<std::optional<Given>>& inputs, std::size_t constants,
               const std::function<void(onnx::NodeProto&)>& change = {}, const Names& outputs = {"y"},
               const std::string& domain = "com.microsoft") {
  OnnxFile file(17);
  Names names;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    names.push_back(inputs[i] ? "i" + std::to_string(i) : "");
    if (!inputs[i]) continue;
    const auto& [shape, values, type] = *inputs[i];
    if (i < constants) {
      Shape dynamic = shape;
      dynamic[0] = -1;
      file.input(names[i], dynamic, type);
      continue;
    }
    onnx::TensorProto tensor = floats(names[i], shape, type == onnx::TensorProto::FLOAT ? values : Values{});
    tensor.set_data_type(type);
    if (type != onnx::TensorProto::FLOAT) {
      for (const float value : values) {
        if (type == onnx::TensorProto::INT64) {
          tensor.add_int64_data(static_cast<std::int64_t>(value));
        } else {
          tensor.add_int32_data(static_cast<std::int32_t>(value));
        }
      }
    }
    file.weight(tensor);
  }
  auto& node = file.node(op, names, outputs, "node");
  node.set_domain(domain);
  if (change) change(node);
  file.output(outputs.back());
  return file;
}

Row run(const OnnxFile& file, const std::vector<Given>& inputs) {
  const Graph graph = file.read();
  const Session session(graph, {.threads = 1});
  Tensors given;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    Array values = Array::of<float>(inputs[i].shape, inputs[i].values);
    if (inputs[i].type != onnx::TensorProto::FLOAT) values = values.to(graph.value(graph.inputs()[i]).dtype);
    given.emplace(graph.inputs()[i], values);
  }
  const Array array =
      session.run(given, graph.outputs()).at(graph.outputs()[0]).to(DType::float32).contiguous();
  return {array.as<float>().begin(), array.as<float>().end()};
}

void expect_near(const Row& actual, const Row& expected, double tolerance = 1e-5) {
  ASSERT_EQ(actual.size(), expected.size());
  for (std::size_t i = 0; i < actual.size(); ++i) EXPECT_NEAR(actual[i], expected[i], tolerance) << i;
}

Row mapped(const Values& values, const std::function<double(double)>& each) {
  Row result;
  for (const float value : values) result.push_back(each(value));
  return result;
}

double gelu(double x) { return x / 2 * (1 + std::erf(x / std::sqrt(2.0))); }
double fast_gelu(double x) {
  return x / 2 * (1 + std::tanh(std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x)));
}

TEST(Fused, GelusOfAllKinds) {
  const Given x{{2, 3}, normal_values(6, 1)};
  const Given bias{{3}, {0.5F, -1, 2}};
  Values biased = x.values;
  for (std::size_t i = 0; i < biased.size(); ++i) biased[i] += bias.values[i % 3];
  expect_near(run(fused("Gelu", {x}, 1), {x}), mapped(x.values, gelu));
  expect_near(run(fused("BiasGelu", {x, bias}, 1), {x}), mapped(biased, gelu));
  expect_near(run(fused("FastGelu", {x}, 1), {x}), mapped(x.values, fast_gelu));
  expect_near(run(fused("FastGelu", {x, bias}, 1), {x}), mapped(biased, fast_gelu));
  const auto quick = [](double alpha) {
    return [alpha](double v) { return v / (1 + std::exp(-alpha * v)); };
  };
  expect_near(run(fused("QuickGelu", {x}, 1), {x}), mapped(x.values, quick(1.702)));
  const auto half = [](onnx::NodeProto& node) { set(node, "alpha", 0.5F); };
  expect_near(run(fused("QuickGelu", {x}, 1, half), {x}), mapped(x.values, quick(0.5)));
}

TEST(Fused, ProductsTurnScaleAndActivate) {
  const Given a{{2, 3, 2}, normal_values(12, 2)};  // turned: [2, 2, 3]
  const Given b{{4, 3}, normal_values(12, 3)};     // turned: [3, 4]
  const auto change = [](onnx::NodeProto& node) {
    set(node, "transA", std::int64_t{1});
    set(node, "transB", std::int64_t{1});
    set(node, "alpha", 0.5F);
  };
  Row expected;
  for (std::size_t n = 0; n < 2; ++n) {
    for (std::size_t i = 0; i < 2; ++i) {
      for (std::size_t j = 0; j < 4; ++j) {
        double sum = 0;
        for (std::size_t k = 0; k < 3; ++k)
          sum += static_cast<double>(a.values[n * 6 + k * 2 + i]) * b.values[j * 3 + k];
        expected.push_back(sum / 2);
      }
    }
  }
  const OnnxFile file = fused("FusedMatMul", {a, b}, 1, change);
  expect_near(run(file, {a}), expected);
  expect_near(run(fused("FusedMatMul", {a, b}, 2, change), {a, b}), expected);
  // Turned weights are weights.
  EXPECT_EQ(constant_input(file.read(), "node", 1).shape(), (Shape{3, 4}));
  const auto activated = [&](onnx::NodeProto& node) {
    change(node);
    set(node, "activation", "LeakyRelu");
    set(node, "activation_alpha", 0.25F);
  };
  for (double& value : expected) value = value < 0 ? value / 4 : value;
  expect_near(run(fused("FusedMatMulActivation", {a, b}, 1, activated), {a}), expected);
  const auto turned = [](onnx::NodeProto& node) { set(node, "transBatchA", std::int64_t{1}); };
  expect_error(Fault::unsupported, {"node", "FusedMatMul"}, [&] {
    fused("FusedMatMul", {a, b}, 1, turned).read();
  });
}

TEST(Fused, ConvolutionsAddAndActivate) {
  const Given x{{1, 1, 1, 3}, {1, -2, 3}}, weights{{1, 1, 1, 1}, {2}}, bias{{1}, {0.5F}},
      sum{{1, 1, 1, 3}, {-4, 1, 1}};
  const auto clip = [](onnx::NodeProto& node) {
    set(node, "activation", "Clip");
    set(node, "activation_params", Values{-1, 6});
  };
  // 2x + 0.5: 2.5, -3.5, 6.5
  expect_near(run(fused("FusedConv", {x, weights, bias}, 1, clip), {x}), {2.5, -1, 6});
  const auto relu = [](onnx::NodeProto& node) { set(node, "activation", "Relu"); };
  OnnxFile file = fused("FusedConv", {x, weights, bias, sum}, 1, relu);
  expect_near(run(file, {x}), {0, 0, 7.5});
  EXPECT_EQ(node_of(file.read(), "node").op, "Conv");
  const auto unknown = [](onnx::NodeProto& node) { set(node, "activation", "Sine"); };
  expect_error(Fault::unsupported, {"'Sine'"}, [&] { fused("FusedConv", {x, weights}, 1, unknown).read(); });
}

TEST(Fused, GemmsActivate) {
  const Given x{{1, 2}, {1, -1}}, weights{{2, 2}, {1, 2, 3, 5}}, shift{{2}, {0, 1}};
  const auto tanh = [](onnx::NodeProto& node) { set(node, "activation", "Tanh"); };
  expect_near(run(fused("FusedGemm", {x, weights, shift}, 1, tanh), {x}), {std::tanh(-2.0), std::tanh(-2.0)});
}

Row root_mean_square(const Values& x, const Values& scale, double epsilon) {
  Row result;
  const std::size_t width = scale.size();
  for (std::size_t r = 0; r < x.size() / width; ++r) {
    double square = 0;
    for (std::size_t i = 0; i < width; ++i)
      square += static_cast<double>(x[r * width + i]) * x[r * width + i];
    for (std::size_t i = 0; i < width; ++i)
      result.push_back(x[r * width + i] / std::sqrt(square / static_cast<double>(width) + epsilon) *
                       scale[i]);
  }
  return result;
}

TEST(Fused, RootMeanSquareNormalisations) {
  const Given x{{2, 1, 3}, normal_values(6, 4)}, skip{{2, 1, 3}, normal_values(6, 5)}, scale{{3}, {1, 2, -1}},
      bias{{3}, {0.1F, 0.2F, 0.3F}};
  const auto epsilon = [](onnx::NodeProto& node) { set(node, "epsilon", 0.25F); };
  const Row plain = root_mean_square(x.values, scale.values, 0.25);
  for (const char* domain : {"", "com.microsoft"})
    expect_near(run(fused("SimplifiedLayerNormalization", {x, scale}, 1, epsilon, {"y"}, domain), {x}),
                plain);
  OnnxFile standard = one_node(23, "RMSNormalization", {-1, 1, 3}, epsilon);
  standard.weight(floats("scale", {3}, scale.values));
  standard.proto.mutable_graph()->mutable_node(0)->add_input("scale");
  expect_near(run(standard, {x}), plain);
  Values sum = x.values;
  for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += skip.values[i] + bias.values[i % 3];
  expect_near(run(fused("SkipSimplifiedLayerNormalization", {x, skip, scale, bias}, 2, epsilon), {x, skip}),
              root_mean_square(sum, scale.values, 0.25));
  const Names outputs{"normalised", "", "", "sum"};
  expect_near(
      run(fused("SkipSimplifiedLayerNormalization", {x, skip, scale, bias}, 2, epsilon, outputs), {x, skip}),
      {sum.begin(), sum.end()});
}

Row layer_norm(const Row& x, const Values& scale, const Values& shift, double epsilon) {
  Row result;
  const std::size_t width = scale.size();
  for (std::size_t r = 0; r < x.size() / width; ++r) {
    double mean = 0, variance = 0;
    for (std::size_t i = 0; i < width; ++i) mean += x[r * width + i] / static_cast<double>(width);
    for (std::size_t i = 0; i < width; ++i)
      variance += (x[r * width + i] - mean) * (x[r * width + i] - mean) / static_cast<double>(width);
    for (std::size_t i = 0; i < width; ++i)
      result.push_back((x[r * width + i] - mean) / std::sqrt(variance + epsilon) * scale[i] + shift[i]);
  }
  return result;
}

TEST(Fused, SkipsAndEmbeddingsAreNormalised) {
  const Given x{{2, 2, 3}, normal_values(12, 6)}, skip{{2, 2, 3}, normal_values(12, 7)},
      scale{{3}, {1, 2, -1}}, shift{{3}, {0, 1, 0.5F}}, bias{{3}, {0.1F, 0.2F, 0.3F}};
  const auto epsilon = [](onnx::NodeProto& node) { set(node, "epsilon", 0.25F); };
  Row sum;
  for (std::size_t i = 0; i < 12; ++i)
    sum.push_back(static_cast<double>(x.values[i]) + skip.values[i] + bias.values[i % 3]);
  expect_near(run(fused("SkipLayerNormalization", {x, skip, scale, shift, bias}, 2, epsilon), {x, skip}),
              layer_norm(sum, scale.values, shift.values, 0.25));
  expect_near(
      run(fused("SkipLayerNormalization", {x, skip, scale, shift, bias}, 2, epsilon, {"n", "", "", "sum"}),
          {x, skip}),
      sum);

  const int whole = onnx::TensorProto::INT32;
  const Given tokens{{2, 2}, {3, 0, 1, 2}, whole}, segments{{2, 2}, {0, 1, 1, 0}, whole},
      words{{4, 3}, normal_values(12, 8)}, positions{{5, 3}, normal_values(15, 9)},
      kinds{{2, 3}, normal_values(6, 10)}, mask{{2, 2}, {1, 1, 1, 0}, whole};
  Row embedded;
  for (std::size_t n = 0; n < 2; ++n) {
    for (std::size_t p = 0; p < 2; ++p) {
      const auto token = static_cast<std::size_t>(tokens.values[n * 2 + p]),
                 kind = static_cast<std::size_t>(segments.values[n * 2 + p]);
      for (std::size_t i = 0; i < 3; ++i)
        embedded.push_back(static_cast<double>(words.values[token * 3 + i]) + positions.values[p * 3 + i] +
                           kinds.values[kind * 3 + i]);
    }
  }
  const std::vector<std::optional<Given>> inputs{tokens, segments, words, positions, kinds, scale, shift};
  expect_near(run(fused("EmbedLayerNormalization", inputs, 2, epsilon), {tokens, segments}),
              layer_norm(embedded, scale.values, shift.values, 0.25));
  auto masked = inputs;
  masked.push_back(mask);
  expect_near(run(fused("EmbedLayerNormalization", masked, 2, epsilon, {"n", "lengths"}), {tokens, segments}),
              {2, 1});
}

constexpr std::size_t heads = 2, width = 2, length = 3, hidden = heads * width;

// Of one record: queries, keys and values [length, heads * width].
Row attended(const Row& q, const Row& k, const Row& v,
             const std::function<double(std::size_t, std::size_t)>& bias, double scale = 1 / std::sqrt(2.0)) {
  Row result(length * hidden);
  for (std::size_t h = 0; h < heads; ++h) {
    for (std::size_t i = 0; i < length; ++i) {
      Row weights(length);
      double sum = 0;
      for (std::size_t j = 0; j < length; ++j) {
        double score = 0;
        for (std::size_t d = 0; d < width; ++d)
          score += q[i * hidden + h * width + d] * k[j * hidden + h * width + d];
        sum += weights[j] = std::exp(score * scale + bias(i, j));
      }
      for (std::size_t j = 0; j < length; ++j) {
        for (std::size_t d = 0; d < width; ++d)
          result[i * hidden + h * width + d] += weights[j] / sum * v[j * hidden + h * width + d];
      }
    }
  }
  return result;
}

// [length, in] times columns [from, from + hidden) of [in, 3 * hidden], and the bias.
Row projected(const Values& x, const Values& weights, const Values& bias, std::size_t in, std::size_t from) {
  Row result;
  for (std::size_t i = 0; i < length; ++i) {
    for (std::size_t j = from; j < from + hidden; ++j) {
      double sum = bias[j];
      for (std::size_t k = 0; k < in; ++k)
        sum += static_cast<double>(x[i * in + k]) * weights[k * 3 * hidden + j];
      result.push_back(sum);
    }
  }
  return result;
}

class FusedAttention : public testing::Test {
 protected:
  static constexpr std::size_t in = 5;
  const Given x{{1, length, in}, normal_values(length*in, 11)},
      weights{{in, 3 * hidden}, normal_values(in * 3 * hidden, 12)},
      bias{{3 * hidden}, normal_values(3 * hidden, 13)};
  const Row q = projected(x.values, weights.values, bias.values, in, 0),
            k = projected(x.values, weights.values, bias.values, in, hidden),
            v = projected(x.values, weights.values, bias.values, in, 2 * hidden);
  static void two_heads(onnx::NodeProto& node) { set(node, "num_heads", std::int64_t{heads}); }
};

double nothing(std::size_t, std::size_t) { return 0; }

TEST_F(FusedAttention, ProjectsMasksAndLooksBack) {
  expect_near(run(fused("Attention", {x, weights, bias}, 1, two_heads), {x}), attended(q, k, v, nothing));
  const int whole = onnx::TensorProto::INT32;
  const auto last_hidden = [](std::size_t, std::size_t j) { return j == 2 ? -10000.0 : 0; };
  for (const Given& mask : {Given{{1, length}, {1, 1, 0}, whole}, Given{{1}, {2}, whole},
                            Given{{1, 3, 3}, {1, 1, 0, 1, 1, 0, 1, 1, 0}, whole}})
    expect_near(run(fused("Attention", {x, weights, bias, mask}, 1, two_heads), {x}),
                attended(q, k, v, last_hidden));
  const auto causal = [&](onnx::NodeProto& node) {
    two_heads(node);
    set(node, "unidirectional", std::int64_t{1});
    set(node, "scale", 0.3F);
  };
  expect_near(run(fused("Attention", {x, weights, bias}, 1, causal), {x}),
              attended(
                  q, k, v, [](std::size_t i, std::size_t j) { return j > i ? -1e9 : 0; }, 0.3));
  // The bias of scores, for all heads.
  const Given scores{{1, 1, 3, 3}, normal_values(9, 14)};
  expect_near(
      run(fused("Attention", {x, weights, bias, std::nullopt, std::nullopt, scores}, 1, two_heads), {x}),
      attended(q, k, v, [&](std::size_t i, std::size_t j) { return scores.values[i * 3 + j]; }));
  // Keys, then values, [2, 1, heads, length, width].
  Row present;
  for (const Row* both : {&k, &v}) {
    for (std::size_t h = 0; h < heads; ++h) {
      for (std::size_t i = 0; i < length; ++i) {
        for (std::size_t d = 0; d < width; ++d) present.push_back((*both)[i * hidden + h * width + d]);
      }
    }
  }
  expect_near(run(fused("Attention", {x, weights, bias}, 1, two_heads, {"a", "present"}), {x}), present);
}

TEST_F(FusedAttention, OfAConstantMaskIsReadAgainAsItWas) {
  const Given mask{{1}, {2}, onnx::TensorProto::INT32};
  const Graph graph = fused("Attention", {x, weights, bias, mask}, 1, two_heads).read();
  const auto folder = fresh_folder("assay_fused_again");
  write_onnx(graph, folder / "again.onnx");
  EXPECT_EQ(read_model(folder / "again.onnx").hash(), graph.hash());
}

TEST_F(FusedAttention, WithoutZeroPointsIsReadAgainAsItWas) {
  const int byte = onnx::TensorProto::UINT8;
  const Given levels{{1, length, in}, Values(length * in, 3), byte},
      table{{in, 3 * hidden}, Values(in * 3 * hidden, 5), byte}, scale{{}, {0.01F}};
  const Graph graph = fused("QAttention", {levels, table, bias, scale, scale}, 1, two_heads).read();
  const auto folder = fresh_folder("assay_fused_zeros");
  write_onnx(graph, folder / "again.onnx");
  EXPECT_EQ(read_model(folder / "again.onnx").hash(), graph.hash());
}

TEST_F(FusedAttention, OfQuantisedWeights) {
  const int byte = onnx::TensorProto::UINT8;
  Values levels(in * 3 * hidden), whole(in * 3 * hidden);
  for (std::size_t i = 0; i < levels.size(); ++i) {
    levels[i] = static_cast<float>((i * 37) % 256);
    whole[i] = (levels[i] - 128) * 0.01F;
  }
  const Given x_levels{
      {1, length, in}, {10, 20, 30, 40, 50, 60, 70, 80, 90, 100, 110, 120, 130, 140, 150}, byte},
      table{{in, 3 * hidden}, levels, byte}, x_scale{{}, {0.02F}}, scale{{}, {0.01F}}, x_zero{{}, {80}, byte},
      zero{{}, {128}, byte};
  Values real = x_levels.values;
  for (float& value : real) value = (value - 80) * 0.02F;
  const auto part = [&](std::size_t from) { return projected(real, whole, bias.values, in, from); };
  expect_near(run(fused("QAttention", {x_levels, table, bias, x_scale, scale, std::nullopt, x_zero, zero}, 1,
                        two_heads),
                  {x_levels}),
              attended(part(0), part(hidden), part(2 * hidden), nothing), 1e-4);
}

TEST_F(FusedAttention, OfManyHeadsInAnyForm) {
  const auto flat = [](const Row& row) { return Values(row.begin(), row.end()); };
  const Given queries{{1, length, hidden}, flat(q)}, keys{{1, length, hidden}, flat(k)},
      values{{1, length, hidden}, flat(v)}, shift{{3 * hidden}, normal_values(3 * hidden, 15)};
  const Row plain = attended(q, k, v, nothing);
  expect_near(
      run(fused("MultiHeadAttention", {queries, keys, values}, 3, two_heads), {queries, keys, values}),
      plain);
  const auto shifted = [&](Row row, std::size_t from) {
    for (std::size_t i = 0; i < row.size(); ++i) row[i] += shift.values[from + i % hidden];
    return row;
  };
  const Given mask{{1, length}, {1, 0, 1}, onnx::TensorProto::INT32};
  expect_near(run(fused("MultiHeadAttention", {queries, keys, values, shift, mask}, 3, two_heads),
                  {queries, keys, values}),
              attended(shifted(q, 0), shifted(k, hidden), shifted(v, 2 * hidden),
                       [](std::size_t, std::size_t j) { return j == 1 ? -10000.0 : 0; }));
  // Packed: [1, length, heads, 3, width], and keys and values [1, length, heads, 2, width].
  Values all, both, by_head;
  for (std::size_t i = 0; i < length; ++i) {
    for (std::size_t h = 0; h < heads; ++h) {
      for (const Row* part : {&q, &k, &v}) {
        for (std::size_t d = 0; d < width; ++d) {
          const auto value = static_cast<float>((*part)[i * hidden + h * width + d]);
          all.push_back(value);
          if (part != &q) both.push_back(value);
        }
      }
    }
  }
  const Given packed{{1, length, heads, 3, width}, all}, pairs{{1, length, heads, 2, width}, both};
  expect_near(run(fused("MultiHeadAttention", {packed}, 1, two_heads), {packed}), plain);
  expect_near(run(fused("MultiHeadAttention", {queries, pairs}, 2, two_heads), {queries, pairs}), plain);
  const auto with_heads_first = [&](const Row& row) {
    Values result;
    for (std::size_t h = 0; h < heads; ++h) {
      for (std::size_t i = 0; i < length; ++i) {
        for (std::size_t d = 0; d < width; ++d)
          result.push_back(static_cast<float>(row[i * hidden + h * width + d]));
      }
    }
    return Given{{1, heads, length, width}, result};
  };
  const Given old_keys = with_heads_first(k), old_values = with_heads_first(v);
  expect_near(run(fused("MultiHeadAttention", {queries, old_keys, old_values}, 3, two_heads),
                  {queries, old_keys, old_values}),
              plain);
}

TEST(Fused, RotatesByPositionsOrFromAFirstOne) {
  const Given x{{1, 2, 4}, normal_values(8, 16)};  // 2 positions, 2 heads of 2 features
  const Values angles{0.1F, 0.7F, -0.4F};
  Given cosines{{3, 1}, {}}, sines{{3, 1}, {}};
  for (const float angle : angles)
    cosines.values.push_back(std::cos(angle)), sines.values.push_back(std::sin(angle));
  const auto expected = [&](const std::vector<std::size_t>& at) {
    Row row;
    for (std::size_t p = 0; p < 2; ++p) {
      for (std::size_t h = 0; h < 2; ++h) {
        const double a = x.values[p * 4 + h * 2], b = x.values[p * 4 + h * 2 + 1], c = cosines.values[at[p]],
                     s = sines.values[at[p]];
        row.insert(row.end(), {a * c - b * s, a * s + b * c});
      }
    }
    return row;
  };
  const int whole = onnx::TensorProto::INT64;
  const Given each{{1, 2}, {2, 0}, whole}, first{{1}, {1}, whole};
  expect_near(run(fused("RotaryEmbedding", {x, each, cosines, sines}, 1), {x}), expected({2, 0}));
  expect_near(run(fused("RotaryEmbedding", {x, first, cosines, sines}, 1), {x}), expected({1, 2}));
}

TEST(Fused, WeightsOfFewBits) {
  // 5 rows in blocks of 2 (the last half empty), 2 columns.
  constexpr std::size_t rows = 5, columns = 2, block = 2, blocks = 3;
  const Given x{{1, rows}, normal_values(rows, 17)};
  const Values scales{0.5F, 0.25F, 1, 2, 0.125F, 0.75F};
  for (const std::size_t bits : {2, 4, 8}) {
    const std::size_t block_bytes = (block * bits + 7) / 8, zero_bytes = (blocks * bits + 7) / 8,
                      levels = std::size_t{1} << bits;
    Values packed(columns * blocks * block_bytes), zeros(columns * zero_bytes), real_zeros(columns * blocks);
    const auto put = [&](Values& bytes, std::size_t begin, std::size_t i, std::size_t number) {
      bytes[begin + i * bits / 8] += static_cast<float>(number << (i * bits % 8));
    };
    std::vector<std::vector<std::size_t>> numbers(columns, std::vector<std::size_t>(rows));
    std::vector<std::vector<std::size_t>> zero(columns, std::vector<std::size_t>(blocks));
    for (std::size_t n = 0; n < columns; ++n) {
      for (std::size_t k = 0; k < rows; ++k) {
        numbers[n][k] = (n * 7 + k * 5 + 3) % levels;
        put(packed, (n * blocks + k / block) * block_bytes, k % block, numbers[n][k]);
      }
      for (std::size_t b = 0; b < blocks; ++b) {
        zero[n][b] = (n + 2 * b + 1) % levels;
        put(zeros, n * zero_bytes, b, zero[n][b]);
        real_zeros[n * blocks + b] = static_cast<float>(zero[n][b]) + 0.5F;
      }
    }
    const auto expected = [&](const std::function<double(std::size_t, std::size_t)>& zero_of,
                              const std::function<std::size_t(std::size_t)>& group) {
      Row result;
      for (std::size_t n = 0; n < columns; ++n) {
        double sum = 0;
        for (std::size_t k = 0; k < rows; ++k)
          sum += x.values[k] * (static_cast<double>(numbers[n][k]) - zero_of(n, group(k))) *
                 scales[n * blocks + group(k)];
        result.push_back(sum);
      }
      return result;
    };
    const auto by_block = [](std::size_t row) { return row / block; };
    const auto change = [&](onnx::NodeProto& node) {
      set(node, "K", std::int64_t{rows});
      set(node, "N", std::int64_t{columns});
      set(node, "bits", static_cast<std::int64_t>(bits));
      set(node, "block_size", std::int64_t{block});
    };
    const int byte = onnx::TensorProto::UINT8;
    const Given table{{columns, blocks, static_cast<std::int64_t>(block_bytes)}, packed, byte},
        factors{{columns * blocks}, scales},
        offsets{{static_cast<std::int64_t>(columns * zero_bytes)}, zeros, byte},
        real_offsets{{columns * blocks}, real_zeros},
        groups{{rows}, {2, 0, 1, 1, 0}, onnx::TensorProto::INT32};
    expect_near(run(fused("MatMulNBits", {x, table, factors}, 1, change), {x}),
                expected([&](std::size_t, std::size_t) { return static_cast<double>(levels / 2); }, by_block),
                1e-4);
    expect_near(
        run(fused("MatMulNBits", {x, table, factors, offsets}, 1, change), {x}),
        expected([&](std::size_t n, std::size_t b) { return static_cast<double>(zero[n][b]); }, by_block),
        1e-4);
    expect_near(run(fused("MatMulNBits", {x, table, factors, real_offsets}, 1, change), {x}),
                expected([&](std::size_t n, std::size_t b) { return real_zeros[n * blocks + b]; }, by_block),
                1e-4);
    const auto placed = [&](std::size_t row) { return static_cast<std::size_t>(groups.values[row]); };
    expect_near(run(fused("MatMulNBits", {x, table, factors, std::nullopt, groups}, 1, change), {x}),
                expected([&](std::size_t, std::size_t) { return static_cast<double>(levels / 2); }, placed),
                1e-4);
    const Given few{{columns * blocks - 1}, Values(5)};
    expect_error(Fault::model, {"node", "input 2", "6 are needed"}, [&] {
      fused("MatMulNBits", {x, table, few}, 1, change).read();
    });
  }
}

TEST(Fused, OthersAreRefused) {
  const Given x{{1, 2}, {1, 2}};
  expect_error(Fault::unsupported, {"BiasSoftmax", "com.microsoft"}, [&] {
    fused("BiasSoftmax", {x, x}, 1).read();
  });
  const auto heads_missing = [&] {
    fused("Attention", {Given{{1, 3, 5}, Values(15)}, Given{{5, 12}, Values(60)}, Given{{12}, Values(12)}}, 1)
        .read();
  };
  expect_error(Fault::model, {"0 heads"}, heads_missing);
  // A hostile file: an operator of the standard that is called so.
  EXPECT_THROW(Session(fused("com.microsoft.Nothing", {x}, 1, {}, {"y"}, "").read(), {}), Error);
  // A damaged file: fewer inputs than any such node has.
  for (const char* op :
       {"Attention", "BiasGelu", "EmbedLayerNormalization", "FusedConv", "FusedGemm", "FusedMatMul",
        "MatMulBnb4", "MatMulNBits", "MultiHeadAttention", "QAttention", "RotaryEmbedding",
        "SimplifiedLayerNormalization", "SkipLayerNormalization", "SkipSimplifiedLayerNormalization"}) {
    OnnxFile file(17);
    file.input("x", {-1, 3, 4});
    file.node(op, {"x"}, {"y"}, "node").set_domain("com.microsoft");
    file.output("y");
    EXPECT_THROW(Session(file.read(), {}), Error) << op;
  }
}

}  // namespace
}  // namespace assay
