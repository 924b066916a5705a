// Pictures made larger or smaller, axis by axis.

#include <algorithm>
#include <array>
#include <cmath>

#include "assay/engine/torch/module/operators.h"

namespace assay::torch_module {
namespace {

struct ResizedAxis {
  std::int64_t axis, from, to;
  float scale;
};

std::vector<ResizedAxis> resized_axes(const Form& form) {
  Ints all;
  for (std::int64_t axis = 0; axis < form.rank(); ++axis) all.push_back(axis);
  const Ints axes = form.integers("axes", all);
  const std::vector<double> scales = form.numbers(2);
  std::vector<ResizedAxis> found;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const std::int64_t axis = Form::from_front(axes[i], form.rank());
    const std::int64_t from = form.shape(0)[static_cast<std::size_t>(axis)],
                       to = form.result()[static_cast<std::size_t>(axis)];
    const float scale =
        scales.empty() ? static_cast<float>(to) / static_cast<float>(from) : static_cast<float>(scales.at(i));
    if (from != to || scale != 1) found.push_back({axis, from, to, scale});
  }
  return found;
}

// Where position i lies in the input. In single precision, as other runtimes compute it, so that ties of the
// nearest mode fall the same way.
float source_of(std::string_view mode, const ResizedAxis& axis, std::int64_t i) {
  const auto at = static_cast<float>(i);
  if (mode == "asymmetric") return at / axis.scale;
  if (mode == "align_corners")
    return axis.to == 1 ? 0 : at * static_cast<float>(axis.from - 1) / static_cast<float>(axis.to - 1);
  if (mode == "pytorch_half_pixel" && axis.to <= 1) return 0;
  return (at + 0.5F) / axis.scale - 0.5F;
}

float nearest_to(std::string_view mode, float position) {
  if (mode == "round_prefer_floor") return std::ceil(position - 0.5F);
  if (mode == "round_prefer_ceil") return std::floor(position + 0.5F);
  return mode == "floor" ? std::floor(position) : std::ceil(position);
}

bool is_one_of(std::string_view word, std::initializer_list<std::string_view> words) {
  return std::ranges::find(words, word) != words.end();
}

Tensor along(const Tensor& x, const ResizedAxis& axis, const Form& form) {
  const bool nearest = form.text("mode", "nearest") == "nearest";
  const std::string coordinates = form.text("coordinate_transformation_mode", "half_pixel"),
                    rounding = form.text("nearest_mode", "round_prefer_floor");
  Ints low, high;
  std::vector<float> share;
  for (std::int64_t i = 0; i < axis.to; ++i) {
    const float position = source_of(coordinates, axis, i);
    const float first = nearest ? nearest_to(rounding, position) : std::floor(position);
    const auto index = static_cast<std::int64_t>(first);
    low.push_back(std::clamp<std::int64_t>(index, 0, axis.from - 1));
    high.push_back(std::clamp<std::int64_t>(index + 1, 0, axis.from - 1));
    share.push_back(position - first);
  }
  const auto picked = [&](const Ints& positions) {
    return at::index_select(x, axis.axis, at::tensor(positions, at::kLong).to(x.device()));
  };
  if (nearest) return picked(low);
  Ints shape(static_cast<std::size_t>(x.dim()), 1);
  shape[static_cast<std::size_t>(axis.axis)] = axis.to;
  const Tensor weight = at::tensor(share, at::kFloat).to(x.device()).reshape(shape);
  return picked(low) * (1 - weight) + picked(high) * weight;
}

}  // namespace

bool takes_resize(const Form& form) {
  const auto axes = resized_axes(form);
  return is_one_of(form.text("mode", "nearest"), {"nearest", "linear"}) &&
         is_one_of(form.text("coordinate_transformation_mode", "half_pixel"),
                   {"asymmetric", "align_corners", "half_pixel", "pytorch_half_pixel"}) &&
         is_one_of(form.text("nearest_mode", "round_prefer_floor"),
                   {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"}) &&
         form.text("keep_aspect_ratio_policy", "stretch") == "stretch" && form.integer("antialias", 0) == 0 &&
         form.integer("exclude_outside", 0) == 0 &&
         std::ranges::none_of(axes, [](const ResizedAxis& axis) { return axis.axis == 0; });
}

Outputs resize(const Call& call) {
  Tensor x = call.x();
  for (const ResizedAxis& axis : resized_axes(call)) x = along(x, axis, call);
  return {x};
}

}  // namespace assay::torch_module
