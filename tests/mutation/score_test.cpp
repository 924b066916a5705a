#include <assay/mutation.h>

#include <gtest/gtest.h>

#include <filesystem>

#include <assay/error.h>

namespace assay::mutation {
namespace {

// Six records of T' in three classes (0 0 1 1 2 2), one record beside it; `kills` lists killing records.
MutationState worked_example(const std::vector<std::vector<std::size_t>>& kills) {
  MutationState state("hash", "net", 3, std::nullopt);
  for (std::size_t r = 0; r < 7; ++r)
    state.add(MutationRecord{{{r, 0}, 0}, std::to_string(r), static_cast<std::int64_t>(r / 2 % 3), r < 6});
  for (std::size_t m = 0; m < kills.size(); ++m) {
    MutantOutcome mutant;
    const std::string name = m % 2 == 0 ? "gf" : "ws";
    mutant.id = name;
    mutant.op = name;
    mutant.operator_name = name;
    mutant.layer = m < 2 ? "conv" : "dense";
    mutant.seed = m;
    mutant.change = 1;
    mutant.decisiveness = 0.5;
    for (std::size_t r = 0; r < 6; ++r) mutant.known.set(r);
    for (const std::size_t r : kills[m]) mutant.killed.set(r);
    state.add(mutant);
  }
  return state;
}

TEST(MutationScore, HandWorked) {
  // Killed classes: {0, 1}, none, {0, 1, 2}, {2}; error rates 2/6, 0, 6/6, 1/6.
  const MutationState state = worked_example({{0, 2}, {}, {0, 1, 2, 3, 4, 5}, {4}});
  const MutationScore all = score(state, {.quality = 2});
  EXPECT_EQ(all.all.killed_classes, 6U);
  EXPECT_EQ(all.all.coverable, 12U);
  EXPECT_DOUBLE_EQ(all.all.score.value(), 0.5);
  EXPECT_DOUBLE_EQ(all.all.error_rate.value(), (2.0 / 6 + 0 + 1 + 1.0 / 6) / 4);
  EXPECT_EQ(all.all.killed, 3U);
  EXPECT_EQ(all.all.survived, 1U);
  EXPECT_TRUE(all.mutants[2].trivial);
  EXPECT_EQ(all.idle, std::vector<std::size_t>{});  // the third mutant is killed by all

  // Quality control leaves the third (error rate 1) and the first (1/3) out.
  const MutationScore some = score(state, {.quality = 0.2});
  EXPECT_EQ(some.all.excluded, 2U);
  EXPECT_DOUBLE_EQ(some.all.score.value(), 1.0 / 6);
  EXPECT_DOUBLE_EQ(some.all.error_rate.value(), 1.0 / 12);
  EXPECT_EQ(some.idle, (std::vector<std::size_t>{0, 1, 2, 3, 5}));
  EXPECT_EQ(some.by_operator.at(1).name, "ws");
  EXPECT_DOUBLE_EQ(some.by_operator.at(1).score.value(), 1.0 / 6);
  EXPECT_EQ(some.by_layer.at(0).name, "conv");
  EXPECT_DOUBLE_EQ(some.by_layer.at(0).score.value(), 0);
}

TEST(MutationScore, ClassesAddUpToTheWhole) {
  const MutationState state = worked_example({{0, 2}, {}, {0, 1, 2, 3, 4, 5}, {4}});
  const MutationScore all = score(state, {.quality = 2});
  std::uint64_t sum = 0;
  for (const ClassScore& one : all.by_class) {
    sum += one.killed;
    EXPECT_EQ(one.coverable, all.all.coverable);
    EXPECT_EQ(one.records, 2U);
  }
  EXPECT_EQ(sum, all.all.killed_classes);
  EXPECT_DOUBLE_EQ(all.by_class[0].error_rate.value(), (0.5 + 0 + 1 + 0) / 4);
}

TEST(MutationScore, TheIntervalHoldsTheScoreAndReproduces) {
  const MutationState state = worked_example({{0, 2}, {}, {0, 1, 2, 3, 4, 5}, {4}});
  const MutationScore a = score(state, {.quality = 2}), b = score(state, {.quality = 2});
  EXPECT_LE(a.all.low.value(), a.all.score.value());
  EXPECT_GE(a.all.high.value(), a.all.score.value());
  EXPECT_EQ(a.all.low, b.all.low);
  const MutationScore certain = score(worked_example({{0}, {1}, {0, 1}}), {.quality = 2});
  EXPECT_EQ(certain.all.low, certain.all.high) << "mutants that agree leave no doubt";
}

TEST(MutationScore, WithoutMutantsThereIsNone) {
  const MutationScore none = score(worked_example({}), {});
  EXPECT_FALSE(none.all.score);
  EXPECT_FALSE(none.by_class[0].score);
}

TEST(MutationScore, LabelsSayHowTheyWereFound) {
  MutationState state = worked_example({{}, {0}});
  state.mutant(0).change = 1e-9;
  state.mutant(1).decisiveness = 1e-6;
  const MutationScore result = score(state, {.quality = 2});
  EXPECT_TRUE(result.mutants[0].looks_equivalent);
  EXPECT_FALSE(result.mutants[0].unstable);
  EXPECT_TRUE(result.mutants[1].unstable);
  EXPECT_FALSE(result.mutants[1].looks_equivalent);
}

TEST(MutationScore, WhatTheTrainingDataDoNotKillDoesNotCountInAnyPart) {
  MutationState state = worked_example({{0, 2}, {}, {4}});
  for (std::size_t m = 0; m < 3; ++m) state.mutant(m).killable = m != 1;
  const MutationScore whole = score(state, {.quality = 2});
  EXPECT_EQ(whole.all.excluded, 1U);
  EXPECT_EQ(whole.all.uncounted, 1U);
  EXPECT_TRUE(whole.mutants[1].uncounted);
  EXPECT_DOUBLE_EQ(whole.all.score.value(), 3.0 / 6);
  MutationState first = state, second = state;
  first.keep_mutants({true, false, false});
  second.keep_mutants({false, true, true});
  const auto path = std::filesystem::path(testing::TempDir()) / "killable.mut";
  second.write(path);
  first.merge(MutationState::read(path));
  EXPECT_DOUBLE_EQ(score(first, {.quality = 2}).all.score.value(), 3.0 / 6);
  std::filesystem::remove(path);
  EXPECT_THROW(first.merge(worked_example({{0}})), Error) << "of those nobody knows what training data kill";
  MutationState none("hash", "net", 3, std::nullopt);
  EXPECT_NO_THROW(first.merge(none)) << "a part without mutants";
}

TEST(MutationScore, AnUnfinishedMutantDoesNotCount) {
  MutationState state = worked_example({{0}});
  MutantOutcome half;
  half.op = "gf";
  half.seed = 9;
  half.known.set(0);
  half.killed.set(0);
  state.add(half);
  const MutationScore result = score(state, {.quality = 0.5});
  EXPECT_EQ(result.all.incomplete, 1U);
  EXPECT_EQ(result.all.coverable, 3U);
}

TEST(KillingSubset, KillsTheSameClassesOfTheSameMutants) {
  const MutationState state = worked_example({{0, 2}, {1, 3}, {0, 3, 5}, {}});
  const MutationScore all = score(state, {.quality = 2});
  const selection::Cover cover = killing_subset(state, all);
  std::vector<bool> keep(7, false);
  for (const std::size_t r : cover.records) keep[r] = true;
  std::uint64_t killed = 0;
  for (const MutantOutcome& mutant : state.mutants()) {
    for (std::size_t c = 0; c < 3; ++c)
      killed += (mutant.killed[2 * c] && keep[2 * c]) || (mutant.killed[2 * c + 1] && keep[2 * c + 1]);
  }
  EXPECT_EQ(killed, all.all.killed_classes);
  EXPECT_EQ(cover.records.size(), 5U);  // 0 and 2, 1 and 3, 5
}

}  // namespace
}  // namespace assay::mutation
