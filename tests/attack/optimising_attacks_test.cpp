// Carlini-Wagner, DeepFool and MI-FGSM against their published algorithms written out for one record.

#include "tests/attack/build.h"
#include "tests/written.h"

namespace assay::test {
using namespace attack;
namespace {

struct CwSettings {
  double confidence, rate, constant;
  int searches, iterations;
  bool abort;
};

// Margin that is to fall below -confidence, and the class that carries its sign.
struct Margin {
  double value;
  std::size_t rival;
};
Margin margin_of(const std::vector<double>& z, int label, int target) {
  const auto own = static_cast<std::size_t>(target >= 0 ? target : label);
  std::size_t rival = own == 0 ? 1 : 0;
  for (std::size_t k = 0; k < z.size(); ++k) {
    if (k != own && z[k] > z[rival]) rival = k;
  }
  return {target >= 0 ? z[rival] - z[own] : z[own] - z[rival], rival};
}

std::vector<double> plain_cw(const Plain& plain, const std::vector<double>& x, int label, int target,
                             const CwSettings& s) {
  const std::size_t n = x.size();
  std::vector<double> base(n), origin(n), best = x;
  for (std::size_t i = 0; i < n; ++i) {
    base[i] = std::atanh(0.999999 * (2 * x[i] - 1));
    origin[i] = (std::tanh(base[i]) + 1) / 2;
  }
  double lower = 0, upper = 1e10, c = s.constant, least = 1e30;
  for (int search = 0; search < s.searches; ++search) {
    if (s.searches >= 10 && search == s.searches - 1) c = upper;
    std::vector<double> d(n, 0), m(n, 0), v(n, 0), point(n);
    double previous = 1e6;
    bool found = false;
    for (int it = 0; it < s.iterations; ++it) {
      double distance = 0;
      for (std::size_t i = 0; i < n; ++i) {
        point[i] = (std::tanh(base[i] + d[i]) + 1) / 2;
        distance += (point[i] - origin[i]) * (point[i] - origin[i]);
      }
      std::vector<double> z = plain.scores(point);
      const Margin margin = margin_of(z, label, target);
      const double hinge = std::max(0.0, margin.value + s.confidence), loss = distance + c * hinge;
      if (s.abort && it % std::max(1, s.iterations / 10) == 0) {
        if (loss > 0.9999 * previous) break;
        previous = loss;
      }
      z[static_cast<std::size_t>(target >= 0 ? target : label)] += target >= 0 ? -s.confidence : s.confidence;
      const int decision = static_cast<int>(std::max_element(z.begin(), z.end()) - z.begin());
      if (target >= 0 ? decision == target : decision != label) {
        found = true;
        if (distance < least) least = distance, best = point;
      }
      std::vector<double> weights(z.size(), 0);
      if (hinge > 0) {
        weights[static_cast<std::size_t>(target >= 0 ? target : label)] = target >= 0 ? -c : c;
        weights[margin.rival] = target >= 0 ? c : -c;
      }
      const std::vector<double> g = plain.gradient(point, weights);
      for (std::size_t i = 0; i < n; ++i) {
        const double t = 2 * point[i] - 1, gradient = (g[i] + 2 * (point[i] - origin[i])) * (1 - t * t) / 2;
        m[i] = 0.9 * m[i] + 0.1 * gradient;
        v[i] = 0.999 * v[i] + 0.001 * gradient * gradient;
        const double rate = s.rate * std::sqrt(1 - std::pow(0.999, it + 1)) / (1 - std::pow(0.9, it + 1));
        d[i] -= rate * m[i] / (std::sqrt(v[i]) + 1e-8);
      }
    }
    if (found) {
      upper = std::min(upper, c);
    } else {
      lower = std::max(lower, c);
    }
    c = upper < 1e9 ? (lower + upper) / 2 : c * 10;
  }
  return best;
}

class OptimisingAttack : public AttackedByHand {
 protected:
  void SetUp() override {
    attack_records(3, 23);
    targeted = aimed(problem);
  }
  static int at(const Array& classes, std::int64_t row) {
    return static_cast<int>(classes[row].item<std::int64_t>());
  }

  AttackProblem targeted;
};

TEST_P(OptimisingAttack, CarliniWagnerFollowsTheWrittenOutSearches) {
  const std::pair<std::string, CwSettings> cases[] = {
      {"cw[search=4,iterations=30,rate=0.05,constant=1,abort=no]", {0, 0.05, 1, 4, 30, false}},
      {"cw[search=3,iterations=40,rate=0.05,constant=0.1,confidence=0.05]", {0.05, 0.05, 0.1, 3, 40, true}},
      {"cw[search=10,iterations=8,rate=0.1,constant=0.1]", {0, 0.1, 0.1, 10, 8, true}},
  };
  for (const auto& [spec, settings] : cases) {
    const Array free = perturbed(spec, *network, problem), aimed_at = perturbed(spec, *network, targeted);
    for (std::int64_t row = 0; row < problem.size(); ++row) {
      const std::vector<double> x = list(problem.inputs[row]);
      expect_near(plain_cw(*plain, x, at(problem.labels, row), -1, settings), free[row], 2e-3, spec);
      expect_near(plain_cw(*plain, x, at(problem.labels, row), at(targeted.targets, row), settings),
                  aimed_at[row], 2e-3, spec + " with a target");
    }
  }
}

TEST_P(OptimisingAttack, DeepFoolFollowsTheWrittenOutSteps) {
  const Array found = perturbed("deepfool", *network, problem);
  for (std::int64_t row = 0; row < problem.size(); ++row) {
    const std::vector<double> x = list(problem.inputs[row]);
    const auto label = static_cast<std::size_t>(at(problem.labels, row));
    std::vector<double> point = x, change(x.size(), 0);
    for (int step = 0; step < 50 && plain->decision(point) == static_cast<int>(label); ++step) {
      const std::vector<double> z = plain->scores(point);
      double nearest = 1e30;
      std::vector<double> move;
      for (std::size_t k = 0; k < z.size(); ++k) {
        if (k == label) continue;
        std::vector<double> weights(z.size(), 0);
        weights[k] = 1, weights[label] = -1;
        std::vector<double> w = plain->gradient(point, weights);
        double squares = 0;
        for (const double v : w) squares += v * v;
        const double length = std::sqrt(squares), distance = std::abs(z[k] - z[label]) / length;
        if (distance >= nearest) continue;
        nearest = distance;
        for (double& v : w) v *= (distance + 1e-4) / length;
        move = w;
      }
      for (std::size_t i = 0; i < x.size(); ++i) {
        change[i] += move[i];
        point[i] = clip(x[i] + 1.02 * change[i]);
      }
    }
    expect_near(point, found[row], 1e-4);
    EXPECT_NE(plain->decision(list(found[row])), static_cast<int>(label));
  }
}

TEST_P(OptimisingAttack, MiFgsmFollowsTheWrittenOutSteps) {
  const Array found = perturbed("mi-fgsm[eps=0.1,steps=5,decay=0.8]", *network, problem);
  for (std::int64_t row = 0; row < problem.size(); ++row) {
    const std::vector<double> x = list(problem.inputs[row]);
    std::vector<double> point = x, velocity(x.size(), 0);
    for (int step = 0; step < 5; ++step) {
      const std::vector<double> g = plain->loss_gradient(point, at(problem.labels, row));
      double size = 0;
      for (const double v : g) size += std::abs(v);
      for (std::size_t i = 0; i < x.size(); ++i) {
        velocity[i] = 0.8 * velocity[i] + g[i] / size;
        const double moved = point[i] + 0.02 * (velocity[i] > 0 ? 1 : velocity[i] < 0 ? -1 : 0);
        point[i] = clip(std::clamp(moved, x[i] - 0.1, x[i] + 0.1));
      }
    }
    expect_near(point, found[row], 1e-4);
  }
}

INSTANTIATE_TEST_SUITE_P(Networks, OptimisingAttack, testing::Values("dense", "conv"),
                         [](const auto& one) { return one.param; });

TEST(DeepFool, ReachesTheBoundaryOfALinearModelByHand) {
  // Z = (x1, x2): the boundary is the diagonal, 0.1 / sqrt(2) away, along (-1, 1) / sqrt(2).
  const Session session(linear({2, 2}, {1, 0, 0, 1}), one_thread);
  const AttackedNetwork network(session, {}, false);
  const AttackProblem problem = problem_of(network, array::tensor({0.6F, 0.5F}).reshape({1, 2}));
  const double step = 1.02 * (0.1 / std::sqrt(2.0) + 1e-4) / std::sqrt(2.0);
  expect_near({0.6 - step, 0.5 + step}, perturbed("deepfool", network, problem), 1e-6);
  expect_near({0.6 - step, 0.5 + step}, perturbed("deepfool", network, aimed(problem)), 1e-6);
}

TEST(DeepFool, EndsWhereThereIsNoSlope) {
  const Session session(linear({2, 2}, {0, 0, 0, 0}), one_thread);
  const AttackedNetwork network(session, {}, false);
  const AttackProblem problem = problem_of(network, array::tensor({0.6F, 0.5F}).reshape({1, 2}));
  EXPECT_EQ(greatest_difference(perturbed("deepfool", network, problem), problem.inputs), 0);
  EXPECT_EQ(problem.log->ending[0], "no gradient");
  EXPECT_EQ(problem.log->backward[0], 1u);
}

TEST(CarliniWagner, FindsTheNearestPointOfALinearModel) {
  // The nearest point of the other side of the diagonal is (0.55, 0.55).
  const Session session(linear({2, 2}, {1, 0, 0, 1}), one_thread);
  const AttackedNetwork network(session, {}, false);
  const AttackProblem problem = problem_of(network, array::tensor({0.6F, 0.5F}).reshape({1, 2}));
  expect_near({0.55, 0.55}, perturbed("cw[search=8,constant=0.1,rate=0.01,iterations=300]", network, problem),
              2e-3);
}

TEST(CarliniWagner, WithoutSuccessTheRecordComesBack) {
  const Session session(linear({2, 2}, {0, 0, 0, 0}), one_thread);
  const AttackedNetwork network(session, {}, false);
  const AttackProblem problem = problem_of(network, array::tensor({0.6F, 0.5F, 0.0F, 1.0F}).reshape({2, 2}));
  EXPECT_EQ(greatest_difference(perturbed("cw[search=3,iterations=10]", network, problem), problem.inputs),
            0);
}

TEST(CarliniWagner, RecordsThatAreDoneLeaveTheBatch) {
  const Session session(linear({2, 2}, {1, 0, 0, 1}), one_thread);
  const AttackedNetwork network(session, {}, false);
  // The first makes progress for all of its first search; the second lies on the boundary, where the loss is
  // the least there is.
  const AttackProblem problem = problem_of(network, array::tensor({0.6F, 0.5F, 0.5F, 0.5F}).reshape({2, 2}));
  perturbed("cw[search=3,iterations=200,rate=0.001,constant=0.001]", network, problem);
  EXPECT_GT(problem.log->forward[0], problem.log->forward[1]);
  EXPECT_EQ(problem.log->forward[1], 3u * 21u);
}

// All elements are 0 or 1, where tanh is flat: a tenth of the iterations moves nothing, and all of them do.
TEST(CarliniWagner, FindsChangesOfRecordsAtTheEndsOfTheirRange) {
  const Session session(linear({4, 2}, {1, -0.5F, 0.25F, 0.5F, -1, 0.5F, 0.5F, -0.25F}), one_thread);
  const AttackedNetwork network(session, {}, false);
  const AttackProblem problem =
      problem_of(network, array::tensor({1.0F, 0.0F, 1.0F, 0.0F, 0.0F, 1.0F, 0.0F, 0.0F}).reshape({2, 4}));
  const Array found = perturbed("cw[search=3]", network, problem);
  const Array won = AttackedNetwork::won(problem, network.scores(problem, found));
  EXPECT_TRUE(won.all().item<bool>()) << written(won);
}

// Scores that saturate: the boundary seems to be farther away than a number can say, for one record of two.
TEST(DeepFool, OneRecordThatLeadsNowhereEndsNoOther) {
  Net net("sure");
  const ValueId x = net.input({-1, 2});
  const auto two = [&](const std::string& name, std::vector<float> weights) {
    return net.builder.add("Gemm", name,
                           {x, net.builder.constant(name + "/w", Array::of<float>({2, 2}, weights))});
  };
  const auto softmax = [&](const std::string& name, ValueId z) {
    return net.builder.add("Softmax", name, {z}, {{"axis", std::int64_t{1}}});
  };
  // The mean of two softmaxes: no single row of scores lies behind it.
  const ValueId sum = net.builder.add(
      "Add", "sum", {softmax("p", two("a", {95, -95, -95, 95})), softmax("q", two("b", {90, -90, -90, 90}))});
  const Session session(net.build(sum), one_thread);
  const AttackedNetwork network(session, {}, false);
  const AttackProblem problem =
      problem_of(network, array::tensor({0.51F, 0.5F, 0.75F, 0.5F, 1.0F, 0.0F}).reshape({3, 2}));
  const Array found = perturbed("deepfool", network, problem);
  EXPECT_TRUE(array::isfinite(found).all().item<bool>()) << written(found);
  const std::vector<std::uint8_t> won{static_cast<std::uint8_t>(
      AttackedNetwork::won(problem, network.scores(problem, found))[0].item<bool>())};
  EXPECT_EQ(won[0], 1);
}

}  // namespace
}  // namespace assay::test
