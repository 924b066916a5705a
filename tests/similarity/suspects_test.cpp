#include "assay/similarity/suspects.h"

#include <gtest/gtest.h>

#include <assay/dataset.h>
#include <assay/error.h>
#include <assay/extend/random.h>
#include "assay/support/files/file.h"
#include "tests/support/records.h"

namespace assay::test {
using namespace similarity;
namespace {

const Shape shape{1, 12, 12};

std::vector<std::vector<float>> pictures(std::size_t count, std::uint64_t seed) {
  std::vector<std::vector<float>> all(count, std::vector<float>(144));
  for (std::size_t i = 0; i < count; ++i) {
    Rng rng(seed, {i});
    for (float& v : all[i]) v = static_cast<float>(rng.uniform());
  }
  return all;
}

DatasetPtr set_of(const std::vector<std::vector<float>>& values) { return shaped_records(shape, values, {}); }

Suspicion compared(const std::vector<std::vector<float>>& findings,
                   const std::vector<std::vector<float>>& training, std::size_t nearest = 4,
                   std::size_t threads = 1) {
  return find_suspects(set_of(findings), set_of(training),
                       {.ssim = {}, .nearest = nearest, .threads = threads}, silence());
}

TEST(Suspects, AreWhatComparingEveryPairGives) {
  const auto findings = pictures(7, 1), training = pictures(53, 2);
  const Suspicion found = compared(findings, training);
  const Ssim ssim(shape, {{0}, {1}}, {});
  std::vector<std::size_t> votes(53, 0);
  for (std::size_t f = 0; f < 7; ++f) {
    std::vector<Match> all;
    for (std::size_t r = 0; r < 53; ++r) all.push_back({r, ssim.similarity(findings[f], training[r])});
    std::ranges::stable_sort(all, std::greater(), &Match::similarity);
    ASSERT_EQ(found.nearest[f].size(), 4U);
    for (std::size_t n = 0; n < 4; ++n) {
      EXPECT_EQ(found.nearest[f][n].record, all[n].record);
      EXPECT_EQ(found.nearest[f][n].similarity, all[n].similarity);
      ++votes[all[n].record];
    }
  }
  ASSERT_EQ(found.suspects.size(), 53U);
  for (std::size_t r = 0; r < 53; ++r) {
    double most = -2, mean = 0;
    std::size_t which = 0;
    for (std::size_t f = 0; f < 7; ++f) {
      const double s = ssim.similarity(findings[f], training[r]);
      mean += s / 7;
      if (s > most) most = s, which = f;
    }
    EXPECT_EQ(found.suspects[r].record, r);
    EXPECT_EQ(found.suspects[r].similarity, most);
    EXPECT_EQ(found.suspects[r].finding, which);
    EXPECT_NEAR(found.suspects[r].mean, mean, 1e-12);
    EXPECT_EQ(found.suspects[r].votes, votes[r]);
  }
}

TEST(Suspects, DoNotDependOnThreads) {
  const auto findings = pictures(5, 3), training = pictures(3000, 4);
  const Suspicion one = compared(findings, training, 10, 1), four = compared(findings, training, 10, 4);
  for (std::size_t r = 0; r < training.size(); ++r) {
    EXPECT_EQ(one.suspects[r].similarity, four.suspects[r].similarity);
    EXPECT_EQ(one.suspects[r].mean, four.suspects[r].mean);
    EXPECT_EQ(one.suspects[r].votes, four.suspects[r].votes);
  }
}

TEST(Suspects, CopiesOfAFindingComeFirstAndTiesGoToTheEarlier) {
  auto training = pictures(40, 5);
  const auto findings = std::vector<std::vector<float>>{training[31], training[17]};
  training[8] = training[31];
  const Suspicion found = compared(findings, training, 2);
  EXPECT_EQ(found.nearest[0][0].record, 8U);
  EXPECT_EQ(found.nearest[0][1].record, 31U);
  EXPECT_EQ(found.nearest[1][0].record, 17U);
  const auto order = rank(found.suspects, "similarity");
  EXPECT_EQ(std::vector<std::size_t>(order.begin(), order.begin() + 3),
            (std::vector<std::size_t>{8, 17, 31}));
}

TEST(Suspects, AreRankedByWhatIsAskedFor) {
  std::vector<Suspect> suspects(3);
  suspects[0] = {.record = 0, .similarity = 0.9, .finding = 0, .mean = 0.2, .votes = 1};
  suspects[1] = {.record = 1, .similarity = 0.8, .finding = 0, .mean = 0.6, .votes = 1};
  suspects[2] = {.record = 2, .similarity = 0.7, .finding = 0, .mean = 0.3, .votes = 5};
  EXPECT_EQ(rank(suspects, "similarity"), (std::vector<std::size_t>{0, 1, 2}));
  EXPECT_EQ(rank(suspects, "mean"), (std::vector<std::size_t>{1, 2, 0}));
  EXPECT_EQ(rank(suspects, "votes"), (std::vector<std::size_t>{2, 0, 1}));
  EXPECT_THROW(rank(suspects, "luck"), Error);
}

TEST(Suspects, ShapesMustAgree) {
  const DatasetPtr other = shaped_records({1, 16, 9}, {std::vector<float>(144)}, {});
  EXPECT_THROW(find_suspects(other, set_of(pictures(3, 1)), {}, silence()), Error);
}

TEST(Suspects, PollutedRecordsAreThoseThatAreNamedOrLabelledOtherwise) {
  const std::string folder = testing::TempDir();
  const DatasetPtr training = records({{0}, {1}, {0.5F}}, {0, 1, 1}, {"a", "b", "c"});
  write_file(folder + "assay_truth.txt", "b\nz\n");
  EXPECT_EQ(polluted_ids(*training, folder + "assay_truth.txt"), (std::set<std::string>{"b", "z"}));
  write_file(folder + "assay_truth.txt", "\n");
  EXPECT_THROW(polluted_ids(*training, folder + "assay_truth.txt"), Error);
  const NamedDataset right("assay_truth", records({{0}, {1}, {0.5F}}, {0, 1, 0}, {"a", "b", "c"}));
  EXPECT_EQ(polluted_ids(*training, "@assay_truth"), (std::set<std::string>{"c"}));
}

}  // namespace
}  // namespace assay::test
