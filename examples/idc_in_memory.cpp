// Importance-Driven Coverage of arrays in memory: how many combinations of what decides does a test set
// reach?
#include <assay/coverage.h>
#include <assay/records.h>
#include <assay/training.h>

#include <iostream>
#include <numeric>

int main() {
  using namespace assay;
  std::vector<std::size_t> all(400);
  std::iota(all.begin(), all.end(), 0);
  const Batch a = open_dataset("digits:400")->read(all), b = open_dataset("digits:400,seed=2")->read(all);
  const DatasetPtr train = from_arrays(a.inputs, a.labels), test = from_arrays(b.inputs, b.labels);
  const Graph lenet5 = training::architectures().find("lenet5").build();
  const Session network(training::train(lenet5, train, nullptr, {.epochs = 8}, {}, silence()).graph);
  const std::vector<coverage::CriterionChoice> criteria{"idc[m=6]"};
  const auto profile = std::make_shared<const coverage::Profile>(
      coverage::learn_profile(network, train, {.criteria = criteria}, silence()).profile);
  coverage::CoverageState state(profile, criteria, false);
  coverage::measure(network, state, test, {}, silence());
  const coverage::Coverage idc = state.figures()[0].coverage;
  std::cout << idc.covered << " of " << idc.coverable << " combinations in " << idc.layer << "\n";
}
