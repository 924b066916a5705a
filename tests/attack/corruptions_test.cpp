// Noise and natural corruptions by hand-worked pixels.

#include <algorithm>
#include <numbers>

#include <gmock/gmock.h>

#include <assay/error.h>
#include <assay/extend/attack_problem.h>
#include <assay/relevance.h>
#include "tests/attack/build.h"

namespace assay::test {
using namespace attack;
namespace {

// A problem of pictures; what the network says does not matter.
class Corruption : public testing::Test {
 protected:
  static AttackProblem pictures(const std::vector<float>& values, Shape shape) {
    AttackProblem problem;
    problem.inputs = array::tensor(values).reshape(shape);
    problem.log = std::make_shared<AttackLog>(static_cast<std::size_t>(shape[0]));
    for (std::size_t i = 0; i < static_cast<std::size_t>(shape[0]); ++i) {
      problem.keys.push_back(50 + i);
      problem.places.push_back(i);
    }
    return problem;
  }
  Array corrupted(const std::string& spec, const AttackProblem& problem) const {
    return perturbed(spec, network, problem);
  }

  Session session{lenet_like(), one_thread};
  AttackedNetwork network{session, {}, false};
};

TEST_F(Corruption, BrightnessAddsAndClips) {
  const AttackProblem problem = pictures({0, 0.5F, 0.9F, 1}, {1, 1, 2, 2});
  expect_near({0.2, 0.7, 1, 1}, corrupted("brightness[amount=0.2]", problem), 1e-6);
  expect_near({0, 0.3, 0.7, 0.8}, corrupted("brightness[amount=-0.2]", problem), 1e-6);
  expect_near({0.05, 0.55, 0.95, 1}, corrupted("brightness[severity=1]", problem), 1e-6);
  expect_near({0.3, 0.8, 1, 1}, corrupted("brightness[severity=5]", problem), 1e-6);
  EXPECT_THROW(corrupted("brightness[severity=6]", problem), Error);
  EXPECT_THROW(corrupted("brightness[severity=0]", problem), Error);
}

TEST_F(Corruption, ContrastDrawsEachChannelToItsMean) {
  // Channel means 0.5 and 0.2.
  const AttackProblem problem = pictures({0, 1, 0.5F, 0.5F, 0, 0.4F, 0.2F, 0.2F}, {1, 2, 2, 2});
  expect_near({0.25, 0.75, 0.5, 0.5, 0.1, 0.3, 0.2, 0.2}, corrupted("contrast[severity=2]", problem), 1e-6);
  EXPECT_THROW(corrupted("contrast", pictures({0, 1}, {1, 2})), Error);
}

// Of a grey picture, x' = (0.5 + a c) 0.5 / (0.5 + a) with a cloud c that goes from 0 to 1.
TEST_F(Corruption, FogIsACloudOfLightInAllChannels) {
  const AttackProblem problem = pictures(std::vector<float>(2 * 3 * 64, 0.5F), {2, 3, 8, 8});
  const Array found = corrupted("fog[amount=0.5]", problem);
  for (std::int64_t record = 0; record < 2; ++record) {
    EXPECT_NEAR(found[record].min().item<double>(), 0.25, 1e-6);
    EXPECT_NEAR(found[record].max().item<double>(), 0.5, 1e-6);
    for (std::int64_t channel = 1; channel < 3; ++channel)
      EXPECT_TRUE(array::equal(found[record][channel], found[record][0]));
  }
  EXPECT_FALSE(array::equal(found[0], found[1])) << "each record has its own cloud";
  EXPECT_TRUE(array::equal(found, corrupted("fog[amount=0.5]", problem)));
  // Neighbours are nearer to each other than elements far apart; more so where clouds decay quicker.
  const auto roughness = [&](const std::string& spec) {
    const Array wide = corrupted(spec, pictures(std::vector<float>(32 * 32, 0.5F), {1, 1, 32, 32}))[0][0];
    return (wide.slice(1, 1) - wide.slice(1, 0, 31)).abs().mean().item<double>();
  };
  EXPECT_LT(roughness("fog[severity=1,amount=1]"), roughness("fog[severity=5,amount=1]"));
  EXPECT_LT(roughness("fog[severity=5,amount=1]"), 0.05);
  // Black stays black, and pictures need no side that is a power of 2.
  EXPECT_EQ(corrupted("fog", pictures(std::vector<float>(15, 0), {1, 1, 3, 5})).max().item<float>(), 0);
  EXPECT_THROW(corrupted("fog", pictures({0, 1}, {1, 2})), Error);
}

TEST_F(Corruption, BlurSpreadsOnePixelByTheWeightsOfItsDistance) {
  std::vector<float> values(81, 0);
  values[40] = 1;  // the middle of 9 x 9
  const Array found = corrupted("blur[amount=0.5]", pictures(values, {1, 1, 9, 9})).reshape({9, 9});
  // Weights exp(-2 d^2): 1, 0.13534, 0.00034 on either side.
  const double sum = 1 + 2 * (std::exp(-2.0) + std::exp(-8.0));
  EXPECT_NEAR(found[4][4].item<double>(), 1 / (sum * sum), 1e-6);
  EXPECT_NEAR(found[4][5].item<double>(), std::exp(-2.0) / (sum * sum), 1e-6);
  EXPECT_NEAR(found[3][2].item<double>(), std::exp(-2.0) * std::exp(-8.0) / (sum * sum), 1e-6);
  EXPECT_NEAR(found.sum().item<double>(), 1, 1e-5);
  EXPECT_EQ(found[4][7].item<float>(), 0);
  // A flat picture stays flat up to its edges.
  expect_near(std::vector<double>(12, 0.3),
              corrupted("blur", pictures(std::vector<float>(12, 0.3F), {1, 1, 3, 4})), 1e-6);
}

TEST_F(Corruption, RotationByAQuarterTurnMovesEveryPixel) {
  const AttackProblem problem =
      pictures({0.1F, 0.2F, 0.3F, 0.4F, 0.5F, 0.6F, 0.7F, 0.8F, 0.9F}, {1, 1, 3, 3});
  const std::vector<double> left{0.3, 0.6, 0.9, 0.2, 0.5, 0.8, 0.1, 0.4, 0.7},
      right{0.7, 0.4, 0.1, 0.8, 0.5, 0.2, 0.9, 0.6, 0.3};
  const Array found = corrupted("rotation[amount=90]", problem);
  const bool turned_left = std::abs(found.flatten()[0].item<double>() - 0.3) < 1e-4;
  expect_near(turned_left ? left : right, found, 1e-4);
  // Half a turn is the same either way, also where height and width differ.
  expect_near({0.6, 0.5, 0.4, 0.3, 0.2, 0.1},
              corrupted("rotation[amount=180]", pictures({0.1F, 0.2F, 0.3F, 0.4F, 0.5F, 0.6F}, {1, 1, 2, 3})),
              1e-4);
}

TEST_F(Corruption, BothDirectionsOccur) {
  std::vector<float> values;
  for (int i = 0; i < 20; ++i)
    values.insert(values.end(), {0.1F, 0.2F, 0.3F, 0.4F, 0.5F, 0.6F, 0.7F, 0.8F, 0.9F});
  const Array found =
      corrupted("rotation[amount=90]", pictures(values, {20, 1, 3, 3})).flatten(1).select(1, 0);
  EXPECT_GT(found.lt(0.5).sum().item<std::int64_t>(), 3);
  EXPECT_GT(found.gt(0.5).sum().item<std::int64_t>(), 3);
}

TEST_F(Corruption, TranslationMovesAlongItsAngle) {
  std::vector<float> values;
  for (int y = 0; y < 10; ++y) {
    for (int x = 0; x < 10; ++x) values.push_back(static_cast<float>(0.04 * x + 0.05 * y));
  }
  const AttackProblem problem = pictures(values, {1, 1, 10, 10});
  const double angle = 2 * std::numbers::pi * problem.rng(0).uniform();
  const Array found = corrupted("translation[amount=0.2]", problem).reshape({10, 10});
  // Moved by 2 pixels along the angle: a gradient of 0.04 and 0.05 a pixel lies lower by that much where
  // nothing comes from the edge.
  EXPECT_NEAR(found[5][5].item<double>(), 0.45 - 0.04 * 2 * std::cos(angle) - 0.05 * 2 * std::sin(angle),
              1e-4);
}

TEST_F(Corruption, ScaleKeepsTheCentreAndMovesTheRest) {
  std::vector<float> values;
  for (int y = 0; y < 5; ++y) {
    for (int x = 0; x < 5; ++x) values.push_back(static_cast<float>(0.2 * x));
  }
  const AttackProblem problem = pictures(values, {1, 1, 5, 5});
  const bool larger = problem.rng(0).below(2) == 0;
  const Array found = corrupted("scale[amount=0.25]", problem).reshape({5, 5});
  EXPECT_NEAR(found[2][2].item<double>(), 0.4, 1e-5);
  EXPECT_NEAR(found[2][3].item<double>(), larger ? 0.4 + 0.2 / 1.25 : 0.4 + 0.2 * 1.25, 1e-5);
}

TEST_F(Corruption, NoiseHasTheStandardDeviationAskedFor) {
  const AttackProblem problem = pictures(std::vector<float>(40000, 0.5F), {4, 1, 100, 100});
  const Array change = corrupted("noise[sigma=0.05]", problem) - problem.inputs;
  EXPECT_NEAR(array::var(change, {}, false, /*unbiased=*/true).sqrt().item<double>(), 0.05, 1e-3);
  EXPECT_NEAR(change.mean().item<double>(), 0, 1e-3);
  EXPECT_GT((change[0] - change[1]).abs().max().item<double>(), 0.01);
}

TEST_F(Corruption, SaltAndPepperHitsWholePixels) {
  const AttackProblem problem = pictures(std::vector<float>(2 * 3 * 400, 0.5F), {2, 3, 20, 20});
  const Array found = corrupted("salt-pepper[share=0.1]", problem).reshape({2, 3, 400});
  const Array hit = found.ne(0.5);
  EXPECT_TRUE(array::equal(hit.select(1, 0).sum(1), array::tensor(std::vector<std::int64_t>{40, 40})));
  EXPECT_TRUE(array::equal(found.select(1, 0), found.select(1, 2)));
  EXPECT_TRUE(found.eq(0).logical_or(found.eq(1)).eq(hit).all().item<bool>());
  EXPECT_GT(found.eq(0).sum().item<std::int64_t>(), 30);
  EXPECT_GT(found.eq(1).sum().item<std::int64_t>(), 30);
}

TEST_F(Corruption, RandomPixelNoiseChangesAsManyPixelsAsAsked) {
  const AttackProblem problem = pictures(std::vector<float>(2 * 784, 0.5F), {2, 1, 28, 28});
  const Array found = corrupted("noise-random[sigma=0.1]", problem);
  // floor(0.02 * 784) = 15, as in the study.
  EXPECT_TRUE(
      array::equal(found.ne(0.5).flatten(1).sum(1), array::tensor(std::vector<std::int64_t>{15, 15})));
}

TEST_F(Corruption, RelevantPixelNoiseChangesThePixelsOfGreatestRelevance) {
  const AttackProblem problem = problem_of(network, random_records(3, {1, 12, 12}));
  const Array changed = corrupted("noise-relevant[share=0.05]", problem).ne(problem.inputs).flatten(1);
  const ValueId input = session.graph().inputs()[0];
  relevance::AttributionOptions options;
  options.wanted = {input};
  const Array relevance = relevance::make_attribution("epsilon", session, options)
                              ->attribute(network.bind(problem.inputs), {}, std::span(&input, 1))
                              .values.at(input)
                              .flatten(1);
  for (std::int64_t row = 0; row < 3; ++row) {
    // floor(0.05 * 144) = 7 pixels, each at least as relevant as all others.
    EXPECT_EQ(changed[row].sum().item<std::int64_t>(), 7);
    const double least = array::masked_select(relevance[row], changed[row]).min().item<double>();
    EXPECT_GE(least, array::masked_select(relevance[row], changed[row].logical_not()).max().item<double>());
  }
}

TEST_F(Corruption, RemovalTakesAwayThePixelsOfGreatestRelevance) {
  const AttackProblem problem = problem_of(network, random_records(3, {1, 12, 12}));
  const Array low = corrupted("removal[share=0.1]", problem),
              opposite = corrupted("removal[share=0.1,fill=opposite]", problem);
  // The same places as those of the noise.
  const Array places = corrupted("noise-relevant[share=0.1]", problem).ne(problem.inputs);
  EXPECT_EQ(places.flatten(1).sum(1).max().item<std::int64_t>(), 14);
  EXPECT_TRUE(low.equal(problem.inputs.masked_fill(places, 0)));
  EXPECT_TRUE(
      opposite.equal(array::where(places, problem.inputs.le(0.5).to(DType::float32), problem.inputs)));
}

// Every attack with the five severities.
TEST(Corruptions, AreAllInThePresetOfThem) {
  std::vector<std::string> preset, corruptions;
  for (const Spec& spec : parse_attacks("natural")) preset.push_back(spec.name);
  for (const AttackInfo& info : attacks())
    if (std::ranges::find(info.severities, "severity", &Severity::option) != info.severities.end())
      corruptions.push_back(info.name);
  EXPECT_THAT(corruptions, testing::Contains("fog"));
  EXPECT_THAT(preset, testing::IsSupersetOf(corruptions));
}

}  // namespace
}  // namespace assay::test
