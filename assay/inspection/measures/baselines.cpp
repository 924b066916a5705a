// Scores of predictors without units: the most frequent class, and a class drawn by frequency.

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>
#include <stdexcept>

#include "assay/inspection/statistics/held_out.h"
#include "assay/inspection/statistics/intervals.h"
#include "assay/inspection/statistics/packed.h"
#include "assay/support/numbers/distributions.h"

namespace assay::inspection {
namespace {

constexpr double baseline_tolerance = 0.025;
const std::vector<BehaviourKind> baseline_kinds{BehaviourKind::binary, BehaviourKind::categorical};

class Baseline final : public MeasureState {
 public:
  Baseline(const MeasureSetup& setup, bool majority)
      : majority_(majority),
        score_(setup.options.word("score", judgements)),
        share_(setup.options.number("held_out", 0)),
        z_(normal_quantile((1 + setup.confidence) / 2)),
        tolerance_(setup.tolerance > 0 ? setup.tolerance : baseline_tolerance),
        seed_(setup.seed),
        learned_(setup.hypotheses.size()),
        judged_(setup.hypotheses.size()) {
    for (const Hypothesis& hypothesis : setup.hypotheses) {
      kinds_.push_back(hypothesis.kind);
      open_.push_back(std::ranges::find(baseline_kinds, hypothesis.kind) != baseline_kinds.end() ? 1 : 0);
    }
  }

  void observe(const Block& block) override {
    bool held_out = false;
    for (std::size_t r = 0; r < block.rows; ++r) {
      if (r == 0 || block.records[r] != block.records[r - 1])
        held_out = is_held_out(seed_, block.records[r], share_);
      for (std::size_t h = 0; h < open_.size(); ++h) {
        const float value = block.behaviours[r * open_.size() + h];
        if (open_[h] == 0 || std::isnan(value)) continue;
        const auto code = kinds_[h] == BehaviourKind::binary
                              ? static_cast<std::size_t>(value > 0.5F)
                              : static_cast<std::size_t>(std::max(value, 0.0F));
        std::vector<double>& counts = (held_out ? judged_ : learned_)[h];
        if (code >= counts.size()) counts.resize(code + 1);
        ++counts[code];
      }
    }
  }

  Scores result() const override {
    Scores scores;
    for (std::size_t h = 0; h < open_.size(); ++h) scores.groups.push_back(group(h));
    return scores;
  }
  std::vector<char> settle() override {
    for (std::size_t h = 0; h < open_.size(); ++h) {
      if (open_[h] != 0 && group(h).converged) open_[h] = 0;
    }
    return open_;
  }
  void freeze(std::span<const char> open) override {
    for (std::size_t h = 0; h < open_.size(); ++h) {
      if (open[h] == 0) open_[h] = 0;
    }
  }

  void merge(const MeasureState& other) override {
    const auto& theirs = dynamic_cast<const Baseline&>(other);
    for (std::size_t h = 0; h < open_.size(); ++h) {
      add(learned_[h], theirs.learned_[h]);
      add(judged_[h], theirs.judged_[h]);
    }
  }
  nlohmann::json save() const override {
    return {{"learned", learned_}, {"judged", judged_}, {"open", std::string(open_.begin(), open_.end())}};
  }
  void load(const nlohmann::json& state) override {
    const auto open = state.at("open").get<std::string>();
    auto learned = state.at("learned").get<std::vector<std::vector<double>>>();
    auto judged = state.at("judged").get<std::vector<std::vector<double>>>();
    if (open.size() != open_.size() || learned.size() != open.size() || judged.size() != open.size())
      throw std::runtime_error("the state is of other hypotheses");
    open_.assign(open.begin(), open.end());
    learned_ = std::move(learned);
    judged_ = std::move(judged);
  }

 private:
  static void add(std::vector<double>& to, const std::vector<double>& from) {
    to.resize(std::max(to.size(), from.size()));
    for (std::size_t k = 0; k < from.size(); ++k) to[k] += from[k];
  }

  Score group(std::size_t hypothesis) const {
    Score score;
    const std::vector<double>&learned = learned_[hypothesis], &judged = judged_[hypothesis];
    const std::size_t classes = std::max<std::size_t>({2, learned.size(), judged.size()});
    std::vector<double> all = learned;
    add(all, judged);
    const double rows = std::accumulate(learned.begin(), learned.end(), 0.0);
    if (std::ranges::find(baseline_kinds, kinds_[hypothesis]) == baseline_kinds.end()) {
      score.status = "not_applicable";
      score.converged = true;
    } else if (rows == 0) {
      score.status = "too_few_rows";
    } else if (std::ranges::count_if(all, [](double count) { return count > 0; }) < 2) {
      score.status = "constant_hypothesis";
    } else {
      const std::size_t most = std::ranges::max_element(learned) - learned.begin();
      Confusion confusion(classes);  // expected counts
      for (std::size_t truth = 0; truth < judged.size(); ++truth) {
        for (std::size_t named = 0; named < learned.size(); ++named) {
          const double share = majority_ ? (named == most ? 1 : 0) : learned[named] / rows;
          confusion.at(truth, named) = judged[truth] * share;
        }
      }
      score = judge(confusion, score_, z_);
    }
    // As sure as an accuracy of this many rows can be.
    const Range range = wilson(0.5, std::max(1.0, std::accumulate(judged.begin(), judged.end(), 0.0)), z_);
    score.converged = score.converged || (range.high - range.low) / 2 <= tolerance_;
    return score;
  }

  bool majority_;
  std::string score_;
  double share_, z_, tolerance_;
  std::uint64_t seed_;
  std::vector<BehaviourKind> kinds_;
  std::vector<char> open_;
  std::vector<std::vector<double>> learned_, judged_;  // [hypotheses][classes] rows
};

MeasureInfo baseline_info(bool majority) {
  return {.name = majority ? "majority" : "random",
          .summary = majority ? "F1 of always naming the most frequent class"
                              : "F1 of naming classes as often as they occur, at random",
          .definition =
              std::string(
                  majority ? "the class that most learned rows have (the lowest of equals) is named for each "
                             "held-out row. "
                           : "each class is named with the probability that it has among the learned rows; "
                             "the score is that of the expected counts. ") +
              "Records are held out as for probes with the same seed and share; all held-out rows count. " +
              judgement_definition +
              ". Converged when an accuracy of as many rows would be known to the tolerance (default 0.025)",
          .limits = "says what a probe has to beat, nothing about units",
          .paper = "Sellam et al., DeepBase, SIGMOD 2019",
          .options = held_out_options,
          .joint = true,
          .kinds = baseline_kinds,
          .make = [majority](const MeasureSetup& setup) -> std::unique_ptr<MeasureState> {
            return std::make_unique<Baseline>(setup, majority);
          }};
}

}  // namespace

MeasureInfo majority_measure() { return baseline_info(true); }
MeasureInfo random_measure() { return baseline_info(false); }

}  // namespace assay::inspection
