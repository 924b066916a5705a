#include "assay/results/networks/marks.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "assay/results/document.h"

namespace assay::results {
namespace {

using Colour = std::array<std::uint8_t, 3>;

// Hues that stay apart however many classes there are: steps of the golden angle.
Colour colour_of(std::int64_t of_class) {
  constexpr double golden = 0.618033988749895, brightest = 255;
  const double hue = 6 * std::fmod(static_cast<double>(of_class) * golden, 1.0);
  Colour colour{};
  for (std::size_t c = 0; c < colour.size(); ++c) {
    const double away = std::abs(std::fmod(hue + 6 - 2.0 * c + 3, 6.0) - 3);
    colour[c] = static_cast<std::uint8_t>(brightest * std::clamp(2 - away, 0.0, 1.0));
  }
  return colour;
}

void put(Image& image, const Panel& panel, int x, int y, const Colour& colour, bool through) {
  if (x < 0 || y < 0 || x >= panel.width * panel.zoom || y >= panel.height * panel.zoom) return;
  for (int c = 0; c < 3; ++c) {
    std::uint8_t& pixel = image.at(panel.left + x, y, c);
    const std::uint8_t wanted = colour[c];
    pixel = through ? static_cast<std::uint8_t>((pixel + wanted) / 2) : wanted;
  }
}

void draw_frame(Image& image, const Panel& panel, const task::Marks::Frame& frame) {
  const auto pixel = [&](float side, int most) {
    const float at = std::isnan(side) ? 0 : side * static_cast<float>(panel.zoom);
    return static_cast<int>(std::lround(std::clamp(at, 0.0F, static_cast<float>(most * panel.zoom - 1))));
  };
  const int left = pixel(frame.left, panel.width), right = pixel(frame.right, panel.width),
            top = pixel(frame.top, panel.height), bottom = pixel(frame.bottom, panel.height);
  const Colour colour = colour_of(frame.of_class);
  for (int line = 0; line < 2; ++line) {
    for (int x = left; x <= right; ++x) {
      put(image, panel, x, top + line, colour, false);
      put(image, panel, x, bottom - line, colour, false);
    }
    for (int y = top; y <= bottom; ++y) {
      put(image, panel, left + line, y, colour, false);
      put(image, panel, right - line, y, colour, false);
    }
  }
}

void draw_cells(Image& image, const Panel& panel, const task::Marks& marks) {
  const int width = panel.width * panel.zoom, height = panel.height * panel.zoom;
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      const std::int64_t row = y * marks.rows / height, column = x * marks.columns / width;
      const std::int64_t of_class = marks.cells[row * marks.columns + column];
      if (of_class >= 0) put(image, panel, x, y, colour_of(of_class), true);
    }
  }
}

report::Table& colour_table(report::Document& document) {
  const auto found = std::ranges::find(document.tables, "colours", &report::Table::id);
  if (found != document.tables.end()) return *found;
  report::Table table{"colours", "Colours in the pictures", {{"class", "class"}, {"colour", "colour"}}, {}};
  table.detail = true;
  return document.tables.emplace_back(std::move(table));
}

}  // namespace

void draw_marks(Image& image, const Panel& panel, const task::Marks& marks) {
  if (!marks.cells.empty()) draw_cells(image, panel, marks);
  for (const task::Marks::Frame& frame : marks.frames) draw_frame(image, panel, frame);
}

void name_colours(report::Document& document, const task::Marks& marks,
                  const std::vector<std::string>& class_names) {
  std::set<std::int64_t> classes(marks.cells.begin(), marks.cells.end());
  for (const task::Marks::Frame& frame : marks.frames) classes.insert(frame.of_class);
  classes.erase(classes.begin(), classes.lower_bound(0));  // what is drawn as it was
  for (const std::int64_t of_class : classes) {
    const Colour colour = colour_of(of_class);
    std::vector<report::Cell> row{class_name(class_names, of_class),
                                  fmt::format("#{:02x}{:02x}{:02x}", colour[0], colour[1], colour[2])};
    report::Table& table = colour_table(document);
    if (std::ranges::find(table.rows, row) == table.rows.end()) table.rows.push_back(std::move(row));
  }
}

}  // namespace assay::results
