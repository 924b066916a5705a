// Numbers with mean 0 and variance 1.

#include "assay/array/loops.h"
#include "assay/array/tape.h"

namespace assay::array {
namespace {

// One number a channel, next to the channels of an array.
Array beside_channels(const Array& numbers, const Array& a) {
  Shape shape(a.rank(), 1);
  shape[1] = numbers.count();
  return numbers.reshape(shape);
}

void require_channels(const Array& a, const Array& numbers, std::string_view what) {
  if (a.rank() < 2) fail(Fault::model, "shape {} has no channels", to_string(a.shape()));
  if (numbers.defined() && numbers.count() != a.size(1))
    fail(Fault::model, "{} of shape {} for {} channels", what, to_string(numbers.shape()), a.size(1));
}

// x * factor + shift with both of them by channel, in one pass.
Array scaled(const Array& a, const Array& factor, const Array& shift) {
  return a * beside_channels(factor, a) + beside_channels(shift, a);
}

// Over the last axis of a matrix: (x - mean) / sqrt(variance + epsilon).
struct Rows {
  Array normal, scale;  // of the matrix's shape, and 1 / deviation [rows, 1]
};
Rows normal_rows(const Array& matrix, double epsilon) {
  const Array a = matrix.contiguous();
  const std::int64_t rows = a.size(0), width = a.size(1);
  Rows made{Array::uninitialised(a.dtype(), a.shape()), Array::uninitialised(a.dtype(), {rows, 1})};
  with_real(a.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const T* const from = elements<T>(a);
    T *const to = elements<T>(made.normal), *const scales = elements<T>(made.scale);
    const std::size_t grain = std::max<std::int64_t>(1, 8192 / std::max<std::int64_t>(1, width));
    split_loop(rows, grain, [&](std::size_t begin, std::size_t end) {
      for (std::size_t r = begin; r < end; ++r) {
        const T* const x = from + static_cast<std::int64_t>(r) * width;
        T* const y = to + static_cast<std::int64_t>(r) * width;
        double sum = 0, squares = 0;
        for (std::int64_t i = 0; i < width; ++i) sum += x[i];
        const double mean = sum / width;
        for (std::int64_t i = 0; i < width; ++i) {
          const double apart = x[i] - mean;
          squares += apart * apart;
        }
        const double scale = 1 / std::sqrt(squares / width + epsilon);
        scales[r] = static_cast<T>(scale);
        for (std::int64_t i = 0; i < width; ++i) y[i] = static_cast<T>((x[i] - mean) * scale);
      }
    });
  });
  return made;
}

// The same with a gradient, for any shape whose last elements, `width` at a time, are a row.
Array normalised_rows(const Array& given, std::int64_t width, double epsilon) {
  const Array a = is_real(given.dtype()) ? given : given.to(DType::float32);
  const Array matrix = a.reshape({width == 0 ? 0 : a.count() / width, width});
  const Rows rows = normal_rows(matrix.detach(), epsilon);
  const Array out = recorded_map(rows.normal, matrix, [rows](const Array& g) {
    const Array along = mean(g * rows.normal, {1}, true);
    return (g - mean(g, {1}, true) - rows.normal * along) * rows.scale;
  });
  return out.reshape(a.shape());
}

}  // namespace

Normalised batch_norm(const Array& a, const Array& scale, const Array& shift, double epsilon) {
  if (is_narrow(a.dtype())) {
    const Normalised wide = batch_norm(widened(a), widened(scale), widened(shift), epsilon);
    const DType type = is_real(a.dtype()) ? a.dtype() : DType::float32;
    return {wide.result.to(type), wide.mean.to(type), wide.variance.to(type)};
  }
  require_channels(a, scale, "the scale");
  require_channels(a, shift, "the shift");
  Shape axes{0};
  for (std::int64_t axis = 2; axis < a.rank(); ++axis) axes.push_back(axis);
  const Array in_front = a.movedim(1, 0);
  Array result = normalised_rows(in_front, a.size(1) == 0 ? 0 : a.count() / a.size(1), epsilon).movedim(0, 1);
  if (scale.defined()) result = result * beside_channels(scale, a);
  if (shift.defined()) result = result + beside_channels(shift, a);
  return {result, mean(a.detach(), axes), var(a.detach(), axes)};
}

Array batch_norm(const Array& a, const Array& scale, const Array& shift, const Array& mean,
                 const Array& variance, double epsilon) {
  if (is_short(a.dtype()))
    return computed_wide(a, [&](const Array& wide) {
      return batch_norm(wide, widened(scale), widened(shift), widened(mean), widened(variance), epsilon);
    });
  for (const auto& [numbers, what] : {std::pair(scale, "the scale"), std::pair(shift, "the shift"),
                                      std::pair(mean, "the mean"), std::pair(variance, "the variance")})
    require_channels(a, numbers, what);
  Array factor = rsqrt(variance + epsilon);
  if (scale.defined()) factor = factor * scale;
  Array offset = -mean * factor;
  if (shift.defined()) offset = offset + shift;
  return scaled(a, factor, offset);
}

Array layer_norm(const Array& a, std::int64_t axes, const Array& scale, const Array& shift, double epsilon) {
  if (is_short(a.dtype()))
    return computed_wide(a, [&](const Array& wide) {
      return layer_norm(wide, axes, widened(scale), widened(shift), epsilon);
    });
  if (axes < 1 || axes > a.rank())
    fail(Fault::model, "normalisation over the last {} axes of shape {}, which does not have them", axes,
         to_string(a.shape()));
  std::int64_t width = 1;
  for (std::int64_t axis = a.rank() - axes; axis < a.rank(); ++axis) width *= a.size(axis);
  Array out = normalised_rows(a, width, epsilon);
  if (scale.defined()) out = out * scale;
  return shift.defined() ? out + shift : out;
}

Array group_norm(const Array& a, std::int64_t groups, const Array& scale, const Array& shift,
                 double epsilon) {
  if (is_short(a.dtype()))
    return computed_wide(a, [&](const Array& wide) {
      return group_norm(wide, groups, widened(scale), widened(shift), epsilon);
    });
  require_channels(a, scale, "the scale");
  require_channels(a, shift, "the shift");
  if (groups < 1 || a.size(1) % groups != 0)
    fail(Fault::model, "{} groups do not divide {} channels", groups, a.size(1));
  const std::int64_t rows = a.size(0) * groups;
  Array out = normalised_rows(a, rows == 0 ? 0 : a.count() / rows, epsilon);
  if (scale.defined()) out = out * beside_channels(scale, a);
  return shift.defined() ? out + beside_channels(shift, a) : out;
}

}  // namespace assay::array
