#include "assay/engine/lanes/winograd.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "assay/engine/lanes/tiles.h"

namespace assay::lanes {
namespace {

// Sums of so many blocks: [channels][blocks], all of which are read for every unit.
LinearMap map_of(const WindowsOfThree& windows, std::int64_t blocks) {
  LinearMap map{.patterns = {{}},
                .outer = 1,
                .outer_step = 0,
                .inner = windows.channels,
                .units = windows.units,
                .unit_step = blocks * width};
  for (std::int64_t c = 0; c < windows.channels; ++c)
    map.patterns[0].taps.push_back(
        {static_cast<std::int32_t>(c * blocks * width), static_cast<std::int32_t>(c)});
  for (std::int64_t b = 0; b < blocks; ++b)
    map.patterns[0].places.push_back(
        {static_cast<std::int32_t>(b * width), static_cast<std::int32_t>(b * width)});
  return map;
}

// From a point to the next; one vector more than there is, so that the points of a block do not meet in one
// set of a cache.
std::int64_t point_step(std::int64_t channels, std::int64_t blocks) {
  return (channels * blocks + 1) * width;
}

// As many as stay in the second-level cache with their sums, but enough of them for weights that do not.
std::int64_t blocks_together(const WindowsOfThree& windows) {
  constexpr std::int64_t cached = std::int64_t{3} << 17, step = 3;
  constexpr auto size = static_cast<std::int64_t>(sizeof(float));
  const std::int64_t of_block = 16 * (windows.channels + windows.units) * width * size;
  const bool light = 16 * windows.channels * windows.units * size < cached;
  const std::int64_t blocks = std::max(cached / of_block / step * step, light ? step : 4 * step);
  return std::min(blocks, windows.blocks());
}

}  // namespace

double WindowsOfThree::products() const {
  constexpr std::int64_t sums = 145;  // before and after, as `assay model --plan --measure` times them
  return static_cast<double>(blocks() * (16 * channels * units + sums * (channels + units)));
}

bool WindowsOfThree::pays() const {
  // What is read of a row or column: zeros beside the picture are left out by the plain loop.
  const auto reads = [](std::int64_t size, std::int64_t size_out, std::int64_t zeros) {
    std::int64_t count = 0;
    for (std::int64_t to = -zeros; to < size_out - zeros; ++to)
      count += std::max<std::int64_t>(0, std::min(to + 3, size) - std::max<std::int64_t>(to, 0));
    return static_cast<double>(count);
  };
  constexpr double enough = 0.85;
  return products() < enough * reads(rows, rows_out, top) * reads(columns, columns_out, left) *
                          static_cast<double>(channels * units);
}

WindowsOfThree WindowsOfThree::turned_round() const {
  return {units, channels, rows_out, columns_out, rows, columns, 2 - top, 2 - left, !turned};
}

Winograd::Winograd(const WindowsOfThree& windows)
    : windows_(windows),
      together_(blocks_together(windows)),
      map_(map_of(windows, together_)),
      last_(map_of(windows, windows.blocks() % together_)) {}

void Winograd::set(std::span<const float> weights) {
  const std::int64_t channels = windows_.channels;
  std::vector<float> sums[16];
  for (std::vector<float>& some : sums) some.resize(weights.size() / 9);
  for (std::size_t i = 0; i < weights.size() / 9; ++i) {
    // Rows, then columns: g0, (g0 + g1 + g2) / 2, (g0 - g1 + g2) / 2, g2.
    double rows[4][3];
    float g[9];
    for (std::size_t k = 0; k < 9; ++k) g[k] = weights[9 * i + (windows_.turned ? 8 - k : k)];
    for (int c = 0; c < 3; ++c) {
      const double outer = static_cast<double>(g[c]) + g[6 + c], middle = g[3 + c];
      rows[0][c] = g[c];
      rows[1][c] = (outer + middle) / 2;
      rows[2][c] = (outer - middle) / 2;
      rows[3][c] = g[6 + c];
    }
    for (int r = 0; r < 4; ++r) {
      const double outer = rows[r][0] + rows[r][2], middle = rows[r][1];
      sums[4 * r][i] = static_cast<float>(rows[r][0]);
      sums[4 * r + 1][i] = static_cast<float>((outer + middle) / 2);
      sums[4 * r + 2][i] = static_cast<float>((outer - middle) / 2);
      sums[4 * r + 3][i] = static_cast<float>(rows[r][2]);
    }
  }
  const std::vector<std::int32_t> order =
      packed(windows_.units, channels, [&](std::int64_t u, std::int64_t c) { return u * channels + c; });
  for (std::size_t p = 0; p < std::size(sums); ++p) {
    weights_[p].resize(order.size());
    for (std::size_t i = 0; i < order.size(); ++i)
      weights_[p][i] = sums[p][static_cast<std::size_t>(order[i])];
  }
}

std::int64_t Winograd::scratch() const {
  return 16 * (point_step(windows_.channels, together_) + point_step(windows_.units, together_)) + width +
         elements_out() * width;
}

void Winograd::run(const float* operand, const float* bias, Finish finish, float* scratch, float* finite,
                   float* result) const {
  std::fill_n(finite, width, 0.0F);
  const std::int64_t blocks = windows_.blocks();
  for (std::int64_t first = 0; first < blocks; first += together_) {
    const std::int64_t count = std::min(together_, blocks - first);
    const LinearMap& map = count == together_ ? map_ : last_;
    const BlocksOfFour strip{windows_.rows,
                             windows_.columns,
                             windows_.rows_out,
                             windows_.columns_out,
                             windows_.top,
                             windows_.left,
                             first,
                             count};
    const std::int64_t from = point_step(windows_.channels, count), to = point_step(windows_.units, count);
    float* const sums = scratch + 16 * from;
    points_of_operand(strip, windows_.channels, from, operand, scratch);
    for (std::int64_t p = 0; p < 16; ++p)
      apply(map, scratch + p * from, weights_[p].data(), nullptr, Finish::none, false, sums + p * to);
    results_of_points(strip, windows_.units, to, sums, bias, finish, finite, result);
  }
}

void Winograd::run(const float* operand, const float* bias, Finish finish, bool add, float* scratch,
                   const std::function<void(float*)>& direct, float* result) const {
  float* const finite = scratch;
  float* const whole = finite + width;
  float* const points = whole + elements_out() * width;
  float* const made = add ? whole : result;
  run(operand, bias, finish, points, finite, made);
  if (std::any_of(finite, finite + width, [](float zero) { return zero != 0; })) {
    thread_local Room room;
    float* const exact = room.floats(elements_out() * width);
    direct(exact);
    for (std::int64_t i = 0; i < elements_out(); ++i) {
      for (std::int64_t lane = 0; lane < width; ++lane)
        if (finite[lane] != 0) made[i * width + lane] = exact[i * width + lane];
    }
  }
  if (add) add_to(elements_out(), whole, result);
}

}  // namespace assay::lanes
