// Quantisation. Quantised numbers travel as integers in floating point: exact, and gradients pass through the
// rounding as if it were not there (Bengio et al. 2013), not through saturation.

#include "assay/engine/operators/parts/quantised.h"
#include "assay/engine/operators/parts/short_float.h"
#include "assay/engine/operators/parts/support.h"
#include "assay/support/thread_pool.h"

namespace assay::operators {
namespace {

Array rounded(const Array& x) {
  const Array whole = array::round(x.detach());  // halves to even
  return x.requires_grad() ? x + (whole - x).detach() : whole;
}

// A scale or zero point in a shape that broadcasts to x: one number, one a position along an axis, or one a
// block.
Array spread(const Call& call, const Array& parameter, const Array& x) {
  if (parameter.count() == 1 && parameter.rank() <= 1) return parameter.reshape({});
  require_rank_at_least(x, 1);
  const std::int64_t axis = call.axis(1, x.rank()), size = x.size(axis);
  if (parameter.rank() == 1) {
    if (parameter.size(0) != size)
      fail(Fault::model, "{} scales or zero points are given for {} positions", parameter.size(0), size);
    Ints shape(x.shape().size(), 1);
    shape[axis] = size;
    return parameter.reshape(shape);
  }
  const std::int64_t block = call.node.integer("block_size", 0);
  if (block == 0) return parameter;  // of as many axes, or kernels complain
  require_in("block_size", block, 1, std::max<std::int64_t>(1, size));
  Ints expected = x.shape();
  expected[axis] = (size + block - 1) / block;
  if (parameter.shape() != expected)
    fail(Fault::model, "scales of the shape {} do not fit blocks of {}", to_string(parameter.shape()), block);
  check_size(x.shape(), 2 * size_of(x.dtype()));
  return array::repeat_interleave(parameter, block, axis).narrow(axis, 0, size);
}

// f of each number in one pass, where nothing learns from them. Nothing for other types and gradients.
template <typename F>
std::optional<Array> in_one_pass(const Array& x, const F& f) {
  if (x.dtype() != DType::float32 || x.requires_grad()) return std::nullopt;
  const Array from = x.contiguous();
  Array to = array::empty_like(from);
  const float* const numbers = from.elements<float>();
  float* const made = to.elements<float>();
  constexpr std::size_t worth_a_thread = 1 << 15;
  split_loop(from.count(), worth_a_thread, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) made[i] = f(numbers[i]);
  });
  return to;
}

float clamped(float x, float low, float high) { return x < low ? low : x > high ? high : x; }

// By one scale for the whole tensor.
struct DynamicallyQuantised {
  Array whole, scale, zero;
};

DynamicallyQuantised dynamically_quantised(const Array& x) {
  if (!is_real(x.dtype()) || x.count() == 0) fail(Fault::model, "floating-point numbers are needed");
  const Array low = array::clamp_max(x.detach().min(), 0), high = array::clamp_min(x.detach().max(), 0);
  const Array scale = (high - low) / 255;
  const Array divisor = array::where(scale == 0, array::ones_like(scale), scale);
  const Array zero = array::clamp(array::round(-low / divisor), 0, 255);
  const auto step = divisor.item<float>(), origin = zero.item<float>();
  if (auto whole = in_one_pass(
          x, [=](float number) { return clamped(nearest_whole(number / step) + origin, 0, 255); }))
    return {*std::move(whole), scale, zero};
  return {array::clamp(rounded(x / divisor) + zero, 0, 255), scale, zero};
}

}  // namespace

std::int64_t quantised_type(const Node& node, std::optional<DType> of_zero) {
  const std::int64_t named = node.integer("output_dtype", 0);
  if (named != 0 || !of_zero) return named == 0 ? 2 : named;
  if (*of_zero == DType::uint8) return 2;
  if (*of_zero == DType::int8) return 3;
  fail(Fault::unsupported, "numbers are not quantised to {}", to_string(*of_zero));
}

std::optional<WholeRange> whole_range(std::int64_t onnx_type) {
  switch (onnx_type) {
    case 2:
      return WholeRange{0, 255};
    case 3:
      return WholeRange{-128, 127};
    case 4:
      return WholeRange{0, 65535};
    case 5:
      return WholeRange{-32768, 32767};
    case 21:
      return WholeRange{0, 15};
    case 22:
      return WholeRange{-8, 7};
    case 25:
      return WholeRange{0, 3};
    case 26:
      return WholeRange{-2, 1};
    default:
      return std::nullopt;
  }
}

Array rounded_by(const Array& x, const std::function<float(float)>& function) {
  Array host = x.detach().to(DType::float32).clone().contiguous();
  float* const values = host.elements<float>();
  for (std::int64_t i = 0; i < host.count(); ++i) values[i] = function(values[i]);
  const Array rounded = host;
  return x.requires_grad() ? x + (rounded - x).detach() : rounded;
}

Outputs quantize_linear(const Call& call) {
  const Array x = is_real(call.input(0).dtype()) ? call.input(0) : call.input(0).to(DType::float32);
  const std::int64_t type =
      quantised_type(call.node, call.has(2) ? std::optional(call.input(2).dtype()) : std::nullopt);
  const Array scale = spread(call, call.input(1).to(x.dtype()), x);
  if (is_short_float(type))
    return {to_short_float(x / scale, static_cast<ShortFloat>(type), call.node.integer("saturate", 1) != 0)};
  const std::optional<WholeRange> range = whole_range(type);
  if (!range) fail(Fault::unsupported, "numbers are not quantised to ONNX element type {}", type);
  Array whole = rounded(x / scale);
  if (call.has(2)) whole = whole + spread(call, call.input(2), x).to(x.dtype());
  return {array::clamp(whole, range->low, range->high)};
}

Outputs dequantize_linear(const Call& call) {
  const Array& scale = call.input(1);
  if (!is_real(scale.dtype())) fail(Fault::model, "the scale is of {}", to_string(scale.dtype()));
  Array x = call.input(0).to(scale.dtype());
  const bool one_zero = !call.has(2) || (call.input(2).count() == 1 && call.input(2).rank() <= 1);
  if (scale.count() == 1 && scale.rank() <= 1 && one_zero && scale.dtype() == DType::float32 &&
      !scale.requires_grad()) {
    const float step = scale.item<float>(), zero = call.has(2) ? call.input(2).item<float>() : 0;
    if (auto numbers = in_one_pass(x, [=](float whole) { return (whole - zero) * step; }))
      return {*std::move(numbers)};
  }
  if (call.has(2)) x = x - spread(call, call.input(2), x).to(scale.dtype());
  return {x * spread(call, scale, x)};
}

Outputs dynamic_quantize_linear(const Call& call) {
  const auto [whole, scale, zero] = dynamically_quantised(call.input(0));
  return {whole, scale, zero.to(DType::uint8)};
}

Array dynamically_rounded(const Array& x) {
  const auto [whole, scale, zero] = dynamically_quantised(x);
  return (whole - zero) * scale;
}

}  // namespace assay::operators
