#pragma once

// The functions behind the layer table, one family a file. Each translates one call of a layer; see
// BuildLayer.

#include <functional>

#include "assay/model/keras/layer.h"

namespace assay::keras {

// dense.cpp
KerasTensors dense(LayerBuilder& layer, std::span<const KerasTensor> inputs);
KerasTensors embedding(LayerBuilder& layer, std::span<const KerasTensor> inputs);
KerasTensors reversible_embedding(LayerBuilder& layer, std::span<const KerasTensor> inputs);

KerasTensors einsum_dense(LayerBuilder& layer, std::span<const KerasTensor> inputs);

// conv_lstm.cpp
KerasTensors convolutional_lstm(LayerBuilder& layer, std::span<const KerasTensor> inputs);

// operations/table.cpp: arithmetic outside layers, with the arguments of the builder's call.
KerasTensors operation(LayerBuilder& layer, std::span<const KerasTensor> inputs);

// categories.cpp
KerasTensors discretization(LayerBuilder& layer, std::span<const KerasTensor> inputs);
KerasTensors integer_lookup(LayerBuilder& layer, std::span<const KerasTensor> inputs);
KerasTensors category_encoding(LayerBuilder& layer, std::span<const KerasTensor> inputs);

// conv.cpp: any number of spatial dimensions, taken from the class name.
KerasTensors convolution(LayerBuilder& layer, std::span<const KerasTensor> inputs);
KerasTensors transposed_convolution(LayerBuilder& layer, std::span<const KerasTensor> inputs);
KerasTensors depthwise_convolution(LayerBuilder& layer, std::span<const KerasTensor> inputs);
KerasTensors separable_convolution(LayerBuilder& layer, std::span<const KerasTensor> inputs);

// pool.cpp
KerasTensors max_pooling(LayerBuilder& layer, std::span<const KerasTensor> inputs);
KerasTensors average_pooling(LayerBuilder& layer, std::span<const KerasTensor> inputs);
KerasTensors global_max_pooling(LayerBuilder& layer, std::span<const KerasTensor> inputs);
KerasTensors global_average_pooling(LayerBuilder& layer, std::span<const KerasTensor> inputs);
KerasTensors up_sampling(LayerBuilder& layer, std::span<const KerasTensor> inputs);
KerasTensors adaptive_max_pooling(LayerBuilder& layer, std::span<const KerasTensor> inputs);
KerasTensors adaptive_average_pooling(LayerBuilder& layer, std::span<const KerasTensor> inputs);

// pictures.cpp
KerasTensors resizing(LayerBuilder& layer, std::span<const KerasTensor> inputs);
KerasTensors center_crop(LayerBuilder& layer, std::span<const KerasTensor> inputs);
KerasTensors random_crop(LayerBuilder& layer, std::span<const KerasTensor> inputs);
KerasTensors auto_contrast(LayerBuilder& layer, std::span<const KerasTensor> inputs);

// sound.cpp
KerasTensors mel_spectrogram(LayerBuilder& layer, std::span<const KerasTensor> inputs);
KerasTensors stft_spectrogram(LayerBuilder& layer, std::span<const KerasTensor> inputs);

// local.cpp
KerasTensors locally_connected(LayerBuilder& layer, std::span<const KerasTensor> inputs);

// norm.cpp
KerasTensors batch_normalization(LayerBuilder& layer, std::span<const KerasTensor> inputs);
KerasTensors layer_normalization(LayerBuilder& layer, std::span<const KerasTensor> inputs);
KerasTensors group_normalization(LayerBuilder& layer, std::span<const KerasTensor> inputs);
KerasTensors rms_normalization(LayerBuilder& layer, std::span<const KerasTensor> inputs);
KerasTensors spectral_normalization(LayerBuilder& layer, std::span<const KerasTensor> inputs);
KerasTensors unit_normalization(LayerBuilder& layer, std::span<const KerasTensor> inputs);
KerasTensors normalization(LayerBuilder& layer, std::span<const KerasTensor> inputs);
KerasTensors rescaling(LayerBuilder& layer, std::span<const KerasTensor> inputs);
KerasTensors layer_scale(LayerBuilder& layer, std::span<const KerasTensor> inputs);

// activation.cpp
KerasTensors activation(LayerBuilder& layer, std::span<const KerasTensor> inputs);
KerasTensors advanced_activation(LayerBuilder& layer, std::span<const KerasTensor> inputs);
KerasTensors parametric_relu(LayerBuilder& layer, std::span<const KerasTensor> inputs);

// attention.cpp
KerasTensors multi_head_attention(LayerBuilder& layer, std::span<const KerasTensor> inputs);
KerasTensors grouped_query_attention(LayerBuilder& layer, std::span<const KerasTensor> inputs);
KerasTensors attention(LayerBuilder& layer, std::span<const KerasTensor> inputs);
KerasTensors additive_attention(LayerBuilder& layer, std::span<const KerasTensor> inputs);

// shape.cpp
KerasTensors identity(LayerBuilder& layer, std::span<const KerasTensor> inputs);
KerasTensors dropout(LayerBuilder& layer, std::span<const KerasTensor> inputs);
KerasTensors flatten(LayerBuilder& layer, std::span<const KerasTensor> inputs);
KerasTensors reshape(LayerBuilder& layer, std::span<const KerasTensor> inputs);
KerasTensors permute(LayerBuilder& layer, std::span<const KerasTensor> inputs);
KerasTensors repeat_vector(LayerBuilder& layer, std::span<const KerasTensor> inputs);
KerasTensors zero_padding(LayerBuilder& layer, std::span<const KerasTensor> inputs);
KerasTensors cropping(LayerBuilder& layer, std::span<const KerasTensor> inputs);
KerasTensors masking(LayerBuilder& layer, std::span<const KerasTensor> inputs);

// merge.cpp
KerasTensors add(LayerBuilder& layer, std::span<const KerasTensor> inputs);
KerasTensors subtract(LayerBuilder& layer, std::span<const KerasTensor> inputs);
KerasTensors multiply(LayerBuilder& layer, std::span<const KerasTensor> inputs);
KerasTensors average(LayerBuilder& layer, std::span<const KerasTensor> inputs);
KerasTensors maximum(LayerBuilder& layer, std::span<const KerasTensor> inputs);
KerasTensors minimum(LayerBuilder& layer, std::span<const KerasTensor> inputs);
KerasTensors concatenate(LayerBuilder& layer, std::span<const KerasTensor> inputs);
KerasTensors dot(LayerBuilder& layer, std::span<const KerasTensor> inputs);
KerasTensors scaled_sum(LayerBuilder& layer, std::span<const KerasTensor> inputs);

// recurrent.cpp
KerasTensors recurrent(LayerBuilder& layer, std::span<const KerasTensor> inputs);
KerasTensors bidirectional(LayerBuilder& layer, std::span<const KerasTensor> inputs);
KerasTensors time_distributed(LayerBuilder& layer, std::span<const KerasTensor> inputs);
KerasTensors pipeline(LayerBuilder& layer, std::span<const KerasTensor> inputs);
// The results of `apply` for every step of the input: steps are folded into the batch and unfolded again.
KerasTensors each_step(LayerBuilder& layer, std::span<const KerasTensor> inputs,
                       const std::function<KerasTensors(const KerasTensor&)>& apply);

// recurrent_cells.cpp
KerasTensors recurrent_cells(LayerBuilder& layer, std::span<const KerasTensor> inputs);
// Bidirectional of a layer that has no node for both directions: several cells, or convolutions.
KerasTensors bidirectional_layers(LayerBuilder& layer, std::span<const KerasTensor> inputs,
                                  const LayerConfig& config, const std::string& merge, BuildLayer build);

// Number of spatial dimensions a class name ends with ("Conv2DTranspose": 2); 0 when it names none.
std::size_t spatial_rank(const std::string& class_name);

}  // namespace assay::keras
