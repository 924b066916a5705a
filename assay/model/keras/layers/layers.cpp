#include "assay/model/keras/layers/layers.h"

#include <algorithm>
#include <array>

#include <assay/error.h>
#include "assay/support/text/text.h"

namespace assay {
namespace {

struct LayerKind {
  std::string_view class_name;
  BuildLayer build;
  MaskPassage mask = MaskPassage::unsure;
};

// Every layer class we translate. InputLayer and models within models are handled where the graph is put
// together.
using enum MaskPassage;
constexpr std::array kinds{
    LayerKind{"Activation", keras::activation, passed},
    LayerKind{"ActivityRegularization", keras::identity, passed},
    LayerKind{"Add", keras::add, passed},
    LayerKind{"AdditiveAttention", keras::additive_attention, passed},
    LayerKind{"AlphaDropout", keras::identity, passed},
    LayerKind{"Attention", keras::attention, passed},
    LayerKind{"AugMix", keras::identity},
    LayerKind{"Average", keras::average, passed},
    LayerKind{"AveragePooling1D", keras::average_pooling, dropped},
    LayerKind{"AveragePooling2D", keras::average_pooling, dropped},
    LayerKind{"AveragePooling3D", keras::average_pooling, dropped},
    LayerKind{"BatchNormalization", keras::batch_normalization, passed},
    LayerKind{"Bidirectional", keras::bidirectional, passed},
    LayerKind{"CategoryEncoding", keras::category_encoding},
    LayerKind{"CenterCrop", keras::center_crop, dropped},
    LayerKind{"Concatenate", keras::concatenate, passed},
    LayerKind{"Conv1D", keras::convolution, dropped},
    LayerKind{"Conv1DTranspose", keras::transposed_convolution, dropped},
    LayerKind{"Conv2D", keras::convolution, dropped},
    LayerKind{"Conv2DTranspose", keras::transposed_convolution, dropped},
    LayerKind{"Conv3D", keras::convolution, dropped},
    LayerKind{"Conv3DTranspose", keras::transposed_convolution, dropped},
    LayerKind{"ConvLSTM1D", keras::convolutional_lstm, dropped},
    LayerKind{"ConvLSTM2D", keras::convolutional_lstm, dropped},
    LayerKind{"ConvLSTM3D", keras::convolutional_lstm, dropped},
    LayerKind{"Cropping1D", keras::cropping, dropped},
    LayerKind{"Cropping2D", keras::cropping, dropped},
    LayerKind{"Cropping3D", keras::cropping, dropped},
    LayerKind{"CutMix", keras::identity},
    LayerKind{"Dense", keras::dense, passed},
    LayerKind{"DepthwiseConv1D", keras::depthwise_convolution, dropped},
    LayerKind{"DepthwiseConv2D", keras::depthwise_convolution, dropped},
    LayerKind{"Discretization", keras::discretization},
    LayerKind{"Dot", keras::dot, dropped},
    LayerKind{"Dropout", keras::dropout, passed},
    LayerKind{"ELU", keras::advanced_activation, passed},
    LayerKind{"EinsumDense", keras::einsum_dense},
    LayerKind{"Embedding", keras::embedding},
    LayerKind{"Flatten", keras::flatten, dropped},
    LayerKind{"GRU", keras::recurrent, passed},
    LayerKind{"GaussianDropout", keras::identity, passed},
    LayerKind{"GaussianNoise", keras::identity, passed},
    LayerKind{"GlobalAveragePooling1D", keras::global_average_pooling},
    LayerKind{"GlobalAveragePooling2D", keras::global_average_pooling, dropped},
    LayerKind{"GlobalAveragePooling3D", keras::global_average_pooling, dropped},
    LayerKind{"GlobalMaxPooling1D", keras::global_max_pooling, dropped},
    LayerKind{"GlobalMaxPooling2D", keras::global_max_pooling, dropped},
    LayerKind{"GlobalMaxPooling3D", keras::global_max_pooling, dropped},
    LayerKind{"GroupNormalization", keras::group_normalization},
    LayerKind{"Identity", keras::identity},
    LayerKind{"IntegerLookup", keras::integer_lookup},
    LayerKind{"LSTM", keras::recurrent, passed},
    LayerKind{"LayerNormalization", keras::layer_normalization, passed},
    LayerKind{"LeakyReLU", keras::advanced_activation, passed},
    LayerKind{"Masking", keras::masking},
    LayerKind{"MaxPooling1D", keras::max_pooling, dropped},
    LayerKind{"MaxPooling2D", keras::max_pooling, dropped},
    LayerKind{"MaxPooling3D", keras::max_pooling, dropped},
    LayerKind{"Maximum", keras::maximum, passed},
    LayerKind{"Minimum", keras::minimum, passed},
    LayerKind{"MixUp", keras::identity},
    LayerKind{"MultiHeadAttention", keras::multi_head_attention, passed},
    LayerKind{"Multiply", keras::multiply},
    LayerKind{"Normalization", keras::normalization},
    LayerKind{"PReLU", keras::parametric_relu, passed},
    LayerKind{"Permute", keras::permute, dropped},
    LayerKind{"RMSNormalization", keras::rms_normalization},
    LayerKind{"RNN", keras::recurrent_cells, passed},
    LayerKind{"RandAugment", keras::identity},
    LayerKind{"RandomBrightness", keras::identity},
    LayerKind{"RandomColorJitter", keras::identity},
    LayerKind{"RandomContrast", keras::identity},
    LayerKind{"RandomCrop", keras::random_crop, dropped},
    LayerKind{"RandomErasing", keras::identity},
    LayerKind{"RandomFlip", keras::identity},
    LayerKind{"RandomGaussianBlur", keras::identity},
    LayerKind{"RandomGrayscale", keras::identity},
    LayerKind{"RandomHeight", keras::identity},
    LayerKind{"RandomHue", keras::identity},
    LayerKind{"RandomInvert", keras::identity},
    LayerKind{"RandomPerspective", keras::identity},
    LayerKind{"RandomPosterization", keras::identity},
    LayerKind{"RandomRotation", keras::identity},
    LayerKind{"RandomSaturation", keras::identity},
    LayerKind{"RandomSharpness", keras::identity},
    LayerKind{"RandomShear", keras::identity},
    LayerKind{"RandomTranslation", keras::identity},
    LayerKind{"RandomWidth", keras::identity},
    LayerKind{"RandomZoom", keras::identity},
    LayerKind{"ReLU", keras::advanced_activation, passed},
    LayerKind{"RepeatVector", keras::repeat_vector, dropped},
    LayerKind{"Rescaling", keras::rescaling},
    LayerKind{"Reshape", keras::reshape, dropped},
    LayerKind{"Resizing", keras::resizing, dropped},
    LayerKind{"SeparableConv1D", keras::separable_convolution, dropped},
    LayerKind{"SeparableConv2D", keras::separable_convolution, dropped},
    LayerKind{"SimpleRNN", keras::recurrent, passed},
    LayerKind{"Softmax", keras::advanced_activation},
    LayerKind{"SpatialDropout1D", keras::identity, passed},
    LayerKind{"SpatialDropout2D", keras::identity},
    LayerKind{"SpatialDropout3D", keras::identity},
    LayerKind{"SpectralNormalization", keras::spectral_normalization},
    LayerKind{"Subtract", keras::subtract, passed},
    LayerKind{"ThresholdedReLU", keras::advanced_activation, passed},
    LayerKind{"TimeDistributed", keras::time_distributed, passed},
    LayerKind{"UnitNormalization", keras::unit_normalization, passed},
    LayerKind{"UpSampling1D", keras::up_sampling, dropped},
    LayerKind{"UpSampling2D", keras::up_sampling, dropped},
    LayerKind{"UpSampling3D", keras::up_sampling, dropped},
    LayerKind{"ZeroPadding1D", keras::zero_padding, dropped},
    LayerKind{"ZeroPadding2D", keras::zero_padding, dropped},
    LayerKind{"ZeroPadding3D", keras::zero_padding, dropped},
};

// Classes of Keras that are not translated: whoever writes one does not mean another.
constexpr std::array<std::string_view, 31> others{"AdaptiveAveragePooling1D",
                                                  "AdaptiveAveragePooling2D",
                                                  "AdaptiveAveragePooling3D",
                                                  "AdaptiveMaxPooling1D",
                                                  "AdaptiveMaxPooling2D",
                                                  "AdaptiveMaxPooling3D",
                                                  "AutoContrast",
                                                  "CuDNNGRU",
                                                  "CuDNNLSTM",
                                                  "Equalization",
                                                  "FlaxLayer",
                                                  "GRUCell",
                                                  "GroupedQueryAttention",
                                                  "HashedCrossing",
                                                  "Hashing",
                                                  "Highway",
                                                  "JaxLayer",
                                                  "LSTMCell",
                                                  "LocallyConnected1D",
                                                  "LocallyConnected2D",
                                                  "MaxoutDense",
                                                  "MelSpectrogram",
                                                  "STFTSpectrogram",
                                                  "SimpleRNNCell",
                                                  "Solarization",
                                                  "StackedRNNCells",
                                                  "StringLookup",
                                                  "SyncBatchNormalization",
                                                  "TFSMLayer",
                                                  "TextVectorization",
                                                  "TorchModuleWrapper"};

}  // namespace

BuildLayer find_keras_layer(const LayerConfig& config) {
  const std::string& name = config.class_name();
  for (const LayerKind& kind : kinds) {
    if (kind.class_name == name) return kind.build;
  }
  if (name == "Lambda") {
    fail(Fault::unsupported,
         "{}: it holds Python code, which cannot be run here; replace it by built-in layers (Rescaling, "
         "Reshape, "
         "Activation, ...) or export the model to ONNX",
         config.where());
  }
  std::vector<std::string> names;
  if (std::ranges::find(others, name) == others.end()) {
    for (const LayerKind& kind : kinds) names.emplace_back(kind.class_name);
  }
  fail(Fault::unsupported, "{}: layers of this class cannot be read{}; export the model to ONNX instead",
       config.where(), did_you_mean(name, names));
}

bool is_keras_layer(const std::string& class_name) {
  return std::ranges::any_of(kinds, [&](const LayerKind& kind) { return kind.class_name == class_name; });
}

MaskPassage mask_passage(const std::string& class_name) {
  for (const LayerKind& kind : kinds) {
    if (kind.class_name == class_name) return kind.mask;
  }
  return unsure;
}

namespace keras {

std::size_t spatial_rank(const std::string& class_name) {
  const auto at = class_name.find_last_of("123");
  return at == std::string::npos ? 0 : static_cast<std::size_t>(class_name[at] - '0');
}

}  // namespace keras
}  // namespace assay
