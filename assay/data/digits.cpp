// The procedural data set: handwritten-looking digits drawn from stroke templates under random affine,
// elastic and thickness changes (docs/algorithms/digits.md). Record i depends on the seed and i alone.

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include <assay/error.h>
#include <assay/extend/data_format.h>
#include <assay/extend/random.h>
#include "assay/support/text/parse.h"

namespace assay::inline data {
namespace {

constexpr int side = 28;

struct Point {
  double x = 0, y = 0;  // in the unit square, y downwards
};
using Stroke = std::vector<Point>;

// A piece of an ellipse; angles in degrees, 0 to the right, 90 downwards.
Stroke arc(double cx, double cy, double rx, double ry, double from, double to) {
  Stroke stroke;
  constexpr int pieces = 14;
  for (int i = 0; i <= pieces; ++i) {
    const double angle = (from + (to - from) * i / pieces) * std::numbers::pi / 180;
    stroke.push_back({cx + rx * std::cos(angle), cy + ry * std::sin(angle)});
  }
  return stroke;
}

// Straight strokes are cut into pieces so that they bend like the curved ones.
Stroke line(std::initializer_list<Point> corners) {
  Stroke stroke;
  const Point* previous = nullptr;
  for (const Point& corner : corners) {
    for (int i = 1; previous != nullptr && i < 4; ++i) {
      stroke.push_back(
          {previous->x + (corner.x - previous->x) * i / 4, previous->y + (corner.y - previous->y) * i / 4});
    }
    stroke.push_back(corner);
    previous = &corner;
  }
  return stroke;
}

// Ways to write each digit.
std::vector<Stroke> strokes_of(int digit, std::uint64_t variant) {
  switch (digit) {
    case 0:
      return variant % 3 == 0 ? std::vector<Stroke>{arc(.5, .5, .22, .38, -100, 275)}
                              : std::vector<Stroke>{arc(.5, .5, .28, .38, -90, 270)};
    case 1:
      if (variant % 3 == 0) return {line({{.38, .28}, {.52, .12}, {.52, .88}})};
      if (variant % 3 == 1) return {line({{.5, .12}, {.5, .88}})};
      return {line({{.36, .3}, {.53, .12}, {.53, .88}}), line({{.36, .88}, {.7, .88}})};
    case 2:
      if (variant % 2 == 0)
        return {arc(.5, .32, .23, .2, -170, 40), line({{.66, .46}, {.28, .86}, {.74, .86}})};
      return {arc(.5, .32, .22, .2, -160, 60), line({{.6, .5}, {.34, .8}}), arc(.38, .8, .07, .06, 90, 330),
              line({{.42, .78}, {.76, .88}})};
    case 3:
      if (variant % 2 == 0) return {arc(.47, .3, .22, .18, -150, 90), arc(.47, .67, .25, .2, -90, 150)};
      return {line({{.3, .14}, {.7, .14}, {.46, .44}}), arc(.46, .66, .25, .22, -90, 150)};
    case 4:
      if (variant % 2 == 0) return {line({{.58, .1}, {.24, .6}, {.78, .6}}), line({{.62, .36}, {.6, .9}})};
      return {line({{.3, .12}, {.28, .5}, {.72, .48}}), line({{.7, .14}, {.66, .9}})};
    case 5:
      if (variant % 2 == 0)
        return {line({{.7, .14}, {.34, .14}, {.32, .46}}), arc(.47, .64, .24, .22, -130, 140)};
      return {line({{.66, .14}, {.36, .16}, {.3, .44}}), arc(.48, .66, .22, .21, -150, 120)};
    case 6:
      if (variant % 2 == 0) return {arc(.72, .5, .42, .4, -130, -190), arc(.5, .67, .21, .2, 180, 540)};
      return {line({{.6, .1}, {.4, .36}, {.3, .62}}), arc(.5, .67, .2, .2, 190, 550)};
    case 7:
      if (variant % 3 == 0) return {line({{.26, .14}, {.74, .14}, {.44, .9}}), line({{.4, .5}, {.68, .5}})};
      return {line({{.26, .16}, {.74, .14}, {.46, .9}})};
    case 8:
      if (variant % 2 == 0) return {arc(.5, .3, .19, .18, 90, 450), arc(.5, .68, .23, .2, -90, 270)};
      return {arc(.52, .29, .17, .17, -60, 270), line({{.5, .46}, {.66, .62}}),
              arc(.48, .7, .2, .17, -30, 240)};
    default:
      if (variant % 2 == 0) return {arc(.5, .32, .21, .2, 0, 360), line({{.71, .32}, {.68, .6}, {.58, .9}})};
      return {arc(.48, .32, .2, .2, 10, 370), line({{.68, .3}, {.68, .9}})};
  }
}

// A smooth random displacement: a coarse grid of vectors with cosine interpolation.
class Elastic {
 public:
  Elastic(Rng& rng, double strength) {
    for (auto& v : grid_) v = strength * rng.normal();
  }
  Point move(Point p) const { return {p.x + at(p, 0), p.y + at(p, 16)}; }

 private:
  double at(Point p, std::size_t offset) const {
    const double u = std::clamp(p.x, 0.0, 0.999) * 3, v = std::clamp(p.y, 0.0, 0.999) * 3;
    const auto i = static_cast<std::size_t>(u), j = static_cast<std::size_t>(v);
    const auto ease = [](double t) { return (1 - std::cos(t * std::numbers::pi)) / 2; };
    const double a = ease(u - i), b = ease(v - j);
    const auto g = [&](std::size_t x, std::size_t y) { return grid_[offset + y * 4 + x]; };
    return (g(i, j) * (1 - a) + g(i + 1, j) * a) * (1 - b) +
           (g(i, j + 1) * (1 - a) + g(i + 1, j + 1) * a) * b;
  }
  std::array<double, 32> grid_;
};

double distance_squared(Point p, Point a, Point b) {
  const double dx = b.x - a.x, dy = b.y - a.y, length = dx * dx + dy * dy;
  const double t = length == 0 ? 0 : std::clamp(((p.x - a.x) * dx + (p.y - a.y) * dy) / length, 0.0, 1.0);
  const double ex = p.x - a.x - t * dx, ey = p.y - a.y - t * dy;
  return ex * ex + ey * ey;
}

class DigitSource final : public Source {
 public:
  DigitSource(std::size_t count, std::uint64_t seed) : count_(count), seed_(seed) {}

  std::size_t size() const override { return count_; }
  Shape shape() const override { return {1, side, side}; }
  bool is_8bit() const override { return true; }
  std::optional<std::int64_t> label(std::size_t index) const override {
    return static_cast<std::int64_t>((index + Rng(seed_, {index / 10}).below(10)) % 10);
  }
  std::string format() const override { return "procedural digits"; }

  void read(std::size_t index, void* out) const override {
    Rng rng(seed_, {index, 1});
    std::vector<Stroke> strokes = strokes_of(static_cast<int>(*label(index)), rng.below(6));
    // How carelessly this one was written; a few are hard to read.
    const double care = 0.75 + 0.5 * rng.uniform() + (rng.uniform() < 0.06 ? 0.8 : 0.0);
    transform(strokes, rng, care);
    draw(strokes, rng, care, static_cast<float*>(out));
  }

 private:
  static void transform(std::vector<Stroke>& strokes, Rng& rng, double care) {
    const double angle = 0.17 * care * rng.normal(), shear = 0.18 * care * rng.normal();
    const double sx = std::exp(0.13 * care * rng.normal()), sy = std::exp(0.10 * care * rng.normal());
    const double tx = 0.035 * care * rng.normal(), ty = 0.035 * care * rng.normal();
    const Elastic elastic(rng, 0.036 * care);
    for (Stroke& stroke : strokes) {
      const Point slip{0.012 * care * rng.normal(),
                       0.012 * care * rng.normal()};  // strokes do not quite meet
      for (Point& p : stroke) {
        p = elastic.move(p);
        const double x = (p.x - .5 + slip.x) * sx + shear * (p.y - .5), y = (p.y - .5 + slip.y) * sy;
        p = {.5 + tx + x * std::cos(angle) - y * std::sin(angle),
             .5 + ty + x * std::sin(angle) + y * std::cos(angle)};
      }
    }
  }

  static void draw(const std::vector<Stroke>& strokes, Rng& rng, double care, float* out) {
    const double margin = 3, span = side - 2 * margin;
    const double radius = std::clamp(1.15 + 0.4 * rng.normal(), 0.45, 2.4),
                 ink = 255 * std::clamp(0.95 - 0.12 * std::fabs(rng.normal()), 0.4, 1.0);
    std::array<double, side * side> nearest;
    nearest.fill(1e9);
    for (const Stroke& stroke : strokes) {
      for (std::size_t i = 1; i < stroke.size(); ++i) {
        const Point a{margin + stroke[i - 1].x * span, margin + stroke[i - 1].y * span},
            b{margin + stroke[i].x * span, margin + stroke[i].y * span};
        const double reach = radius + 1;
        const int x0 = std::max(0, static_cast<int>(std::min(a.x, b.x) - reach)),
                  x1 = std::min(side - 1, static_cast<int>(std::max(a.x, b.x) + reach));
        const int y0 = std::max(0, static_cast<int>(std::min(a.y, b.y) - reach)),
                  y1 = std::min(side - 1, static_cast<int>(std::max(a.y, b.y) + reach));
        for (int y = y0; y <= y1; ++y) {
          for (int x = x0; x <= x1; ++x) {
            double& d = nearest[y * side + x];
            d = std::min(d, distance_squared({x + .5, y + .5}, a, b));
          }
        }
      }
    }
    const double noise = 4 * care;
    for (std::size_t p = 0; p < nearest.size(); ++p) {
      const double value = ink * std::clamp(radius + .5 - std::sqrt(nearest[p]), 0.0, 1.0);
      const double grain = value > 0 ? noise * rng.normal() : 0;
      out[p] = static_cast<float>(std::round(std::clamp(value + grain, 0.0, 255.0)));
    }
  }

  std::size_t count_;
  std::uint64_t seed_;
};

}  // namespace

FormatInfo digits_format() {
  return {"digits",
          "digits:COUNT[,seed=S]: handwritten-looking digits drawn on demand",
          {},
          [](const std::filesystem::path& path, std::string_view) {
            return path.string().starts_with("digits:");
          },
          [](const DataSpec& spec) -> std::unique_ptr<Source> {
            const std::string text = spec.path.starts_with("digits:") ? spec.path.substr(7) : spec.path;
            const std::size_t count = number_of<std::size_t>(text).value_or(0);
            if (count < 1 || count > 100'000'000) {
              fail(Fault::usage, "data '{}': a count between 1 and 100000000 is needed, as in digits:1000",
                   spec.path);
            }
            return std::make_unique<DigitSource>(count, static_cast<std::uint64_t>(spec.integer("seed", 1)));
          }};
}

}  // namespace assay::inline data
