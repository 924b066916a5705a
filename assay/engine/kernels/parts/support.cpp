#include "assay/engine/kernels/parts/support.h"

#include <algorithm>
#include <numeric>

namespace assay::operators {

const Tensor& Call::input(std::size_t i) const {
  if (!has(i)) fail(Fault::model, "input {} is missing", i);
  return inputs[i];
}

Ints Call::integers(std::size_t i) const {
  const Tensor& tensor = input(i);
  if (!is_integral(tensor))
    fail(Fault::model, "input {} must hold integers, not {}", i, toString(tensor.scalar_type()));
  const Tensor host = tensor.detach().to(at::kCPU, at::kLong).contiguous();
  const auto* values = host.data_ptr<std::int64_t>();
  return Ints(values, values + host.numel());
}

std::int64_t Call::integer(std::size_t i, std::int64_t fallback) const {
  if (!has(i)) return fallback;
  const Ints values = integers(i);
  if (values.size() != 1) fail(Fault::model, "input {} must hold one number, not {}", i, values.size());
  return values[0];
}

double Call::number(std::size_t i, double fallback) const {
  if (!has(i)) return fallback;
  if (inputs[i].numel() != 1)
    fail(Fault::model, "input {} must hold one number, not {}", i, inputs[i].numel());
  return inputs[i].detach().to(at::kDouble).item<double>();
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
  Ints axes(static_cast<std::size_t>(rank));
  std::iota(axes.begin(), axes.end(), 0);
  return axes;
}

void require_in(std::string_view what, std::int64_t value, std::int64_t minimum, std::int64_t maximum) {
  if (value < minimum || value > maximum) {
    fail(Fault::model, "{} is {}; it must be from {} to {}", what, value, minimum, maximum);
  }
}

void require_rank_at_least(const Tensor& tensor, std::int64_t rank) {
  if (tensor.dim() < rank)
    fail(Fault::model, "an input has {} axes; at least {} are needed", tensor.dim(), rank);
}

Tensor checked_indices(const Tensor& indices, std::int64_t size) {
  if (!is_integral(indices))
    fail(Fault::model, "indices must be integers, not {}", toString(indices.scalar_type()));
  const Tensor wide = indices.to(at::kLong);
  if (wide.numel() == 0) return wide;
  const auto [low, high] = at::aminmax(wide);
  if (low.item<std::int64_t>() < -size || high.item<std::int64_t>() >= size) {
    fail(Fault::model, "indices from {} to {} are out of range for an axis of {}", low.item<std::int64_t>(),
         high.item<std::int64_t>(), size);
  }
  return low.item<std::int64_t>() < 0 ? at::where(wide < 0, wide + size, wide) : wide;
}

std::pair<Tensor, Tensor> promoted(const Tensor& a, const Tensor& b) {
  if (a.scalar_type() == b.scalar_type()) return {a, b};
  const auto type = at::result_type(a, b);
  return {a.to(type), b.to(type)};
}

Tensor scalar_like(const Tensor& like, double value) { return at::full({}, value, like.options()); }

at::ScalarType scalar_type_of(std::int64_t onnx_type) {
  switch (onnx_type) {
    case 1:
    case 10:
    case 16:
    case 17:
    case 18:
    case 19:
    case 20:
      return at::kFloat;  // float, float16, bfloat16, 8-bit floats
    case 11:
      return at::kDouble;
    case 2:
    case 21:
      return at::kByte;  // uint8, uint4
    case 3:
    case 22:
      return at::kChar;  // int8, int4
    case 4:
    case 5:
    case 6:
      return at::kInt;  // uint16, int16, int32
    case 7:
    case 12:
    case 13:
      return at::kLong;  // int64, uint32, uint64
    case 9:
      return at::kBool;
    default:
      fail(Fault::unsupported, "ONNX element type {} cannot be computed with", onnx_type);
  }
}

}  // namespace assay::operators
