#include "assay/model/keras/layers/window.h"

#include <algorithm>

namespace assay::keras {

Image as_image(LayerBuilder& layer, std::span<const KerasTensor> inputs, std::size_t spatial) {
  const KerasTensor& x = layer.single(inputs);
  layer.require_rank(x, spatial + 2);
  const bool first = layer.channels_first_config();
  Image image{
      .tensor = first ? layer.as_keras(x) : layer.as_channels_first(x), .positions = {}, .channels = -1};
  const Shape& shape = x.shape;
  image.channels = first ? shape[1] : shape.back();
  image.positions = first ? Shape(shape.begin() + 2, shape.end()) : Shape(shape.begin() + 1, shape.end() - 1);
  return image;
}

KerasTensor image_result(const LayerBuilder& layer, const Image& like, ValueId value, std::int64_t channels,
                         const Shape& positions) {
  const bool first = layer.channels_first_config();
  KerasTensor result = like.tensor.with(value);
  result.shape.assign(1, like.tensor.shape[0]);
  result.shape.insert(result.shape.end(), positions.begin(), positions.end());
  result.shape.insert(first ? result.shape.begin() + 1 : result.shape.end(), channels);
  return result;
}

Shape positions_after(const LayerBuilder& layer, const Shape& positions, const Window& window) {
  Shape result;
  for (std::size_t i = 0; i < positions.size(); ++i) {
    const std::int64_t reach = (window.size[i] - 1) * window.dilation[i] + 1;
    const std::int64_t span = window.padding == "valid" ? positions[i] - reach + 1 : positions[i];
    if (positions[i] >= 0 && span < 1) {
      layer.invalid(
          fmt::format("its window reaches over {} positions where its input has {}", reach, positions[i]));
    }
    result.push_back(positions[i] < 0 ? -1 : (span - 1) / window.stride[i] + 1);
  }
  return result;
}

std::map<std::string, Attribute> window_attributes(const Shape& positions, const Window& window) {
  const std::size_t rank = positions.size();
  std::map<std::string, Attribute> result{{"kernel_shape", window.size}, {"strides", window.stride}};
  if (std::any_of(window.dilation.begin(), window.dilation.end(), [](auto d) { return d != 1; })) {
    result["dilations"] = window.dilation;
  }
  if (window.padding == "valid") return result;
  std::vector<std::int64_t> pads(2 * rank, 0);
  for (std::size_t i = 0; i < rank; ++i) {
    const std::int64_t reach = (window.size[i] - 1) * window.dilation[i];
    const std::int64_t stride = window.stride[i];
    if (window.padding == "causal") {
      pads[i] = reach;
      continue;
    }
    if (stride != 1 && positions[i] < 0) {
      result["auto_pad"] = std::string("SAME_UPPER");
      return result;
    }
    // TensorFlow: as many zeros as make ceil(n / stride) windows, the odd one at the end.
    const std::int64_t last = stride == 1 ? 0 : (positions[i] - 1) / stride * stride - (positions[i] - 1);
    const std::int64_t total = std::max<std::int64_t>(reach + last, 0);
    pads[i] = total / 2;
    pads[rank + i] = total - total / 2;
  }
  result["pads"] = pads;
  return result;
}

}  // namespace assay::keras
