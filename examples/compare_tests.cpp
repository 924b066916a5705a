// What does one test set cover that another does not? Compares two coverage states, criterion by criterion.
#include <assay/coverage.h>
#include <assay/extend/abilities.h>
#include <assay/training.h>

#include <iostream>

int main() {
  using namespace assay;
  const DatasetPtr digits = open_dataset("digits:200");
  const Session network(training::initialise(training::architectures().find("lenet5").build(), "keras", 1));
  const std::vector<coverage::CriterionChoice> criteria{"kmnc[sections=10]"};
  const auto profile = std::make_shared<const coverage::Profile>(
      coverage::learn_profile(network, digits, {.criteria = criteria}, silence()).profile);
  coverage::CoverageState many(profile, criteria, false), few(profile, criteria, false);
  coverage::measure(network, many, digits, {}, silence());
  coverage::measure(network, few, open_dataset("digits:200[:50]"), {}, silence());
  const auto whole = many.total(0), part = few.total(0);
  for (const auto& layer : coverage::required<coverage::Comparable>(*whole, "kmnc").difference(*part, 1)) {
    std::cout << layer.layer << ": " << layer.both << " sections in both, " << layer.only_here
              << " only with 200 records, " << layer.only_there << " only with 50\n";
  }
}
