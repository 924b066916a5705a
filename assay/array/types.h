#pragma once

// Calls with the C++ type of an element type.

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>

#include <assay/array.h>
#include <assay/error.h>

namespace assay::array {

// The type in which elements are computed with: those of 16 bits, and uint32, are stored, moved and
// converted, and have no loops of their own for anything else.
inline DType computing_type(DType type) {
  switch (type) {
    case DType::float16:
    case DType::bfloat16:
      return DType::float32;
    case DType::int16:
    case DType::uint16:
      return DType::int32;
    case DType::uint32:
      return DType::int64;
    default:
      return type;
  }
}
inline bool is_narrow(DType type) { return computing_type(type) != type; }
inline bool is_short(DType type) { return type == DType::float16 || type == DType::bfloat16; }

// In the type that elements are computed in; itself if it has it, and if it is not defined.
inline Array widened(const Array& array) {
  return array.defined() ? array.to(computing_type(array.dtype())) : array;
}

// f of an array of a narrow type in the type that it is computed in; the result, rounded once or wrapped
// around, is of the array's type again.
template <typename F>
Array computed_wide(const Array& array, const F& f) {
  return f(widened(array)).to(array.dtype());
}

// The same for a change in place.
template <typename F>
void changed_wide(Array& array, const F& f) {
  Array wide = widened(array);
  f(wide);
  array.copy_(wide.to(array.dtype()));
}

// visit(T{}) with the C++ type that the elements are computed in. Throws Error{internal} for narrow types.
template <typename Visit>
decltype(auto) with_computed(DType type, Visit&& visit) {
  switch (type) {
    case DType::float64:
      return visit(double{});
    case DType::int64:
      return visit(std::int64_t{});
    case DType::int32:
      return visit(std::int32_t{});
    case DType::int8:
      return visit(std::int8_t{});
    case DType::uint8:
      return visit(std::uint8_t{});
    case DType::uint64:
      return visit(std::uint64_t{});
    case DType::boolean:
      return visit(bool{});
    case DType::float32:
      return visit(float{});
    default:
      fail(Fault::internal, "elements of {} are computed with as {}; convert them", to_string(type),
           to_string(computing_type(type)));
  }
}

// visit(T{}) with the C++ type of the elements, for what converts them and what takes them one by one.
template <typename Visit>
decltype(auto) with_type(DType type, Visit&& visit) {
  switch (type) {
    case DType::float16:
      return visit(Float16{});
    case DType::bfloat16:
      return visit(BFloat16{});
    case DType::int16:
      return visit(std::int16_t{});
    case DType::uint16:
      return visit(std::uint16_t{});
    case DType::uint32:
      return visit(std::uint32_t{});
    default:
      return with_computed(type, std::forward<Visit>(visit));
  }
}

// visit(T{}) with a C++ type of the elements' size, for what moves them: types without loops of their own
// share those of integers.
template <typename Visit>
decltype(auto) with_moved(DType type, Visit&& visit) {
  if (size_of(type) == sizeof(std::int16_t)) return visit(std::int16_t{});
  if (type == DType::uint64) return visit(std::int64_t{});
  return with_computed(type == DType::uint32 ? DType::int32 : type, std::forward<Visit>(visit));
}

// The same as with_computed() for numbers: truth values are taken as uint8.
template <typename Visit>
decltype(auto) with_number(DType type, Visit&& visit) {
  return with_computed(type == DType::boolean ? DType::uint8 : type, [&](auto zero) -> decltype(auto) {
    if constexpr (std::is_same_v<decltype(zero), bool>)
      return visit(std::uint8_t{});
    else
      return visit(zero);
  });
}

// The same for real numbers. Throws Error{unsupported} for others.
template <typename Visit>
decltype(auto) with_real(DType type, Visit&& visit) {
  if (type == DType::float64) return visit(double{});
  if (type != DType::float32)
    fail(Fault::unsupported, "elements of {} where real numbers are needed", to_string(type));
  return visit(float{});
}

// Integers. Throws Error{unsupported} for others.
template <typename Visit>
decltype(auto) with_whole(DType type, Visit&& visit) {
  if (is_real(type))
    fail(Fault::unsupported, "elements of {} where whole numbers are needed", to_string(type));
  return with_number(type, [&](auto zero) -> decltype(auto) {
    if constexpr (std::is_integral_v<decltype(zero)>)
      return visit(zero);
    else
      return visit(std::int64_t{});  // not reached
  });
}

template <typename T>
constexpr bool is_short_real = std::is_same_v<T, Float16> || std::is_same_v<T, BFloat16>;
// The C++ type of computing_type(), and whether it is another.
template <typename T>
constexpr bool is_narrow_type = is_short_real<T> ||
                                (std::is_integral_v<T> && sizeof(T) == 2) || std::is_same_v<T, std::uint32_t>;
template <typename T>
using ComputingType = std::conditional_t<
    is_short_real<T>, float,
    std::conditional_t<sizeof(T) == 2, std::int32_t, std::conditional_t<is_narrow_type<T>, std::int64_t, T>>>;

// Saturates from real numbers to whole ones; NaN becomes 0.
template <typename To, typename From>
To convert(From value) {
  if constexpr (std::is_same_v<To, From>) {
    return value;
  } else if constexpr (is_short_real<From>) {
    return convert<To>(static_cast<float>(value));
  } else if constexpr (is_short_real<To>) {
    return To(value);
  } else if constexpr (std::is_same_v<To, bool>) {
    return value != From{};
  } else if constexpr (std::is_integral_v<To> && std::is_floating_point_v<From>) {
    if (std::isnan(value)) return 0;
    const auto low = static_cast<double>(std::numeric_limits<To>::min());
    const auto high = static_cast<double>(std::numeric_limits<To>::max());
    if (static_cast<double>(value) <= low) return std::numeric_limits<To>::min();
    if (static_cast<double>(value) >= high) return std::numeric_limits<To>::max();
    return static_cast<To>(value);
  } else {
    return static_cast<To>(value);
  }
}

template <typename T>
T number_from(Scalar value) {
  return value.visit([](auto number) { return convert<T>(number); });
}

// The nearest number that the type has.
template <typename T>
T bound_from(Scalar value) {
  return value.visit([](auto number) {
    if constexpr (std::is_integral_v<T> && std::is_integral_v<decltype(number)>) {
      constexpr auto least = +std::numeric_limits<T>::min(), most = +std::numeric_limits<T>::max();
      if (std::cmp_less(number, least)) return std::numeric_limits<T>::min();
      if (std::cmp_greater(number, most)) return std::numeric_limits<T>::max();
    }
    return convert<T>(number);
  });
}

// First elements.
template <typename T>
const T* elements(const Array& array) {
  return reinterpret_cast<const T*>(array.data());
}
template <typename T>
T* elements(Array& array) {
  return reinterpret_cast<T*>(array.data());
}

}  // namespace assay::array
