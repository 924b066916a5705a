// Selectivity: how much better a probe does on a hypothesis than on labels drawn for each symbol.

#include <cmath>

#include "assay/inspection/probe_state.h"

namespace assay::inspection {
namespace {

const std::vector<BehaviourKind> selectivity_kinds{BehaviourKind::binary, BehaviourKind::categorical};

class Selectivity final : public ProbeState {
 public:
  explicit Selectivity(const MeasureSetup& setup)
      : ProbeState(setup, {.kinds = selectivity_kinds,
                           .settings = {.l2 = setup.options.number("penalty", 0),
                                        .rate = setup.options.number("rate", 0)},
                           .held_out = setup.options.number("held_out", 0),
                           .control = true,
                           .by_class = setup.options.word("score", judgements) == "f1"}),
        score_(setup.options.word("score", judgements)) {}

 private:
  Score group(const Outcome& outcome, const Outcome* control) const override {
    Score score = judge(outcome.held_out, score_, z());
    const Score other = judge(control->held_out, score_, z());
    score.low = score.high = std::numeric_limits<double>::quiet_NaN();
    if (std::isnan(score.value)) return score;
    if (score_ == "accuracy" && !std::isnan(other.value)) {
      const auto variance = [](const Score& one) {
        return one.value * (1 - one.value) / static_cast<double>(one.rows);
      };
      const double half = z() * std::sqrt(variance(score) + variance(other));
      score.low = score.value - other.value - half;
      score.high = score.value - other.value + half;
    }
    if (std::isnan(other.value)) score.status = "no_positives";
    score.value -= other.value;
    return score;
  }
  bool scores_units() const override { return false; }

  std::string score_;
};

}  // namespace

MeasureInfo selectivity_measure() {
  std::vector<SpecOption> options = probe_options("0.001");
  options[0].fallback = "accuracy";
  return {
      .name = "selectivity",
      .summary = "what a probe knows of the hypothesis beyond what it can learn by heart, -1 to 1",
      .definition =
          std::string("score of the probe on the hypothesis - score of the same probe on a control task, on "
                      "the same held-out rows. Control task: each symbol (token) has one label wherever it "
                      "occurs, drawn once, by the seed, from the hypothesis's classes as the calibration "
                      "records have them. The probe is multiclass's. Interval for accuracy: difference -+ z "
                      "sqrt(a1 (1 - a1) / n + a2 (1 - a2) / n), as of independent rows; none for F1. "
                      "Status no_symbols: the records are not tokens, so there is no control task. ") +
          probe_definition,
      .limits =
          "control tasks are drawn once: another seed gives another selectivity. There is no control task "
          "for images",
      .paper = "Hewitt and Liang, Designing and Interpreting Probes with Control Tasks, EMNLP 2019",
      .options = options,
      .joint = true,
      .merges = false,
      .kinds = selectivity_kinds,
      .neutral = 0,
      .make = [](const MeasureSetup& setup) -> std::unique_ptr<MeasureState> {
        return std::make_unique<Selectivity>(setup);
      }};
}

}  // namespace assay::inspection
