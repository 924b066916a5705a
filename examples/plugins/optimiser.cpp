// A custom optimiser: steps of one length along the sign of the gradient.
#include <assay/array_math.h>

#include <assay/extend/optimisers.h>
#include <assay/extend/plugin.h>
#include <assay/training.h>

namespace {

using namespace assay;

class SignSgd final : public training::Optimiser {
 public:
  std::size_t slots() const override { return 0; }
  void update(Array& value, const Array& gradient, std::vector<Array>&, double rate,
              std::int64_t) const override {
    value.add_(gradient.sign(), -rate);
  }
};

void enter() {
  training::optimisers().add({.name = "sign-sgd",
                              .summary = "steps of one length along the sign of the gradient",
                              .paper = "Bernstein et al., ICML 2018",
                              .options = {},
                              .make = [](const SpecOptions&) -> std::unique_ptr<training::Optimiser> {
                                return std::make_unique<SignSgd>();
                              }});
}

}  // namespace

ASSAY_PLUGIN("sign-sgd", enter)
