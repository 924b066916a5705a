#pragma once

// Convolutions in blocks of 2 x 2 results with fewer products than their definition has: both sides of the
// product are sums of neighbours, written by small matrices (Lavin, Gray, Fast Algorithms for Convolutional
// Neural Networks, CVPR 2016: F(2x2, 3x3) takes 16 products for 4 results instead of 36). Longer kernels, and
// those in steps of two, are pieces of three, two and one taps: the products of all pieces add up before
// results are made of them, so that 5 x 5 takes 49 instead of 100. All points are 0, 1, -1 or infinity, which
// keeps results as exact as those of the plain sum.

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "assay/engine/lanes/kernels.h"

namespace assay::lanes {

// The window of a convolution along an axis; `zeros` precede the operand.
struct WindowAxis {
  std::int64_t size = 0, size_out = 0, kernel = 0, stride = 1, zeros = 0;
};

// Taps of a kernel one after the other, the axis's stride apart.
struct Piece {
  std::int64_t first = 0, taps = 0;
};
// As many threes as leave no single tap, if that can be.
std::vector<Piece> pieces_of(const WindowAxis& axis);

// [units] from [channels] pictures.
struct WinogradWindows {
  std::int64_t channels = 0, units = 0;
  std::array<WindowAxis, 2> axes;  // rows, columns

  std::int64_t blocks() const { return ((axes[0].size_out + 1) / 2) * ((axes[1].size_out + 1) / 2); }
  std::int64_t elements_in() const { return channels * axes[0].size * axes[1].size; }
  std::int64_t elements_out() const { return units * axes[0].size_out * axes[1].size_out; }
  // Cost in products, and whether it is less than that of the plain loop.
  double products() const;
  bool pays() const;
};

// Taps of a piece along an axis, and the weights of its points: sums of them.
using Taps = std::array<double, 3>;
std::array<double, 4> sums_of_taps(const Taps& g, int taps);

// The convolution, or its gradient with respect to the operand: the same sums and products the other way.
enum class Way { forward, back };

class Winograd {
 public:
  Winograd(const WinogradWindows& windows, Way way);

  // [units][channels][rows][columns]
  void set(std::span<const float> weights);

  // As `apply` of the map that it stands for, which is called for records with results that are not finite:
  // there infinities would spoil their neighbours. Each record's result does not depend on its neighbours.
  // `bias` and `finish` are of the way forward. `scratch`: scratch() floats.
  void run(const float* operand, const float* bias, Finish finish, bool add, float* scratch,
           const std::function<void(float* result)>& direct, float* result) const;
  std::int64_t scratch() const;

 private:
  static constexpr std::size_t points = 16;  // that results are made of

  // So many blocks that are computed at once.
  struct Strip {
    Strip(const WinogradWindows& windows, Way way, std::int64_t count);
    std::int64_t count = 0;
    std::vector<PieceOfWindows> pieces;
    // On the operand's side: floats from the start to each point, and how many vectors a block has there.
    // None: nothing has products there.
    std::array<std::int64_t, points> begins{}, vectors{};
    std::array<const LinearMap*, points> map{};
    std::vector<std::unique_ptr<const LinearMap>> maps;
    std::int64_t operand_floats = 0, result_step = 0;
  };

  std::int64_t made() const {
    return way_ == Way::forward ? windows_.elements_out() : windows_.elements_in();
  }
  void run(const float* operand, const float* bias, Finish finish, float* scratch, float* finite,
           float* result) const;
  void multiply(const Strip& strip, const float* from, float* to) const;

  WinogradWindows windows_;
  Way way_;
  Strip most_, last_;
  std::array<std::vector<float>, points> weights_;  // packed
};

}  // namespace assay::lanes
