// Minimum description length of a hypothesis given the units, by prequential coding.

#include <cmath>

#include "assay/inspection/probe_state.h"

namespace assay::inspection {
namespace {

const std::vector<BehaviourKind> mdl_kinds{BehaviourKind::binary, BehaviourKind::categorical};

class DescriptionLength final : public ProbeState {
 public:
  explicit DescriptionLength(const MeasureSetup& setup)
      : ProbeState(setup, {.kinds = mdl_kinds,
                           .settings = {.l2 = setup.options.number("penalty", 0),
                                        .rate = setup.options.number("rate", 0),
                                        .averaged = false},
                           .coded = true}) {}

 private:
  Score group(const Outcome& outcome, const Outcome* /*control*/) const override {
    Score score;
    score.rows = static_cast<std::uint64_t>(outcome.coded_rows);
    score.value =
        outcome.coded_rows * std::log2(static_cast<double>(outcome.held_out.classes)) / outcome.bits;
    return score;
  }
  bool scores_units() const override { return false; }
};

}  // namespace

MeasureInfo mdl_measure() {
  return {
      .name = "mdl",
      .summary = "how far the units compress the hypothesis (prequential code), 1: not at all",
      .definition =
          "n log2(K) / L: the length of a uniform code for the n labels of K classes, divided by the length "
          "of the online code L = sum of -log2 p(label | units) where each row is coded by a probe that "
          "has learned from the rows before it. Blocks of the code have 64, 64, 128, 256, 512 and then "
          "1,024 rows each; the first is coded uniformly. The probe is multiclass's, and no rows are held "
          "out. No interval; p: by permutation. Units are standardised on the calibration records. A look "
          "comes "
          "after 4, 8, 12, 16, 24, 32, ... blocks (twice as many each second time); a hypothesis has "
          "converged at one where the value stays within the tolerance (default 0.01) even if all later rows "
          "take as many bits as those since half of the looks, and within the interval that the spread of "
          "the "
          "bits of a row gives the mean",
      .limits =
          "the probe goes on learning, while the paper's starts from scratch for each block, so L is an "
          "upper bound of theirs for the same probe. A rare hypothesis compresses well "
          "by its frequency alone: compare it with the same group with fresh weights. Depends on the "
          "order of records, so states do not merge",
      .paper = "Voita and Titov, Information-Theoretic Probing with MDL, EMNLP 2020; Dawid 1984",
      .options = {{"penalty", "0.001", "strength of the L2 penalty relative to the mean loss of a row"},
                  {"rate", "0.03", "learning rate of Adam, divided by sqrt(1 + steps / 1000)"}},
      .joint = true,
      .merges = false,
      .kinds = mdl_kinds,
      .make = [](const MeasureSetup& setup) -> std::unique_ptr<MeasureState> {
        return std::make_unique<DescriptionLength>(setup);
      }};
}

}  // namespace assay::inspection
