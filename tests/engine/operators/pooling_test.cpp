#include <cmath>
#include <limits>

#include "fixture.h"

namespace assay::testing {
namespace {

struct PoolingCase {
  Ints input, kernel;
  Ints stride = {}, dilation = {}, pads = {};
  std::int64_t ceil = 0;
  std::string auto_pad = "NOTSET";

  std::size_t rank() const { return kernel.size(); }
  Attributes attributes() const {
    Attributes all{{"kernel_shape", kernel}, {"ceil_mode", ceil}, {"auto_pad", auto_pad}};
    if (!stride.empty()) all["strides"] = stride;
    if (!dilation.empty()) all["dilations"] = dilation;
    if (!pads.empty()) all["pads"] = pads;
    return all;
  }
};

std::ostream& operator<<(std::ostream& out, const PoolingCase& c) {
  return out << to_string(c.input) << " kernel " << to_string(c.kernel) << " stride " << to_string(c.stride)
             << " dilation " << to_string(c.dilation) << " pads " << to_string(c.pads) << " ceil " << c.ceil
             << ' ' << c.auto_pad;
}

struct PlainPooling {
  Ints stride, dilation, begin, end, places;
};

PlainPooling plain_pooling(const PoolingCase& c) {
  const std::size_t rank = c.rank();
  PlainPooling p{c.stride, c.dilation, Ints(rank, 0), Ints(rank, 0), Ints(rank, 0)};
  if (p.stride.empty()) p.stride.assign(rank, 1);
  if (p.dilation.empty()) p.dilation.assign(rank, 1);
  for (std::size_t i = 0; i < rank; ++i) {
    const std::int64_t size = c.input[i + 2], reach = (c.kernel[i] - 1) * p.dilation[i] + 1;
    if (!c.pads.empty()) p.begin[i] = c.pads[i], p.end[i] = c.pads[rank + i];
    if (c.auto_pad.starts_with("SAME")) {
      std::int64_t total = 0;
      const std::int64_t wanted = (size + p.stride[i] - 1) / p.stride[i];
      while (size + total < reach || (size + total - reach) / p.stride[i] + 1 < wanted) ++total;
      p.begin[i] = p.end[i] = total / 2;
      if (total % 2 != 0) ++(c.auto_pad == "SAME_UPPER" ? p.end[i] : p.begin[i]);
    }
    // Places are counted one by one: whole windows, and in ceil mode a partial one that starts before the
    // padding at the end.
    const std::int64_t padded = size + p.begin[i] + p.end[i];
    for (std::int64_t start = 0;; start += p.stride[i]) {
      const bool whole = start + reach <= padded;
      const bool partial = c.ceil != 0 && start - p.stride[i] + reach < padded && start < size + p.begin[i];
      if (!whole && !partial) break;
      ++p.places[i];
    }
  }
  return p;
}

// join(values of the taps inside the input, number of taps inside the declared padding) for every window.
Array pool(const PoolingCase& c, const Array& x,
           const std::function<double(const std::vector<double>&, std::int64_t)>& join) {
  const PlainPooling p = plain_pooling(c);
  Ints shape{c.input[0], c.input[1]};
  shape.insert(shape.end(), p.places.begin(), p.places.end());
  return tabulate(shape, [&](const Ints& out) {
    std::vector<double> inside;
    std::int64_t padded = 0;
    for_each_index(c.kernel, [&](const Ints& tap) {
      Ints from{out[0], out[1]};
      bool in_input = true, in_padding = true;
      for (std::size_t i = 0; i < c.rank(); ++i) {
        const std::int64_t at = out[i + 2] * p.stride[i] + tap[i] * p.dilation[i] - p.begin[i];
        in_input = in_input && at >= 0 && at < c.input[i + 2];
        in_padding = in_padding && at < c.input[i + 2] + p.end[i];
        from.push_back(at);
      }
      if (in_input) inside.push_back(at_index(x, from));
      padded += in_padding;
    });
    return join(inside, padded);
  });
}

class Pool : public ::testing::TestWithParam<PoolingCase> {};

TEST_P(Pool, MaximumAgreesWithTheWindowsWrittenOut) {
  const Array x = random_tensor(GetParam().input, 1);
  EXPECT_TRUE(
      same(run("MaxPool", {x}, GetParam().attributes()), pool(GetParam(), x, [](const auto& in, auto) {
             double best = -std::numeric_limits<double>::infinity();
             for (const double v : in) best = std::max(best, v);
             return best;
           })));
  EXPECT_TRUE(gradients_agree("MaxPool", {x}, GetParam().attributes()));
}

TEST_P(Pool, IndicesPointAtTheMaxima) {
  const Array x = random_tensor(GetParam().input, 1);
  const auto outputs = run_all("MaxPool", {x}, GetParam().attributes(), 2);
  EXPECT_TRUE(same(x.reshape({-1}).index_select(0, outputs[1].reshape({-1})).reshape(outputs[0].shape()),
                   outputs[0]));
}

TEST_P(Pool, AverageAgreesWithTheWindowsWrittenOut) {
  const Array x = random_tensor(GetParam().input, 1);
  for (const std::int64_t include : {0, 1}) {
    Attributes attributes = GetParam().attributes();
    attributes["count_include_pad"] = include;
    EXPECT_TRUE(same(run("AveragePool", {x}, attributes),
                     pool(GetParam(), x,
                          [&](const auto& in, auto padded) {
                            double sum = 0;
                            for (const double v : in) sum += v;
                            return sum / static_cast<double>(include ? padded : std::ssize(in));
                          })))
        << include;
    EXPECT_TRUE(gradients_agree("AveragePool", {x}, attributes));
  }
}

TEST_P(Pool, NormAgreesWithTheWindowsWrittenOut) {
  const Array x = random_tensor(GetParam().input, 1);
  for (const std::int64_t p : {1, 2, 3}) {
    Attributes attributes = GetParam().attributes();
    attributes["p"] = p;
    EXPECT_TRUE(same(run("LpPool", {x}, attributes), pool(GetParam(), x, [&](const auto& in, auto) {
                       double sum = 0;
                       for (const double v : in) sum += std::pow(std::fabs(v), static_cast<double>(p));
                       return std::pow(sum, 1.0 / static_cast<double>(p));
                     })));
    EXPECT_TRUE(gradients_agree("LpPool", {x}, attributes));
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, Pool,
    ::testing::Values(
        PoolingCase{.input = {2, 2, 7}, .kernel = {3}, .stride = {2}},
        PoolingCase{.input = {1, 2, 8}, .kernel = {3}, .stride = {2}, .pads = {0, 1}, .ceil = 1},
        PoolingCase{
            .input = {1, 1, 9}, .kernel = {2}, .stride = {3}, .dilation = {2}, .pads = {1, 1}, .ceil = 1},
        PoolingCase{.input = {2, 3, 6, 5}, .kernel = {2, 2}, .stride = {2, 2}},
        PoolingCase{.input = {1, 2, 5, 6}, .kernel = {3, 2}, .stride = {2, 1}, .pads = {1, 1, 1, 1}},
        PoolingCase{.input = {1, 2, 5, 6}, .kernel = {2, 2}, .stride = {2, 2}, .ceil = 1},
        PoolingCase{
            .input = {1, 1, 6, 6}, .kernel = {3, 3}, .stride = {2, 2}, .pads = {1, 1, 1, 1}, .ceil = 1},
        PoolingCase{
            .input = {1, 1, 6, 7}, .kernel = {3, 2}, .stride = {2, 3}, .pads = {2, 0, 1, 1}, .ceil = 1},
        PoolingCase{.input = {1, 1, 7, 7}, .kernel = {2, 3}, .dilation = {2, 3}, .pads = {1, 2, 0, 1}},
        PoolingCase{.input = {1, 1, 5, 6}, .kernel = {2, 3}, .stride = {2, 2}, .auto_pad = "SAME_UPPER"},
        PoolingCase{.input = {1, 1, 5, 6}, .kernel = {2, 3}, .stride = {1, 2}, .auto_pad = "SAME_LOWER"},
        PoolingCase{.input = {1, 1, 5, 6}, .kernel = {2, 3}, .stride = {2, 2}, .auto_pad = "VALID"},
        PoolingCase{
            .input = {1, 2, 4, 3, 4}, .kernel = {2, 2, 2}, .stride = {2, 1, 2}, .pads = {0, 1, 0, 0, 0, 1}},
        PoolingCase{.input = {1, 1, 4, 4, 4}, .kernel = {2, 3, 2}, .stride = {2, 2, 2}, .ceil = 1}));

TEST(MaxPool, PadsWithMinusInfinity) {
  const Array x = array::full({1, 1, 2, 2}, -5.0f);
  const Attributes attributes{{"kernel_shape", Ints{2, 2}}, {"pads", Ints{1, 1, 0, 0}}};
  EXPECT_TRUE(same(run("MaxPool", {x}, attributes), x));
}

TEST(MaxPool, IndicesMayCountColumnByColumn) {
  const Array x = floats({1, 1, 2, 3}, {0, 5, 0, 0, 0, 0});
  const Attributes attributes{{"kernel_shape", Ints{2, 3}}, {"storage_order", std::int64_t{1}}};
  EXPECT_EQ(run_all("MaxPool", {x}, attributes, 2)[1].item<std::int64_t>(), 2);
}

Array slope_of_pool(const Array& x, const Array& of_results) {
  const array::Recording recorded(true);
  const Array point = x.requires_grad_(),
              y = run("MaxPool", {point}, {{"kernel_shape", Ints{2, 2}}, {"strides", Ints{2, 2}}});
  return array::gradients(std::span(&y, 1), std::span(&point, 1), std::span(&of_results, 1))[0];
}

TEST(MaxPool, TheFirstOfEqualMaximaTakesTheGradient) {
  const Array x = floats({1, 1, 2, 4}, {1, 3, 2, 2, /**/ 3, 3, 0, 2});
  EXPECT_TRUE(same(slope_of_pool(x, floats({1, 1, 1, 2}, {1, 2})),
                   floats({1, 1, 2, 4}, {0, 1, 2, 0, /**/ 0, 0, 0, 0}), 0));
}

TEST(MaxPool, KeepsWhatIsNoNumber) {
  const float nan = std::numeric_limits<float>::quiet_NaN(), inf = std::numeric_limits<float>::infinity();
  const Array x = floats({1, 1, 2, 4}, {1, nan, 5, 2, /**/ 3, 7, -inf, nan});
  EXPECT_TRUE(same(run("MaxPool", {x}, {{"kernel_shape", Ints{2, 2}}, {"strides", Ints{2, 2}}}),
                   floats({1, 1, 1, 2}, {nan, nan})));
  EXPECT_TRUE(same(slope_of_pool(x, floats({1, 1, 1, 2}, {1, 2})),
                   floats({1, 1, 2, 4}, {0, 1, 0, 0, /**/ 0, 0, 0, 2}), 0));
}

TEST(MaxPool, AcceptsBytes) {
  const Array x = array::tensor({1, 200, 3, 4}, DType::uint8).reshape({1, 1, 4});
  EXPECT_TRUE(same(run("MaxPool", {x}, {{"kernel_shape", Ints{2}}}),
                   array::tensor({200, 200, 4}, DType::uint8).reshape({1, 1, 3})));
}

TEST(GlobalPools, ReduceAllPositions) {
  const Array x = random_tensor({2, 3, 2, 2}, 1);
  const auto positions = [&](const Ints& i, const std::function<double(double, double)>& join, double start) {
    for_each_index({2, 2}, [&](const Ints& at) {
      start = join(start, at_index(x, {i[0], i[1], at[0], at[1]}));
    });
    return start;
  };
  const Ints shape{2, 3, 1, 1};
  EXPECT_TRUE(same(run("GlobalAveragePool", {x}),
                   tabulate(shape, [&](const Ints& i) { return positions(i, std::plus<>(), 0) / 4; })));
  EXPECT_TRUE(same(run("GlobalMaxPool", {x}), tabulate(shape, [&](const Ints& i) {
                     return positions(
                         i, [](double a, double b) { return std::max(a, b); }, -1e30);
                   })));
  EXPECT_TRUE(same(run("GlobalLpPool", {x}, {{"p", std::int64_t{3}}}), tabulate(shape, [&](const Ints& i) {
                     return std::cbrt(positions(
                         i, [](double a, double b) { return a + std::pow(std::fabs(b), 3); }, 0));
                   })));
  for (const auto* op : {"GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool"}) {
    EXPECT_TRUE(gradients_agree(op, {x}));
    EXPECT_EQ(fault_of(op, {array::ones({2, 3})}), Fault::model);
  }
}

TEST(Pools, RefuseWhatMakesNoSense) {
  const Array x = array::ones({1, 1, 4, 4});
  for (const auto* op : {"MaxPool", "AveragePool", "LpPool"}) {
    EXPECT_EQ(fault_of(op, {x}), Fault::model);
    EXPECT_EQ(fault_of(op, {x}, {{"kernel_shape", Ints{2}}}), Fault::model);
    EXPECT_EQ(fault_of(op, {x}, {{"kernel_shape", Ints{0, 2}}}), Fault::model);
    EXPECT_EQ(fault_of(op, {x}, {{"kernel_shape", Ints{5, 2}}}), Fault::model);
    EXPECT_EQ(fault_of(op, {x}, {{"kernel_shape", Ints{2, 2}}, {"strides", Ints{0, 1}}}), Fault::model);
    EXPECT_EQ(fault_of(op, {x}, {{"kernel_shape", Ints{2, 2}}, {"pads", Ints{-1, 0, 0, 0}}}), Fault::model);
    EXPECT_EQ(fault_of(op, {x}, {{"kernel_shape", Ints{2, 2}}, {"pads", Ints{1 << 29, 1 << 29, 0, 0}}}),
              Fault::resources);
    EXPECT_EQ(fault_of(op, {array::ones({2, 3})}, {{"kernel_shape", Ints{}}}), Fault::model);
  }
}

}  // namespace
}  // namespace assay::testing
