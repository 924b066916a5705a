#include "fixture.h"

namespace assay::testing {
namespace {

struct Case {
  Ints input, filter;  // shapes
  std::int64_t group = 1;
  Ints stride = {}, dilation = {}, pads = {};
  std::string auto_pad = "NOTSET";

  std::size_t rank() const { return input.size() - 2; }
  Attributes attributes() const {
    Attributes all{{"group", group}, {"auto_pad", auto_pad}};
    if (!stride.empty()) all["strides"] = stride;
    if (!dilation.empty()) all["dilations"] = dilation;
    if (!pads.empty()) all["pads"] = pads;
    return all;
  }
};

std::ostream& operator<<(std::ostream& out, const Case& c) {
  return out << to_string(c.input) << " * " << to_string(c.filter) << " group " << c.group << " stride "
             << to_string(c.stride) << " dilation " << to_string(c.dilation) << " pads " << to_string(c.pads)
             << ' ' << c.auto_pad;
}

struct Plain {
  Ints stride, dilation, begin, end;
};

// The attributes with their defaults, and auto_pad worked out from its definition for each axis.
Plain plain(const Case& c) {
  const std::size_t rank = c.rank();
  Plain p{c.stride, c.dilation, Ints(rank, 0), Ints(rank, 0)};
  if (p.stride.empty()) p.stride.assign(rank, 1);
  if (p.dilation.empty()) p.dilation.assign(rank, 1);
  for (std::size_t i = 0; i < rank; ++i) {
    if (!c.pads.empty()) p.begin[i] = c.pads[i], p.end[i] = c.pads[rank + i];
    if (!c.auto_pad.starts_with("SAME")) continue;
    std::int64_t total = 0;  // the least padding with ceil(input / stride) places
    const std::int64_t wanted = (c.input[i + 2] + p.stride[i] - 1) / p.stride[i];
    const std::int64_t reach = (c.filter[i + 2] - 1) * p.dilation[i] + 1;
    while (c.input[i + 2] + total < reach || (c.input[i + 2] + total - reach) / p.stride[i] + 1 < wanted)
      ++total;
    p.begin[i] = p.end[i] = total / 2;
    if (total % 2 != 0) ++(c.auto_pad == "SAME_UPPER" ? p.end[i] : p.begin[i]);
  }
  return p;
}

Array plain_convolution(const Case& c, const Array& x, const Array& w, const Array& b) {
  const Plain p = plain(c);
  Ints shape{c.input[0], c.filter[0]};
  for (std::size_t i = 0; i < c.rank(); ++i) {
    const std::int64_t reach = (c.filter[i + 2] - 1) * p.dilation[i] + 1;
    shape.push_back((c.input[i + 2] + p.begin[i] + p.end[i] - reach) / p.stride[i] + 1);
  }
  const std::int64_t per_group = c.filter[0] / c.group;
  Ints taps(c.filter.begin() + 1, c.filter.end());
  return tabulate(shape, [&](const Ints& out) {
    double sum = b.defined() ? at_index(b, {out[1]}) : 0;
    for_each_index(taps, [&](const Ints& tap) {
      Ints from{out[0], out[1] / per_group * c.filter[1] + tap[0]}, weight{out[1], tap[0]};
      for (std::size_t i = 0; i < c.rank(); ++i) {
        from.push_back(out[i + 2] * p.stride[i] - p.begin[i] + tap[i + 1] * p.dilation[i]);
        weight.push_back(tap[i + 1]);
      }
      sum += at_index(x, from) * at_index(w, weight);
    });
    return sum;
  });
}

class Convolution : public ::testing::TestWithParam<Case> {};

TEST_P(Convolution, AgreesWithTheSumWrittenOut) {
  const Case& c = GetParam();
  const Array x = random_tensor(c.input, 1), w = random_tensor(c.filter, 2),
              b = random_tensor({c.filter[0]}, 3);
  EXPECT_TRUE(same(run("Conv", {x, w, b}, c.attributes()), plain_convolution(c, x, w, b), 1e-4));
  EXPECT_TRUE(same(run("Conv", {x, w}, c.attributes()), plain_convolution(c, x, w, {}), 1e-4));
}

TEST_P(Convolution, HasTheRightGradients) {
  const Case& c = GetParam();
  const Array x = random_tensor(c.input, 1), w = random_tensor(c.filter, 2),
              b = random_tensor({c.filter[0]}, 3);
  EXPECT_TRUE(gradients_agree("Conv", {x, w, b}, c.attributes()));
}

INSTANTIATE_TEST_SUITE_P(
    All, Convolution,
    ::testing::Values(
        Case{.input = {2, 2, 7}, .filter = {3, 2, 3}},
        Case{.input = {1, 2, 7}, .filter = {2, 2, 3}, .stride = {2}, .dilation = {2}, .pads = {3, 1}},
        Case{.input = {2, 1, 5, 6}, .filter = {2, 1, 3, 2}, .pads = {1, 1, 1, 1}},
        Case{.input = {1, 4, 5, 5},
             .filter = {4, 1, 3, 3},
             .group = 4,
             .stride = {2, 1},
             .pads = {0, 1, 2, 0}},
        Case{.input = {1, 4, 5, 5}, .filter = {6, 2, 2, 2}, .group = 2, .dilation = {1, 2}},
        Case{.input = {1, 1, 5, 6}, .filter = {1, 1, 2, 4}, .stride = {2, 2}, .auto_pad = "SAME_UPPER"},
        Case{.input = {1, 1, 5, 6}, .filter = {1, 1, 2, 4}, .stride = {2, 3}, .auto_pad = "SAME_LOWER"},
        Case{.input = {1, 1, 5, 6}, .filter = {1, 1, 2, 4}, .stride = {2, 1}, .auto_pad = "VALID"},
        Case{.input = {1, 2, 3, 4, 3},
             .filter = {2, 2, 2, 3, 1},
             .stride = {1, 2, 1},
             .pads = {0, 1, 0, 1, 1, 0}}));

struct TransposedCase {
  Ints input, filter;  // filter: [input channels, output channels / group, ...]
  std::int64_t group = 1;
  Attributes attributes = {};
  Ints stride = {}, dilation = {}, begin = {}, size = {};  // what the attributes amount to
};

// Every input element adds its multiple of the filter to the output; then the padding is taken away.
Array plain_transposed(const TransposedCase& c, const Array& x, const Array& w, const Array& b) {
  const std::size_t rank = c.size.size();
  Ints shape{c.input[0], c.filter[1] * c.group};
  shape.insert(shape.end(), c.size.begin(), c.size.end());
  const std::int64_t per_group = c.input[1] / c.group;
  Array y = tabulate(
      shape, [&](const Ints& i) { return b.defined() ? at_index(b, {i[1]}) : 0; }, DType::float64);
  for_each_index(c.input, [&](const Ints& i) {
    for_each_index(Ints(c.filter.begin() + 1, c.filter.end()), [&](const Ints& tap) {
      Ints to{i[0], i[1] / per_group * c.filter[1] + tap[0]}, weight{i[1], tap[0]};
      for (std::size_t k = 0; k < rank; ++k) {
        to.push_back(i[k + 2] * c.stride[k] + tap[k + 1] * c.dilation[k] - c.begin[k]);
        weight.push_back(tap[k + 1]);
      }
      Array element = y;
      for (std::size_t k = 0; k < to.size(); ++k) {
        if (to[k] < 0 || to[k] >= shape[k]) return;
        element = element.select(0, to[k]);
      }
      element.add_(at_index(x, i) * at_index(w, weight));
    });
  });
  return y.to(DType::float32);
}

class TransposedConvolution : public ::testing::TestWithParam<TransposedCase> {};

TEST_P(TransposedConvolution, AgreesWithTheSumWrittenOut) {
  const TransposedCase& c = GetParam();
  const Array x = random_tensor(c.input, 1), w = random_tensor(c.filter, 2);
  const Array b = random_tensor({c.filter[1] * c.group}, 3);
  Attributes attributes = c.attributes;
  attributes["group"] = c.group;
  EXPECT_TRUE(same(run("ConvTranspose", {x, w, b}, attributes), plain_transposed(c, x, w, b), 1e-4));
  EXPECT_TRUE(same(run("ConvTranspose", {x, w}, attributes), plain_transposed(c, x, w, {}), 1e-4));
  EXPECT_TRUE(gradients_agree("ConvTranspose", {x, w, b}, attributes));
}

Attribute text(std::string value) { return value; }

INSTANTIATE_TEST_SUITE_P(
    All, TransposedConvolution,
    ::testing::Values(
        TransposedCase{.input = {2, 2, 4},
                       .filter = {2, 3, 3},
                       .stride = {1},
                       .dilation = {1},
                       .begin = {0},
                       .size = {6}},
        TransposedCase{.input = {1, 2, 3, 4},
                       .filter = {2, 1, 3, 2},
                       .attributes = {{"strides", Ints{2, 3}},
                                      {"pads", Ints{1, 0, 1, 0}},
                                      {"output_padding", Ints{1, 0}}},
                       .stride = {2, 3},
                       .dilation = {1, 1},
                       .begin = {1, 0},
                       .size = {6, 11}},
        TransposedCase{
            .input = {1, 2, 3, 3},
            .filter = {2, 1, 2, 2},
            .attributes = {{"strides", Ints{2, 2}}, {"dilations", Ints{2, 1}}, {"pads", Ints{1, 0, 0, 2}}},
            .stride = {2, 2},
            .dilation = {2, 1},
            .begin = {1, 0},
            .size = {6, 4}},
        TransposedCase{.input = {1, 4, 3},
                       .filter = {4, 2, 3},
                       .group = 2,
                       .attributes = {{"strides", Ints{2}}},
                       .stride = {2},
                       .dilation = {1},
                       .begin = {0},
                       .size = {7}},
        TransposedCase{.input = {1, 1, 3},
                       .filter = {1, 1, 2},
                       .attributes = {{"strides", Ints{2}}, {"output_padding", Ints{3}}},
                       .stride = {2},
                       .dilation = {1},
                       .begin = {0},
                       .size = {9}},
        // Padding of 3 in all: the odd one goes to the end for SAME_UPPER, to the beginning otherwise.
        TransposedCase{.input = {1, 1, 3},
                       .filter = {1, 1, 5},
                       .attributes = {{"strides", Ints{2}}, {"auto_pad", text("SAME_UPPER")}},
                       .stride = {2},
                       .dilation = {1},
                       .begin = {1},
                       .size = {6}},
        TransposedCase{.input = {1, 1, 3},
                       .filter = {1, 1, 5},
                       .attributes = {{"strides", Ints{2}}, {"auto_pad", text("SAME_LOWER")}},
                       .stride = {2},
                       .dilation = {1},
                       .begin = {2},
                       .size = {6}},
        TransposedCase{.input = {1, 1, 3},
                       .filter = {1, 1, 5},
                       .attributes = {{"strides", Ints{2}}, {"output_shape", Ints{6}}},
                       .stride = {2},
                       .dilation = {1},
                       .begin = {2},
                       .size = {6}},
        TransposedCase{.input = {1, 1, 3},
                       .filter = {1, 1, 2},
                       .attributes = {{"strides", Ints{2}}, {"output_shape", Ints{8}}},
                       .stride = {2},
                       .dilation = {1},
                       .begin = {0},
                       .size = {8}},
        TransposedCase{.input = {1, 2, 2, 3, 2},
                       .filter = {2, 1, 2, 1, 3},
                       .attributes = {{"strides", Ints{1, 2, 2}}, {"pads", Ints{0, 0, 1, 0, 0, 1}}},
                       .stride = {1, 2, 2},
                       .dilation = {1, 1, 1},
                       .begin = {0, 0, 1},
                       .size = {3, 5, 3}}));

TEST(TransposedConvolution, RefusesWhatMakesNoSense) {
  const Array x = array::ones({1, 2, 4, 4}), w = array::ones({2, 2, 3, 3});
  const auto fault = [&](Attributes attributes) {
    return fault_of("ConvTranspose", {x, w}, std::move(attributes));
  };
  EXPECT_EQ(fault({{"group", std::int64_t{0}}}), Fault::model);
  EXPECT_EQ(fault({{"group", std::int64_t{3}}}), Fault::model);
  EXPECT_EQ(fault({{"strides", Ints{-1, 1}}}), Fault::model);
  EXPECT_EQ(fault({{"pads", Ints{9, 9, 9, 9}}}), Fault::model);
  EXPECT_EQ(fault({{"output_padding", Ints{-1, 0}}}), Fault::model);
  EXPECT_EQ(fault({{"output_shape", Ints{0, 8}}}), Fault::model);
  EXPECT_EQ(fault({{"output_shape", Ints{8}}}), Fault::model);
  EXPECT_EQ(fault({{"strides", Ints{1 << 29, 1 << 29}}}), Fault::resources);
}

TEST(Convolution, RefusesWhatMakesNoSense) {
  const Array x = array::ones({1, 2, 4, 4}), w = array::ones({2, 2, 3, 3});
  EXPECT_EQ(fault_of("Conv", {x, w}, {{"group", std::int64_t{0}}}), Fault::model);
  EXPECT_EQ(fault_of("Conv", {x, w}, {{"group", std::int64_t{-2}}}), Fault::model);
  EXPECT_EQ(fault_of("Conv", {x, w}, {{"strides", Ints{0, 1}}}), Fault::model);
  EXPECT_EQ(fault_of("Conv", {x, w}, {{"strides", Ints{1}}}), Fault::model);
  EXPECT_EQ(fault_of("Conv", {x, w}, {{"dilations", Ints{-1, 1}}}), Fault::model);
  EXPECT_EQ(fault_of("Conv", {x, w}, {{"dilations", Ints{3, 3}}}), Fault::model);
  EXPECT_EQ(fault_of("Conv", {x, w}, {{"pads", Ints{-1, 0, 0, 0}}}), Fault::model);
  EXPECT_EQ(fault_of("Conv", {x, w}, {{"auto_pad", std::string("SOME")}}), Fault::model);
  EXPECT_EQ(fault_of("Conv", {x, w}, {{"kernel_shape", Ints{2, 2}}}), Fault::model);
  EXPECT_EQ(fault_of("Conv", {x, w, array::ones({3})}), Fault::model);
  EXPECT_EQ(fault_of("Conv", {x, array::ones({2, 3, 3, 3})}), Fault::model);
  EXPECT_EQ(fault_of("Conv", {x, array::ones({2, 2, 0, 3})}), Fault::model);
  EXPECT_EQ(fault_of("Conv", {x}), Fault::model);
  EXPECT_EQ(fault_of("Conv", {array::ones({1, 2}), array::ones({2, 2})}), Fault::model);
  EXPECT_EQ(fault_of("Conv", {x, w}, {{"pads", Ints{1 << 29, 1 << 29, 0, 0}}}), Fault::resources);
}

}  // namespace
}  // namespace assay::testing
