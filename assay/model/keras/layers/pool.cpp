// Pooling and up-sampling.

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

KerasTensors up_sampling(LayerBuilder& layer, std::span<const KerasTensor> inputs) {
  const std::size_t rank = spatial_rank(layer.class_name());
  const Image x = as_image(layer, inputs, rank);
  const auto size = layer.config().sizes("size", rank, 2);
  const std::string method = layer.config().text("interpolation", "nearest");
  Shape positions;
  for (std::size_t i = 0; i < rank; ++i)
    positions.push_back(x.positions[i] < 0 ? -1 : x.positions[i] * size[i]);
  if (rank == 2 && method != "nearest" && method != "bilinear") {
    if (positions[0] < 0 || positions[1] < 0)
      layer.invalid("the size of its pictures must be known; give the model's Input a full shape");
    return {interpolated(layer, x, x.tensor.value, positions, {.method = method})};
  }
  std::map<std::string, Attribute> attributes{{"mode", std::string("linear")},
                                              {"coordinate_transformation_mode", std::string("half_pixel")}};
  if (method == "nearest") {
    attributes = {{"mode", std::string("nearest")},
                  {"coordinate_transformation_mode", std::string("asymmetric")},
                  {"nearest_mode", std::string("floor")}};
  }
  std::vector<float> scales{1, 1};
  scales.insert(scales.end(), size.begin(), size.end());
  const ValueId factors = layer.constant("scales", Array::of(Shape{std::ssize(scales)}, scales));
  const ValueId value = layer.add("Resize", "", {x.tensor.value, no_value, factors}, attributes, "");
  return {image_result(layer, x, value, x.channels, positions)};
}

namespace {

// The windows of one axis: position i takes the elements from floor(i * from / to) up to ceil((i + 1) * from
// / to), so that their widths are `narrow` or one more.
struct Windows {
  std::int64_t narrow = 0;
  std::vector<std::int64_t> places;  // of each position, among all windows of both widths
};

Windows adaptive_windows(std::int64_t from, std::int64_t to) {
  Windows windows{.narrow = (from + to - 1) / to, .places = {}};
  for (std::int64_t i = 0; i < to; ++i) {
    const std::int64_t first = i * from / to, width = ((i + 1) * from + to - 1) / to - first;
    const std::int64_t narrow_ones = from - windows.narrow + 1;
    windows.places.push_back(width == windows.narrow ? first : first + narrow_ones);
  }
  return windows;
}

// Windows of one axis and of one width, wherever they start.
ValueId pooled_along(LayerBuilder& layer, const char* op, ValueId x, std::size_t rank, std::size_t axis,
                     std::int64_t width, const std::string& suffix) {
  std::vector<std::int64_t> window(rank, 1);
  window[axis] = width;
  return layer.add(op, suffix, {x},
                   {{"kernel_shape", window}, {"strides", std::vector<std::int64_t>(rank, 1)}}, suffix);
}

ValueId adapted(LayerBuilder& layer, const char* op, ValueId x, std::size_t rank, std::size_t axis,
                std::int64_t from, std::int64_t to, const std::string& suffix) {
  const Windows windows = adaptive_windows(from, to);
  const std::string label = fmt::format("_axis{}", axis);
  ValueId all = pooled_along(layer, op, x, rank, axis, windows.narrow, label + "_narrow");
  const std::int64_t stored = static_cast<std::int64_t>(axis) + 2;
  if (windows.narrow < from) {
    const ValueId wide = pooled_along(layer, op, x, rank, axis, windows.narrow + 1, label + "_wide");
    all = layer.add("Concat", label + "_windows", {all, wide}, {{"axis", stored}}, label + "_windows");
  }
  return layer.add("Gather", label, {all, layer.constant(label.substr(1), integers(windows.places))},
                   {{"axis", stored}}, suffix);
}

KerasTensors adaptive_pooling(LayerBuilder& layer, std::span<const KerasTensor> inputs, const char* op) {
  const std::size_t rank = spatial_rank(layer.class_name());
  const Image x = as_image(layer, inputs, rank);
  const auto size = layer.config().sizes("output_size", rank, 1);
  std::vector<std::int64_t> step;
  bool even = true;  // windows side by side
  for (std::size_t i = 0; i < rank; ++i) {
    if (x.positions[i] < 1)
      layer.invalid("the size of its input must be known; give the model's Input a full shape");
    if (size[i] > std::int64_t{1} << 20) layer.invalid(fmt::format("gives {} positions", size[i]));
    even = even && x.positions[i] % size[i] == 0;
    step.push_back(x.positions[i] / size[i]);
  }
  if (even) {
    const ValueId value =
        layer.add(op, "", {x.tensor.value}, {{"kernel_shape", step}, {"strides", step}}, "");
    return {image_result(layer, x, value, x.channels, size)};
  }
  ValueId value = x.tensor.value;
  for (std::size_t i = 0; i < rank; ++i)
    value = adapted(layer, op, value, rank, i, x.positions[i], size[i],
                    i + 1 == rank ? "" : fmt::format("_axis{}", i));
  return {image_result(layer, x, value, x.channels, size)};
}

}  // namespace

KerasTensors adaptive_max_pooling(LayerBuilder& layer, std::span<const KerasTensor> inputs) {
  return adaptive_pooling(layer, inputs, "MaxPool");
}
KerasTensors adaptive_average_pooling(LayerBuilder& layer, std::span<const KerasTensor> inputs) {
  return adaptive_pooling(layer, inputs, "AveragePool");
}

}  // namespace assay::keras
