// Rules that look at weights alone and spread relevance over an input independent of its values.

#include <assay/array_math.h>

#include <assay/extend/rule.h>

namespace assay::relevance::redistribution {
namespace {

// R_i = sum_j v_ij / sum_i v_ij R_j with v = change(w), never negative. No bias.
class WeightOnly final : public Rule {
 public:
  explicit WeightOnly(Array (*change)(const Array&)) : change_(change) {}

  Array redistribute(const LinearMap& layer, const Array& input, const Array&,
                     const Array& relevance) const override {
    const LinearMap changed = layer.with(change_);
    return changed.pull_back(share_of(relevance, changed.forward(array::ones_like(input))), input);
  }

 private:
  Array (*change_)(const Array&);
};

}  // namespace

RuleInfo w_square() {
  return {"w-square",
          "in proportion to squared weights",
          "Montavon et al., Pattern Recognition 2017",
          {},
          [](const RuleSettings&) -> std::unique_ptr<Rule> {
            return std::make_unique<WeightOnly>([](const Array& w) { return array::square(w); });
          }};
}

RuleInfo flat() {
  return {"flat",
          "equally over the inputs an output is connected to",
          "Lapuschkin et al., Nature Communications 2019",
          {},
          [](const RuleSettings&) -> std::unique_ptr<Rule> {
            return std::make_unique<WeightOnly>([](const Array& w) { return array::ones_like(w); });
          }};
}

}  // namespace assay::relevance::redistribution
