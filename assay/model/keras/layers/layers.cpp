#include "assay/model/keras/layers/layers.h"

#include <algorithm>
#include <array>

#include <assay/error.h>
#include "assay/support/text/text.h"

namespace assay::inline model {
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
    LayerKind{"AdaptiveAveragePooling1D", keras::adaptive_average_pooling, dropped},
    LayerKind{"AdaptiveAveragePooling2D", keras::adaptive_average_pooling, dropped},
    LayerKind{"AdaptiveAveragePooling3D", keras::adaptive_average_pooling, dropped},
    LayerKind{"AdaptiveMaxPooling1D", keras::adaptive_max_pooling, dropped},
    LayerKind{"AdaptiveMaxPooling2D", keras::adaptive_max_pooling, dropped},
    LayerKind{"AdaptiveMaxPooling3D", keras::adaptive_max_pooling, dropped},
    LayerKind{"Add", keras::add, passed},
    LayerKind{"AdditiveAttention", keras::additive_attention, passed},
    LayerKind{"AlphaDropout", keras::identity, passed},
    LayerKind{"Attention", keras::attention, passed},
    LayerKind{"AugMix", keras::identity},
    LayerKind{"AutoContrast", keras::auto_contrast},
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
    LayerKind{"CustomScaleLayer", keras::scaled_sum},
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
    LayerKind{"Equalization", keras::identity},
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
    LayerKind{"GroupedQueryAttention", keras::grouped_query_attention, passed},
    LayerKind{"Identity", keras::identity},
    LayerKind{"IntegerLookup", keras::integer_lookup},
    LayerKind{"LSTM", keras::recurrent, passed},
    LayerKind{"LayerNormalization", keras::layer_normalization, passed},
    LayerKind{"LayerScale", keras::layer_scale},
    LayerKind{"LeakyReLU", keras::advanced_activation, passed},
    LayerKind{"LocallyConnected1D", keras::locally_connected, dropped},
    LayerKind{"LocallyConnected2D", keras::locally_connected, dropped},
    LayerKind{"Masking", keras::masking},
    LayerKind{"MaxPooling1D", keras::max_pooling, dropped},
    LayerKind{"MaxPooling2D", keras::max_pooling, dropped},
    LayerKind{"MaxPooling3D", keras::max_pooling, dropped},
    LayerKind{"Maximum", keras::maximum, passed},
    LayerKind{"MelSpectrogram", keras::mel_spectrogram, dropped},
    LayerKind{"Minimum", keras::minimum, passed},
    LayerKind{"MixUp", keras::identity},
    LayerKind{"MultiHeadAttention", keras::multi_head_attention, passed},
    LayerKind{"Multiply", keras::multiply},
    LayerKind{"Normalization", keras::normalization},
    LayerKind{"PReLU", keras::parametric_relu, passed},
    LayerKind{"Permute", keras::permute, dropped},
    LayerKind{"Pipeline", keras::pipeline},
    LayerKind{"RMSNormalization", keras::rms_normalization},
    LayerKind{"RNN", keras::recurrent_cells, passed},
    LayerKind{"RandAugment", keras::identity},
    LayerKind{"RandomBrightness", keras::identity},
    LayerKind{"RandomColorDegeneration", keras::identity},
    LayerKind{"RandomColorJitter", keras::identity},
    LayerKind{"RandomContrast", keras::identity},
    LayerKind{"RandomCrop", keras::random_crop, dropped},
    LayerKind{"RandomElasticTransform", keras::identity},
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
    LayerKind{"ReversibleEmbedding", keras::reversible_embedding},
    LayerKind{"STFTSpectrogram", keras::stft_spectrogram, dropped},
    LayerKind{"SeparableConv1D", keras::separable_convolution, dropped},
    LayerKind{"SeparableConv2D", keras::separable_convolution, dropped},
    LayerKind{"SimpleRNN", keras::recurrent, passed},
    LayerKind{"Softmax", keras::advanced_activation},
    LayerKind{"Solarization", keras::identity},
    LayerKind{"SpatialDropout1D", keras::identity, passed},
    LayerKind{"SpatialDropout2D", keras::identity},
    LayerKind{"SpatialDropout3D", keras::identity},
    LayerKind{"SpectralNormalization", keras::spectral_normalization},
    LayerKind{"StochasticDepth", keras::identity},
    LayerKind{"Subtract", keras::subtract, passed},
    LayerKind{"SyncBatchNormalization", keras::batch_normalization, passed},
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

constexpr const char* holds_code = "it holds code of another library; export the model to ONNX instead";
constexpr const char* reads_text =
    "it takes text, which networks here do not; cut the model after it, keras.Model(LAYER.output, "
    "model.output), "
    "and give the numbers that it makes as data";
constexpr const char* needs_a_kernel =
    "load the model in Keras 2 or 3, which reads it as LSTM or GRU, and save it";
constexpr const char* works_on_data = "apply it to the data, and leave it out of the model";
constexpr const char* is_no_layer = "a cell belongs in an RNN layer";

// Classes of Keras that are not translated, and what to do instead.
struct OtherLayer {
  std::string_view class_name;
  const char* remedy;
};
constexpr std::array others{
    OtherLayer{"ContrastLimitedAdaptiveHistogramEqualization", works_on_data},
    OtherLayer{"CuDNNGRU", needs_a_kernel},
    OtherLayer{"CuDNNLSTM", needs_a_kernel},
    OtherLayer{"FlaxLayer", holds_code},
    OtherLayer{"GRUCell", is_no_layer},
    OtherLayer{"HashedCrossing", reads_text},
    OtherLayer{"Hashing", reads_text},
    OtherLayer{"Highway", "write it with Dense, Multiply and Add"},
    OtherLayer{"JaxLayer", holds_code},
    OtherLayer{"LSTMCell", is_no_layer},
    OtherLayer{"MaxNumBoundingBoxes", works_on_data},
    OtherLayer{"MaxoutDense", "write it with Dense and Maximum"},
    OtherLayer{"SimpleRNNCell", is_no_layer},
    OtherLayer{"StackedRNNCells", is_no_layer},
    OtherLayer{"StringLookup", reads_text},
    OtherLayer{"TFSMLayer", holds_code},
    OtherLayer{"TextVectorization", reads_text},
    OtherLayer{"TorchModuleWrapper", holds_code},
};

// Weights that model.quantize() made are other numbers than their layer's.
void refuse_quantised(const LayerConfig& config) {
  const std::string mode = config.quantisation();
  if (mode.empty() || (mode == "int8" && config.class_name() == "Dense")) return;
  fail(Fault::unsupported,
       "{}: its weights are quantised ({}), which is read of Dense with int8 only; save the model before "
       "model.quantize()",
       config.where(), mode);
}

}  // namespace

BuildLayer find_keras_layer(const LayerConfig& config) {
  const std::string& name = config.class_name();
  refuse_quantised(config);
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
  const auto other = std::ranges::find(others, name, &OtherLayer::class_name);
  if (other != others.end())
    fail(Fault::unsupported, "{}: layers of this class are not read; {}", config.where(), other->remedy);
  std::vector<std::string> names;
  for (const LayerKind& kind : kinds) names.emplace_back(kind.class_name);
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

}  // namespace assay::inline model

namespace assay::keras {

std::size_t spatial_rank(const std::string& class_name) {
  const auto at = class_name.find_last_of("123");
  return at == std::string::npos ? 0 : static_cast<std::size_t>(class_name[at] - '0');
}

}  // namespace assay::keras
