// Softmax regression: which units tell the classes of a categorical hypothesis apart.

#include "assay/inspection/probe_state.h"

namespace assay::inspection {
namespace {

const std::vector<BehaviourKind> multiclass_kinds{BehaviourKind::binary, BehaviourKind::categorical};

class Multiclass final : public ProbeState {
 public:
  explicit Multiclass(const MeasureSetup& setup)
      : ProbeState(setup, {.kinds = multiclass_kinds,
                           .settings = {.l2 = setup.options.number("penalty", 0),
                                        .rate = setup.options.number("rate", 0)},
                           .held_out = setup.options.number("held_out", 0),
                           .by_class = setup.options.word("score", judgements) == "f1"}),
        score_(setup.options.word("score", judgements)) {}

 private:
  Score group(const Outcome& outcome, const Outcome* /*control*/) const override {
    return judge(outcome.held_out, score_, z());
  }

  std::string score_;
};

}  // namespace

MeasureInfo multiclass_measure() {
  std::vector<SpecOption> options = probe_options("0.001");
  options[0].fallback = "accuracy";
  return {
      .name = "multiclass",
      .summary = "accuracy of a softmax regression on all units; weights of the units",
      .definition =
          std::string("p(h = k) = softmax(W u + b)_k, least mean of -log p over rows, plus penalty * sum "
                      "W^2 / 2. A binary hypothesis is a logistic regression. Value of a unit: the norm of "
                      "its weights over the classes; no interval. ") +
          judgement_definition + ". " + probe_definition,
      .limits =
          "as logistic_l2. Classes that no calibration record has, of a hypothesis without names "
          "of its classes, count as the last",
      .paper = "Sellam et al., DeepBase, SIGMOD 2019; Belinkov et al., ACL 2017",
      .options = options,
      .joint = true,
      .merges = false,
      .kinds = multiclass_kinds,
      .make = [](const MeasureSetup& setup) -> std::unique_ptr<MeasureState> {
        return std::make_unique<Multiclass>(setup);
      }};
}

}  // namespace assay::inspection
