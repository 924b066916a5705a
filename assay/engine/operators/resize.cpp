// Resize by interpolation. Axes are independent: along each, an output element is a weighted sum of one
// (nearest), two (linear) or four (cubic) input elements around the position it falls on, more where a
// picture is made smaller with `antialias`.

#include <algorithm>
#include <array>
#include <cmath>

#include "assay/engine/operators/parts/support.h"

namespace assay::operators {
namespace {

struct Axis {
  std::int64_t axis, from, to;  // number of positions before and after
  float scale;
  float start = 0, end = 1;  // of the region of interest, in shares of the input
};

std::vector<Axis> by_scales(const Array& x, const Ints& axes, const Array& scales) {
  const Array host = scales.detach().to(DType::float32).contiguous();
  std::vector<Axis> plan;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const float scale = host.elements<float>()[i];
    if (!(scale > 0) || !std::isfinite(scale))
      fail(Fault::model, "the scale of axis {} is {}", axes[i], scale);
    const std::int64_t from = x.size(axes[i]);
    const double to = std::floor(static_cast<double>(from) * scale);
    check_size({static_cast<std::int64_t>(std::min(to, 1e18))}, size_of(x.dtype()));
    plan.push_back({axes[i], from, static_cast<std::int64_t>(to), scale});
  }
  return plan;
}

std::vector<Axis> by_sizes(const Array& x, const Ints& axes, const Ints& sizes, const std::string& policy) {
  std::vector<Axis> plan;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    require_in("a size", sizes[i], 1, std::int64_t{1} << 40);
    const std::int64_t from = std::max<std::int64_t>(1, x.size(axes[i]));
    plan.push_back({axes[i], from, sizes[i], static_cast<float>(sizes[i]) / static_cast<float>(from)});
  }
  if (policy == "stretch" || plan.empty()) return plan;
  if (policy != "not_larger" && policy != "not_smaller") {
    fail(Fault::model, "keep_aspect_ratio_policy '{}' is not stretch, not_larger or not_smaller", policy);
  }
  const auto [least, most] = std::ranges::minmax_element(plan, {}, &Axis::scale);
  const float scale = policy == "not_larger" ? least->scale : most->scale;
  for (Axis& axis : plan) {
    axis.scale = scale;
    axis.to = static_cast<std::int64_t>(std::floor(scale * static_cast<float>(axis.from) + 0.5f));
  }
  return plan;
}

std::vector<Axis> read_plan(const Call& call, const Array& x) {
  const Ints axes = call.axes(4, x.rank(), all_axes(x.rank()));  // there is no input 4: from the attribute
  const bool scaled = call.has(2) && call.input(2).count() > 0,
             sized = call.has(3) && call.input(3).count() > 0;
  if (scaled == sized) fail(Fault::model, "either scales or sizes are needed");
  const Array& numbers = call.input(scaled ? 2 : 3);
  if (numbers.count() != std::ssize(axes)) {
    fail(Fault::model, "{} numbers are given to resize {} axes", numbers.count(), axes.size());
  }
  if (scaled) return by_scales(x, axes, numbers);
  return by_sizes(x, axes, call.integers(3), call.node.text("keep_aspect_ratio_policy", "stretch"));
}

// The position in the input that output position i falls on. In single precision, as other runtimes compute
// it, so that ties of the nearest mode fall the same way.
float source(const std::string& mode, const Axis& axis, std::int64_t i) {
  const auto at = static_cast<float>(i), from = static_cast<float>(axis.from),
             to = static_cast<float>(axis.to);
  if (mode == "asymmetric") return at / axis.scale;
  if (mode == "tf_crop_and_resize") {
    if (axis.to == 1) return (axis.start + axis.end) / 2 * (from - 1);
    return axis.start * (from - 1) + at * (axis.end - axis.start) * (from - 1) / (to - 1);
  }
  if (mode == "align_corners") return axis.to == 1 ? 0 : at * (from - 1) / (to - 1);
  if (mode == "pytorch_half_pixel" && axis.to <= 1) return 0;
  if (mode == "tf_half_pixel_for_nn") return (at + 0.5f) / axis.scale;  // of operator sets 11 and 12
  const float half_pixel = (at + 0.5f) / axis.scale - 0.5f;
  if (mode == "half_pixel" || mode == "pytorch_half_pixel") return half_pixel;
  if (mode == "half_pixel_symmetric") return from / 2 * (1 - to / (axis.scale * from)) + half_pixel;
  fail(Fault::unsupported, "coordinate_transformation_mode '{}' is not supported", mode);
}

float nearest(const std::string& mode, float position) {
  if (mode == "round_prefer_floor") return std::ceil(position - 0.5f);
  if (mode == "round_prefer_ceil") return std::floor(position + 0.5f);
  if (mode == "floor") return std::floor(position);
  if (mode == "ceil") return std::ceil(position);
  fail(Fault::model, "nearest_mode '{}' is not round_prefer_floor, round_prefer_ceil, floor or ceil", mode);
}

// One of the input elements that every output element along an axis is the weighted sum of.
struct Tap {
  std::vector<std::int64_t> positions;
  std::vector<float> weights;
};

// Weights of the four neighbours at distances 1 + t, t, 1 - t, 2 - t (Keys 1981).
std::array<float, 4> cubic(float t, float a) {
  const auto near = [a](float d) { return ((a + 2) * d - (a + 3)) * d * d + 1; };
  const auto far = [a](float d) { return ((a * d - 5 * a) * d + 8 * a) * d - 4 * a; };
  return {far(1 + t), near(t), near(1 - t), far(2 - t)};
}

struct Interpolation {
  std::string mode, coordinates, nearest_mode;
  float cubic_a;
  bool exclude_outside, antialias;

  bool blurs(const Axis& axis) const { return antialias && axis.scale < 1 && mode != "nearest"; }

  // Half the width of the widened filter, in whole elements.
  std::int64_t reach(const Axis& axis) const {
    const float half = (mode == "linear" ? 1.0F : 2.0F) / (blurs(axis) ? axis.scale : 1.0F);
    return static_cast<std::int64_t>(std::min(std::ceil(half), 1e9F));
  }

  std::size_t taps(const Axis& axis) const {
    return mode == "nearest" ? 1 : static_cast<std::size_t>(2 * reach(axis));
  }
  // Offset of the first tap from the element before the position.
  std::int64_t first(const Axis& axis) const { return mode == "nearest" ? 0 : 1 - reach(axis); }

  std::vector<float> weights(float fraction, const Axis& axis) const {
    if (mode == "nearest") return {1};
    if (blurs(axis)) return widened(fraction, axis);
    if (mode == "linear") return {1 - fraction, fraction};
    const auto four = cubic(fraction, cubic_a);
    return {four.begin(), four.end()};
  }

  // The filter over as many input elements as one output element stands for, with the sum 1.
  std::vector<float> widened(float fraction, const Axis& axis) const {
    std::vector<float> values;
    float total = 0;
    for (std::size_t t = 0; t < taps(axis); ++t) {
      const float distance =
          std::abs((static_cast<float>(first(axis) + static_cast<std::int64_t>(t)) - fraction) * axis.scale);
      float value = std::max(0.0F, 1 - distance);
      if (mode == "cubic") {
        value = distance < 1   ? cubic(distance, cubic_a)[1]
                : distance < 2 ? cubic(distance - 1, cubic_a)[0]
                               : 0.0F;
      }
      values.push_back(value);
      total += value;
    }
    for (float& value : values) value /= total;
    return values;
  }

  std::vector<Tap> along(const Axis& axis) const {
    std::vector<Tap> all(taps(axis));
    for (std::int64_t i = 0; i < axis.to; ++i) {
      float position = source(coordinates, axis, i);
      const bool outside = crops() && (position < 0 || position > static_cast<float>(axis.from - 1));
      if (mode == "nearest") position = nearest(nearest_mode, position);
      const float base = blurs(axis) ? std::ceil(position) - 1 : std::floor(position);
      auto weight = weights(position - base, axis);
      float total = 0;
      for (std::size_t t = 0; t < all.size(); ++t) {
        const std::int64_t at = static_cast<std::int64_t>(base) + first(axis) + static_cast<std::int64_t>(t);
        if (exclude_outside && (at < 0 || at >= axis.from)) weight[t] = 0;
        total += weight[t];
        all[t].positions.push_back(std::clamp<std::int64_t>(at, 0, axis.from - 1));
      }
      for (std::size_t t = 0; t < all.size(); ++t) {
        all[t].weights.push_back(outside ? 0 : exclude_outside ? weight[t] / total : weight[t]);
      }
    }
    return all;
  }

  bool crops() const { return coordinates == "tf_crop_and_resize"; }
  // 1 for positions along the axis that lie outside the picture.
  std::vector<float> outside(const Axis& axis) const {
    std::vector<float> flags;
    for (std::int64_t i = 0; i < axis.to; ++i) {
      const float position = source(coordinates, axis, i);
      flags.push_back(position < 0 || position > static_cast<float>(axis.from - 1) ? 1 : 0);
    }
    return flags;
  }
};

Interpolation read_interpolation(const Call& call) {
  Interpolation how;
  how.mode = call.node.text("mode", "nearest");
  how.coordinates = call.node.text("coordinate_transformation_mode", "half_pixel");
  how.nearest_mode = call.node.text("nearest_mode", "round_prefer_floor");
  how.cubic_a = call.node.real("cubic_coeff_a", -0.75f);
  how.antialias = call.node.integer("antialias", 0) != 0;
  how.exclude_outside = (how.mode == "cubic" || (how.mode == "linear" && how.antialias)) &&
                        call.node.integer("exclude_outside", 0) != 0;
  if (how.mode != "nearest" && how.mode != "linear" && how.mode != "cubic") {
    fail(Fault::model, "mode '{}' is not nearest, linear or cubic", how.mode);
  }
  return how;
}

Array interpolate(const Array& x, const Axis& axis, const std::vector<Tap>& taps, bool weighted_anyway) {
  Ints shape(x.shape().size(), 1);
  shape[axis.axis] = axis.to;
  Array sum;
  for (const Tap& tap : taps) {
    const Array part = array::index_select(x, axis.axis, array::tensor(tap.positions, DType::int64));
    if (taps.size() == 1 && !weighted_anyway) return part;
    const Array weighted = part * array::tensor(tap.weights, DType::float32).to(x.dtype()).reshape(shape);
    sum = sum.defined() ? sum + weighted : weighted;
  }
  return sum;
}

}  // namespace

Outputs resize(const Call& call) {
  Array x = call.input(0);
  const Interpolation how = read_interpolation(call);
  std::vector<Axis> plan = read_plan(call, x);
  if (how.crops()) {
    const Array region = call.input(1).detach().to(DType::float32).contiguous();
    const std::size_t axes = plan.size();
    if (region.count() != static_cast<std::int64_t>(2 * axes))
      fail(Fault::model, "the region has {} numbers for {} axes", region.count(), axes);
    for (std::size_t i = 0; i < axes; ++i) {
      plan[i].start = region.elements<float>()[i];
      plan[i].end = region.elements<float>()[axes + i];
    }
  }
  if (how.mode != "nearest" && !is_real(x.dtype())) {
    fail(Fault::unsupported, "mode '{}' is supported for floating-point numbers only", how.mode);
  }
  Ints shape = x.shape();
  for (const Axis& axis : plan) {
    if (axis.from < 1 || axis.to < 1 || x.size(axis.axis) < 1) {
      fail(Fault::model, "axis {} would go from {} to {} positions", axis.axis, x.size(axis.axis), axis.to);
    }
    if (how.blurs(axis)) check_size({axis.to, 2 * how.reach(axis)}, 2 * sizeof(float));
    shape[axis.axis] = axis.to;
  }
  check_size(shape, size_of(x.dtype()));
  Array outside;  // 1 where an output element lies outside the picture along any axis
  for (const Axis& axis : plan) {
    if (axis.to == axis.from && axis.scale == 1 && !how.crops()) continue;
    x = interpolate(x, axis, how.along(axis), how.crops());
    if (!how.crops()) continue;
    Ints along(shape.size(), 1);
    along[axis.axis] = axis.to;
    const Array flags = array::tensor(how.outside(axis), DType::float32).to(x.dtype()).reshape(along);
    outside = outside.defined() ? array::maximum(outside, flags) : flags;
  }
  if (outside.defined()) x = x + outside * call.node.real("extrapolation_value", 0);
  return {x};
}

}  // namespace assay::operators
