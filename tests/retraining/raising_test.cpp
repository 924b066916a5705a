#include "assay/retraining/raising.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include <assay/coverage.h>
#include <assay/dataset.h>
#include <assay/extend/random.h>
#include "assay/data/views.h"
#include "tests/attack/build.h"
#include "tests/support/records.h"

namespace assay::test {
using namespace retraining;
namespace {

// Two neurons that pass their input on, training values 0 to 1: kmnc with 4 sections each.
class CoverageRaising : public testing::Test {
 protected:
  CoverageRaising() : session(linear({2, 2}, {1, 0, 0, 1}), one_thread) {
    coverage::LearnOptions learn;
    learn.criteria = {criterion};
    profile = std::make_shared<const coverage::Profile>(
        coverage::learn_profile(session, records({{0, 0}, {1, 1}}, {0, 1}), learn, silence()).profile);
  }
  Raising raise(const DatasetPtr& test, const DatasetPtr& candidates, std::size_t count) const {
    return coverage_raising(session, profile, criterion, test, candidates, count, 0, silence());
  }

  Spec criterion = parse_spec("criterion", "kmnc[sections=4]");
  Session session;
  std::shared_ptr<const coverage::Profile> profile;
};

TEST_F(CoverageRaising, TakesWhatAddsMostFirstAndNothingThatAddsNothing) {
  const DatasetPtr test = records({{0.1F, 0.1F}}, {0});
  // Nothing new, one new section (second neuron), two new, one of these again and one new.
  const DatasetPtr candidates =
      records({{0.2F, 0.2F}, {0.1F, 0.4F}, {0.6F, 0.9F}, {0.6F, 0.7F}}, {0, 0, 0, 0});
  const Raising all = raise(test, candidates, 10);
  EXPECT_EQ(all.before, 2U);
  EXPECT_EQ(all.available, 4U);  // 0.4, 0.7 and 0.9 of the second neuron, 0.6 of the first
  EXPECT_EQ(all.records, (std::vector<std::size_t>{2, 1, 3}));
  EXPECT_EQ(all.gain, (std::vector<std::uint64_t>{2, 1, 1}));
  EXPECT_EQ(raise(test, candidates, 1).records, (std::vector<std::size_t>{2}));
  EXPECT_TRUE(raise(candidates, candidates, 10).records.empty());
}

// The greedy choice counted anew in every step.
TEST_F(CoverageRaising, IsTheGreedyChoiceWrittenOut) {
  Rng rng(3);
  const auto random = [&](std::size_t count) {
    std::vector<std::vector<float>> values;
    for (std::size_t i = 0; i < count; ++i)
      values.push_back({static_cast<float>(rng.uniform()), static_cast<float>(rng.uniform())});
    return values;
  };
  const auto tests = random(2), given = random(30);
  const auto sections = [](const std::vector<float>& record) {
    return std::set<int>{static_cast<int>(record[0] * 4), 4 + static_cast<int>(record[1] * 4)};
  };
  std::set<int> covered;
  for (const auto& record : tests) covered.merge(sections(record));
  std::vector<std::size_t> expected;
  for (;;) {
    std::size_t best = 0, most = 0;
    for (std::size_t i = 0; i < given.size(); ++i) {
      const std::set<int> own = sections(given[i]);
      const auto added =
          static_cast<std::size_t>(std::ranges::count_if(own, [&](int s) { return !covered.contains(s); }));
      if (added > most) most = added, best = i;
    }
    if (most == 0) break;
    expected.push_back(best);
    covered.merge(sections(given[best]));
  }
  EXPECT_EQ(raise(records(tests, {0, 0}), records(given, std::vector<std::int64_t>(30, 0)), 30).records,
            expected);
  EXPECT_FALSE(expected.empty());
}

}  // namespace
}  // namespace assay::test
