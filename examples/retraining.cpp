// Does it help to train a network also on these records? Several times, against just training on.
#include <assay/retraining.h>

#include <iostream>

int main() {
  using namespace assay;
  const DatasetPtr digits = open_dataset("digits:200"), test = open_dataset("digits:100,seed=2");
  const training::Recipe recipe{.batch = 32, .epochs = 1};
  const Graph network = training::train(training::architectures().find("lenet1").build(), digits, nullptr,
                                        recipe, {}, silence())
                            .graph;
  retraining::RetrainingPlan plan;
  plan.training = digits;
  plan.conditions = {{"more digits", open_dataset("digits:200,seed=3")}, {"control", nullptr}};
  plan.sets = {{"test", test}};
  plan.recipe = recipe;
  plan.repeats = 3;
  const retraining::Retraining result = retraining::retrain(network, plan, {}, silence());
  std::cout << "before: " << result.before[0] << "\n";
  for (const auto& row : retraining::compare(plan, result, "control", {}))
    std::cout << row.condition << ": " << row.score.mean << " over " << row.score.count << " repeats\n";
}
