#include "assay/data/files/image.h"

#include <zlib.h>

#include <cmath>

#include "files.h"

namespace assay::testing {
namespace {

TEST(Pictures, PngIsExact) {
  for (const int channels : {1, 3}) {
    const Image image = picture(7, 5, channels, 3);
    const Image read = decode_image(png_bytes(image), "x.png");
    EXPECT_EQ(read.width, 7);
    EXPECT_EQ(read.height, 5);
    EXPECT_EQ(read.channels, channels);
    EXPECT_EQ(read.pixels, image.pixels);
  }
}

TEST(Pictures, JpegIsNear) {
  Image image = make_image(16, 16, 3);
  for (int y = 0; y < 16; ++y) {
    for (int x = 0; x < 16; ++x)
      image.at(x, y, 0) = image.at(x, y, 1) = image.at(x, y, 2) = static_cast<std::uint8_t>(8 * (x + y));
  }
  for (const bool progressive : {false, true}) {
    const Image read = decode_image(jpeg_bytes(image, progressive), "x.jpg");
    ASSERT_EQ(read.pixels.size(), image.pixels.size());
    for (std::size_t i = 0; i < image.pixels.size(); ++i) EXPECT_NEAR(read.pixels[i], image.pixels[i], 4);
  }
  EXPECT_EQ(decode_image(jpeg_bytes(picture(8, 8, 1, 1)), "x").channels, 1);
}

// Each scan of a progressive picture costs as much as all of it; files of 4,000 take hours.
TEST(Pictures, JpegOfManyScansIsRefused) {
  std::string bytes = jpeg_bytes(picture(64, 64, 1, 1), true);
  const std::size_t scan = bytes.find("\xFF\xDA"), next = bytes.find("\xFF\xC4", scan);
  ASSERT_NE(next, std::string::npos);
  const std::string again = bytes.substr(scan, next - scan);
  for (int i = 0; i < 200; ++i) bytes.insert(next, again);
  try {
    decode_image(bytes, "x.jpg");
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("so many scans"), std::string::npos) << error.what();
  }
}

TEST(Pictures, GreyIsLuma) {
  Image image = make_image(1, 1, 3);
  image.pixels = {200, 100, 50};
  // 0.299 200 + 0.587 100 + 0.114 50 = 124.2
  EXPECT_EQ(with_channels(image, 1).pixels[0], 124);
  EXPECT_THAT(with_channels(with_channels(image, 1), 3).pixels, ::testing::ElementsAre(124, 124, 124));
}

// One pixel of a resized picture from the definition: a triangle as wide as the step (at least 1) over
// repeated edges.
double plain_resized(const Image& image, int width, int height, int x, int y, int c) {
  const double sx = static_cast<double>(image.width) / width, sy = static_cast<double>(image.height) / height;
  const double rx = std::max(1.0, sx), ry = std::max(1.0, sy), cx = (x + .5) * sx - .5,
               cy = (y + .5) * sy - .5;
  double sum = 0, total = 0;
  for (int v = -40; v < image.height + 40; ++v) {
    for (int u = -40; u < image.width + 40; ++u) {
      const double w = std::max(0.0, 1 - std::fabs(u - cx) / rx) * std::max(0.0, 1 - std::fabs(v - cy) / ry);
      sum += w * image.at(std::clamp(u, 0, image.width - 1), std::clamp(v, 0, image.height - 1), c);
      total += w;
    }
  }
  return sum / total;
}

TEST(Pictures, ResizingAgreesWithTheDefinition) {
  for (const auto& [width, height] : {std::pair{4, 3}, {17, 20}, {9, 2}, {1, 1}, {31, 7}}) {
    const Image image = picture(9, 7, 3, 5), result = resized(image, width, height);
    for (int y = 0; y < height; ++y) {
      for (int x = 0; x < width; ++x) {
        for (int c = 0; c < 3; ++c)
          ASSERT_NEAR(result.at(x, y, c), plain_resized(image, width, height, x, y, c), 0.51)
              << width << "x" << height;
      }
    }
  }
  EXPECT_EQ(resized(picture(9, 7, 1, 5), 9, 7).pixels, picture(9, 7, 1, 5).pixels);
}

// A strip one pixel wide needed a buffer of its height times the new width.
TEST(Pictures, StripsAreResizedInLittleMemory) {
  const Image result = resized(make_image(1, 1 << 22, 1), 8192, 2);
  EXPECT_EQ(result.pixels, std::vector<std::uint8_t>(2 * 8192));
}

TEST(PictureErrors, TruncatedAndUnknown) {
  const std::string png = png_bytes(picture(20, 20, 3, 1)), jpeg = jpeg_bytes(picture(20, 20, 3, 1));
  for (const std::size_t keep : {8UL, 20UL, 40UL, png.size() / 2}) {
    expect_error(Fault::data, {"a.png", "damaged PNG"}, [&] { decode_image(png.substr(0, keep), "a.png"); });
  }
  for (const std::size_t keep : {2UL, 20UL, 300UL, jpeg.size() / 2}) {
    expect_error(Fault::data, {"a.jpg", "damaged JPEG"},
                 [&] { decode_image(jpeg.substr(0, keep), "a.jpg"); });
  }
  expect_error(Fault::data, {"a.png", "neither PNG nor JPEG"}, [&] { decode_image("GIF89a", "a.png"); });
  expect_error(Fault::data, {"a.png", "neither"}, [&] { decode_image("", "a.png"); });
}

TEST(PictureErrors, GiantDimensionsAreNotAllocated) {
  // The size stands in the header: PNG at byte 16 with a checksum after it, JPEG after its SOF marker.
  std::string jpeg = jpeg_bytes(picture(20, 20, 3, 1), true);
  const std::size_t sof = jpeg.find("\xFF\xC2");
  ASSERT_NE(sof, std::string::npos);
  jpeg.replace(sof + 5, 4, "\xFE\xFE\xFE\xFE");
  expect_error(Fault::data, {"a.jpg", "unreasonable size"}, [&] { decode_image(jpeg, "a.jpg"); });
  std::string png = png_bytes(picture(20, 20, 3, 1));
  png.replace(16, 8, std::string("\0\x0F\0\0\0\x0F\0\0", 8));
  const auto crc = static_cast<std::uint32_t>(crc32(0, reinterpret_cast<const Bytef*>(png.data() + 12), 17));
  for (int i = 0; i < 4; ++i) png[29 + static_cast<std::size_t>(i)] = static_cast<char>(crc >> (24 - 8 * i));
  expect_error(Fault::data, {"a.png", "not reasonable"}, [&] { decode_image(png, "a.png"); });
}

}  // namespace
}  // namespace assay::testing
