#include "assay/engine/lanes/winograd.h"

#include <algorithm>
#include <map>

#include "assay/engine/lanes/batch_blocks.h"

namespace assay::lanes {
namespace {

std::size_t index(std::int64_t i) { return i; }

// Products along an axis for two results.
std::int64_t products_of(const WindowAxis& axis) {
  std::int64_t products = 0;
  for (const Piece& piece : pieces_of(axis)) products += piece.taps + 1;
  return products;
}

// Sums of so many blocks: [count][blocks], all of which are read for every unit.
LinearMap map_of(std::int64_t count, std::int64_t units, std::int64_t blocks) {
  LinearMap map{.patterns = {{}},
                .outer = 1,
                .outer_step = 0,
                .inner = count,
                .units = units,
                .unit_step = blocks * width};
  for (std::int64_t c = 0; c < count; ++c)
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
std::int64_t blocks_together(const WinogradWindows& windows) {
  constexpr std::int64_t cached = std::int64_t{3} << 17, step = 3;
  constexpr std::int64_t size = sizeof(float);
  const std::int64_t products = products_of(windows.axes[0]) * products_of(windows.axes[1]),
                     of_block = (products * windows.channels + 16 * windows.units) * width * size;
  const bool light = products * windows.channels * windows.units * size < cached;
  const std::int64_t blocks = std::max(cached / of_block / step * step, light ? step : 4 * step);
  return std::min(blocks, windows.blocks());
}

}  // namespace

std::vector<Piece> pieces_of(const WindowAxis& axis) {
  std::vector<Piece> pieces;
  for (std::int64_t phase = 0; phase < std::min(axis.stride, axis.kernel); ++phase) {
    std::int64_t left = (axis.kernel - phase + axis.stride - 1) / axis.stride, at = phase;
    while (left > 0) {
      const std::int64_t taps = left == 2 || left == 4 ? 2 : std::min<std::int64_t>(left, 3);
      pieces.push_back({at, taps});
      at += taps * axis.stride;
      left -= taps;
    }
  }
  return pieces;
}

std::array<double, 4> sums_of_taps(const Taps& g, int taps) {
  if (taps == 1) return {g[0], g[0]};
  if (taps == 2) return {g[0], g[0] + g[1], g[1]};
  return {g[0], (g[0] + g[2] + g[1]) / 2, (g[0] + g[2] - g[1]) / 2, g[2]};
}

double WinogradWindows::products() const {
  // Sums before and after, a sixteenth of them for each point of a block.
  constexpr double sums = 100.0 / 16;
  const double products = products_of(axes[0]) * products_of(axes[1]);
  return blocks() * (products * static_cast<double>(channels * units) +
                     sums * (products * channels + 16 * static_cast<double>(units)));
}

bool WinogradWindows::pays() const {
  // The elements read of a row or column; the plain loop leaves out zeros outside the picture.
  const auto reads = [](const WindowAxis& axis) {
    std::int64_t count = 0;
    for (std::int64_t to = 0; to < axis.size_out; ++to) {
      const std::int64_t from = to * axis.stride - axis.zeros;
      count += std::max<std::int64_t>(
          0, std::min(from + axis.kernel, axis.size) - std::max<std::int64_t>(from, 0));
    }
    return static_cast<double>(count);
  };
  constexpr double enough = 0.85;
  return products() < enough * reads(axes[0]) * reads(axes[1]) * static_cast<double>(channels * units);
}

Winograd::Strip::Strip(const WinogradWindows& windows, Way way, std::int64_t blocks)
    : count(blocks), result_step(point_step(windows.units, blocks)) {
  const std::vector<Piece> rows = pieces_of(windows.axes[0]), columns = pieces_of(windows.axes[1]);
  std::array<std::int64_t, points> meet{};  // pieces with the point
  for (const Piece& row : rows) {
    for (const Piece& column : columns) {
      PieceOfWindows& piece = pieces.emplace_back(
          PieceOfWindows{row.first, column.first, static_cast<int>(row.taps), static_cast<int>(column.taps)});
      for (int r = 0; r <= row.taps; ++r) {
        for (int c = 0; c <= column.taps; ++c)
          piece.at[index(piece.point(r, c))] = meet[index(piece.point(r, c))]++;
      }
    }
  }
  std::map<std::int64_t, const LinearMap*> known;
  for (std::size_t p = 0; p < points; ++p) {
    begins[p] = operand_floats;
    vectors[p] = meet[p] * windows.channels;
    if (vectors[p] == 0) continue;
    operand_floats += point_step(vectors[p], count);
    const LinearMap*& same = known[vectors[p]];
    if (same == nullptr) {
      const LinearMap made = way == Way::forward ? map_of(vectors[p], windows.units, count)
                                                 : map_of(windows.units, vectors[p], count);
      same = maps.emplace_back(std::make_unique<const LinearMap>(made)).get();
    }
    map[p] = same;
  }
  for (PieceOfWindows& piece : pieces) {
    for (std::size_t p = 0; p < points; ++p)
      piece.at[p] = begins[p] + piece.at[p] * windows.channels * count * width;
  }
}

Winograd::Winograd(const WinogradWindows& windows, Way way)
    : windows_(windows),
      way_(way),
      most_(windows, way, blocks_together(windows)),
      last_(windows, way, windows.blocks() % most_.count) {
  for (std::size_t p = 0; p < points; ++p) weights_[p].resize(index(windows.units * most_.vectors[p]));
}

void Winograd::set(std::span<const float> weights) {
  const WindowAxis &down = windows_.axes[0], &across = windows_.axes[1];
  const std::int64_t taps = down.kernel * across.kernel;
  std::array<std::int64_t, points> meet{};  // pieces at the point so far
  for (const PieceOfWindows& piece : most_.pieces) {
    for (std::int64_t i = 0; i < windows_.units * windows_.channels; ++i) {
      const std::int64_t unit = i / windows_.channels, channel = i % windows_.channels;
      // Rows, then columns.
      std::array<Taps, 4> rows{};
      for (int c = 0; c < piece.columns; ++c) {
        Taps g{};
        for (int r = 0; r < piece.rows; ++r) {
          g[index(r)] = double{weights[index(i * taps + (piece.row + r * down.stride) * across.kernel +
                                             piece.column + c * across.stride)]};
        }
        const std::array<double, 4> sums = sums_of_taps(g, piece.rows);
        for (std::size_t r = 0; r < sums.size(); ++r) rows[r][index(c)] = sums[r];
      }
      for (int r = 0; r <= piece.rows; ++r) {
        const std::array<double, 4> sums = sums_of_taps(rows[index(r)], piece.columns);
        for (int c = 0; c <= piece.columns; ++c) {
          const std::size_t p = index(piece.point(r, c));
          const std::int64_t vector = meet[p] * windows_.channels + channel, vectors = most_.vectors[p];
          const std::int64_t place = way_ == Way::forward
                                         ? packed_place(windows_.units, vectors, unit, vector)
                                         : packed_place(vectors, windows_.units, vector, unit);
          weights_[p][index(place)] = static_cast<float>(sums[index(c)]);
        }
      }
    }
    for (int r = 0; r <= piece.rows; ++r) {
      for (int c = 0; c <= piece.columns; ++c) ++meet[index(piece.point(r, c))];
    }
  }
}

std::int64_t Winograd::scratch() const {
  return most_.operand_floats + static_cast<std::int64_t>(points) * most_.result_step + width +
         made() * width;
}

void Winograd::multiply(const Strip& strip, const float* from, float* to) const {
  const bool forward = way_ == Way::forward;
  for (std::size_t p = 0; p < points; ++p) {
    const std::int64_t result = static_cast<std::int64_t>(p) * strip.result_step;
    if (strip.map[p] != nullptr) {
      apply(*strip.map[p], from + (forward ? strip.begins[p] : result), weights_[p].data(), nullptr,
            Finish::none, false, to + (forward ? result : strip.begins[p]));
    } else if (forward) {
      std::fill_n(to + result, windows_.units * strip.count * width, 0.0F);
    }
  }
}

void Winograd::run(const float* operand, const float* bias, Finish finish, float* scratch, float* finite,
                   float* result) const {
  std::fill_n(finite, width, 0.0F);
  if (way_ == Way::back) fill(made(), 0, result);
  const WindowAxis &rows = windows_.axes[0], &columns = windows_.axes[1];
  const std::int64_t blocks = windows_.blocks();
  for (std::int64_t first = 0; first < blocks; first += most_.count) {
    const Strip& strip = blocks - first < most_.count ? last_ : most_;
    const BlocksOfFour of{.rows = rows.size,
                          .columns = columns.size,
                          .rows_out = rows.size_out,
                          .columns_out = columns.size_out,
                          .top = rows.zeros,
                          .left = columns.zeros,
                          .row_stride = rows.stride,
                          .column_stride = columns.stride,
                          .first = first,
                          .count = strip.count};
    float* const sums = scratch + strip.operand_floats;
    if (way_ == Way::forward) {
      points_of_operand(of, strip.pieces, windows_.channels, operand, scratch);
      multiply(strip, scratch, sums);
      results_of_points(of, windows_.units, strip.result_step, sums, bias, finish, finite, result);
    } else {
      points_of_gradients(of, windows_.units, strip.result_step, operand, sums);
      multiply(strip, sums, scratch);
      gradients_of_points(of, strip.pieces, windows_.channels, scratch, result);
    }
  }
  if (way_ == Way::back) note_finite(made(), result, finite);
}

void Winograd::run(const float* operand, const float* bias, Finish finish, bool add, float* scratch,
                   const std::function<void(float*)>& direct, float* result) const {
  float* const finite = scratch;
  float* const whole = finite + width;
  float* const rest = whole + made() * width;
  float* const target = add ? whole : result;
  run(operand, bias, finish, rest, finite, target);
  if (std::any_of(finite, finite + width, [](float zero) { return zero != 0; })) {
    thread_local ScratchBuffer of_exact;
    float* const exact = of_exact.floats(made() * width);
    direct(exact);
    for (std::int64_t i = 0; i < made(); ++i) {
      for (std::int64_t lane = 0; lane < width; ++lane)
        if (finite[lane] != 0) target[i * width + lane] = exact[i * width + lane];
    }
  }
  if (add) add_to(made(), whole, result);
}

}  // namespace assay::lanes
