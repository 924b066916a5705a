// FGSM, BIM and PGD against their published steps written out for one record.

#include "assay/attack/norms.h"
#include "assay/attack/objective.h"
#include "tests/attack/build.h"

namespace assay::test {
using namespace attack;
namespace {

double sign(double v) { return v > 0 ? 1 : v < 0 ? -1 : 0; }
std::vector<double> direction(const std::vector<double>& g, const std::string& norm) {
  double squares = 0, greatest = 0, tied = 0;
  for (const double v : g) squares += v * v, greatest = std::max(greatest, std::abs(v));
  for (const double v : g) tied += std::abs(v) == greatest;
  std::vector<double> step;
  for (const double v : g) {
    step.push_back(norm == "linf"            ? sign(v)
                   : norm == "l2"            ? v / std::sqrt(std::max(1e-12, squares))
                   : std::abs(v) == greatest ? sign(v) / tied
                                             : 0);
  }
  return step;
}

// The step of an untargeted attack climbs the loss of the label, that of a targeted one descends the loss of
// the target.
std::vector<double> ascent(const Plain& plain, const std::vector<double>& x, int label, int target) {
  std::vector<double> g = plain.loss_gradient(x, target >= 0 ? target : label);
  if (target >= 0)
    for (double& v : g) v = -v;
  return g;
}

std::vector<double> plain_bim(const Plain& plain, const std::vector<double>& x, std::vector<double> at,
                              int label, int target, double eps, double step, int steps,
                              const std::string& norm) {
  for (int s = 0; s < steps; ++s) {
    const std::vector<double> d = direction(ascent(plain, at, label, target), norm);
    double squares = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      at[i] = clip(at[i] + step * d[i]) - x[i];
      squares += at[i] * at[i];
    }
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double change =
          norm == "linf" ? std::clamp(at[i], -eps, eps) : at[i] * std::min(1.0, eps / std::sqrt(squares));
      at[i] = clip(x[i] + change);
    }
  }
  return at;
}

struct Case {
  Graph graph;
  Shape record;
};

class GradientAttack : public AttackedByHand {
 protected:
  void SetUp() override {
    attack_records(5, 11);
    targeted = aimed(problem, 2);
  }
  int label(std::int64_t row) const { return static_cast<int>(problem.labels[row].item<std::int64_t>()); }
  int target(std::int64_t row) const { return static_cast<int>(targeted.targets[row].item<std::int64_t>()); }

  AttackProblem targeted;
};

// Where the network is sure, 1 - p is 0 in float32 and a softmax would leave out what the label's own score
// contributes. Here the label's score is x1 and the others are 0.5 x2 and -x2.
TEST(ConfidentRecords, KeepTheLeadingPartOfTheGradient) {
  const Session session(linear({2, 3}, {1, 0, 0, 0.5F, 0, -1}), one_thread);
  const AttackedNetwork network(session, InputUnits{}, false);
  for (const double sure : {5.0, 17.0, 30.0, 80.0}) {
    const Array x = array::tensor(std::vector<float>{static_cast<float>(sure), 1.0F}).reshape({1, 2});
    const double others = std::exp(0.5 - sure) + std::exp(-1 - sure), all = 1 + others;
    const std::vector<double> expected{-others / all,
                                       (0.5 * std::exp(0.5 - sure) - std::exp(-1 - sure)) / all};
    AttackProblem problem = problem_of(network, x);
    const Array up = network.gradient(problem, x, loss(problem));
    problem.targets = problem.labels;
    const Array down = network.gradient(problem, x, loss(problem));
    // Attacks take its direction alone.
    const double ratio = expected[1] / expected[0];
    for (const Array& gradient : {up, down})
      EXPECT_NEAR(gradient[0][1].item<double>() / gradient[0][0].item<double>(), ratio,
                  2e-5 * std::abs(ratio))
          << sure;
    EXPECT_LT(up[0][0].item<double>(), 0);
    EXPECT_GT(down[0][0].item<double>(), 0);
  }
}

// The step has the length that was asked for in every norm, whatever the scale of the gradient.
TEST(Steepest, HasLengthOneAtEveryScale) {
  const Array direction = array::tensor(std::vector<float>{3, -4, 0, 0}).reshape({1, 4});
  for (const double scale : {1e-37, 1e-30, 1e-20, 1e-12, 1e-6, 1.0, 1e6, 1e30}) {
    const Array gradient = direction * scale;
    expect_near({0.6, -0.8, 0, 0}, steepest(gradient, Norm::l2), 1e-5, fmt::format("{}", scale));
    expect_near({0, -1, 0, 0}, steepest(gradient, Norm::l1), 1e-6);
    expect_near({1, -1, 0, 0}, steepest(gradient, Norm::linf), 0);
    const Unit unit = unit_of(gradient, Norm::l2);
    EXPECT_NEAR(unit.length.item<double>(), 5 * scale, 5e-6 * scale);
    expect_near({3.0 / 7, -4.0 / 7, 0, 0}, unit_of(gradient, Norm::l1).direction, 1e-5);
  }
  expect_near({0, 0, 0, 0}, steepest(direction * 0, Norm::l2), 0);
}

// Scores many times as great decide alike; 1 - p is then nothing in float32, and from 745 on in float64.
TEST(ConfidentRecords, MoveHoweverSureTheNetworkIs) {
  const auto moved = [](const std::string& spec, float factor) {
    std::vector<float> weights;
    for (const float w : {1.0F, -0.5F, 2.0F, -1.0F, 0.25F, 0.5F}) weights.push_back(w * factor);
    const Session session(linear({3, 2}, weights), one_thread);
    const AttackedNetwork network(session, InputUnits{}, false);
    const Array x = array::tensor(std::vector<float>{0.9F, 0.2F, 0.8F}).reshape({1, 3});
    return list(perturbed(spec, network, problem_of(network, x))[0]);
  };
  for (const char* spec :
       {"fgsm[eps=0.2]", "fgsm[eps=0.2,norm=l1]", "fgsm[eps=0.2,norm=l2]", "bim[eps=0.2,step=0.1,steps=2]",
        "bim[eps=0.2,step=0.1,steps=2,norm=l2]", "pgd[eps=0.2,step=0.1,steps=2,norm=l2]",
        "mi-fgsm[eps=0.2,steps=2]", "mi-fgsm[eps=0.2,steps=2,norm=l2]"}) {
    const std::vector<double> expected = moved(spec, 1);
    for (const float factor : {60.0F, 300.0F, 1e5F}) {
      const std::vector<double> found = moved(spec, factor);
      for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(found[i], expected[i], 1e-6) << spec << " " << factor;
    }
  }
}

TEST_P(GradientAttack, FgsmTakesTheWrittenOutStep) {
  for (const std::string norm : {"linf", "l2", "l1"}) {
    const Array found = perturbed("fgsm[eps=0.2,norm=" + norm + "]", *network, problem);
    const Array aimed_at = perturbed("fgsm[eps=0.2,norm=" + norm + "]", *network, targeted);
    for (std::int64_t row = 0; row < problem.size(); ++row) {
      for (const int goal : {-1, target(row)}) {
        std::vector<double> expected = list(problem.inputs[row]);
        const std::vector<double> d = direction(ascent(*plain, expected, label(row), goal), norm);
        for (std::size_t i = 0; i < expected.size(); ++i) expected[i] = clip(expected[i] + 0.2 * d[i]);
        expect_near(expected, (goal < 0 ? found : aimed_at)[row], 1e-4, norm);
      }
    }
  }
}

TEST_P(GradientAttack, BimTakesTheWrittenOutSteps) {
  for (const std::string norm : {"linf", "l2"}) {
    const std::string spec = "bim[eps=0.12,step=0.05,steps=6,norm=" + norm + "]";
    const Array found = perturbed(spec, *network, problem), aimed_at = perturbed(spec, *network, targeted);
    for (std::int64_t row = 0; row < problem.size(); ++row) {
      const std::vector<double> x = list(problem.inputs[row]);
      expect_near(plain_bim(*plain, x, x, label(row), -1, 0.12, 0.05, 6, norm), found[row], 1e-4, norm);
      expect_near(plain_bim(*plain, x, x, label(row), target(row), 0.12, 0.05, 6, norm), aimed_at[row], 1e-4,
                  norm);
    }
  }
}

TEST_P(GradientAttack, PgdBeginsAtItsRandomPointAndGoesOnAsBim) {
  const Array found = perturbed("pgd[eps=0.1,step=0.02,steps=5]", *network, problem);
  for (std::int64_t row = 0; row < problem.size(); ++row) {
    const std::vector<double> x = list(problem.inputs[row]);
    Rng rng(problem.seed, {problem.keys[static_cast<std::size_t>(row)], 0});
    std::vector<double> start;
    for (const double v : x) start.push_back(clip(v + rng.uniform(-0.1, 0.1)));
    expect_near(plain_bim(*plain, x, start, label(row), -1, 0.1, 0.02, 5, "linf"), found[row], 1e-4);
  }
}

INSTANTIATE_TEST_SUITE_P(Networks, GradientAttack, testing::Values("dense", "conv"),
                         [](const auto& one) { return one.param; });

TEST(Fgsm, MovesALinearModelByHand) {
  // Z = (x1, x2): at (0.6, 0.5) the class is 0, and the loss grows with x2 - x1.
  const Session session(linear({2, 2}, {1, 0, 0, 1}), one_thread);
  const AttackedNetwork network(session, {}, false);
  const AttackProblem problem = problem_of(network, array::tensor({0.6F, 0.5F}).reshape({1, 2}));
  expect_near({0.5, 0.6}, perturbed("fgsm[eps=0.1]", network, problem), 1e-6);
  expect_near({0.6 - 0.1 / std::sqrt(2.0), 0.5 + 0.1 / std::sqrt(2.0)},
              perturbed("fgsm[eps=0.1,norm=l2]", network, problem), 1e-6);
  // Z = (x1 + x2, 0): both elements have the greatest gradient and share eps.
  const Session sum(linear({2, 2}, {1, 1, 0, 0}), one_thread);
  const AttackedNetwork shared(sum, {}, false);
  expect_near({0.55, 0.45}, perturbed("fgsm[eps=0.1,norm=l1]", shared, problem_of(shared, problem.inputs)),
              1e-6);
}

TEST(Fgsm, DoesNotMoveAlongGradientsOfZeroOrNaN) {
  const Session flat(linear({2, 2}, {0, 0, 0, 0}), one_thread);
  const AttackedNetwork network(flat, {}, false);
  const AttackProblem problem = problem_of(network, array::tensor({0.6F, 0.5F}).reshape({1, 2}));
  for (const char* norm : {"linf", "l2", "l1"}) {
    EXPECT_EQ(greatest_difference(perturbed(std::string("fgsm[norm=") + norm + "]", network, problem),
                                  problem.inputs),
              0)
        << norm;
  }
  // The square root has no finite gradient at 0: element 0 stays, element 1 moves.
  Net net("root");
  const ValueId x = net.input({-1, 2});
  const ValueId w = net.builder.constant("w", Array::of<float>({2, 2}, std::vector<float>{1, 0, 0, -1}));
  const Session root(net.build(net.builder.add("Gemm", "logits", {net.builder.add("Sqrt", "root", {x}), w})),
                     one_thread);
  const AttackedNetwork rooted(root, {}, false);
  const AttackProblem edge = problem_of(rooted, array::tensor({0.0F, 0.25F}).reshape({1, 2}));
  expect_near({0, 0.15}, perturbed("fgsm[eps=0.1]", rooted, edge), 1e-6);
}

TEST(Pgd, BeginsAgainOnlyWithRecordsThatHold) {
  const Session session(linear({2, 2}, {1, 0, 0, 1}), one_thread);
  const AttackedNetwork network(session, {}, false);
  // The first record is broken by the first start, the second lies too far away for any.
  const AttackProblem problem = problem_of(network, array::tensor({0.52F, 0.5F, 0.9F, 0.1F}).reshape({2, 2}));
  const Array found = perturbed("pgd[eps=0.1,step=0.05,steps=5,starts=3]", network, problem);
  EXPECT_EQ(problem.log->backward, (std::vector<std::uint64_t>{5, 15}));
  expect_near({0.42, 0.6, 0.8, 0.2}, found, 1e-6);
}

}  // namespace
}  // namespace assay::test
