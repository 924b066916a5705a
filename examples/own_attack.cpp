// A custom attack on a data set: one step along the sign of the gradient of the score that is to fall.
#include <assay/array_math.h>
#include <assay/attack.h>
#include <assay/training.h>

#include <iostream>

using namespace assay;
struct OneStep final : attack::Attack {
  Array perturb(const attack::AttackedNetwork& network, const attack::AttackProblem& problem) const override {
    const auto label = [own = attack::numbers(problem.labels)](auto row, auto, auto gradients) {
      gradients[own[row]] = 1;
    };
    return (problem.inputs - 0.3 * network.gradient(problem, problem.inputs, label).sign()).clamp(0, 1);
  }
};

int main() {
  const Session session(training::initialise(training::architectures().find("lenet5").build(), "keras", 1));
  const attack::AttackChoice choice("one-step", std::make_shared<OneStep>());
  const attack::AttackSummary done = attack::attack_dataset(session, open_dataset("digits:40"), choice,
                                                            "attacked.npz", {.all = true}, silence());
  std::cout << done.succeeded << " of " << done.attacked << " records leave their class\n";
}
