#pragma once

// The elements of arrays as those of C++. Part of <assay/array.h>.

#include <assay/array.h>

namespace assay {

void require_dtype(DType actual, DType wanted);
void require_contiguous(const Array& array);

template <typename T>
Array Array::of(Shape shape, std::span<const T> values) {
  const auto* begin = reinterpret_cast<const std::byte*>(values.data());
  return Array(dtype_of<T>(), std::move(shape), std::vector<std::byte>(begin, begin + values.size_bytes()));
}

template <typename T>
std::span<const T> Array::as() const {
  require_dtype(dtype_, dtype_of<T>());
  require_contiguous(*this);
  return {reinterpret_cast<const T*>(data()), static_cast<std::size_t>(count_)};
}

}  // namespace assay
