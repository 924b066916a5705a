// An attack of one's own: one step along the sign of the gradient of the score that is to fall.
#include <ATen/ATen.h>
#include <assay/attack.h>
#include <assay/attack_problem.h>
#include <assay/training.h>

#include <iostream>

using namespace assay;
struct OneStep final : attack::Attack {
  Tensor perturb(const attack::AttackedNetwork& network,
                 const attack::AttackProblem& problem) const override {
    const auto label = [&](Tensor s) { return s.gather(1, problem.labels.view({-1, 1})).view(-1); };
    return (problem.inputs - 0.3 * network.slope(problem, problem.inputs, label).sign()).clamp(0, 1);
  }
};

int main() {
  const Session session(training::initialise(training::architectures().find("lenet5").build(), "keras", 1));
  const attack::AttackedNetwork network(session, {}, false);
  const attack::AttackProblem problem = attack::problem_of(network, at::rand({8, 1, 28, 28}));
  const Tensor changed = OneStep().perturb(network, problem);
  const Tensor won = attack::AttackedNetwork::won(problem, network.scores(problem, changed));
  std::cout << won.sum().item<int64_t>() << " of " << won.size(0) << " records leave their class\n";
}
