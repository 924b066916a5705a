// Items drawn over pictures.

#include "assay/results/networks/marks.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <limits>

namespace assay::results {
namespace {

using Pixel = std::array<int, 3>;

Pixel pixel(const Image& image, int x, int y) {
  return {image.at(x, y, 0), image.at(x, y, 1), image.at(x, y, 2)};
}

// White, two panels of 4 x 3 pixels, each repeated twice.
Image white() {
  Image image = make_image(16, 6, 3);
  std::fill(image.pixels.begin(), image.pixels.end(), std::uint8_t{255});
  return image;
}

constexpr Pixel untouched{255, 255, 255}, red{255, 0, 0};

TEST(Marks, CellsCoverTheWholePanelAndLetHalfThrough) {
  Image image = white();
  draw_marks(image, {.left = 8, .width = 4, .height = 3, .zoom = 2},
             {.cells = {0, -1, -1, 0}, .rows = 2, .columns = 2});
  EXPECT_EQ(pixel(image, 7, 0), untouched);  // the other panel
  EXPECT_EQ(pixel(image, 8, 0), (Pixel{255, 127, 127}));
  EXPECT_EQ(pixel(image, 11, 2), (Pixel{255, 127, 127}));
  EXPECT_EQ(pixel(image, 12, 0), untouched);
  EXPECT_EQ(pixel(image, 15, 5), (Pixel{255, 127, 127}));
}

TEST(Marks, ColoursOfClassesThatOccurHaveNames) {
  report::Document document;
  name_colours(document, {.cells = {1, -1, 1, 0}, .rows = 2, .columns = 2}, {"sky", "road"});
  name_colours(document, {.frames = {{.of_class = 1}, {.of_class = 7}}}, {"sky", "road"});
  name_colours(document, {}, {"sky", "road"});
  ASSERT_EQ(document.tables.size(), 1U);
  const report::Table& table = document.tables.front();
  EXPECT_EQ(table.id, "colours");
  ASSERT_EQ(table.rows.size(), 3U);
  EXPECT_EQ(table.rows[0], (std::vector<report::Cell>{"sky", "#ff0000"}));
  EXPECT_EQ(table.rows[1][0], report::Cell{"road"});
  EXPECT_EQ(table.rows[2][0], report::Cell{"7"});
  Image image = white();
  draw_marks(image, {.left = 8, .width = 4, .height = 3, .zoom = 2},
             {.frames = {{.left = 0, .top = 0, .right = 3, .bottom = 2, .of_class = 1}}});
  const Pixel drawn = pixel(image, 8, 0);
  EXPECT_EQ(table.rows[1][1], report::Cell{fmt::format("#{:02x}{:02x}{:02x}", drawn[0], drawn[1], drawn[2])});
}

TEST(Marks, FramesAreTwoPixelsWideAndEndAtThePanel) {
  Image image = white();
  draw_marks(image, {.left = 0, .width = 4, .height = 3, .zoom = 2},
             {.frames = {{0, 0, 100, std::numeric_limits<float>::infinity(), 0}}});
  EXPECT_EQ(pixel(image, 0, 0), red);
  EXPECT_EQ(pixel(image, 7, 1), red);
  EXPECT_EQ(pixel(image, 8, 0), untouched);  // the other panel
  EXPECT_EQ(pixel(image, 3, 3), untouched);  // inside
}

TEST(Marks, ClassesHaveColoursOfTheirOwn) {
  std::vector<Pixel> seen;
  for (std::int64_t c = 0; c < 12; ++c) {
    Image image = white();
    draw_marks(image, {.width = 4, .height = 3, .zoom = 2}, {.frames = {{0, 0, 3, 2, c}}});
    for (const Pixel& other : seen) EXPECT_NE(pixel(image, 0, 0), other) << c;
    seen.push_back(pixel(image, 0, 0));
  }
}

}  // namespace
}  // namespace assay::results
