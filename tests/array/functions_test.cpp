#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <vector>

#include <assay/array_math.h>
#include <assay/error.h>
#include "assay/support/thread_pool.h"

namespace assay::array {
namespace {

constexpr float no_number = std::numeric_limits<float>::quiet_NaN(),
                boundless = std::numeric_limits<float>::infinity();

struct Vectorised {
  const char* name;
  std::function<Array(const Array&)> of_array;
  std::function<double(double)> plain;
};

std::vector<Vectorised> vectorised() {
  return {
      {"exp", [](const Array& a) { return exp(a); }, [](double x) { return std::exp(x); }},
      {"expm1", [](const Array& a) { return expm1(a); }, [](double x) { return std::expm1(x); }},
      {"log", [](const Array& a) { return log(a); }, [](double x) { return std::log(x); }},
      {"tanh", [](const Array& a) { return tanh(a); }, [](double x) { return std::tanh(x); }},
      {"sigmoid", [](const Array& a) { return sigmoid(a); }, [](double x) { return 1 / (1 + std::exp(-x)); }},
      {"softplus", [](const Array& a) { return softplus(a); },
       [](double x) { return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x))); }},
      {"sqrt", [](const Array& a) { return sqrt(a); }, [](double x) { return std::sqrt(x); }}};
}

std::vector<float> arguments() {
  std::vector<float> all{0.0F,    -0.0F, boundless, -boundless, no_number, 1e-30F,
                         -1e-30F, 88.7F, -87.0F,    200.0F,     -200.0F};
  for (int i = -2000; i <= 2000; ++i) all.push_back(static_cast<float>(i) * 0.0131F);
  return all;
}

TEST(Functions, OfVectorsAreThoseOfSingleNumbers) {
  const std::vector<float> given = arguments();
  for (const Vectorised& f : vectorised()) {
    const Array found = f.of_array(tensor(given));
    for (std::size_t i = 0; i < given.size(); ++i) {
      const double want = f.plain(static_cast<double>(given[i])), got = found.as<float>()[i];
      if (std::isnan(want)) {
        EXPECT_TRUE(std::isnan(got)) << f.name << " of " << given[i];
      } else if (std::isinf(want) || std::abs(want) > std::numeric_limits<float>::max()) {
        EXPECT_EQ(got, want > 0 ? boundless : -boundless) << f.name << " of " << given[i];
      } else {
        EXPECT_LE(std::abs(got - want), 1e-6 * std::abs(want) + 1e-37) << f.name << " of " << given[i];
      }
    }
  }
}

TEST(Functions, GiveAnElementTheSameWhereverItStands) {
  const std::vector<float> given = arguments();
  const auto count = static_cast<std::int64_t>(given.size());
  for (const Vectorised& f : vectorised()) {
    const Array all = tensor(given), whole = f.of_array(all);
    for (const std::int64_t begin : {1, 2, 3, 5, 7, 13}) {
      const Array some = f.of_array(all.slice(0, begin, count, 3));
      const Array want = whole.slice(0, begin, count, 3).contiguous();
      for (std::int64_t i = 0; i < some.count(); ++i) {
        const auto at = static_cast<std::size_t>(i);
        const float a = some.as<float>()[at], b = want.as<float>()[at];
        EXPECT_TRUE(a == b || (std::isnan(a) && std::isnan(b))) << f.name << " at " << begin + 3 * i;
      }
    }
  }
}

// Parts of rows that threads share begin and end within the axis before the innermost, and carry into those
// before it.
TEST(Functions, WalkRowsOfEveryAxisOnSeveralThreads) {
  const Array order = arange(5 * 7 * 101 * 31).reshape({5, 7, 101, 31}), turned = order.permute({2, 0, 3, 1}),
              row = arange(5).reshape({5, 1, 1});
  set_loop_threads(3);
  const Array sum = turned + row;
  set_loop_threads(0);
  std::int64_t wrong = 0;
  for (std::int64_t i = 0; i < 101; ++i)
    for (std::int64_t j = 0; j < 5; ++j)
      for (std::int64_t k = 0; k < 31; ++k)
        for (std::int64_t l = 0; l < 7; ++l)
          wrong += sum.elements<std::int64_t>()[((i * 5 + j) * 31 + k) * 7 + l] !=
                   ((j * 7 + l) * 101 + i) * 31 + k + j;
  EXPECT_EQ(wrong, 0);
}

TEST(Functions, AbsoluteValuesHaveNoSign) {
  const Array found = abs(tensor({-1.5F, 0.0F, -0.0F, -boundless, 2.0F}));
  EXPECT_TRUE(equal(found, tensor({1.5F, 0.0F, 0.0F, boundless, 2.0F})));
  EXPECT_FALSE(std::signbit(found.as<float>()[2]));
  EXPECT_TRUE(
      equal(abs(tensor({std::int64_t{-3}, std::int64_t{4}})), tensor({std::int64_t{3}, std::int64_t{4}})));
}

// Rows that are read several elements at a time, and short ones.
TEST(Functions, ExtremesAreThoseOfALoop) {
  for (const std::int64_t width : {1, 5, 31, 32, 33, 47, 100}) {
    std::vector<float> values;
    for (std::int64_t i = 0; i < 3 * width; ++i) values.push_back(std::sin(static_cast<float>(i * i)));
    const Array rows = tensor(values).reshape({3, width}), most = rows.amax(1), least = rows.amin(1);
    for (std::int64_t r = 0; r < 3; ++r) {
      float high = values[static_cast<std::size_t>(r * width)], low = high;
      for (std::int64_t i = 0; i < width; ++i) {
        high = std::max(high, values[static_cast<std::size_t>(r * width + i)]);
        low = std::min(low, values[static_cast<std::size_t>(r * width + i)]);
      }
      EXPECT_EQ(most.as<float>()[static_cast<std::size_t>(r)], high);
      EXPECT_EQ(least.as<float>()[static_cast<std::size_t>(r)], low);
    }
    for (std::int64_t at = 0; at < width; ++at) {
      Array spoiled = rows.clone();
      spoiled.elements<float>()[at] = no_number;
      EXPECT_TRUE(std::isnan(spoiled.amax(1).as<float>()[0]) && std::isnan(spoiled.amin(1).as<float>()[0]));
      EXPECT_EQ(spoiled.amax(1).as<float>()[1], most.as<float>()[1]);
    }
  }
  const Array lowest = full({2, 40}, -boundless);
  EXPECT_TRUE(equal(lowest.amax(1), full({2}, -boundless)));
  EXPECT_TRUE(equal((-lowest).amin(1), full({2}, boundless)));
}

// Beyond what double precision holds.
TEST(Functions, PaddingKeepsWholeNumbersExact) {
  constexpr std::int64_t great = (std::int64_t{1} << 53) + 1;
  EXPECT_TRUE(equal(pad(tensor({std::int64_t{7}}), {1, 1}, great), tensor({great, std::int64_t{7}, great})));
}

TEST(Functions, OfNothing) {
  EXPECT_TRUE(equal(logsumexp(zeros({2, 0, 3}), {1}), full({2, 3}, -boundless)));
  EXPECT_THROW(zeros({2, 0}).amax(1), Error);
  EXPECT_THROW(chunk(zeros({4}), 0, 0), Error);
  EXPECT_THROW(chunk(zeros({4}), -3, 0), Error);
}

}  // namespace
}  // namespace assay::array
