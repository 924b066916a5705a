// Quantile neuron coverage and the quantiles it needs, against sorting everything.

#include <gtest/gtest.h>

#include <assay/error.h>
#include <assay/extend/criteria.h>
#include "assay/coverage/learning/quantiles.h"
#include "assay/support/memory.h"
#include "tests/coverage/build.h"

namespace assay::coverage {
namespace {

TEST(Quantiles, AreThoseOfSortedActivations) {
  Rng rng(5);
  for (const std::size_t records : {1U, 2U, 7U, 100U, 1000U}) {
    std::vector<std::vector<float>> rows(records, std::vector<float>(3));
    for (auto& row : rows)
      row = {static_cast<float>(rng.normal()), static_cast<float>(std::max(0.0, rng.normal())),
             static_cast<float>(rng.below(4))};
    for (const std::vector<double>& shares :
         {std::vector{0.99}, std::vector{0.07, 0.5, 1.0}, std::vector{1e-9, 0.999}}) {
      Quantiles quantiles(shares, records + 3);  // some may be left out
      for (const auto& row : rows) quantiles.observe(row, "layer");
      for (const double share : shares) {
        const std::vector<float> found = quantiles.at(share);
        for (std::size_t n = 0; n < 3; ++n) {
          std::vector<float> sorted;
          for (const auto& row : rows) sorted.push_back(row[n]);
          std::ranges::sort(sorted);
          // The smallest value that at least this share of the records does not exceed.
          const auto expected = std::ranges::find_if(sorted, [&](float value) {
            const auto below = static_cast<double>(std::ranges::upper_bound(sorted, value) - sorted.begin());
            return below >= share * static_cast<double>(records) - 1e-9;
          });
          EXPECT_EQ(found[n], *expected) << records << " records, share " << share << ", neuron " << n;
        }
      }
    }
  }
}

TEST(Quantiles, HoldToTheMemoryLimit) {
  struct Restore {
    ~Restore() { set_memory_limit(0); }
  } restore;
  set_memory_limit(1'000'000);
  const std::vector<float> row(1000);
  Quantiles few(std::vector{0.999}, 10'000), many(std::vector{0.5}, 10'000);
  EXPECT_NO_THROW(few.observe(row, "wide"));
  try {
    many.observe(row, "wide");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), Fault::resources);
    EXPECT_NE(std::string(error.what()).find("1000 neurons of layer 'wide'"), std::string::npos);
  }
}

TEST(Qnc, AgreesWithAPlainSecondWriting) {
  const test::Suite training = test::Suite::random(150, 1), suite = test::Suite::random(30, 2);
  const Profile profile = test::profile_of(training);
  for (const auto& [spec, share] :
       {std::pair<const char*, double>{"qnc", 0.99}, {"qnc[quantile=0.5]", 0.5}}) {
    const auto criterion = test::criterion(spec, profile);
    suite.give(*criterion);
    std::size_t covered = 0;
    for (std::size_t l = 0; l < 2; ++l) {
      for (std::size_t n = 0; n < test::Suite::widths[l]; ++n) {
        bool above = false;
        for (std::size_t i = 0; i < suite.size(); ++i) {
          const auto as_active = [&](std::size_t t) { return training.row(l, t)[n] < suite.row(l, i)[n]; };
          std::size_t less = 0;
          for (std::size_t t = 0; t < training.size(); ++t) less += as_active(t);
          above = above || static_cast<double>(less) >= share * static_cast<double>(training.size());
        }
        covered += above;
      }
    }
    EXPECT_EQ(test::row(*criterion, "all").covered, std::to_string(covered)) << spec;
    EXPECT_GT(covered, 0U);
    EXPECT_LT(covered, 11U + (share == 0.5));
  }
}

TEST(Qnc, OfTheGreatestIsSnac) {
  const Profile profile = test::profile_of(test::Suite::random(60, 1));
  const test::Suite suite = test::Suite::random(60, 3, 1.3);
  const auto qnc = test::criterion("qnc[quantile=1]", profile), snac = test::criterion("snac", profile);
  suite.give(*qnc);
  suite.give(*snac);
  EXPECT_NE(test::row(*snac, "all").covered, "0");
  EXPECT_EQ(test::row(*qnc, "all").covered, test::row(*snac, "all").covered);
  EXPECT_EQ(test::row(*qnc, "all").attainable, test::row(*snac, "all").attainable);
}

TEST(Qnc, SaysWhatTheProfileLacks) {
  try {
    test::criterion("qnc[quantile=0.9]");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), Fault::mismatch);
    EXPECT_NE(std::string(error.what()).find("learn it again with qnc[quantile=0.9]"), std::string::npos);
  }
}

}  // namespace
}  // namespace assay::coverage
