#pragma once

// Arrays of drawn numbers.

#include <algorithm>

#include <assay/array_math.h>
#include <assay/extend/random.h>

namespace assay::array {

inline Rng& drawn_from() {
  static Rng rng(1);
  return rng;
}
inline void manual_seed(std::uint64_t seed) { drawn_from() = Rng(seed); }

template <typename Draw>
Array drawn(Shape shape, DType type, const Draw& draw) {
  Array numbers = Array::uninitialised(DType::float64, std::move(shape));
  std::generate_n(numbers.elements<double>(), numbers.count(), draw);
  return numbers.to(type);
}

// Uniform in [0, 1), standard normal, and whole numbers from low to below high.
inline Array rand(Shape shape, DType type = DType::float32) {
  return drawn(std::move(shape), type, [] { return drawn_from().uniform(); });
}
inline Array randn(Shape shape, DType type = DType::float32) {
  return drawn(std::move(shape), type, [] { return drawn_from().normal(); });
}
inline Array randint(std::int64_t low, std::int64_t high, Shape shape, DType type = DType::int64) {
  return drawn(std::move(shape), type, [=] {
    return static_cast<double>(
        low + static_cast<std::int64_t>(drawn_from().below(static_cast<std::uint64_t>(high - low))));
  });
}
inline Array rand_like(const Array& like) { return rand(like.shape(), like.dtype()); }
inline Array randn_like(const Array& like) { return randn(like.shape(), like.dtype()); }

}  // namespace assay::array
