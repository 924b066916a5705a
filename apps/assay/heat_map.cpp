#include "apps/assay/heat_map.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "assay/data/summary.h"

namespace assay::app {

Image heat_map(std::span<const float> record, std::span<const float> relevance, const Shape& shape, float low, float high) {
  const int height = static_cast<int>(shape[1]), width = static_cast<int>(shape[2]);
  const std::size_t plane = static_cast<std::size_t>(height) * static_cast<std::size_t>(width);
  std::vector<float> heat(plane, 0.0F);
  for (std::size_t i = 0; i < relevance.size(); ++i) heat[i % plane] += relevance[i];
  float largest = 0;
  for (const float h : heat) largest = std::max(largest, std::fabs(h));
  const Image picture = with_channels(picture_of(record, shape, low, high), 3);
  const int zoom = std::max(1, 160 / std::max(height, width));
  Image result = make_image(2 * width * zoom + 4, height * zoom, 3);
  std::fill(result.pixels.begin(), result.pixels.end(), std::uint8_t{96});
  for (int y = 0; y < height * zoom; ++y) {
    for (int x = 0; x < width * zoom; ++x) {
      const float share = largest > 0 ? heat[static_cast<std::size_t>((y / zoom) * width + x / zoom)] / largest : 0;
      const auto faded = static_cast<std::uint8_t>(255 * (1 - std::sqrt(std::fabs(share))));
      const std::uint8_t colour[3] = {share >= 0 ? std::uint8_t{255} : faded, faded, share >= 0 ? faded : std::uint8_t{255}};
      for (int c = 0; c < 3; ++c) {
        result.at(x, y, c) = picture.at(x / zoom, y / zoom, c);
        result.at(width * zoom + 4 + x, y, c) = colour[c];
      }
    }
  }
  return result;
}

}  // namespace assay::app
