#include <assay/array_math.h>

#include <assay/extend/rule.h>

namespace assay::relevance::redistribution {
namespace {

// z^B: R_i = sum_j (x_i w_ij - l_i w+_ij - h_i w-_ij) / sum_i (...) R_j for inputs within [l, h]. No bias.
class Box final : public Rule {
 public:
  explicit Box(const RuleSettings& settings)
      : low_(settings.low), high_(settings.high), epsilon_(settings.epsilon) {
    if (!low_.defined() || !high_.defined()) {
      fail(Fault::usage,
           "rule 'box' is for layers that read the network's input, since only its bounds are known");
    }
  }

  Array redistribute(const LinearMap& layer, const Array& input, const Array&,
                     const Array& relevance) const override {
    const LinearMap plus = layer.with([](const Array& w) { return array::clamp_min(w, 0); });
    const LinearMap minus = layer.with([](const Array& w) { return array::clamp_max(w, 0); });
    // Expanded in full: at padded positions neither bound contributes.
    const Array low = low_.to(input.dtype()).expand(input.shape()).contiguous(),
                high = high_.to(input.dtype()).expand(input.shape()).contiguous();
    const Array z = layer.forward(input) - plus.forward(low) - minus.forward(high);
    const Array share = share_of(relevance, z, epsilon_);
    return input * layer.pull_back(share, input) - low * plus.pull_back(share, input) -
           high * minus.pull_back(share, input);
  }

 private:
  Array low_, high_;
  double epsilon_;
};

}  // namespace

RuleInfo box() {
  return {"box",
          "z^B: for the first layer, whose inputs are between known bounds",
          "Montavon et al., Pattern Recognition 2017",
          {},
          [](const RuleSettings& s) -> std::unique_ptr<Rule> { return std::make_unique<Box>(s); }};
}

}  // namespace assay::relevance::redistribution
