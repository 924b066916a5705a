// Arrays made anew.

#include <algorithm>
#include <cmath>

#include <assay/array_math.h>
#include "assay/array/types.h"

namespace assay::array {

Array zeros(Shape shape, DType type) { return Array::zeros(type, std::move(shape)); }
Array ones(Shape shape, DType type) { return full(std::move(shape), 1, type); }
Array empty(Shape shape, DType type) { return Array::uninitialised(type, std::move(shape)); }

Array full(Shape shape, Scalar value, DType type) {
  Array made = Array::uninitialised(type, std::move(shape));
  with_type(type, [&](auto zero) {
    using T = decltype(zero);
    std::fill_n(made.elements<T>(), made.count(), number_from<T>(value));
  });
  return made;
}

Array full(Shape shape, Scalar value, const Array& like) {
  return full(std::move(shape), value, like.dtype());
}
Array scalar(Scalar value, DType type) { return full({}, value, type); }

Array zeros_like(const Array& a) { return zeros(a.shape(), a.dtype()); }
Array ones_like(const Array& a) { return ones(a.shape(), a.dtype()); }
Array empty_like(const Array& a) { return empty(a.shape(), a.dtype()); }
Array full_like(const Array& a, Scalar value) { return full(a.shape(), value, a.dtype()); }
Array zeros_like(const Array& a, DType type) { return zeros(a.shape(), type); }
Array ones_like(const Array& a, DType type) { return ones(a.shape(), type); }

Array arange(Scalar begin, Scalar end, Scalar step, DType type) {
  const bool whole = begin.is_whole() && end.is_whole() && step.is_whole();
  const double first = begin.to<double>(), by = step.to<double>();
  if (!(by != 0)) fail(Fault::model, "the step of a range is {}; it must not be 0", by);
  std::int64_t count = 0;
  if (whole) {
    const std::int64_t from = begin.to<std::int64_t>(), to = end.to<std::int64_t>(),
                       width = step.to<std::int64_t>();
    if ((to > from) == (width > 0) && to != from) count = (to - from + width - (width > 0 ? 1 : -1)) / width;
  } else {
    const double steps = std::ceil((end.to<double>() - first) / by);
    if (!(steps < 9e15)) fail(Fault::resources, "a range of {} numbers is too long", steps);
    count = static_cast<std::int64_t>(std::max(0.0, steps));
  }
  Array made = Array::uninitialised(type, {count});
  with_type(type, [&](auto zero) {
    using T = decltype(zero);
    T* const to = made.elements<T>();
    for (std::int64_t i = 0; i < count; ++i)
      to[i] = whole ? convert<T>(begin.to<std::int64_t>() + i * step.to<std::int64_t>())
                    : convert<T>(first + i * by);
  });
  return made;
}

Array arange(Scalar begin, Scalar end, DType type) { return arange(begin, end, 1, type); }
Array arange(Scalar end, DType type) { return arange(0, end, 1, type); }

}  // namespace assay::array
