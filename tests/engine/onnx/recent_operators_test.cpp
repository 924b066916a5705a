// Operators and types that operator sets 24 to 28 brought, against their definitions written out.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include <assay/session.h>
#include "tests/engine/onnx/values.h"
#include "tests/model/onnx_build.h"

namespace assay {
namespace {

using namespace testing_onnx;
using testing::ElementsAre;
using testing::FloatNear;
using testing::Pointwise;

using Floats = std::vector<float>;
using Input = std::pair<Shape, Floats>;

std::vector<Floats> results_of(const OnnxFile& file, const std::vector<Input>& inputs) {
  const Graph graph = file.read();
  const Session session(graph, {.threads = 1, .engine = "reference"});
  Tensors given;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const ValueId id = graph.inputs()[i];
    given.emplace(id, Array::of<float>(inputs[i].first, inputs[i].second).to(graph.value(id).dtype));
  }
  const Tensors found = session.run(given, graph.outputs());
  std::vector<Floats> results;
  for (const ValueId id : graph.outputs()) {
    const Array array = found.at(id).to(DType::float32).contiguous();
    results.emplace_back(array.as<float>().begin(), array.as<float>().end());
  }
  return results;
}

TEST(CumulativeProducts, GoBothWaysAndMayLeaveTheElementOut) {
  for (const auto& [exclusive, reverse, expected] :
       {std::tuple(0, 0, Floats{1, 2, 6}), std::tuple(1, 0, Floats{1, 1, 2}),
        std::tuple(0, 1, Floats{6, 6, 3}), std::tuple(1, 1, Floats{6, 3, 1})}) {
    OnnxFile file(26);
    file.input("x", {-1, 3});
    file.weight(integers("axis", {1}));
    auto& node = file.node("CumProd", {"x", "axis"}, {"y"});
    set(node, "exclusive", std::int64_t{exclusive});
    set(node, "reverse", std::int64_t{reverse});
    file.output("y");
    EXPECT_EQ(results_of(file, {{{1, 3}, {1, 2, 3}}})[0], expected) << exclusive << reverse;
  }
}

// What comes before a large element is not lost in it.
TEST(CumulativeSums, GoBothWaysAndMayLeaveTheElementOut) {
  const float infinity = std::numeric_limits<float>::infinity();
  for (const auto& [exclusive, reverse, x, expected] :
       {std::tuple(0, 0, Floats{1, 2, 3}, Floats{1, 3, 6}),
        std::tuple(1, 0, Floats{1, 2, 3}, Floats{0, 1, 3}),
        std::tuple(0, 1, Floats{1, 2, 3}, Floats{6, 5, 3}),
        std::tuple(1, 1, Floats{1, 2, 3}, Floats{5, 3, 0}),
        std::tuple(1, 0, Floats{1, 1e8F, 3}, Floats{0, 1, 1e8F}),
        std::tuple(1, 0, Floats{1, infinity, 3}, Floats{0, 1, infinity})}) {
    OnnxFile file(26);
    file.input("x", {-1, 3});
    file.weight(integers("axis", {1}));
    auto& node = file.node("CumSum", {"x", "axis"}, {"y"});
    set(node, "exclusive", std::int64_t{exclusive});
    set(node, "reverse", std::int64_t{reverse});
    file.output("y");
    EXPECT_EQ(results_of(file, {{{1, 3}, x}})[0], expected) << exclusive << reverse;
  }
}

TEST(BitCasts, TakeBitsForThoseOfAnotherType) {
  const auto cast = [](int from, int to, float value) {
    OnnxFile file(26);
    file.input("x", {-1, 1}, from);
    set(file.node("BitCast", {"x"}, {"y"}), "to", std::int64_t{to});
    file.output("y");
    return results_of(file, {{{1, 1}, {value}}})[0][0];
  };
  using T = onnx::TensorProto;
  EXPECT_EQ(cast(T::INT32, T::FLOAT, 0x40490000), std::bit_cast<float>(0x40490000));
  EXPECT_EQ(cast(T::FLOAT, T::INT32, -2), -1073741824.0F);
  EXPECT_EQ(cast(T::FLOAT16, T::UINT16, 1), 0x3c00);
  EXPECT_EQ(cast(T::BFLOAT16, T::INT16, -1), static_cast<std::int16_t>(0xbf80));
  EXPECT_EQ(cast(T::UINT8, T::INT8, 255), -1);
  EXPECT_EQ(cast(T::UINT8, 17, 0x7e), 448) << "float8e4m3fn";
  expect_error(Fault::model, {"32 bits", "8"}, [&] { cast(T::FLOAT, T::INT8, 1); });
}

constexpr std::size_t positions = 5, kv_heads = 2, sharing = 2, key_width = 3, value_width = 4;

// One record, by the recurrences as they are published.
std::pair<std::vector<double>, std::vector<double>> linear_attention(const std::string& rule, const Floats& q,
                                                                     const Floats& k, const Floats& v,
                                                                     const Floats& past, const Floats& decay,
                                                                     const Floats& rate) {
  const bool gated = rule.starts_with("gated"), delta = rule.ends_with("delta");
  std::vector<double> state(past.begin(), past.end()), output;
  const auto at = [](std::size_t h, std::size_t i, std::size_t j) {
    return (h * key_width + i) * value_width + j;
  };
  for (std::size_t t = 0; t < positions; ++t) {
    std::vector<double> row(kv_heads * sharing * value_width);
    for (std::size_t h = 0; h < kv_heads; ++h) {
      for (std::size_t i = 0; gated && i < key_width; ++i) {
        for (std::size_t j = 0; j < value_width; ++j)
          state[at(h, i, j)] *= std::exp(static_cast<double>(decay[t * kv_heads + h]));
      }
      std::vector<double> value(value_width);
      for (std::size_t j = 0; j < value_width; ++j) {
        double known = 0;
        for (std::size_t i = 0; i < key_width; ++i)
          known += state[at(h, i, j)] * static_cast<double>(k[(t * kv_heads + h) * key_width + i]);
        const double given = v[(t * kv_heads + h) * value_width + j];
        value[j] = delta ? static_cast<double>(rate[t * kv_heads + h]) * (given - known) : given;
      }
      for (std::size_t i = 0; i < key_width; ++i) {
        for (std::size_t j = 0; j < value_width; ++j)
          state[at(h, i, j)] += static_cast<double>(k[(t * kv_heads + h) * key_width + i]) * value[j];
      }
      for (std::size_t s = 0; s < sharing; ++s) {
        for (std::size_t i = 0; i < key_width; ++i) {
          const double query = q[(t * kv_heads * sharing + h * sharing + s) * key_width + i];
          for (std::size_t j = 0; j < value_width; ++j)
            row[(h * sharing + s) * value_width + j] +=
                query * state[at(h, i, j)] / std::sqrt(1.0 * key_width);
        }
      }
    }
    output.insert(output.end(), row.begin(), row.end());
  }
  return {output, state};
}

TEST(LinearAttention, FollowsEachRule) {
  const Floats q = normal_values(positions * kv_heads * sharing * key_width, 1),
               k = normal_values(positions * kv_heads * key_width, 2),
               v = normal_values(positions * kv_heads * value_width, 3),
               past = normal_values(kv_heads * key_width * value_width, 4),
               rate = normal_values(positions * kv_heads, 6);
  Floats decay = normal_values(positions * kv_heads, 5);
  for (float& one : decay) one = -std::abs(one);
  for (const std::string rule : {"linear", "gated", "delta", "gated_delta"}) {
    OnnxFile file(27);
    const auto length = static_cast<std::int64_t>(positions);
    file.input("q", {-1, length, kv_heads * sharing * key_width});
    file.input("k", {-1, length, kv_heads * key_width});
    file.input("v", {-1, length, kv_heads * value_width});
    file.input("past", {-1, kv_heads, key_width, value_width});
    file.input("decay", {-1, length, kv_heads});
    file.input("rate", {-1, length, kv_heads});
    auto& node = file.node("LinearAttention", {"q", "k", "v", "past", "decay", "rate"}, {"y", "present"});
    set(node, "q_num_heads", std::int64_t{kv_heads * sharing});
    set(node, "kv_num_heads", std::int64_t{kv_heads});
    set(node, "update_rule", rule.c_str());
    file.output("y");
    file.output("present");
    const auto found = results_of(file, {{{1, length, kv_heads * sharing * key_width}, q},
                                         {{1, length, kv_heads * key_width}, k},
                                         {{1, length, kv_heads * value_width}, v},
                                         {{1, kv_heads, key_width, value_width}, past},
                                         {{1, length, kv_heads}, decay},
                                         {{1, length, kv_heads}, rate}});
    const auto [output, state] = linear_attention(rule, q, k, v, past, decay, rate);
    EXPECT_THAT(found[0], Pointwise(FloatNear(1e-3F), Floats(output.begin(), output.end()))) << rule;
    EXPECT_THAT(found[1], Pointwise(FloatNear(1e-3F), Floats(state.begin(), state.end()))) << rule;
  }
}

TEST(CausalConvolutions, GoOnFromWhatIsPast) {
  constexpr std::size_t channels = 2, length = 4, taps = 3;
  const Floats x = normal_values(channels * length, 1), w = normal_values(channels * taps, 2), b{0.5F, -1},
               past = normal_values(channels * (taps - 1), 3);
  for (const bool has_past : {false, true}) {
    for (const bool silu : {false, true}) {
      OnnxFile file(27);
      file.input("x", {-1, channels, length});
      if (has_past) file.input("past", {-1, channels, taps - 1});
      file.weight(floats("w", {channels, 1, taps}, w));
      file.weight(floats("b", {channels}, b));
      auto& node =
          file.node("CausalConvWithState", {"x", "w", "b", has_past ? "past" : ""}, {"y", "present"});
      if (silu) set(node, "activation", "silu");
      file.output("y");
      file.output("present");
      std::vector<Input> inputs{{{1, channels, length}, x}};
      if (has_past) inputs.push_back({{1, channels, taps - 1}, past});
      const auto found = results_of(file, inputs);
      Floats expected, present;
      for (std::size_t c = 0; c < channels; ++c) {
        std::vector<double> whole;
        for (std::size_t i = 0; i < taps - 1; ++i) whole.push_back(has_past ? past[c * (taps - 1) + i] : 0);
        for (std::size_t i = 0; i < length; ++i) whole.push_back(x[c * length + i]);
        for (std::size_t i = 0; i < length; ++i) {
          double sum = b[c];
          for (std::size_t t = 0; t < taps; ++t) sum += whole[i + t] * static_cast<double>(w[c * taps + t]);
          expected.push_back(static_cast<float>(silu ? sum / (1 + std::exp(-sum)) : sum));
        }
        for (std::size_t i = length; i < whole.size(); ++i) present.push_back(static_cast<float>(whole[i]));
      }
      EXPECT_THAT(found[0], Pointwise(FloatNear(1e-5F), expected)) << has_past << silu;
      EXPECT_THAT(found[1], Pointwise(FloatNear(0), present)) << has_past << silu;
    }
  }
}

TEST(TensorScatter, WritesWhereEachRecordStandsAndMayGoAround) {
  for (const bool circular : {false, true}) {
    OnnxFile file(24);
    file.input("cache", {-1, 4, 1});
    file.input("update", {-1, 2, 1});
    file.input("at", {-1}, onnx::TensorProto::INT64);
    auto& node = file.node("TensorScatter", {"cache", "update", "at"}, {"y"});
    if (circular) set(node, "mode", "circular");
    file.output("y");
    const auto found = results_of(file, {{{2, 4, 1}, {1, 2, 3, 4, 5, 6, 7, 8}},
                                         {{2, 2, 1}, {10, 20, 30, 40}},
                                         {{2}, {0, circular ? 3.0F : 2.0F}}});
    if (circular)
      EXPECT_THAT(found[0], ElementsAre(10, 20, 3, 4, 40, 6, 7, 30));
    else
      EXPECT_THAT(found[0], ElementsAre(10, 20, 3, 4, 5, 6, 30, 40));
  }
}

TEST(SwiGlu, GatesBySwish) {
  OnnxFile file(28);
  file.input("a", {-1, 2});
  file.input("b", {-1, 2});
  set(file.node("SwiGLU", {"a", "b"}, {"y"}), "alpha", 2.0F);
  file.output("y");
  const auto found = results_of(file, {{{1, 2}, {1, -0.5F}}, {{1, 2}, {3, 4}}})[0];
  EXPECT_NEAR(found[0], 3 / (1 + std::exp(-2.0)), 1e-6);
  EXPECT_NEAR(found[1], -2 / (1 + std::exp(1.0)), 1e-6);
}

// One head: softcap, then mask, then what positions see; no key at all gives zeros.
TEST(Attention, CapsMasksAndLooksThroughWindows) {
  constexpr std::int64_t queries = 3, keys = 6, lengths = 5, wide = 2;
  const Floats q = normal_values(queries * wide, 1), k = normal_values(keys * wide, 2),
               v = normal_values(keys * wide, 3), bias = normal_values(queries * keys, 4);
  for (const auto& [causal, left, right, padded] :
       {std::tuple(1, -1, -1, true), std::tuple(1, 1, -1, true), std::tuple(0, 1, 1, true),
        std::tuple(0, 0, -1, false), std::tuple(0, -1, -1, true), std::tuple(1, -1, -1, false)}) {
    OnnxFile file(25);
    file.input("q", {-1, 1, queries, wide});
    file.input("k", {-1, 1, keys, wide});
    file.input("v", {-1, 1, keys, wide});
    file.weight(floats("bias", {queries, keys}, bias));
    if (padded) file.input("lengths", {-1}, onnx::TensorProto::INT64);
    auto& node = file.node("Attention", {"q", "k", "v", "bias", "", "", padded ? "lengths" : ""}, {"y"});
    set(node, "is_causal", std::int64_t{causal});
    set(node, "left_window_size", std::int64_t{left});
    set(node, "right_window_size", std::int64_t{right});
    set(node, "softcap", 1.5F);
    file.output("y");
    std::vector<Input> inputs{{{1, 1, queries, wide}, q}, {{1, 1, keys, wide}, k}, {{1, 1, keys, wide}, v}};
    if (padded) inputs.push_back({{1}, {lengths}});
    const Floats found = results_of(file, inputs)[0];
    for (std::int64_t i = 0; i < queries; ++i) {
      const std::int64_t position = i + (padded ? lengths - queries : 0);
      std::vector<double> weights(keys), sums(wide);
      double sum = 0;
      for (std::int64_t j = 0; j < keys; ++j) {
        const auto at = [](std::int64_t row, std::int64_t column) {
          return static_cast<std::size_t>(row * wide + column);
        };
        double score = 0;
        for (std::int64_t d = 0; d < wide; ++d)
          score += static_cast<double>(q[at(i, d)]) * k[at(j, d)] / std::sqrt(1.0 * wide);
        score = 1.5 * std::tanh(score / 1.5) + bias[static_cast<std::size_t>(i * keys + j)];
        const bool seen = (causal == 0 || j <= position) && (left < 0 || j >= position - left) &&
                          (right < 0 || j <= position + right) && (!padded || j < lengths);
        weights[static_cast<std::size_t>(j)] = seen ? std::exp(score) : 0;
        sum += weights[static_cast<std::size_t>(j)];
        for (std::int64_t d = 0; d < wide; ++d)
          sums[static_cast<std::size_t>(d)] += weights[static_cast<std::size_t>(j)] * v[at(j, d)];
      }
      for (std::int64_t d = 0; d < wide; ++d)
        EXPECT_NEAR(found[static_cast<std::size_t>(i * wide + d)], sums[static_cast<std::size_t>(d)] / sum,
                    1e-5)
            << causal << left << right << padded << " " << i;
    }
  }
}

TEST(TfIdf, CountsSequencesWithGaps) {
  const auto counts = [](const char* mode, std::int64_t gaps) {
    OnnxFile file(18);
    file.input("x", {-1, 12}, onnx::TensorProto::INT64);
    auto& node = file.node("TfIdfVectorizer", {"x"}, {"y"});
    set(node, "mode", mode);
    set(node, "min_gram_length", std::int64_t{2});
    set(node, "max_gram_length", std::int64_t{2});
    set(node, "max_skip_count", gaps);
    set(node, "ngram_counts", Ints{0, 4});
    set(node, "ngram_indexes", Ints{0, 1, 2, 3, 4, 5, 6});
    set(node, "pool_int64s", Ints{2, 3, 5, 4, 5, 6, 7, 8, 6, 7});
    set(node, "weights", Floats{1, 1, 1, 1, 2, 3, 4});
    file.output("y");
    return results_of(file, {{{1, 12}, {1, 1, 3, 3, 3, 7, 8, 6, 7, 5, 6, 8}}})[0];
  };
  EXPECT_THAT(counts("TF", 0), ElementsAre(0, 0, 0, 0, 1, 1, 1));
  EXPECT_THAT(counts("TF", 5), ElementsAre(0, 0, 0, 0, 1, 3, 1));
  EXPECT_THAT(counts("TFIDF", 5), ElementsAre(0, 0, 0, 0, 2, 9, 4));
  EXPECT_THAT(counts("IDF", 5), ElementsAre(0, 0, 0, 0, 2, 3, 4));
}

TEST(Spectra, OfOneSideGiveTheRealSignalBack) {
  for (const std::int64_t length : {6, 7}) {
    OnnxFile file(20);
    file.input("x", {-1, length, 1});
    file.weight(integers("axis", {1}));
    file.weight(integers("length", {length}));
    set(file.node("DFT", {"x", "", "axis"}, {"spectrum"}), "onesided", std::int64_t{1});
    auto& inverse = file.node("DFT", {"spectrum", "length", "axis"}, {"y"});
    set(inverse, "onesided", std::int64_t{1});
    set(inverse, "inverse", std::int64_t{1});
    file.output("y");
    const Floats signal = normal_values(static_cast<std::size_t>(length), 9);
    EXPECT_THAT(results_of(file, {{{1, length, 1}, signal}})[0], Pointwise(FloatNear(1e-5F), signal));
  }
}

TEST(ShortTypes, AreReadAsTheyArePacked) {
  const auto stored = [](int type, std::int64_t count, const std::string& bytes) {
    OnnxFile file(28);
    file.input("x", {-1, count});
    onnx::TensorProto tensor;
    tensor.set_name("w");
    tensor.set_data_type(type);
    tensor.add_dims(count);
    tensor.set_raw_data(bytes);
    file.weight(tensor);
    set(file.node("Cast", {"w"}, {"wide"}), "to", std::int64_t{1});
    file.node("Add", {"x", "wide"}, {"y"});
    file.output("y");
    return results_of(file, {{{1, count}, Floats(static_cast<std::size_t>(count), 0)}})[0];
  };
  EXPECT_THAT(stored(25, 5, "\xe4\x02"), ElementsAre(0, 1, 2, 3, 2)) << "uint2";
  EXPECT_THAT(stored(26, 5, "\xe4\x02"), ElementsAre(0, 1, -2, -1, -2)) << "int2";
  EXPECT_THAT(stored(23, 3, "\x97\x01"), ElementsAre(6, -0.5F, 0.5F)) << "float4e2m1";
  EXPECT_THAT(stored(27, 4, std::string("\x5f\x00\x84", 3)), ElementsAre(7.5F, 0.125F, 0, -0.125F))
      << "float6e2m3";
  EXPECT_THAT(stored(24, 2, "\x80\x7e"), ElementsAre(2, 0.5F)) << "float8e8m0";
}

}  // namespace
}  // namespace assay
