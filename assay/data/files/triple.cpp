#include "assay/data/files/triple.h"

#include <algorithm>
#include <cmath>

#include <assay/dataset.h>
#include "assay/data/summary.h"

namespace assay::inline data {
namespace {

constexpr int least_side = 112, gap = 4;

// Elements as shares of the valid range; what is not finite is shown as the least value.
std::vector<float> shares(std::span<const float> elements, const ValidRange& range) {
  std::vector<float> result(elements.size());
  const std::size_t per_bound = std::max<std::size_t>(1, elements.size() / range.low.size());
  for (std::size_t i = 0; i < elements.size(); ++i) {
    const std::size_t c = std::min(i / per_bound, range.low.size() - 1);
    const float span = range.high[c] - range.low[c];
    result[i] = span > 0 && std::isfinite(elements[i]) ? (elements[i] - range.low[c]) / span : 0;
  }
  return result;
}

void copy_enlarged(Image& sheet, const Image& picture, int zoom, int x0) {
  for (int y = 0; y < sheet.height; ++y) {
    for (int x = 0; x < picture.width * zoom; ++x) {
      for (int c = 0; c < sheet.channels; ++c) sheet.at(x0 + x, y, c) = picture.at(x / zoom, y / zoom, c);
    }
  }
}

}  // namespace

Triple triple_of(std::span<const float> before, std::span<const float> after, const Shape& shape,
                 const ValidRange& range) {
  const std::vector<float> from = shares(before, range), to = shares(after, range);
  std::vector<float> difference(from.size());
  float greatest = 0;
  for (std::size_t i = 0; i < from.size(); ++i) {
    difference[i] = to[i] - from[i];
    greatest = std::max(greatest, std::fabs(difference[i]));
  }
  const float amplification = greatest > 0 ? 1 / greatest : 1;
  for (float& d : difference) d = 0.5F + 0.5F * amplification * d;
  const std::vector<float>* const parts[] = {&from, &to, &difference};
  const int height = static_cast<int>(shape[1]), width = static_cast<int>(shape[2]);
  const int zoom = std::max(1, least_side / std::max(height, width)), step = width * zoom + gap;
  Triple triple{make_image(3 * step - gap, height * zoom, shape[0] == 3 ? 3 : 1), zoom, step, amplification};
  std::fill(triple.image.pixels.begin(), triple.image.pixels.end(), std::uint8_t{96});
  for (int i = 0; i < 3; ++i) copy_enlarged(triple.image, picture_of(*parts[i], shape, 0, 1), zoom, i * step);
  return triple;
}

}  // namespace assay::inline data
