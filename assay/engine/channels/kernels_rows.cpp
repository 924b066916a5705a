// Loops over channels that lie side by side.

#include "assay/engine/channels/kernels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "assay/engine/channels/kernels_rows.cpp"

#include "assay/array/targets.h"

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cmath>

#include "assay/array/vector_functions.h"
#include "assay/engine/channels/partial_vectors.h"

HWY_BEFORE_NAMESPACE();
namespace assay::channels::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
namespace vf = array::vectors::HWY_NAMESPACE;

using Size = std::int64_t;

// Vectors of channels through the windows of so many rows: each weight is read once for all of them, and a
// sum waits for none of the others. `live`: channels of the last vector.
template <int rows, int vectors>
HWY_INLINE void convolve_vectors(const WindowMap& map, Size row, Size channel, std::size_t live,
                                 const float* operand, const float* weights, const float* bias,
                                 float* result) {
  const Lanes d;
  const Size width = lanes();
  const auto read = [&](const float* at, int v) HWY_ATTR {
    return v + 1 < vectors ? hn::LoadU(d, at + v * width) : load_first(at + v * width, live);
  };
  Vector sums[rows][vectors];
  const float* from[rows];
#pragma GCC unroll 4
  for (int r = 0; r < rows; ++r) {
    from[r] = operand + map.rows[row + r] + channel;
#pragma GCC unroll 2
    for (int v = 0; v < vectors; ++v) sums[r][v] = read(bias + channel, v);
  }
  weights += channel;
  for (const std::int32_t tap : map.taps) {
#pragma GCC unroll 2
    for (int v = 0; v < vectors; ++v) {
      const Vector weight = read(weights, v);
#pragma GCC unroll 4
      for (int r = 0; r < rows; ++r) sums[r][v] = hn::MulAdd(weight, read(from[r] + tap, v), sums[r][v]);
    }
    weights += map.channels;
  }
#pragma GCC unroll 4
  for (int r = 0; r < rows; ++r) {
    float* const to = result + (row + r) * map.channels + channel;
#pragma GCC unroll 2
    for (int v = 0; v < vectors; ++v) {
      if (v + 1 < vectors)
        hn::StoreU(sums[r][v], d, to + v * width);
      else
        store_first(sums[r][v], to + v * width, live);
    }
  }
}

template <int rows>
void convolve_rows(const WindowMap& map, Size row, const float* operand, const float* weights,
                   const float* bias, float* result) {
  const Size width = lanes();
  const std::size_t whole = width;
  Size c = 0;
  for (; c + 2 * width <= map.channels; c += 2 * width)
    convolve_vectors<rows, 2>(map, row, c, whole, operand, weights, bias, result);
  for (; c + width <= map.channels; c += width)
    convolve_vectors<rows, 1>(map, row, c, whole, operand, weights, bias, result);
  if (c < map.channels)
    convolve_vectors<rows, 1>(map, row, c, static_cast<std::size_t>(map.channels - c), operand, weights, bias,
                              result);
}

// The greater of both; a NaN wins.
HWY_INLINE Vector greater(Vector so_far, Vector x) {
  return hn::IfThenElse(hn::Or(hn::Gt(x, so_far), hn::IsNaN(x)), x, so_far);
}

HWY_INLINE Vector pooled(const PoolMap& map, std::size_t begin, std::size_t end, Size channel,
                         std::size_t live, const float* operand) {
  const float* const at = operand + channel;
  Vector value = load_first(at + map.offsets[begin], live);
  for (std::size_t i = begin + 1; i < end; ++i) {
    const Vector x = load_first(at + map.offsets[i], live);
    value = map.kind == Pool::sum ? hn::Add(value, x) : greater(value, x);
  }
  return value;
}

template <typename Function>
HWY_INLINE void combine(const PairMap& map, const float* left, const float* right, float* result,
                        const Function& function) {
  const Lanes d;
  for (Size r = 0; r < map.outer;
       ++r, left += map.left_outer, right += map.right_outer, result += map.inner) {
    const Vector one_left = hn::Set(d, *left), one_right = hn::Set(d, *right);
    each_vector(
        map.inner,
        [&](Size i) HWY_ATTR {
          const Vector a = map.left_inner != 0 ? hn::LoadU(d, left + i) : one_left,
                       b = map.right_inner != 0 ? hn::LoadU(d, right + i) : one_right;
          hn::StoreU(function(a, b), d, result + i);
        },
        [&](Size i, std::size_t live) HWY_ATTR {
          const Vector a = map.left_inner != 0 ? load_first(left + i, live) : one_left,
                       b = map.right_inner != 0 ? load_first(right + i, live) : one_right;
          store_first(function(a, b), result + i, live);
        });
  }
}

// Sums of the lanes in a fixed order.
HWY_INLINE float total(Vector sums) {
  HWY_ALIGN float parts[16] = {};
  hn::Store(sums, Lanes(), parts);
  for (int half = 8; half > 0; half /= 2) {
    for (int i = 0; i < half; ++i) parts[i] += parts[i + half];
  }
  return parts[0];
}

// The sum of function(x) over a row.
template <typename Function>
HWY_INLINE float sum_of(Size count, const float* row, const Function& function) {
  const Lanes d;
  Vector sums = hn::Zero(d);
  each_vector(
      count, [&](Size i) HWY_ATTR { sums = hn::Add(sums, function(hn::LoadU(d, row + i))); },
      [&](Size i, std::size_t live) HWY_ATTR {
        const Vector x = function(load_first(row + i, live));
        sums = hn::Add(sums, hn::IfThenElseZero(hn::FirstN(d, live), x));
      });
  return total(sums);
}

float greatest_of(Size count, const float* row) {
  float greatest = row[0];
  const Lanes d;
  Vector best = hn::Set(d, row[0]);
  each_vector(
      count, [&](Size i) HWY_ATTR { best = greater(best, hn::LoadU(d, row + i)); },
      [&](Size i, std::size_t live) HWY_ATTR {
        best = greater(best, hn::IfThenElse(hn::FirstN(d, live), load_first(row + i, live), best));
      });
  HWY_ALIGN float parts[16];
  hn::Store(best, d, parts);
  for (Size i = 0; i < lanes(); ++i)
    greatest = parts[i] > greatest || std::isnan(parts[i]) ? parts[i] : greatest;
  return greatest;
}

template <typename Function>
HWY_INLINE void map_row(Size count, const float* from, float* to, const Function& function) {
  const Lanes d;
  each_vector(
      count, [&](Size i) HWY_ATTR { hn::StoreU(function(hn::LoadU(d, from + i)), d, to + i); },
      [&](Size i, std::size_t live)
          HWY_ATTR { store_first(function(load_first(from + i, live)), to + i, live); });
}

template <typename Function>
HWY_INLINE void map_pair(Size count, const float* left, const float* right, float* to,
                         const Function& function) {
  const Lanes d;
  each_vector(
      count,
      [&](Size i)
          HWY_ATTR { hn::StoreU(function(hn::LoadU(d, left + i), hn::LoadU(d, right + i)), d, to + i); },
      [&](Size i, std::size_t live) HWY_ATTR {
        store_first(function(load_first(left + i, live), load_first(right + i, live)), to + i, live);
      });
}

// The sum of function(x, y) over a pair of rows; function(x, 0) is 0.
template <typename Function>
HWY_INLINE float sum_of_pair(Size count, const float* left, const float* right, const Function& function) {
  const Lanes d;
  Vector sums = hn::Zero(d);
  each_vector(
      count,
      [&](Size i)
          HWY_ATTR { sums = hn::Add(sums, function(hn::LoadU(d, left + i), hn::LoadU(d, right + i))); },
      [&](Size i, std::size_t live) HWY_ATTR {
        sums = hn::Add(sums, function(load_first(left + i, live), load_first(right + i, live)));
      });
  return total(sums);
}

void softmax_row(Size count, bool logarithm, const float* from, float* to) {
  const Lanes d;
  const Vector greatest = hn::Set(d, greatest_of(count, from));
  if (logarithm) {
    const float sum =
        sum_of(count, from, [&](Vector x) HWY_ATTR { return vf::exponential(hn::Sub(x, greatest)); });
    const Vector shift = hn::Set(d, std::log(sum));
    return map_row(count, from, to, [&](Vector x) HWY_ATTR { return hn::Sub(hn::Sub(x, greatest), shift); });
  }
  map_row(count, from, to, [&](Vector x) HWY_ATTR { return vf::exponential(hn::Sub(x, greatest)); });
  const float sum = sum_of(count, to, [](Vector x) HWY_ATTR { return x; });
  const Vector share = hn::Set(d, 1 / sum);
  map_row(count, to, to, [&](Vector x) HWY_ATTR { return hn::Mul(x, share); });
}

void normalise_row(Size count, float epsilon, const float* from, const float* scale, const float* shift,
                   float* to) {
  const Lanes d;
  const float mean = sum_of(count, from, [](Vector x) HWY_ATTR { return x; }) / static_cast<float>(count);
  const Vector middle = hn::Set(d, mean);
  const float squares = sum_of(count, from, [&](Vector x) HWY_ATTR {
    const Vector off = hn::Sub(x, middle);
    return hn::Mul(off, off);
  });
  const Vector factor = hn::Set(d, 1 / std::sqrt(squares / static_cast<float>(count) + epsilon));
  each_vector(
      count,
      [&](Size i) HWY_ATTR {
        const Vector x = hn::Mul(hn::Sub(hn::LoadU(d, from + i), middle), factor);
        hn::StoreU(hn::MulAdd(x, hn::LoadU(d, scale + i), hn::LoadU(d, shift + i)), d, to + i);
      },
      [&](Size i, std::size_t live) HWY_ATTR {
        const Vector x = hn::Mul(hn::Sub(load_first(from + i, live), middle), factor);
        store_first(hn::MulAdd(x, load_first(scale + i, live), load_first(shift + i, live)), to + i, live);
      });
}

}  // namespace

void convolve_entry(const WindowMap& map, Size rows, const float* operand, const float* weights,
                    const float* bias, float* result) {
  Size row = 0;
  for (; row + 4 <= rows; row += 4) convolve_rows<4>(map, row, operand, weights, bias, result);
  for (; row < rows; ++row) convolve_rows<1>(map, row, operand, weights, bias, result);
}

void pool_entry(const PoolMap& map, Size rows, const float* operand, float* result) {
  const Lanes d;
  for (Size r = 0; r < rows; ++r) {
    const std::size_t at = r;
    const std::size_t begin = map.begins[at], end = map.begins[at + 1];
    const Vector factor = hn::Set(d, map.kind == Pool::sum ? map.factors[at] : 1.0F);
    const auto part = [&](Size c, std::size_t live) HWY_ATTR {
      const Vector value = hn::Mul(pooled(map, begin, end, c, live, operand), factor);
      store_first(value, result + r * map.channels + c, live);
    };
    each_vector(
        map.channels, [&](Size c) HWY_ATTR { part(c, static_cast<std::size_t>(lanes())); }, part);
  }
}

void pair_entry(const PairMap& map, const float* left, const float* right, float* result) {
  const auto with = [&](const auto& function) HWY_ATTR { combine(map, left, right, result, function); };
  using V = Vector;
  switch (map.kind) {
    case lanes::Binary::add:
      return with([](V a, V b) HWY_ATTR { return hn::Add(a, b); });
    case lanes::Binary::subtract:
      return with([](V a, V b) HWY_ATTR { return hn::Sub(a, b); });
    case lanes::Binary::multiply:
      return with([](V a, V b) HWY_ATTR { return hn::Mul(a, b); });
    case lanes::Binary::divide:
      return with([](V a, V b) HWY_ATTR { return hn::Div(a, b); });
    case lanes::Binary::maximum:
      return with([](V a, V b) HWY_ATTR { return greater(a, b); });
    case lanes::Binary::minimum:
      return with([](V a, V b) HWY_ATTR { return hn::Neg(greater(hn::Neg(a), hn::Neg(b))); });
  }
}

void softmax_entry(Size rows, Size count, bool logarithm, const float* operand, float* result) {
  for (Size r = 0; r < rows; ++r) softmax_row(count, logarithm, operand + r * count, result + r * count);
}

void sums_entry(Size rows, Size count, float factor, const float* operand, float* result) {
  for (Size r = 0; r < rows; ++r)
    result[r] = factor * sum_of(count, operand + r * count, [](Vector x) HWY_ATTR { return x; });
}

void normalise_entry(Size rows, Size count, float epsilon, const float* operand, const float* scale,
                     const float* shift, float* result) {
  for (Size r = 0; r < rows; ++r)
    normalise_row(count, epsilon, operand + r * count, scale, shift, result + r * count);
}

// Of one vector of channels of one window: what reaches the places that it covers.
HWY_INLINE void spread_vector(const PoolMap& map, std::size_t row, Size channel, std::size_t live,
                              const float* operand, Vector result, Vector gradient, float* to) {
  const Lanes d;
  const std::size_t begin = map.begins[row], end = map.begins[row + 1];
  if (map.kind == Pool::sum) gradient = hn::Mul(gradient, hn::Set(d, map.factors[row]));
  for (std::size_t i = begin; i < end; ++i) {
    const Size at = map.offsets[i] + channel;
    Vector part = gradient;
    if (map.kind == Pool::greatest) {
      const auto takes = hn::Eq(load_first(operand + at, live), result);
      part = hn::IfThenElseZero(takes, gradient);
      gradient = hn::IfThenZeroElse(takes, gradient);
    }
    store_first(hn::Add(load_first(to + at, live), part), to + at, live);
  }
}
void pool_gradients_entry(const PoolMap& map, Size rows, const float* operand, const float* result,
                          const float* gradient, float* to) {
  for (Size r = 0; r < rows; ++r) {
    const auto part = [&](Size c, std::size_t live) HWY_ATTR {
      const Size at = r * map.channels + c;
      const Vector made = map.kind == Pool::sum ? hn::Zero(Lanes()) : load_first(result + at, live);
      spread_vector(map, static_cast<std::size_t>(r), c, live, operand, made, load_first(gradient + at, live),
                    to);
    };
    each_vector(
        map.channels, [&](Size c) HWY_ATTR { part(c, static_cast<std::size_t>(lanes())); }, part);
  }
}

void softmax_gradients_entry(Size rows, Size count, bool logarithm, const float* result,
                             const float* gradient, float* to) {
  const Lanes d;
  for (Size r = 0; r < rows; ++r, result += count, gradient += count, to += count) {
    if (logarithm) {
      const Vector sum = hn::Set(d, sum_of(count, gradient, [](Vector g) HWY_ATTR { return g; }));
      map_pair(count, result, gradient, to,
               [&](Vector y, Vector g) HWY_ATTR { return hn::NegMulAdd(vf::exponential(y), sum, g); });
    } else {
      map_pair(count, result, gradient, to, [](Vector y, Vector g) HWY_ATTR { return hn::Mul(y, g); });
      const Vector sum = hn::Set(d, sum_of(count, to, [](Vector g) HWY_ATTR { return g; }));
      map_pair(count, result, gradient, to,
               [&](Vector y, Vector g) HWY_ATTR { return hn::Mul(y, hn::Sub(g, sum)); });
    }
  }
}

// With n the normalised operand and s the scaled gradient: (s - mean s - n mean(s n)) / deviation.
void normalise_gradients_entry(Size rows, Size count, float epsilon, const float* operand, const float* scale,
                               const float* gradient, float* to) {
  const Lanes d;
  const float share = 1 / static_cast<float>(count);
  for (Size r = 0; r < rows; ++r, operand += count, gradient += count, to += count) {
    const float mean = share * sum_of(count, operand, [](Vector x) HWY_ATTR { return x; });
    const Vector middle = hn::Set(d, mean);
    const float squares = sum_of(count, operand, [&](Vector x) HWY_ATTR {
      const Vector off = hn::Sub(x, middle);
      return hn::Mul(off, off);
    });
    const float factor = 1 / std::sqrt(share * squares + epsilon);
    const Vector by = hn::Set(d, factor);
    const auto normal = [&](Vector x) HWY_ATTR { return hn::Mul(hn::Sub(x, middle), by); };
    map_pair(count, scale, gradient, to, [](Vector s, Vector g) HWY_ATTR { return hn::Mul(s, g); });
    const float sum = share * sum_of(count, to, [](Vector s) HWY_ATTR { return s; });
    const float along = share * sum_of_pair(count, operand, to, [&](Vector x, Vector s) HWY_ATTR {
                          return hn::Mul(s, normal(x));
                        });
    const Vector mean_of = hn::Set(d, sum), along_of = hn::Set(d, along);
    map_pair(count, operand, to, to, [&](Vector x, Vector s) HWY_ATTR {
      return hn::Mul(by, hn::NegMulAdd(normal(x), along_of, hn::Sub(s, mean_of)));
    });
  }
}

}  // namespace assay::channels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::channels {

HWY_EXPORT(convolve_entry);
HWY_EXPORT(pool_entry);
HWY_EXPORT(pair_entry);
HWY_EXPORT(softmax_entry);
HWY_EXPORT(sums_entry);
HWY_EXPORT(normalise_entry);
HWY_EXPORT(pool_gradients_entry);
HWY_EXPORT(softmax_gradients_entry);
HWY_EXPORT(normalise_gradients_entry);

void convolve(const WindowMap& map, std::int64_t rows, const float* operand, const float* weights,
              const float* bias, float* result) {
  HWY_DYNAMIC_DISPATCH(convolve_entry)(map, rows, operand, weights, bias, result);
}

void sums(std::int64_t rows, std::int64_t count, float factor, const float* operand, float* result) {
  HWY_DYNAMIC_DISPATCH(sums_entry)(rows, count, factor, operand, result);
}

void pool(const PoolMap& map, std::int64_t rows, const float* operand, float* result) {
  HWY_DYNAMIC_DISPATCH(pool_entry)(map, rows, operand, result);
}

void pool_gradients(const PoolMap& map, std::int64_t rows, const float* operand, const float* result,
                    const float* gradient, float* gradient_in) {
  HWY_DYNAMIC_DISPATCH(pool_gradients_entry)(map, rows, operand, result, gradient, gradient_in);
}

void softmax_gradients(std::int64_t rows, std::int64_t count, bool logarithm, const float* result,
                       const float* gradient, float* gradient_in) {
  HWY_DYNAMIC_DISPATCH(softmax_gradients_entry)(rows, count, logarithm, result, gradient, gradient_in);
}

void normalise_gradients(std::int64_t rows, std::int64_t count, float epsilon, const float* operand,
                         const float* scale, const float* gradient, float* gradient_in) {
  HWY_DYNAMIC_DISPATCH(normalise_gradients_entry)
  (rows, count, epsilon, operand, scale, gradient, gradient_in);
}

void apply(const PairMap& map, const float* left, const float* right, float* result) {
  HWY_DYNAMIC_DISPATCH(pair_entry)(map, left, right, result);
}

void softmax(std::int64_t rows, std::int64_t count, bool logarithm, const float* operand, float* result) {
  HWY_DYNAMIC_DISPATCH(softmax_entry)(rows, count, logarithm, operand, result);
}

void normalise(std::int64_t rows, std::int64_t count, float epsilon, const float* operand, const float* scale,
               const float* shift, float* result) {
  HWY_DYNAMIC_DISPATCH(normalise_entry)(rows, count, epsilon, operand, scale, shift, result);
}

}  // namespace assay::channels
#endif
