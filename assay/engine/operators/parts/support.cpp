#include "assay/engine/operators/parts/support.h"

#include <algorithm>
#include <numeric>

namespace assay::operators {

const Array& Call::input(std::size_t i) const {
  if (!has(i)) fail(Fault::model, "input {} is missing", i);
  return inputs[i];
}

Ints Call::integers(std::size_t i) const {
  const Array& tensor = input(i);
  if (!is_integral(tensor))
    fail(Fault::model, "input {} must hold integers, not {}", i, to_string(tensor.dtype()));
  const Array host = tensor.detach().to(DType::int64).contiguous();
  const auto* values = host.elements<std::int64_t>();
  return Ints(values, values + host.count());
}

std::int64_t Call::integer(std::size_t i, std::int64_t fallback) const {
  if (!has(i)) return fallback;
  const Ints values = integers(i);
  if (values.size() != 1) fail(Fault::model, "input {} must hold one number, not {}", i, values.size());
  return values[0];
}

double Call::number(std::size_t i, double fallback) const {
  if (!has(i)) return fallback;
  if (inputs[i].count() != 1)
    fail(Fault::model, "input {} must hold one number, not {}", i, inputs[i].count());
  return inputs[i].detach().to(DType::float64).item<double>();
}

Ints Call::axes(std::size_t i, std::int64_t rank, Ints fallback) const {
  Ints axes = has(i) ? integers(i) : node.integers("axes", std::move(fallback));
  for (auto& axis : axes) axis = axis_in(axis, rank);
  Ints sorted = axes;
  std::sort(sorted.begin(), sorted.end());
  if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end()) {
    fail(Fault::model, "axes {} name an axis twice", to_string(axes));
  }
  return axes;
}

std::int64_t Call::axis(std::int64_t fallback, std::int64_t rank) const {
  return axis_in(node.integer("axis", fallback), rank);
}

std::int64_t axis_in(std::int64_t axis, std::int64_t rank) {
  if (axis < -rank || axis >= rank) fail(Fault::model, "axis {} is out of range for {} axes", axis, rank);
  return axis < 0 ? axis + rank : axis;
}

Ints all_axes(std::int64_t rank) {
  Ints axes(rank);
  std::iota(axes.begin(), axes.end(), 0);
  return axes;
}

Ints part_of(const Shape& shape, std::size_t first, std::size_t count) {
  const auto rest = std::span(shape).subspan(std::min(first, shape.size()));
  const auto part = rest.first(std::min(count, rest.size()));
  return {part.begin(), part.end()};
}

void require_in(std::string_view what, std::int64_t value, std::int64_t minimum, std::int64_t maximum) {
  if (value < minimum || value > maximum) {
    fail(Fault::model, "{} is {}; it must be from {} to {}", what, value, minimum, maximum);
  }
}

void require_rank_at_least(const Array& tensor, std::int64_t rank) {
  if (tensor.rank() < rank)
    fail(Fault::model, "an input has {} axes; at least {} are needed", tensor.rank(), rank);
}

Array checked_indices(const Array& indices, std::int64_t size) {
  if (!is_integral(indices))
    fail(Fault::model, "indices must be integers, not {}", to_string(indices.dtype()));
  const Array wide = indices.to(DType::int64);
  if (wide.count() == 0) return wide;
  const Array low = wide.min(), high = wide.max();
  if (low.item<std::int64_t>() < -size || high.item<std::int64_t>() >= size) {
    fail(Fault::model, "indices from {} to {} are out of range for an axis of {}", low.item<std::int64_t>(),
         high.item<std::int64_t>(), size);
  }
  return low.item<std::int64_t>() < 0 ? array::where(wide < 0, wide + size, wide) : wide;
}

std::pair<Array, Array> promoted(const Array& a, const Array& b) {
  if (a.dtype() == b.dtype()) return {a, b};
  const auto type = array::result_type(a, b);
  return {a.to(type), b.to(type)};
}

Array scalar_like(const Array& like, double value) { return array::full({}, value, like.dtype()); }

DType scalar_type_of(std::int64_t onnx_type) {
  switch (onnx_type) {
    case 1:
    case 10:
    case 16:
    case 17:
    case 18:
    case 19:
    case 20:
      return DType::float32;  // float, float16, bfloat16, 8-bit floats
    case 11:
      return DType::float64;
    case 2:
    case 21:
      return DType::uint8;  // uint8, uint4
    case 3:
    case 22:
      return DType::int8;  // int8, int4
    case 4:
    case 5:
    case 6:
      return DType::int32;  // uint16, int16, int32
    case 7:
    case 12:
    case 13:
      return DType::int64;  // int64, uint32, uint64
    case 9:
      return DType::boolean;
    default:
      fail(Fault::unsupported, "ONNX element type {} cannot be computed with", onnx_type);
  }
}

}  // namespace assay::operators
