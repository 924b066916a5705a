// Numbers over axes.

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>

#include "assay/array/loops.h"
#include "assay/array/tape.h"

namespace assay::array {
namespace {

// An array with the axes that are kept come first, those that are reduced after them.
struct Reduced {
  Array a;             // [kept..., reduced...], a view
  Shape kept, result;  // sizes; of the result
  std::int64_t outer = 1, inner = 1;

  Reduced(const Array& given, const Shape& axes, bool keep) {
    const std::vector<bool> chosen = chosen_axes(axes, given.rank());
    Shape order, last;
    for (std::size_t i = 0; i < chosen.size(); ++i) {
      const std::int64_t size = given.shape()[i];
      (chosen[i] ? last : order).push_back(i);
      (chosen[i] ? inner : outer) *= size;
      if (!chosen[i]) kept.push_back(size);
      if (!chosen[i] || keep) result.push_back(chosen[i] ? 1 : size);
    }
    order.insert(order.end(), last.begin(), last.end());
    a = given.detach().permute(order);
  }

  // Whether the reduced elements of a result lie one after the other.
  bool in_rows() const { return a.is_contiguous(); }
  // Whether results lie one after the other: [inner, outer] in memory.
  bool in_columns() const {
    Shape order(a.shape().size());
    const std::size_t first = kept.size();
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = (i + first) % order.size();
    return !order.empty() && a.permute(order).is_contiguous();
  }
};

// start, then step(accumulated, element) in the order of elements, then end: one result per row. Accumulates
// in A.
template <typename T, typename Out, typename A, typename Step, typename End>
Array folded(const Reduced& r, DType type, A start, const Step& step, const End& end) {
  Array out = Array::uninitialised(type, r.result);
  Out* const to = elements<Out>(out);
  const std::size_t grain = std::max<std::int64_t>(1, 32768 / std::max<std::int64_t>(1, r.inner));
  if (r.in_columns() && r.outer > 1) {
    const T* const from = elements<T>(r.a);
    split_loop(r.outer, std::max<std::size_t>(grain, 16), [&](std::size_t begin, std::size_t finish) {
      constexpr std::size_t width = 512;
      std::vector<A> sums(width);
      for (std::size_t first = begin; first < finish; first += width) {
        const std::size_t count = std::min(width, finish - first);
        std::fill_n(sums.begin(), count, start);
        for (std::int64_t i = 0; i < r.inner; ++i) {
          const T* const row = from + i * r.outer + static_cast<std::int64_t>(first);
          for (std::size_t c = 0; c < count; ++c) sums[c] = step(sums[c], row[c]);
        }
        for (std::size_t c = 0; c < count; ++c) to[first + c] = static_cast<Out>(end(sums[c]));
      }
    });
    return out;
  }
  const Array rows = r.a.contiguous();
  const T* const from = elements<T>(rows);
  split_loop(r.outer, grain, [&](std::size_t begin, std::size_t finish) {
    for (std::size_t o = begin; o < finish; ++o) {
      const T* const row = from + static_cast<std::int64_t>(o) * r.inner;
      A sum = start;
      for (std::int64_t i = 0; i < r.inner; ++i) sum = step(sum, row[i]);
      to[o] = static_cast<Out>(end(sum));
    }
  });
  return out;
}

constexpr auto itself = [](auto value) { return value; };

// The result with the axes that were reduced as axes of one element.
Array with_axes(const Array& reduced, const Shape& whole, const Shape& axes) {
  const std::vector<bool> chosen = chosen_axes(axes, whole.size());
  Shape shape = whole;
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    if (chosen[i]) shape[i] = 1;
  }
  return reduced.reshape(shape);
}

std::int64_t count_over(const Array& a, const Shape& axes) {
  const std::vector<bool> chosen = chosen_axes(axes, a.rank());
  std::int64_t count = 1;
  for (std::size_t i = 0; i < chosen.size(); ++i) count *= chosen[i] ? a.shape()[i] : 1;
  return count;
}

void require_elements(const Array& a, const Shape& axes, std::string_view what) {
  if (count_over(a, axes) == 0)
    fail(Fault::model, "{} over no elements of shape {}", what, to_string(a.shape()));
}

// Sums of eight numbers at a time: each in a separate place, then these, in one order.
template <typename T>
double row_sum(const T* row, std::int64_t count) {
  constexpr std::int64_t width = 8;
  double sums[width] = {};
  std::int64_t i = 0;
  for (; i + width <= count; i += width) {
    for (std::int64_t l = 0; l < width; ++l) sums[l] += row[i + l];
  }
  for (std::int64_t l = 0; i < count; ++i, ++l) sums[l] += row[i];
  return ((sums[0] + sums[4]) + (sums[2] + sums[6])) + ((sums[1] + sums[5]) + (sums[3] + sums[7]));
}

template <typename T>
Array real_sum(const Reduced& r, DType type) {
  if (r.in_columns() && r.outer > 1)
    return folded<T, T, double>(
        r, type, 0.0, [](double sum, T x) { return sum + x; }, itself);
  Array out = Array::uninitialised(type, r.result);
  const Array rows = r.a.contiguous();
  T* const to = elements<T>(out);
  const T* const from = elements<T>(rows);
  // Blocks of one size, so that the sum does not depend on the number of threads.
  constexpr std::int64_t block = 65536;
  const std::int64_t blocks = std::max<std::int64_t>(1, (r.inner + block - 1) / block);
  std::vector<double> sums(r.outer * blocks);
  const std::size_t grain =
      std::max<std::int64_t>(1, 32768 / std::max<std::int64_t>(1, std::min(r.inner, block)));
  split_loop(sums.size(), grain, [&](std::size_t begin, std::size_t finish) {
    for (std::size_t s = begin; s < finish; ++s) {
      const auto o = static_cast<std::int64_t>(s) / blocks,
                 first = static_cast<std::int64_t>(s) % blocks * block;
      sums[s] = row_sum(from + o * r.inner + first, std::min(block, r.inner - first));
    }
  });
  for (std::int64_t o = 0; o < r.outer; ++o) {
    double sum = 0;
    for (std::int64_t b = 0; b < blocks; ++b) sum += sums[o * blocks + b];
    to[o] = static_cast<T>(sum);
  }
  return out;
}

// Of each row, several at a time.
template <typename T, typename Step>
Array extremes_of_rows(const Reduced& r, DType type, T start, const Step& step) {
  Array out = Array::uninitialised(type, r.result);
  T* const to = elements<T>(out);
  const T* const from = elements<T>(r.a);
  const std::size_t grain = std::max<std::int64_t>(1, 32768 / r.inner);
  split_loop(r.outer, grain, [&](std::size_t begin, std::size_t finish) {
    for (std::size_t o = begin; o < finish; ++o) {
      constexpr std::int64_t width = 16;
      const T* const row = from + static_cast<std::int64_t>(o) * r.inner;
      std::array<T, width> best;
      best.fill(start);
      std::int64_t i = 0;
      for (; i + width <= r.inner; i += width) {
        for (std::int64_t l = 0; l < width; ++l) best[l] = step(best[l], row[i + l]);
      }
      for (; i < r.inner; ++i) best[0] = step(best[0], row[i]);
      for (std::size_t l = 1; l < best.size(); ++l) best[0] = step(best[0], best[l]);
      to[o] = best[0];
    }
  });
  return out;
}

// `worst` of a type is what every number is as good as.
template <typename Better, typename Worst>
Array extreme_over(const Array& a, const Shape& axes, bool keep, std::string_view what, const Better& better,
                   const Worst& worst) {
  require_elements(a, axes, what);
  if (is_narrow(a.dtype()))
    return computed_wide(
        a, [&](const Array& wide) { return extreme_over(wide, axes, keep, what, better, worst); });
  const Reduced r(a, axes, keep);
  Array out = with_number(a.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const auto step = [&](T seen, T x) { return better(x, seen) || x != x ? x : seen; };
    constexpr std::int64_t long_row = 32;
    if (r.in_rows() && r.inner >= long_row) return extremes_of_rows<T>(r, a.dtype(), worst(T{}), step);
    return folded<T, T, T>(r, a.dtype(), worst(T{}), step, itself);
  });
  if (!records(a)) return out;
  return recorded_map(out, a, [a = a.detach(), out, axes](const Array& g) {
    const Array hit = eq(a, with_axes(out, a.shape(), axes)).to(a.dtype());
    return hit * with_axes(g, a.shape(), axes) / sum(hit, axes, true);
  });
}

// Positions of the extreme along an axis: the first of equal ones, NaN before all.
template <typename Better>
Array positions_over(const Array& given, std::int64_t axis, bool keep, const Better& better) {
  const Array a = widened(given.detach());
  if (a.rank() == 0) return zeros({}, DType::int64);
  require_elements(a, {axis}, "an extreme");
  const Reduced r(a, {axis}, keep);
  return with_number(a.dtype(), [&](auto zero) {
    using T = decltype(zero);
    struct Seen {
      T value;
      std::int64_t at, next;
    };
    return folded<T, std::int64_t, Seen>(
        r, DType::int64, Seen{T{}, 0, 0},
        [&](Seen seen, T x) {
          const bool taken =
              seen.next == 0 || (seen.value == seen.value && (better(x, seen.value) || x != x));
          return taken ? Seen{x, seen.next, seen.next + 1} : Seen{seen.value, seen.at, seen.next + 1};
        },
        [](Seen seen) { return seen.at; });
  });
}

constexpr auto greater = [](auto x, auto y) { return x > y; };
constexpr auto smaller = [](auto x, auto y) { return x < y; };

Sorted extreme_at(const Array& a, const Array& positions, std::int64_t axis, bool keep) {
  if (a.rank() == 0) return {a, positions};
  const Array values = gather(a, axis, positions);
  return keep ? Sorted{values, positions} : Sorted{values.squeeze(axis), positions.squeeze(axis)};
}

// Of whole numbers.
DType type_of_totals(const Array& a) { return a.dtype() == DType::uint64 ? DType::uint64 : DType::int64; }

// Totals of a narrow type: real ones are of that type, whole ones as those of wider types.
template <typename F>
Array reduced_narrow(const Array& a, const F& f) {
  return is_real(a.dtype()) ? computed_wide(a, f) : f(widened(a));
}

// Whole numbers wrap.
template <typename Join>
Array whole_total(const Reduced& r, const Array& a, std::uint64_t start, Join join) {
  const auto total = [&](auto zero) {
    using T = decltype(zero);
    return folded<T, std::int64_t, std::uint64_t>(
        r, DType::int64, start,
        [&](std::uint64_t all, T x) {
          return join(all, static_cast<std::uint64_t>(static_cast<std::int64_t>(x)));
        },
        [](std::uint64_t all) { return all; });
  };
  return with_computed(a.dtype(), total).to(type_of_totals(a));
}

}  // namespace

Array sum(const Array& a, const Shape& axes, bool keep) {
  if (is_narrow(a.dtype()))
    return reduced_narrow(a, [&](const Array& wide) { return sum(wide, axes, keep); });
  const Reduced r(a, axes, keep);
  if (!is_real(a.dtype())) return whole_total(r, a, 0, std::plus());
  Array out = with_real(a.dtype(), [&](auto zero) { return real_sum<decltype(zero)>(r, a.dtype()); });
  return recorded_map(std::move(out), a, [shape = a.shape(), axes](const Array& g) {
    return with_axes(g, shape, axes).expand(shape);
  });
}

Array prod(const Array& a, const Shape& axes, bool keep) {
  if (is_narrow(a.dtype()))
    return reduced_narrow(a, [&](const Array& wide) { return prod(wide, axes, keep); });
  const Reduced r(a, axes, keep);
  if (!is_real(a.dtype())) return whole_total(r, a, 1, std::multiplies());
  Array out = with_real(a.dtype(), [&](auto zero) {
    using T = decltype(zero);
    return folded<T, T, double>(
        r, a.dtype(), 1.0, [](double all, T x) { return all * x; }, itself);
  });
  if (!records(a)) return out;
  return recorded_map(std::move(out), a, [a = a.detach(), axes](const Array& g) {
    // Of each element the product of the others: without a zero by division, of one zero only there, else
    // none.
    const Array zero = a == 0, others = where(zero, ones_like(a), a);
    const Array rest = with_axes(prod(others, axes), a.shape(), axes),
                zeros_there = with_axes(sum(zero, axes), a.shape(), axes);
    const Array slopes =
        where(zero, where(zeros_there == 1, rest, 0), where(zeros_there == 0, rest / others, 0));
    return slopes * with_axes(g, a.shape(), axes);
  });
}

Array mean(const Array& a, const Shape& axes, bool keep) {
  if (is_short(a.dtype())) return computed_wide(a, [&](const Array& wide) { return mean(wide, axes, keep); });
  const Array real = is_real(a.dtype()) ? a : a.to(DType::float32);
  return sum(real, axes, keep) / static_cast<double>(count_over(a, axes));
}

Array amax(const Array& a, const Shape& axes, bool keep) {
  return extreme_over(a, axes, keep, "a maximum", greater, [](auto zero) {
    using Limits = std::numeric_limits<decltype(zero)>;
    return Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
  });
}
Array amin(const Array& a, const Shape& axes, bool keep) {
  return extreme_over(a, axes, keep, "a minimum", smaller, [](auto zero) {
    using Limits = std::numeric_limits<decltype(zero)>;
    return Limits::has_infinity ? Limits::infinity() : Limits::max();
  });
}

Array any(const Array& a, const Shape& axes, bool keep) {
  const Array truth = a.detach().to(DType::boolean);
  return folded<bool, bool, bool>(
      Reduced(truth, axes, keep), DType::boolean, false, [](bool seen, bool x) { return seen || x; }, itself);
}
Array all(const Array& a, const Shape& axes, bool keep) {
  const Array truth = a.detach().to(DType::boolean);
  return folded<bool, bool, bool>(
      Reduced(truth, axes, keep), DType::boolean, true, [](bool seen, bool x) { return seen && x; }, itself);
}

Array var(const Array& a, const Shape& axes, bool keep, bool unbiased) {
  if (is_short(a.dtype()))
    return computed_wide(a, [&](const Array& wide) { return var(wide, axes, keep, unbiased); });
  const Array apart = a - mean(a, axes, true);
  const double count = static_cast<double>(count_over(a, axes)) - (unbiased ? 1 : 0);
  return sum(square(apart), axes, keep) / count;
}

Array norm(const Array& a, double p, const Shape& axes, bool keep) {
  if (is_short(a.dtype()))
    return computed_wide(a, [&](const Array& wide) { return norm(wide, p, axes, keep); });
  if (!is_real(a.dtype())) return norm(a.to(DType::float32), p, axes, keep);
  if (p == std::numeric_limits<double>::infinity()) return amax(abs(a), axes, keep);
  if (p == 1) return sum(abs(a), axes, keep);
  const Array total = p == 2 ? sum(square(a), axes, keep) : sum(pow(abs(a), p), axes, keep);
  // The gradient at 0 is 0.
  const Array none = total == 0, safe = where(none, ones_like(total), total);
  return where(none, zeros_like(total), p == 2 ? sqrt(safe) : pow(safe, 1 / p));
}

Array sum_to(const Array& a, const Shape& shape) {
  if (a.shape() == shape) return a;
  const std::size_t more = a.shape().size() - shape.size();
  Shape axes;
  for (std::size_t i = 0; i < a.shape().size(); ++i) {
    if (i < more || (shape[i - more] == 1 && a.shape()[i] != 1)) axes.push_back(i);
  }
  return axes.empty() ? a.reshape(shape) : sum(a, axes).reshape(shape);
}

Array argmax(const Array& a, std::int64_t axis, bool keep) { return positions_over(a, axis, keep, greater); }
Array argmin(const Array& a, std::int64_t axis, bool keep) { return positions_over(a, axis, keep, smaller); }

Sorted max(const Array& a, std::int64_t axis, bool keep) {
  return extreme_at(a, argmax(a.detach(), axis, true), axis, keep);
}
Sorted min(const Array& a, std::int64_t axis, bool keep) {
  return extreme_at(a, argmin(a.detach(), axis, true), axis, keep);
}

bool equal(const Array& a, const Array& b) { return a.shape() == b.shape() && all(eq(a, b)).item<bool>(); }

bool allclose(const Array& a, const Array& b, double relative, double absolute, bool equal_nan) {
  const Array x = a.detach().to(DType::float64), y = b.detach().to(DType::float64);
  Array near = logical_or(eq(x, y), logical_and(le(abs(x - y), absolute + relative * abs(y)), isfinite(y)));
  if (equal_nan) near = logical_or(near, logical_and(isnan(x), isnan(y)));
  return all(near).item<bool>();
}

}  // namespace assay::array
