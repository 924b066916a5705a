// Convolutions of one, two and three dimensions.

#include <algorithm>
#include <numeric>

#include "assay/model/keras/arrays.h"
#include "assay/model/keras/layers/layers.h"
#include "assay/model/keras/layers/window.h"

namespace assay::keras {
namespace {

constexpr std::int64_t no_count = 0;  // "required": LayerConfig::size refuses 0

Window window_of(const LayerBuilder& layer, std::size_t rank) {
  const LayerConfig& config = layer.config();
  if (!config.has("kernel_size")) layer.invalid("has no 'kernel_size'");
  Window window{.size = config.sizes("kernel_size", rank, 1),
                .stride = config.sizes("strides", rank, 1),
                .dilation = config.sizes("dilation_rate", rank, 1),
                .padding = config.text("padding", "valid")};
  if (window.padding != "valid" && window.padding != "same" && window.padding != "causal") {
    layer.unsupported(fmt::format("padding '{}'", window.padding), "Keras has valid, same and causal");
  }
  return window;
}

// [positions..., a, b] -> [b, a, positions...]
std::vector<int> kernel_order(std::size_t rank) {
  std::vector<int> order(rank + 2);
  order[0] = static_cast<int>(rank) + 1;
  order[1] = static_cast<int>(rank);
  std::iota(order.begin() + 2, order.end(), 0);
  return order;
}

// The next weight as Keras 1 stored it, in the order of Keras 2: with the channels in front where the images
// have them there ("th"), of one dimension with an axis of size 1 more, and transposed
// convolutions with their last two axes the other way round.
Array kernel_of_keras1(LayerBuilder& layer, std::string_view label, Shape shape) {
  const std::size_t rank = shape.size() - 2;
  const std::int64_t a = shape[rank], b = shape[rank + 1];
  const bool transposed_convolution = layer.class_name().ends_with("Transpose");
  if (rank == 1) {
    const Shape found = layer.next_shape();
    if (found.size() == 3) return layer.weight(label, shape);
    if (found == Shape{b, a, shape[0], 1} && found != Shape{shape[0], 1, a, b})
      return transposed(layer.weight(label, found), {2, 3, 1, 0}).reshape(shape);
    return layer.weight(label, {shape[0], 1, a, b}).reshape(shape);
  }
  if (!layer.channels_first_config()) {
    if (!transposed_convolution) return layer.weight(label, shape);
    std::swap(shape[rank], shape[rank + 1]);
    std::vector<int> order(rank + 2);
    std::iota(order.begin(), order.end(), 0);
    std::swap(order[rank], order[rank + 1]);
    return transposed(layer.weight(label, shape), order);
  }
  if (layer.class_name().starts_with("Separable"))
    layer.unsupported("the kernel that Keras 1 stored with channels first", "save the model with Keras 2");
  std::vector<int> order(rank + 2);
  std::iota(order.begin(), order.end() - 2, 2);
  order[rank] = transposed_convolution ? 0 : 1;
  order[rank + 1] = transposed_convolution ? 1 : 0;
  Shape stored(shape.begin(), shape.end() - 2);
  if (transposed_convolution)
    stored.insert(stored.begin(), {a, b});
  else
    stored.insert(stored.begin(), {b, a});
  return transposed(layer.weight(label, stored), order);
}

// The next weight: a kernel with Keras's shape [window..., a, b].
Array kernel_weight(LayerBuilder& layer, std::string_view label, const Window& window, std::int64_t a,
                    std::int64_t b) {
  Shape shape = window.size;
  shape.insert(shape.end(), {a, b});
  Array kernel =
      layer.keras_major() == 1 ? kernel_of_keras1(layer, label, shape) : layer.weight(label, shape);
  if (!layer.flips_kernels()) return kernel;
  std::vector<int> axes(window.size.size());
  std::iota(axes.begin(), axes.end(), 0);
  return reversed(kernel, axes);
}

// Appends the bias to the operands when there is one.
void add_bias(LayerBuilder& layer, std::vector<ValueId>& operands, std::int64_t count) {
  if (layer.config().flag("use_bias", true))
    operands.push_back(layer.constant("bias", layer.weight("bias", {count})));
}

std::int64_t known_channels(const LayerBuilder& layer, const Image& image) {
  if (image.channels < 1)
    layer.invalid("the number of channels of its input must be known; give the Input a full shape");
  return image.channels;
}

// A kernel [window..., channels, multiplier] as an ONNX kernel of one group a channel: [channels *
// multiplier, 1, window...].
Array one_group_a_channel(const Array& kernel, std::size_t rank) {
  std::vector<int> order(rank + 2);
  order[0] = static_cast<int>(rank);
  order[1] = static_cast<int>(rank) + 1;
  std::iota(order.begin() + 2, order.end(), 0);
  const Array grouped = transposed(kernel, order);
  Shape shape = grouped.shape();
  shape[0] *= shape[1];
  shape[1] = 1;
  return grouped.reshape(shape);
}

// With a bias and the activation. `kernel`: in ONNX's order.
KerasTensors convolved(LayerBuilder& layer, const Image& x, const Window& window, const Array& kernel,
                       std::int64_t filters, std::optional<std::int64_t> groups) {
  std::vector<ValueId> operands{x.tensor.value, layer.constant("kernel", kernel)};
  add_bias(layer, operands, filters);
  auto attributes = window_attributes(x.positions, window);
  if (groups) attributes["group"] = *groups;
  const ValueId value = layer.add("Conv", "", operands, attributes, preact_suffix(layer));
  return {
      activate(layer, image_result(layer, x, value, filters, positions_after(layer, x.positions, window)))};
}

}  // namespace

KerasTensors convolution(LayerBuilder& layer, std::span<const KerasTensor> inputs) {
  const std::size_t rank = spatial_rank(layer.class_name());
  const Image x = as_image(layer, inputs, rank);
  const Window window = window_of(layer, rank);
  const std::int64_t filters = layer.config().size("filters", no_count);
  const std::int64_t groups = layer.config().size("groups", 1);
  const std::int64_t channels = known_channels(layer, x);
  if (channels % groups != 0 || filters % groups != 0) {
    layer.invalid(
        fmt::format("{} groups do not divide {} input channels and {} filters", groups, channels, filters));
  }
  const Array kernel = kernel_weight(layer, "kernel", window, channels / groups, filters);
  return convolved(layer, x, window, transposed(kernel, kernel_order(rank)), filters,
                   groups == 1 ? std::nullopt : std::optional(groups));
}

KerasTensors depthwise_convolution(LayerBuilder& layer, std::span<const KerasTensor> inputs) {
  const std::size_t rank = spatial_rank(layer.class_name());
  const Image x = as_image(layer, inputs, rank);
  const Window window = window_of(layer, rank);
  const std::int64_t multiplier = layer.config().size("depth_multiplier", 1);
  const std::int64_t channels = known_channels(layer, x);
  const Array kernel = kernel_weight(layer, "depthwise_kernel", window, channels, multiplier);
  return convolved(layer, x, window, one_group_a_channel(kernel, rank), channels * multiplier, channels);
}

// A depthwise convolution, then one of size 1 over its channels.
KerasTensors separable_convolution(LayerBuilder& layer, std::span<const KerasTensor> inputs) {
  const std::size_t rank = spatial_rank(layer.class_name());
  const Image x = as_image(layer, inputs, rank);
  const Window window = window_of(layer, rank);
  const std::int64_t multiplier = layer.config().size("depth_multiplier", 1);
  const std::int64_t filters = layer.config().size("filters", no_count);
  const std::int64_t channels = known_channels(layer, x);
  const Array depthwise = kernel_weight(layer, "depthwise_kernel", window, channels, multiplier);
  auto attributes = window_attributes(x.positions, window);
  attributes["group"] = channels;
  const ValueId middle =
      layer.add("Conv", "_depthwise",
                {x.tensor.value, layer.constant("depthwise_kernel", one_group_a_channel(depthwise, rank))},
                attributes, "_depthwise");

  const std::vector<std::int64_t> ones(rank, 1);
  const Window point{.size = ones, .stride = ones, .dilation = ones, .padding = "valid"};
  const Array pointwise = kernel_weight(layer, "pointwise_kernel", point, channels * multiplier, filters);
  std::vector<ValueId> operands{
      middle, layer.constant("pointwise_kernel", transposed(pointwise, kernel_order(rank)))};
  add_bias(layer, operands, filters);
  const ValueId value =
      layer.add("Conv", "", operands, {{"kernel_shape", ones}, {"strides", ones}}, preact_suffix(layer));
  return {
      activate(layer, image_result(layer, x, value, filters, positions_after(layer, x.positions, window)))};
}

// The gradient of a convolution: kernel [window..., filters, channels].
KerasTensors transposed_convolution(LayerBuilder& layer, std::span<const KerasTensor> inputs) {
  const std::size_t rank = spatial_rank(layer.class_name());
  const Image x = as_image(layer, inputs, rank);
  const Window window = window_of(layer, rank);
  if (window.padding == "causal") layer.unsupported("causal padding here", "use valid or same");
  const std::int64_t filters = layer.config().size("filters", no_count);
  const std::int64_t channels = known_channels(layer, x);
  const Array kernel = kernel_weight(layer, "kernel", window, filters, channels);
  std::vector<ValueId> operands{x.tensor.value,
                                layer.constant("kernel", transposed(kernel, kernel_order(rank)))};
  add_bias(layer, operands, filters);

  const auto extra = layer.config().integers("output_padding");
  if (!extra.empty() && extra.size() != 1 && extra.size() != rank)
    layer.invalid("'output_padding' has the wrong length");
  std::vector<std::int64_t> pads(2 * rank, 0), more(rank, 0);
  Shape positions;
  for (std::size_t i = 0; i < rank; ++i) {
    const std::int64_t stride = window.stride[i];
    const std::int64_t reach = (window.size[i] - 1) * window.dilation[i] + 1;
    // How much longer than n * stride Keras makes n positions.
    std::int64_t beyond = window.padding == "same" ? 0 : std::max<std::int64_t>(reach - stride, 0);
    if (!extra.empty()) {
      const std::int64_t cut = window.padding == "same" ? 2 * (reach / 2) : 0;
      beyond = reach - stride - cut + extra[extra.size() == 1 ? 0 : i];
    }
    // Everything the kernel reaches is n * stride + reach - stride long: cut what is too much, the odd one at
    // the end.
    const std::int64_t surplus = reach - stride - beyond;
    pads[i] = surplus > 0 ? surplus / 2 : 0;
    pads[rank + i] = surplus > 0 ? surplus - surplus / 2 : 0;
    more[i] = surplus < 0 ? -surplus : 0;
    const std::int64_t length = x.positions[i] < 0 ? -1 : x.positions[i] * stride + beyond;
    if (x.positions[i] >= 0 && length < 1) layer.invalid("its output would be empty");
    positions.push_back(length);
  }
  std::map<std::string, Attribute> attributes{
      {"kernel_shape", window.size}, {"strides", window.stride}, {"pads", pads}};
  if (std::any_of(window.dilation.begin(), window.dilation.end(), [](auto d) { return d != 1; })) {
    attributes["dilations"] = window.dilation;
  }
  if (std::any_of(more.begin(), more.end(), [](auto m) { return m != 0; }))
    attributes["output_padding"] = more;
  const ValueId value = layer.add("ConvTranspose", "", operands, attributes, preact_suffix(layer));
  return {activate(layer, image_result(layer, x, value, filters, positions))};
}

}  // namespace assay::keras
