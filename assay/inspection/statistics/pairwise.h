#pragma once

// Common parts of measures that score every pair of unit and hypothesis separately: which hypotheses they are
// defined for, when a pair has converged, and which hypotheses are frozen.

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

#include <assay/extend/measure.h>

namespace assay::inspection {

class PairwiseState : public MeasureState {
 public:
  void observe(const Block& block) final;
  Scores result() const final;
  std::vector<char> settle() final;
  void freeze(std::span<const char> open) final;
  void merge(const MeasureState& other) final;
  nlohmann::json save() const final;
  void load(const nlohmann::json& state) final;

 protected:
  // `tolerance`: the measure's own default.
  PairwiseState(const MeasureSetup& setup, std::span<const BehaviourKind> kinds, double tolerance);

  // Rows of the open hypotheses.
  virtual void add(const Block& block) = 0;
  // `converged`: the interval is narrow enough; the minimum of rows is seen to here. A status that is not
  // empty says why there is no proper value.
  virtual Score score(std::size_t unit, std::size_t hypothesis) const = 0;
  virtual void merge_sums(const MeasureState& other) = 0;
  virtual nlohmann::json save_sums() const = 0;
  virtual void load_sums(const nlohmann::json& state) = 0;

  std::size_t units() const { return units_; }
  std::size_t hypotheses() const { return open_.size(); }
  const std::vector<std::size_t>& open() const { return open_list_; }  // positions, ascending
  BehaviourKind kind(std::size_t hypothesis) const { return kinds_[hypothesis]; }
  double z() const { return z_; }  // of a two-sided normal interval
  bool narrow(double width) const { return width / 2 <= tolerance_; }

 private:
  Score judged(std::size_t unit, std::size_t hypothesis) const;
  bool has_enough_rows(std::size_t hypothesis) const;
  void list_open();

  std::size_t units_;
  std::vector<BehaviourKind> kinds_;     // [hypotheses]
  std::vector<char> applicable_, open_;  // [hypotheses]
  std::vector<std::size_t> open_list_;
  std::vector<std::uint64_t> held_, not_held_;  // [hypotheses] rows where it is not 0, and where it is
  std::uint64_t blocks_ = 0;
  double z_, tolerance_;
};

// The same kind of state, or a broken invariant.
template <typename State>
const State& same_state(const State& /*self*/, const MeasureState& other) {
  return dynamic_cast<const State&>(other);
}

// Throws Error{mismatch} where states that are to be merged were calibrated differently.
void require_same_calibration(bool same);

}  // namespace assay::inspection
