// A custom relevance rule: shares by the sizes of contributions of any sign.
//   R_i = sum_j |x_i| |w_ij| / (sum_i |x_i| |w_ij|) R_j
#include <assay/array_math.h>

#include <assay/extend/plugin.h>
#include <assay/extend/rule.h>

namespace {

using namespace assay::relevance;

class Absolute final : public Rule {
 public:
  assay::Array redistribute(const LinearMap& layer, const assay::Array& input, const assay::Array&,
                            const assay::Array& relevance) const override {
    const LinearMap sizes = layer.with([](const assay::Array& weight) { return weight.abs(); });
    const assay::Array x = input.abs();
    return x * sizes.pull_back(share_of(relevance, sizes.forward(x)), input);
  }
};

void enter() {
  rules().add(
      {.name = "absolute",
       .summary = "by the sizes of contributions",
       .paper = "an example",
       .defaults = {},
       .make = [](const RuleSettings&) -> std::unique_ptr<Rule> { return std::make_unique<Absolute>(); }});
}

}  // namespace

ASSAY_PLUGIN("absolute", enter)
