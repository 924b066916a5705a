// Values between the positions of a picture or a volume.

#include <array>
#include <cmath>
#include <functional>

#include "assay/array/loops.h"
#include "assay/array/tape.h"

namespace assay::array {
namespace {

// How a coordinate in [-1, 1] becomes a position of an axis, and what is taken for positions outside.
struct Sampling {
  Interpolation mode;
  Outside outside;
  bool corners;

  double unnormalised(double x, std::int64_t size) const {
    const double n = size;
    return corners ? (x + 1) / 2 * (n - 1) : ((x + 1) * n - 1) / 2;
  }
  double unnormalised_slope(std::int64_t size) const {
    return static_cast<double>(corners ? size - 1 : size) / 2;
  }

  struct Position {
    double at, slope;  // of the position with respect to what it was before
  };
  // Brought inside, except with zeros.
  Position settled(double x, std::int64_t size) const {
    if (outside == Outside::zeros) return {x, 1};
    if (outside == Outside::border) return clipped({x, 1}, size);
    const double low = corners ? 0 : -0.5,
                 span = corners ? static_cast<double>(size - 1) : static_cast<double>(size);
    if (!(span > 0)) return {0, 0};
    const double away = std::abs(x - low), sign = x < low ? -1 : 1, turns = std::floor(away / span),
                 rest = std::fmod(away, span);
    const bool even = std::fmod(turns, 2) == 0;
    return clipped({even ? rest + low : span - rest + low, even ? sign : -sign}, size);
  }
  static Position clipped(Position p, std::int64_t size) {
    const double last = size - 1;
    if (!(p.at > 0)) return {0, 0};
    if (p.at >= last) return {last, 0};
    return p;
  }
};

// Taps along one axis: positions (negative: none), weights, and the weights' slopes.
struct AxisTaps {
  std::array<std::int64_t, 4> at{};
  std::array<double, 4> weight{}, slope{};
  std::size_t count = 0;

  void add(double position, std::int64_t size, double w, double s) {
    const bool inside = position >= 0 && position < size;
    at[count] = inside ? static_cast<std::int64_t>(position) : -1;
    weight[count] = w;
    slope[count++] = s;
  }
};

// Keys' cubic kernel with a = -0.75, of taps at -1, 0, 1 and 2.
void cubic(double t, std::array<double, 4>& weight, std::array<double, 4>& slope) {
  constexpr double a = -0.75;
  const auto far = [](double x) { return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a; };
  const auto far_slope = [](double x) { return (3 * a * x - 10 * a) * x + 8 * a; };
  const auto near = [](double x) { return ((a + 2) * x - (a + 3)) * x * x + 1; };
  const auto near_slope = [](double x) { return (3 * (a + 2) * x - 2 * (a + 3)) * x; };
  weight = {far(t + 1), near(t), near(1 - t), far(2 - t)};
  slope = {far_slope(t + 1), near_slope(t), -near_slope(1 - t), -far_slope(2 - t)};
}

AxisTaps taps_on(const Sampling& how, double coordinate, std::int64_t size) {
  AxisTaps taps;
  const double raw = how.unnormalised(coordinate, size), scale = how.unnormalised_slope(size);
  if (how.mode == Interpolation::bicubic) {
    const double floor = std::floor(raw);
    std::array<double, 4> weight, slope;
    cubic(raw - floor, weight, slope);
    for (int i = 0; i < 4; ++i) {
      const double tap = floor - 1 + i;
      taps.add(how.outside == Outside::zeros ? tap : std::nearbyint(how.settled(tap, size).at), size,
               weight[i], slope[i] * scale);
    }
    return taps;
  }
  const auto [at, by] = how.settled(raw, size);
  if (how.mode == Interpolation::nearest) {
    taps.add(std::nearbyint(at), size, 1, 0);
    return taps;
  }
  const double floor = std::floor(at), share = at - floor;
  taps.add(floor, size, 1 - share, -by * scale);
  taps.add(floor + 1, size, share, by * scale);
  return taps;
}

struct Geometry {
  std::int64_t records, channels, places;
  std::array<std::int64_t, 3> size{1, 1, 1};  // depth, height, width
  std::size_t axes;

  Geometry(const Array& a, const Array& grid) : axes(a.rank() - 2) {
    const bool fits = (a.rank() == 4 || a.rank() == 5) && grid.rank() == a.rank() &&
                      grid.size(0) == a.size(0) && grid.size(-1) == a.rank() - 2;
    if (!fits)
      fail(Fault::model, "a grid of shape {} does not fit shape {}", to_string(grid.shape()),
           to_string(a.shape()));
    records = a.size(0);
    channels = a.size(1);
    places = grid.count() / std::max<std::int64_t>(1, records * static_cast<std::int64_t>(axes));
    for (std::size_t i = 0; i < axes; ++i) size[3 - axes + i] = a.shape()[i + 2];
  }
  std::int64_t plane() const { return size[0] * size[1] * size[2]; }
};

// body(record, place, position within a plane, weight, slopes by the grid's coordinates: x, y, z) for every
// tap.
template <typename T, typename Body>
void each_sample(const Geometry& geometry, const Sampling& how, const T* grid, const Body& body) {
  split_loop(geometry.records, 1, [&](std::size_t begin, std::size_t end) {
    for (std::int64_t r = begin; r < static_cast<std::int64_t>(end); ++r) {
      for (std::int64_t p = 0; p < geometry.places; ++p) {
        const T* const point = grid + (r * geometry.places + p) * static_cast<std::int64_t>(geometry.axes);
        std::array<AxisTaps, 3> taps;  // depth, height, width
        for (std::size_t i = 0; i < 3; ++i) {
          const bool there = i + geometry.axes >= 3;
          if (there)
            taps[i] = taps_on(how, point[2 - i], geometry.size[i]);
          else
            taps[i].add(0, 1, 1, 0);
        }
        for (std::size_t z = 0; z < taps[0].count; ++z) {
          for (std::size_t y = 0; y < taps[1].count; ++y) {
            for (std::size_t x = 0; x < taps[2].count; ++x) {
              if (taps[0].at[z] < 0 || taps[1].at[y] < 0 || taps[2].at[x] < 0) continue;
              const double wz = taps[0].weight[z], wy = taps[1].weight[y], wx = taps[2].weight[x];
              const std::int64_t at =
                  (taps[0].at[z] * geometry.size[1] + taps[1].at[y]) * geometry.size[2] + taps[2].at[x];
              body(r, p, at, wz * wy * wx,
                   std::array{taps[2].slope[x] * wy * wz, wx * taps[1].slope[y] * wz,
                              wx * wy * taps[0].slope[z]});
            }
          }
        }
      }
    }
  });
}

}  // namespace

Array grid_sample(const Array& given, const Array& at, Interpolation mode, Outside outside,
                  bool align_corners) {
  const Geometry geometry(given, at);
  if (mode == Interpolation::bicubic && geometry.axes != 2)
    fail(Fault::unsupported, "bicubic interpolation is for pictures, not for volumes");
  const DType type = is_real(given.dtype()) ? given.dtype() : DType::float32;
  if (is_narrow(type))
    return computed_wide(given, [&](const Array& wide) {
      return grid_sample(wide, widened(at), mode, outside, align_corners);
    });
  const Array input = given.to(type), grid = at.to(type);
  const Array a = input.detach().contiguous(), g = grid.detach().contiguous();
  const Sampling how{mode, outside, align_corners};
  Shape shape{geometry.records, geometry.channels};
  shape.insert(shape.end(), g.shape().begin() + 1, g.shape().end() - 1);
  Array out = Array::zeros(type, shape);
  with_real(type, [&](auto zero) {
    using T = decltype(zero);
    const T* const from = elements<T>(a);
    T* const to = elements<T>(out);
    each_sample<T>(geometry, how, elements<T>(g),
                   [&](std::int64_t r, std::int64_t p, std::int64_t tap, double weight, const auto&) {
                     for (std::int64_t c = 0; c < geometry.channels; ++c) {
                       const std::int64_t plane = r * geometry.channels + c;
                       to[plane * geometry.places + p] +=
                           static_cast<T>(weight * from[plane * geometry.plane() + tap]);
                     }
                   });
  });
  if (!records(input, grid)) return out;
  return recorded_one(
      std::move(out), {input, grid}, [=](const Array& slopes, const std::vector<bool>&) -> Arrays {
        Array of_input = Array::zeros(type, a.shape()), of_grid = Array::zeros(type, g.shape());
        const Array s = slopes.contiguous();
        with_real(type, [&](auto zero) {
          using T = decltype(zero);
          const T *const from = elements<T>(a), *const back = elements<T>(s);
          T *const to = elements<T>(of_input), *const by_grid = elements<T>(of_grid);
          each_sample<T>(
              geometry, how, elements<T>(g),
              [&](std::int64_t r, std::int64_t p, std::int64_t tap, double weight, const auto& by) {
                double both = 0;
                for (std::int64_t c = 0; c < geometry.channels; ++c) {
                  const std::int64_t plane = r * geometry.channels + c;
                  const double gradient = back[plane * geometry.places + p];
                  to[plane * geometry.plane() + tap] += static_cast<T>(gradient * weight);
                  both += gradient * from[plane * geometry.plane() + tap];
                }
                T* const point =
                    by_grid + (r * geometry.places + p) * static_cast<std::int64_t>(geometry.axes);
                for (std::size_t i = 0; i < geometry.axes; ++i) point[i] += static_cast<T>(both * by[i]);
              });
        });
        return {of_input, of_grid};
      });
}

Array affine_grid(const Array& theta, const Shape& size, bool align_corners) {
  const auto axes = static_cast<std::int64_t>(size.size()) - 2;
  const bool fits = (axes == 2 || axes == 3) && theta.rank() == 3 && theta.size(0) == size[0] &&
                    theta.size(1) == axes && theta.size(2) == axes + 1;
  if (!fits)
    fail(Fault::model, "matrices of shape {} do not fit pictures of shape {}", to_string(theta.shape()),
         to_string(size));
  if (is_short(theta.dtype()))
    return computed_wide(theta, [&](const Array& wide) { return affine_grid(wide, size, align_corners); });
  const DType type = is_real(theta.dtype()) ? theta.dtype() : DType::float32;
  Shape places(size.begin() + 2, size.end());
  places.push_back(axes + 1);
  Array points = Array::zeros(DType::float64, places);
  points.select(-1, axes).fill_(1);
  for (std::int64_t i = 0; i < axes; ++i) {
    const std::int64_t count = size[static_cast<std::size_t>(i) + 2];
    Array line = zeros({count}, DType::float64);
    if (count > 1) line = arange(0, count, DType::float64) * (2.0 / (count - 1)) - 1.0;
    if (!align_corners) line = line * (static_cast<double>(count - 1) / std::max<std::int64_t>(1, count));
    Shape beside(axes, 1);
    beside[i] = count;
    points.select(-1, axes - 1 - i).copy_(line.reshape(beside));
  }
  const Array flat = points.to(type).reshape({1, -1, axes + 1});
  Shape result = places;
  result.back() = axes;
  result.insert(result.begin(), size[0]);
  return matmul(flat, theta.to(type).transpose(1, 2)).reshape(result);
}

}  // namespace assay::array
