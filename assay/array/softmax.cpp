// Softmax and sums that grow along an axis.

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "assay/array/loops.h"
#include "assay/array/tape.h"

namespace assay::array {
namespace {

// body(element pointer of the input, of the output, how many, distance) for every line along the axis.
template <typename T, typename Body>
Array along(const Array& given, std::int64_t axis, const Body& body) {
  const Array a = given.contiguous();
  Array out = Array::uninitialised(a.dtype(), a.shape());
  if (a.count() == 0) return out;
  const std::size_t at = axis;
  const std::int64_t count = a.shape()[at],
                     step = a.rank() == 0 ? 1
                                          : std::accumulate(a.shape().begin() + at + 1, a.shape().end(),
                                                            std::int64_t{1}, std::multiplies<>());
  const std::int64_t lines = a.count() / count;
  const T* const from = elements<T>(a);
  T* const to = elements<T>(out);
  split_loop(lines, std::max<std::int64_t>(1, 8192 / count), [&](std::size_t begin, std::size_t end) {
    for (std::size_t line = begin; line < end; ++line) {
      const std::int64_t l = line;
      const std::int64_t offset = l / step * count * step + l % step;
      body(from + offset, to + offset, count, step);
    }
  });
  return out;
}

template <typename T>
T greatest(const T* x, std::int64_t count, std::int64_t step) {
  T most = x[0];
  for (std::int64_t i = 1; i < count; ++i) {
    if (x[i * step] > most || x[i * step] != x[i * step]) most = x[i * step];
  }
  return most;
}

template <typename T>
void soft_line(const T* x, T* y, std::int64_t count, std::int64_t step) {
  const T most = greatest(x, count, step);
  double sum = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    y[i * step] = std::exp(x[i * step] - most);
    sum += y[i * step];
  }
  const T share = static_cast<T>(1 / sum);
  for (std::int64_t i = 0; i < count; ++i) y[i * step] *= share;
}

template <typename T>
void log_line(const T* x, T* y, std::int64_t count, std::int64_t step) {
  const T most = greatest(x, count, step);
  double sum = 0;
  for (std::int64_t i = 0; i < count; ++i) sum += std::exp(static_cast<double>(x[i * step] - most));
  const T log_sum = static_cast<T>(std::log(sum));
  for (std::int64_t i = 0; i < count; ++i) y[i * step] = x[i * step] - most - log_sum;
}

Array real_of(const Array& a) { return is_real(a.dtype()) ? a : a.to(DType::float32); }

// From the end to the beginning: the gradient of a sum that grows.
Array cumulated_backwards(const Array& g, std::int64_t axis) {
  return flip(cumsum(flip(g, {axis}), axis), {axis});
}

// Each element joined with all before it along the axis: whole numbers wrap, real ones are wide meanwhile.
template <typename Join>
Array cumulated(const Array& numbers, std::int64_t at, int start, Join join) {
  return with_number(numbers.dtype(), [&](auto zero) {
    using T = decltype(zero);
    return along<T>(numbers.detach(), at, [&](const T* x, T* y, std::int64_t count, std::int64_t step) {
      std::conditional_t<std::is_integral_v<T>, std::uint64_t, double> total = start;
      for (std::int64_t i = 0; i < count; ++i)
        y[i * step] = static_cast<T>(total = join(total, static_cast<decltype(total)>(x[i * step])));
    });
  });
}

}  // namespace

Array softmax(const Array& given, std::int64_t axis) {
  const Array a = real_of(given);
  if (is_narrow(a.dtype())) return computed_wide(a, [&](const Array& wide) { return softmax(wide, axis); });
  if (a.rank() == 0) return exp(a - a);
  const std::int64_t at = axis_of(axis, a.rank());
  Array out = with_real(
      a.dtype(), [&](auto zero) { return along<decltype(zero)>(a.detach(), at, soft_line<decltype(zero)>); });
  if (!records(a)) return out;
  return recorded_map(out, a, [out, at](const Array& g) { return out * (g - sum(g * out, {at}, true)); });
}

Array log_softmax(const Array& given, std::int64_t axis) {
  const Array a = real_of(given);
  if (is_narrow(a.dtype()))
    return computed_wide(a, [&](const Array& wide) { return log_softmax(wide, axis); });
  if (a.rank() == 0) return a - a;
  const std::int64_t at = axis_of(axis, a.rank());
  Array out = with_real(
      a.dtype(), [&](auto zero) { return along<decltype(zero)>(a.detach(), at, log_line<decltype(zero)>); });
  if (!records(a)) return out;
  return recorded_map(out, a, [out, at](const Array& g) { return g - exp(out) * sum(g, {at}, true); });
}

Array logsumexp(const Array& given, const Shape& axes, bool keep) {
  const Array a = real_of(given);
  if (is_narrow(a.dtype()))
    return computed_wide(a, [&](const Array& wide) { return logsumexp(wide, axes, keep); });
  if (a.count() == 0) return log(sum(a, axes, keep));  // of nothing: minus infinity
  const Array most = amax(a.detach(), axes, true), finite = where(isfinite(most), most, zeros_like(most));
  const Array total = log(sum(exp(a - finite), axes, keep));
  return total + finite.reshape(total.shape());
}

Array cumsum(const Array& a, std::int64_t axis) {
  if (is_narrow(a.dtype())) return computed_wide(a, [&](const Array& wide) { return cumsum(wide, axis); });
  const Array numbers = a.dtype() == DType::boolean ? a.to(DType::int64) : a;
  if (a.rank() == 0) return numbers;
  const std::int64_t at = axis_of(axis, a.rank());
  return recorded_map(cumulated(numbers, at, 0, std::plus()), numbers,
                      [at](const Array& g) { return cumulated_backwards(g, at); });
}

Array cumprod(const Array& a, std::int64_t axis) {
  if (is_narrow(a.dtype())) return computed_wide(a, [&](const Array& wide) { return cumprod(wide, axis); });
  const Array numbers = a.dtype() == DType::boolean ? a.to(DType::int64) : a;
  if (a.rank() == 0) return numbers;
  const std::int64_t at = axis_of(axis, a.rank());
  Array out = cumulated(numbers, at, 1, std::multiplies());
  if (!records(numbers)) return out;
  return recorded_map(out, numbers, [x = numbers.detach(), at](const Array& g) {
    // Each element scales all products from it on: those without it, one element after the other.
    Arrays slopes;
    const std::int64_t count = x.size(at);
    for (std::int64_t i = 0; i < count; ++i) {
      const Array others =
          cat({x.narrow(at, 0, i), ones_like(x.narrow(at, i, 1)), x.narrow(at, i + 1, count - i - 1)}, at);
      slopes.push_back(sum((cumprod(others, at) * g).narrow(at, i, count - i), {at}, true));
    }
    return cat(slopes, at);
  });
}

}  // namespace assay::array
