#include <assay/array.h>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include <assay/error.h>

namespace assay {
namespace {

TEST(Array, CopiesAndReshapesShareTheirBytes) {
  const auto a = Array::of<float>({2, 3}, {1, 2, 3, 4, 5, 6});
  const Array b = a, c = a.reshape({3, 2});
  EXPECT_TRUE(b.shares_storage(a));
  EXPECT_TRUE(c.shares_storage(a));
  EXPECT_EQ(c.shape(), (Shape{3, 2}));
  EXPECT_EQ(c.as<float>()[5], 6);
  EXPECT_THROW(a.reshape({4}), Error);
}

TEST(Array, ConversionSaturatesAndNanBecomesZero) {
  const auto a = Array::of<float>({5}, {1.9f, -1.9f, 1e30f, -1e30f, std::nanf("")});
  const Array b = a.to(DType::int8);
  const auto v = b.as<std::int8_t>();
  EXPECT_EQ(std::vector<int>(v.begin(), v.end()), (std::vector<int>{1, -1, 127, -128, 0}));
  const Array large = a.to(DType::int64);
  EXPECT_EQ(large.as<std::int64_t>()[2], std::numeric_limits<std::int64_t>::max());
  const Array truth = Array::of<std::int32_t>({2}, {0, 256}).to(DType::boolean);
  EXPECT_FALSE(truth.as<bool>()[0]);
  EXPECT_TRUE(truth.as<bool>()[1]);
}

TEST(Array, ElementCountRefusesOverflowAndNegativeDimensions) {
  EXPECT_EQ(element_count({}), 1);
  EXPECT_EQ(element_count({3, 0, std::int64_t{1} << 62, 8}), 0);
  EXPECT_THROW(element_count({std::int64_t{1} << 32, std::int64_t{1} << 32}), Error);
  EXPECT_THROW(element_count({2, -1}), Error);
}

TEST(Array, BytesMustFitTheShape) {
  EXPECT_THROW(Array(DType::float32, {2}, std::vector<std::byte>(7)), Error);
  EXPECT_THROW(Array(DType::float32, {2}, std::vector<std::byte>(12)), Error);
  EXPECT_NO_THROW(Array(DType::float32, {2}, std::vector<std::byte>(8)));
}

TEST(Array, ElementsAreReadInTheirOwnTypeOnly) {
  EXPECT_THROW(Array::of<float>({1}, {1.0f}).as<std::int32_t>(), Error);
  EXPECT_EQ(to_string(Shape{-1, 3}), "[N, 3]");
}

}  // namespace
}  // namespace assay
