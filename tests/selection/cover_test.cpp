#include <assay/selection.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <numbers>
#include <numeric>
#include <set>

#include <assay/error.h>
#include <assay/extend/random.h>

namespace assay::selection {
namespace {

using Sets = std::vector<std::vector<std::uint32_t>>;

CoveredRows rows_of(const Sets& sets) {
  CoveredRows rows;
  for (const auto& set : sets) rows.add(set);
  return rows;
}

Sets random_sets(Rng& rng, std::size_t records, std::uint32_t items, std::uint64_t one_in) {
  Sets sets(records);
  for (auto& set : sets) {
    for (std::uint32_t item = 0; item < items; ++item) {
      if (rng.below(one_in) == 0) set.push_back(item);
    }
    rng.shuffle(set);
  }
  return sets;
}

std::set<std::uint32_t> covered_by(const Sets& sets, const std::vector<std::size_t>& records) {
  std::set<std::uint32_t> items;
  for (const std::size_t r : records) items.insert(sets[r].begin(), sets[r].end());
  return items;
}

std::vector<std::size_t> all_of(const Sets& sets) {
  std::vector<std::size_t> all(sets.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  return all;
}

// The record among `left` that adds most; the plain second writing.
std::size_t plain_best(const Sets& sets, const std::vector<std::size_t>& left,
                       const std::set<std::uint32_t>& have, std::size_t& gain) {
  std::size_t best = sets.size();
  gain = 0;
  for (const std::size_t r : left) {
    std::size_t adds = 0;
    for (const std::uint32_t item : std::set<std::uint32_t>(sets[r].begin(), sets[r].end()))
      adds += 1 - have.count(item);
    if (adds > gain) {
      gain = adds;
      best = r;
    }
  }
  return best;
}

std::vector<std::size_t> plain_additional(const Sets& sets) {
  std::vector<std::size_t> left = all_of(sets), order;
  std::set<std::uint32_t> have;
  while (!left.empty()) {
    std::size_t gain = 0;
    std::size_t best = plain_best(sets, left, have, gain);
    if (gain == 0 && !have.empty()) {
      have.clear();
      continue;
    }
    if (gain == 0) best = left.front();
    order.push_back(best);
    have.insert(sets[best].begin(), sets[best].end());
    left.erase(std::find(left.begin(), left.end(), best));
    if (gain == 0) have.clear();
  }
  return order;
}

std::size_t smallest_cover(const Sets& sets) {
  const auto all = covered_by(sets, all_of(sets));
  std::size_t best = sets.size();
  for (std::uint32_t chosen = 0; chosen < 1U << sets.size(); ++chosen) {
    const auto size = static_cast<std::size_t>(std::popcount(chosen));
    if (size >= best) continue;
    std::vector<std::size_t> records;
    for (std::size_t r = 0; r < sets.size(); ++r) {
      if ((chosen >> r & 1) != 0) records.push_back(r);
    }
    if (covered_by(sets, records) == all) best = size;
  }
  return best;
}

TEST(Minimise, HandWorkedWhereGreedyIsNotTheBest) {
  // Greedy takes the four in the middle first and needs three; the two halves suffice.
  const Sets sets = {{0, 1, 2}, {3, 4, 5}, {1, 2, 3, 4}};
  const Cover greedy = minimise(rows_of(sets), {.exact = false});
  EXPECT_EQ(greedy.records, (std::vector<std::size_t>{2, 0, 1}));
  EXPECT_EQ(greedy.gain, (std::vector<std::uint64_t>{4, 1, 1}));
  EXPECT_DOUBLE_EQ(greedy.factor, 1 + 0.5 + 1.0 / 3 + 0.25);
  EXPECT_EQ(greedy.lower_bound, 2U);
  EXPECT_FALSE(greedy.optimal);
  const Cover exact = minimise(rows_of(sets));
  EXPECT_EQ(exact.records, (std::vector<std::size_t>{0, 1}));
  EXPECT_EQ(exact.covered, 6U);
  EXPECT_TRUE(exact.optimal);
  EXPECT_EQ(exact.factor, 1);
}

TEST(Minimise, FindsTheOptimumOfSmallRandomInstances) {
  Rng rng(1);
  for (int trial = 0; trial < 300; ++trial) {
    const Sets sets =
        random_sets(rng, 1 + rng.below(10), static_cast<std::uint32_t>(1 + rng.below(20)), 2 + rng.below(5));
    const Cover cover = minimise(rows_of(sets));
    EXPECT_TRUE(cover.optimal);
    EXPECT_EQ(cover.records.size(), smallest_cover(sets)) << trial;
    EXPECT_EQ(covered_by(sets, cover.records), covered_by(sets, all_of(sets)));
  }
}

TEST(Minimise, ReducesExactlyBeforeItChooses) {
  // Records 0 and 1 alone cover 0 and 1; 2 is then all within them; 3 dominates 4; nothing is left to search.
  const Cover cover = minimise(rows_of({{0, 5}, {1, 6}, {5, 6}, {7, 8, 9}, {8, 9}}), {.nodes = 0});
  EXPECT_EQ(std::set<std::size_t>(cover.records.begin(), cover.records.end()),
            (std::set<std::size_t>{0, 1, 3}));
  EXPECT_EQ(cover.forced, 3U) << "7 is covered by one record only";
  EXPECT_EQ(cover.lower_bound, 3U);
  EXPECT_TRUE(cover.optimal);
}

TEST(Minimise, HasNoRedundantRecordsAndBoundsWhatIsForced) {
  Rng rng(7);
  for (int trial = 0; trial < 40; ++trial) {
    // Many records with an item of their own, which greedy choice finds last, and items shared by many.
    Sets sets = random_sets(rng, 120, 200, 12);
    std::set<std::size_t> forced;
    for (std::uint32_t item = 200; item < 240; ++item) {
      const std::size_t r = rng.below(sets.size());
      sets[r].push_back(item);
      forced.insert(r);
    }
    const Cover cover = minimise(rows_of(sets), {.nodes = 200});
    EXPECT_EQ(covered_by(sets, cover.records), covered_by(sets, all_of(sets)));
    EXPECT_GE(cover.forced, forced.size());
    EXPECT_GE(cover.lower_bound, cover.forced);
    EXPECT_LE(cover.lower_bound, cover.records.size());
    for (const std::size_t r : forced)
      EXPECT_NE(std::find(cover.records.begin(), cover.records.end(), r), cover.records.end());
    for (const std::size_t left_out : cover.records) {
      std::vector<std::size_t> fewer = cover.records;
      std::erase(fewer, left_out);
      EXPECT_LT(covered_by(sets, fewer).size(), covered_by(sets, cover.records).size())
          << left_out << " is redundant";
    }
  }
}

TEST(Minimise, BoundsAreTrueWithoutAnySearch) {
  Rng rng(8);
  for (int trial = 0; trial < 200; ++trial) {
    const Sets sets = random_sets(rng, 12, 24, 4);
    const Cover cover = minimise(rows_of(sets), {.nodes = 0});
    EXPECT_LE(cover.lower_bound, smallest_cover(sets)) << trial;
  }
}

TEST(Minimise, KeepsCoverageWithinItsFactorWhateverTheNodeLimit) {
  Rng rng(2);
  for (int trial = 0; trial < 100; ++trial) {
    const Sets sets = random_sets(rng, 10, 30, 4);
    const std::size_t optimum = smallest_cover(sets);
    for (const std::uint64_t nodes : {0, 1, 5, 50}) {
      const Cover cover = minimise(rows_of(sets), {.nodes = nodes});
      EXPECT_EQ(covered_by(sets, cover.records), covered_by(sets, all_of(sets)));
      EXPECT_EQ(cover.covered, cover.coverable);
      EXPECT_LE(cover.lower_bound, optimum);
      EXPECT_LE(static_cast<double>(cover.records.size()),
                cover.factor * static_cast<double>(optimum) + 1e-9);
      if (cover.optimal) {
        EXPECT_EQ(cover.records.size(), optimum);
      }
    }
  }
}

TEST(Greedy, EqualsPlain) {
  Rng rng(4);
  for (int trial = 0; trial < 200; ++trial) {
    const Sets sets =
        random_sets(rng, rng.below(40), static_cast<std::uint32_t>(1 + rng.below(25)), 2 + rng.below(8));
    std::vector<std::size_t> left = all_of(sets), plain;
    std::set<std::uint32_t> have;
    for (;;) {
      std::size_t gain = 0;
      const std::size_t best = plain_best(sets, left, have, gain);
      if (gain == 0) break;
      plain.push_back(best);
      have.insert(sets[best].begin(), sets[best].end());
    }
    EXPECT_EQ(minimise(rows_of(sets), {.exact = false}).records, plain);
    const std::size_t budget = rng.below(10);
    plain.resize(std::min(plain.size(), budget));
    EXPECT_EQ(budgeted(rows_of(sets), budget).records, plain);
  }
}

TEST(Budgeted, CoversAtLeastItsFactorOfTheBest) {
  Rng rng(5);
  for (int trial = 0; trial < 50; ++trial) {
    const Sets sets = random_sets(rng, 9, 25, 4);
    const Cover cover = budgeted(rows_of(sets), 3);
    std::size_t best = 0;
    for (std::size_t a = 0; a < 9; ++a) {
      for (std::size_t b = 0; b < 9; ++b) {
        for (std::size_t c = 0; c < 9; ++c) best = std::max(best, covered_by(sets, {a, b, c}).size());
      }
    }
    EXPECT_EQ(cover.covered, covered_by(sets, cover.records).size());
    EXPECT_GE(static_cast<double>(cover.covered), (1 - 1 / std::numbers::e) * static_cast<double>(best));
  }
}

TEST(OrderAdditional, HandWorkedRestart) {
  // {0,1} first, 2 completes; then it starts anew: 1 covers {1}, as much as 3 does; the empty one comes last.
  EXPECT_EQ(order_additional(rows_of({{}, {1}, {2}, {0}, {0, 1}})),
            (std::vector<std::size_t>{4, 2, 1, 3, 0}));
}

TEST(OrderAdditional, IsAPermutationAndEqualsThePlainWriting) {
  Rng rng(6);
  for (int trial = 0; trial < 200; ++trial) {
    const Sets sets =
        random_sets(rng, rng.below(30), static_cast<std::uint32_t>(1 + rng.below(12)), 2 + rng.below(6));
    auto order = order_additional(rows_of(sets));
    EXPECT_EQ(order, plain_additional(sets)) << trial;
    const std::size_t most = rng.below(sets.size() + 2);
    const std::size_t few = std::min(most, order.size());
    EXPECT_EQ(order_additional(rows_of(sets), most),
              std::vector(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(few)));
    std::sort(order.begin(), order.end());
    EXPECT_EQ(order, all_of(sets));
  }
}

// As sections of neurons are covered: one of several items of each neuron, some of them rare, and many equal
// records; more than a block of records.
TEST(OrderAdditional, EqualsThePlainWritingForSectionsOfNeurons) {
  Rng rng(8);
  Sets sets(700);
  for (auto& set : sets) {
    for (std::uint32_t neuron = 0; neuron < 4; ++neuron)
      set.push_back(neuron * 5 + static_cast<std::uint32_t>(rng.below(1 + rng.below(5))));
  }
  EXPECT_EQ(order_additional(rows_of(sets)), plain_additional(sets));
}

TEST(OrderAdditional, ManyEqualRecordsStayFast) {
  CoveredRows rows;
  const std::vector<std::uint32_t> same = {0, 1, 2};
  for (int i = 0; i < 100'000; ++i) rows.add(same);
  const auto order = order_additional(rows);
  EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
  EXPECT_EQ(order.size(), rows.records());
}

TEST(Selection, NothingToCover) {
  EXPECT_TRUE(minimise({}).records.empty());
  EXPECT_TRUE(minimise({}).optimal);
  EXPECT_TRUE(minimise(rows_of({{}, {}})).records.empty());
  EXPECT_TRUE(budgeted(rows_of({{1}}), 0).records.empty());
  EXPECT_TRUE(order_additional({}).empty());
}

TEST(Selection, RefusesBrokenRows) {
  CoveredRows rows;
  rows.begin = {0, 5};
  rows.items = {1, 2};
  EXPECT_THROW(minimise(rows), Error);
  rows.begin = {0, 2, 1, 2};
  EXPECT_THROW(order_additional(rows), Error);
}

TEST(Harmonic, AgreesOnBothSidesOfItsExpansion) {
  EXPECT_EQ(harmonic(0), 0);
  EXPECT_DOUBLE_EQ(harmonic(4), 25.0 / 12);
  EXPECT_NEAR(harmonic(1001), harmonic(1000) + 1.0 / 1001, 1e-12);
}

}  // namespace
}  // namespace assay::selection
