#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "network.h"

namespace assay::testing {
namespace {

struct Case {
  int rank;
  std::int64_t size, stride, dilation;
  std::string padding;
};

std::string name_of(const ::testing::TestParamInfo<Case>& info) {
  const Case& c = info.param;
  return "rank" + std::to_string(c.rank) + "_size" + std::to_string(c.size) + "_stride" +
         std::to_string(c.stride) + "_dilation" + std::to_string(c.dilation) + "_" + c.padding;
}

class KerasWindow : public ::testing::TestWithParam<Case> {
 protected:
  const Case& c() const { return GetParam(); }
  // Axes of different sizes, so that a mix-up of axes shows.
  Shape record() const {
    Shape shape{9, 8, 7};
    shape.resize(static_cast<std::size_t>(c().rank));
    shape.push_back(channels);
    return shape;
  }
  Shape repeated(std::int64_t value) const { return Shape(static_cast<std::size_t>(c().rank), value); }
  PlainWindow window() const {
    PlainWindow w{repeated(c().size), repeated(c().stride), repeated(c().dilation), c().padding};
    if (c().rank > 1) w.size[0] = c().size + 1;  // windows that are not square
    return w;
  }
  std::string options() const {
    const auto list = [](const Shape& values) {
      std::string text;
      for (const auto v : values) text += (text.empty() ? "" : ", ") + std::to_string(v);
      return "[" + text + "]";
    };
    const PlainWindow w = window();
    return R"("kernel_size": )" + list(w.size) + R"(, "pool_size": )" + list(w.size) + R"(, "strides": )" +
           list(w.stride) + R"(, "dilation_rate": )" + list(w.dilation) + R"(, "padding": ")" + w.padding +
           R"(")";
  }
  Shape kernel(std::int64_t a, std::int64_t b) const {
    Shape shape = window().size;
    shape.insert(shape.end(), {a, b});
    return shape;
  }
  Values input() const {
    Shape shape = record();
    shape.insert(shape.begin(), 2);
    return random_values(shape, 77);
  }
  std::string suffix() const { return std::to_string(c().rank) + "D"; }
  static constexpr std::int64_t channels = 4;
};

TEST_P(KerasWindow, Convolution) {
  Network network(record());
  const auto w = network.add("Conv" + suffix(), R"("filters": 6, )" + options(), {kernel(channels, 6), {6}});
  EXPECT_TRUE(same(network.run(input()), plain_conv(input(), w[0], w[1], window())));
}

TEST_P(KerasWindow, GroupedConvolution) {
  Network network(record());
  const auto w = network.add("Conv" + suffix(), R"("filters": 6, "groups": 2, )" + options(),
                             {kernel(channels / 2, 6), {6}});
  EXPECT_TRUE(same(network.run(input()), plain_conv(input(), w[0], w[1], window(), 2)));
}

TEST_P(KerasWindow, DepthwiseConvolution) {
  if (c().rank == 3) GTEST_SKIP() << "Keras has none";
  Network network(record());
  const auto w = network.add("DepthwiseConv" + suffix(), R"("depth_multiplier": 2, )" + options(),
                             {kernel(channels, 2), {channels * 2}});
  // Filter c * 2 + m sees channel c only.
  Shape grouped = w[0].shape;
  grouped[grouped.size() - 2] = 1;
  grouped.back() = channels * 2;
  EXPECT_TRUE(
      same(network.run(input()), plain_conv(input(), {grouped, w[0].data}, w[1], window(), channels)));
}

TEST_P(KerasWindow, SeparableConvolution) {
  if (c().rank == 3) GTEST_SKIP() << "Keras has none";
  Network network(record());
  Shape point = repeated(1);
  point.insert(point.end(), {channels * 2, 5});
  const auto w =
      network.add("SeparableConv" + suffix(), R"("filters": 5, "depth_multiplier": 2, )" + options(),
                  {kernel(channels, 2), point, {5}});
  Shape grouped = w[0].shape;
  grouped[grouped.size() - 2] = 1;
  grouped.back() = channels * 2;
  const Values middle = plain_conv(input(), {grouped, w[0].data}, {}, window(), channels);
  EXPECT_TRUE(same(network.run(input()), plain_dense(middle, {{channels * 2, 5}, w[1].data}, w[2])));
}

TEST_P(KerasWindow, Pooling) {
  if (c().padding == "causal" || c().dilation != 1) GTEST_SKIP() << "Keras has none";
  for (const bool max : {true, false}) {
    Network network(record());
    network.add((max ? "MaxPooling" : "AveragePooling") + suffix(), options());
    EXPECT_TRUE(same(network.run(input()), plain_pool(input(), window(), max ? largest : mean)));
  }
}

INSTANTIATE_TEST_SUITE_P(All, KerasWindow,
                         ::testing::Values(Case{1, 3, 1, 1, "valid"}, Case{1, 3, 2, 1, "same"},
                                           Case{1, 2, 1, 2, "causal"}, Case{1, 3, 2, 1, "causal"},
                                           Case{2, 3, 1, 1, "valid"}, Case{2, 2, 1, 1, "same"},
                                           Case{2, 2, 2, 1, "same"}, Case{2, 3, 2, 1, "same"},
                                           Case{2, 3, 3, 1, "valid"}, Case{2, 2, 1, 2, "same"},
                                           Case{2, 2, 1, 2, "valid"}, Case{2, 1, 3, 1, "same"},
                                           Case{3, 2, 1, 1, "valid"}, Case{3, 2, 2, 1, "same"}),
                         name_of);

// out[o + k] += x[i] * kernel[k], then what is too much is cut: the definition, in one dimension, of a
// convolution's gradient as TensorFlow crops it.
Values plain_transposed(const Values& x, const Values& kernel, const Values& bias, std::int64_t stride,
                        std::int64_t length, std::int64_t cut_before) {
  const std::int64_t taps = kernel.shape[0], filters = kernel.shape[1], channels = kernel.shape[2];
  return tabulate({x.shape[0], length, filters}, [&](const Shape& out) {
    double sum = at(bias, {out[2]});
    for (std::int64_t i = 0; i < x.shape[1]; ++i) {
      const std::int64_t tap = out[1] + cut_before - i * stride;
      if (tap < 0 || tap >= taps) continue;
      for (std::int64_t c = 0; c < channels; ++c)
        sum += double{at(x, {out[0], i, c})} * at(kernel, {tap, out[2], c});
    }
    return sum;
  });
}

TEST(KerasTransposedConvolution, CropsAsTensorFlowDoes) {
  struct Row {
    std::int64_t size, stride;
    const char* padding;
    std::int64_t length, cut;  // of an input of 5 positions
  };
  for (const Row& row : {Row{3, 1, "valid", 7, 0}, Row{3, 2, "valid", 11, 0}, Row{2, 3, "valid", 15, 0},
                         Row{3, 1, "same", 5, 1}, Row{3, 2, "same", 10, 0}, Row{4, 2, "same", 10, 1},
                         Row{5, 2, "same", 10, 1}, Row{2, 3, "same", 15, 0}}) {
    Network network({5, 2});
    const auto w =
        network.add("Conv1DTranspose",
                    R"("filters": 3, "kernel_size": [)" + std::to_string(row.size) + R"(], "strides": [)" +
                        std::to_string(row.stride) + R"(], "padding": ")" + row.padding + R"(")",
                    {{row.size, 3, 2}, {3}});
    const Values x = random_values({2, 5, 2}, 3);
    EXPECT_TRUE(same(network.run(x), plain_transposed(x, w[0], w[1], row.stride, row.length, row.cut)))
        << row.size << " " << row.stride << " " << row.padding;
  }
}

TEST(KerasTransposedConvolution, OfTwoDimensionsIsOneAfterTheOther) {
  // A kernel that is a product of two factors is two one-dimensional convolutions.
  Network network({4, 3, 1});
  const Values rows = random_values({3}, 1), columns = random_values({2}, 2);
  const Values kernel =
      tabulate({3, 2, 1, 1}, [&](const Shape& i) { return double{at(rows, {i[0]})} * at(columns, {i[1]}); });
  network.add_with("Conv2DTranspose",
                   R"("filters": 1, "kernel_size": [3, 2], "strides": [2, 1], "padding": "same")",
                   {kernel, numbers({1}, {0})});
  const Values x = random_values({1, 4, 3, 1}, 5);
  const Values expected = tabulate({1, 8, 3, 1}, [&](const Shape& out) {
    double sum = 0;
    for (std::int64_t i = 0; i < 4; ++i) {
      for (std::int64_t j = 0; j < 3; ++j) {
        const std::int64_t r = out[1] + 0 - 2 * i,
                           c = out[2] + 0 - j;  // surplus 1 on each axis: the odd one is cut at the end
        if (r >= 0 && r < 3 && c >= 0 && c < 2)
          sum += double{at(x, {0, i, j, 0})} * at(rows, {r}) * at(columns, {c});
      }
    }
    return sum;
  });
  EXPECT_TRUE(same(network.run(x), expected));
}

TEST(KerasConvolution, OfSameWidthWorksOnUnknownSizes) {
  Network network({-1, -1, 2});
  const auto w =
      network.add("Conv2D", R"("filters": 3, "kernel_size": [3, 3], "strides": [2, 2], "padding": "same")",
                  {{3, 3, 2, 3}, {3}});
  const Values x = random_values({1, 8, 7, 2}, 4);
  EXPECT_TRUE(same(network.run(x), plain_conv(x, w[0], w[1], {{3, 3}, {2, 2}, {1, 1}, "same"})));
}

TEST(KerasGlobalPooling, ReducesAllPositions) {
  for (const int rank : {1, 2, 3}) {
    Shape record{4, 3, 2};
    record.resize(static_cast<std::size_t>(rank));
    record.push_back(5);
    Shape shape = record;
    shape.insert(shape.begin(), 2);
    const Values x = random_values(shape, 8);
    PlainWindow whole{Shape(record.begin(), record.end() - 1), Shape(static_cast<std::size_t>(rank), 1),
                      Shape(static_cast<std::size_t>(rank), 1), "valid"};
    for (const bool max : {true, false}) {
      for (const bool keep : {true, false}) {
        Network network(record);
        network.add(
            std::string(max ? "GlobalMaxPooling" : "GlobalAveragePooling") + std::to_string(rank) + "D",
            keep ? R"("keepdims": true)" : "");
        Values expected = plain_pool(x, whole, max ? largest : mean);
        if (!keep) expected.shape = {2, 5};
        EXPECT_TRUE(same(network.run(x), expected)) << rank << max << keep;
      }
    }
  }
}

// An LSTM whose products are convolutions: i, f, c, o in Keras's order.
TEST(KerasConvLSTM, WritesItsStepsOut) {
  for (const bool sequences : {true, false}) {
    for (const std::string padding : {"same", "valid"}) {
      Network network({3, 5, 4, 2});
      const auto w = network.add(
          "ConvLSTM2D",
          std::string(R"("filters": 3, "kernel_size": [3, 2], "strides": [1, 1], "activation": "tanh", )") +
              R"("recurrent_activation": "hard_sigmoid", "padding": ")" + padding +
              R"(", "return_sequences": )" + (sequences ? "true" : "false"),
          {{3, 2, 2, 12}, {3, 2, 3, 12}, {12}});
      const Values x = random_values({2, 3, 5, 4, 2}, 8);
      const auto gate = [](double v) { return std::clamp(0.2 * v + 0.5, 0.0, 1.0); };
      Values h, c;
      std::vector<Values> states;
      for (std::int64_t t = 0; t < 3; ++t) {
        const Values now = tabulate({2, 5, 4, 2}, [&](const Shape& i) {
          return at(x, {i[0], t, i[1], i[2], i[3]});
        });
        const Values input = plain_conv(now, w[0], w[2], {{3, 2}, {1, 1}, {1, 1}, padding});
        Values memory = map(input, [](double) { return 0.0; });
        if (t > 0) memory = plain_conv(h, w[1], {}, {{3, 2}, {1, 1}, {1, 1}, "same"});
        const auto z = [&](const Shape& i, std::int64_t g) {
          const Shape at_gate{i[0], i[1], i[2], 3 * g + i[3]};
          return double{at(input, at_gate)} + at(memory, at_gate);
        };
        Shape shape = input.shape;
        shape.back() = 3;
        c = tabulate(shape, [&, before = c](const Shape& i) {
          return gate(z(i, 0)) * std::tanh(z(i, 2)) + (t > 0 ? gate(z(i, 1)) * at(before, i) : 0);
        });
        h = tabulate(shape, [&](const Shape& i) { return gate(z(i, 3)) * std::tanh(at(c, i)); });
        states.push_back(h);
      }
      Values expected = h;
      if (sequences) {
        Shape shape = h.shape;
        shape.insert(shape.begin() + 1, 3);
        expected = tabulate(shape, [&](const Shape& i) {
          return at(states[static_cast<std::size_t>(i[1])], {i[0], i[2], i[3], i[4]});
        });
      }
      EXPECT_TRUE(same(network.run(x), expected)) << sequences << padding;
    }
  }
}

TEST(KerasConvLSTM, WithChannelsFirstIsTheSameWithItsAxesMoved) {
  const std::string config =
      R"("filters": 3, "kernel_size": [3, 2], "strides": [2, 1], "padding": "same", "return_sequences": )";
  const Values x = random_values({2, 3, 2, 5, 4}, 8);
  const Values moved = tabulate({2, 3, 5, 4, 2}, [&](const Shape& i) {
    return at(x, {i[0], i[1], i[4], i[2], i[3]});
  });
  for (const bool sequences : {true, false}) {
    const std::string more = config + (sequences ? "true" : "false");
    Network last({3, 5, 4, 2}), first({3, 2, 5, 4});
    const auto w = last.add("ConvLSTM2D", more, {{3, 2, 2, 12}, {3, 2, 3, 12}, {12}});
    first.add_with("ConvLSTM2D", more + R"(, "data_format": "channels_first")", w);
    const Values found = run_graph(first.read(), {x}, true).front(), other = last.run(moved);
    Shape shape = other.shape;
    std::rotate(shape.end() - 3, shape.end() - 1, shape.end());
    EXPECT_TRUE(same(found, tabulate(shape,
                                     [&](Shape i) {
                                       std::rotate(i.end() - 3, i.end() - 2, i.end());
                                       return double{at(other, i)};
                                     })))
        << sequences;
  }
}

}  // namespace
}  // namespace assay::testing
