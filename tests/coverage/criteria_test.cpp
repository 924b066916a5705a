// Laws that hold for every criterion of the catalogue.

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "assay/coverage/catalogue.h"
#include "assay/support/error.h"
#include "tests/coverage/build.h"

namespace assay {

bool operator==(const Coverage& a, const Coverage& b) {
  return a.covered == b.covered && a.coverable == b.coverable && a.fraction == b.fraction;
}

namespace {

using test::Suite;

class EveryCriterion : public testing::TestWithParam<std::string> {
 protected:
  std::unique_ptr<Criterion> fresh(std::size_t m = 3) const { return find_criterion(GetParam()).make(test::small_layer(), m); }
  std::unique_ptr<Criterion> having_seen(std::size_t begin, std::size_t end) const {
    auto criterion = fresh();
    suite.give(*criterion, begin, end);
    return criterion;
  }
  const Suite suite = Suite::random(60, 11);
};

TEST_P(EveryCriterion, IsDescribed) {
  const CriterionInfo& info = find_criterion(GetParam());
  EXPECT_FALSE(info.summary.empty());
  EXPECT_FALSE(info.definition.empty());
  EXPECT_FALSE(info.paper.empty());
}

TEST_P(EveryCriterion, AnEmptySuiteCoversNothing) {
  EXPECT_EQ(fresh()->result().covered, "0");
  EXPECT_EQ(fresh()->result().fraction, 0);
}

TEST_P(EveryCriterion, ASuiteCoversSomethingButNotMoreThanAll) {
  const Coverage result = having_seen(0, 60)->result();
  EXPECT_NE(result.covered, "0");
  EXPECT_GT(result.fraction, 0);
  EXPECT_LE(result.fraction, 1);
}

TEST_P(EveryCriterion, SplittingTheSuiteDoesNotChangeTheResult) {
  const auto whole = having_seen(0, 60);
  const auto left = having_seen(0, 17), right = having_seen(17, 60);
  left->merge(*right);
  EXPECT_EQ(left->result(), whole->result());
}

TEST_P(EveryCriterion, MergingIsCommutativeAndAssociative) {
  const auto a = having_seen(0, 3), b = having_seen(3, 8), c = having_seen(8, 20);
  const auto ab = having_seen(0, 3), ba = having_seen(3, 8);
  ab->merge(*b);
  ba->merge(*a);
  EXPECT_EQ(ab->result(), ba->result());
  ab->merge(*c);  // (a + b) + c
  const auto bc = having_seen(3, 8), a_bc = having_seen(0, 3);
  bc->merge(*c);
  a_bc->merge(*bc);  // a + (b + c)
  EXPECT_EQ(ab->result(), a_bc->result());
}

TEST_P(EveryCriterion, AFreshOneIsTheIdentityOfMerging) {
  const auto seen = having_seen(0, 9), left = fresh();
  const Coverage before = seen->result();
  left->merge(*seen);
  EXPECT_EQ(left->result(), before);
  seen->merge(*fresh());
  EXPECT_EQ(seen->result(), before);
}

TEST_P(EveryCriterion, OrderAndBatchSizeDoNotMatter) {
  const Coverage expected = having_seen(0, 60)->result();
  std::vector<std::size_t> order(60);
  std::iota(order.begin(), order.end(), std::size_t{0});
  Rng(5).shuffle(order);
  const auto shuffled = fresh(), one_by_one = fresh(), at_once = fresh();
  suite.give(*shuffled, order);
  suite.give(*one_by_one, 0, 60, 1);
  suite.give(*at_once, 0, 60, 60);
  EXPECT_EQ(shuffled->result(), expected);
  EXPECT_EQ(one_by_one->result(), expected);
  EXPECT_EQ(at_once->result(), expected);
}

TEST_P(EveryCriterion, NeverFallsWhileRecordsAreAdded) {
  const auto criterion = fresh();
  double last = 0;
  for (std::size_t i = 0; i < suite.size(); ++i) {
    suite.give(*criterion, i, i + 1);
    EXPECT_GE(criterion->result().fraction, last);
    last = criterion->result().fraction;
  }
}

TEST_P(EveryCriterion, RefusesToMergeWhatDoesNotBelong) {
  const auto other_layer = find_criterion(GetParam()).make(test::small_layer("other"), 3);
  EXPECT_THROW(fresh()->merge(*other_layer), Error);
  EXPECT_THROW(fresh(3)->merge(*fresh(2)), Error);
}

std::vector<std::string> names() {
  std::vector<std::string> result;
  for (const CriterionInfo& info : criteria()) result.push_back(info.name);
  return result;
}

INSTANTIATE_TEST_SUITE_P(Catalogue, EveryCriterion, testing::ValuesIn(names()));

TEST(Criteria, AreListedAndUnknownNamesAreRefused) {
  EXPECT_FALSE(names().empty());
  try {
    find_criterion("icd");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), Fault::usage);
    EXPECT_NE(std::string(error.what()).find("'icd'"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace assay
