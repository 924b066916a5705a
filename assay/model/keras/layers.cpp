#include "assay/model/keras/layers.h"

#include <algorithm>
#include <array>

#include <assay/error.h>
#include "assay/support/text.h"

namespace assay {
namespace {

struct LayerKind {
  std::string_view class_name;
  BuildLayer build;
};

// Every layer class we translate. InputLayer and models within models are handled where the graph is put
// together.
constexpr std::array kinds{
    LayerKind{"Activation", keras::activation},
    LayerKind{"ActivityRegularization", keras::identity},
    LayerKind{"Add", keras::add},
    LayerKind{"AdditiveAttention", keras::additive_attention},
    LayerKind{"AlphaDropout", keras::identity},
    LayerKind{"Attention", keras::attention},
    LayerKind{"Average", keras::average},
    LayerKind{"AveragePooling1D", keras::average_pooling},
    LayerKind{"AveragePooling2D", keras::average_pooling},
    LayerKind{"AveragePooling3D", keras::average_pooling},
    LayerKind{"BatchNormalization", keras::batch_normalization},
    LayerKind{"Bidirectional", keras::bidirectional},
    LayerKind{"CenterCrop", keras::center_crop},
    LayerKind{"Concatenate", keras::concatenate},
    LayerKind{"Conv1D", keras::convolution},
    LayerKind{"Conv1DTranspose", keras::transposed_convolution},
    LayerKind{"Conv2D", keras::convolution},
    LayerKind{"Conv2DTranspose", keras::transposed_convolution},
    LayerKind{"Conv3D", keras::convolution},
    LayerKind{"Conv3DTranspose", keras::transposed_convolution},
    LayerKind{"Cropping1D", keras::cropping},
    LayerKind{"Cropping2D", keras::cropping},
    LayerKind{"Cropping3D", keras::cropping},
    LayerKind{"Dense", keras::dense},
    LayerKind{"DepthwiseConv1D", keras::depthwise_convolution},
    LayerKind{"DepthwiseConv2D", keras::depthwise_convolution},
    LayerKind{"Dot", keras::dot},
    LayerKind{"Dropout", keras::dropout},
    LayerKind{"ELU", keras::advanced_activation},
    LayerKind{"Embedding", keras::embedding},
    LayerKind{"Flatten", keras::flatten},
    LayerKind{"GRU", keras::recurrent},
    LayerKind{"GaussianDropout", keras::identity},
    LayerKind{"GaussianNoise", keras::identity},
    LayerKind{"GlobalAveragePooling1D", keras::global_average_pooling},
    LayerKind{"GlobalAveragePooling2D", keras::global_average_pooling},
    LayerKind{"GlobalAveragePooling3D", keras::global_average_pooling},
    LayerKind{"GlobalMaxPooling1D", keras::global_max_pooling},
    LayerKind{"GlobalMaxPooling2D", keras::global_max_pooling},
    LayerKind{"GlobalMaxPooling3D", keras::global_max_pooling},
    LayerKind{"GroupNormalization", keras::group_normalization},
    LayerKind{"Identity", keras::identity},
    LayerKind{"LSTM", keras::recurrent},
    LayerKind{"LayerNormalization", keras::layer_normalization},
    LayerKind{"LeakyReLU", keras::advanced_activation},
    LayerKind{"Masking", keras::masking},
    LayerKind{"MaxPooling1D", keras::max_pooling},
    LayerKind{"MaxPooling2D", keras::max_pooling},
    LayerKind{"MaxPooling3D", keras::max_pooling},
    LayerKind{"Maximum", keras::maximum},
    LayerKind{"Minimum", keras::minimum},
    LayerKind{"MultiHeadAttention", keras::multi_head_attention},
    LayerKind{"Multiply", keras::multiply},
    LayerKind{"Normalization", keras::normalization},
    LayerKind{"PReLU", keras::parametric_relu},
    LayerKind{"Permute", keras::permute},
    LayerKind{"RMSNormalization", keras::rms_normalization},
    LayerKind{"ReLU", keras::advanced_activation},
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
    LayerKind{"SimpleRNN", keras::recurrent},
    LayerKind{"Softmax", keras::advanced_activation},
    LayerKind{"SpatialDropout1D", keras::identity},
    LayerKind{"SpatialDropout2D", keras::identity},
    LayerKind{"SpatialDropout3D", keras::identity},
    LayerKind{"Subtract", keras::subtract},
    LayerKind{"ThresholdedReLU", keras::advanced_activation},
    LayerKind{"TimeDistributed", keras::time_distributed},
    LayerKind{"UnitNormalization", keras::unit_normalization},
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

namespace keras {

std::size_t spatial_rank(const std::string& class_name) {
  const auto at = class_name.find_last_of("123");
  return at == std::string::npos ? 0 : static_cast<std::size_t>(class_name[at] - '0');
}

}  // namespace keras
}  // namespace assay
