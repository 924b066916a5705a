// What the sums before and after the products of lanes/winograd.h and channels/winograd.h can round away.
//
// Along an axis, a result is a sum of at most three points, and a point is a product of a sum of at most two
// elements with a weight that is made of taps. So a tap meets the elements around a result more often than
// once: by its gain, which is the sum over those points of the elements that are summed times the tap's
// factor. Errors are relative to sums of magnitudes, so to gains of taps times the greatest element.

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "assay/engine/channels/winograd.h"
#include "assay/engine/direct_sums.h"
#include "assay/engine/lanes/operators.h"
#include "assay/engine/lanes/winograd.h"

namespace assay::channels {
namespace {

using lanes::Piece, lanes::WindowAxis, lanes::WinogradWindows;

// By taps of a piece, less one; by result of a block; by tap.
constexpr double gains_of_piece[3][2][3] = {
    {{1, 0, 0}, {1, 0, 0}}, {{3, 1, 0}, {1, 3, 0}}, {{4, 2, 2}, {2, 2, 4}}};

// Of each tap of the kernel along the axis, for one of the two results of a block.
std::vector<double> gains_along(const WindowAxis& axis, std::size_t result) {
  std::vector<double> gains(axis.kernel);
  for (const Piece& piece : pieces_of(axis)) {
    for (std::int64_t t = 0; t < piece.taps; ++t)
      gains[piece.first + t * axis.stride] = gains_of_piece[piece.taps - 1][result][t];
  }
  return gains;
}

// The greatest over the results of a block.
double gain_of(std::span<const float> taps, const std::array<std::vector<double>, 2>& down,
               const std::array<std::vector<double>, 2>& across) {
  double greatest = 0;
  for (const std::vector<double>& rows : down) {
    for (const std::vector<double>& columns : across) {
      double sum = 0;
      for (std::size_t r = 0; r < rows.size(); ++r)
        for (std::size_t c = 0; c < columns.size(); ++c)
          sum += rows[r] * columns[c] * std::abs(double{taps[r * columns.size() + c]});
      greatest = std::max(greatest, sum);
    }
  }
  return greatest;
}

// Roundings one after the other: two for points of the operand, one of the weight, a product and its place in
// the sum of all pieces and channels, five for results and bias; some more, as sums in double precision are
// taken as exact.
double share_of(const WinogradWindows& windows) {
  constexpr double unit = 0x1p-24, others = 12;
  const double pieces = pieces_of(windows.axes[0]).size() * pieces_of(windows.axes[1]).size();
  const double share = (pieces * static_cast<double>(windows.channels) + others) * unit;
  return share / (1 - share) * 1.01;
}

// Of any engine. Channels side by side are transformed as lanes are: blocks of 3 x 3 taps in one piece.
std::optional<WinogradWindows> transformed_windows(const Node& node, const Shape& weights, const Shape& input,
                                                   const Shape& output) {
  const Shape kernel{weights[2], weights[3]};
  if (auto windows = lanes::winograd_windows(node, kernel, input, output)) return windows;
  const SlidingWindow window = sliding_window(node, input, output, kernel);
  const auto grid =
      grid_of(node, window, {input.begin() + 1, input.end()}, {output.begin() + 1, output.end()});
  if (!grid) return std::nullopt;
  const WindowAxis rows{.size = grid->rows, .size_out = grid->rows_out, .kernel = kernel[0]},
      columns{.size = grid->columns, .size_out = grid->columns_out, .kernel = kernel[1]};
  return WinogradWindows{.channels = grid->channels, .units = grid->units, .axes = {rows, columns}};
}

}  // namespace
}  // namespace assay::channels

namespace assay::inline engine {

std::optional<TransformRounding> transform_rounding(const Graph& graph, const Node& node, const Shape& input,
                                                    const Shape& output) {
  const Array weights = graph.constant(node.inputs[1]).to(DType::float32).contiguous();
  if (weights.shape().size() != 4) return std::nullopt;
  const auto windows = channels::transformed_windows(node, weights.shape(), input, output);
  if (!windows) return std::nullopt;
  const auto both = [&](std::size_t axis) {
    return std::array{channels::gains_along(windows->axes[axis], 0),
                      channels::gains_along(windows->axes[axis], 1)};
  };
  const auto down = both(0), across = both(1);
  TransformRounding rounding{.gains = {}, .share = channels::share_of(*windows)};
  const std::size_t taps = down[0].size() * across[0].size(), kernels = windows->units * windows->channels;
  for (std::size_t k = 0; k < kernels; ++k) {
    const double gain = channels::gain_of(weights.as<float>().subspan(k * taps, taps), down, across);
    rounding.gains.push_back(
        std::nextafter(static_cast<float>(gain), std::numeric_limits<float>::infinity()));
  }
  return rounding;
}

}  // namespace assay::inline engine
