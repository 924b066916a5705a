// Attacks tensors in memory by projected gradient descent; nothing goes through a file.
#include <assay/array_math.h>
#include <assay/attack.h>
#include <assay/extend/attack_problem.h>
#include <assay/training.h>

#include <iostream>

int main() {
  using namespace assay;
  const DatasetPtr digits = open_dataset("digits:200");
  const training::Recipe recipe{.batch = 32, .epochs = 2};
  const Graph fresh = training::architectures().find("lenet5").build();
  const Session session(training::train(fresh, digits, nullptr, recipe, {}, silence()).graph);
  const std::vector<std::size_t> chosen{0, 1, 2, 3, 4, 5, 6, 7};
  const Array pictures = digits->read(chosen).inputs;  // [8, 1, 28, 28], elements in [0, 1]

  const attack::AttackedNetwork network(session, {}, false);
  const attack::AttackProblem problem = attack::problem_of(network, pictures);
  const auto pgd = attack::make_attack("pgd[eps=0.3]");
  const Array changed = pgd->perturb(network, problem);
  const Array won = attack::AttackedNetwork::won(problem, network.scores(problem, changed));
  std::cout << won.sum().item<int64_t>() << " of " << won.size(0) << " records leave their class, "
            << "no element moves by more than " << (changed - pictures).abs().max().item<float>() << "\n";
}
