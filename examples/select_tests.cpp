// The fewest records that activate every neuron that the whole test set activates.
#include <assay/coverage.h>
#include <assay/selection.h>
#include <assay/training.h>

#include <iostream>

int main() {
  using namespace assay;
  const DatasetPtr digits = open_dataset("digits:200");
  const Session network(training::initialise(training::architectures().find("lenet5").build(), "keras", 1));
  const std::vector<coverage::CriterionChoice> criteria{"nc[threshold=0.1]"};
  const auto profile = std::make_shared<const coverage::Profile>(
      coverage::learn_profile(network, digits, {.criteria = criteria}, silence()).profile);
  coverage::CoverageState state(profile, criteria, false);
  const auto seen = coverage::measure(network, state, digits, {.remember_items = true}, silence());
  selection::CoveredRows rows;
  for (const auto& items : seen.items[0]) rows.add(std::vector<std::uint32_t>(items.begin(), items.end()));
  const selection::Cover chosen = selection::minimise(rows);
  for (const std::size_t record : chosen.records) std::cout << digits->id(record) << " ";
  std::cout << "\n"
            << chosen.records.size() << " records activate the same " << chosen.covered << " neurons\n";
}
