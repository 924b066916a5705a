#pragma once

// Element types of arrays, shapes, and single numbers.

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include <assay/float16.h>

namespace assay::array {

using Shape = std::vector<std::int64_t>;

enum class DType {
  float32,
  float64,
  int64,
  int32,
  int8,
  uint8,
  boolean,
  float16,
  bfloat16,
  int16,
  uint16,
  uint32,
  uint64
};

std::size_t size_of(DType dtype);
bool is_real(DType dtype);  // of floating-point numbers
std::string to_string(DType dtype);
std::string to_string(const Shape& shape);  // "[N, 3, 32]" with -1 shown as N

// Product of the dimensions. Throws Error{resources} on overflow or negative dimensions.
std::int64_t element_count(const Shape& shape);

template <typename T>
constexpr DType dtype_of() {
  using U = std::remove_const_t<T>;
  if constexpr (std::is_same_v<U, float>) return DType::float32;
  if constexpr (std::is_same_v<U, double>) return DType::float64;
  if constexpr (std::is_same_v<U, std::int64_t>) return DType::int64;
  if constexpr (std::is_same_v<U, std::int32_t>) return DType::int32;
  if constexpr (std::is_same_v<U, std::int8_t>) return DType::int8;
  if constexpr (std::is_same_v<U, std::uint8_t>) return DType::uint8;
  if constexpr (std::is_same_v<U, bool>) return DType::boolean;
  if constexpr (std::is_same_v<U, Float16>) return DType::float16;
  if constexpr (std::is_same_v<U, BFloat16>) return DType::bfloat16;
  if constexpr (std::is_same_v<U, std::int16_t>) return DType::int16;
  if constexpr (std::is_same_v<U, std::uint16_t>) return DType::uint16;
  if constexpr (std::is_same_v<U, std::uint32_t>) return DType::uint32;
  if constexpr (std::is_same_v<U, std::uint64_t>) return DType::uint64;
}

// One number, whole or not, that takes part in arithmetic without changing the kind of an array's type.
class Scalar {
 public:
  template <typename T>
  requires std::is_arithmetic_v<T> Scalar(T value)
      : real_(static_cast<double>(value)),
        whole_(std::is_integral_v<T> ? static_cast<std::int64_t>(value) : 0),
        is_whole_(std::is_integral_v<T>),
        above_int64_(std::is_unsigned_v<T> && whole_ < 0) {}
  bool is_whole() const { return is_whole_; }
  // f of the number as double, int64, or uint64 where it is above those of int64.
  template <typename F>
  decltype(auto) visit(const F& f) const {
    if (!is_whole_) return f(real_);
    return above_int64_ ? f(static_cast<std::uint64_t>(whole_)) : f(whole_);
  }
  template <typename T>
  T to() const {
    return visit([](auto value) { return static_cast<T>(value); });
  }

 private:
  double real_;
  std::int64_t whole_;
  bool is_whole_, above_int64_;
};

}  // namespace assay::array

namespace assay {
using array::DType;
using array::dtype_of;
using array::element_count;
using array::is_real;
using array::Scalar;
using array::Shape;
using array::size_of;
using array::to_string;
}  // namespace assay
