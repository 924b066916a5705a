#include "assay/data/files/picture.h"

#include <png.h>

#include <algorithm>
#include <bit>
#include <csetjmp>
#include <cstdio>
#include <cstring>
#include <limits>

#include <jpeglib.h>

#include <assay/error.h>
#include "assay/data/files/exif.h"
#include "assay/support/memory.h"

namespace assay::inline data {
namespace {

constexpr std::uint64_t most_pixels_decoded = std::uint64_t{1} << 26;  // pixels
constexpr int most_scans =
    100;  // of a progressive JPEG; encoders write about ten, each costs the whole picture

void check_size(std::uint64_t width, std::uint64_t height, const std::string& name) {
  if (width == 0 || height == 0 || width * height > most_pixels_decoded) {
    fail(Fault::data, "{}: a picture of {} x {} pixels is not reasonable (at most {} pixels)", name, width,
         height, most_pixels_decoded);
  }
}

template <typename Shade>
Pixels<Shade> made(std::uint32_t width, std::uint32_t height, int channels, const std::string& name) {
  check_size(width, height, name);
  const std::uint64_t count = std::uint64_t{width} * height * static_cast<std::uint64_t>(channels);
  require_memory(count * sizeof(Shade), name);
  return {static_cast<int>(width), static_cast<int>(height), channels, std::vector<Shade>(count)};
}

// The parts of libpng that may jump, in functions that hold nothing that has a destructor.
class PngReader {
 public:
  explicit PngReader(std::string_view bytes) : rest_(bytes) {
    png_ = png_create_read_struct(PNG_LIBPNG_VER_STRING, this, on_error, [](png_structp, png_const_charp) {});
    if (png_ != nullptr) info_ = png_create_info_struct(png_);
  }
  ~PngReader() { png_destroy_read_struct(&png_, &info_, nullptr); }
  PngReader(const PngReader&) = delete;
  PngReader& operator=(const PngReader&) = delete;

  // Reads the header; false where that fails, and message() says why.
  bool begin() {
    if (info_ == nullptr) return false;
    if (setjmp(png_jmpbuf(png_)) != 0) return false;
    png_set_read_fn(png_, this, on_read);
    png_set_user_limits(png_, INT32_MAX, INT32_MAX);  // check_size() says it better
    png_read_info(png_, info_);
    return true;
  }

  // What read() is to deliver: numbers as they are stored, or colours and shades up to the greatest of 8
  // bits; and how opaque they are where requested.
  bool prepare(bool indices, bool with_alpha) {
    if (setjmp(png_jmpbuf(png_)) != 0) return false;
    if ((is_palette() || is_grey()) && indices) png_set_packing(png_);
    if (is_palette() && !indices) png_set_palette_to_rgb(png_);
    if (is_grey() && !indices) png_set_expand_gray_1_2_4_to_8(png_);
    if (!with_alpha)
      png_set_strip_alpha(png_);
    else if (png_get_valid(png_, info_, PNG_INFO_tRNS) != 0)
      png_set_tRNS_to_alpha(png_);
    if (std::endian::native == std::endian::little) png_set_swap(png_);
    passes_ = png_set_interlace_handling(png_);
    png_read_update_info(png_, info_);
    return true;
  }

  bool read(void* pixels) {
    if (setjmp(png_jmpbuf(png_)) != 0) return false;
    const std::size_t row = png_get_rowbytes(png_, info_);
    for (int pass = 0; pass < passes_; ++pass) {
      for (std::uint32_t y = 0; y < height(); ++y)
        png_read_row(png_, static_cast<png_bytep>(pixels) + y * row, nullptr);
    }
    return true;
  }

  const char* message() const { return message_; }
  std::uint32_t width() const { return png_get_image_width(png_, info_); }
  std::uint32_t height() const { return png_get_image_height(png_, info_); }
  int channels() const { return png_get_channels(png_, info_); }
  int bits() const { return png_get_bit_depth(png_, info_); }
  bool is_palette() const { return png_get_color_type(png_, info_) == PNG_COLOR_TYPE_PALETTE; }
  bool is_grey() const { return (png_get_color_type(png_, info_) & PNG_COLOR_MASK_COLOR) == 0; }

 private:
  static void on_error(png_structp png, png_const_charp text) {
    auto* const self = static_cast<PngReader*>(png_get_error_ptr(png));
    std::snprintf(self->message_, sizeof self->message_, "%s", text);
    png_longjmp(png, 1);
  }
  static void on_read(png_structp png, png_bytep out, std::size_t count) {
    auto* const self = static_cast<PngReader*>(png_get_io_ptr(png));
    if (count > self->rest_.size()) png_error(png, "the data are cut short");
    std::memcpy(out, self->rest_.data(), count);
    self->rest_.remove_prefix(count);
  }

  png_structp png_ = nullptr;
  png_infop info_ = nullptr;
  std::string_view rest_;
  int passes_ = 1;
  char message_[200] = "no memory for it";
};

[[noreturn]] void damaged(const std::string& name, const PngReader& reader) {
  fail(Fault::data, "{}: damaged PNG: {}", name, reader.message());
}

template <typename Shade>
Pixels<Shade> pixels_of(PngReader& reader, const std::string& name) {
  Pixels<Shade> pixels = made<Shade>(reader.width(), reader.height(), reader.channels(), name);
  if (!reader.read(pixels.pixels.data())) damaged(name, reader);
  return pixels;
}

// The pixels, whose last channel says how opaque they are, in front of the background.
template <typename Shade>
Pixels<Shade> before(const Pixels<Shade>& pixels, const std::array<std::uint8_t, 3>& background,
                     const std::string& name) {
  constexpr std::uint64_t opaque = std::numeric_limits<Shade>::max();
  const bool grey = pixels.channels == 2 && background[0] == background[1] && background[1] == background[2];
  const std::size_t channels = grey ? 1 : 3, step = static_cast<std::size_t>(pixels.channels);
  Pixels<Shade> result =
      made<Shade>(static_cast<std::uint32_t>(pixels.width), static_cast<std::uint32_t>(pixels.height),
                  static_cast<int>(channels), name);
  for (std::size_t p = 0; p < pixels.pixels.size() / step; ++p) {
    const Shade* const from = pixels.pixels.data() + p * step;
    const std::uint64_t alpha = from[step - 1];
    for (std::size_t c = 0; c < channels; ++c) {
      const std::uint64_t below = background[c] * (opaque / 255), above = from[step == 2 ? 0 : c];
      result.pixels[p * channels + c] =
          static_cast<Shade>((above * alpha + below * (opaque - alpha) + opaque / 2) / opaque);
    }
  }
  return result;
}

template <typename Shade>
Pixels<Shade> coloured(PngReader& reader, const std::string& name, const PictureOptions& options) {
  Pixels<Shade> pixels = pixels_of<Shade>(reader, name);
  if (pixels.channels == 1 || pixels.channels == 3) return pixels;
  return before(pixels, *options.background, name);
}

Picture decode_png(std::string_view bytes, const std::string& name, const PictureOptions& options) {
  PngReader reader(bytes);
  if (!reader.begin()) damaged(name, reader);
  check_size(reader.width(), reader.height(), name);
  if (!reader.prepare(false, options.background.has_value())) damaged(name, reader);
  if (reader.bits() == 16) return {coloured<std::uint16_t>(reader, name, options)};
  return {coloured<std::uint8_t>(reader, name, options)};
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
// worked; `take` is called for memory once the size is known, before the decoder allocates its own.
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
  jpeg.out_color_space = jpeg.num_components == 1   ? JCS_GRAYSCALE
                         : jpeg.num_components == 4 ? JCS_CMYK
                                                    : JCS_RGB;
  if (!take(image, jpeg.image_width, jpeg.image_height, jpeg.num_components)) {
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

// a * b / 255, rounded, as Pillow computes it.
std::uint32_t part_of_255(std::uint32_t a, std::uint32_t b) {
  const std::uint32_t product = a * b + 128;
  return ((product >> 8) + product) >> 8;
}

// Stored are 255 less the shares of ink (Adobe Photoshop's way, which others follow).
Image without_ink(const Image& inks) {
  Image image = make_image(inks.width, inks.height, 3);
  for (std::size_t p = 0; p < image.pixels.size() / 3; ++p) {
    const std::uint8_t* const from = inks.pixels.data() + 4 * p;
    const std::uint32_t not_black = from[3];
    for (std::size_t c = 0; c < 3; ++c) {
      const std::uint32_t ink = 255U - from[c];
      image.pixels[3 * p + c] = static_cast<std::uint8_t>(not_black - part_of_255(ink, not_black));
    }
  }
  return image;
}

Image decode_jpeg(std::string_view bytes, const std::string& name) {
  JpegErrors errors{};
  Image image;
  const auto take = [](Image& target, unsigned width, unsigned height, int channels) {
    if (width == 0 || height == 0 || std::uint64_t{width} * height > most_pixels_decoded ||
        (channels != 1 && channels != 3 && channels != 4))
      return false;
    target = make_image(static_cast<int>(width), static_cast<int>(height), channels);
    return true;
  };
  if (!decode_jpeg_into(bytes, image, take, errors))
    fail(Fault::data, "{}: damaged JPEG: {}", name, errors.message);
  return image.channels == 4 ? without_ink(image) : image;
}

// The pixels in the order in which the orientation shows them.
template <typename Shade>
Pixels<Shade> turned(const Pixels<Shade>& image, int orientation) {
  const bool sideways = orientation >= 5;
  const bool flip_x = orientation == 2 || orientation == 3 || orientation == 7 || orientation == 8,
             flip_y = orientation == 3 || orientation == 4 || orientation == 6 || orientation == 7;
  Pixels<Shade> result{sideways ? image.height : image.width, sideways ? image.width : image.height,
                       image.channels, std::vector<Shade>(image.pixels.size())};
  for (int y = 0; y < result.height; ++y) {
    for (int x = 0; x < result.width; ++x) {
      const int across = sideways ? y : x, down = sideways ? x : y;
      for (int c = 0; c < image.channels; ++c)
        result.at(x, y, c) =
            image.at(flip_x ? image.width - 1 - across : across, flip_y ? image.height - 1 - down : down, c);
    }
  }
  return result;
}

}  // namespace

int Picture::width() const {
  return std::visit([](const auto& image) { return image.width; }, pixels);
}

int Picture::height() const {
  return std::visit([](const auto& image) { return image.height; }, pixels);
}

int Picture::channels() const {
  return std::visit([](const auto& image) { return image.channels; }, pixels);
}

Picture decode_picture(std::string_view bytes, const std::string& name, const PictureOptions& options) {
  Picture picture;
  if (bytes.starts_with("\x89PNG"))
    picture = decode_png(bytes, name, options);
  else if (bytes.starts_with("\xFF\xD8"))
    picture.pixels = decode_jpeg(bytes, name);
  else
    fail(Fault::data, "{}: neither PNG nor JPEG", name);
  const int orientation = options.upright ? exif_orientation(bytes) : 1;
  if (orientation != 1) std::visit([&](auto& image) { image = turned(image, orientation); }, picture.pixels);
  return picture;
}

Image decode_image(std::string_view bytes, const std::string& name) {
  Picture picture = decode_picture(bytes, name);
  if (auto* const image = std::get_if<Image>(&picture.pixels)) return std::move(*image);
  const auto& deep = std::get<DeepImage>(picture.pixels);
  Image image = make_image(deep.width, deep.height, deep.channels);
  std::ranges::transform(deep.pixels, image.pixels.begin(),
                         [](std::uint16_t shade) { return static_cast<std::uint8_t>((shade + 128U) / 257); });
  return image;
}

Image decode_indices(std::string_view bytes, const std::string& name) {
  PngReader reader(bytes);
  if (!reader.begin()) fail(Fault::data, "{}: not a PNG, or damaged: {}", name, reader.message());
  check_size(reader.width(), reader.height(), name);
  if (!reader.is_palette() && !reader.is_grey())
    fail(Fault::data, "{}: pixels are colours; numbers are needed: a palette, or shades of grey", name);
  if (!reader.prepare(true, false)) damaged(name, reader);
  if (reader.bits() < 16) return pixels_of<std::uint8_t>(reader, name);
  const DeepImage deep = pixels_of<std::uint16_t>(reader, name);
  if (std::ranges::any_of(deep.pixels, [](std::uint16_t index) { return index > 255; }))
    fail(Fault::data, "{}: its pixels are numbers above 255; save them in 8 bits", name);
  Image image = make_image(deep.width, deep.height, 1);
  std::ranges::transform(deep.pixels, image.pixels.begin(),
                         [](std::uint16_t index) { return static_cast<std::uint8_t>(index); });
  return image;
}

}  // namespace assay::inline data
