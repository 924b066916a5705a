#pragma once

// A plain host array: element type, shape, and contiguous row-major bytes that copies share. Weights,
// constants and batches of records travel as Arrays; only the engine turns them into tensors.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace assay {

using Shape = std::vector<std::int64_t>;

enum class DType { float32, float64, int64, int32, int8, uint8, boolean };

std::size_t size_of(DType dtype);
std::string to_string(DType dtype);
std::string to_string(const Shape& shape);  // "[N, 3, 32]" with -1 shown as N

// Product of the dimensions. Throws Error{resources} on overflow or negative dimensions.
std::int64_t element_count(const Shape& shape);

template <typename T>
constexpr DType dtype_of();
template <>
constexpr DType dtype_of<float>() {
  return DType::float32;
}
template <>
constexpr DType dtype_of<double>() {
  return DType::float64;
}
template <>
constexpr DType dtype_of<std::int64_t>() {
  return DType::int64;
}
template <>
constexpr DType dtype_of<std::int32_t>() {
  return DType::int32;
}
template <>
constexpr DType dtype_of<std::int8_t>() {
  return DType::int8;
}
template <>
constexpr DType dtype_of<std::uint8_t>() {
  return DType::uint8;
}
template <>
constexpr DType dtype_of<bool>() {
  return DType::boolean;
}

// Immutable; cheap to copy (shares its bytes).
class Array {
 public:
  Array() = default;
  // Takes the bytes as they are. REQUIRES bytes.size() == element_count(shape) * size_of(dtype).
  Array(DType dtype, Shape shape, std::vector<std::byte> bytes);

  template <typename T>
  static Array of(Shape shape, std::span<const T> values);
  template <typename T>
  static Array of(Shape shape, const std::vector<T>& values) {
    return of(std::move(shape), std::span<const T>(values));
  }
  static Array zeros(DType dtype, Shape shape);

  DType dtype() const { return dtype_; }
  const Shape& shape() const { return shape_; }
  std::int64_t count() const { return count_; }
  const std::byte* data() const { return bytes_ ? bytes_->data() : nullptr; }
  std::size_t byte_size() const { return bytes_ ? bytes_->size() : 0; }

  // The elements. REQUIRES dtype() == dtype_of<T>().
  template <typename T>
  std::span<const T> as() const;
  // A copy converted to another element type (saturating from floating point to integers).
  Array to(DType dtype) const;
  // The same elements under another shape. REQUIRES equal counts.
  Array reshaped(Shape shape) const;
  // True when both share the same storage, as edits of a graph promise for untouched weights.
  bool shares_storage(const Array& other) const { return bytes_ == other.bytes_; }

 private:
  DType dtype_ = DType::float32;
  Shape shape_{0};
  std::int64_t count_ = 0;
  std::shared_ptr<const std::vector<std::byte>> bytes_;
};

void require_dtype(DType actual, DType wanted);

template <typename T>
Array Array::of(Shape shape, std::span<const T> values) {
  const auto* begin = reinterpret_cast<const std::byte*>(values.data());
  return Array(dtype_of<T>(), std::move(shape), std::vector<std::byte>(begin, begin + values.size_bytes()));
}

template <typename T>
std::span<const T> Array::as() const {
  require_dtype(dtype_, dtype_of<T>());
  return {reinterpret_cast<const T*>(data()), static_cast<std::size_t>(count_)};
}

}  // namespace assay
