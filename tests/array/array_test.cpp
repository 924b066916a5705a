// Arrays themselves: types, views, sharing, limits; and values worked by hand.

#include <assay/array_math.h>
#include <assay/error.h>
#include <gmock/gmock.h>

#include <limits>

#include "assay/support/memory.h"
#include "assay/support/thread_pool.h"

namespace assay {
namespace {

using array::tensor;
using testing::ElementsAre;

Array counted(const Shape& shape) {
  return array::arange(element_count(shape), DType::float32).reshape(shape);
}

std::vector<float> floats(const Array& a) {
  const Array held = a.to(DType::float32).contiguous();
  return {held.as<float>().begin(), held.as<float>().end()};
}

TEST(ArrayViews, ShareTheirElements) {
  Array whole = counted({2, 3});
  Array row = whole[1], column = whole.select(1, 2);
  row.fill_(9);
  EXPECT_THAT(floats(whole), ElementsAre(0, 1, 2, 9, 9, 9));
  EXPECT_THAT(floats(column), ElementsAre(2, 9));
  EXPECT_TRUE(column.shares_storage(whole));
  EXPECT_FALSE(column.is_contiguous());
  EXPECT_FALSE(column.clone().shares_storage(whole));
  EXPECT_THROW(column.as<float>(), Error);
}

TEST(ArrayViews, OfStridedOnes) {
  const Array turned = counted({2, 3}).t();
  EXPECT_THAT(floats(turned), ElementsAre(0, 3, 1, 4, 2, 5));
  EXPECT_THAT(floats(turned.reshape({2, 3})), ElementsAre(0, 3, 1, 4, 2, 5));
  const Array part = counted({2, 3, 4}).narrow(2, 1, 2);
  EXPECT_TRUE(part.reshape({6, 2}).shares_storage(part)) << "axes in front are one";
  EXPECT_FALSE(part.reshape({12}).shares_storage(part));
  EXPECT_THAT(floats(part.reshape({12})), ElementsAre(1, 2, 5, 6, 9, 10, 13, 14, 17, 18, 21, 22));
  EXPECT_THAT(floats(tensor({1.0F, 2.0F}).unsqueeze(1).expand({2, 2})), ElementsAre(1, 1, 2, 2));
  EXPECT_THAT(floats(tensor({1.0F, 2.0F, 3.0F}).unfold(0, 2, 1)), ElementsAre(1, 2, 2, 3));
  EXPECT_THROW(counted({2, 3}).reshape({4, -1}), Error);
  EXPECT_THROW(counted({2, 3}).select(1, 3), Error);
  EXPECT_THROW(counted({2, 3}).narrow(0, 1, 2), Error);
}

TEST(ArrayTypes, Saturate) {
  const Array wild = tensor({1e30, -1e30, std::numeric_limits<double>::quiet_NaN(), 2.9});
  const Array whole = wild.to(DType::int32);
  EXPECT_THAT(whole.as<std::int32_t>(), ElementsAre(std::numeric_limits<std::int32_t>::max(),
                                                    std::numeric_limits<std::int32_t>::min(), 0, 2));
  EXPECT_THAT(wild.to(DType::uint8).as<std::uint8_t>(), ElementsAre(255, 0, 0, 2));
}

TEST(ArrayTypes, OfResults) {
  const Array whole = array::arange(3), truth = whole > 0, real = whole.to(DType::float32);
  EXPECT_EQ((whole + real).dtype(), DType::float32);
  EXPECT_EQ((whole + 0.5).dtype(), DType::float32);
  EXPECT_EQ((whole / whole).dtype(), DType::float32);
  EXPECT_EQ((truth + 1).dtype(), DType::int64);
  EXPECT_EQ((real + array::scalar(1.0, DType::float64)).dtype(), DType::float32) << "a number without axes";
  EXPECT_EQ((real + array::ones({3}, DType::float64)).dtype(), DType::float64);
  EXPECT_EQ(truth.sum().item<std::int64_t>(), 2);
}

TEST(ArrayNumbers, WholeOnesAtTheirLimits) {
  constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min();
  const Array low = tensor({least}), minus = tensor({-1}), zero = tensor({0});
  EXPECT_EQ(array::div(low, minus, array::Rounding::truncate).item<std::int64_t>(), least);
  EXPECT_EQ(array::remainder(low, minus).item<std::int64_t>(), 0);
  EXPECT_EQ(array::fmod(low, zero).item<std::int64_t>(), 0);
  EXPECT_EQ(array::div(tensor({-7}), 2, array::Rounding::floor).item<std::int64_t>(), -4);
  EXPECT_EQ(array::div(tensor({-7}), 2, array::Rounding::truncate).item<std::int64_t>(), -3);
  EXPECT_EQ(array::remainder(tensor({-7}), 4).item<std::int64_t>(), 1);
  EXPECT_EQ(array::shift_left(tensor({1}), tensor({64})).item<std::int64_t>(), 0);
  EXPECT_EQ(array::shift_right(tensor({-8}), tensor({1})).item<std::int64_t>(), -4);
  EXPECT_EQ(array::pow(tensor({3}), 4).item<std::int64_t>(), 81);
}

TEST(ArrayNumbers, NanAndEquals) {
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  const Array a = tensor({1.0F, nan, 3.0F, 3.0F});
  EXPECT_TRUE(std::isnan(a.max().item<float>()));
  EXPECT_EQ(array::argmax(a, 0).item<std::int64_t>(), 1);
  EXPECT_EQ(array::argmax(tensor({1.0F, 3.0F, 3.0F}), 0).item<std::int64_t>(), 1);
  EXPECT_FALSE(a.equal(a));
  EXPECT_TRUE(array::allclose(a, a, 0, 0, true));
  EXPECT_THAT(floats(array::softmax(tensor({0.0F, 0.0F}), 0)), ElementsAre(0.5F, 0.5F));
}

TEST(ArrayNumbers, OfBytes) {
  const Array hundred = tensor({100}).to(DType::uint8), most = tensor({255}).to(DType::uint8);
  EXPECT_EQ(array::div(hundred, most, array::Rounding::truncate).item<int>(), 0);
  EXPECT_EQ(array::remainder(hundred, most).item<int>(), 100);
  EXPECT_EQ(array::fmod(hundred, most).item<int>(), 100);
  const Array truth = tensor({0, 1}).to(DType::boolean);
  EXPECT_THAT(floats(truth + truth), ElementsAre(0, 1));
  EXPECT_THROW(truth - truth, Error);
}

TEST(ArrayNumbers, ExtremesOfTruthValues) {
  const Array truth = tensor({0, 1, 0}).to(DType::boolean);
  EXPECT_EQ(truth.max().dtype(), DType::boolean);
  EXPECT_TRUE(truth.max().item<bool>());
  EXPECT_FALSE(truth.min().item<bool>());
  EXPECT_EQ(truth.argmax(0).item<std::int64_t>(), 1);
}

TEST(ArrayNumbers, SumsDoNotDependOnThreads) {
  const Array many = array::sin(array::arange(300'000, DType::float32));
  double plain = 0;
  for (const float number : many.as<float>()) plain += static_cast<double>(number);
  std::vector<float> found;
  for (const std::size_t threads : {1, 2, 3}) {
    set_loop_threads(threads);
    found.push_back(many.sum().item<float>());
  }
  set_loop_threads(0);
  EXPECT_NEAR(found[0], plain, 1e-6);
  EXPECT_EQ(found[1], found[0]);
  EXPECT_EQ(found[2], found[0]);
}

TEST(ArrayMemory, IsLentUntilDone) {
  int done = 0;
  std::vector<float> numbers{1, 2, 3};
  {
    const Array lent = Array::around(numbers.data(), DType::float32, {3}, [&] { ++done; });
    const Array view = lent.narrow(0, 1, 2);
    EXPECT_THAT(floats(view), ElementsAre(2, 3));
    EXPECT_EQ(done, 0);
  }
  EXPECT_EQ(done, 1);
}

TEST(ArrayMemory, HasALimit) {
  set_memory_limit(1 << 20);
  EXPECT_THROW(array::zeros({1 << 20}), Error);
  EXPECT_THROW(array::zeros({std::int64_t{1} << 40, std::int64_t{1} << 40}), Error);
  set_memory_limit(0);
}

TEST(ArrayChanges, InPlace) {
  Array a = counted({2, 2});
  a.mul_(2).add_(tensor({1.0F, -1.0F})).clamp_(0, 4);
  EXPECT_THAT(floats(a), ElementsAre(1, 1, 4, 4));
  Array b = counted({3});
  b.narrow(0, 1, 2).copy_(b.narrow(0, 0, 2));
  EXPECT_THAT(floats(b), ElementsAre(0, 0, 1)) << "operands that overlap";
  EXPECT_THAT(floats(counted({3}).addcmul_(tensor({1.0F}), tensor({2.0F}), 0.5)), ElementsAre(1, 2, 3));
}

}  // namespace
}  // namespace assay
