#include <assay/array_math.h>

#include <assay/extend/rule.h>

namespace assay::relevance::redistribution {
namespace {

// R_i = sum_j z_ij / (z_j + epsilon sgn z_j) R_j
class Epsilon final : public Rule {
 public:
  explicit Epsilon(double epsilon) : epsilon_(epsilon) {}

  Array redistribute(const LinearMap& layer, const Array& input, const Array& output,
                     const Array& relevance) const override {
    return input * layer.pull_back(share_of(relevance, output, epsilon_), input);
  }

 private:
  double epsilon_;
};

}  // namespace

RuleInfo epsilon() {
  return {"epsilon",
          "shares in proportion to contributions; the stabiliser absorbs relevance",
          "Bach et al., PLoS ONE 2015, eq. 58",
          {1e-6},
          [](const RuleSettings& s) -> std::unique_ptr<Rule> {
            return std::make_unique<Epsilon>(s.numbers.empty() ? s.epsilon : s.numbers[0]);
          }};
}

RuleInfo lrp_0() {
  return {"lrp-0",
          "shares in proportion to contributions, without stabiliser",
          "Bach et al., PLoS ONE 2015, eq. 56",
          {},
          [](const RuleSettings&) -> std::unique_ptr<Rule> { return std::make_unique<Epsilon>(0.0); }};
}

}  // namespace assay::relevance::redistribution
