#include "assay/data/files/image.h"

#include <png.h>

#include <algorithm>
#include <cmath>
#include <csetjmp>
#include <cstdio>
#include <cstring>

#include <jpeglib.h>

#include <assay/error.h>
#include "assay/support/files/file.h"

namespace assay {
namespace {

constexpr std::uint64_t largest = std::uint64_t{1} << 26;  // pixels
constexpr int most_scans =
    100;  // of a progressive JPEG; encoders write about ten, each costs the whole picture

void check_size(std::uint64_t width, std::uint64_t height, const std::string& name) {
  if (width == 0 || height == 0 || width * height > largest) {
    fail(Fault::data, "{}: a picture of {} x {} pixels is not reasonable (at most {} pixels)", name, width,
         height, largest);
  }
}

Image decode_png(std::string_view bytes, const std::string& name) {
  png_image png{};
  png.version = PNG_IMAGE_VERSION;
  if (png_image_begin_read_from_memory(&png, bytes.data(), bytes.size()) == 0) {
    fail(Fault::data, "{}: damaged PNG: {}", name, png.message);
  }
  const bool colour = (png.format & PNG_FORMAT_FLAG_COLOR) != 0;
  if (png.width == 0 || png.height == 0 || std::uint64_t{png.width} * png.height > largest) {
    const std::uint64_t width = png.width, height = png.height;
    png_image_free(&png);
    check_size(width, height, name);
  }
  png.flags |=
      PNG_IMAGE_FLAG_16BIT_sRGB;  // 16 bits without a gamma are shades like any other, not linear light
  Image image = make_image(static_cast<int>(png.width), static_cast<int>(png.height), colour ? 3 : 1);
  png.format = colour ? PNG_FORMAT_RGB : PNG_FORMAT_GRAY;
  const png_color black{0, 0, 0};
  if (png_image_finish_read(&png, &black, image.pixels.data(), 0, nullptr) == 0)
    fail(Fault::data, "{}: damaged PNG: {}", name, png.message);
  return image;
}

struct JpegErrors {
  jpeg_error_mgr base;
  std::jmp_buf jump;
  char message[JMSG_LENGTH_MAX];
};

void on_jpeg_error(j_common_ptr info) {
  auto* errors = reinterpret_cast<JpegErrors*>(info->err);
  info->err->format_message(info, errors->message);
  std::longjmp(errors->jump, 1);
}

void refuse_many_scans(j_common_ptr info) {
  if (info->is_decompressor == FALSE) return;
  if (reinterpret_cast<j_decompress_ptr>(info)->input_scan_number <= most_scans) return;
  auto* errors = reinterpret_cast<JpegErrors*>(info->err);
  std::strcpy(errors->message, "so many scans are not reasonable");
  std::longjmp(errors->jump, 1);
}

// Everything with a destructor lives outside this function: a JPEG error jumps out of it. Returns whether it
// worked; `take` is asked for memory once the size is known, before the decoder allocates its own.
bool decode_jpeg_into(std::string_view bytes, Image& image, bool (*take)(Image&, unsigned, unsigned, int),
                      JpegErrors& errors) {
  jpeg_decompress_struct jpeg;
  jpeg.err = jpeg_std_error(&errors.base);
  errors.base.error_exit = on_jpeg_error;
  errors.base.emit_message = [](j_common_ptr info, int level) { info->err->num_warnings += level < 0; };
  if (setjmp(errors.jump) != 0) {
    jpeg_destroy_decompress(&jpeg);
    return false;
  }
  jpeg_create_decompress(&jpeg);
  jpeg_progress_mgr watch{};
  watch.progress_monitor = refuse_many_scans;
  jpeg.progress = &watch;
  jpeg_mem_src(&jpeg, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
  jpeg_read_header(&jpeg, TRUE);
  jpeg.out_color_space = jpeg.num_components == 1 ? JCS_GRAYSCALE : JCS_RGB;
  if (!take(image, jpeg.image_width, jpeg.image_height, jpeg.num_components == 1 ? 1 : 3)) {
    std::strcpy(errors.message, "unreasonable size");
    jpeg_destroy_decompress(&jpeg);
    return false;
  }
  jpeg_start_decompress(&jpeg);
  while (jpeg.output_scanline < jpeg.output_height) {
    JSAMPROW row = image.pixels.data() + static_cast<std::size_t>(jpeg.output_scanline) * jpeg.output_width *
                                             static_cast<unsigned>(jpeg.output_components);
    jpeg_read_scanlines(&jpeg, &row, 1);
  }
  const bool cut_short = errors.base.num_warnings > 0;
  jpeg_finish_decompress(&jpeg);
  jpeg_destroy_decompress(&jpeg);
  if (cut_short) std::strcpy(errors.message, "the data are cut short or corrupt");
  return !cut_short;
}

Image decode_jpeg(std::string_view bytes, const std::string& name) {
  JpegErrors errors{};
  Image image;
  const auto take = [](Image& target, unsigned width, unsigned height, int channels) {
    if (width == 0 || height == 0 || std::uint64_t{width} * height > largest ||
        (channels != 1 && channels != 3))
      return false;
    target = make_image(static_cast<int>(width), static_cast<int>(height), channels);
    return true;
  };
  if (!decode_jpeg_into(bytes, image, take, errors))
    fail(Fault::data, "{}: damaged JPEG: {}", name, errors.message);
  return image;
}

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
    tap.weights.assign(static_cast<std::size_t>(std::clamp(high, 0, from - 1) - tap.first + 1), 0.0F);
    double total = 0;
    for (int s = low; s <= high; ++s) total += std::max(0.0, 1.0 - std::fabs(s - centre) / reach);
    for (int s = low; s <= high; ++s) {
      const double weight = std::max(0.0, 1.0 - std::fabs(s - centre) / reach) / total;
      tap.weights[static_cast<std::size_t>(std::clamp(s, 0, from - 1) - tap.first)] +=
          static_cast<float>(weight);
    }
    taps.push_back(std::move(tap));
  }
  return taps;
}

}  // namespace

Image make_image(int width, int height, int channels) {
  return {width, height, channels,
          std::vector<std::uint8_t>(static_cast<std::size_t>(width) * static_cast<std::size_t>(height) *
                                    static_cast<std::size_t>(channels))};
}

Image decode_image(std::string_view bytes, const std::string& name) {
  if (bytes.starts_with("\x89PNG")) return decode_png(bytes, name);
  if (bytes.starts_with("\xFF\xD8")) return decode_jpeg(bytes, name);
  fail(Fault::data, "{}: neither PNG nor JPEG", name);
}

Image decode_indices(std::string_view bytes, const std::string& name) {
  png_image png{};
  png.version = PNG_IMAGE_VERSION;
  if (png_image_begin_read_from_memory(&png, bytes.data(), bytes.size()) == 0)
    fail(Fault::data, "{}: no PNG, or damaged: {}", name, png.message);
  const bool palette = (png.format & PNG_FORMAT_FLAG_COLORMAP) != 0;
  const bool colour = (png.format & PNG_FORMAT_FLAG_COLOR) != 0;
  const std::uint64_t width = png.width, height = png.height;
  if ((colour && !palette) || width == 0 || height == 0 || width * height > largest) {
    png_image_free(&png);
    check_size(width, height, name);
    fail(Fault::data, "{}: pixels are colours; numbers are needed: a palette, or shades of grey", name);
  }
  Image image = make_image(static_cast<int>(width), static_cast<int>(height), 1);
  png.format = palette ? PNG_FORMAT_RGB_COLORMAP : PNG_FORMAT_GRAY;
  std::vector<std::uint8_t> colours(palette ? PNG_IMAGE_COLORMAP_SIZE(png) : 1);
  const png_color black{0, 0, 0};
  if (png_image_finish_read(&png, &black, image.pixels.data(), 0, colours.data()) == 0)
    fail(Fault::data, "{}: damaged PNG: {}", name, png.message);
  return image;
}

Image with_channels(const Image& image, int channels) {
  if (image.channels == channels) return image;
  Image result = make_image(image.width, image.height, channels);
  const std::size_t count = static_cast<std::size_t>(image.width) * static_cast<std::size_t>(image.height);
  for (std::size_t i = 0; i < count; ++i) {
    if (channels == 1) {
      const std::uint8_t* const rgb = image.pixels.data() + 3 * i;
      result.pixels[i] = static_cast<std::uint8_t>((299 * rgb[0] + 587 * rgb[1] + 114 * rgb[2] + 500) / 1000);
    } else {
      std::fill_n(result.pixels.data() + 3 * i, 3, image.pixels[i]);
    }
  }
  return result;
}

Image resized(const Image& image, int width, int height) {
  if (image.width == width && image.height == height) return image;
  const std::vector<Tap> columns = taps_for(image.width, width), rows = taps_for(image.height, height);
  const auto channels = static_cast<std::size_t>(image.channels);
  const std::size_t across = static_cast<std::size_t>(image.width) * channels;
  Image result = make_image(width, height, image.channels);
  std::uint8_t* out = result.pixels.data();
  for (const Tap& row : rows) {
    std::vector<float> line(across, 0.0F);
    for (std::size_t s = 0; s < row.weights.size(); ++s) {
      const std::uint8_t* const from =
          image.pixels.data() + (static_cast<std::size_t>(row.first) + s) * across;
      for (std::size_t i = 0; i < across; ++i) line[i] += row.weights[s] * from[i];
    }
    for (const Tap& column : columns) {
      for (std::size_t c = 0; c < channels; ++c) {
        float sum = 0;
        for (std::size_t s = 0; s < column.weights.size(); ++s) {
          sum += column.weights[s] * line[(static_cast<std::size_t>(column.first) + s) * channels + c];
        }
        *out++ = static_cast<std::uint8_t>(std::clamp(sum + 0.5F, 0.0F, 255.0F));
      }
    }
  }
  return result;
}

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

}  // namespace assay
