// All criteria in one pass, over two halves of a test set whose states are merged: the same as over the
// whole.
#include <assay/coverage.h>
#include <assay/training.h>

#include <iostream>

int main() {
  using namespace assay;
  const DatasetPtr digits = open_dataset("digits:200"), test = open_dataset("digits:100,seed=2");
  const training::Recipe recipe{.batch = 32, .epochs = 2};
  const Graph fresh = training::architectures().find("lenet5").build();
  const Session network(training::train(fresh, digits, nullptr, recipe, {}, silence()).graph);
  coverage::LearnOptions options;
  for (const auto& info : coverage::criteria()) options.criteria.push_back({info.name, {}});
  const auto profile = std::make_shared<const coverage::Profile>(
      coverage::learn_profile(network, digits, options, silence()).profile);
  coverage::CoverageState first(profile, options.criteria, false), second(profile, options.criteria, false);
  coverage::measure(network, first, test, {.shard = 1, .shards = 2, .batch = 10}, silence());
  coverage::measure(network, second, test, {.shard = 2, .shards = 2, .batch = 10}, silence());
  first.merge(second);
  for (const coverage::CoverageFigure& figure : first.figures())
    std::cout << figure.name << " " << figure.coverage.layer << ": " << figure.coverage.value << "\n";
  std::cout << first.records() << " records\n";
}
