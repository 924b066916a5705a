#pragma once

// Polygons as pixels.

#include <cstdint>
#include <utility>
#include <vector>

namespace assay::inspection {

using Polygon =
    std::vector<std::pair<double, double>>;  // corners (x, y); pixel (i, j) is [i, i+1) x [j, j+1)

// Sets the pixels whose centres are inside by the even-odd rule; a centre on an edge is inside on its left
// and upper side. `mask` is [height, width].
void fill_polygon(const Polygon& polygon, std::size_t width, std::size_t height,
                  std::vector<std::uint8_t>& mask);

}  // namespace assay::inspection
