#include "assay/data/arrangement.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <utility>

#include <assay/error.h>
#include "assay/support/text/parse.h"
#include "assay/support/text/text.h"

namespace assay::inline data {
namespace {

// Records without elements could be any number, giant ones exhaust memory.
void check_shape(const Shape& shape, const std::string& text) {
  constexpr std::int64_t most = std::int64_t{1} << 28;  // elements, 1 GiB of float32
  const std::int64_t elements = element_count(shape);
  if (elements == 0)
    fail(Fault::data, "data '{}': records of shape {} have no elements", text, to_string(shape));
  if (elements > most) {
    fail(Fault::resources, "data '{}': records of shape {} are too large (at most {} elements)", text,
         to_string(shape), most);
  }
}

bool is_picture(const InputFacts& input) { return input.record_shape.size() == 3; }

// Each channel's elements one after the other, where the channels of a position stood together.
template <typename T>
void put_channels_first(std::byte* elements, std::size_t count, std::size_t channels) {
  std::vector<T> from(count);
  std::memcpy(from.data(), elements, count * sizeof(T));
  std::vector<T> to(count);
  const std::size_t plane = count / channels;
  for (std::size_t c = 0; c < channels; ++c) {
    for (std::size_t p = 0; p < plane; ++p) to[c * plane + p] = from[p * channels + c];
  }
  std::memcpy(elements, to.data(), count * sizeof(T));
}

void put_channels_first(std::span<std::byte> elements, std::size_t channels, std::size_t size) {
  const std::size_t count = elements.size() / size;
  if (size == 8) return put_channels_first<std::uint64_t>(elements.data(), count, channels);
  if (size == 4) return put_channels_first<std::uint32_t>(elements.data(), count, channels);
  put_channels_first<std::uint8_t>(elements.data(), count, channels);
}

// One number for all channels, or one for each; `none` where there is none.
double of_channel(const std::vector<double>& values, std::size_t c, double none) {
  return values.empty() ? none : values[values.size() == 1 ? 0 : c];
}

}  // namespace

Arrangement::Arrangement(const DataSpec& spec, const std::string& text, const Source& source)
    : others_(source.others()) {
  check_shape(source.shape(), text);
  arrange(spec, text, source);
  const std::int64_t channels = record_shape_.empty() ? 1 : record_shape_[0];
  if (spec.integer("flatten", 0) == 1) record_shape_ = {element_count(record_shape_)};
  const double scale = spec.number("scale", source.is_8bit() ? 1.0 / 255 : 1.0);
  const std::vector<double> mean = spec.numbers("mean"), deviation = spec.numbers("std");
  const std::optional<Bounds> bounds = bounds_of_values(spec, source, scale);
  const std::size_t ranges = bounds ? bounds->low.size() : 1;
  for (const auto& [values, name] :
       {std::pair(mean.size(), "mean"), std::pair(deviation.size(), "std"), std::pair(ranges, "range")}) {
    if (values > 1 && static_cast<std::int64_t>(values) != channels)
      fail(Fault::usage, "data '{}': {} numbers in {} for {} channels", text, values, name, channels);
  }
  set_factors(mean, deviation, scale, text);
  if (!bounds) return;
  valid_range_ = ValidRange{};
  for (std::size_t c = 0; c < std::max(scale_.size(), ranges); ++c)
    add_range(of_channel(bounds->low, c, 0), of_channel(bounds->high, c, 0), of_channel(mean, c, 0),
              of_channel(deviation, c, 1), text);
}

void Arrangement::arrange(const DataSpec& spec, const std::string& text, const Source& source) {
  const std::string layout = spec.text("layout", "nchw");
  if (layout != "nchw" && layout != "nhwc") fail(Fault::usage, "data option layout={}: nchw or nhwc", layout);
  record_shape_ = source.shape();
  if (layout == "nhwc") {
    if (record_shape_.size() < 2)
      fail(Fault::usage, "data '{}': layout=nhwc needs records with channels, these are {}", text,
           to_string(record_shape_));
    channels_last_ = record_shape_.back();
    const auto put_first = [](Shape& shape) { std::rotate(shape.begin(), shape.end() - 1, shape.end()); };
    put_first(record_shape_);
    for (InputFacts& other : others_) {
      if (is_picture(other)) put_first(other.record_shape);
    }
  }
  if (record_shape_.size() == 2 && source.is_8bit()) record_shape_.insert(record_shape_.begin(), 1);
}

void Arrangement::set_factors(const std::vector<double>& mean, const std::vector<double>& deviation,
                              double scale, const std::string& text) {
  const std::size_t width = std::max({mean.size(), deviation.size(), std::size_t{1}});
  scale_.assign(width, 0);
  shift_.assign(width, 0);
  for (std::size_t c = 0; c < width; ++c) {
    const double m = of_channel(mean, c, 0), s = of_channel(deviation, c, 1);
    if (!(s > 0)) fail(Fault::usage, "data '{}': std must be above 0", text);
    scale_[c] = static_cast<float>(scale / s);
    shift_[c] = static_cast<float>(-m / s);
    if (scale_[c] == 0 || !std::isfinite(scale_[c]) || !std::isfinite(shift_[c]))
      fail(Fault::usage, "data '{}': scale={}, mean={} and std={} leave nothing of the values", text, scale,
           m, s);
  }
}

std::optional<Arrangement::Bounds> Arrangement::bounds_of_values(const DataSpec& spec, const Source& source,
                                                                 double scale) {
  if (spec.has("range")) return bounds_in(spec.text("range"));
  if (const auto range = source.valid_range())
    return Bounds{{range->low.begin(), range->low.end()}, {range->high.begin(), range->high.end()}};
  if (source.is_8bit() && scale > 0) return Bounds{{0}, {255 * scale}};
  return std::nullopt;
}

// "0:1", or with a pair for each channel "-2.1:2.2+-2:2.4+-1.8:2.6".
Arrangement::Bounds Arrangement::bounds_in(const std::string& text) {
  Bounds bounds;
  for (const std::string& part : parts_of(text, "+")) {
    const std::size_t colon = part.find(':', 1);
    const DataSpec ends{
        .path = {},
        .options = {{"range", part.substr(0, colon)},
                    {"range's end", colon == std::string::npos ? "" : part.substr(colon + 1)}},
        .slices = {}};
    bounds.low.push_back(ends.number("range", 0));
    bounds.high.push_back(ends.number("range's end", 0));
    if (!(bounds.low.back() < bounds.high.back()))
      fail(Fault::usage,
           "data option range={}: LOW:HIGH such as 0:1, or one such pair for each channel, joined by +; "
           "before mean and std",
           text);
  }
  return bounds;
}

void Arrangement::add_range(double low, double high, double mean, double deviation, const std::string& text) {
  const auto first = static_cast<float>((low - mean) / deviation),
             last = static_cast<float>((high - mean) / deviation);
  if (!(first < last) || !std::isfinite(first) || !std::isfinite(last))
    fail(Fault::usage, "data '{}': range {}:{} does not fit 32-bit numbers after mean and std", text, low,
         high);
  valid_range_->low.push_back(first);
  valid_range_->high.push_back(last);
}

bool Arrangement::apply(std::span<float> values) const {
  if (channels_last_ > 0) put_channels_first(std::as_writable_bytes(values), channels_last_, sizeof(float));
  const std::size_t width = scale_.size(), plane = values.size() / width;
  bool finite = true;
  for (std::size_t c = 0; c < width; ++c) {
    const float scale = scale_[c], shift = shift_[c];
    float* const at = values.data() + c * plane;
    if (scale != 1 || shift != 0) {
      for (std::size_t p = 0; p < plane; ++p) at[p] = at[p] * scale + shift;
    }
    for (std::size_t p = 0; p < plane; ++p) finite &= std::isfinite(at[p]);
  }
  return finite;
}

void Arrangement::apply_to_other(std::size_t which, std::span<std::byte> elements) const {
  const InputFacts& input = others_[which];
  if (channels_last_ > 0 && is_picture(input))
    put_channels_first(elements, static_cast<std::size_t>(input.record_shape[0]), size_of(input.dtype));
}

}  // namespace assay::inline data
