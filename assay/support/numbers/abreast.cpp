#include "assay/support/numbers/abreast.h"

#include <algorithm>
#include <limits>

#include "assay/support/numbers/vectorised.h"

namespace assay {
namespace {

constexpr std::size_t abreast = 32;

ASSAY_VECTORISED double sum_of_all(const float* numbers, std::size_t count) {
  double sums[abreast] = {}, all = 0;
  std::size_t begin = 0;
  for (; begin + abreast <= count; begin += abreast) {
    for (std::size_t i = 0; i < abreast; ++i) sums[i] += numbers[begin + i];
  }
  for (std::size_t i = 0; begin + i < count; ++i) sums[i] += numbers[begin + i];
  for (const double sum : sums) all += sum;
  return all;
}

ASSAY_VECTORISED double squares_of_all(const float* numbers, std::size_t count, double about) {
  double sums[abreast] = {}, all = 0;
  std::size_t begin = 0;
  for (; begin + abreast <= count; begin += abreast) {
    for (std::size_t i = 0; i < abreast; ++i) {
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
  float least[abreast], greatest[abreast];
  std::fill_n(least, abreast, std::numeric_limits<float>::infinity());
  std::fill_n(greatest, abreast, -std::numeric_limits<float>::infinity());
  std::size_t i = 0;
  for (; i + abreast <= count; i += abreast) {
    for (std::size_t s = 0; s < abreast; ++s) {
      least[s] = numbers[i + s] < least[s] ? numbers[i + s] : least[s];
      greatest[s] = numbers[i + s] > greatest[s] ? numbers[i + s] : greatest[s];
    }
  }
  for (; i < count; ++i) {
    least[0] = std::min(least[0], numbers[i]);
    greatest[0] = std::max(greatest[0], numbers[i]);
  }
  return {*std::min_element(least, least + abreast), *std::max_element(greatest, greatest + abreast)};
}

}  // namespace

double sum_abreast(std::span<const float> numbers) { return sum_of_all(numbers.data(), numbers.size()); }

double squares_abreast(std::span<const float> numbers, double about) {
  return squares_of_all(numbers.data(), numbers.size(), about);
}

Extremes extremes(std::span<const float> numbers) { return extremes_of_all(numbers.data(), numbers.size()); }

}  // namespace assay
