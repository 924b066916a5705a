// The search, against the published algorithm written out for one record, and by its laws.

#include "assay/explore/search.h"
#include <assay/error.h>
#include <assay/extend/abilities.h>
#include <assay/extend/attack_problem.h>
#include <assay/extend/random.h>
#include "assay/explore/choice.h"
#include "assay/explore/guide.h"
#include "tests/explore/build.h"

namespace assay::test {
using namespace explore;
namespace {

class Searching : public Networks {
 protected:
  struct Given {
    std::vector<std::unique_ptr<attack::AttackedNetwork>> own;
    std::vector<const attack::AttackedNetwork*> networks;
    std::vector<std::shared_ptr<const coverage::Profile>> profiles;
  };
  Given given(bool regression = false) const {
    Given result;
    for (const ExploredNetwork& network : networks) {
      result.own.push_back(
          std::make_unique<attack::AttackedNetwork>(*network.session, attack::InputUnits{}, regression));
      result.networks.push_back(result.own.back().get());
      result.profiles.push_back(network.profile);
    }
    return result;
  }

  // Outcomes by seed.
  std::vector<SearchOutcome> search(const Array& points, SearchOptions options,
                                    const std::string& choice = "random",
                                    const std::vector<Spec>& constraints = {},
                                    const Array& covered = {}) const {
    const Given nets = given(options.disagreement.regression);
    Guide guide(nets.networks, nets.profiles, criterion, neuron_choices().find(choice));
    if (covered.defined()) guide.add(covered);
    const auto constraint = make_constraint(choices_of<Constraint>(constraints));
    const attack::InputUnits units;
    Searcher searcher(nets.networks, guide, *constraint, units, options);
    Seeds seeds{.points = points, .keys = {}, .skip = {}};
    for (std::int64_t i = 0; i < points.size(0); ++i)
      seeds.keys.push_back(40 + static_cast<std::uint64_t>(i));
    std::vector<SearchOutcome> outcomes(seeds.keys.size());
    std::size_t next = 0, delivered = 0;
    searcher.run(
        seeds,
        [&]() -> std::optional<std::size_t> {
          return next < seeds.keys.size() ? std::optional(next++) : std::nullopt;
        },
        [&](const SearchOutcome& outcome) {
          outcomes[outcome.seed] = outcome;
          ++delivered;
        });
    EXPECT_EQ(delivered, outcomes.size());
    return outcomes;
  }
};

// Did two searches find the same, or both nothing?
bool same_point(const SearchOutcome& one, const SearchOutcome& other) {
  if (one.point.defined() != other.point.defined()) return false;
  return !one.point.defined() || one.point.equal(other.point);
}

SearchOptions plain_options() {
  SearchOptions options;
  options.lambda2 = 0;
  options.levels = false;
  options.shrink = false;
  options.target = 0;
  return options;
}

// Scores W x: the way up is the sum of the others' rows of the class less lambda1 times the target's, scaled
// to a mean square of 1 (ALGORITHMS: the published objective).
TEST_F(Searching, FirstStepOfLinearNetworksByHand) {
  const Array seed = array::tensor({0.52F, 0.5F}).reshape({1, 2});
  use({copying({1, 0, 0, 1}), copying({1, 1, 0, 1})}, write("one.npz", array::cat({seed, seed * 0.5})));
  SearchOptions options = plain_options();
  options.step = 0.1;
  // (1, 1) - (1, 0) = (0, 1), mean square 1/2.
  SearchOutcome outcome = search(seed, options)[0];
  ASSERT_EQ(outcome.ending, Ending::found);
  EXPECT_EQ(outcome.iterations, 1u);
  expect_near({0.52, 0.5 + 0.1 / (std::sqrt(0.5) + 1e-5)}, outcome.point, 1e-6);
  // (1, 1) - 2 (1, 0) = (-1, 1).
  options.lambda1 = 2;
  outcome = search(seed, options)[0];
  ASSERT_EQ(outcome.ending, Ending::found);
  expect_near({0.42, 0.6}, outcome.point, 1e-5);
}

// The coverage term adds lambda2 for the neuron of each network that comes nearest to its threshold: the
// second, 0.5 below 1 with the smaller deviation.
TEST_F(Searching, CoverageTermByHand) {
  const Array seed = array::tensor({0.52F, 0.5F}).reshape({1, 2}),
              records = array::tensor({0.2F, 0.1F, 0.4F, 0.9F}).reshape({2, 2});
  use({copying({1, 0, 0, 1}), copying({1, 1, 0, 1})}, write("two.npz", records),
      "nc[scale=none,threshold=1,layer=copy]");
  SearchOptions options = plain_options();
  options.lambda2 = 0.5;
  options.step = 0.1;
  // Deviations 0.1 and 0.4: gaps 0.48 / 0.1 and 0.5 / 0.4. (0, 1) + 2 * 0.5 * (0, 1) = (0, 2): the same
  // direction.
  expect_near({0.52, 0.5 + 0.2 / (std::sqrt(2.0) + 1e-5)}, search(seed, options, "nearest")[0].point, 1e-5);
  // With the second neuron covered the first is all that is left: (0, 1) + 2 * 0.5 * (1, 0) = (1, 1).
  const SearchOutcome outcome =
      search(seed, options, "nearest", {}, array::tensor({0.1F, 1.5F}).reshape({1, 2}))[0];
  EXPECT_NE(outcome.ending, Ending::found);  // class 0 of the first network stays
  options.lambda1 = 1.5;                     // (1, 1) - (1.5, 0) + (1, 0) = (0.5, 1)
  const double rms = std::sqrt(1.25 / 2);
  expect_near({0.52 + 0.05 / rms, 0.5 + 0.1 / rms},
              search(seed, options, "nearest", {}, array::tensor({0.1F, 1.5F}).reshape({1, 2}))[0].point,
              1e-5);
}

TEST_F(Searching, AgreesWithTheAlgorithmWrittenOutForOneRecord) {
  const Array seeds = random_records(120, {6});
  use({classifier(1), classifier(2), classifier(3)}, write("data.npz", seeds));
  SearchOptions options = plain_options();
  options.step = 0.04;
  options.iterations = 60;
  options.target = 1;
  const std::vector<SearchOutcome> outcomes = search(seeds, options);
  std::vector<Plain> nets;
  for (const auto& session : sessions) nets.emplace_back(*session, Shape{6});
  std::size_t found = 0, differing = 0;
  for (std::size_t s = 0; s < outcomes.size(); ++s) {
    std::vector<double> x = list(seeds[static_cast<std::int64_t>(s)]);
    const auto differ = [&] {
      return nets[0].decision(x) != nets[1].decision(x) || nets[0].decision(x) != nets[2].decision(x);
    };
    if (differ()) {
      EXPECT_EQ(outcomes[s].ending, Ending::differing);
      ++differing;
      continue;
    }
    const auto c = static_cast<std::size_t>(nets[0].decision(x));
    std::size_t steps = 0;
    bool done = false;
    while (!done && steps < options.iterations) {
      std::vector<double> gradient(6, 0);
      for (std::size_t k = 0; k < 3; ++k) {
        std::vector<double> weights(4, 0);
        weights[c] = k == 1 ? -1 : 1;
        const std::vector<double> own = nets[k].gradient(x, weights);
        for (std::size_t i = 0; i < 6; ++i) gradient[i] += own[i];
      }
      double square = 0;
      for (const double g : gradient) square += g * g / 6;
      for (std::size_t i = 0; i < 6; ++i)
        x[i] = std::clamp(x[i] + 0.04 * gradient[i] / (std::sqrt(square) + 1e-5), 0.0, 1.0);
      ++steps;
      done = differ();
    }
    if (!done) {
      EXPECT_NE(outcomes[s].ending, Ending::found) << s;
      continue;
    }
    ++found;
    ASSERT_EQ(outcomes[s].ending, Ending::found) << s;
    EXPECT_EQ(outcomes[s].iterations, steps);
    expect_near(x, outcomes[s].point, 1e-4, "seed " + std::to_string(s));
  }
  EXPECT_GE(found, 3u);
  EXPECT_GE(differing, 1u);
}

TEST_F(Searching, DoesNotDependOnHowManySearchesRunTogether) {
  const Array seeds = random_records(40, {6});
  use({classifier(1), classifier(2), classifier(3)}, write("data.npz", seeds));
  SearchOptions options;
  options.step = 0.05;
  options.iterations = 15;
  options.levels = false;
  const auto whole = search(seeds, options, "rarest");
  options.width = 3;
  const auto parts = search(seeds, options, "rarest");
  for (std::size_t s = 0; s < whole.size(); ++s) {
    EXPECT_EQ(whole[s].ending, parts[s].ending);
    EXPECT_EQ(whole[s].iterations, parts[s].iterations);
    EXPECT_EQ(whole[s].target, parts[s].target);
    if (whole[s].point.defined()) {
      EXPECT_LT(greatest_difference(whole[s].point, parts[s].point), 1e-5);
    }
  }
}

TEST_F(Searching, OfEqualNetworksFindsNothing) {
  const Array seeds = random_records(10, {6});
  use({classifier(1), classifier(1)}, write("data.npz", seeds));
  SearchOptions options;
  options.step = 0.3;
  options.iterations = 6;
  for (const SearchOutcome& outcome : search(seeds, options)) {
    EXPECT_TRUE(outcome.ending == Ending::exhausted || outcome.ending == Ending::still);
    EXPECT_FALSE(outcome.point.defined());
    EXPECT_LE(outcome.iterations, 6u);
  }
  options.iterations = 100;
  options.patience = 4;
  for (const SearchOutcome& outcome : search(seeds, options)) EXPECT_LT(outcome.iterations, 100u);
}

TEST_F(Searching, ShrunkFindingsAreNearerAndOnLevels) {
  const Array seeds = (random_records(40, {6}) * 255).round() / 255;
  use({classifier(1), classifier(2), classifier(3)}, write("data.npz", seeds));
  SearchOptions options = plain_options();
  options.levels = true;
  options.step = 0.4;
  const auto long_way = search(seeds, options);
  options.shrink = true;
  const auto near = search(seeds, options);
  double before = 0, after = 0;
  for (std::size_t s = 0; s < near.size(); ++s) {
    ASSERT_EQ(near[s].ending, long_way[s].ending);
    if (near[s].ending != Ending::found) continue;
    const Array seed = seeds[static_cast<std::int64_t>(s)];
    before += array::norm(long_way[s].point - seed, 2).item<double>();
    after += array::norm(near[s].point - seed, 2).item<double>();
    EXPECT_LT(greatest_difference(near[s].point * 255, (near[s].point * 255).round()), 1e-3);
  }
  EXPECT_GT(after, 0);
  EXPECT_LT(after, 0.8 * before);
}

TEST_F(Searching, OfRegressionDrivesOutputsApart) {
  const Array seeds = array::tensor({0.5F, 0.5F, 0.3F, 0.4F}).reshape({2, 2});
  use({copying({1, 0.1F}, 1), copying({1, -0.1F}, 1)}, write("data.npz", seeds));
  SearchOptions options = plain_options();
  options.disagreement = {.regression = true, .margin = 0.15};
  options.step = 0.05;
  // Network 0 says more, so it is pushed up and the other down: (1, 0.1) - (1, -0.1) = (0, 0.2) a step.
  for (const SearchOutcome& outcome : search(seeds, options)) {
    ASSERT_EQ(outcome.ending, Ending::found);
    const double y = outcome.point[1].item<double>();
    EXPECT_GT(0.2 * y, 0.15);
    EXPECT_LT(0.2 * (y - 0.05 / std::sqrt(0.5)), 0.15 + 1e-6);
  }
}

TEST_F(Searching, SaysSoWhenANetworkGivesNoNumber) {
  Array seeds = array::tensor({0.5F, 0.4F, NAN, 0.4F}).reshape({2, 2});
  use({copying({1, 0, 0, 1}), copying({1, 1, 0, 1})}, write("data.npz", array::full({3, 2}, 0.5F)));
  const auto outcomes = search(seeds, plain_options());
  EXPECT_NE(outcomes[0].ending, Ending::non_finite);
  EXPECT_EQ(outcomes[1].ending, Ending::non_finite);
}

TEST(Choices, PickWhatTheyPromise) {
  coverage::Profile profile;
  coverage::LayerStatistics layer;
  layer.layer = "l";
  layer.low = {0, 0, 0};
  layer.high = {1, 1, 1};
  layer.mean = {0, 0, 0};
  layer.deviation = {1, 0.1, 2};
  profile.statistics = {layer};
  const std::vector<Activations> activations{{1, 3, {0.5F, 0.6F, 0.1F}}};
  const std::size_t name = 0;
  const coverage::ActivationBatch batch{std::span(&name, 1), activations};
  std::vector<std::vector<coverage::Aim>> ways;
  for (std::size_t n = 0; n < 3; ++n)
    ways.push_back({coverage::Aim{.layer = 0, .neuron = n, .low = 1, .beyond = true}});
  const ByNeuron<std::uint32_t> active{{5, 5, 2}};
  const ByNeuron<float> relevance{{0.1F, 0.7F, 0.2F}};
  Rng rng(1);
  const ChoiceView view{.ways = ways,
                        .batch = batch,
                        .row = 0,
                        .profile = profile,
                        .active = active,
                        .relevance = &relevance,
                        .rng = rng};
  EXPECT_DOUBLE_EQ(gap(view, ways[0]), 0.5);
  EXPECT_NEAR(gap(view, ways[1]), 4, 1e-6);
  EXPECT_NEAR(gap(view, ways[2]), 0.45, 1e-7);
  EXPECT_EQ(neuron_choices().find("nearest").choose(view), 2u);
  EXPECT_EQ(neuron_choices().find("rarest").choose(view), 2u);
  EXPECT_EQ(neuron_choices().find("relevant").choose(view), 1u);
  std::set<std::size_t> drawn;
  for (int i = 0; i < 60; ++i) drawn.insert(neuron_choices().find("random").choose(view));
  EXPECT_EQ(drawn.size(), 3u);
  EXPECT_THROW(neuron_choices().find("fastest"), Error);
}

TEST_F(Searching, RunsWithEveryChoiceAndCriterion) {
  const Array seeds = random_records(30, {6});
  use({classifier(1), classifier(2)}, write("data.npz", seeds, std::vector<std::int64_t>(30, 1)),
      "kmnc[sections=4]");
  SearchOptions options;
  options.iterations = 4;
  options.step = 0.05;
  ASSERT_FALSE(neuron_choices().empty());
  for (const NeuronChoice& choice : neuron_choices())
    EXPECT_EQ(search(seeds, options, choice.name).size(), 30u) << choice.name;
}

// Which neuron is the most relevant depends on the attribution, and so does the way of some searches.
TEST_F(Searching, TheMostRelevantNeuronIsByTheAttribution) {
  const Array seeds = random_records(30, {6});
  use({classifier(1), classifier(2)}, write("data.npz", seeds, std::vector<std::int64_t>(30, 1)),
      "nc[threshold=0.25]");
  SearchOptions options;
  options.lambda2 = 10;
  options.iterations = 4;
  options.step = 0.05;
  const std::vector<SearchOutcome> usual = search(seeds, options, "relevant");
  options.method = "epsilon";
  EXPECT_TRUE(std::ranges::equal(usual, search(seeds, options, "relevant"), same_point));
  options.method = "saliency";
  EXPECT_FALSE(std::ranges::equal(usual, search(seeds, options, "relevant"), same_point));
  options.method = "nonsense";
  EXPECT_THROW(search(seeds, options, "relevant"), Error);
}

}  // namespace
}  // namespace assay::test
