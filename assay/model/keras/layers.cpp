#include "assay/model/keras/layers.h"

#include <algorithm>
#include <array>

#include <assay/error.h>
#include "assay/support/text/text.h"

namespace assay {
namespace {

struct LayerKind {
  std::string_view class_name;
  BuildLayer build;
  bool passes_mask = false;  // whether Keras hands the mask of its input on
};

// Every layer class we translate. InputLayer and models within models are handled where the graph is put
// together.
constexpr std::array kinds{
    LayerKind{"Activation", keras::activation, true},
    LayerKind{"ActivityRegularization", keras::identity, true},
    LayerKind{"Add", keras::add, true},
    LayerKind{"AdditiveAttention", keras::additive_attention},
    LayerKind{"AlphaDropout", keras::identity, true},
    LayerKind{"Attention", keras::attention},
    LayerKind{"Average", keras::average, true},
    LayerKind{"AveragePooling1D", keras::average_pooling},
    LayerKind{"AveragePooling2D", keras::average_pooling},
    LayerKind{"AveragePooling3D", keras::average_pooling},
    LayerKind{"BatchNormalization", keras::batch_normalization, true},
    LayerKind{"Bidirectional", keras::bidirectional, true},
    LayerKind{"CenterCrop", keras::center_crop},
    LayerKind{"Concatenate", keras::concatenate, true},
    LayerKind{"Conv1D", keras::convolution},
    LayerKind{"Conv1DTranspose", keras::transposed_convolution},
    LayerKind{"Conv2D", keras::convolution},
    LayerKind{"Conv2DTranspose", keras::transposed_convolution},
    LayerKind{"Conv3D", keras::convolution},
    LayerKind{"Conv3DTranspose", keras::transposed_convolution},
    LayerKind{"Cropping1D", keras::cropping},
    LayerKind{"Cropping2D", keras::cropping},
    LayerKind{"Cropping3D", keras::cropping},
    LayerKind{"Dense", keras::dense, true},
    LayerKind{"DepthwiseConv1D", keras::depthwise_convolution},
    LayerKind{"DepthwiseConv2D", keras::depthwise_convolution},
    LayerKind{"Dot", keras::dot},
    LayerKind{"Dropout", keras::dropout, true},
    LayerKind{"ELU", keras::advanced_activation, true},
    LayerKind{"Embedding", keras::embedding},
    LayerKind{"Flatten", keras::flatten},
    LayerKind{"GRU", keras::recurrent, true},
    LayerKind{"GaussianDropout", keras::identity, true},
    LayerKind{"GaussianNoise", keras::identity, true},
    LayerKind{"GlobalAveragePooling1D", keras::global_average_pooling},
    LayerKind{"GlobalAveragePooling2D", keras::global_average_pooling},
    LayerKind{"GlobalAveragePooling3D", keras::global_average_pooling},
    LayerKind{"GlobalMaxPooling1D", keras::global_max_pooling},
    LayerKind{"GlobalMaxPooling2D", keras::global_max_pooling},
    LayerKind{"GlobalMaxPooling3D", keras::global_max_pooling},
    LayerKind{"GroupNormalization", keras::group_normalization},
    LayerKind{"Identity", keras::identity},
    LayerKind{"LSTM", keras::recurrent, true},
    LayerKind{"LayerNormalization", keras::layer_normalization, true},
    LayerKind{"LeakyReLU", keras::advanced_activation, true},
    LayerKind{"Masking", keras::masking},
    LayerKind{"MaxPooling1D", keras::max_pooling},
    LayerKind{"MaxPooling2D", keras::max_pooling},
    LayerKind{"MaxPooling3D", keras::max_pooling},
    LayerKind{"Maximum", keras::maximum, true},
    LayerKind{"Minimum", keras::minimum, true},
    LayerKind{"MultiHeadAttention", keras::multi_head_attention},
    LayerKind{"Multiply", keras::multiply},
    LayerKind{"Normalization", keras::normalization},
    LayerKind{"PReLU", keras::parametric_relu, true},
    LayerKind{"Permute", keras::permute},
    LayerKind{"RMSNormalization", keras::rms_normalization},
    LayerKind{"ReLU", keras::advanced_activation, true},
    LayerKind{"RandomBrightness", keras::identity},
    LayerKind{"RandomColorJitter", keras::identity},
    LayerKind{"RandomContrast", keras::identity},
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
    LayerKind{"RepeatVector", keras::repeat_vector},
    LayerKind{"Rescaling", keras::rescaling},
    LayerKind{"Reshape", keras::reshape},
    LayerKind{"Resizing", keras::resizing},
    LayerKind{"SeparableConv1D", keras::separable_convolution},
    LayerKind{"SeparableConv2D", keras::separable_convolution},
    LayerKind{"SimpleRNN", keras::recurrent, true},
    LayerKind{"Softmax", keras::advanced_activation},
    LayerKind{"SpatialDropout1D", keras::identity, true},
    LayerKind{"SpatialDropout2D", keras::identity},
    LayerKind{"SpatialDropout3D", keras::identity},
    LayerKind{"Subtract", keras::subtract, true},
    LayerKind{"ThresholdedReLU", keras::advanced_activation, true},
    LayerKind{"TimeDistributed", keras::time_distributed},
    LayerKind{"UnitNormalization", keras::unit_normalization, true},
    LayerKind{"UpSampling1D", keras::up_sampling},
    LayerKind{"UpSampling2D", keras::up_sampling},
    LayerKind{"UpSampling3D", keras::up_sampling},
    LayerKind{"ZeroPadding1D", keras::zero_padding},
    LayerKind{"ZeroPadding2D", keras::zero_padding},
    LayerKind{"ZeroPadding3D", keras::zero_padding},
};

// Classes of Keras that are not translated: whoever writes one does not mean another.
constexpr std::array<std::string_view, 45> others{"AdaptiveAveragePooling1D",
                                                  "AdaptiveAveragePooling2D",
                                                  "AdaptiveAveragePooling3D",
                                                  "AdaptiveMaxPooling1D",
                                                  "AdaptiveMaxPooling2D",
                                                  "AdaptiveMaxPooling3D",
                                                  "AugMix",
                                                  "AutoContrast",
                                                  "CategoryEncoding",
                                                  "ConvLSTM1D",
                                                  "ConvLSTM2D",
                                                  "ConvLSTM3D",
                                                  "CuDNNGRU",
                                                  "CuDNNLSTM",
                                                  "CutMix",
                                                  "Discretization",
                                                  "EinsumDense",
                                                  "Equalization",
                                                  "FlaxLayer",
                                                  "GRUCell",
                                                  "GroupedQueryAttention",
                                                  "HashedCrossing",
                                                  "Hashing",
                                                  "Highway",
                                                  "IntegerLookup",
                                                  "JaxLayer",
                                                  "LSTMCell",
                                                  "LocallyConnected1D",
                                                  "LocallyConnected2D",
                                                  "MaxoutDense",
                                                  "MelSpectrogram",
                                                  "MixUp",
                                                  "RNN",
                                                  "RandAugment",
                                                  "RandomCrop",
                                                  "STFTSpectrogram",
                                                  "SimpleRNNCell",
                                                  "Solarization",
                                                  "SpectralNormalization",
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

bool passes_mask(const std::string& class_name) {
  return std::ranges::any_of(
      kinds, [&](const LayerKind& kind) { return kind.class_name == class_name && kind.passes_mask; });
}

namespace keras {

std::size_t spatial_rank(const std::string& class_name) {
  const auto at = class_name.find_last_of("123");
  return at == std::string::npos ? 0 : static_cast<std::size_t>(class_name[at] - '0');
}

}  // namespace keras
}  // namespace assay
