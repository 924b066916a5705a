#include <assay/error.h>
#include <assay/extend/rule.h>

namespace assay::relevance::redistribution {
namespace {

// R_i = R_i: for layers whose input and output have one shape.
class Pass final : public Rule {
 public:
  Array redistribute(const LinearMap&, const Array& input, const Array&,
                     const Array& relevance) const override {
    if (relevance.shape() != input.shape()) {
      fail(Fault::usage, "rule 'pass' is for layers whose input and output have one shape, not {} and {}",
           to_string(input.shape()), to_string(relevance.shape()));
    }
    return relevance;
  }
};

}  // namespace

RuleInfo pass() {
  return {"pass",
          "unchanged, where input and output have one shape",
          "",
          {},
          [](const RuleSettings&) -> std::unique_ptr<Rule> { return std::make_unique<Pass>(); }};
}

}  // namespace assay::relevance::redistribution
