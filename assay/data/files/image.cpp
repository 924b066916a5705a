#include "assay/data/files/image.h"

#include <png.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include <assay/error.h>
#include "assay/support/files/file.h"

namespace assay::inline data {
namespace {

// Weights of source positions for each target position along one axis.
struct Tap {
  int first = 0;
  std::vector<float> weights;
};

std::vector<Tap> taps_for(int from, int to) {
  const double scale = static_cast<double>(from) / to, reach = std::max(1.0, scale);
  std::vector<Tap> taps;
  for (int t = 0; t < to; ++t) {
    const double centre = (t + 0.5) * scale - 0.5;
    const int low = static_cast<int>(std::floor(centre - reach)) + 1,
              high = static_cast<int>(std::ceil(centre + reach)) - 1;
    Tap tap{std::clamp(low, 0, from - 1), {}};
    tap.weights.assign(std::clamp(high, 0, from - 1) - tap.first + 1, 0.0F);
    double total = 0;
    for (int s = low; s <= high; ++s) total += std::max(0.0, 1.0 - std::fabs(s - centre) / reach);
    for (int s = low; s <= high; ++s) {
      const double weight = std::max(0.0, 1.0 - std::fabs(s - centre) / reach) / total;
      tap.weights[std::clamp(s, 0, from - 1) - tap.first] += static_cast<float>(weight);
    }
    taps.push_back(std::move(tap));
  }
  return taps;
}

template <typename Shade>
Pixels<Shade> black(int width, int height, int channels) {
  return {width, height, channels,
          std::vector<Shade>(static_cast<std::size_t>(width) * static_cast<std::size_t>(height) *
                             static_cast<std::size_t>(channels))};
}

template <typename Shade>
Pixels<Shade> recoloured(Pixels<Shade> image, int channels) {
  if (image.channels == channels) return image;
  Pixels<Shade> result = black<Shade>(image.width, image.height, channels);
  const std::size_t count = static_cast<std::size_t>(image.width) * static_cast<std::size_t>(image.height);
  for (std::size_t i = 0; i < count; ++i) {
    if (channels == 1) {
      const Shade* const rgb = image.pixels.data() + 3 * i;
      result.pixels[i] = static_cast<Shade>((299 * rgb[0] + 587 * rgb[1] + 114 * rgb[2] + 500) / 1000);
    } else {
      std::fill_n(result.pixels.data() + 3 * i, 3, image.pixels[i]);
    }
  }
  return result;
}

template <typename Shade>
Pixels<Shade> scaled(Pixels<Shade> image, int width, int height) {
  if (image.width == width && image.height == height) return image;
  constexpr float white = std::numeric_limits<Shade>::max();
  const std::vector<Tap> columns = taps_for(image.width, width), rows = taps_for(image.height, height);
  const std::size_t channels = image.channels;
  const std::size_t across = static_cast<std::size_t>(image.width) * channels;
  Pixels<Shade> result = black<Shade>(width, height, image.channels);
  Shade* out = result.pixels.data();
  for (const Tap& row : rows) {
    std::vector<float> line(across, 0.0F);
    for (std::size_t s = 0; s < row.weights.size(); ++s) {
      const Shade* const from = image.pixels.data() + (static_cast<std::size_t>(row.first) + s) * across;
      for (std::size_t i = 0; i < across; ++i) line[i] += row.weights[s] * from[i];
    }
    for (const Tap& column : columns) {
      for (std::size_t c = 0; c < channels; ++c) {
        float sum = 0;
        for (std::size_t s = 0; s < column.weights.size(); ++s) {
          sum += column.weights[s] * line[(static_cast<std::size_t>(column.first) + s) * channels + c];
        }
        *out++ = static_cast<Shade>(std::clamp(sum + 0.5F, 0.0F, white));
      }
    }
  }
  return result;
}

}  // namespace

Image make_image(int width, int height, int channels) { return black<std::uint8_t>(width, height, channels); }

Image with_channels(Image image, int channels) { return recoloured(std::move(image), channels); }
DeepImage with_channels(DeepImage image, int channels) { return recoloured(std::move(image), channels); }

Image resized(Image image, int width, int height) { return scaled(std::move(image), width, height); }
DeepImage resized(DeepImage image, int width, int height) { return scaled(std::move(image), width, height); }

std::string encode_png(const Image& image) {
  png_image png{};
  png.version = PNG_IMAGE_VERSION;
  png.width = static_cast<png_uint_32>(image.width);
  png.height = static_cast<png_uint_32>(image.height);
  png.format = image.channels == 3 ? PNG_FORMAT_RGB : PNG_FORMAT_GRAY;
  png_alloc_size_t size = PNG_IMAGE_PNG_SIZE_MAX(png);
  std::string bytes(size, '\0');
  if (png_image_write_to_memory(&png, bytes.data(), &size, 0, image.pixels.data(), 0, nullptr) == 0) {
    fail(Fault::internal, "PNG encoding failed: {}", png.message);
  }
  bytes.resize(size);
  return bytes;
}

void write_png(const std::filesystem::path& path, const Image& image) { write_file(path, encode_png(image)); }

}  // namespace assay::inline data
