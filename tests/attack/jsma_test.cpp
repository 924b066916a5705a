// JSMA against the published algorithm written out for one record, with the whole Jacobian and all pairs.

#include <assay/extend/attack_problem.h>
#include <assay/extend/random.h>
#include "assay/attack/attacks/pair_search.h"
#include "tests/attack/build.h"

namespace assay::test {
using namespace attack;
namespace {

using Pair = std::optional<std::pair<std::size_t, std::size_t>>;

Pair all_pairs(const std::vector<double>& a, const std::vector<double>& b, const std::vector<bool>& domain) {
  Pair best;
  double greatest = 0;
  for (std::size_t p = 0; p < a.size(); ++p) {
    for (std::size_t q = p + 1; q < a.size(); ++q) {
      const double gain = a[p] + a[q], loss = b[p] + b[q];
      if (!domain[p] || !domain[q] || !(gain > 0 && loss < 0) || -gain * loss <= greatest) continue;
      best = {p, q};
      greatest = -gain * loss;
    }
  }
  return best;
}

std::vector<double> plain_jsma(const Plain& plain, std::vector<double> x, int target, double theta,
                               double gamma, int classes) {
  std::vector<bool> domain;
  for (const double v : x) domain.push_back(theta > 0 ? v < 1 : v > 0);
  const int iterations = static_cast<int>(std::floor(static_cast<double>(x.size()) * gamma / 2));
  for (int i = 0; i < iterations && plain.decision(x) != target; ++i) {
    std::vector<double> a(x.size()), b(x.size(), 0);
    for (int k = 0; k < classes; ++k) {
      std::vector<double> unit(static_cast<std::size_t>(classes), 0);
      unit[static_cast<std::size_t>(k)] = theta > 0 ? 1 : -1;
      const std::vector<double> g = plain.gradient(x, unit);
      for (std::size_t f = 0; f < x.size(); ++f) (k == target ? a : b)[f] += g[f];
    }
    const Pair pair = all_pairs(a, b, domain);
    if (!pair) break;
    for (const std::size_t f : {pair->first, pair->second}) {
      x[f] = std::clamp(x[f] + theta, 0.0, 1.0);
      domain[f] = false;
    }
  }
  return x;
}

TEST(Jsma, AgreesWithTheAlgorithmWrittenOut) {
  const Session conv(lenet_like(), reference), dense(dense_network(), one_thread);
  for (const auto& [session, record, classes] :
       {std::tuple(&conv, Shape{1, 12, 12}, 5), std::tuple(&dense, Shape{6}, 4)}) {
    const AttackedNetwork network(*session, {}, false);
    const Plain plain(*session, record);
    const AttackProblem problem = aimed(problem_of(network, random_records(2, record)));
    for (const auto& [spec, theta, gamma] :
         {std::tuple("jsma[gamma=0.4]", 1.0, 0.4), std::tuple("jsma[theta=-1,gamma=0.4]", -1.0, 0.4),
          std::tuple("jsma[theta=0.3,gamma=0.4]", 0.3, 0.4)}) {
      const Array found = perturbed(spec, network, problem);
      for (std::int64_t row = 0; row < problem.size(); ++row) {
        const int target = static_cast<int>(problem.targets[row].item<std::int64_t>());
        expect_near(plain_jsma(plain, list(problem.inputs[row]), target, theta, gamma, classes), found[row],
                    1e-5, spec);
      }
    }
  }
}

TEST(Jsma, ReachesTheTargetOfALinearModelByHand) {
  // Z = (0.1 x1, x2 + 2 x3 - x4). At (1, 0.2, 0.1, 0) the class is 1 already beyond; start where it is 0.
  const Session session(linear({4, 2}, {3, -0.5F, -0.5F, 0.5F, 0, 1, 2, -1}), one_thread);
  const AttackedNetwork network(session, {}, false);
  const AttackProblem problem =
      aimed(problem_of(network, array::tensor({1.0F, 0.2F, 0.1F, 0.0F}).reshape({1, 4})));
  // x1 is at its end. dZ1/dx = (., 1, 2, -1), dZ0/dx = (., -0.5, -0.5, 0.5): pairs (2,3): 3 * 1 = 3; (2,4):
  // 0; (3,4): 0. Z becomes (2, 3): done after one pair.
  expect_near({1, 1, 1, 0}, perturbed("jsma", network, problem), 0);
  EXPECT_EQ(problem.log->forward[0], 2u);
  EXPECT_EQ(problem.log->backward[0], 4u);
}

TEST(Jsma, StopsWhereNoPairHelps) {
  const Session session(linear({2, 2}, {1, 1, 0.5F, 0.5F}), one_thread);
  const AttackedNetwork network(session, {}, false);
  const AttackProblem problem = aimed(problem_of(network, array::tensor({0.5F, 0.5F}).reshape({1, 2})));
  expect_near({0.5, 0.5}, perturbed("jsma", network, problem), 0);
  EXPECT_EQ(problem.log->ending[0], "no admissible pair of features");
}

TEST(BestPair, IsTheOneThatAllPairsGive) {
  Rng rng(5);
  for (int trial = 0; trial < 400; ++trial) {
    const std::size_t n = 2 + rng.below(trial % 8 == 0 ? 300 : 60);
    const double shift_a = rng.uniform(-2, 2), shift_b = rng.uniform(-2, 2);
    std::vector<float> a, b;
    std::vector<std::uint8_t> admissible;
    std::vector<bool> domain;
    for (std::size_t i = 0; i < n; ++i) {
      // Half of the trials with few different values, so that there are ties.
      const auto value = [&](double shift) {
        return static_cast<float>(trial % 2 ? rng.normal() + shift
                                            : static_cast<double>(rng.below(4)) - 1.5 + std::round(shift));
      };
      a.push_back(value(shift_a));
      b.push_back(value(shift_b));
      admissible.push_back(rng.below(5) > 0);
      domain.push_back(admissible.back());
    }
    const Pair expected = all_pairs({a.begin(), a.end()}, {b.begin(), b.end()}, domain);
    EXPECT_EQ(best_pair(a, b, admissible), expected) << "trial " << trial;
  }
}

TEST(BestPair, HasNoFeatureWithoutASlope) {
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> a{nan, 2, 5, 1}, b{-9, -1, nan, -1};
  EXPECT_EQ(best_pair(a, b, std::vector<std::uint8_t>(4, 1)), Pair({1, 3}));
  EXPECT_EQ(
      best_pair(std::vector<float>(40, nan), std::vector<float>(40, -1), std::vector<std::uint8_t>(40, 1)),
      std::nullopt);
}

}  // namespace
}  // namespace assay::test
