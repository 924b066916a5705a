#pragma once

// Windows that slide over positions: sizes, strides and padding of convolutions and pooling.

#include <map>
#include <string>
#include <vector>

#include "assay/model/keras/layer.h"

namespace assay::keras {

struct Window {
  std::vector<std::int64_t> size, stride, dilation;  // one entry for each spatial dimension
  std::string padding;                               // "valid", "same" or "causal"
};

// The layer's input with channels at position 1, for any data_format, and Keras's shape of its positions.
struct Image {
  KerasTensor tensor;  // value stored [batch, channels, positions...]
  Shape positions;     // -1 where unknown
  std::int64_t channels = -1;
};
Image as_image(LayerBuilder& layer, std::span<const KerasTensor> inputs, std::size_t spatial);

// The tensor that comes out: stored [batch, channels, positions...], with the shape Keras gives it.
KerasTensor image_result(const LayerBuilder& layer, const Image& like, ValueId value, std::int64_t channels,
                         const Shape& positions);

struct Interpolation {
  std::string method = "bilinear";
  bool antialias = false;  // a picture that becomes smaller is blurred as far as that asks for
  Shape from = {};         // the positions of the picture; empty: those of the layer's input
};
// `picture` [n, channels, rows, columns] in another size, between pixel centres, as the layer's result.
KerasTensor interpolated(LayerBuilder& layer, const Image& like, ValueId picture, const Shape& size,
                         const Interpolation& how);

// Number of positions along each axis after the window. Throws Error{model} when the window does not fit.
Shape positions_after(const LayerBuilder& layer, const Shape& positions, const Window& window);

// ONNX attributes kernel_shape, strides, dilations and pads (auto_pad where `same` depends on an unknown
// size).
std::map<std::string, Attribute> window_attributes(const Shape& positions, const Window& window);

}  // namespace assay::keras
