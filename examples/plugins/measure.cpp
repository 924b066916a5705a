// A custom measure: how often a unit is above zero exactly where a hypothesis holds.
#include <cmath>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include <assay/extend/measure.h>
#include <assay/extend/plugin.h>

namespace {

using namespace assay::inspection;

class Agreement final : public MeasureState {
 public:
  explicit Agreement(const MeasureSetup& setup)
      : units_(setup.units),
        hypotheses_(setup.hypotheses.size()),
        rows_(hypotheses_),
        agree_(units_ * hypotheses_) {}

  void observe(const Block& block) override {
    for (std::size_t r = 0; r < block.rows; ++r) {
      for (std::size_t h = 0; h < hypotheses_; ++h) {
        const float behaviour = block.behaviours[r * hypotheses_ + h];
        if (std::isnan(behaviour)) continue;
        ++rows_[h];
        for (std::size_t u = 0; u < units_; ++u)
          agree_[u * hypotheses_ + h] += (block.units[r * units_ + u] > 0) == (behaviour > 0.5F) ? 1 : 0;
      }
    }
  }
  Scores result() const override {
    Scores scores;
    for (std::size_t i = 0; i < agree_.size(); ++i) {
      Score score;
      score.rows = rows_[i % hypotheses_];
      if (score.rows == 0) score.status = "too_few_rows";
      score.value = static_cast<double>(agree_[i]) / static_cast<double>(score.rows);
      scores.units.push_back(score);
    }
    return scores;
  }
  // It wants all rows.
  std::vector<char> settle() override { return std::vector<char>(hypotheses_, 1); }

  void merge(const MeasureState& other) override {
    const auto& theirs = dynamic_cast<const Agreement&>(other);
    for (std::size_t h = 0; h < rows_.size(); ++h) rows_[h] += theirs.rows_[h];
    for (std::size_t i = 0; i < agree_.size(); ++i) agree_[i] += theirs.agree_[i];
  }
  nlohmann::json save() const override { return {rows_, agree_}; }
  void load(const nlohmann::json& state) override {
    const auto rows = state.at(0).get<std::vector<std::uint64_t>>(),
               agree = state.at(1).get<decltype(rows)>();
    if (rows.size() != rows_.size() || agree.size() != agree_.size())
      throw std::runtime_error("the state is of other units or hypotheses");
    rows_ = rows;
    agree_ = agree;
  }

 private:
  std::size_t units_, hypotheses_;
  std::vector<std::uint64_t> rows_, agree_;  // [hypotheses], [units, hypotheses]
};

void enter() {
  measures().add(
      {.name = "agreement",
       .summary = "how often a unit is above 0 exactly where the hypothesis holds",
       .definition = "rows with (u > 0) = (h = 1), of all rows where the hypothesis is not a don't-care",
       .limits = "an example",
       .paper = "an example",
       .options = {},
       .kinds = {BehaviourKind::binary},
       .neutral = 0.5,
       .make = [](const MeasureSetup& setup) -> std::unique_ptr<MeasureState> {
         return std::make_unique<Agreement>(setup);
       }});
}

}  // namespace

ASSAY_PLUGIN("agreement", enter)
