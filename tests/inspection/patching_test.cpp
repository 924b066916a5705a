// Activations of one run in another, and heads taken out: laws, and the ratio by hand. What transformers give
// is compared with NumPy from Python.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include <assay/error.h>
#include <assay/patching.h>
#include <assay/records.h>
#include "assay/inspection/patching/patched_values.h"
#include "tests/engine/graphs.h"

namespace assay::inspection {
namespace {

using ::testing::HasSubstr;

DatasetPtr records(std::uint64_t seed, std::int64_t count = 24) {
  Rng rng(seed);
  return from_arrays(::assay::test::random_array(rng, {count, 4, 6}));
}

const Session& transformer() {
  static const Session session(::assay::test::transformer_like());
  return session;
}

PatchEffect effect_at(const Patching& found, const std::string& layer) {
  for (const PatchEffect& effect : found.effects)
    if (effect.site.layer == layer && !effect.site.head && !effect.site.position) return effect;
  ADD_FAILURE() << layer;
  return {};
}

TEST(Patching, OfTheLastLayerMakesEverythingGood) {
  const Patching found = patch(transformer(), records(1), records(2), {.layers = {"logits"}}, silence());
  EXPECT_GT(found.counted, 0U);
  const PatchEffect effect = effect_at(found, "logits");
  EXPECT_NEAR(effect.share, 1, 1e-5);
  EXPECT_NEAR(effect.high - effect.low, 0, 1e-4);
  EXPECT_EQ(effect.turned, found.counted);
}

TEST(Patching, IsTheSameInAnyBatchAndTheOtherWayRound) {
  const PatchOptions one{.layers = {"up"}, .positions = true, .batch = 1},
      many{.layers = {"up"}, .positions = true, .batch = 24};
  const Patching a = patch(transformer(), records(1), records(2), one, silence()),
                 b = patch(transformer(), records(1), records(2), many, silence());
  ASSERT_EQ(a.effects.size(), 4U);
  for (std::size_t i = 0; i < a.effects.size(); ++i)
    EXPECT_NEAR(a.effects[i].share, b.effects[i].share, 1e-5);
  PatchOptions back = many;
  back.into_clean = true;
  const Patching c = patch(transformer(), records(2), records(1), back, silence());
  for (std::size_t i = 0; i < a.effects.size(); ++i)
    EXPECT_NEAR(c.effects[i].share, b.effects[i].share, 1e-5);
}

TEST(Patching, OfEqualRecordsHasNothingToMakeGood) {
  EXPECT_THROW(patch(transformer(), records(1), records(1), {.layers = {"up"}}, silence()), Error);
}

TEST(Patching, LooksAtHeadsAndSumsUnlessLayersAreNamed) {
  const Patching found = patch(transformer(), records(1), records(2), {}, silence());
  std::size_t heads = 0;
  for (const PatchEffect& effect : found.effects) heads += effect.site.head.has_value();
  EXPECT_EQ(heads, 2U);
  EXPECT_GT(found.effects.size(), heads);
}

TEST(Patching, SaysWhatIsNoPair) {
  const auto said = [](const DatasetPtr& a, const DatasetPtr& b, const PatchOptions& options) -> std::string {
    try {
      patch(transformer(), a, b, options, silence());
    } catch (const Error& error) {
      return error.what();
    }
    return "nothing";
  };
  EXPECT_THAT(said(records(1), records(2, 23), {}), HasSubstr("are not pairs: 24 records and 23"));
  EXPECT_THAT(said(records(1), records(2), {.layers = {"nothing"}}), HasSubstr("has no layer 'nothing'"));
}

// Of (1, 2), (3, 4): 4 / 6, residuals 1 - 2 * 2/3 = -1/3 and 3 - 4 * 2/3 = 1/3.
TEST(Ratios, HaveTheIntervalOfTheDeltaMethod) {
  Ratio ratio;
  ratio.add(1, 2);
  ratio.add(3, 4);
  EXPECT_DOUBLE_EQ(ratio.share(), 4.0 / 6);
  EXPECT_NEAR(ratio.half_width(), 1.959963985 * std::sqrt((2.0 / 9) * 2 / 1) / 6, 1e-8);
  Ratio alone;
  alone.add(1, 2);
  EXPECT_EQ(alone.half_width(), 0);
}

TEST(Ablation, TakesHeadsOutAndComparesWithChance) {
  const Ablation zero = ablate(transformer(), records(3), {.controls = 9}, silence()),
                 again = ablate(transformer(), records(3), {.controls = 9, .batch = 5}, silence()),
                 mean = ablate(transformer(), records(3), {.mean = true, .controls = 0}, silence());
  ASSERT_EQ(zero.heads.size(), 2U);
  EXPECT_EQ(zero.counted, 24U);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_NEAR(zero.heads[i].effect.share, again.heads[i].effect.share, 1e-5);
    EXPECT_NEAR(zero.heads[i].control, again.heads[i].control, 1e-5);
    EXPECT_GE(zero.heads[i].p, 0.1);
    EXPECT_LE(zero.heads[i].p, 1);
    EXPECT_NE(zero.heads[i].effect.share, mean.heads[i].effect.share);
    EXPECT_EQ(mean.heads[i].p, 1);
  }
}

TEST(Ablation, MeansAreThoseOfRecordsThatCount) {
  Rng rng(4);
  const Array all = ::assay::test::random_array(rng, {25, 4, 6});
  all.narrow(0, 24, 1).fill_(3e38F);  // its scores are no numbers
  const AblationOptions options{.mean = true, .controls = 0};
  const Ablation found = ablate(transformer(), from_arrays(all), options, silence()),
                 without = ablate(transformer(), from_arrays(all.narrow(0, 0, 24).contiguous()), options,
                                  silence());
  EXPECT_EQ(found.counted, 24U);
  ASSERT_EQ(found.heads.size(), without.heads.size());
  for (std::size_t i = 0; i < found.heads.size(); ++i)
    EXPECT_NEAR(found.heads[i].effect.share, without.heads[i].effect.share, 1e-5);
}

}  // namespace
}  // namespace assay::inspection
