// Records on which two networks disagree, found by changing the light of drawn digits.
#include <assay/coverage.h>
#include <assay/explore.h>
#include <assay/training.h>

#include <iostream>

int main() {
  using namespace assay;
  const DatasetPtr digits = open_dataset("digits:200"), seeds = open_dataset("digits:8,seed=2");
  std::vector<std::unique_ptr<Session>> sessions;
  std::vector<explore::ExploredNetwork> networks;
  for (const std::string name : {"lenet1", "lenet5"}) {
    const Graph graph = training::architectures().find(name).build();
    const auto trained = training::train(graph, digits, nullptr, {.batch = 32, .epochs = 2}, {}, silence());
    sessions.push_back(std::make_unique<Session>(trained.graph));
    const auto learned = coverage::learn_profile(*sessions.back(), digits, {}, silence());
    networks.push_back({name, sessions.back().get(), std::make_shared<coverage::Profile>(learned.profile)});
  }
  const explore::ExploreOptions options{.search = {.iterations = 10}, .constraints = {{"light", {}}}};
  const auto found = explore::explore(networks, seeds, options, silence());
  for (const explore::Finding& one : found.findings)
    std::cout << seeds->id(one.seed) << ": " << one.classes[0] << " or " << one.classes[1] << "\n";
  std::cout << found.searched << " seeds searched\n";
}
