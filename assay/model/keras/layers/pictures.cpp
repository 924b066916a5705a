// Layers that change pictures whether or not the network learns: sizes, crops, contrast.

#include <algorithm>
#include <cmath>
#include <numbers>

#include "assay/model/keras/arrays.h"
#include "assay/model/keras/layers/layers.h"
#include "assay/model/keras/layers/window.h"

namespace assay::keras {
namespace {

constexpr std::int64_t largest_side = 1 << 16;  // of pictures that are made with weights for each position

// Lanczos' kernel of a radius at distance x (Lanczos 1956; Duchon 1979).
double lanczos(double x, double radius) {
  if (x >= radius) return 0;
  if (x < 1e-3) return 1;
  const double angle = std::numbers::pi * x;
  return radius * std::sin(angle) * std::sin(angle / radius) / (angle * angle);
}

// Weights [to, from]: each row, of sum 1, makes one of `to` positions out of `from`. Smaller pictures widen
// the kernel where `antialias` says so.
Array lanczos_weights(std::int64_t from, std::int64_t to, double radius, bool antialias) {
  const double step = static_cast<double>(from) / to;
  const double wider = antialias ? std::max(step, 1.0) : 1;
  std::vector<float> all;
  std::vector<double> row(from);
  for (std::int64_t i = 0; i < to; ++i) {
    const double centre = (i + 0.5) * step - 0.5;
    double sum = 0;
    for (std::int64_t k = 0; k < from; ++k) sum += row[k] = lanczos(std::abs(centre - k) / wider, radius);
    for (const double weight : row) all.push_back(static_cast<float>(weight / sum));
  }
  return Array::of(Shape{to, from}, all);
}

// Rows and columns of pictures [n, channels, rows, columns] as weighted sums of those there are.
ValueId by_weights(LayerBuilder& layer, ValueId picture, const Shape& from, const Shape& to, double radius,
                   bool antialias) {
  if (std::ranges::max(from) > largest_side || std::ranges::max(to) > largest_side)
    layer.unsupported(fmt::format("pictures of {}", to_string(to)), "use bilinear interpolation");
  const ValueId rows = layer.constant("rows", lanczos_weights(from[0], to[0], radius, antialias));
  const ValueId columns =
      layer.constant("columns", transposed(lanczos_weights(from[1], to[1], radius, antialias), {1, 0}));
  const ValueId tall = layer.add("MatMul", "_rows", {rows, picture}, {}, "_rows");
  return layer.add("MatMul", "", {tall, columns}, {}, "");
}

}  // namespace

KerasTensor interpolated(LayerBuilder& layer, const Image& like, ValueId picture, const Shape& size,
                         const Interpolation& how) {
  const auto lanczos_of = [&](double radius) {
    return image_result(
        layer, like,
        by_weights(layer, picture, how.from.empty() ? like.positions : how.from, size, radius, how.antialias),
        like.channels, size);
  };
  if (how.method == "lanczos3") return lanczos_of(3);
  if (how.method == "lanczos5") return lanczos_of(5);
  std::map<std::string, Attribute> mode;
  if (how.method == "nearest") {
    mode = {{"mode", std::string("nearest")}, {"nearest_mode", std::string("round_prefer_ceil")}};
  } else if (how.method == "bilinear") {
    mode = {{"mode", std::string("linear")}};
  } else if (how.method == "bicubic") {
    mode = {{"mode", std::string("cubic")}, {"cubic_coeff_a", -0.5F}, {"exclude_outside", std::int64_t{1}}};
  } else {
    layer.unsupported(fmt::format("interpolation '{}'", how.method),
                      "use nearest, bilinear, bicubic, lanczos3 or lanczos5");
  }
  if (how.antialias && how.method != "nearest") {
    mode["antialias"] = std::int64_t{1};
    mode["exclude_outside"] = std::int64_t{1};
  }
  mode["coordinate_transformation_mode"] = std::string("half_pixel");
  mode["axes"] = std::vector<std::int64_t>{2, 3};
  const ValueId sizes = layer.constant("sizes", integers(size));
  const ValueId value = layer.add("Resize", "", {picture, no_value, no_value, sizes}, std::move(mode), "");
  return image_result(layer, like, value, like.channels, size);
}

namespace {

Shape size_of(const LayerBuilder& layer) {
  return {layer.config().size("height", 0), layer.config().size("width", 0)};
}

void require_known(const LayerBuilder& layer, const Image& x) {
  if (x.positions[0] < 1 || x.positions[1] < 1)
    layer.invalid("the size of its pictures must be known; give the model's Input a full shape");
}

// The side that makes the ratio of two sides that of `size`, given the other side.
std::int64_t side_for(const Shape& positions, const Shape& size, std::size_t i) {
  return positions[1 - i] * size[i] / size[1 - i];
}

ValueId cut(LayerBuilder& layer, const Image& x, const Shape& starts, const Shape& extents,
            const char* suffix) {
  const Shape ends{starts[0] + extents[0], starts[1] + extents[1]};
  return layer.add("Slice", suffix,
                   {x.tensor.value, layer.constant("starts", integers(starts)),
                    layer.constant("ends", integers(ends)), layer.constant("axes", integers({2, 3}))},
                   {}, suffix);
}

// The largest window in the middle with the ratio of the sides that `size` has, in that size.
KerasTensor fitted_by_cutting(LayerBuilder& layer, const Image& x, const Shape& size, Interpolation how) {
  require_known(layer, x);
  Shape extents, starts;
  for (std::size_t i = 0; i < 2; ++i) {
    const std::int64_t side = side_for(x.positions, size, i);
    if (side < 1 && layer.keras_major() < 3)
      layer.invalid(fmt::format("cannot cut {} from {}", to_string(size), to_string(x.positions)));
    extents.push_back(std::clamp<std::int64_t>(side, 1, x.positions[i]));
    starts.push_back((x.positions[i] - extents[i]) / 2);
  }
  how.from = extents;
  return interpolated(layer, x, cut(layer, x, starts, extents, "_window"), size, how);
}

// The whole picture in the middle of one with the ratio of the sides that `size` has, in that size.
KerasTensor fitted_by_padding(LayerBuilder& layer, const Image& x, const Shape& size, Interpolation how) {
  require_known(layer, x);
  const std::string mode = layer.config().text("fill_mode", "constant");
  if (mode != "constant") layer.unsupported(fmt::format("fill_mode '{}'", mode), "Keras has constant");
  std::vector<std::int64_t> pads(8, 0);
  how.from = x.positions;
  for (std::size_t i = 0; i < 2; ++i) {
    const std::int64_t margin =
        (std::max(x.positions[i], side_for(x.positions, size, i)) - x.positions[i]) / 2;
    if (margin == 0) continue;
    pads[2 + i] = pads[6 + i] = margin;
    how.from[i] += 2 * margin;
    break;
  }
  const auto fill = layer.config().single("fill_value", 0);
  const ValueId padded = layer.add(
      "Pad", "_padded",
      {x.tensor.value, layer.constant("pads", integers(pads)), layer.constant("fill", scalar(fill))},
      {{"mode", std::string("constant")}}, "_padded");
  return interpolated(layer, x, padded, size, how);
}

// x * scale + offset
ValueId line(LayerBuilder& layer, ValueId x, double scale, double offset, const std::string& suffix) {
  const std::string name = suffix.empty() ? "back" : suffix.substr(1);
  const ValueId scaled = layer.add(
      "Mul", suffix + "_scaled", {x, layer.constant(name + "_scale", scalar(scale))}, {}, suffix + "_scaled");
  return layer.add("Add", suffix, {scaled, layer.constant(name + "_offset", scalar(offset))}, {}, suffix);
}

}  // namespace

// Pictures of another size, between pixel centres.
KerasTensors resizing(LayerBuilder& layer, std::span<const KerasTensor> inputs) {
  const Image x = as_image(layer, inputs, 2);
  const LayerConfig& config = layer.config();
  const Interpolation how{.method = config.text("interpolation", "bilinear"),
                          .antialias = config.flag("antialias", false)};
  if (config.flag("crop_to_aspect_ratio", false)) return {fitted_by_cutting(layer, x, size_of(layer), how)};
  if (config.flag("pad_to_aspect_ratio", false)) return {fitted_by_padding(layer, x, size_of(layer), how)};
  if (how.method.starts_with("lanczos")) require_known(layer, x);
  return {interpolated(layer, x, x.tensor.value, size_of(layer), how)};
}

// The middle of pictures; of those that are smaller, the largest window of the same ratio, resized.
KerasTensors center_crop(LayerBuilder& layer, std::span<const KerasTensor> inputs) {
  const Image x = as_image(layer, inputs, 2);
  require_known(layer, x);
  const Shape size = size_of(layer);
  if (size[0] > x.positions[0] || size[1] > x.positions[1]) return {fitted_by_cutting(layer, x, size, {})};
  const Shape starts{(x.positions[0] - size[0]) / 2, (x.positions[1] - size[1]) / 2};
  return {image_result(layer, x, cut(layer, x, starts, size, ""), x.channels, size)};
}

// In use, Keras 2 resizes the largest window in the middle that has the ratio of the sides requested. Keras 3
// did so as well, until it gave pictures as they came.
KerasTensors random_crop(LayerBuilder& layer, std::span<const KerasTensor> inputs) {
  const Image x = as_image(layer, inputs, 2);
  if (x.positions == size_of(layer)) return identity(layer, inputs);
  if (layer.keras_major() >= 3) {
    layer.unsupported("pictures of another size than its own, for which versions of Keras 3 differ",
                      "put a Resizing layer in front of it");
  }
  return {fitted_by_cutting(layer, x, size_of(layer), {})};
}

// Each channel of each picture spread over the whole range; one of a single value stays as it is.
KerasTensors auto_contrast(LayerBuilder& layer, std::span<const KerasTensor> inputs) {
  KerasTensor x = layer.single(inputs);
  layer.require_rank(x, 4);
  auto range = layer.config().reals("value_range");
  if (range.empty()) range = {0, 255};
  if (range.size() != 2 || !(range[0] < range[1]))
    layer.invalid("'value_range' is not a pair of rising numbers");
  const auto step = [&](const char* op, const char* suffix, std::vector<ValueId> operands) {
    return layer.add(op, suffix, std::move(operands), {}, suffix);
  };
  const ValueId axes = layer.constant("axes", integers({stored_axis(x, 1), stored_axis(x, 2)}));
  const double wide = 255 / (range[1] - range[0]);
  const ValueId bytes = line(layer, x.value, wide, -range[0] * wide, "_bytes");
  const ValueId low = step("ReduceMin", "_low", {bytes, axes}),
                high = step("ReduceMax", "_high", {bytes, axes});
  const ValueId spread =
      step("Div", "_spread", {layer.constant("whole", scalar(255)), step("Sub", "_extent", {high, low})});
  const ValueId moved = step("Mul", "_moved", {step("Sub", "_from_low", {bytes, low}), spread});
  const ValueId kept =
      step("Clip", "_kept", {moved, layer.constant("least", scalar(0)), layer.constant("most", scalar(255))});
  const ValueId back = line(layer, kept, 1 / wide, range[0], "_range");
  return {x.with(step("Where", "", {step("Equal", "_flat", {low, high}), x.value, back}))};
}

}  // namespace assay::keras
