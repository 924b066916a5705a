#include "assay/model/keras/arrays.h"

#include <algorithm>

#include <assay/error.h>

namespace assay::inline model {
namespace {

std::vector<std::int64_t> strides_of(const Shape& shape) {
  std::vector<std::int64_t> strides(shape.size(), 1);
  for (std::size_t i = shape.size(); i-- > 1;) strides[i - 1] = strides[i] * shape[i];
  return strides;
}

// Gathers elements in row-major order of `shape`, stepping through the source by `strides` from `start`.
Array gather(const Array& array, const Shape& shape, const std::vector<std::int64_t>& strides,
             std::int64_t start) {
  const auto source = array.as<float>();
  std::vector<float> target(source.size());
  std::vector<std::int64_t> index(shape.size(), 0);
  std::int64_t position = start;
  for (float& element : target) {
    element = source[position];
    for (std::size_t axis = shape.size(); axis-- > 0;) {
      position += strides[axis];
      if (++index[axis] < shape[axis]) break;
      position -= strides[axis] * shape[axis];
      index[axis] = 0;
    }
  }
  return Array::of(shape, target);
}

}  // namespace

Array transposed(const Array& array, std::span<const int> permutation) {
  const auto strides = strides_of(array.shape());
  Shape shape;
  std::vector<std::int64_t> steps;
  for (const int axis : permutation) {
    shape.push_back(array.size(axis));
    steps.push_back(strides[axis]);
  }
  return gather(array, shape, steps, 0);
}

Array transposed(const Array& array, std::initializer_list<int> permutation) {
  return transposed(array, std::span(permutation.begin(), permutation.size()));
}

Array reversed(const Array& array, std::span<const int> axes) {
  if (array.count() == 0) return array;
  auto strides = strides_of(array.shape());
  std::int64_t start = 0;
  for (const int axis : axes) {
    start += strides[axis] * (array.shape()[axis] - 1);
    strides[axis] = -strides[axis];
  }
  return gather(array, array.shape(), strides, start);
}

Array filled(std::int64_t count, float value) {
  constexpr std::int64_t limit = std::int64_t{1} << 26;
  if (count > limit)
    fail(Fault::resources, "a constant of {} elements is larger than any layer needs", count);
  return Array::of(Shape{count}, std::vector<float>(static_cast<std::size_t>(count), value));
}

Array scalar(double value) { return Array::of(Shape{}, std::vector<float>{static_cast<float>(value)}); }

Array integers(const std::vector<std::int64_t>& values) {
  return Array::of(Shape{std::ssize(values)}, values);
}

}  // namespace assay::inline model
