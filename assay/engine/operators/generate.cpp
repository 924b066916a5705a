// Arrays made from shapes and numbers, and shapes made from arrays.

#include <algorithm>
#include <cmath>

#include "assay/engine/operators/parts/support.h"

namespace assay::operators {
namespace {

Array range_of_integers(const Call& call) {
  const std::int64_t start = call.integer(0, 0), limit = call.integer(1, 0), delta = call.integer(2, 1);
  if (delta == 0) fail(Fault::model, "delta is 0");
  // Bounded in floating point first, so that the exact count cannot overflow.
  const double about = (static_cast<double>(limit) - start) / delta;
  check_size({static_cast<std::int64_t>(std::clamp(about, 0.0, 9e18))}, 8);
  const auto type = call.input(0).dtype();
  if (about <= 0) return array::empty({0}, type);
  return array::arange(start, limit, delta, DType::int64).to(type);
}

}  // namespace

Outputs shape(const Call& call) {
  const Array& x = call.input(0);
  const std::int64_t rank = x.rank();
  const auto bound = [&](std::int64_t axis) {
    return std::clamp<std::int64_t>(axis < 0 ? axis + rank : axis, 0, rank);
  };
  const std::int64_t start = bound(call.node.integer("start", 0)),
                     end = bound(call.node.integer("end", rank));
  const Ints sizes(x.shape().begin() + start, x.shape().begin() + std::max(start, end));
  return {array::tensor(sizes, DType::int64)};
}

Outputs size(const Call& call) { return {array::scalar(call.input(0).count(), DType::int64)}; }

Outputs constant_of_shape(const Call& call) {
  const Ints dims = call.integers(0);
  for (const auto dim : dims) require_in("a dimension", dim, 0, std::int64_t{1} << 62);
  Array value = array::zeros({1}, DType::float32);
  if (const auto found = call.node.attributes.find("value"); found != call.node.attributes.end()) {
    const auto* array = std::get_if<Array>(&found->second);
    if (!array || array->count() != 1)
      fail(Fault::model, "attribute 'value' must be a tensor of one element");
    value = *array;
  }
  check_size(dims, size_of(value.dtype()));
  return {value.reshape({}).expand(dims).contiguous()};
}

Outputs range(const Call& call) {
  const Array& first = call.input(0);
  if (is_integral(first)) return {range_of_integers(call)};
  const double start = call.number(0, 0), delta = call.number(2, 1);
  const double count = std::ceil((call.number(1, 0) - start) / delta);
  if (!std::isfinite(count)) fail(Fault::model, "from {} by {} has no end", start, delta);
  check_size({static_cast<std::int64_t>(std::clamp(count, 0.0, 9e18))}, 8);
  const Array steps = array::arange(std::max(0.0, count), DType::float64);
  return {(steps * delta + start).to(first.dtype())};
}

// Ones on diagonal k of a matrix shaped like the input.
Outputs eye_like(const Call& call) {
  const Array& x = call.input(0);
  if (x.rank() != 2) fail(Fault::model, "the input has {} axes; a matrix is needed", x.rank());
  const auto type = call.node.has("dtype") ? scalar_type_of(call.node.integer("dtype", 1)) : x.dtype();
  // A diagonal beyond the corner is empty.
  const std::int64_t k = std::clamp(call.node.integer("k", 0), -x.size(0), x.size(1));
  return {array::eq(array::arange(x.size(0)).unsqueeze(1) + k, array::arange(x.size(1))).to(type)};
}

}  // namespace assay::operators
