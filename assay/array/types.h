#pragma once

// Calls with the C++ type of an element type.

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include <assay/array.h>
#include <assay/error.h>

namespace assay::array {

// visit(T{}) with the C++ type of the elements.
template <typename Visit>
decltype(auto) with_type(DType type, Visit&& visit) {
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
    case DType::boolean:
      return visit(bool{});
    case DType::float32:
      break;
  }
  return visit(float{});
}

// The same for numbers: truth values are taken as uint8.
template <typename Visit>
decltype(auto) with_number(DType type, Visit&& visit) {
  return with_type(type == DType::boolean ? DType::uint8 : type, [&](auto zero) -> decltype(auto) {
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

// Saturates from real numbers to whole ones; NaN becomes 0.
template <typename To, typename From>
To convert(From value) {
  if constexpr (std::is_same_v<To, bool>) {
    return value != From{};
  } else if constexpr (std::is_integral_v<To> && std::is_floating_point_v<From>) {
    if (std::isnan(value)) return 0;
    const double low = static_cast<double>(std::numeric_limits<To>::min());
    const double high = static_cast<double>(std::numeric_limits<To>::max());
    if (static_cast<double>(value) <= low) return std::numeric_limits<To>::min();
    if (static_cast<double>(value) >= high) return std::numeric_limits<To>::max();
    return static_cast<To>(value);
  } else {
    return static_cast<To>(value);
  }
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
