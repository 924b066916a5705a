#pragma once

// The elements of arrays as those of C++. Part of <assay/array.h>.

#include <assay/array.h>

namespace assay::array {

void require_dtype(DType actual, DType wanted);
void require_contiguous(const Array& array);

template <typename T>
Array Array::of(Shape shape, std::span<const T> values) {
  const auto* begin = reinterpret_cast<const std::byte*>(values.data());
  return Array(dtype_of<T>(), std::move(shape), std::vector<std::byte>(begin, begin + values.size_bytes()));
}

template <typename T>
Array Array::of(Shape shape, const std::vector<T>& values) {
  return of(std::move(shape), std::span<const T>(values));
}

template <typename T>
T* Array::elements() const {
  return const_cast<T*>(as<T>().data());
}

template <typename T>
std::span<const T> Array::as() const {
  require_dtype(dtype_, dtype_of<T>());
  require_contiguous(*this);
  return {reinterpret_cast<const T*>(data()), static_cast<std::size_t>(count_)};
}

// An array made of numbers along one axis: float32, float64 or, of integers, int64.
template <typename T>
Array tensor(std::span<const T> values) {
  const Array held = Array::of<T>({std::ssize(values)}, values);
  return is_real(held.dtype()) ? held : held.to(DType::int64);
}
template <typename T>
Array tensor(const std::vector<T>& values) {
  return tensor(std::span<const T>(values));
}
template <typename T>
Array tensor(std::initializer_list<T> values) {
  return tensor(std::span<const T>(values.begin(), values.size()));
}
Array tensor(const auto& values, DType type) { return tensor(values).to(type); }
template <typename T>
Array tensor(std::initializer_list<T> values, DType type) {
  return tensor(values).to(type);
}

}  // namespace assay::array

namespace assay {
using array::Array;
using array::require_contiguous;
using array::require_dtype;
}  // namespace assay
