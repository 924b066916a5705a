#include "assay/data/files/picture.h"

#include <png.h>
#include <zlib.h>

#include <cstdio>
#include <limits>
#include <optional>

#include <jpeglib.h>

#include "assay/data/files/exif.h"
#include "files.h"

namespace assay::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::HasSubstr;

struct PngOf {
  int width = 1, height = 1, bits = 8, type = PNG_COLOR_TYPE_RGB;
  std::vector<png_byte> rows = {};  // packed as the file has them
  std::vector<png_color> palette = {};
  std::vector<png_byte> alphas = {};       // of the palette
  std::optional<png_color_16> clear = {};  // the colour that is transparent
  int interlace = PNG_INTERLACE_NONE;
  double gamma = 0;
};

// By libpng's full interface: the simplified one always notes a gamma, and writes neither palettes nor
// passes.
std::string written(const PngOf& of) {
  std::string bytes;
  png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, nullptr, nullptr, nullptr);
  png_infop info = png_create_info_struct(png);
  png_set_write_fn(
      png, &bytes,
      [](png_structp p, png_bytep data, png_size_t n) {
        static_cast<std::string*>(png_get_io_ptr(p))->append(reinterpret_cast<char*>(data), n);
      },
      [](png_structp) {});
  png_set_IHDR(png, info, static_cast<png_uint_32>(of.width), static_cast<png_uint_32>(of.height), of.bits,
               of.type, of.interlace, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
  if (!of.palette.empty()) png_set_PLTE(png, info, of.palette.data(), static_cast<int>(of.palette.size()));
  if (!of.alphas.empty() || of.clear)
    png_set_tRNS(png, info, of.alphas.empty() ? nullptr : of.alphas.data(),
                 static_cast<int>(of.alphas.size()), of.clear ? &*of.clear : nullptr);
  if (of.gamma > 0) png_set_gAMA(png, info, of.gamma);
  png_write_info(png, info);
  const std::size_t row = png_get_rowbytes(png, info);
  std::vector<png_bytep> rows;
  for (int y = 0; y < of.height; ++y)
    rows.push_back(const_cast<png_bytep>(of.rows.data()) + static_cast<std::size_t>(y) * row);
  png_write_image(png, rows.data());
  png_write_end(png, nullptr);
  png_destroy_write_struct(&png, &info);
  return bytes;
}

std::vector<int> shades(const std::string& bytes, const PictureOptions& options = {}) {
  const Picture picture = decode_picture(bytes, "x", options);
  return std::visit(
      [](const auto& image) { return std::vector<int>(image.pixels.begin(), image.pixels.end()); },
      picture.pixels);
}

const PictureOptions on_white{.background = {{255, 255, 255}}, .upright = false};

// As Pillow's convert("RGB") has it; a background shows through by c a + b (1 - a), rounded.
TEST(TransparentPictures, KeepTheirColoursOrShowABackground) {
  const std::string colours = written({.width = 3,
                                       .type = PNG_COLOR_TYPE_RGB_ALPHA,
                                       .rows = {200, 100, 50, 255, 200, 100, 50, 0, 10, 20, 30, 51}});
  EXPECT_THAT(shades(colours), ElementsAre(200, 100, 50, 200, 100, 50, 10, 20, 30));
  // 10 * 0.2 + 255 * 0.8 = 206, 208 and 210
  EXPECT_THAT(shades(colours, on_white), ElementsAre(200, 100, 50, 255, 255, 255, 206, 208, 210));
  EXPECT_THAT(shades(colours, {.background = {{0, 0, 255}}, .upright = false}),
              ElementsAre(200, 100, 50, 0, 0, 255, 2, 4, 210));
}

TEST(TransparentPictures, OfGreyPalettesAndSingleColours) {
  const std::string grey =
      written({.width = 2, .type = PNG_COLOR_TYPE_GRAY_ALPHA, .rows = {100, 0, 100, 255}});
  EXPECT_THAT(shades(grey), ElementsAre(100, 100));
  EXPECT_THAT(shades(grey, on_white), ElementsAre(255, 100));
  EXPECT_THAT(shades(grey, {.background = {{1, 2, 3}}, .upright = false}),
              ElementsAre(1, 2, 3, 100, 100, 100));
  const std::string palette = written({.width = 4,
                                       .bits = 2,
                                       .type = PNG_COLOR_TYPE_PALETTE,
                                       .rows = {0b00011000},
                                       .palette = {{9, 8, 7}, {60, 70, 80}, {1, 2, 3}},
                                       .alphas = {0, 255}});
  EXPECT_THAT(shades(palette), ElementsAre(9, 8, 7, 60, 70, 80, 1, 2, 3, 9, 8, 7));
  EXPECT_THAT(shades(palette, on_white), ElementsAre(255, 255, 255, 60, 70, 80, 1, 2, 3, 255, 255, 255));
  png_color_16 clear{};
  clear.gray = 5;
  const std::string single =
      written({.width = 2, .type = PNG_COLOR_TYPE_GRAY, .rows = {5, 6}, .clear = clear});
  EXPECT_THAT(shades(single), ElementsAre(5, 6));
  EXPECT_THAT(shades(single, on_white), ElementsAre(255, 6));
}

TEST(DeepPictures, KeepSixteenBits) {
  const std::string grey =
      written({.width = 3, .bits = 16, .type = PNG_COLOR_TYPE_GRAY, .rows = {0x12, 0x34, 0xFF, 0xFF, 0, 1}});
  EXPECT_THAT(shades(grey), ElementsAre(0x1234, 0xFFFF, 1));
  EXPECT_THAT(decode_image(grey, "x").pixels, ElementsAre(0x12, 255, 0))
      << "rounded where eight bits are wanted";
  const std::string colours =
      written({.bits = 16, .type = PNG_COLOR_TYPE_RGB_ALPHA, .rows = {1, 0, 2, 0, 3, 0, 0x80, 0}});
  EXPECT_THAT(shades(colours), ElementsAre(0x100, 0x200, 0x300));
  // 256 * 32768 / 65535 + 65535 * 32767 / 65535 = 32895.002
  EXPECT_EQ(shades(colours, on_white)[0], 32895);
  for (const int interlace : {PNG_INTERLACE_NONE, PNG_INTERLACE_ADAM7}) {
    PngOf of{.width = 9, .height = 11, .bits = 16, .type = PNG_COLOR_TYPE_GRAY, .interlace = interlace};
    std::vector<int> expected;
    for (int i = 0; i < 99; ++i) {
      of.rows.insert(of.rows.end(), {static_cast<png_byte>(i), static_cast<png_byte>(255 - i)});
      expected.push_back(i << 8 | (255 - i));
    }
    EXPECT_THAT(shades(written(of)), ElementsAreArray(expected)) << interlace;
  }
}

// libpng's simplified reader brings shades from the gamma that is noted to sRGB's; Pillow does not.
TEST(DeepPictures, GammaIsNotLookedAt) {
  EXPECT_THAT(shades(written({.width = 2, .type = PNG_COLOR_TYPE_GRAY, .rows = {64, 128}, .gamma = 1.0})),
              ElementsAre(64, 128));
}

TEST(FewBits, AreSpreadOverEight) {
  EXPECT_THAT(shades(written({.width = 4, .bits = 1, .type = PNG_COLOR_TYPE_GRAY, .rows = {0b10100000}})),
              ElementsAre(255, 0, 255, 0));
  EXPECT_THAT(shades(written({.width = 2, .bits = 4, .type = PNG_COLOR_TYPE_GRAY, .rows = {0x3F}})),
              ElementsAre(51, 255));
}

TEST(IndexPictures, AreNumbersAsTheyAre) {
  const std::string palette = written({.width = 4,
                                       .bits = 2,
                                       .type = PNG_COLOR_TYPE_PALETTE,
                                       .rows = {0b00011011},
                                       .palette = {{9, 8, 7}, {60, 70, 80}, {1, 2, 3}, {4, 5, 6}}});
  EXPECT_THAT(decode_indices(palette, "x").pixels, ElementsAre(0, 1, 2, 3));
  const std::string shades_of_two_bits =
      written({.width = 4, .bits = 2, .type = PNG_COLOR_TYPE_GRAY, .rows = {0b00011011}});
  EXPECT_THAT(decode_indices(shades_of_two_bits, "x").pixels, ElementsAre(0, 1, 2, 3));
  const auto deep = [](png_byte high) {
    return written({.bits = 16, .type = PNG_COLOR_TYPE_GRAY, .rows = {high, 7}});
  };
  EXPECT_THAT(decode_indices(deep(0), "x").pixels, ElementsAre(7));
  expect_error(Fault::data, {"numbers above 255"}, [&] { decode_indices(deep(1), "x"); });
  expect_error(Fault::data, {"colours"}, [&] { decode_indices(written({.rows = {1, 2, 3}}), "x"); });
}

std::string cmyk_jpeg(const std::array<unsigned char, 4>& inks, J_COLOR_SPACE stored) {
  jpeg_compress_struct jpeg;
  jpeg_error_mgr errors;
  jpeg.err = jpeg_std_error(&errors);
  jpeg_create_compress(&jpeg);
  unsigned char* memory = nullptr;
  unsigned long size = 0;
  jpeg_mem_dest(&jpeg, &memory, &size);
  jpeg.image_width = jpeg.image_height = 8;
  jpeg.input_components = 4;
  jpeg.in_color_space = JCS_CMYK;
  jpeg_set_defaults(&jpeg);
  jpeg_set_colorspace(&jpeg, stored);
  jpeg_set_quality(&jpeg, 100, TRUE);
  jpeg_start_compress(&jpeg, TRUE);
  std::vector<unsigned char> line;
  for (int x = 0; x < 8; ++x) line.insert(line.end(), inks.begin(), inks.end());
  while (jpeg.next_scanline < jpeg.image_height) {
    JSAMPROW row = line.data();
    jpeg_write_scanlines(&jpeg, &row, 1);
  }
  jpeg_finish_compress(&jpeg);
  std::string bytes(reinterpret_cast<char*>(memory), size);
  jpeg_destroy_compress(&jpeg);
  std::free(memory);
  return bytes;
}

// Stored are 255 less the inks: 200 is 55 of cyan. With 127 of black 128 are left, and of these 55 / 255 go:
// 128 - 28 = 100.
TEST(FourColours, BecomeRedGreenAndBlue) {
  for (const J_COLOR_SPACE stored : {JCS_CMYK, JCS_YCCK}) {
    const int near = stored == JCS_CMYK ? 0 : 2;
    const std::vector<int> bright = shades(cmyk_jpeg({200, 100, 50, 255}, stored)),
                           dark = shades(cmyk_jpeg({200, 100, 50, 128}, stored));
    ASSERT_EQ(bright.size(), 8U * 8 * 3);
    const int in_light[] = {200, 100, 50}, in_shadow[] = {100, 50, 25};
    for (std::size_t i = 0; i < bright.size(); ++i) {
      EXPECT_NEAR(bright[i], in_light[i % 3], near);
      EXPECT_NEAR(dark[i], in_shadow[i % 3], near);
    }
  }
}

// A TIFF file whose only entry is the orientation.
std::string exif(int orientation, bool little) {
  const auto number = [&](unsigned value, std::size_t size) {
    std::string text;
    for (std::size_t i = 0; i < size; ++i)
      text += static_cast<char>(value >> 8 * (little ? i : size - 1 - i));
    return text;
  };
  return (little ? "II" : "MM") + number(42, 2) + number(8, 4) + number(1, 2) + number(0x0112, 2) +
         number(3, 2) + number(1, 4) + number(static_cast<unsigned>(orientation), 2) + number(0, 2) +
         number(0, 4);
}

std::string with_exif(std::string bytes, const std::string& tiff) {
  const auto big = [](std::size_t value, std::size_t size) {
    std::string text;
    for (std::size_t i = 0; i < size; ++i) text += static_cast<char>(value >> 8 * (size - 1 - i));
    return text;
  };
  if (bytes.starts_with("\xFF\xD8"))
    return bytes.insert(2, "\xFF\xE1" + big(tiff.size() + 8, 2) + std::string("Exif\0\0", 6) + tiff);
  const std::string chunk = "eXIf" + tiff;
  constexpr std::size_t after_header = 33;
  return bytes.insert(
      after_header,
      big(tiff.size(), 4) + chunk +
          big(crc32(0, reinterpret_cast<const Bytef*>(chunk.data()), static_cast<uInt>(chunk.size())), 4));
}

TEST(Orientation, IsReadFromBothFormatsAndByteOrders) {
  for (int orientation = 1; orientation <= 8; ++orientation) {
    for (const bool little : {true, false}) {
      EXPECT_EQ(exif_orientation(with_exif(jpeg_bytes(picture(8, 8, 3, 1)), exif(orientation, little))),
                orientation);
      EXPECT_EQ(exif_orientation(with_exif(png_bytes(picture(8, 8, 3, 1)), exif(orientation, little))),
                orientation);
    }
  }
  const std::string plain = jpeg_bytes(picture(8, 8, 3, 1));
  EXPECT_EQ(exif_orientation(plain), 1);
  EXPECT_EQ(exif_orientation(with_exif(plain, exif(9, true))), 1);
  EXPECT_EQ(exif_orientation(with_exif(plain, "II*")), 1);
  const std::string whole = with_exif(plain, exif(6, false));
  for (std::size_t keep = 0; keep < whole.size(); ++keep) exif_orientation(whole.substr(0, keep));
}

// 1 2 3 above 4 5 6, as each orientation shows it.
TEST(Orientation, TurnsThePictureWhereAsked) {
  const std::string stored =
      written({.width = 3, .height = 2, .type = PNG_COLOR_TYPE_GRAY, .rows = {1, 2, 3, 4, 5, 6}});
  const std::vector<std::vector<int>> shown = {{1, 2, 3, 4, 5, 6}, {3, 2, 1, 6, 5, 4}, {6, 5, 4, 3, 2, 1},
                                               {4, 5, 6, 1, 2, 3}, {1, 4, 2, 5, 3, 6}, {4, 1, 5, 2, 6, 3},
                                               {6, 3, 5, 2, 4, 1}, {3, 6, 2, 5, 1, 4}};
  for (int orientation = 1; orientation <= 8; ++orientation) {
    const std::string bytes = with_exif(stored, exif(orientation, true));
    EXPECT_THAT(shades(bytes), ElementsAreArray(shown[0]));
    const PictureOptions upright{.background = {}, .upright = true};
    EXPECT_THAT(shades(bytes, upright), ElementsAreArray(shown[static_cast<std::size_t>(orientation - 1)]));
    EXPECT_EQ(decode_picture(bytes, "x", upright).width(), orientation < 5 ? 3 : 2);
  }
}

TEST(PictureData, TellsWhatIsNotApplied) {
  put("turned/a.png", png_bytes(picture(4, 3, 1, 0)));
  const std::string folder = temporary("turned").string();
  EXPECT_THAT(open_dataset(folder)->describe(), Not(HasSubstr("EXIF")));
  put("turned/b.png", with_exif(png_bytes(picture(3, 4, 1, 1)), exif(6, true)));
  EXPECT_THAT(open_dataset(folder)->describe(), HasSubstr("EXIF orientation not applied"));
  const auto upright = open_dataset(folder + ",orientation=exif");
  EXPECT_THAT(upright->describe(), Not(HasSubstr("EXIF")));
  EXPECT_EQ(values(*upright, 1).size(), 12U) << "now as wide as the other";
  expect_data_error(Fault::usage, {"orientation=up"}, folder + ",orientation=up");
}

TEST(PictureData, DeepShadesAndBackgrounds) {
  put("deep/a.png", written({.width = 2,
                             .bits = 16,
                             .type = PNG_COLOR_TYPE_GRAY_ALPHA,
                             .rows = {0x12, 0x34, 0xFF, 0xFF, 0x80, 0x01, 0, 0}}));
  const std::string folder = temporary("deep").string();
  const auto near = [](double value) { return ::testing::FloatNear(static_cast<float>(value), 1e-7F); };
  EXPECT_THAT(all_values(*open_dataset(folder)), ElementsAre(near(0x1234 / 65535.0), near(0x8001 / 65535.0)));
  EXPECT_THAT(all_values(*open_dataset(folder + ",background=white")),
              ElementsAre(near(0x1234 / 65535.0), near(1)));
  EXPECT_THAT(all_values(*open_dataset(folder + ",background=51/51/51")),
              ElementsAre(near(0x1234 / 65535.0), near(0.2)));
  EXPECT_FLOAT_EQ(open_dataset(folder)->valid_range()->high[0], 1);
  for (const char* wrong : {"red", "1/2", "256", "-1", "1/2/3/4"})
    expect_data_error(Fault::usage, {"background="}, folder + ",background=" + wrong);
}

}  // namespace
}  // namespace assay::testing
