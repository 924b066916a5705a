// Attention and RotaryEmbedding of operator set 23, against their definitions written out.

#include <gtest/gtest.h>

#include <cmath>

#include <assay/session.h>
#include "tests/engine/onnx/values.h"
#include "tests/model/onnx_build.h"

namespace assay {
namespace {

using namespace testing_onnx;

std::vector<float> run(const OnnxFile& file,
                       const std::vector<std::pair<Shape, std::vector<float>>>& inputs) {
  const Graph graph = file.read();
  const Session session(graph, {.threads = 1, .engine = "reference"});
  Tensors given;
  for (std::size_t i = 0; i < inputs.size(); ++i)
    given.emplace(graph.inputs()[i], Array::of<float>(inputs[i].first, inputs[i].second));
  const Array array = session.run(given, graph.outputs()).at(graph.outputs()[0]).contiguous();
  return {array.as<float>().begin(), array.as<float>().end()};
}

constexpr std::size_t query_heads = 4, groups = 2, queries = 3, keys = 3, head_width = 2;

// Of [positions, query_heads * head_width], keys and values of [positions, groups * head_width].
std::vector<double> attended(const std::vector<float>& q, const std::vector<float>& k,
                             const std::vector<float>& v, double scale, bool causal) {
  std::vector<double> result(queries * query_heads * head_width);
  for (std::size_t h = 0; h < query_heads; ++h) {
    const std::size_t g = h / (query_heads / groups);
    for (std::size_t i = 0; i < queries; ++i) {
      std::vector<double> weights(keys);
      double sum = 0;
      for (std::size_t j = 0; j < keys; ++j) {
        double score = 0;
        for (std::size_t d = 0; d < head_width; ++d)
          score += static_cast<double>(q[(i * query_heads + h) * head_width + d]) *
                   k[(j * groups + g) * head_width + d];
        weights[j] = causal && j > i ? 0 : std::exp(score * scale);
        sum += weights[j];
      }
      for (std::size_t j = 0; j < keys; ++j) {
        for (std::size_t d = 0; d < head_width; ++d)
          result[(i * query_heads + h) * head_width + d] +=
              weights[j] / sum * v[(j * groups + g) * head_width + d];
      }
    }
  }
  return result;
}

TEST(Attention, GroupsHeadsScalesAndLooksBackOnly) {
  const auto q = normal_values(queries * query_heads * head_width, 1),
             k = normal_values(keys * groups * head_width, 2),
             v = normal_values(keys * groups * head_width, 3);
  for (const bool causal : {false, true}) {
    for (const float scale : {0.0F, 0.3F}) {
      OnnxFile file(23);
      file.input("q", {-1, 3, 8});
      file.input("k", {-1, 3, 4});
      file.input("v", {-1, 3, 4});
      auto& node = file.node("Attention", {"q", "k", "v"}, {"y"});
      set(node, "q_num_heads", std::int64_t{query_heads});
      set(node, "kv_num_heads", std::int64_t{groups});
      set(node, "is_causal", std::int64_t{causal});
      if (scale > 0) set(node, "scale", scale);
      file.output("y");
      const auto actual = run(file, {{{1, 3, 8}, q}, {{1, 3, 4}, k}, {{1, 3, 4}, v}});
      const auto expected = attended(q, k, v, scale > 0 ? scale : 1 / std::sqrt(2.0), causal);
      ASSERT_EQ(actual.size(), expected.size());
      for (std::size_t i = 0; i < actual.size(); ++i) EXPECT_NEAR(actual[i], expected[i], 1e-5) << i;
    }
  }
}

TEST(Attention, AddsWhatIsPastAndMasks) {
  // One head of one feature: scores are products, and the last key is masked.
  OnnxFile file(23);
  file.input("q", {-1, 1, 1, 1});
  file.input("k", {-1, 1, 2, 1});
  file.weight(floats("past_k", {1, 1, 1, 1}, {2}));
  file.weight(floats("past_v", {1, 1, 1, 1}, {10}));
  onnx::TensorProto mask;
  mask.set_name("mask");
  mask.set_data_type(onnx::TensorProto::BOOL);
  mask.add_dims(1);
  mask.add_dims(3);
  for (const int one : {1, 1, 0}) mask.add_int32_data(one);
  file.weight(mask);
  file.node("Attention", {"q", "k", "k", "mask", "past_k", "past_v"}, {"y", "keys"});
  file.output("y");
  file.output("keys");
  const auto y = run(file, {{{1, 1, 1, 1}, {1}}, {{1, 1, 2, 1}, {3, 100}}});
  const double first = std::exp(2.0), second = std::exp(3.0);
  ASSERT_EQ(y.size(), 1U);
  EXPECT_NEAR(y[0], (10 * first + 3 * second) / (first + second), 1e-4);
}

TEST(RotaryEmbedding, TurnsPairsByTheirPosition) {
  const auto x = normal_values(2 * 6, 4);  // 2 positions, one head of 6 features, of which 4 turn
  const std::vector<float> angles{0.1F, 0.7F, -0.4F, 1.3F};
  std::vector<float> cosines, sines;
  for (const float angle : angles) cosines.push_back(std::cos(angle)), sines.push_back(std::sin(angle));
  for (const bool interleaved : {false, true}) {
    OnnxFile file(23);
    file.input("x", {-1, 2, 6});
    file.weight(floats("cosines", {2, 2}, cosines));
    file.weight(floats("sines", {2, 2}, sines));
    file.weight(integers("positions", {1, 0}));
    file.proto.mutable_graph()->mutable_initializer(2)->clear_dims();
    for (const std::int64_t dim : {1, 2}) file.proto.mutable_graph()->mutable_initializer(2)->add_dims(dim);
    auto& node = file.node("RotaryEmbedding", {"x", "cosines", "sines", "positions"}, {"y"});
    set(node, "num_heads", std::int64_t{1});
    set(node, "rotary_embedding_dim", std::int64_t{4});
    set(node, "interleaved", std::int64_t{interleaved});
    file.output("y");
    std::vector<double> expected(x.begin(), x.end());
    for (std::size_t p = 0; p < 2; ++p) {
      for (std::size_t i = 0; i < 2; ++i) {
        const std::size_t a = p * 6 + (interleaved ? 2 * i : i),
                          b = p * 6 + (interleaved ? 2 * i + 1 : i + 2);
        const std::size_t at = (1 - p) * 2 + i;
        expected[a] = static_cast<double>(x[a]) * cosines[at] - static_cast<double>(x[b]) * sines[at];
        expected[b] = static_cast<double>(x[a]) * sines[at] + static_cast<double>(x[b]) * cosines[at];
      }
    }
    const auto actual = run(file, {{{1, 2, 6}, x}});
    ASSERT_EQ(actual.size(), expected.size());
    for (std::size_t i = 0; i < actual.size(); ++i) EXPECT_NEAR(actual[i], expected[i], 1e-6) << i;
  }
}

}  // namespace
}  // namespace assay
