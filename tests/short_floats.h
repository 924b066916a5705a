#pragma once

// Numbers of 16 bits, looked up among all that there are.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include <assay/array.h>

namespace assay::test {

class ShortFloats {
 public:
  ShortFloats(int exponent_bits, int fraction_bits) {
    const std::int64_t bias = (std::int64_t{1} << (exponent_bits - 1)) - 1,
                       leading = std::int64_t{1} << fraction_bits,
                       infinite = ((std::int64_t{1} << exponent_bits) - 1) * leading;
    for (std::int64_t bits = 0; bits <= infinite; ++bits) {  // the last would be the next number
      const std::int64_t exponent = bits / leading, fraction = bits % leading;
      values_.push_back(
          std::ldexp(exponent == 0 ? fraction : leading + fraction,
                     static_cast<int>(std::max<std::int64_t>(exponent, 1) - bias) - fraction_bits));
    }
  }

  // The nearest, of two that are as near the even one.
  float nearest(float value) const {
    if (!std::isfinite(value)) return value;
    const double size = std::abs(double{value});
    auto bits = static_cast<std::size_t>(std::ranges::lower_bound(values_, size) - values_.begin());
    bits = std::min(bits, values_.size() - 1);
    if (bits > 0) {
      const double above = values_[bits] - size, below = size - values_[bits - 1];
      if (below < above || (below == above && bits % 2 == 1)) --bits;
    }
    const bool infinite = bits + 1 == values_.size();
    return std::copysign(
        infinite ? std::numeric_limits<float>::infinity() : static_cast<float>(values_[bits]), value);
  }
  Array nearest(const Array& array) const {
    std::vector<float> values;
    for (const float value : array.as<float>()) values.push_back(nearest(value));
    return Array::of<float>(array.shape(), values);
  }

 private:
  std::vector<double> values_;  // by their bits
};

inline const ShortFloats float16(5, 10), bfloat16(8, 7);

}  // namespace assay::test
