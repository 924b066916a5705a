#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include <assay/error.h>
#include "assay/surprise/traces.h"

namespace assay::surprise {
namespace {

TEST(SurpriseBucket, HalfOpenAndNeverClipped) {
  EXPECT_EQ(surprise_bucket(0, 0, 10, 5).place, BucketPlace::below);
  EXPECT_EQ(surprise_bucket(-1, 0, 10, 5).place, BucketPlace::below);
  EXPECT_EQ(surprise_bucket(10.001, 0, 10, 5).place, BucketPlace::overflow);
  EXPECT_EQ(surprise_bucket(std::numeric_limits<double>::infinity(), 0, 10, 5).place, BucketPlace::overflow);
  EXPECT_EQ(surprise_bucket(std::nan(""), 0, 10, 5).place, BucketPlace::not_a_number);
  EXPECT_EQ(surprise_bucket(10, 0, 10, 5).place, BucketPlace::inside);
  EXPECT_EQ(surprise_bucket(10, 0, 10, 5).index, 4U);
  EXPECT_EQ(surprise_bucket(2, 0, 10, 5).index, 0U);
  EXPECT_EQ(surprise_bucket(std::nextafter(2.0, 3.0), 0, 10, 5).index, 1U);
  EXPECT_EQ(surprise_bucket(1e-300, 0, 10, 5).index, 0U);
}

TEST(SurpriseBucket, RefusesWhatIsNoRange) {
  EXPECT_THROW(surprise_bucket(1, 0, 10, 0), Error);
  EXPECT_THROW(surprise_bucket(1, 3, 3, 2), Error);
  EXPECT_THROW(surprise_bucket(1, 0, std::numeric_limits<double>::infinity(), 2), Error);
}

TEST(Traces, RefusesShapesThatDoNotFit) {
  const std::vector<float> values{1, 2, 3};
  const std::vector<std::int32_t> classes{0, 0};
  EXPECT_THROW(require_sound({values, 2, classes}), Error);
  EXPECT_THROW(require_sound({values, 0, classes}), Error);
}

}  // namespace
}  // namespace assay::surprise
