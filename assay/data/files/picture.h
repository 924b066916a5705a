#pragma once

// PNG and JPEG as pictures, the way Pillow's convert("RGB") and with it torchvision and Keras read them.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "assay/data/files/image.h"

namespace assay::inline data {

struct PictureOptions {
  // The background of transparent parts; nothing: they have the colours that are stored there.
  std::optional<std::array<std::uint8_t, 3>> background = {};
  bool upright = false;  // turned as the file's EXIF orientation says
};

struct Picture {
  std::variant<Image, DeepImage> pixels;  // the latter of PNG with 16 bits
  int width() const;
  int height() const;
  int channels() const;
};

// Decodes PNG or JPEG, judged by content. Palettes become RGB, few bits eight; gammas and colour profiles are
// not looked at; CMYK and YCCK are taken to be inverted, as Adobe writes them. `name` stands in messages.
// Throws Error{data} for anything else, damaged files and pictures of more than 2^26 pixels.
Picture decode_picture(std::string_view bytes, const std::string& name, const PictureOptions& options = {});

}  // namespace assay::inline data
