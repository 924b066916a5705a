#pragma once

// Exact quantiles of the neurons of one layer in one pass over records of which the greatest number is known.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace assay::coverage {

// Keeps, of each neuron, the activations from the lowest quantile requested upwards: 4 bytes for each record
// above it, times two. Throws Error{resources} when that exceeds the memory limit. O(1) a value, amortised.
class Quantiles {
 public:
  // `shares` in (0, 1]; at most `records` will be observed.
  Quantiles(std::span<const double> shares, std::size_t records) noexcept;

  // One record's activations of `layer`.
  void observe(std::span<const float> row, const std::string& layer);
  // Per neuron the ceil(share * n)-th smallest of the n activations observed.
  std::vector<float> at(double share);

 private:
  void compact(std::size_t neuron);

  std::size_t kept_, observed_ = 0;
  std::vector<std::vector<float>> greatest_;  // per neuron
  std::vector<float> floor_;                  // no smaller value matters any more
};

}  // namespace assay::coverage
