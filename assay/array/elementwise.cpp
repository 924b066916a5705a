// Two operands, element by element.

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "assay/array/loops.h"
#include "assay/array/tape.h"

namespace assay::array {
namespace {

int kind(DType type) { return is_real(type) ? 2 : type == DType::boolean ? 0 : 1; }

bool is_unsigned(DType type) {
  return type == DType::uint8 || type == DType::uint16 || type == DType::uint32 || type == DType::uint64;
}

// Both kinds of real numbers of 16 bits are float32. An unsigned type with a signed one that is not wider is
// the next signed one: int32 for 8 bits, where a product of them fits, and float64 for those of 64.
DType wider(DType a, DType b) {
  if (a == b) return a;
  if (kind(a) != kind(b)) return kind(a) > kind(b) ? a : b;
  const auto [narrow, wide] = size_of(a) < size_of(b) ? std::pair(a, b) : std::pair(b, a);
  if (kind(a) == 2) return size_of(wide) == 2 ? DType::float32 : wide;
  if (is_unsigned(a) == is_unsigned(b)) return wide;
  if (!is_unsigned(wide) && size_of(wide) > size_of(narrow)) return wide;
  return size_of(wide) < 4 ? DType::int32 : size_of(wide) == 4 ? DType::int64 : DType::float64;
}

// The type that an array is computed in with a single number.
DType with_scalar(const Array& a, Scalar b) {
  if (kind(a.dtype()) == 2) return a.dtype();
  if (!b.is_whole()) return DType::float32;
  return a.dtype() == DType::boolean ? DType::int64 : a.dtype();
}

// Of a type with negative numbers: what the least of them cannot be divided by.
template <typename T>
constexpr bool is_minus_one(T value) {
  return std::is_signed_v<T> && value == static_cast<T>(-1);
}

Array single(Scalar value, DType type) { return scalar(value, type); }

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

// uint64 and a type that has negative numbers: no type holds all of both.
bool differ_in_sign(DType one, DType other) {
  const auto has_negative = [](DType type) {
    return type == DType::int64 || type == DType::int32 || type == DType::int16 || type == DType::int8;
  };
  return (one == DType::uint64 && has_negative(other)) || (other == DType::uint64 && has_negative(one));
}

template <typename F>
Array compared_by_sign(const Array& a, const Array& b, const F& f) {
  Array out = Array::uninitialised(DType::boolean, broadcast_shape(a.shape(), b.shape()));
  if (a.dtype() == DType::uint64) {
    map_into<std::uint64_t, std::int64_t, bool>(
        out, a, b.to(DType::int64), [&f](std::uint64_t x, std::int64_t y) {
          return y < 0 ? f(std::uint64_t{1}, std::uint64_t{0}) : f(x, static_cast<std::uint64_t>(y));
        });
  } else {
    map_into<std::int64_t, std::uint64_t, bool>(
        out, a.to(DType::int64), b, [&f](std::int64_t x, std::uint64_t y) {
          return x < 0 ? f(std::uint64_t{0}, std::uint64_t{1}) : f(static_cast<std::uint64_t>(x), y);
        });
  }
  return out;
}

template <typename F>
Array compared(const Array& a, const Array& b, const F& f) {
  if (differ_in_sign(a.dtype(), b.dtype())) return compared_by_sign(a.detach(), b.detach(), f);
  const DType common = result_type(a, b), type = computing_type(common);
  const Array x = a.detach().to(common).to(type), y = b.detach().to(common).to(type);
  Array out = Array::uninitialised(DType::boolean, broadcast_shape(a.shape(), b.shape()));
  with_number(type, [&](auto zero) {
    using T = decltype(zero);
    map_into<T, T, bool>(out, x, y, f);
  });
  return out;
}

// Where a whole number lies that the type does not have: -1 below all of its numbers, 1 above them, else 0.
int side_of(DType type, Scalar number) {
  return with_type(type, [&](auto zero) {
    using T = decltype(zero);
    return number.visit([](auto value) {
      if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool> &&
                    std::is_integral_v<decltype(value)>) {
        if (std::cmp_less(value, std::numeric_limits<T>::min())) return -1;
        if (std::cmp_greater(value, std::numeric_limits<T>::max())) return 1;
      }
      return 0;
    });
  });
}

// The comparison of two arrays with a number in place of the second, in the wider kind.
Array compared(const Array& a, Scalar b, Array (*compare)(const Array&, const Array&)) {
  if (!is_real(a.dtype()) && !b.is_whole()) return compare(a.to(DType::float64), single(b, DType::float64));
  const DType type = with_scalar(a, b);
  if (const int side = side_of(type, b); side != 0)
    return compare(zeros(a.shape(), DType::int8), single(side, DType::int8));
  return compare(a, single(b, type));
}

Array truths(const Array& a) { return a.detach().to(DType::boolean); }

template <typename F>
Array of_truths(const Array& a, const Array& b, const F& f) {
  const Array x = truths(a), y = truths(b);
  Array out = Array::uninitialised(DType::boolean, broadcast_shape(a.shape(), b.shape()));
  map_into<bool, bool, bool>(out, x, y, f);
  return out;
}

template <typename F>
Array of_bits(const Array& a, const Array& b, const F& f) {
  const DType common = result_type(a, b), type = computing_type(common);
  const Array x = a.to(common).to(type), y = b.to(common).to(type);
  Array out = Array::uninitialised(type, broadcast_shape(a.shape(), b.shape()));
  with_whole(type, [&](auto zero) {
    using T = decltype(zero);
    map_into<T, T, T>(out, x, y, [&f](T left, T right) { return static_cast<T>(f(left, right)); });
  });
  return out.to(common);
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

Array added(const Array& x, const Array& y) {
  return recorded_one(
      computed(x, y, plus), {x, y},
      [a = x.shape(), b = y.shape()](const Array& g, const std::vector<bool>& wanted) -> Arrays {
        return {wanted[0] ? sum_to(g, a) : Array(), wanted[1] ? sum_to(g, b) : Array()};
      });
}

Array subtracted(const Array& x, const Array& y) {
  if (x.dtype() == DType::boolean) fail(Fault::model, "truth values are not subtracted");
  return recorded_one(
      computed(x, y, minus), {x, y},
      [a = x.shape(), b = y.shape()](const Array& g, const std::vector<bool>& wanted) -> Arrays {
        return {wanted[0] ? sum_to(g, a) : Array(), wanted[1] ? sum_to(-g, b) : Array()};
      });
}

Array multiplied(const Array& x, const Array& y) {
  Array out = computed(x, y, times);
  if (!records(x, y)) return out;
  return recorded_one(
      std::move(out), {x, y},
      [a = x.detach(), b = y.detach()](const Array& g, const std::vector<bool>& wanted) -> Arrays {
        return {wanted[0] ? sum_to(g * b, a.shape()) : Array(),
                wanted[1] ? sum_to(g * a, b.shape()) : Array()};
      });
}

Array divided(const Array& p, const Array& q) {
  const Array x = is_real(p.dtype()) ? p : p.to(DType::float32),
              y = is_real(q.dtype()) ? q : q.to(DType::float32);
  Array out = computed(x, y, [](auto a, auto b) { return a / b; });
  if (!records(x, y)) return out;
  return recorded_one(
      std::move(out), {x, y},
      [a = x.detach(), b = y.detach()](const Array& g, const std::vector<bool>& wanted) -> Arrays {
        return {wanted[0] ? sum_to(g / b, a.shape()) : Array(),
                wanted[1] ? sum_to(-g * a / (b * b), b.shape()) : Array()};
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

DType result_type(const Array& a, const Array& b) {
  // A single number without axes does not widen within its kind.
  if ((a.rank() == 0) != (b.rank() == 0) && kind(a.dtype()) != kind(b.dtype()))
    return wider(a.dtype(), b.dtype());
  if (a.rank() == 0 && b.rank() > 0) return b.dtype();
  if (b.rank() == 0 && a.rank() > 0) return a.dtype();
  return wider(a.dtype(), b.dtype());
}

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

Array pow(const Array& a, Scalar b) { return pow(a, single(b, with_scalar(a, b))); }
Array pow(Scalar a, const Array& b) { return pow(single(a, with_scalar(b, a)), b); }

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

Array remainder(const Array& a, Scalar b) { return remainder(a, single(b, with_scalar(a, b))); }

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

Array div(const Array& a, Scalar b, Rounding rounding) {
  return div(a, single(b, with_scalar(a, b)), rounding);
}

Array eq(const Array& a, const Array& b) {
  return compared(a, b, [](auto x, auto y) { return x == y; });
}
Array ne(const Array& a, const Array& b) {
  return compared(a, b, [](auto x, auto y) { return x != y; });
}
Array lt(const Array& a, const Array& b) {
  return compared(a, b, [](auto x, auto y) { return x < y; });
}
Array le(const Array& a, const Array& b) {
  return compared(a, b, [](auto x, auto y) { return x <= y; });
}
Array gt(const Array& a, const Array& b) { return lt(b, a); }
Array ge(const Array& a, const Array& b) { return le(b, a); }

Array logical_and(const Array& a, const Array& b) {
  return of_truths(a, b, [](bool x, bool y) { return x && y; });
}
Array logical_or(const Array& a, const Array& b) {
  return of_truths(a, b, [](bool x, bool y) { return x || y; });
}
Array logical_xor(const Array& a, const Array& b) {
  return of_truths(a, b, [](bool x, bool y) { return x != y; });
}
Array bitwise_and(const Array& a, const Array& b) {
  return of_bits(a, b, [](auto x, auto y) { return x & y; });
}
Array bitwise_and(const Array& a, Scalar b) { return bitwise_and(a, single(b, with_scalar(a, b))); }
Array bitwise_or(const Array& a, const Array& b) {
  return of_bits(a, b, [](auto x, auto y) { return x | y; });
}
Array bitwise_xor(const Array& a, const Array& b) {
  return of_bits(a, b, [](auto x, auto y) { return x ^ y; });
}

Array shift_left(const Array& a, const Array& b) {
  return of_bits(a, b, [](auto x, auto y) {
    using T = decltype(x);
    using U = std::make_unsigned_t<T>;
    const bool inside = y >= 0 && static_cast<std::uint64_t>(y) < 8 * sizeof(T);
    return inside ? static_cast<T>(static_cast<U>(x) << static_cast<unsigned>(y)) : T{0};
  });
}

Array shift_right(const Array& a, const Array& b) {
  return of_bits(a, b, [](auto x, auto y) {
    using T = decltype(x);
    const bool inside = y >= 0 && static_cast<std::uint64_t>(y) < 8 * sizeof(T);
    return inside ? static_cast<T>(x >> static_cast<unsigned>(y)) : static_cast<T>(x < 0 ? -1 : 0);
  });
}

Array where(const Array& condition, const Array& p, const Array& q) {
  const auto [a, b] = promoted(p, q);
  const Array truth = truths(condition);
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

Array where(const Array& condition, const Array& a, Scalar b) {
  return where(condition, a, single(b, with_scalar(a, b)));
}
Array where(const Array& condition, Scalar a, const Array& b) {
  return where(condition, single(a, with_scalar(b, a)), b);
}
Array where(const Array& condition, Scalar a, Scalar b) {
  const DType type = a.is_whole() && b.is_whole() ? DType::int64 : DType::float32;
  return where(condition, single(a, type), single(b, type));
}

using array::promoted;
using array::scalar;

Array operator+(const Array& a, const Array& b) {
  const auto [x, y] = promoted(a, b);
  return array::added(x, y);
}
Array operator-(const Array& a, const Array& b) {
  const auto [x, y] = promoted(a, b);
  return array::subtracted(x, y);
}
Array operator*(const Array& a, const Array& b) {
  const auto [x, y] = promoted(a, b);
  return array::multiplied(x, y);
}
Array operator/(const Array& a, const Array& b) {
  const auto [x, y] = promoted(a, b);
  return array::divided(x, y);
}
Array operator+(const Array& a, Scalar b) { return a + scalar(b, array::with_scalar(a, b)); }
Array operator-(const Array& a, Scalar b) { return a - scalar(b, array::with_scalar(a, b)); }
Array operator*(const Array& a, Scalar b) { return a * scalar(b, array::with_scalar(a, b)); }
Array operator/(const Array& a, Scalar b) { return a / scalar(b, array::with_scalar(a, b)); }
Array operator+(Scalar a, const Array& b) { return scalar(a, array::with_scalar(b, a)) + b; }
Array operator-(Scalar a, const Array& b) { return scalar(a, array::with_scalar(b, a)) - b; }
Array operator*(Scalar a, const Array& b) { return scalar(a, array::with_scalar(b, a)) * b; }
Array operator/(Scalar a, const Array& b) { return scalar(a, array::with_scalar(b, a)) / b; }
Array operator-(const Array& a) { return array::neg(a); }

// Compared in the wider kind: 2 < 2.5 of integers as well.
Array operator==(const Array& a, Scalar b) { return array::compared(a, b, array::eq); }
Array operator!=(const Array& a, Scalar b) { return array::compared(a, b, array::ne); }
Array operator<(const Array& a, Scalar b) { return array::compared(a, b, array::lt); }
Array operator<=(const Array& a, Scalar b) { return array::compared(a, b, array::le); }
Array operator>(const Array& a, Scalar b) { return array::compared(a, b, array::gt); }
Array operator>=(const Array& a, Scalar b) { return array::compared(a, b, array::ge); }
Array operator<(const Array& a, const Array& b) { return array::lt(a, b); }
Array operator<=(const Array& a, const Array& b) { return array::le(a, b); }
Array operator>(const Array& a, const Array& b) { return array::gt(a, b); }
Array operator>=(const Array& a, const Array& b) { return array::ge(a, b); }
Array operator&(const Array& a, const Array& b) { return array::bitwise_and(a, b); }
Array operator|(const Array& a, const Array& b) { return array::bitwise_or(a, b); }
Array operator~(const Array& a) { return array::bitwise_not(a); }

}  // namespace assay::array
