// Layers that turn sound into spectrograms.

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numbers>

#include "assay/model/keras/arrays.h"
#include "assay/model/keras/layers/layers.h"
#include "assay/model/keras/layers/window.h"

namespace assay::keras {
namespace {

using Settings = std::map<std::string, Attribute>;

constexpr std::int64_t longest_frame = std::int64_t{1} << 20;

double mel(double hertz) { return 1127 * std::log(1 + hertz / 700); }

// Triangles of height 1 that overlap by half along the mel scale (Young et al., HTK): [bins, bands].
Array mel_bands(std::int64_t bins, std::int64_t bands, double rate, double lowest, double highest) {
  const double first = mel(lowest), step = (mel(highest) - first) / (bands + 1);
  std::vector<float> weights;
  for (std::int64_t bin = 0; bin < bins; ++bin) {
    const double at = mel(rate / 2 * bin / (bins - 1));
    for (std::int64_t band = 0; band < bands; ++band) {
      const double left = first + step * band;
      const double height = std::min(at - left, left + 2 * step - at) / step;
      weights.push_back(bin == 0 ? 0.0F : static_cast<float>(std::max(height, 0.0)));
    }
  }
  return Array::of(Shape{bins, bands}, weights);
}

class MelSpectrogram {
 public:
  explicit MelSpectrogram(LayerBuilder& layer)
      : layer_(layer),
        config_(layer.config()),
        fft_(config_.size("fft_length", 2048)),
        length_(config_.size("sequence_length", fft_)),
        step_(config_.size("sequence_stride", 512)),
        bands_(config_.size("num_mel_bins", 128)) {
    if (fft_ < 2 || fft_ > longest_frame || length_ > fft_)
      layer.invalid(fmt::format("frames of {} for a transform of {}", length_, fft_));
    if (bands_ * fft_ > std::int64_t{1} << 28) layer.invalid(fmt::format("{} bands are too many", bands_));
  }

  // [n, samples] to [n, bands, frames]
  KerasTensors build(const KerasTensor& x) {
    layer_.require_rank(x, 2);
    const std::int64_t samples = layer_.known(x, 1);
    if (samples <= fft_ / 2)
      layer_.invalid(fmt::format("{} samples are not more than half of fft_length {}", samples, fft_));
    const ValueId pads = layer_.constant("pads", integers({0, fft_ / 2, 0, fft_ / 2}));
    const ValueId padded = add("Pad", "_padded", {x.value, pads}, {{"mode", std::string("reflect")}});
    const ValueId spectrum =
        add("STFT", "_spectrum", {padded, number("step", step_), window()}, {{"onesided", std::int64_t{1}}});
    const Settings drop{{"keepdims", std::int64_t{0}}};
    ValueId power =
        add("ReduceSumSquare", "_power", {spectrum, layer_.constant("parts", integers({-1}))}, drop);
    const double exponent = config_.real("mag_exp", 2);
    if (exponent != 2) power = add("Pow", "_magnitude", {power, real("exponent", exponent / 2)});
    const double rate = config_.real("sampling_rate", 16000);
    const Array matrix = mel_bands(fft_ / 2 + 1, bands_, rate, config_.real("min_freq", 20),
                                   config_.real("max_freq", std::floor(rate / 2)));
    ValueId bands = add("MatMul", "_bands", {power, layer_.constant("bands", matrix)});
    if (config_.flag("power_to_db", true)) bands = decibels(bands);
    KerasTensor result = x.without_mask().with(
        layer_.add("Transpose", "", {bands}, {{"perm", std::vector<std::int64_t>{0, 2, 1}}}, ""));
    result.shape = {x.shape[0], bands_, (samples + 2 * (fft_ / 2) - fft_) / step_ + 1};
    return {result};
  }

 private:
  ValueId add(const char* op, const char* suffix, std::vector<ValueId> operands, Settings attributes = {}) {
    return layer_.add(op, suffix, std::move(operands), std::move(attributes), suffix);
  }
  ValueId number(const char* label, std::int64_t value) {
    return layer_.constant(label, Array::of(Shape{}, std::vector<std::int64_t>{value}));
  }
  ValueId real(const char* label, double value) { return layer_.constant(label, scalar(value)); }

  // The window in the middle of a frame; without one the whole frame counts.
  ValueId window() {
    std::vector<float> shape(static_cast<std::size_t>(fft_), 0.0F);
    if (!config_.has("window")) return layer_.constant("window", filled(fft_, 1));
    const auto begin = shape.begin() + (fft_ - length_) / 2;
    if (config_.value("window").is_array()) {
      const auto values = config_.reals("window");
      if (std::ssize(values) != length_)
        layer_.invalid(fmt::format("a window of {} for frames of {}", values.size(), length_));
      std::ranges::transform(values, begin, [](double v) { return static_cast<float>(v); });
      return layer_.constant("window", Array::of(Shape{fft_}, shape));
    }
    const std::string name = config_.text("window", "hann");
    if (name != "hann" && name != "hamming")
      layer_.unsupported(fmt::format("window '{}'", name), "Keras has hann and hamming");
    const double mean = name == "hann" ? 0.5 : 0.54;
    for (std::int64_t i = 0; i < length_; ++i) {
      const double angle = 2 * std::numbers::pi * i / length_;
      *(begin + i) = static_cast<float>(mean - (1 - mean) * std::cos(angle));
    }
    return layer_.constant("window", Array::of(Shape{fft_}, shape));
  }

  // 10 log10 of what is at least min_power, relative to the reference, down to top_db below the loudest of
  // the batch.
  ValueId decibels(ValueId power) {
    const double least = config_.real("min_power", 1e-10), ten = 10 / std::numbers::ln10;
    const double reference = ten * std::log(std::max(std::abs(config_.real("ref_power", 1)), least));
    const ValueId log = add("Log", "_log", {add("Max", "_audible", {power, real("min_power", least)})});
    const ValueId scaled = add("Mul", "_decibels", {log, real("decibel", ten)});
    const ValueId level = add("Sub", "_level", {scaled, real("reference", reference)});
    layer_.notice("its floor lies top_db below the loudest sound of a batch, as in Keras");
    const ValueId loudest = add("ReduceMax", "_loudest", {level}, {{"keepdims", std::int64_t{0}}});
    const ValueId floor = add("Sub", "_floor", {loudest, real("top_db", config_.real("top_db", 80))});
    return add("Max", "_heard", {level, floor});
  }

  LayerBuilder& layer_;
  const LayerConfig& config_;
  std::int64_t fft_, length_, step_, bands_;
};

// Frames of each channel against waves that the layer has as weights.
class StftSpectrogram {
 public:
  explicit StftSpectrogram(LayerBuilder& layer)
      : layer_(layer),
        config_(layer.config()),
        mode_(config_.text("mode", "log")),
        length_(config_.size("frame_length", 256)),
        bins_(transform_length() / 2 + 1),
        first_(layer.channels_first_config()) {}

  KerasTensors build(const KerasTensor& input) {
    layer_.require_rank(input, 3);
    const KerasTensor x = first_ ? layer_.as_keras(input) : layer_.as_channels_first(input);
    const std::size_t time = first_ ? 2 : 1;
    const std::int64_t samples = layer_.known(input, time), channels = layer_.known(input, 3 - time);
    window_ = {.size = {length_},
               .stride = {config_.size("frame_step", std::max<std::int64_t>(length_ / 2, 1))},
               .dilation = {1},
               .padding = config_.text("padding", "valid")};
    if (window_.padding != "valid" && window_.padding != "same")
      layer_.unsupported(fmt::format("padding '{}'", window_.padding), "Keras has valid and same");
    samples_ = samples;
    channels_ = channels;
    frames_ = positions_after(layer_, {samples}, window_)[0];
    rows_ = add("Reshape", "_rows", {x.value, layer_.constant("rows", integers({-1, 1, samples}))});
    return {arranged(input, spectrum())};
  }

 private:
  ValueId add(const char* op, const char* suffix, std::vector<ValueId> operands, Settings attributes = {}) {
    return layer_.add(op, suffix, std::move(operands), std::move(attributes), suffix);
  }
  ValueId real(const char* label, double value) { return layer_.constant(label, scalar(value)); }

  std::int64_t transform_length() const {
    std::int64_t power = 1;
    while (power < length_) power *= 2;
    return config_.size("fft_length", power);
  }

  // [n * channels, bins, frames]
  ValueId waves(const char* part) {
    const Array kernel = layer_.weight(std::string(part) + "_kernel", {length_, 1, bins_});
    const ValueId constant = layer_.constant(std::string(part) + "_kernel", transposed(kernel, {2, 1, 0}));
    const std::string suffix = std::string("_") + part;
    return layer_.add("Conv", suffix, {rows_, constant}, window_attributes({samples_}, window_), suffix);
  }

  ValueId spectrum() {
    if (mode_ == "real" || mode_ == "imag") return waves(mode_.c_str());
    const ValueId re = waves("real"), im = waves("imag");
    if (mode_ == "stft") {
      bins_ *= 2;
      return add("Concat", "_parts", {re, im}, {{"axis", std::int64_t{1}}});
    }
    if (mode_ == "angle") return angle(re, im);
    if (mode_ != "psd" && mode_ != "magnitude" && mode_ != "log")
      layer_.unsupported(fmt::format("mode '{}'", mode_),
                         "use log, magnitude, psd, real, imag, angle or stft");
    const ValueId power =
        add("Add", "_power", {add("Mul", "_real_square", {re, re}), add("Mul", "_imag_square", {im, im})});
    if (mode_ == "psd") return both_sides(power);
    const ValueId least = real("least", 1e-7);
    const ValueId magnitude = add("Sqrt", "_magnitude", {add("Max", "_audible", {power, least})});
    return mode_ == "magnitude" ? magnitude : add("Log", "_log", {add("Max", "_heard", {magnitude, least})});
  }

  // All frequencies but the first and the last stand for two.
  ValueId both_sides(ValueId power) {
    std::vector<float> sides(static_cast<std::size_t>(bins_), 2.0F);
    sides.front() = sides.back() = 1;
    return add("Mul", "_both_sides", {power, layer_.constant("sides", Array::of(Shape{bins_, 1}, sides))});
  }

  // The angle of x + iy, from the tangent and the signs.
  ValueId angle(ValueId x, ValueId y) {
    const ValueId zero = real("zero", 0), half_turn = real("half_turn", std::numbers::pi);
    const ValueId below = add("Less", "_below", {y, zero}), left = add("Less", "_left", {x, zero});
    const ValueId turn =
        add("Where", "_turn", {below, add("Neg", "_half_turn_back", {half_turn}), half_turn});
    const ValueId tangent = add("Atan", "_tangent", {add("Div", "_slope", {y, x})});
    const ValueId turned =
        add("Where", "_turned", {left, add("Add", "_other_side", {tangent, turn}), tangent});
    const ValueId nowhere =
        add("And", "_nowhere", {add("Equal", "_x_zero", {x, zero}), add("Equal", "_y_zero", {y, zero})});
    return add("Where", "_angle", {nowhere, zero, turned});
  }

  // The layer's result: channel after channel with their frequencies, or pictures of frames and frequencies.
  KerasTensor arranged(const KerasTensor& input, ValueId value) {
    KerasTensor result = input.without_mask();
    result.layout = first_ ? Layout::keras : Layout::channels_first;
    const std::int64_t n = input.shape[0], width = channels_ * bins_;
    if (config_.flag("expand_dims", false)) {
      const ValueId apart =
          add("Reshape", "_by_channel",
              {value, layer_.constant("by_channel", integers({-1, channels_, bins_, frames_}))});
      result.value =
          layer_.add("Transpose", "", {apart}, {{"perm", std::vector<std::int64_t>{0, 1, 3, 2}}}, "");
      result.shape = first_ ? Shape{n, channels_, frames_, bins_} : Shape{n, frames_, bins_, channels_};
    } else {
      result.value = layer_.add("Reshape", "_together",
                                {value, layer_.constant("together", integers({-1, width, frames_}))}, {}, "");
      result.shape = first_ ? Shape{n, width, frames_} : Shape{n, frames_, width};
    }
    return result;
  }

  LayerBuilder& layer_;
  const LayerConfig& config_;
  std::string mode_;
  std::int64_t length_, bins_;
  bool first_;  // Keras has the channels in front of the samples
  Window window_;
  std::int64_t samples_ = 0, channels_ = 0, frames_ = 0;
  ValueId rows_ = no_value;
};

}  // namespace

KerasTensors mel_spectrogram(LayerBuilder& layer, std::span<const KerasTensor> inputs) {
  return MelSpectrogram(layer).build(layer.as_keras(layer.single(inputs)));
}

KerasTensors stft_spectrogram(LayerBuilder& layer, std::span<const KerasTensor> inputs) {
  return StftSpectrogram(layer).build(layer.single(inputs));
}

}  // namespace assay::keras
