// Arithmetic of two operands, element by element.

#include <cmath>
#include <functional>
#include <utility>

#include "assay/array/loops.h"
#include "assay/array/promotion.h"
#include "assay/array/tape.h"

namespace assay::array {
namespace {

// Of a type with negative numbers: what the least of them cannot be divided by.
template <typename T>
constexpr bool is_minus_one(T value) {
  return std::is_signed_v<T> && value == static_cast<T>(-1);
}

template <typename F>
Array computed(const Array& a, const Array& b, const F& f) {
  if (is_narrow(a.dtype())) return computed(widened(a.detach()), widened(b.detach()), f).to(a.dtype());
  Array out = Array::uninitialised(a.dtype(), broadcast_shape(a.shape(), b.shape()));
  if (a.dtype() == DType::boolean) {
    map_into<bool, bool, bool>(out, a, b, [&f](bool x, bool y) {
      return f(static_cast<std::uint8_t>(x), static_cast<std::uint8_t>(y)) != 0;
    });
    return out;
  }
  with_number(a.dtype(), [&](auto zero) {
    using T = decltype(zero);
    map_into<T, T, T>(out, a, b, [&f](T x, T y) { return static_cast<T>(f(x, y)); });
  });
  return out;
}

struct Pair {
  Array a, b;
};
Pair promoted(const Array& a, const Array& b) {
  const DType type = result_type(a, b);
  return {a.to(type), b.to(type)};
}

// Sums of integers wrap around.
template <typename T, typename F>
T wrapped(T x, T y, const F& f) {
  if constexpr (std::is_integral_v<T>) {
    using U = std::make_unsigned_t<T>;
    return static_cast<T>(f(static_cast<U>(x), static_cast<U>(y)));
  } else {
    return f(x, y);
  }
}

constexpr auto plus = [](auto x, auto y) { return wrapped(x, y, [](auto p, auto q) { return p + q; }); };
constexpr auto minus = [](auto x, auto y) { return wrapped(x, y, [](auto p, auto q) { return p - q; }); };
constexpr auto times = [](auto x, auto y) { return wrapped(x, y, [](auto p, auto q) { return p * q; }); };

Array added(const Array& a, const Array& b) {
  const auto [x, y] = promoted(a, b);
  return recorded_one(
      computed(x, y, plus), {x, y},
      [p = x.shape(), q = y.shape()](const Array& g, const std::vector<bool>& wanted) -> Arrays {
        return {wanted[0] ? sum_to(g, p) : Array(), wanted[1] ? sum_to(g, q) : Array()};
      });
}

Array subtracted(const Array& a, const Array& b) {
  const auto [x, y] = promoted(a, b);
  if (x.dtype() == DType::boolean) fail(Fault::model, "truth values are not subtracted");
  return recorded_one(
      computed(x, y, minus), {x, y},
      [p = x.shape(), q = y.shape()](const Array& g, const std::vector<bool>& wanted) -> Arrays {
        return {wanted[0] ? sum_to(g, p) : Array(), wanted[1] ? sum_to(-g, q) : Array()};
      });
}

Array multiplied(const Array& a, const Array& b) {
  const auto [x, y] = promoted(a, b);
  Array out = computed(x, y, times);
  if (!records(x, y)) return out;
  return recorded_one(
      std::move(out), {x, y},
      [x = x.detach(), y = y.detach()](const Array& g, const std::vector<bool>& wanted) -> Arrays {
        return {wanted[0] ? sum_to(g * y, x.shape()) : Array(),
                wanted[1] ? sum_to(g * x, y.shape()) : Array()};
      });
}

Array divided(const Array& a, const Array& b) {
  const auto [p, q] = promoted(a, b);
  const Array x = is_real(p.dtype()) ? p : p.to(DType::float32),
              y = is_real(q.dtype()) ? q : q.to(DType::float32);
  Array out = computed(x, y, std::divides<>());
  if (!records(x, y)) return out;
  return recorded_one(
      std::move(out), {x, y},
      [x = x.detach(), y = y.detach()](const Array& g, const std::vector<bool>& wanted) -> Arrays {
        return {wanted[0] ? sum_to(g / y, x.shape()) : Array(),
                wanted[1] ? sum_to(-g * x / (y * y), y.shape()) : Array()};
      });
}

// The greater or the smaller one; equal ones share the gradient.
template <typename F>
Array extreme(const Array& a, const Array& b, const F& f) {
  const auto [x, y] = promoted(a, b);
  Array out = computed(x, y, f);
  if (!records(x, y)) return out;
  return recorded_one(
      out, {x, y},
      [x = x.detach(), y = y.detach(), out](const Array& g, const std::vector<bool>& wanted) -> Arrays {
        const Array half = where(eq(x, y), g * 0.5, g);
        return {wanted[0] ? sum_to(where(eq(x, out), half, 0), x.shape()) : Array(),
                wanted[1] ? sum_to(where(eq(y, out), half, 0), y.shape()) : Array()};
      });
}

template <typename T>
T power(T x, T y) {
  if constexpr (std::is_integral_v<T>) {
    if (y < 0) return x == 1 ? T{1} : x == static_cast<T>(-1) ? static_cast<T>(y % 2 == 0 ? 1 : -1) : T{0};
    std::make_unsigned_t<T> base = static_cast<std::make_unsigned_t<T>>(x), result = 1;
    for (auto rest = y; rest > 0; rest = static_cast<T>(rest / 2)) {
      if (rest % 2 != 0) result = static_cast<std::make_unsigned_t<T>>(result * base);
      base = static_cast<std::make_unsigned_t<T>>(base * base);
    }
    return static_cast<T>(result);
  } else {
    if (y == 2) return x * x;
    if (y == 1) return x;
    if (y == static_cast<T>(0.5)) return std::sqrt(x);
    return std::pow(x, y);
  }
}

}  // namespace

Array maximum(const Array& a, const Array& b) {
  return extreme(a, b, [](auto x, auto y) { return x > y || x != x ? x : y; });
}

Array minimum(const Array& a, const Array& b) {
  return extreme(a, b, [](auto x, auto y) { return x < y || x != x ? x : y; });
}

Array pow(const Array& p, const Array& q) {
  const auto [x, y] = promoted(p, q);
  Array out = computed(x, y, [](auto a, auto b) { return power(a, b); });
  if (!records(x, y)) return out;
  return recorded_one(
      out, {x, y},
      [x = x.detach(), y = y.detach(), out](const Array& g, const std::vector<bool>& wanted) -> Arrays {
        Arrays found(2);
        if (wanted[0]) {
          const Array steep = g * y * pow(x, y - 1);
          found[0] = sum_to(where(y == 0, 0, steep), x.shape());
        }
        if (wanted[1]) {
          const Array rising = g * out * log(x);
          found[1] = sum_to(where(logical_and(x == 0, y >= 0), 0, rising), y.shape());
        }
        return found;
      });
}

Array pow(const Array& a, Scalar b) { return pow(a, beside(a, b)); }
Array pow(Scalar a, const Array& b) { return pow(beside(b, a), b); }

Array fmod(const Array& a, const Array& b) {
  const auto [x, y] = promoted(a, b);
  Array out = computed(x, y, [](auto p, auto q) {
    using T = decltype(p);
    if constexpr (std::is_integral_v<T>)
      return q == 0 || is_minus_one(q) ? T{0} : static_cast<T>(p % q);
    else
      return std::fmod(p, q);
  });
  if (!records(x, y)) return out;
  return recorded_one(std::move(out), {x, y},
                      [x = x.detach(), y = y.detach()](const Array& g, const std::vector<bool>&) -> Arrays {
                        return {sum_to(g, x.shape()), sum_to(-g * div(x, y, Rounding::truncate), y.shape())};
                      });
}

// With the sign of the divisor.
Array remainder(const Array& a, const Array& b) {
  const auto [x, y] = promoted(a, b);
  Array out = computed(x, y, [](auto p, auto q) {
    using T = decltype(p);
    if constexpr (std::is_integral_v<T>) {
      if (q == 0 || is_minus_one(q)) return T{0};
      const T rest = static_cast<T>(p % q);
      return rest != 0 && (rest < 0) != (q < 0) ? static_cast<T>(rest + q) : rest;
    } else {
      const T rest = std::fmod(p, q);
      return rest != 0 && (rest < 0) != (q < 0) ? rest + q : rest;
    }
  });
  if (!records(x, y)) return out;
  return recorded_one(std::move(out), {x, y},
                      [x = x.detach(), y = y.detach()](const Array& g, const std::vector<bool>&) -> Arrays {
                        return {sum_to(g, x.shape()), sum_to(-g * div(x, y, Rounding::floor), y.shape())};
                      });
}

Array remainder(const Array& a, Scalar b) { return remainder(a, beside(a, b)); }

Array atan2(const Array& a, const Array& b) {
  const auto [x, y] = promoted(a, b);
  if (is_narrow(x.dtype())) return atan2(widened(x), widened(y)).to(x.dtype());
  return with_real(x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    Array out = Array::uninitialised(x.dtype(), broadcast_shape(x.shape(), y.shape()));
    map_into<T, T, T>(out, x, y, [](T p, T q) { return std::atan2(p, q); });
    return recorded_one(std::move(out), {x, y},
                        [x = x.detach(), y = y.detach()](const Array& g, const std::vector<bool>&) -> Arrays {
                          const Array length = x * x + y * y;
                          return {sum_to(g * y / length, x.shape()), sum_to(-g * x / length, y.shape())};
                        });
  });
}

Array div(const Array& a, const Array& b, Rounding rounding) {
  const auto [x, y] = promoted(a.detach(), b.detach());
  return computed(x, y, [rounding](auto p, auto q) {
    using T = decltype(p);
    if constexpr (std::is_integral_v<T>) {
      if (q == 0) return T{0};
      if (is_minus_one(q))
        return static_cast<T>(std::make_unsigned_t<T>{0} - static_cast<std::make_unsigned_t<T>>(p));
      const T whole = static_cast<T>(p / q);
      const bool lower = rounding == Rounding::floor && p % q != 0 && (p < 0) != (q < 0);
      return lower ? static_cast<T>(whole - 1) : whole;
    } else {
      return rounding == Rounding::floor ? std::floor(p / q) : std::trunc(p / q);
    }
  });
}

Array div(const Array& a, Scalar b, Rounding rounding) { return div(a, beside(a, b), rounding); }

Array where(const Array& condition, const Array& p, const Array& q) {
  const auto [a, b] = promoted(p, q);
  const Array truth = condition.detach().to(DType::boolean);
  Array out =
      Array::uninitialised(a.dtype(), broadcast_shape(truth.shape(), broadcast_shape(a.shape(), b.shape())));
  with_moved(a.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const Walk<4> walk(out.shape(), {&out, &truth, &a, &b});
    const auto [so, sc, sa, sb] = walk.inner();
    walk.run([&, so = so, sc = sc, sa = sa, sb = sb](const auto& at, std::int64_t count) {
      T* const o = elements<T>(out) + at[0];
      const bool* const c = elements<bool>(truth) + at[1];
      const T *const x = elements<T>(a) + at[2], *const y = elements<T>(b) + at[3];
      for (std::int64_t n = 0; n < count; ++n) o[n * so] = c[n * sc] ? x[n * sa] : y[n * sb];
    });
  });
  return recorded_one(
      std::move(out), {a, b},
      [truth, x = a.shape(), y = b.shape()](const Array& g, const std::vector<bool>& wanted) -> Arrays {
        return {wanted[0] ? sum_to(where(truth, g, 0), x) : Array(),
                wanted[1] ? sum_to(where(truth, 0, g), y) : Array()};
      });
}

Array where(const Array& condition, const Array& a, Scalar b) { return where(condition, a, beside(a, b)); }
Array where(const Array& condition, Scalar a, const Array& b) { return where(condition, beside(b, a), b); }
Array where(const Array& condition, Scalar a, Scalar b) {
  const DType type = a.is_whole() && b.is_whole() ? DType::int64 : DType::float32;
  return where(condition, scalar(a, type), scalar(b, type));
}

Array operator+(const Array& a, const Array& b) { return added(a, b); }
Array operator-(const Array& a, const Array& b) { return subtracted(a, b); }
Array operator*(const Array& a, const Array& b) { return multiplied(a, b); }
Array operator/(const Array& a, const Array& b) { return divided(a, b); }
Array operator+(const Array& a, Scalar b) { return a + beside(a, b); }
Array operator-(const Array& a, Scalar b) { return a - beside(a, b); }
Array operator*(const Array& a, Scalar b) { return a * beside(a, b); }
Array operator/(const Array& a, Scalar b) { return a / beside(a, b); }
Array operator+(Scalar a, const Array& b) { return beside(b, a) + b; }
Array operator-(Scalar a, const Array& b) { return beside(b, a) - b; }
Array operator*(Scalar a, const Array& b) { return beside(b, a) * b; }
Array operator/(Scalar a, const Array& b) { return beside(b, a) / b; }
Array operator-(const Array& a) { return neg(a); }

}  // namespace assay::array
