// Test records that are training records, planted and found by comparing everything with everything.

#include <gmock/gmock.h>

#include <cmath>

#include <assay/error.h>
#include <assay/records.h>
#include <assay/reliability.h>
#include "tests/attack/build.h"

namespace assay::test {
using namespace reliability;
namespace {

using testing::HasSubstr;

TEST(Leakage, FindsWhatWasPlanted) {
  const Array training = random_records(1500, {2, 3}, 1), test = random_records(30, {2, 3}, 2);
  std::vector<std::int64_t> training_labels(1500, 0), labels(30, 0);
  // Record 4 is training record 1200; 7 is almost 33, with another label.
  for (std::int64_t i = 0; i < 6; ++i) {
    test.elements<float>()[4 * 6 + i] = training.elements<float>()[1200 * 6 + i];
    test.elements<float>()[7 * 6 + i] = training.elements<float>()[33 * 6 + i] + 0.001F;
  }
  labels[7] = 3;
  const Leakage found =
      find_leakage(from_arrays(test, labels), from_arrays(training, training_labels), 0.01, silence());
  ASSERT_EQ(found.twins.size(), 2U);
  EXPECT_EQ(found.twins[0].record, 4U);
  EXPECT_EQ(found.twins[0].training, 1200U);
  EXPECT_EQ(found.twins[0].distance, 0);
  EXPECT_EQ(found.twins[1].record, 7U);
  EXPECT_EQ(found.twins[1].training, 33U);
  // Uniform elements have a deviation of 1 / sqrt(12).
  EXPECT_NEAR(found.spread, 1 / std::sqrt(12.0), 0.01);
  EXPECT_NEAR(found.twins[1].distance, 0.001 / found.spread, 1e-5);
  EXPECT_EQ(found.exact, 1U);
  EXPECT_EQ(found.contradicting, 1U);
}

TEST(Leakage, IsThatOfAllPairs) {
  const Array training = random_records(200, {4}, 3), test = random_records(90, {4}, 4);
  const Leakage found = find_leakage(from_arrays(test), from_arrays(training), 0.3, silence());
  std::size_t expected = 0;
  for (std::int64_t t = 0; t < 90; ++t) {
    double least = 1e9;
    for (std::int64_t r = 0; r < 200; ++r) {
      double sum = 0;
      for (std::int64_t i = 0; i < 4; ++i) {
        const double difference = static_cast<double>(test.elements<float>()[4 * t + i]) -
                                  static_cast<double>(training.elements<float>()[4 * r + i]);
        sum += difference * difference;
      }
      least = std::min(least, std::sqrt(sum / 4) / found.spread);
    }
    expected += least <= 0.3;
    for (const Twin& one : found.twins)
      if (one.record == static_cast<std::size_t>(t)) EXPECT_NEAR(one.distance, least, 1e-9);
  }
  EXPECT_GT(expected, 10U);
  EXPECT_EQ(found.twins.size(), expected);
}

TEST(Leakage, RefusesRecordsOfOtherShapes) {
  try {
    find_leakage(from_arrays(random_records(3, {4})), from_arrays(random_records(3, {5})), 0.1, silence());
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), Fault::mismatch);
    EXPECT_THAT(error.what(), HasSubstr("other shapes"));
  }
}

}  // namespace
}  // namespace assay::test
