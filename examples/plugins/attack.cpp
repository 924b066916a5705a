// A custom attack: one step against the sign of the gradient of the margin between the class that the
// network names and the next one.
#include <assay/array_math.h>

#include <assay/attack.h>
#include <assay/extend/plugin.h>

namespace {

using namespace assay;

class MarginStep final : public attack::Attack {
 public:
  explicit MarginStep(const SpecOptions& options) : eps_(options.number("eps", 0)) {}

  // Records are in units of the valid range: every element between 0 and 1.
  Array perturb(const attack::AttackedNetwork& network, const attack::AttackProblem& problem) const override {
    // The gradient of the margin with respect to each score.
    const auto margin = [labels = attack::numbers(problem.labels)](
                            std::size_t row, std::span<const float> scores, std::span<float> gradients) {
      const auto own = static_cast<std::size_t>(labels[row]);
      std::size_t next = own == 0 ? 1 : 0;
      for (std::size_t c = 0; c < scores.size(); ++c)
        if (c != own && scores[c] > scores[next]) next = c;
      gradients[own] = 1;
      gradients[next] = -1;
    };
    const Array gradient = network.gradient(problem, problem.inputs, margin);
    return (problem.inputs - eps_ * gradient.sign()).clamp(0, 1);
  }

 private:
  double eps_;
};

void enter() {
  attack::attacks().add(
      {.name = "margin-step",
       .summary = "one step that narrows the margin to the next class",
       .definition = "x - eps * sign(gradient of (score of the class - greatest other score))",
       .limits = "one step only",
       .paper = "an example",
       .options = {{"eps", "0.1", "length of the step, as a share of the valid range"}},
       .target = "",
       .make = [](const SpecOptions& options) -> std::unique_ptr<attack::Attack> {
         return std::make_unique<MarginStep>(options);
       }});
}

}  // namespace

ASSAY_PLUGIN("margin-step", enter)
