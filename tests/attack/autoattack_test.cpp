// Auto-PGD, FAB and the square attack: against their algorithms written out for one record, and on networks
// whose nearest boundary is known.

#include <gmock/gmock.h>

#include <limits>
#include <numeric>

#include "assay/attack/objective.h"
#include "assay/engine/elements.h"
#include "tests/attack/build.h"

namespace assay::test {
using namespace attack;
namespace {

using Point = std::vector<double>;

// The losses of Croce and Hein, and the weights of the scores in their gradients.
struct Weighed {
  double value = 0;
  Point weights;
};
Weighed cross_entropy(const Point& z, std::size_t label) {
  const double top = *std::ranges::max_element(z);
  Point p;
  double sum = 0;
  for (const double score : z) p.push_back(std::exp(score - top)), sum += p.back();
  for (double& one : p) one /= sum;
  const double value = std::log(sum) + top - z[label];
  p[label] -= 1;
  return {value, p};
}
Weighed ratio(const Point& z, std::size_t label, int target) {
  std::vector<std::size_t> order(z.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, [&](std::size_t a, std::size_t b) { return z[a] > z[b]; });
  const std::size_t rival = target >= 0         ? static_cast<std::size_t>(target)
                            : order[0] == label ? order[1]
                                                : order[0];
  const double lead = z[rival] - z[label];
  const double scale = z[order[0]] - (target >= 0 ? (z[order[2]] + z[order[3]]) / 2 : z[order[2]]);
  Weighed result{lead / scale, Point(z.size(), 0)};
  result.weights[rival] += 1 / scale;
  result.weights[label] -= 1 / scale;
  result.weights[order[0]] -= lead / (scale * scale);
  result.weights[order[2]] += lead / (scale * scale) * (target >= 0 ? 0.5 : 1);
  if (target >= 0) result.weights[order[3]] += lead / (scale * scale) * 0.5;
  return result;
}

void keep(Point& point, const Point& centre, double eps, bool round) {
  double squares = 0;
  for (std::size_t i = 0; i < point.size(); ++i) squares += (point[i] - centre[i]) * (point[i] - centre[i]);
  const double shrink = round ? std::min(1.0, eps / std::sqrt(squares)) : 1;
  for (std::size_t i = 0; i < point.size(); ++i) {
    const double change = (point[i] - centre[i]) * shrink;
    point[i] = clip(centre[i] + (round ? change : std::clamp(change, -eps, eps)));
  }
}

// Algorithm 1 for one record, from a point on.
Point plain_apgd(const Plain& plain, const Point& x, Point point, std::size_t label, bool dlr, int target,
                 double eps, std::size_t steps, bool round) {
  const auto weighed = [&](const Point& at) {
    const Point z = plain.scores(at);
    Weighed found = dlr ? ratio(z, label, target) : cross_entropy(z, label);
    return std::pair(found, std::ranges::max_element(z) - z.begin() != static_cast<std::ptrdiff_t>(label));
  };
  const auto direction = [&](const Point& at, const Weighed& by) {
    Point g = plain.gradient(at, by.weights);
    double squares = 0;
    for (const double v : g) squares += v * v;
    for (double& v : g) v = round ? v / std::sqrt(squares) : (v > 0) - (v < 0);
    return g;
  };
  std::vector<std::size_t> looks;
  for (double before = 0, now = 0.22; now <= 1;) {
    looks.push_back(static_cast<std::size_t>(std::ceil(now * static_cast<double>(steps))));
    const double next = now + std::max(now - before - 0.03, 0.06);
    before = now, now = next;
  }
  Point before = point;
  auto [here, won] = weighed(point);
  Point best = point;
  Weighed best_here = here;
  double step = 2 * eps, best_then = here.value;
  std::size_t rises = 0, since = 0, look = 0;
  bool halved = true;
  for (std::size_t i = 1; i <= steps && !won; ++i) {
    const Point d = direction(point, here);
    Point next = point;
    for (std::size_t e = 0; e < x.size(); ++e) next[e] += step * d[e];
    keep(next, x, eps, round);
    if (i > 1) {
      for (std::size_t e = 0; e < x.size(); ++e)
        next[e] = point[e] + 0.75 * (next[e] - point[e]) + 0.25 * (point[e] - before[e]);
      keep(next, x, eps, round);
    }
    before = point, point = next;
    const double last = here.value;
    std::tie(here, won) = weighed(point);
    if (won) return point;
    rises += here.value > last ? 1 : 0;
    if (here.value > best_here.value) best = point, best_here = here;
    if (look == looks.size() || looks[look] != i) continue;
    const bool few = static_cast<double>(rises) < 0.75 * static_cast<double>(i - since);
    halved = few || (!halved && best_then == best_here.value);
    if (halved) step /= 2, point = best, here = best_here;
    best_then = best_here.value, rises = 0, since = i, ++look;
  }
  return won ? point : best;
}

class AutoAttack : public AttackedByHand {
 protected:
  void SetUp() override { attack_records(4, 29); }
  // Where the first run of a record begins.
  Point start(std::int64_t row, double eps) const {
    Rng rng(problem.seed, {problem.keys[static_cast<std::size_t>(row)], 0});
    Point point = list(problem.inputs[row]);
    for (double& v : point) v = clip(v + rng.uniform(-eps, eps));
    return point;
  }
  std::size_t label(std::int64_t row) const {
    return static_cast<std::size_t>(problem.labels[row].item<std::int64_t>());
  }
};

TEST_P(AutoAttack, ApgdFollowsTheWrittenOutAlgorithm) {
  constexpr double eps = 0.01;  // too little to turn a record at once
  for (const std::string loss : {"ce", "dlr"}) {
    const Array found = perturbed(fmt::format("apgd[eps={},steps=20,loss={}]", eps, loss), *network, problem);
    for (std::int64_t row = 0; row < problem.size(); ++row) {
      const Point expected = plain_apgd(*plain, list(problem.inputs[row]), start(row, eps), label(row),
                                        loss == "dlr", -1, eps, 20, false);
      expect_near(expected, found[row], 1e-4, loss);
    }
  }
}

TEST_P(AutoAttack, ApgdAimsAtTheClassesThatAreNear) {
  constexpr double eps = 0.01;
  const Array found =
      perturbed(fmt::format("apgd[eps={},steps=15,loss=dlr,targets=1]", eps), *network, problem);
  for (std::int64_t row = 0; row < problem.size(); ++row) {
    const Point z = plain->scores(list(problem.inputs[row]));
    std::size_t rival = label(row) == 0 ? 1 : 0;
    for (std::size_t c = 0; c < z.size(); ++c)
      if (c != label(row) && z[c] > z[rival]) rival = c;
    expect_near(plain_apgd(*plain, list(problem.inputs[row]), start(row, eps), label(row), true,
                           static_cast<int>(rival), eps, 15, false),
                found[row], 1e-4);
  }
}

TEST_P(AutoAttack, ApgdTurnsAllThatPgdTurns) {
  const auto turned = [&](const std::string& spec) {
    return AttackedNetwork::won(problem, network->scores(problem, perturbed(spec, *network, problem)));
  };
  for (const double eps : {0.02, 0.05, 0.1}) {
    const Array by_pgd = turned(fmt::format("pgd[eps={},step={},steps=20]", eps, eps / 4));
    const Array by_apgd = turned(fmt::format("apgd[eps={},steps=20,starts=2]", eps));
    EXPECT_GE(by_apgd.sum().item<std::int64_t>(), by_pgd.sum().item<std::int64_t>()) << eps;
  }
}

INSTANTIATE_TEST_SUITE_P(Networks, AutoAttack, testing::Values("dense", "conv"),
                         [](const auto& one) { return one.param; });

// Two classes apart by w x = b, one record: where the nearest point of the other side is.
struct Line {
  std::vector<float> weights;
  Point record;
  Graph graph() const {
    std::vector<float> rows;
    for (const float sign : {1.0F, -1.0F})
      for (const float w : weights) rows.push_back(sign * w);
    return linear({static_cast<std::int64_t>(weights.size()), 2}, rows);
  }
  double gap() const {
    double gap = 0;
    for (std::size_t i = 0; i < weights.size(); ++i) gap += static_cast<double>(weights[i]) * record[i];
    return gap;
  }
  // The least length by bisection of how far every element moves.
  double nearest(bool round) const {
    const double side = gap() > 0 ? -1 : 1;
    double low = 0, high = 1e6;
    const auto moved = [&](double t) {
      double rest = gap(), squares = 0, most = 0;
      for (std::size_t i = 0; i < weights.size(); ++i) {
        const double w = weights[i], to = clip(record[i] + t * side * (round ? w : (w > 0) - (w < 0)));
        rest += w * (to - record[i]);
        squares += (to - record[i]) * (to - record[i]);
        most = std::max(most, std::abs(to - record[i]));
      }
      return std::pair(rest * side, round ? std::sqrt(squares) : most);
    };
    for (int i = 0; i < 200; ++i) (moved((low + high) / 2).first < 0 ? low : high) = (low + high) / 2;
    return moved(high).second;
  }
};

TEST(Fab, FindsTheNearestPointOfALinearNetworkWithinTheRange) {
  for (const Line& line :
       {Line{{1, -2, 0.5F, 0.25F}, {0.9, 0.2, 0.5, 0.6}}, Line{{1, -3, 2, 0.1F}, {0.4, 0.05, 0.5, 0.9}},
        Line{{3, 0.2F, 0.1F, -1}, {0.15, 0.9, 0.8, 0.1}}}) {
    const Session session(line.graph(), one_thread);
    const AttackedNetwork network(session, InputUnits{}, false);
    const Array x = array::tensor(line.record, DType::float32).reshape({1, 4});
    const AttackProblem problem = problem_of(network, x);
    for (const std::string norm : {"linf", "l2"}) {
      const Array found = perturbed("fab[norm=" + norm + "]", network, problem);
      EXPECT_TRUE(AttackedNetwork::won(problem, network.scores(problem, found)).item<bool>()) << norm;
      const Array change = (found - x).abs();
      const double length =
          norm == "linf" ? change.max().item<double>() : array::norm(change, 2).item<double>();
      const double least = line.nearest(norm == "l2");
      EXPECT_GE(length, least * (1 - 1e-4)) << norm;
      EXPECT_LE(length, least * 1.02) << norm;
      const std::string bound = fmt::format("fab[norm={},within={}]", norm, least * 0.9);
      EXPECT_TRUE(array::equal(perturbed(bound, network, problem), x)) << "nothing is that near";
    }
  }
}

// Another program rounds otherwise: a point exactly on the boundary would be turned in one and not in the
// other.
TEST(Fab, EndsFartherBeyondTheBoundaryThanRounding) {
  for (const bool dense : {true, false}) {
    const Session session(dense ? dense_network() : lenet_like(), one_thread);
    const AttackedNetwork network(session, InputUnits{}, false);
    const AttackProblem problem =
        problem_of(network, random_records(12, dense ? Shape{6} : Shape{1, 12, 12}));
    const Array found = perturbed("fab[steps=20]", network, problem);
    const std::vector<double> clean = doubles_of(margin(problem, problem.scores)),
                              reached = doubles_of(margin(problem, network.scores(problem, found)));
    std::size_t turned = 0;
    for (std::size_t r = 0; r < clean.size(); ++r) {
      if (reached[r] > 0) continue;
      ++turned;
      EXPECT_LE(reached[r], -0.49e-4 * clean[r]);
    }
    EXPECT_GE(turned, 8U);
  }
}

// The corner of the ball that lies furthest on the other side.
TEST(SquareAttack, ComesNearTheBestCornerOfALinearNetwork) {
  constexpr double eps = 0.1;
  Rng rng(8);
  const Array weights = random_array(rng, {64}).clone();
  GraphBuilder build("linear");
  const ValueId in = build.input("input", DType::float32, {-1, 1, 8, 8});
  // The first class is so far ahead that nothing turns the record: the search goes on to its end.
  const std::vector<float> ahead{100, 0};
  build.output(build.add("Gemm", "logits",
                         {build.add("Flatten", "flat", {in}),
                          build.constant("w", array::stack({-weights, weights}).contiguous()),
                          build.constant("b", Array::of<float>({2}, ahead))},
                         {{"transB", std::int64_t{1}}}));
  const Session session(build.build(), one_thread);
  const AttackedNetwork network(session, InputUnits{}, false);
  const AttackProblem problem = problem_of(network, array::full({1, 1, 8, 8}, 0.5F));
  double before = 0;
  for (const int queries : {1, 30, 300, 3000}) {
    const Array found = perturbed(fmt::format("square[eps={},queries={}]", eps, queries), network, problem);
    const Array change = (found - problem.inputs).reshape({64});
    EXPECT_LE(change.abs().max().item<double>(), eps + 1e-6);
    const double share = (change * weights).sum().item<double>() / (eps * weights.abs().sum().item<double>());
    EXPECT_GE(share, before) << queries;
    before = share;
    EXPECT_EQ(problem.log->forward[0] >= static_cast<std::uint64_t>(queries), true);
  }
  EXPECT_GT(before, 0.97);
}

TEST(Presets, HoldTheStandardVersionOfAutoAttack) {
  std::vector<std::string> named;
  for (const std::string& text : presets().find("autoattack").specs)
    named.push_back(parse_spec("attack", text).name);
  EXPECT_THAT(named, testing::ElementsAre("apgd", "apgd", "fab", "square"));
}

}  // namespace
}  // namespace assay::test
