#include "assay/coverage/learning/quantiles.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "assay/support/memory.h"

namespace assay::coverage {
namespace {

// Which of `n` sorted values, counted from 1. 0.07 * 100 is a little more than 7 in float64.
std::size_t rank_of(double share, std::size_t n) {
  const double rank = std::ceil(share * n - 1e-9);
  return std::clamp<std::size_t>(static_cast<std::size_t>(std::max(rank, 1.0)), 1, n);
}

}  // namespace

Quantiles::Quantiles(std::span<const double> shares, std::size_t records) noexcept
    : kept_(records == 0 ? 0 : records - rank_of(*std::ranges::min_element(shares), records) + 1) {}

void Quantiles::observe(std::span<const float> row, const std::string& layer) {
  if (observed_++ == 0) {
    require_memory(2 * sizeof(float) * kept_ * row.size(),
                   fmt::format("the quantiles of the {} neurons of layer '{}'", row.size(), layer));
    greatest_.resize(row.size());
    floor_.assign(row.size(), -std::numeric_limits<float>::infinity());
  }
  for (std::size_t n = 0; n < row.size(); ++n) {
    if (row[n] <= floor_[n]) continue;
    greatest_[n].push_back(row[n]);
    if (greatest_[n].size() >= 2 * kept_) compact(n);
  }
}

void Quantiles::compact(std::size_t neuron) {
  std::vector<float>& values = greatest_[neuron];
  const auto last = values.begin() + (kept_ - 1);
  std::ranges::nth_element(values, last, std::greater<>());
  floor_[neuron] = *last;
  values.resize(kept_);
}

std::vector<float> Quantiles::at(double share) {
  const std::size_t from_above = observed_ - rank_of(share, observed_);
  std::vector<float> result;
  for (std::size_t n = 0; n < greatest_.size(); ++n) {
    std::vector<float>& values = greatest_[n];
    const auto wanted = values.begin() + from_above;
    std::ranges::nth_element(values, wanted, std::greater<>());
    result.push_back(*wanted);
  }
  return result;
}

}  // namespace assay::coverage
