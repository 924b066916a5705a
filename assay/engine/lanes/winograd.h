#pragma once

// Convolutions of 3 x 3 with 16 products for 4 results in the place of 36: both sides of the product are sums
// of neighbours, written by small matrices (Lavin, Gray, Fast Algorithms for Convolutional Neural Networks,
// CVPR 2016, F(2x2, 3x3)).

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "assay/engine/lanes/kernels.h"

namespace assay::lanes {

// [units] from [channels] pictures, one step at a time; `top` and `left` zeros stand in front of the operand.
struct WindowsOfThree {
  std::int64_t channels = 0, units = 0;
  std::int64_t rows = 0, columns = 0, rows_out = 0, columns_out = 0;
  std::int64_t top = 0, left = 0;

  bool turned = false;  // weights from the last to the first

  std::int64_t blocks() const { return ((rows_out + 1) / 2) * ((columns_out + 1) / 2); }
  // What they cost, counted in products, and whether that is less than what it is without.
  double products() const;
  bool pays() const;
  // Those of the gradient.
  WindowsOfThree turned_round() const;
};

class Winograd {
 public:
  explicit Winograd(const WindowsOfThree& windows);

  // [units][channels][9]
  void set(std::span<const float> weights);

  // As `apply` of the map that it stands for, which is called for records with results that are not finite:
  // there infinities would spoil their neighbours. Each record's result is the same whatever lies beside it.
  // `scratch`: scratch() floats.
  void run(const float* operand, const float* bias, Finish finish, bool add, float* scratch,
           const std::function<void(float* result)>& direct, float* result) const;
  std::int64_t scratch() const;

 private:
  std::int64_t elements_out() const { return windows_.units * windows_.rows_out * windows_.columns_out; }
  void run(const float* operand, const float* bias, Finish finish, float* scratch, float* finite,
           float* result) const;

  WindowsOfThree windows_;
  std::int64_t together_;           // blocks of 2 x 2 results that are computed at once
  LinearMap map_, last_;            // of so many blocks, and of those that are left
  std::vector<float> weights_[16];  // packed, by point
};

}  // namespace assay::lanes
