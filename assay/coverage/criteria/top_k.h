#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include <assay/session.h>

namespace assay::coverage {

// Positions of the k greatest values of a row (the least with `least`), greatest first, ties to the lowest
// position; all positions where there are no more than k. REQUIRES: finite values. O(values * k).
class TopK {
 public:
  using Positions = std::span<const std::uint32_t>;

  explicit TopK(std::size_t k, bool least = false) : k_(k), least_(least) {}

  // Calls visit(row, its positions) for all rows in their order.
  void each(const Activations& activations, const std::function<void(std::size_t, Positions)>& visit);
  // Of a single row, valid until the next call.
  Positions of(std::span<const float> values);

 private:
  // Of up to `lanes` rows side by side.
  void choose(const float* values, std::size_t rows, std::size_t columns);

  std::size_t k_;
  bool least_;
  std::vector<float> turned_, greatest_;           // [neurons of a block, lanes], [k, lanes]
  std::vector<std::uint32_t> positions_, chosen_;  // [k, lanes], [lanes, k]
};

}  // namespace assay::coverage
