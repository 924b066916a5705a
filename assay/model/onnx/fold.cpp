#include "assay/model/onnx/fold.h"

#include <algorithm>
#include <cmath>

#include <assay/error.h>
#include "assay/model/onnx/proto.h"

namespace assay::onnx_format {
namespace {

// The value of a Constant node, under whichever of its attributes.
Array value_of(const Node& node) {
  struct ToArray {
    const Node& node;
    Array operator()(const Array& v) const { return v; }
    Array operator()(std::int64_t v) const { return Array::of<std::int64_t>({}, std::vector{v}); }
    Array operator()(float v) const { return Array::of<float>({}, std::vector{v}); }
    Array operator()(const std::vector<std::int64_t>& v) const {
      return Array::of<std::int64_t>({std::ssize(v)}, v);
    }
    Array operator()(const std::vector<float>& v) const { return Array::of<float>({std::ssize(v)}, v); }
    Array operator()(const std::string&) const { refuse(); }
    Array operator()(const std::vector<std::string>&) const { refuse(); }
    [[noreturn]] void refuse() const {
      fail(Fault::unsupported, "{}: constants of strings are not supported; export the model without them",
           node.describe());
    }
  };
  if (node.attributes.size() != 1) fail(Fault::model, "{}: exactly one value is needed", node.describe());
  return std::visit(ToArray{node}, node.attributes.begin()->second);
}

// The first element `count` times.
Array filled(const Array& element, Shape shape, std::int64_t count) {
  const std::size_t size = size_of(element.dtype());
  std::vector<std::byte> bytes(static_cast<std::size_t>(count) * size);
  for (std::size_t i = 0; i < bytes.size(); i += size) std::copy_n(element.data(), size, bytes.data() + i);
  return Array(element.dtype(), std::move(shape), std::move(bytes));
}

// Where the scale of an element stands: one for all, one a position of an axis, or one a block along it.
struct ScalePositions {
  std::size_t inner = 1, count = 1;          // elements of one position of the axis; positions
  std::size_t block = 1, scales = 1;         // positions that share a scale; scales along the axis
  bool single = false, of_all_axes = false;  // whether the other axes have their own

  std::size_t of(std::size_t i) const {
    if (single) return 0;
    const std::size_t at = i / inner % count / block;
    return of_all_axes ? (i / inner / count * scales + at) * inner + i % inner : at;
  }
};

std::optional<ScalePositions> scale_positions(const Node& node, const Shape& shape, const Shape& scales) {
  ScalePositions found;
  found.single = scales.empty() || (scales.size() == 1 && scales[0] == 1);
  if (found.single) return found;
  const std::int64_t rank = std::ssize(shape), given = node.integer("axis", 1);
  const std::int64_t axis = given < 0 ? given + rank : given, block = node.integer("block_size", 0);
  if (axis < 0 || axis >= rank) return std::nullopt;
  const std::size_t at = axis;
  for (std::size_t i = at + 1; i < shape.size(); ++i) found.inner *= static_cast<std::size_t>(shape[i]);
  found.count = shape[at];
  if (scales.size() == 1 && block == 0) return scales[0] == shape[at] ? std::optional(found) : std::nullopt;
  Shape expected = shape;
  if (block < 1) return std::nullopt;
  expected[at] = (shape[at] + block - 1) / block;
  found.block = block;
  found.scales = expected[at];
  found.of_all_axes = true;
  return scales == expected ? std::optional(found) : std::nullopt;
}

// Whether the ONNX type has every number of the array; beyond it depends on the kernel. Of whole types.
bool is_within_range(const Array& array, int type) {
  const bool to_real = type == onnx::TensorProto::FLOAT || type == onnx::TensorProto::DOUBLE;
  if (to_real || type == onnx::TensorProto::BOOL) return true;
  if (!is_real(array.dtype())) {
    const Array wide = array.to(DType::int64);
    return std::ranges::all_of(wide.as<std::int64_t>(),
                               [&](std::int64_t number) { return wrapped(type, number) == number; });
  }
  constexpr double most = 9e18;
  const Array wide = array.to(DType::float64);
  return std::ranges::all_of(wide.as<double>(), [&](double number) {
    if (!(std::abs(number) < most)) return false;
    const auto whole = static_cast<std::int64_t>(number);
    return wrapped(type, whole) == whole;
  });
}

}  // namespace

std::optional<Array> dequantised_constant(const Node& node, const OnnxGraph& graph) {
  if (node.op != "DequantizeLinear" || node.inputs.size() < 2) return std::nullopt;
  const auto input = [&](std::size_t i) {
    return i < node.inputs.size() ? graph.constant(node.inputs[i]) : nullptr;
  };
  const Array *const whole = input(0), *const scale = input(1), *const zero = input(2);
  const bool zero_given = node.inputs.size() > 2 && node.inputs[2] != no_value;
  if (whole == nullptr || scale == nullptr || (zero_given && zero == nullptr)) return std::nullopt;
  if (scale->dtype() != DType::float32 || scale->count() == 0) return std::nullopt;
  if (zero_given && zero->count() != scale->count()) return std::nullopt;
  const auto positions = scale_positions(node, whole->shape(), scale->shape());
  if (!positions) return std::nullopt;
  const Array numbers = whole->to(DType::float32);
  const std::optional<Array> zeros = zero_given ? std::optional(zero->to(DType::float32)) : std::nullopt;
  const auto from = numbers.as<float>(), steps = scale->as<float>();
  const auto origins = zeros ? zeros->as<float>() : std::span<const float>();
  std::vector<float> values(from.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::size_t position = positions->of(i);
    values[i] = (from[i] - (zeros ? origins[position] : 0.0F)) * steps[position];
  }
  return Array::of<float>(whole->shape(), values);
}

bool Folder::afford(std::int64_t count, DType dtype) {
  const std::int64_t size = size_of(dtype);
  if (count > budget_ / size) return false;
  budget_ -= count * size;
  return true;
}

std::optional<Array> Folder::constant_of_shape(const Node& node, const Array& shape) {
  if (shape.dtype() != DType::int64 || shape.shape().size() != 1 || shape.count() > 64) return std::nullopt;
  const auto dims = shape.as<std::int64_t>();
  std::int64_t count = 1;
  for (const std::int64_t dim : dims) {
    if (dim < 0 || __builtin_mul_overflow(count, dim, &count))
      return std::nullopt;  // its kernel will complain
  }
  Array element = Array::zeros(DType::float32, {1});
  if (const auto found = node.attributes.find("value"); found != node.attributes.end()) {
    const auto* given = std::get_if<Array>(&found->second);
    if (given == nullptr || given->count() != 1) return std::nullopt;
    element = *given;
  }
  if (!afford(count, element.dtype())) return std::nullopt;
  return filled(element, Shape(dims.begin(), dims.end()), count);
}

std::optional<Array> Folder::fold(const Node& node, const OnnxGraph& graph) {
  if (node.op == "Constant") return value_of(node);
  if (auto values = dequantised_constant(node, graph); values && afford(values->count(), DType::float32))
    return values;
  if (node.inputs.size() != 1) return std::nullopt;
  const Array* input = graph.constant(node.inputs[0]);
  if (input == nullptr) return std::nullopt;
  if (node.op == "Identity") return *input;
  if (node.op == "ConstantOfShape") return constant_of_shape(node, *input);
  if (node.op != "Cast" || !node.has("to")) return std::nullopt;
  const std::int64_t to = node.integer("to", 0);
  if (to == onnx::TensorProto::FLOAT16 || to == onnx::TensorProto::BFLOAT16 || is_short_type(to))
    return std::nullopt;  // it rounds
  const DType type = held_as(to < 0 || to > 1000 ? -1 : static_cast<int>(to),
                             fmt::format("the result of {}", node.describe()));
  if (!is_within_range(*input, static_cast<int>(to)))
    return std::nullopt;  // what becomes of it is the cast's
  if (type != input->dtype() && !afford(input->count(), type)) return std::nullopt;
  return input->to(type);
}

}  // namespace assay::onnx_format
