// Operators that read pictures at places between the elements, and choose boxes.

#include <algorithm>
#include <array>
#include <cmath>

#include "assay/engine/operators/parts/support.h"

namespace assay::operators {
namespace {

template <std::size_t count>
std::int64_t position_of(const std::string& word, const std::array<std::string_view, count>& words,
                         std::string_view attribute) {
  const auto found = std::ranges::find(words, word);
  if (found == words.end()) fail(Fault::model, "attribute '{}' is '{}', which is not known", attribute, word);
  return found - words.begin();
}

struct Box {
  double top, left, bottom, right;
  double area() const { return (bottom - top) * (right - left); }
};

Box box_of(const float* numbers, bool from_centre) {
  const double a = numbers[0], b = numbers[1], c = numbers[2], d = numbers[3];
  if (from_centre) return {b - d / 2, a - c / 2, b + d / 2, a + c / 2};
  return {std::min(a, c), std::min(b, d), std::max(a, c), std::max(b, d)};
}

double overlap(const Box& a, const Box& b) {
  const double height = std::min(a.bottom, b.bottom) - std::max(a.top, b.top);
  const double width = std::min(a.right, b.right) - std::max(a.left, b.left);
  if (height <= 0 || width <= 0) return 0;
  return height * width / (a.area() + b.area() - height * width);
}

// Where samples along one axis fall: two neighbours and their weights, both 0 outside the picture.
struct Places {
  Array low, high, low_weight, high_weight;
};

Places places_along(double start, double step, std::int64_t count, std::int64_t size, const Array& like) {
  Ints low, high;
  std::vector<double> low_weight, high_weight;
  for (std::int64_t i = 0; i < count; ++i) {
    const double at = start + (i + 0.5) * step;
    const bool outside = !(at >= -1 && at <= size);
    const double inside = std::clamp(outside ? 0 : at, 0.0, static_cast<double>(size - 1));
    const auto below = static_cast<std::int64_t>(inside);
    const double fraction = inside - below;
    low.push_back(below);
    high.push_back(std::min(below + 1, size - 1));
    low_weight.push_back(outside ? 0 : 1 - fraction);
    high_weight.push_back(outside ? 0 : fraction);
  }
  const auto indices = [&](const Ints& values) { return array::tensor(values, DType::int64); };
  const auto weights = [&](const std::vector<double>& values) {
    return array::tensor(values, DType::float64).to(like.dtype());
  };
  return {indices(low), indices(high), weights(low_weight), weights(high_weight)};
}

struct Grid {
  std::int64_t height, width;
  double scale, offset;
  std::int64_t samples;  // per axis of a cell; 0: as many as it has elements
  bool greatest;
};

// One region of a picture [channels, height, width].
Array region(const Array& picture, const float* corners, const Grid& grid) {
  const double left = corners[0] * grid.scale - grid.offset, top = corners[1] * grid.scale - grid.offset;
  double width = corners[2] * grid.scale - grid.offset - left,
         height = corners[3] * grid.scale - grid.offset - top;
  if (grid.offset == 0) width = std::max(width, 1.0), height = std::max(height, 1.0);
  const auto samples = [&](double extent, std::int64_t cells) {
    if (grid.samples > 0) return grid.samples;
    const double count = std::ceil(extent / cells);
    require_in("the number of samples in a cell", static_cast<std::int64_t>(std::clamp(count, -1.0, 1e9)), 0,
               1 << 16);
    return std::max<std::int64_t>(1, static_cast<std::int64_t>(count));
  };
  if (!std::isfinite(width) || !std::isfinite(height)) fail(Fault::model, "a region is not finite");
  const std::int64_t down = samples(height, grid.height), across = samples(width, grid.width);
  check_size({picture.size(0), grid.height * down, grid.width * across}, 4 * size_of(picture.dtype()));
  const Places y = places_along(top, height / static_cast<double>(grid.height * down), grid.height * down,
                                picture.size(1), picture);
  const Places x = places_along(left, width / static_cast<double>(grid.width * across), grid.width * across,
                                picture.size(2), picture);
  const auto corner = [&](const Array& rows, const Array& row_weight, const Array& columns,
                          const Array& column_weight) {
    const Array values = array::index_select(array::index_select(picture, 1, rows), 2, columns);
    return values * row_weight.unsqueeze(1) * column_weight.unsqueeze(0);
  };
  const Array a = corner(y.low, y.low_weight, x.low, x.low_weight),
              b = corner(y.low, y.low_weight, x.high, x.high_weight),
              c = corner(y.high, y.high_weight, x.low, x.low_weight),
              d = corner(y.high, y.high_weight, x.high, x.high_weight);
  const auto by_cell = [&](const Array& all) {
    return all.reshape({picture.size(0), grid.height, down, grid.width, across});
  };
  // The standard's maximum is over the weighted neighbours, not over their sums.
  if (grid.greatest)
    return array::amax(by_cell(array::maximum(array::maximum(a, b), array::maximum(c, d))), {2, 4});
  return array::mean(by_cell(a + b + c + d), {2, 4});
}

}  // namespace

Outputs grid_sample(const Call& call) {
  const Array &x = call.input(0), &grid = call.input(1);
  std::string mode = call.node.text("mode", "linear");
  if (mode == "bilinear") mode = "linear";
  if (mode == "bicubic") mode = "cubic";
  constexpr std::array interpolations{array::Interpolation::bilinear, array::Interpolation::nearest,
                                      array::Interpolation::bicubic};
  constexpr std::array outsides{array::Outside::zeros, array::Outside::border, array::Outside::reflection};
  const auto how = position_of<3>(mode, {"linear", "nearest", "cubic"}, "mode");
  const auto padding = position_of<3>(call.node.text("padding_mode", "zeros"),
                                      {"zeros", "border", "reflection"}, "padding_mode");
  if (x.rank() != 4 && x.rank() != 5) fail(Fault::unsupported, "pictures have 4 or 5 axes, not {}", x.rank());
  if (grid.rank() != x.rank() || grid.size(-1) != x.rank() - 2 || grid.size(0) != x.size(0))
    fail(Fault::model, "the grid does not fit the picture");
  if (how == 2 && x.rank() == 5) fail(Fault::unsupported, "mode 'cubic' is supported for 4 axes only");
  Ints shape = grid.shape();
  shape.insert(shape.begin() + 1, x.size(1));
  shape.pop_back();
  check_size(shape, size_of(x.dtype()));
  const bool corners = call.node.integer("align_corners", 0) != 0;
  return {array::grid_sample(x, grid.to(x.dtype()), interpolations[how], outsides[padding], corners)};
}

Outputs affine_grid(const Call& call) {
  const Ints size = call.integers(1);
  if (size.size() != 4 && size.size() != 5)
    fail(Fault::unsupported, "sizes have 4 or 5 axes, not {}", size.size());
  const Array& theta = call.input(0);
  const auto axes = std::ssize(size) - 2;
  if (theta.rank() != 3 || theta.size(0) != size[0] || theta.size(1) != axes || theta.size(2) != axes + 1)
    fail(Fault::model, "the matrices do not fit the size");
  for (const std::int64_t one : size) require_in("a size", one, 1, largest_extent);
  Ints shape = size;
  shape[1] = axes;
  check_size(shape, 2 * size_of(theta.dtype()));
  return {array::affine_grid(theta, size, call.node.integer("align_corners", 0) != 0)};
}

Outputs roi_align(const Call& call) {
  const Array& x = call.input(0);
  if (x.rank() != 4 || x.count() == 0) fail(Fault::model, "a picture with 4 axes is needed");
  const Array rois = call.input(1).detach().to(DType::float32).contiguous();
  const Ints records = call.integers(2);
  if (rois.rank() != 2 || rois.size(1) != 4 || rois.size(0) != std::ssize(records))
    fail(Fault::model, "regions [n, 4] and n numbers of records are needed");
  const auto mode = position_of<2>(call.node.text("mode", "avg"), {"avg", "max"}, "mode");
  const auto half = position_of<2>(call.node.text("coordinate_transformation_mode", "half_pixel"),
                                   {"output_half_pixel", "half_pixel"}, "coordinate_transformation_mode");
  const Grid grid{call.node.integer("output_height", 1),  call.node.integer("output_width", 1),
                  call.node.real("spatial_scale", 1),     half == 1 ? 0.5 : 0.0,
                  call.node.integer("sampling_ratio", 0), mode == 1};
  require_in("output_height", grid.height, 1, 1 << 20);
  require_in("output_width", grid.width, 1, 1 << 20);
  require_in("sampling_ratio", grid.samples, 0, 1 << 16);
  std::vector<Array> regions;
  for (std::size_t r = 0; r < records.size(); ++r) {
    require_in("the number of a record", records[r], 0, x.size(0) - 1);
    regions.push_back(region(x.select(0, records[r]), rois.elements<float>() + 4 * r, grid));
  }
  if (regions.empty()) return {array::empty({0, x.size(1), grid.height, grid.width}, x.dtype())};
  return {array::stack(regions)};
}

Outputs non_max_suppression(const Call& call) {
  const Array boxes = call.input(0).detach().to(DType::float32).contiguous();
  const Array scores = call.input(1).detach().to(DType::float32).contiguous();
  if (boxes.rank() != 3 || boxes.size(2) != 4 || scores.rank() != 3 || scores.size(0) != boxes.size(0) ||
      scores.size(2) != boxes.size(1))
    fail(Fault::model, "boxes [n, b, 4] and scores [n, classes, b] are needed");
  const std::int64_t most = call.integer(2, 0), count = boxes.size(1), classes = scores.size(1);
  const double largest_overlap = call.number(3, 0);
  const bool thresholded = call.has(4), from_centre = call.node.integer("center_point_box", 0) != 0;
  const double least_score = call.number(4, 0);
  Ints chosen;
  for (std::int64_t n = 0; n < boxes.size(0); ++n) {
    for (std::int64_t c = 0; c < classes; ++c) {
      const float* const score = scores.elements<float>() + (n * classes + c) * count;
      Ints order;
      for (std::int64_t i = 0; i < count; ++i) {
        if (!thresholded || score[i] > least_score) order.push_back(i);
      }
      std::ranges::stable_sort(order, [&](auto a, auto b) { return score[a] > score[b]; });
      std::vector<Box> kept;
      for (const std::int64_t i : order) {
        if (std::ssize(kept) >= most) break;
        const Box box = box_of(boxes.elements<float>() + (n * count + i) * 4, from_centre);
        if (std::ranges::any_of(kept,
                                [&](const Box& other) { return overlap(box, other) > largest_overlap; }))
          continue;
        kept.push_back(box);
        chosen.insert(chosen.end(), {n, c, i});
      }
    }
  }
  return {array::tensor(chosen, DType::int64).reshape({-1, 3})};
}

}  // namespace assay::operators
