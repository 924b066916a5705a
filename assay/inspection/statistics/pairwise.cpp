#include "assay/inspection/statistics/pairwise.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include <assay/error.h>
#include "assay/support/numbers/distributions.h"

namespace assay::inspection {
namespace {

// No score converges on less, nor on fewer rows where the hypothesis is not 0 (and, where it is yes or no,
// where it is): the errors of scores take both for many.
constexpr std::uint64_t least_rows = 100, least_rows_of_a_kind = 30;
// A unit or hypothesis that has not varied for so many blocks is taken to be constant.
constexpr std::uint64_t constant_blocks = 5;

}  // namespace

PairwiseState::PairwiseState(const MeasureSetup& setup, std::span<const BehaviourKind> kinds,
                             double tolerance)
    : units_(setup.units),
      z_(normal_quantile((1 + setup.confidence) / 2)),
      tolerance_(setup.tolerance > 0 ? setup.tolerance : tolerance) {
  for (const Hypothesis& hypothesis : setup.hypotheses) {
    kinds_.push_back(hypothesis.kind);
    applicable_.push_back(std::ranges::find(kinds, hypothesis.kind) != kinds.end() ? 1 : 0);
  }
  open_ = applicable_;
  held_.assign(open_.size(), 0);
  not_held_.assign(open_.size(), 0);
  list_open();
}

void PairwiseState::list_open() {
  open_list_.clear();
  for (std::size_t h = 0; h < open_.size(); ++h) {
    if (open_[h] != 0) open_list_.push_back(h);
  }
}

void PairwiseState::observe(const Block& block) {
  if (block.rows == 0 || open_list_.empty()) return;
  ++blocks_;
  for (std::size_t r = 0; r < block.rows; ++r) {
    for (const std::size_t h : open_list_) {
      const float value = block.behaviours[r * open_.size() + h];
      held_[h] += value < 0 || value > 0;
      not_held_[h] += value == 0;
    }
  }
  add(block);
}

bool PairwiseState::has_enough_rows(std::size_t hypothesis) const {
  return held_[hypothesis] >= least_rows_of_a_kind &&
         (kinds_[hypothesis] != BehaviourKind::binary || not_held_[hypothesis] >= least_rows_of_a_kind);
}

Score PairwiseState::judged(std::size_t unit, std::size_t hypothesis) const {
  if (applicable_[hypothesis] == 0) {
    Score none;
    none.status = "not_applicable";
    none.converged = true;
    return none;
  }
  Score score = this->score(unit, hypothesis);
  if (score.status.empty())
    score.converged = score.converged && score.rows >= least_rows && has_enough_rows(hypothesis);
  else
    score.converged = score.status != "too_few_rows" && blocks_ >= constant_blocks;
  return score;
}

Scores PairwiseState::result() const {
  Scores scores;
  scores.units.reserve(units_ * hypotheses());
  for (std::size_t u = 0; u < units_; ++u) {
    for (std::size_t h = 0; h < hypotheses(); ++h) scores.units.push_back(judged(u, h));
  }
  return scores;
}

std::vector<char> PairwiseState::settle() {
  for (const std::size_t h : open_list_) {
    std::size_t unit = 0;
    while (unit < units_ && judged(unit, h).converged) ++unit;
    open_[h] = unit < units_ ? 1 : 0;
  }
  list_open();
  return open_;
}

void PairwiseState::freeze(std::span<const char> open) {
  for (std::size_t h = 0; h < open_.size(); ++h) {
    if (open[h] == 0) open_[h] = 0;
  }
  list_open();
}

void PairwiseState::merge(const MeasureState& other) {
  const auto& theirs = same_state(*this, other);
  blocks_ += theirs.blocks_;
  for (std::size_t h = 0; h < open_.size(); ++h) {
    held_[h] += theirs.held_[h];
    not_held_[h] += theirs.not_held_[h];
  }
  merge_sums(other);
}

nlohmann::json PairwiseState::save() const {
  return {{"units", units_},       {"open", std::string(open_.begin(), open_.end())},
          {"blocks", blocks_},     {"held", held_},
          {"not_held", not_held_}, {"sums", save_sums()}};
}

void PairwiseState::load(const nlohmann::json& state) {
  const auto open = state.at("open").get<std::string>();
  auto held = state.at("held").get<std::vector<std::uint64_t>>(),
       not_held = state.at("not_held").get<std::vector<std::uint64_t>>();
  if (open.size() != open_.size() || held.size() != open_.size() || not_held.size() != open_.size() ||
      state.at("units").get<std::size_t>() != units_)
    throw std::runtime_error("the state is of other units or hypotheses");
  load_sums(state.at("sums"));
  open_.assign(open.begin(), open.end());
  blocks_ = state.at("blocks").get<std::uint64_t>();
  held_ = std::move(held);
  not_held_ = std::move(not_held);
  list_open();
}

void require_same_calibration(bool same) {
  if (!same) {
    fail(Fault::mismatch,
         "states of a measure were calibrated with different records and cannot be merged: run all shards "
         "with the same data, seed and options");
  }
}

}  // namespace assay::inspection
