#include <assay/array_math.h>

#include <cmath>

#include <assay/extend/rule.h>

namespace assay::relevance::redistribution {
namespace {

Array positive_part(const Array& t) { return array::clamp_min(t, 0); }
Array negative_part(const Array& t) { return array::clamp_max(t, 0); }

// R_i = sum_j (alpha z+_ij / (sum_i z+_ij + b+_j) - beta z-_ij / (sum_i z-_ij + b-_j)) R_j
// where z+ and z- are the positive and negative contributions: z+ = x+ w+ + x- w-, z- = x+ w- + x- w+.
class AlphaBeta final : public Rule {
 public:
  AlphaBeta(double alpha, double beta) : alpha_(alpha), beta_(beta) {
    if (!(beta >= 0) || std::abs(alpha - beta - 1) > 1e-9) {
      fail(
          Fault::usage,
          "rule 'alpha-beta:{},{}' does not conserve relevance; alpha - beta must be 1 and beta not negative",
          alpha, beta);
    }
  }

  Array redistribute(const LinearMap& layer, const Array& input, const Array&,
                     const Array& relevance) const override {
    const LinearMap plus = layer.with(positive_part), minus = layer.with(negative_part);
    const Array up = one_sign(plus, minus, plus.bias, input, relevance);
    if (beta_ == 0) return up;
    return alpha_ * up - beta_ * one_sign(minus, plus, minus.bias, input, relevance);
  }

 private:
  // The contributions that `above` makes of positive inputs and `below` of negative ones: all of one sign.
  static Array one_sign(const LinearMap& above, const LinearMap& below, const Array& bias, const Array& input,
                        const Array& relevance) {
    const bool signed_input = input.lt(0).any().item<bool>();
    const Array high = signed_input ? positive_part(input) : input,
                low = signed_input ? negative_part(input) : Array();
    Array z = above.forward(high);
    if (signed_input) z = z + below.forward(low);
    if (bias.defined()) z = z + bias;
    const Array share = share_of(relevance, z);
    const Array result = high * above.pull_back(share, input);
    return signed_input ? result + low * below.pull_back(share, input) : result;
  }

  double alpha_, beta_;
};

}  // namespace

RuleInfo alpha_beta() {
  return {"alpha-beta",
          "positive and negative contributions apart, alpha - beta = 1",
          "Bach et al., PLoS ONE 2015, eq. 60",
          {2, 1},
          [](const RuleSettings& s) -> std::unique_ptr<Rule> {
            return s.numbers.empty() ? std::make_unique<AlphaBeta>(2, 1)
                                     : std::make_unique<AlphaBeta>(s.numbers[0], s.numbers[1]);
          }};
}

RuleInfo z_plus() {
  return {"z-plus",
          "positive contributions only: alpha 1, beta 0",
          "Montavon et al., Pattern Recognition 2017",
          {},
          [](const RuleSettings&) -> std::unique_ptr<Rule> { return std::make_unique<AlphaBeta>(1, 0); }};
}

}  // namespace assay::relevance::redistribution
