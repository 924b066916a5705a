// Logistic regression: which units predict a hypothesis together, with an L1 or an L2 penalty.

#include "assay/inspection/probe_state.h"

namespace assay::inspection {
namespace {

const std::vector<BehaviourKind> logistic_kinds{BehaviourKind::binary};

ModelSettings logistic_settings(const MeasureSetup& setup, bool sparse) {
  const double penalty = setup.options.number("penalty", 0);
  return {.l1 = sparse ? penalty : 0, .l2 = sparse ? 0 : penalty, .rate = setup.options.number("rate", 0)};
}

class Logistic final : public ProbeState {
 public:
  Logistic(const MeasureSetup& setup, bool sparse)
      : ProbeState(setup, {.kinds = logistic_kinds,
                           .settings = logistic_settings(setup, sparse),
                           .held_out = setup.options.number("held_out", 0)}),
        score_(setup.options.word("score", judgements)) {}

 private:
  Score group(const Outcome& outcome, const Outcome* /*control*/) const override {
    return judge(outcome.held_out, score_, z());
  }

  std::string score_;
};

MeasureInfo logistic_info(bool sparse) {
  return {
      .name = sparse ? "logistic_l1" : "logistic_l2",
      .summary = sparse ? "F1 of a sparse logistic regression on all units; weights of the units"
                        : "F1 of a logistic regression on all units; weights of the units",
      .definition =
          std::string("p(h = 1) = 1 / (1 + exp(-(w u + b))), least mean of -log p over rows, plus ") +
          (sparse ? "penalty * sum |w|, by a proximal step after each step of Adam, so that weights become "
                    "exactly 0. "
                  : "penalty * sum w^2 / 2. ") +
          "Value of a unit: |w| for the standardised unit; no interval. " + judgement_definition + ". " +
          probe_definition,
      .limits =
          "a high F1 may be the probe's own work: compare it with majority, random, selectivity, and the "
          "same group with fresh weights. Weights of units that say the same are shared out as it "
          "happens. Learning depends on the order of records, so states do not merge",
      .paper = "Sellam et al., DeepBase, SIGMOD 2019; Tibshirani 1996",
      .options = probe_options("0.001"),
      .aliases = sparse ? std::vector<std::string>{"logreg"} : std::vector<std::string>{},
      .joint = true,
      .merges = false,
      .kinds = logistic_kinds,
      .make = [sparse](const MeasureSetup& setup) -> std::unique_ptr<MeasureState> {
        return std::make_unique<Logistic>(setup, sparse);
      }};
}

}  // namespace

MeasureInfo logistic_l1_measure() { return logistic_info(true); }
MeasureInfo logistic_l2_measure() { return logistic_info(false); }

}  // namespace assay::inspection
