// Pooling, up-sampling, and pictures of other sizes.

#include <algorithm>

#include "assay/model/keras/arrays.h"
#include "assay/model/keras/layers/layers.h"
#include "assay/model/keras/layers/window.h"

namespace assay::keras {
namespace {

KerasTensors pooling(LayerBuilder& layer, std::span<const KerasTensor> inputs, const char* op) {
  const std::size_t rank = spatial_rank(layer.class_name());
  const Image x = as_image(layer, inputs, rank);
  const auto size = layer.config().sizes("pool_size", rank, 2);
  Window window{.size = size,
                .stride = layer.config().has("strides") ? layer.config().sizes("strides", rank, 1) : size,
                .dilation = std::vector<std::int64_t>(rank, 1),
                .padding = layer.config().text("padding", "valid")};
  if (window.padding != "valid" && window.padding != "same") {
    layer.unsupported(fmt::format("padding '{}'", window.padding), "pooling has valid and same");
  }
  const ValueId value = layer.add(op, "", {x.tensor.value}, window_attributes(x.positions, window), "");
  return {image_result(layer, x, value, x.channels, positions_after(layer, x.positions, window))};
}

KerasTensors global_pooling(LayerBuilder& layer, std::span<const KerasTensor> inputs, const char* op) {
  const std::size_t rank = spatial_rank(layer.class_name());
  const Image x = as_image(layer, inputs, rank);
  if (layer.config().flag("keepdims", false)) {
    const ValueId value = layer.add(op, "", {x.tensor.value}, {}, "");
    return {image_result(layer, x, value, x.channels, Shape(rank, 1))};
  }
  const ValueId pooled = layer.add(op, "", {x.tensor.value}, {}, "_pooled");
  KerasTensor result =
      x.tensor.with(layer.add("Flatten", "_flat", {pooled}, {{"axis", std::int64_t{1}}}, ""));
  result.shape = {x.tensor.shape[0], x.channels};
  result.layout = Layout::keras;
  return {result};
}

}  // namespace

KerasTensors max_pooling(LayerBuilder& layer, std::span<const KerasTensor> inputs) {
  return pooling(layer, inputs, "MaxPool");
}
KerasTensors average_pooling(LayerBuilder& layer, std::span<const KerasTensor> inputs) {
  return pooling(layer, inputs, "AveragePool");  // padding is not counted, by ONNX's default as in Keras
}
KerasTensors global_max_pooling(LayerBuilder& layer, std::span<const KerasTensor> inputs) {
  return global_pooling(layer, inputs, "GlobalMaxPool");
}
KerasTensors global_average_pooling(LayerBuilder& layer, std::span<const KerasTensor> inputs) {
  const KerasTensor& given = layer.single(inputs);
  if (given.masked_by.empty()) return global_pooling(layer, inputs, "GlobalAveragePool");
  if (given.mask == no_value || given.rank() != 3 || layer.channels_first_config())
    layer.unsupported(fmt::format("the mask of layer '{}'", given.masked_by), "set its mask_zero to false");
  // The mean over the steps that count.
  const KerasTensor x = layer.as_keras(given);
  const auto step = [&](const char* op, const char* suffix, std::vector<ValueId> operands,
                        std::map<std::string, Attribute> attributes = {}) {
    return layer.add(op, suffix, std::move(operands), std::move(attributes), suffix);
  };
  const bool keeps = layer.config().flag("keepdims", false);
  const std::map<std::string, Attribute> keep{{"keepdims", std::int64_t{keeps}}};
  const ValueId axis = layer.constant("time_axis", integers({1}));
  const ValueId upright = step("Unsqueeze", "_upright", {x.mask, layer.constant("last", integers({2}))});
  const ValueId counts = step("Cast", "_counts", {upright}, {{"to", std::int64_t{1}}});  // 1: float32
  const ValueId sum = step("ReduceSum", "_sum", {step("Mul", "_counted", {x.value, counts}), axis}, keep);
  KerasTensor result =
      x.with(step("Div", "", {sum, step("ReduceSum", "_count", {counts, axis}, keep)})).without_mask();
  result.shape = keeps ? Shape{x.shape[0], 1, x.shape[2]} : Shape{x.shape[0], x.shape[2]};
  return {result};
}

namespace {

// Pictures of height and width `size`, between pixel centres.
KerasTensor resized(LayerBuilder& layer, const Image& x, ValueId picture, const Shape& size,
                    std::map<std::string, Attribute> mode) {
  mode["coordinate_transformation_mode"] = std::string("half_pixel");
  mode["axes"] = std::vector<std::int64_t>{2, 3};
  const ValueId sizes = layer.constant("sizes", integers(size));
  const ValueId value = layer.add("Resize", "", {picture, no_value, no_value, sizes}, std::move(mode), "");
  return image_result(layer, x, value, x.channels, size);
}

}  // namespace

KerasTensors up_sampling(LayerBuilder& layer, std::span<const KerasTensor> inputs) {
  const std::size_t rank = spatial_rank(layer.class_name());
  const Image x = as_image(layer, inputs, rank);
  const auto size = layer.config().sizes("size", rank, 2);
  const std::string method = layer.config().text("interpolation", "nearest");
  std::map<std::string, Attribute> attributes;
  if (method == "nearest") {
    attributes = {{"mode", std::string("nearest")},
                  {"coordinate_transformation_mode", std::string("asymmetric")},
                  {"nearest_mode", std::string("floor")}};
  } else if (method == "bilinear") {
    attributes = {{"mode", std::string("linear")},
                  {"coordinate_transformation_mode", std::string("half_pixel")}};
  } else {
    layer.unsupported(fmt::format("interpolation '{}'", method), "use nearest or bilinear");
  }
  std::vector<float> scales{1, 1};
  Shape positions;
  for (std::size_t i = 0; i < rank; ++i) {
    scales.push_back(static_cast<float>(size[i]));
    positions.push_back(x.positions[i] < 0 ? -1 : x.positions[i] * size[i]);
  }
  const ValueId factors =
      layer.constant("scales", Array::of(Shape{static_cast<std::int64_t>(scales.size())}, scales));
  const ValueId value = layer.add("Resize", "", {x.tensor.value, no_value, factors}, attributes, "");
  return {image_result(layer, x, value, x.channels, positions)};
}

// Pictures of another size, between pixel centres.
KerasTensors resizing(LayerBuilder& layer, std::span<const KerasTensor> inputs) {
  const Image x = as_image(layer, inputs, 2);
  for (const char* key : {"crop_to_aspect_ratio", "pad_to_aspect_ratio", "antialias"}) {
    if (layer.config().flag(key, false)) layer.unsupported(key, "leave it out");
  }
  const std::string method = layer.config().text("interpolation", "bilinear");
  std::map<std::string, Attribute> mode;
  if (method == "nearest") {
    mode = {{"mode", std::string("nearest")}, {"nearest_mode", std::string("round_prefer_ceil")}};
  } else if (method == "bilinear") {
    mode = {{"mode", std::string("linear")}};
  } else {
    layer.unsupported(fmt::format("interpolation '{}'", method), "use nearest or bilinear");
  }
  const Shape size{layer.config().size("height", 0), layer.config().size("width", 0)};
  return {resized(layer, x, x.tensor.value, size, std::move(mode))};
}

// In use, Keras 2 resizes the largest window in the middle that has the ratio of the sides asked for. Keras 3
// did so, too, until it gave pictures as they came.
KerasTensors random_crop(LayerBuilder& layer, std::span<const KerasTensor> inputs) {
  const Image x = as_image(layer, inputs, 2);
  const Shape size{layer.config().size("height", 0), layer.config().size("width", 0)};
  if (x.positions == size) return identity(layer, inputs);
  if (layer.keras_major() >= 3) {
    layer.unsupported("pictures of another size than its own, for which versions of Keras 3 differ",
                      "put a Resizing layer in front of it");
  }
  std::vector<std::int64_t> starts, ends;
  for (std::size_t i = 0; i < 2; ++i) {
    const std::int64_t extent = x.positions[i], other = x.positions[1 - i];
    if (extent < 1 || other < 1)
      layer.invalid("the size of its pictures must be known; give the model's Input a full shape");
    const std::int64_t fitting = std::min(extent, other * size[i] / size[1 - i]);
    if (fitting < 1)
      layer.invalid(fmt::format("cannot cut {} from {}", to_string(size), to_string(x.positions)));
    starts.push_back((extent - fitting) / 2);
    ends.push_back(starts.back() + fitting);
  }
  const ValueId window =
      layer.add("Slice", "_window",
                {x.tensor.value, layer.constant("starts", integers(starts)),
                 layer.constant("ends", integers(ends)), layer.constant("axes", integers({2, 3}))},
                {}, "_window");
  return {resized(layer, x, window, size, {{"mode", std::string("linear")}})};
}

}  // namespace assay::keras
