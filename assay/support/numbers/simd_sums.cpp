#include "assay/support/numbers/simd_sums.h"

#include <algorithm>
#include <limits>

#include "assay/support/numbers/vectorised.h"

namespace assay::inline support {
namespace {

constexpr std::size_t chains = 32;

ASSAY_VECTORISED double sum_of_all(const float* numbers, std::size_t count) {
  double sums[chains] = {}, all = 0;
  std::size_t begin = 0;
  for (; begin + chains <= count; begin += chains) {
    for (std::size_t i = 0; i < chains; ++i) sums[i] += numbers[begin + i];
  }
  for (std::size_t i = 0; begin + i < count; ++i) sums[i] += numbers[begin + i];
  for (const double sum : sums) all += sum;
  return all;
}

ASSAY_VECTORISED double squares_of_all(const float* numbers, std::size_t count, double about) {
  double sums[chains] = {}, all = 0;
  std::size_t begin = 0;
  for (; begin + chains <= count; begin += chains) {
    for (std::size_t i = 0; i < chains; ++i) {
      const double apart = numbers[begin + i] - about;
      sums[i] += apart * apart;
    }
  }
  for (std::size_t i = 0; begin + i < count; ++i)
    sums[i] += (numbers[begin + i] - about) * (numbers[begin + i] - about);
  for (const double sum : sums) all += sum;
  return all;
}

ASSAY_VECTORISED Extremes extremes_of_all(const float* numbers, std::size_t count) {
  float least[chains], greatest[chains];
  std::fill_n(least, chains, std::numeric_limits<float>::infinity());
  std::fill_n(greatest, chains, -std::numeric_limits<float>::infinity());
  std::size_t i = 0;
  for (; i + chains <= count; i += chains) {
    for (std::size_t s = 0; s < chains; ++s) {
      least[s] = numbers[i + s] < least[s] ? numbers[i + s] : least[s];
      greatest[s] = numbers[i + s] > greatest[s] ? numbers[i + s] : greatest[s];
    }
  }
  for (; i < count; ++i) {
    least[0] = std::min(least[0], numbers[i]);
    greatest[0] = std::max(greatest[0], numbers[i]);
  }
  return {*std::min_element(least, least + chains), *std::max_element(greatest, greatest + chains)};
}

}  // namespace

double simd_sum(std::span<const float> numbers) { return sum_of_all(numbers.data(), numbers.size()); }

double simd_squares(std::span<const float> numbers, double about) {
  return squares_of_all(numbers.data(), numbers.size(), about);
}

Extremes extremes(std::span<const float> numbers) { return extremes_of_all(numbers.data(), numbers.size()); }

}  // namespace assay::inline support
