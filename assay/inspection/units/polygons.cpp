#include "assay/inspection/units/polygons.h"

#include <algorithm>
#include <cmath>

namespace assay::inspection {

void fill_polygon(const Polygon& polygon, std::size_t width, std::size_t height,
                  std::vector<std::uint8_t>& mask) {
  std::vector<double> crossings;
  for (std::size_t row = 0; row < height; ++row) {
    const double y = row + 0.5;
    crossings.clear();
    for (std::size_t c = 0; c < polygon.size(); ++c) {
      const auto& [x0, y0] = polygon[c];
      const auto& [x1, y1] = polygon[(c + 1) % polygon.size()];
      if ((y0 <= y) != (y1 <= y)) crossings.push_back(x0 + (y - y0) * (x1 - x0) / (y1 - y0));
    }
    std::ranges::sort(crossings);
    for (std::size_t c = 0; c + 1 < crossings.size(); c += 2) {
      // Columns whose centres are in [from, to).
      const auto column = [&](double x) {
        return static_cast<std::size_t>(std::clamp(std::ceil(x - 0.5), 0.0, static_cast<double>(width)));
      };
      for (std::size_t x = column(crossings[c]); x < column(crossings[c + 1]); ++x) mask[row * width + x] = 1;
    }
  }
}

}  // namespace assay::inspection
