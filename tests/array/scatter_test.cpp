#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include <assay/array_math.h>
#include <assay/error.h>
#include "assay/support/thread_pool.h"

namespace assay::array {
namespace {

Array doubles(Shape shape, const std::vector<double>& values) { return Array::of(std::move(shape), values); }
Array whole_numbers(Shape shape, const std::vector<std::int64_t>& values) {
  return Array::of(std::move(shape), values);
}

std::vector<double> as_doubles(const Array& array) {
  const Array list = array.detach().contiguous().to(DType::float64);
  return {list.as<double>().begin(), list.as<double>().end()};
}

void expect_scattered(const Array& array, const Shape& shape, const std::vector<double>& values) {
  EXPECT_EQ(array.shape(), shape);
  const std::vector<double> found = as_doubles(array);
  ASSERT_EQ(found.size(), values.size());
  for (std::size_t i = 0; i < values.size(); ++i) EXPECT_DOUBLE_EQ(found[i], values[i]) << i;
}

void expect_misfit(const std::function<void()>& call, const std::string& part) {
  try {
    call();
    ADD_FAILURE() << "no error: " << part;
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), Fault::model) << error.what();
    EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
  }
}

// An example in which positions, values and elements are equal here and there.
struct Example {
  Array x = doubles({2, 4}, {1, 5, 2, 0, 3, 0, 4, 2});
  Array values = doubles({3, 3}, {2, 5, 0, 3, 3, -1, 7, 1, 2});
  Array positions = whole_numbers({3, 3}, {0, 1, 0, 1, 1, 0, 0, 0, 1});
};

// Numbers without equal ones, and not near 0.
Array apart(const Shape& shape, unsigned seed) {
  std::vector<double> values(static_cast<std::size_t>(element_count(shape)));
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] =
        static_cast<double>((i * 37 + seed * 11) % 101) / 25 - 2.013 + static_cast<double>(seed) * 1e-3;
  return doubles(shape, values);
}

void expect_slopes_of_both(const std::function<Array(const Array&, const Array&)>& call, const Array& a,
                           const Array& b) {
  const auto loss = [&](const Array& p, const Array& q) {
    const Array result = call(p, q);
    return sum(result * result);
  };
  const Arrays points{a.requires_grad_(), b.requires_grad_()};
  const Array total = loss(points[0], points[1]);
  const Arrays found = gradients(std::span(&total, 1), points);
  for (std::size_t k = 0; k < 2; ++k) {
    ASSERT_EQ(found[k].shape(), points[k].shape());
    const std::vector<double> slopes = as_doubles(found[k]);
    for (std::size_t i = 0; i < slopes.size(); ++i) {
      const auto moved = [&](double by) {
        Arrays at{a, b};
        at[k] = at[k].contiguous().clone();
        at[k].elements<double>()[i] += by;
        return loss(at[0], at[1]).item<double>();
      };
      const double slope = (moved(1e-5) - moved(-1e-5)) / 2e-5;
      EXPECT_NEAR(slopes[i], slope, 1e-6 * (1 + std::abs(slope))) << k << ", " << i;
    }
  }
}

// What is written one position after the other, in three axes.
std::vector<double> written_plainly(const Array& a, std::int64_t axis, const Array& positions,
                                    const Array& values,
                                    const std::function<double(double, double)>& combine) {
  std::vector<double> out = as_doubles(a);
  const Shape& shape = positions.shape();
  Shape at(3);
  for (at[0] = 0; at[0] < shape[0]; ++at[0]) {
    for (at[1] = 0; at[1] < shape[1]; ++at[1]) {
      for (at[2] = 0; at[2] < shape[2]; ++at[2]) {
        const auto element = [&at](const Array& array) {
          return array.select(0, at[0]).select(0, at[1]).select(0, at[2]).item<double>();
        };
        Shape to = at;
        to[static_cast<std::size_t>(axis)] = static_cast<std::int64_t>(element(positions));
        double& target = out[static_cast<std::size_t>((to[0] * a.size(1) + to[1]) * a.size(2) + to[2])];
        target = combine(target, element(values));
      }
    }
  }
  return out;
}

TEST(Scatter, LeavesTheLastValueOfEachPosition) {
  const Example e;
  expect_scattered(scatter(e.x, 0, e.positions, e.values), {2, 4}, {7, 1, -1, 0, 3, 3, 2, 2});
  expect_scattered(e.x, {2, 4}, {1, 5, 2, 0, 3, 0, 4, 2});
  expect_scattered(scatter(e.x, 0, e.positions, 9), {2, 4}, {9, 9, 9, 0, 9, 9, 9, 2});
  expect_scattered(scatter(e.x.t(), 1, e.positions.t().to(DType::int32), e.values.t()), {4, 2},
                   {7, 3, 1, 3, -1, 2, 0, 2});
  expect_scattered(scatter(e.x, -1, whole_numbers({2, 1}, {3, 1}), e.values), {2, 4},
                   {1, 5, 2, 2, 3, 3, 4, 2});
}

TEST(Scatter, TakesScalarsNoPositionsAndOtherTypes) {
  const Array one = doubles({}, {1});
  expect_scattered(scatter(one, 0, whole_numbers({2}, {0, 0}), doubles({2}, {2, 3})), {}, {3});
  expect_scattered(scatter(one, 0, whole_numbers({}, {0}), 4), {}, {4});
  expect_scattered(scatter_add(one, 0, whole_numbers({}, {0}), one), {}, {2});
  const Example e;
  expect_scattered(scatter(e.x, 1, whole_numbers({5, 0}, {}), e.values), {2, 4}, as_doubles(e.x));
  for (const DType type : {DType::float32, DType::int64, DType::int32, DType::int8, DType::uint8}) {
    const Array result = scatter(e.x.to(type), 0, whole_numbers({1, 2}, {1, 0}), 6.7);
    EXPECT_EQ(result.dtype(), type);
    EXPECT_EQ(as_doubles(result)[4], type == DType::float32 ? double{6.7F} : 6);
  }
  const Array truths = zeros({2}, DType::boolean);
  expect_scattered(scatter(truths, 0, whole_numbers({1}, {1}), 1), {2}, {0, 1});
  expect_scattered(scatter_add(truths, 0, whole_numbers({2}, {1, 1}), ones({2}, DType::boolean)), {2},
                   {0, 1});
}

TEST(Scatter, RefusesWhatDoesNotFit) {
  const Example e;
  expect_misfit(
      [&] {
        scatter(e.x, 0, whole_numbers({1, 1}, {2}), e.values);
      },
      "position 2 is outside of axis 0 of size 2");
  expect_misfit(
      [&] {
        scatter_add(e.x, 1, whole_numbers({1, 1}, {-1}), e.values);
      },
      "position -1 is outside of axis 1 of size 4");
  expect_misfit(
      [&] {
        scatter(e.x, 0, zeros({1, 5}, DType::int64), doubles({1, 5}, {1, 2, 3, 4, 5}));
      },
      "[1, 5]");
  expect_misfit([&] { scatter(e.x, 0, zeros({4, 2}, DType::int64), e.values); }, "[4, 2]");
  expect_misfit([&] { scatter(e.x, 0, whole_numbers({1}, {0}), e.values); }, "[1]");
  expect_misfit([&] { scatter(e.x, 0, whole_numbers({}, {0}), 1); }, "[]");
  expect_misfit([&] { scatter(e.x, 0, e.positions, e.values.to(DType::float32)); }, "float32");
  expect_misfit([&] { scatter(e.x, 0, e.values, e.values); }, "float64");
  expect_misfit([&] { scatter(e.x, 2, e.positions, e.values); }, "axis 2");
}

// The numbers are PyTorch's.
TEST(ScatterReduce, CombinesWithWhatIsThere) {
  const Example e;
  const auto reduced = [&](Combine combine) {
    return scatter_reduce(e.x, 0, e.positions, e.values, combine);
  };
  expect_scattered(reduced(Combine::sum), {2, 4}, {10, 6, 1, 0, 6, 8, 6, 2});
  expect_scattered(scatter_add(e.x, 0, e.positions, e.values), {2, 4}, {10, 6, 1, 0, 6, 8, 6, 2});
  expect_scattered(reduced(Combine::product), {2, 4}, {14, 5, 0, 0, 9, 0, 8, 2});
  expect_scattered(reduced(Combine::mean), {2, 4}, {10. / 3, 3, 1. / 3, 0, 3, 8. / 3, 3, 2});
  expect_scattered(reduced(Combine::maximum), {2, 4}, {7, 5, 2, 0, 3, 5, 4, 2});
  expect_scattered(reduced(Combine::minimum), {2, 4}, {1, 1, -1, 0, 3, 0, 2, 2});
}

TEST(ScatterReduce, WrapsIntegersAround) {
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  const Array greatest = whole_numbers({1}, {most}), first = whole_numbers({1}, {0});
  const auto result = [&](std::int64_t value, Combine combine) {
    return scatter_reduce(greatest, 0, first, whole_numbers({1}, {value}), combine).item<std::int64_t>();
  };
  EXPECT_EQ(result(1, Combine::sum), std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(result(2, Combine::product), -2);
}

TEST(ScatterReduce, GivesGradientsToEqualOnesEvenlyAndThroughZeros) {
  const Example e;
  const Array seed = doubles({2, 4}, {1, 2, 3, 4, 5, 6, 7, 8});
  const auto expect = [&](Combine combine, const std::vector<double>& of_x,
                          const std::vector<double>& of_values) {
    const Arrays points{e.x.requires_grad_(), e.values.requires_grad_()};
    const Array out = scatter_reduce(points[0], 0, e.positions, points[1], combine);
    const Arrays found = gradients(std::span(&out, 1), points, std::span(&seed, 1));
    expect_scattered(found[0], {2, 4}, of_x);
    expect_scattered(found[1], {3, 3}, of_values);
  };
  expect(Combine::sum, {1, 2, 3, 4, 5, 6, 7, 8}, {1, 6, 3, 5, 6, 3, 1, 2, 7});
  expect(Combine::product, {14, 2, 0, 4, 15, 90, 14, 8}, {7, 0, -6, 15, 0, 0, 2, 10, 28});
  expect(Combine::mean, {1. / 3, 1, 1, 4, 2.5, 2, 3.5, 8}, {1. / 3, 2, 1, 2.5, 2, 1, 1. / 3, 1, 3.5});
  expect(Combine::maximum, {0, 2, 3, 4, 2.5, 0, 7, 8}, {0, 6, 0, 2.5, 0, 0, 1, 0, 0});
  expect(Combine::minimum, {1, 0, 0, 4, 2.5, 6, 0, 8}, {0, 0, 0, 2.5, 0, 3, 0, 2, 7});
}

TEST(ScatterReduce, RoundsMeansOfWholeNumbersDownAndLetsNanWin) {
  expect_scattered(scatter_reduce(whole_numbers({2}, {-3, 2}), 0, whole_numbers({2}, {0, 0}),
                                  whole_numbers({2}, {-1, -1}), Combine::mean),
                   {2}, {-2, 2});
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const Combine combine : {Combine::minimum, Combine::maximum}) {
    const Array out = scatter_reduce(doubles({3}, {1, nan, 1}), 0, whole_numbers({4}, {0, 0, 1, 2}),
                                     doubles({4}, {nan, 2, 3, 1}), combine);
    EXPECT_TRUE(std::isnan(as_doubles(out)[0]));
    EXPECT_TRUE(std::isnan(as_doubles(out)[1]));
    EXPECT_EQ(as_doubles(out)[2], 1);
  }
}

TEST(ScatterReduce, AgreesWithPlainLoopsAlongEveryAxis) {
  const Array a = apart({3, 4, 5}, 1), all = apart({6, 6, 6}, 2).permute({2, 0, 1});
  for (std::int64_t axis = 0; axis < 3; ++axis) {
    Shape shape{2, 3, 4};
    shape[static_cast<std::size_t>(axis)] = 6;
    std::vector<std::int64_t> numbers(static_cast<std::size_t>(element_count(shape)));
    for (std::size_t i = 0; i < numbers.size(); ++i)
      numbers[i] = static_cast<std::int64_t>(i * i / 3) % a.size(axis);
    const Array positions = whole_numbers(shape, numbers);
    for (const Array& at : {positions, positions.select(0, 0).unsqueeze(0).expand(shape),
                            positions.select(2, 0).unsqueeze(2).expand(shape)}) {
      const auto expect = [&](const Array& found, const std::function<double(double, double)>& f) {
        expect_scattered(found, a.shape(), written_plainly(a, axis, at, all, f));
      };
      expect(scatter(a, axis, at, all), [](double, double y) { return y; });
      expect(scatter_add(a, axis, at, all), std::plus<>());
      expect(scatter_reduce(a, axis, at, all, Combine::product), std::multiplies<>());
      expect(scatter_reduce(a, axis, at, all, Combine::minimum),
             [](double x, double y) { return std::min(x, y); });
      expect(scatter_reduce(a, axis, at, all, Combine::maximum),
             [](double x, double y) { return std::max(x, y); });
    }
  }
}

TEST(ScatterGradients, AgreeWithDifferences) {
  const Array a = apart({2, 3}, 1), values = apart({4, 4}, 2),
              positions = whole_numbers({3, 3}, {0, 1, 0, 1, 1, 0, 0, 0, 1});
  expect_slopes_of_both([&](const Array& x, const Array& v) { return scatter(x, 0, positions, v); }, a,
                        values);
  expect_slopes_of_both([&](const Array& x, const Array& v) { return scatter(x.t(), 1, positions, v.t()); },
                        a, values);
  expect_slopes_of_both([&](const Array& x, const Array& v) { return scatter(x, 0, positions, 2) + sum(v); },
                        a, values);
  for (const Combine combine :
       {Combine::sum, Combine::product, Combine::mean, Combine::minimum, Combine::maximum})
    expect_slopes_of_both(
        [&](const Array& x, const Array& v) { return scatter_reduce(x, 0, positions, v, combine); }, a,
        values);
  expect_slopes_of_both(
      [&](const Array& x, const Array& v) {
        return scatter_add(x, 0, whole_numbers({2}, {0, 0}), v);
      },
      doubles({}, {2}), doubles({2}, {3, 5}));
}

TEST(ScatterAdd, GivesTheSameOnSeveralThreads) {
  const Array a = apart({50, 1000}, 1).to(DType::float32), values = apart({400, 1000}, 2).to(DType::float32);
  std::vector<std::int64_t> numbers(400000);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<std::int64_t>(i * i / 7 % 50);
  const Array positions = whole_numbers({400, 1000}, numbers);
  const auto all = [&] {
    return Arrays{scatter_add(a, 0, positions, values), scatter(a, 0, positions, values),
                  scatter_add(a.t(), 1, positions.t(), values.t()).t()};
  };
  set_loop_threads(1);
  const Arrays alone = all();
  set_loop_threads(3);
  const Arrays shared = all();
  set_loop_threads(0);
  for (std::size_t i = 0; i < alone.size(); ++i) EXPECT_TRUE(equal(alone[i], shared[i])) << i;
  EXPECT_TRUE(equal(alone[0], alone[2]));
}

}  // namespace
}  // namespace assay::array
