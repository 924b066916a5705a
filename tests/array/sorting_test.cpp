#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

#include <assay/array_math.h>
#include <assay/error.h>
#include "assay/support/thread_pool.h"

namespace assay::array {
namespace {

const double not_a_number = std::numeric_limits<double>::quiet_NaN();
const double endless = std::numeric_limits<double>::infinity();

Array row_of(const std::vector<double>& values) {
  return Array::of({static_cast<std::int64_t>(values.size())}, values);
}

std::vector<double> in_doubles(const Array& array) {
  const Array list = array.detach().contiguous().to(DType::float64);
  return {list.as<double>().begin(), list.as<double>().end()};
}

bool comes_before(double a, double b) { return std::isnan(b) ? !std::isnan(a) : a < b; }

// The positions of a row in order, by the library's stable sort.
std::vector<double> plain_order(const std::vector<double>& row, bool descending) {
  std::vector<double> order(row.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](double a, double b) {
    const double x = row[static_cast<std::size_t>(a)], y = row[static_cast<std::size_t>(b)];
    return descending ? comes_before(y, x) : comes_before(x, y);
  });
  return order;
}

// Rows with equal values, zeros of both signs, infinities and NaN.
std::vector<double> mixed_row(std::size_t size, std::uint64_t seed) {
  std::vector<double> row(size);
  std::uint64_t state = seed;
  for (double& value : row) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    const auto kind = static_cast<int>(state >> 60);
    value = static_cast<double>(static_cast<std::int64_t>(state >> 33) % 97) - 48;
    if (kind == 0) value = not_a_number;
    if (kind == 1) value = -endless;
    if (kind == 2) value = -0.0;
    if (kind == 3) value = endless;
  }
  return row;
}

void expect_same_numbers(const Array& array, const Shape& shape, const std::vector<double>& values) {
  EXPECT_EQ(array.shape(), shape);
  const std::vector<double> found = in_doubles(array);
  ASSERT_EQ(found.size(), values.size());
  for (std::size_t i = 0; i < values.size(); ++i)
    EXPECT_TRUE(found[i] == values[i] || (std::isnan(found[i]) && std::isnan(values[i])))
        << i << ": " << found[i];
}

TEST(Sort, IsStableAndHasNanAtTheGreatestEnd) {
  for (const DType type : {DType::float32, DType::float64}) {
    const Array a = row_of({3, not_a_number, -1, 0, -0.0, 3, endless, -endless}).to(type);
    const Sorted up = sort(a, 0), down = sort(a, -1, true);
    EXPECT_EQ(up.values.dtype(), type);
    EXPECT_EQ(up.positions.dtype(), DType::int64);
    expect_same_numbers(up.values, {8}, {-endless, -1, 0, 0, 3, 3, endless, not_a_number});
    expect_same_numbers(up.positions, {8}, {7, 2, 3, 4, 0, 5, 6, 1});
    EXPECT_TRUE(std::signbit(in_doubles(up.values)[3]));
    expect_same_numbers(down.values, {8}, {not_a_number, endless, 3, 3, 0, 0, -1, -endless});
    expect_same_numbers(down.positions, {8}, {1, 6, 0, 5, 3, 4, 2, 7});
  }
}

TEST(Sort, OrdersEveryType) {
  const std::vector<double> signed_row{3, -128, 127, 0, -1, 3};
  for (const DType type : {DType::int8, DType::int32, DType::int64, DType::float32}) {
    expect_same_numbers(sort(row_of(signed_row).to(type), 0).positions, {6}, {1, 4, 3, 0, 5, 2});
    expect_same_numbers(sort(row_of(signed_row).to(type), 0, true).positions, {6}, {2, 0, 5, 3, 4, 1});
  }
  expect_same_numbers(sort(row_of({200, 3, 255, 0}).to(DType::uint8), 0).values, {4}, {0, 3, 200, 255});
  const Sorted truths = sort(row_of({1, 0, 1}).to(DType::boolean), 0);
  EXPECT_EQ(truths.values.dtype(), DType::boolean);
  expect_same_numbers(truths.positions, {3}, {1, 0, 2});
  const std::int64_t most = std::numeric_limits<std::int64_t>::max(),
                     least = std::numeric_limits<std::int64_t>::min();
  const Array wide = Array::of({4}, std::vector<std::int64_t>{most, least, most - 1, 0});
  expect_same_numbers(sort(wide, 0).positions, {4}, {1, 3, 2, 0});
}

TEST(Sort, TakesAnyAxisViewsScalarsAndNothing) {
  const Array a = Array::of({2, 3}, std::vector<float>{3, 1, 2, 0, 5, 2});
  expect_same_numbers(sort(a, 1).values, {2, 3}, {1, 2, 3, 0, 2, 5});
  expect_same_numbers(sort(a, 0).values, {2, 3}, {0, 1, 2, 3, 5, 2});
  expect_same_numbers(sort(a, 0).positions, {2, 3}, {1, 0, 0, 0, 1, 1});
  expect_same_numbers(sort(a.t(), 0, true).values, {3, 2}, {3, 5, 2, 2, 1, 0});
  expect_same_numbers(sort(a.slice(0, 0, 1).expand({2, 3}), -1).positions, {2, 3}, {1, 2, 0, 1, 2, 0});
  expect_same_numbers(sort(scalar(4), 0).values, {}, {4});
  expect_same_numbers(sort(scalar(4), -1).positions, {}, {0});
  expect_same_numbers(sort(zeros({2, 0, 3}), 1).values, {2, 0, 3}, {});
  expect_same_numbers(sort(zeros({0, 3}), 1).positions, {0, 3}, {});
  EXPECT_THROW(sort(a, 2), Error);
}

TEST(Sort, AgreesWithTheLibrarysStableSort) {
  for (const std::size_t size : {1UL, 2UL, 17UL, 1000UL, 5000UL}) {
    const std::vector<double> row = mixed_row(size, size);
    for (const DType type : {DType::float32, DType::float64}) {
      for (const bool descending : {false, true}) {
        const std::vector<double> order = plain_order(row, descending);
        expect_same_numbers(sort(row_of(row).to(type), 0, descending).positions,
                            {static_cast<std::int64_t>(size)}, order);
        for (const std::size_t count :
             {std::size_t{0}, std::size_t{1}, size / 50, size / 2, size - 1, size}) {
          const Sorted first = topk(row_of(row).to(type), static_cast<std::int64_t>(count), 0, descending);
          expect_same_numbers(first.positions, {static_cast<std::int64_t>(count)},
                              {order.begin(), order.begin() + static_cast<std::ptrdiff_t>(count)});
        }
      }
    }
  }
}

TEST(Sort, GivesTheSameOnSeveralThreads) {
  const Array a = Array::of({50, 40, 20}, mixed_row(40000, 5)).to(DType::float32);
  set_loop_threads(1);
  const Sorted alone = sort(a, 1), first = topk(a, 7, 0);
  set_loop_threads(3);
  EXPECT_TRUE(equal(sort(a, 1).positions, alone.positions));
  EXPECT_TRUE(equal(topk(a, 7, 0).positions, first.positions));
  set_loop_threads(0);
}

TEST(TopK, GivesTheFirstInOrder) {
  const Array a = Array::of({3, 4}, std::vector<float>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11});
  expect_same_numbers(topk(a, 2, 0).values, {2, 4}, {8, 9, 10, 11, 4, 5, 6, 7});
  expect_same_numbers(topk(a, 2, -1, false).positions, {3, 2}, {0, 1, 0, 1, 0, 1});
  const Array b = row_of({1, not_a_number, 3, 3, 1});
  expect_same_numbers(topk(b, 2, 0).values, {2}, {not_a_number, 3});
  expect_same_numbers(topk(b, 2, 0).positions, {2}, {1, 2});
  expect_same_numbers(topk(b, 2, 0, false).positions, {2}, {0, 4});
  expect_same_numbers(topk(scalar(4), 1, 0).values, {}, {4});
  expect_same_numbers(topk(a, 0, 1).values, {3, 0}, {});
}

TEST(TopK, RefusesMoreThanThereAre) {
  for (const std::int64_t count : {-1, 4}) {
    try {
      topk(zeros({2, 3}), count, 1);
      ADD_FAILURE() << count;
    } catch (const Error& error) {
      EXPECT_EQ(error.fault(), Fault::model);
      EXPECT_NE(std::string(error.what()).find("size 3"), std::string::npos) << error.what();
    }
  }
  EXPECT_THROW(topk(scalar(1), 2, 0), Error);
}

TEST(SortGradients, GoBackToWhereTheValuesWere) {
  const Array a = Array::of({2, 3}, std::vector<double>{3, 1, 2, 0, 5, 2}).requires_grad_();
  const Array sorted = sort(a, 1).values, top = topk(a, 1, 0).values;
  const Array seed = Array::of({2, 3}, std::vector<double>{1, 2, 3, 4, 5, 6}),
              few = Array::of({1, 3}, std::vector<double>{7, 8, 9});
  expect_same_numbers(gradients(std::span(&sorted, 1), std::span(&a, 1), std::span(&seed, 1))[0], {2, 3},
                      {3, 1, 2, 4, 6, 5});
  expect_same_numbers(gradients(std::span(&top, 1), std::span(&a, 1), std::span(&few, 1))[0], {2, 3},
                      {7, 0, 9, 0, 8, 0});
  const Array one = scalar(2).requires_grad_(), alone = sort(one, 0).values;
  expect_same_numbers(gradients(std::span(&alone, 1), std::span(&one, 1))[0], {}, {1});
}

}  // namespace
}  // namespace assay::array
