#pragma once

// Pictures in memory: decoding PNG and JPEG, resizing, writing PNG.

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

// 8-bit pixels, rows from the top, channels side by side (1 grey or 3 RGB).
struct Image {
  int width = 0, height = 0, channels = 0;
  std::vector<std::uint8_t> pixels;
  std::uint8_t& at(int x, int y, int c) { return pixels[place(x, y, c)]; }
  std::uint8_t at(int x, int y, int c) const { return pixels[place(x, y, c)]; }

 private:
  std::size_t place(int x, int y, int c) const {
    const std::int64_t pixel = std::int64_t{y} * width + x;
    return static_cast<std::size_t>(pixel * channels + c);
  }
};

// A black image. REQUIRES 1 or 3 channels.
Image make_image(int width, int height, int channels);

// Decodes PNG or JPEG, judged by content; what is transparent becomes black, palettes and 16 bits become
// 8-bit channels. `name` stands in messages. Throws Error{data} for anything else, damaged files and pictures
// of more than 2^26 pixels.
Image decode_image(std::string_view bytes, const std::string& name);

// A PNG whose pixels are numbers: indices into its palette, or shades of grey as they are. Throws Error{data}
// for colours without a palette, and as decode_image().
Image decode_indices(std::string_view bytes, const std::string& name);

// Grey by ITU-R 601 luma, or grey repeated in three channels.
Image with_channels(const Image& image, int channels);

// Bilinear with half-pixel centres, edges repeated; when shrinking, the triangle is as much wider, so that
// every pixel counts. Memory for one row besides the result.
Image resized(const Image& image, int width, int height);

std::string encode_png(const Image& image);
// Throws Error{io}.
void write_png(const std::filesystem::path& path, const Image& image);

}  // namespace assay
