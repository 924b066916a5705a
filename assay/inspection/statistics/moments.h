#pragma once

// Measures that follow from sums over the rows of a pair: n, y, y^2, x, x^2, x y, and x^2 y where it is
// wanted. All pairs of a block together are a matrix product in float64.

#include <cstdint>
#include <span>
#include <vector>

#include "assay/inspection/statistics/pairwise.h"

namespace assay::inspection {

// Sums over the rows of a pair.
struct PairSums {
  double n = 0, y = 0, yy = 0, x = 0, xx = 0, xy = 0, xxy = 0;
};

class MomentState : public PairwiseState {
 protected:
  // `squares`: x^2 y is wanted.
  MomentState(const MeasureSetup& setup, std::span<const BehaviourKind> kinds, double tolerance,
              bool squares = false);

  // Override to sum functions of activations and behaviours instead of them. Behaviours that are NaN are left
  // out. transform_units(), of some rows, is called from several threads at once.
  virtual void transform_units(const float* in, std::size_t rows, double* out) const;
  virtual double transform_behaviour(std::size_t hypothesis, float value) const;
  // Everything that must be equal in states that merge; kept with the sums.
  virtual std::vector<double> calibration() const { return {}; }
  virtual void set_calibration(const std::vector<double>& values);

  PairSums sums(std::size_t unit, std::size_t hypothesis) const;

 private:
  void add(const Block& block) final;
  void add_panel(const Block& block, std::size_t begin, std::size_t rows);
  void merge_sums(const MeasureState& other) final;
  nlohmann::json save_sums() const final;
  void load_sums(const nlohmann::json& state) final;

  bool squares_;
  std::vector<double> n_, y_, yy_;         // [hypotheses]
  std::vector<double> x_, xx_, xy_, xxy_;  // [hypotheses, units]
};

// Whether a sum of squared deviations is only rounding.
bool is_constant(double squares, double n, double mean);

// Squared deviations and products of deviations from the means.
struct Deviations {
  double xx, yy, xy;
};
Deviations deviations(const PairSums& sums);

}  // namespace assay::inspection
