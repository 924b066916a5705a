#include <assay/array_math.h>

#include <assay/extend/rule.h>

namespace assay::relevance::redistribution {
namespace {

constexpr double usual_gamma = 0.25;

double gamma_of(const RuleSettings& settings) {
  const double gamma = settings.numbers.empty() ? usual_gamma : settings.numbers[0];
  if (!(gamma >= 0)) fail(Fault::usage, "gamma is {}; it must not be negative", gamma);
  return gamma;
}

// The layer with positive (negative) weights and biases favoured: w + gamma w+ (w + gamma w-).
LinearMap favouring_positive(const LinearMap& layer, double gamma) {
  return layer.with([gamma](const Array& w) { return w + gamma * array::clamp_min(w, 0); });
}
LinearMap favouring_negative(const LinearMap& layer, double gamma) {
  return layer.with([gamma](const Array& w) { return w + gamma * array::clamp_max(w, 0); });
}

// R_i = sum_j x_i (w_ij + gamma w+_ij) / sum_i (...) R_j. Meant for inputs that are not negative.
class OriginalGamma final : public Rule {
 public:
  OriginalGamma(double gamma, double epsilon) : gamma_(gamma), epsilon_(epsilon) {}

  Array redistribute(const LinearMap& layer, const Array& input, const Array&,
                     const Array& relevance) const override {
    const LinearMap favoured = favouring_positive(layer, gamma_);
    return input *
           favoured.pull_back(share_of(relevance, favoured.forward_with_bias(input), epsilon_), input);
  }

 private:
  double gamma_, epsilon_;
};

// For z_j > 0 positive contributions are favoured, x+ (w + gamma w+) + x- (w + gamma w-), for z_j < 0
// negative ones, x+ (w + gamma w-) + x- (w + gamma w+); z_j = 0 gives nothing.
class GeneralisedGamma final : public Rule {
 public:
  GeneralisedGamma(double gamma, double epsilon) : gamma_(gamma), epsilon_(epsilon) {}

  Array redistribute(const LinearMap& layer, const Array& input, const Array& output,
                     const Array& relevance) const override {
    const LinearMap up = favouring_positive(layer, gamma_), down = favouring_negative(layer, gamma_);
    return one_side(up, down, input, relevance * output.gt(0)) +
           one_side(down, up, input, relevance * output.lt(0));
  }

 private:
  Array one_side(const LinearMap& above, const LinearMap& below, const Array& input,
                 const Array& relevance) const {
    const Array high = array::clamp_min(input, 0), low = array::clamp_max(input, 0);
    const Array share = share_of(relevance, above.forward_with_bias(high) + below.forward(low), epsilon_);
    return high * above.pull_back(share, input) + low * below.pull_back(share, input);
  }

  double gamma_, epsilon_;
};

}  // namespace

RuleInfo gamma() {
  return {"gamma",
          "favours the contributions with the output's sign; inputs of any sign",
          "Andeol et al., 2021; Montavon et al., 2019",
          {usual_gamma},
          [](const RuleSettings& s) -> std::unique_ptr<Rule> {
            return std::make_unique<GeneralisedGamma>(gamma_of(s), s.epsilon);
          }};
}

RuleInfo gamma_original() {
  return {"gamma-original",
          "favours positive weights; for inputs that are not negative",
          "Montavon et al., Explainable AI (LNCS 11700), 2019",
          {usual_gamma},
          [](const RuleSettings& s) -> std::unique_ptr<Rule> {
            return std::make_unique<OriginalGamma>(gamma_of(s), s.epsilon);
          }};
}

}  // namespace assay::relevance::redistribution
