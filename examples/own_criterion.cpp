// A custom criterion for one analysis: how far the test set's activations reach, over all neurons.
#include <assay/coverage.h>
#include <assay/training.h>

#include <iostream>
#include <nlohmann/json.hpp>
using namespace assay;
using namespace assay::coverage;
struct Reach final : Criterion {
  void observe(const ActivationBatch& batch) override {
    for (const Activations& layer : batch.layers) top = std::max(top, std::ranges::max(layer.values));
  }
  void merge(const Criterion& other) override { top = std::max(top, dynamic_cast<const Reach&>(other).top); }
  std::vector<Coverage> result() const override { return {{.layer = "all", .value = top}}; }
  nlohmann::json save() const override { return top; }
  void load(const nlohmann::json& state) override { state.get_to(top); }
  float top = 0;
};
int main() {
  const Session session(training::initialise(training::architectures().find("lenet5").build(), "keras", 1));
  const CriterionInfo info{.name = "reach", .make = [](auto&) { return std::make_unique<Reach>(); }};
  const std::vector<CriterionChoice> reach{{"reach", std::make_shared<CriterionInfo>(info)}};
  const auto learned = learn_profile(session, open_dataset("digits:50"), {.criteria = reach}, silence());
  CoverageState state(std::make_shared<Profile>(learned.profile), reach, false);
  measure(session, state, open_dataset("digits:50,seed=2"), {}, silence());
  std::cout << "activations reach " << state.figures()[0].coverage.value << "\n";
}
