// Comparisons, truth values and bits of two operands, element by element.

#include <functional>
#include <limits>
#include <utility>

#include "assay/array/loops.h"
#include "assay/array/promotion.h"

namespace assay::array {
namespace {

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
  if (!is_real(a.dtype()) && !b.is_whole()) return compare(a.to(DType::float64), scalar(b, DType::float64));
  const DType type = with_scalar(a, b);
  if (const int side = side_of(type, b); side != 0)
    return compare(zeros(a.shape(), DType::int8), scalar(side, DType::int8));
  return compare(a, scalar(b, type));
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

}  // namespace

Array eq(const Array& a, const Array& b) { return compared(a, b, std::equal_to<>()); }
Array ne(const Array& a, const Array& b) { return compared(a, b, std::not_equal_to<>()); }
Array lt(const Array& a, const Array& b) { return compared(a, b, std::less<>()); }
Array le(const Array& a, const Array& b) { return compared(a, b, std::less_equal<>()); }
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
Array bitwise_and(const Array& a, Scalar b) { return bitwise_and(a, beside(a, b)); }
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

// Compared in the wider kind: 2 < 2.5 of integers as well.
Array operator==(const Array& a, Scalar b) { return compared(a, b, eq); }
Array operator!=(const Array& a, Scalar b) { return compared(a, b, ne); }
Array operator<(const Array& a, Scalar b) { return compared(a, b, lt); }
Array operator<=(const Array& a, Scalar b) { return compared(a, b, le); }
Array operator>(const Array& a, Scalar b) { return compared(a, b, gt); }
Array operator>=(const Array& a, Scalar b) { return compared(a, b, ge); }
Array operator<(const Array& a, const Array& b) { return lt(a, b); }
Array operator<=(const Array& a, const Array& b) { return le(a, b); }
Array operator>(const Array& a, const Array& b) { return gt(a, b); }
Array operator>=(const Array& a, const Array& b) { return ge(a, b); }
Array operator&(const Array& a, const Array& b) { return bitwise_and(a, b); }
Array operator|(const Array& a, const Array& b) { return bitwise_or(a, b); }
Array operator~(const Array& a) { return bitwise_not(a); }

}  // namespace assay::array
