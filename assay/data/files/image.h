#pragma once

// Pictures in memory: resizing, turning, writing PNG. Decoding is in picture.h.

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace assay::inline data {

// Pixels in rows from the top, channels side by side (1 grey or 3 RGB).
template <typename Shade>
struct Pixels {
  int width = 0, height = 0, channels = 0;
  std::vector<Shade> pixels;
  Shade& at(int x, int y, int c) { return pixels[place(x, y, c)]; }
  Shade at(int x, int y, int c) const { return pixels[place(x, y, c)]; }

 private:
  std::size_t place(int x, int y, int c) const {
    const std::int64_t pixel = std::int64_t{y} * width + x;
    return pixel * channels + c;
  }
};
using Image = Pixels<std::uint8_t>;
using DeepImage = Pixels<std::uint16_t>;  // white is 65535

// A black image. REQUIRES 1 or 3 channels.
Image make_image(int width, int height, int channels);

// Decodes PNG or JPEG as decode_picture() does, with 16 bits rounded to 8.
Image decode_image(std::string_view bytes, const std::string& name);

// A PNG whose pixels are numbers: indices into its palette, or shades of grey as they are. Throws Error{data}
// for colours without a palette and for numbers above 255, and as decode_picture().
Image decode_indices(std::string_view bytes, const std::string& name);

// Grey by ITU-R 601 luma, or grey repeated in three channels.
Image with_channels(Image image, int channels);
DeepImage with_channels(DeepImage image, int channels);

// Bilinear with half-pixel centres, edges repeated; when shrinking, the triangle is as much wider, so that
// every pixel counts. Memory for one row in addition to the result.
Image resized(Image image, int width, int height);
DeepImage resized(DeepImage image, int width, int height);

std::string encode_png(const Image& image);
// Throws Error{io}.
void write_png(const std::filesystem::path& path, const Image& image);

}  // namespace assay::inline data
