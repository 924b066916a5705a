#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <vector>

#include <assay/array_math.h>
#include <assay/error.h>
#include "assay/support/thread_pool.h"

namespace assay::array {
namespace {

Array numbers(const Shape& shape, DType type = DType::float64, std::uint64_t seed = 1) {
  std::vector<double> values(static_cast<std::size_t>(element_count(shape)));
  std::uint64_t state = seed * 7919 + 13;
  for (double& value : values) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    value = static_cast<double>(state >> 40) / static_cast<double>(1 << 23) - 1;
  }
  return Array::of(shape, values).to(type);
}

struct Case {
  const char* name;
  Shape a, filter;
  Convolution how;
};

std::vector<Case> cases() {
  return {
      {"one axis", {2, 3, 9}, {4, 3, 3}, {{2}, {1}, {1}, {0}, false, 1}},
      {"one axis, dilated", {2, 4, 11}, {6, 2, 3}, {{1}, {2}, {3}, {0}, false, 2}},
      {"two axes", {3, 2, 6, 7}, {5, 2, 3, 2}, {{1, 2}, {1, 0}, {1, 1}, {0, 0}, false, 1}},
      {"two axes, groups", {2, 6, 5, 8}, {9, 2, 3, 3}, {{2, 1}, {2, 1}, {1, 2}, {0, 0}, false, 3}},
      {"pointwise", {3, 5, 4, 4}, {7, 5, 1, 1}, {{1, 1}, {0, 0}, {1, 1}, {0, 0}, false, 1}},
      {"pointwise with strides", {3, 5, 5, 4}, {7, 5, 1, 1}, {{2, 3}, {0, 0}, {1, 1}, {0, 0}, false, 1}},
      {"pointwise, large", {2, 3, 20, 21}, {2, 3, 1, 1}, {{1, 1}, {0, 0}, {1, 1}, {0, 0}, false, 1}},
      {"large plane", {2, 3, 24, 23}, {2, 3, 3, 3}, {{1, 1}, {1, 1}, {1, 1}, {0, 0}, false, 1}},
      {"depthwise", {2, 4, 7, 6}, {4, 1, 3, 3}, {{1, 1}, {1, 1}, {1, 1}, {0, 0}, false, 4}},
      {"depthwise, several", {2, 3, 9, 8}, {6, 1, 3, 2}, {{2, 3}, {1, 0}, {2, 1}, {0, 0}, false, 3}},
      {"depthwise, uncovered", {1, 2, 9, 9}, {2, 1, 2, 2}, {{4, 4}, {0, 0}, {1, 1}, {0, 0}, false, 2}},
      {"three axes",
       {2, 2, 4, 5, 3},
       {3, 2, 2, 3, 2},
       {{1, 2, 1}, {0, 1, 1}, {1, 1, 2}, {0, 0, 0}, false, 1}},
      {"three axes, depthwise",
       {2, 2, 4, 5, 3},
       {2, 1, 2, 3, 2},
       {{2, 1, 1}, {1, 1, 0}, {1, 1, 1}, {0, 0, 0}, false, 2}},
      {"transposed", {2, 3, 4, 5}, {3, 4, 3, 2}, {{2, 3}, {1, 0}, {1, 1}, {1, 2}, true, 1}},
      {"transposed, groups", {3, 4, 5, 4}, {4, 3, 3, 3}, {{2, 2}, {1, 2}, {2, 1}, {1, 0}, true, 2}},
      {"transposed, depthwise", {2, 4, 5, 4}, {4, 1, 3, 3}, {{2, 2}, {1, 1}, {1, 1}, {1, 1}, true, 4}},
      {"transposed, pointwise", {2, 4, 3, 3}, {4, 2, 1, 1}, {{1, 1}, {0, 0}, {1, 1}, {0, 0}, true, 1}},
      {"transposed, pointwise, large",
       {2, 3, 17, 19},
       {3, 2, 1, 1},
       {{1, 1}, {0, 0}, {1, 1}, {0, 0}, true, 1}},
      {"transposed, one axis", {2, 3, 6}, {3, 2, 4}, {{3}, {2}, {1}, {2}, true, 1}},
      {"transposed, three axes",
       {1, 2, 3, 2, 3},
       {2, 2, 2, 2, 2},
       {{2, 1, 2}, {0, 0, 1}, {1, 1, 1}, {0, 0, 1}, true, 1}},
      {"only padding", {1, 2, 3, 3}, {2, 2, 1, 1}, {{2, 2}, {2, 2}, {1, 1}, {0, 0}, false, 1}},
  };
}

// Sizes of the last three axes, those in front of fewer being 1.
std::vector<std::int64_t> last_three(const Shape& shape, std::int64_t otherwise = 1) {
  std::vector<std::int64_t> sizes(3, otherwise);
  const std::size_t skipped = shape.size() > 3 ? 2 : 0;
  for (std::size_t i = skipped; i < shape.size(); ++i) sizes[3 - (shape.size() - i)] = shape[i];
  return sizes;
}
std::vector<std::int64_t> spatial(const Shape& shape) {
  return last_three(Shape(shape.begin() + 2, shape.end()));
}

// visit(image index, position index, filter index) of every product of a convolution or, transposed, the
// other way.
void each_product(const Shape& image, const Shape& positions, const Shape& filter, const Convolution& how,
                  const std::function<void(std::int64_t, std::int64_t, std::int64_t)>& visit) {
  const auto I = spatial(image), P = spatial(positions), K = spatial(filter);
  const auto S = last_three(how.stride), D = last_three(how.dilation), B = last_three(how.padding, 0);
  const std::int64_t of_group = filter[0] / how.groups;
  for (std::int64_t n = 0; n < image[0]; ++n)
    for (std::int64_t o = 0; o < filter[0]; ++o)
      for (std::int64_t c = 0; c < filter[1]; ++c)
        for (std::int64_t p = 0; p < P[0] * P[1] * P[2]; ++p)
          for (std::int64_t k = 0; k < K[0] * K[1] * K[2]; ++k) {
            const std::int64_t z = p / (P[1] * P[2]) * S[0] + k / (K[1] * K[2]) * D[0] - B[0];
            const std::int64_t y = p / P[2] % P[1] * S[1] + k / K[2] % K[1] * D[1] - B[1];
            const std::int64_t x = p % P[2] * S[2] + k % K[2] * D[2] - B[2];
            if (z < 0 || z >= I[0] || y < 0 || y >= I[1] || x < 0 || x >= I[2]) continue;
            const std::int64_t channel = o / of_group * filter[1] + c;
            visit(((n * image[1] + channel) * I[0] + z) * I[1] * I[2] + y * I[2] + x,
                  (n * positions[1] + o) * P[0] * P[1] * P[2] + p,
                  (o * filter[1] + c) * K[0] * K[1] * K[2] + k);
          }
}

struct Written {
  std::vector<double> out, of_a, of_filter, of_bias;
};

// A second writing, product by product, with the gradients for a seed.
Written written(const Array& a, const Array& filter, const Array& bias, const Array& seed,
                const Convolution& how) {
  const auto x = a.as<double>(), w = filter.as<double>(), b = bias.as<double>(), g = seed.as<double>();
  Written found{std::vector<double>(g.size()), std::vector<double>(x.size()), std::vector<double>(w.size()),
                std::vector<double>(b.size())};
  const std::size_t plane = g.size() / static_cast<std::size_t>(seed.size(0) * seed.size(1));
  for (std::size_t i = 0; i < g.size(); ++i) {
    found.out[i] = b[i / plane % b.size()];
    found.of_bias[i / plane % b.size()] += g[i];
  }
  const Shape &image = how.transposed ? seed.shape() : a.shape(),
              &positions = how.transposed ? a.shape() : seed.shape();
  each_product(image, positions, filter.shape(), how, [&](std::int64_t i, std::int64_t p, std::int64_t k) {
    const auto in = static_cast<std::size_t>(how.transposed ? p : i),
               out = static_cast<std::size_t>(how.transposed ? i : p);
    const auto tap = static_cast<std::size_t>(k);
    found.out[out] += x[in] * w[tap];
    found.of_a[in] += g[out] * w[tap];
    found.of_filter[tap] += g[out] * x[in];
  });
  return found;
}

void expect_close(const Array& found, const std::vector<double>& expected, double tolerance) {
  const Array doubles = found.detach().contiguous().to(DType::float64);
  ASSERT_EQ(static_cast<std::size_t>(doubles.count()), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i)
    ASSERT_NEAR(doubles.as<double>()[i], expected[i], tolerance) << i;
}

std::int64_t results_of(const Case& c) { return c.how.transposed ? c.filter[1] * c.how.groups : c.filter[0]; }

TEST(Convolution, AgreesWithASecondWritingAndItsGradients) {
  for (const DType type : {DType::float64, DType::float32}) {
    for (const Case& c : cases()) {
      SCOPED_TRACE(c.name);
      const double tolerance = type == DType::float64 ? 1e-11 : 3e-4;
      const Array a = numbers(c.a, type).requires_grad_(),
                  filter = numbers(c.filter, type, 2).requires_grad_();
      const Array bias = numbers({results_of(c)}, type, 3).requires_grad_();
      const Array out = convolution(a, filter, bias, c.how);
      const Array seed = numbers(out.shape(), type, 4);
      const auto as_doubles = [](const Array& array) { return array.detach().to(DType::float64); };
      const Written expected =
          written(as_doubles(a), as_doubles(filter), as_doubles(bias), as_doubles(seed), c.how);
      expect_close(out, expected.out, tolerance);
      const Arrays points{a, filter, bias};
      const Arrays found = gradients(std::span(&out, 1), points, std::span(&seed, 1));
      expect_close(found[0], expected.of_a, tolerance);
      expect_close(found[1], expected.of_filter, tolerance);
      expect_close(found[2], expected.of_bias, tolerance);
      for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(found[i].shape(), points[i].shape());
    }
  }
}

TEST(Convolution, GivesTheNumbersOfPyTorch) {
  const Array a = arange(0, 16, DType::float32).reshape({1, 1, 4, 4}),
              filter = arange(1, 5, DType::float32).reshape({1, 1, 2, 2});
  const Array out = convolution(a, filter, {}, {{2, 2}, {1, 1}, {1, 1}, {0, 0}, false, 1});
  EXPECT_EQ(out.shape(), (Shape{1, 1, 3, 3}));
  expect_close(out, {0, 11, 9, 40, 84, 40, 24, 41, 15}, 0);
  const Array back =
      convolution(a.narrow(2, 0, 2).narrow(3, 0, 2), filter, Array::of<float>({1}, std::vector<float>{0.5f}),
                  {{2, 2}, {1, 1}, {1, 1}, {1, 1}, true, 1});
  EXPECT_EQ(back.shape(), (Shape{1, 1, 3, 3}));
  expect_close(back, {0.5, 3.5, 4.5, 8.5, 5.5, 10.5, 16.5, 15.5, 20.5}, 0);
}

TEST(Convolution, ARecordDoesNotDependOnItsBatchNorAnythingOnThreads) {
  for (const Case& c : cases()) {
    SCOPED_TRACE(c.name);
    Shape many = c.a;
    many[0] = 37;
    const Array a = numbers(many, DType::float32).requires_grad_(),
                filter = numbers(c.filter, DType::float32, 2).requires_grad_();
    const Array bias = numbers({results_of(c)}, DType::float32, 3);
    Arrays by_threads;
    for (const std::size_t threads : {1, 2, 3, 64}) {
      set_loop_threads(threads);
      const Array out = convolution(a, filter, bias, c.how), seed = numbers(out.shape(), DType::float32, 5);
      const Arrays points{a, filter};
      const Arrays found = gradients(std::span(&out, 1), points, std::span(&seed, 1));
      const Array all = cat({out.detach().flatten(), found[0].flatten(), found[1].flatten()}, 0);
      by_threads.push_back(all);
      EXPECT_TRUE(equal(by_threads[0], all)) << threads;
      for (const std::int64_t record : {0, 20, 36}) {
        const Array one = a.detach().narrow(0, record, 1).requires_grad_(),
                    alone = convolution(one, filter.detach(), bias, c.how);
        EXPECT_TRUE(equal(alone.detach(), out.detach().narrow(0, record, 1)));
        const Array of_one = seed.narrow(0, record, 1);
        EXPECT_TRUE(equal(gradients(std::span(&alone, 1), std::span(&one, 1), std::span(&of_one, 1))[0],
                          found[0].narrow(0, record, 1)));
      }
    }
    set_loop_threads(0);
  }
}

TEST(Convolution, TakesArraysThatDoNotLieInOrder) {
  const Array a = numbers({5, 6, 3, 2}).permute({3, 2, 1, 0}),
              filter = numbers({3, 3, 3, 4}, DType::float64, 2).permute({3, 0, 1, 2});
  const Array bias = numbers({8}, DType::float64, 3).slice(0, 0, 8, 2);
  const Convolution how{{1, 1}, {1, 1}, {1, 1}, {0, 0}, false, 1};
  EXPECT_TRUE(
      equal(convolution(a, filter, bias, how), convolution(a.clone(), filter.clone(), bias.clone(), how)));
  const Array repeated = numbers({1, 3, 1, 5}).expand({2, 3, 6, 5});
  EXPECT_TRUE(
      equal(convolution(repeated, filter, bias, how), convolution(repeated.clone(), filter, bias, how)));
}

TEST(Convolution, OnlyWantedGradientsAreComputed) {
  const Array a = numbers({1, 2, 4}), filter = numbers({3, 2, 2}).requires_grad_();
  const Array out = convolution(a, filter, {}, {});
  const Arrays points{filter};
  EXPECT_TRUE(gradients(std::span(&out, 1), points)[0].defined());
  EXPECT_FALSE(convolution(a, filter.detach(), {}, {}).requires_grad());
}

TEST(Convolution, TakesEmptyBatchesAndNoChannels) {
  const Array none = zeros({0, 2, 5, 5}, DType::float64).requires_grad_(),
              filter = numbers({3, 2, 3, 3}).requires_grad_();
  const Array out = convolution(none, filter, {}, {});
  EXPECT_EQ(out.shape(), (Shape{0, 3, 3, 3}));
  const Arrays points{none, filter};
  const Arrays found = gradients(std::span(&out, 1), points);
  EXPECT_EQ(found[0].shape(), none.shape());
  EXPECT_TRUE(equal(found[1], zeros_like(filter.detach())));
  const Array bias = Array::of<double>({2}, std::vector<double>{1, 2});
  expect_close(convolution(zeros({1, 0, 2}, DType::float64), zeros({2, 0, 1}, DType::float64), bias, {}),
               {1, 1, 2, 2}, 0);
}

void expect_refused(const Array& a, const Array& filter, const Array& bias, const Convolution& how,
                    const std::string& part) {
  try {
    convolution(a, filter, bias, how);
    ADD_FAILURE() << "not refused: " << part;
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), Fault::model);
    EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
  }
}

TEST(Convolution, RefusesWhatDoesNotFit) {
  const Array a = numbers({1, 2, 4, 4}), filter = numbers({2, 2, 3, 3});
  expect_refused(a, numbers({2, 3, 3, 3}), {}, {}, "has 2 channels where 3 are needed");
  expect_refused(a, numbers({3, 1, 3, 3}), {}, {{}, {}, {}, {}, false, 2}, "2 groups");
  expect_refused(a, numbers({2, 2, 5, 3}), {}, {}, "does not fit into 4");
  expect_refused(a, numbers({2, 2, 3}), {}, {}, "the same one to three axes");
  expect_refused(numbers({2, 4}), numbers({2, 2}), {}, {}, "one to three axes");
  expect_refused(a, numbers({2, 2, 0, 3}), {}, {}, "does not fit");
  expect_refused(a, filter, numbers({3}), {}, "bias");
  expect_refused(a, filter.to(DType::float32), {}, {}, "float32");
  expect_refused(a.to(DType::int64), filter.to(DType::int64), {}, {}, "int64");
  expect_refused(a, filter, {}, {{1}, {}, {}, {}, false, 1}, "one an axis");
  expect_refused(a, filter, {}, {{0, 1}, {}, {}, {}, false, 1}, "strides 0");
  expect_refused(a, filter, {}, {{}, {-1, 0}, {}, {}, false, 1}, "padding -1");
  expect_refused(a, filter, {}, {{}, {}, {}, {}, false, 0}, "0 groups");
  expect_refused(a, filter, {}, {{}, {}, {}, {1, 0}, true, 1}, "output padding 1");
  expect_refused(a, filter, {}, {{}, {4, 4}, {}, {}, true, 1}, "leaves nothing");
  expect_refused(a, filter, {}, {{}, {}, {std::int64_t{1} << 40, 1}, {}, false, 1}, "dilations");
  EXPECT_THROW(convolution(a, filter, {}, {{}, {2147483647, 2147483647}, {}, {}, false, 1}), Error);
}

TEST(Convolution, FarApartTapsNeedNoMoreMemory) {
  const Array a = numbers({1, 2, 3, 3}), filter = numbers({2, 1, 2, 2}, DType::float64, 2);
  const std::int64_t far = 1 << 30;
  const Array out = convolution(a, filter, {}, {{1, 1}, {far / 2, far / 2}, {far, far}, {}, false, 2});
  EXPECT_EQ(out.shape(), (Shape{1, 2, 3, 3}));
  EXPECT_TRUE(equal(out, zeros_like(out)));
}

}  // namespace
}  // namespace assay::array
