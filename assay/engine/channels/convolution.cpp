// Convolutions.

#include "assay/engine/channels/linear.h"

namespace assay::channels {
namespace {

// The operand with the padding of the windows around it.
Value padded(Compiler& compiler, ValueId id, const SlidingWindow& window) {
  const Value plain = compiler.channels_last(id);
  Shape shape = plain.shape;
  bool changed = false;
  for (std::size_t d = 0; d < window.left.size(); ++d) {
    // Rows that no window reads are left where they are.
    const std::int64_t more = window.left[d] + std::max<std::int64_t>(window.right[d], 0);
    changed |= more != 0;
    shape[d + 1] += more;
  }
  if (!changed) return plain;
  const Value result = compiler.temporary(shape, channels_last_strides(shape));
  compiler.add(std::make_unique<Pad>(plain, result, window.left));
  return result;
}
// Where the windows of all records begin in the operand, and where their taps are from there.
struct Windows {
  std::vector<std::int32_t> rows, taps;
};
Windows windows_of(const Value& operand, const SlidingWindow& window, const Shape& result,
                   std::int64_t records) {
  Windows found{rows_of(operand, window.strides, {result.begin() + 1, result.end()}, records), {}};
  each_of(window.kernel,
          [&](const Ints& place) { found.taps.push_back(offset_of(place, window.dilations, operand)); });
  return found;
}
// From [units][channels][taps] to [units][taps][channels].
std::vector<float> by_taps(const float* weights, std::int64_t units, std::int64_t channels,
                           std::int64_t taps) {
  std::vector<float> turned(static_cast<std::size_t>(units * channels * taps));
  for (std::int64_t u = 0; u < units; ++u) {
    const std::int64_t unit = u * channels * taps;
    turn(channels, taps, taps, weights + unit, channels, turned.data() + unit);
  }
  return turned;
}
void compile_depthwise(Compiler& compiler, const Value& operand, const Value& result, Windows windows,
                       const Folded& parts) {
  const auto taps = static_cast<std::int64_t>(windows.taps.size());
  const std::int64_t channels = result.shape[0];
  std::vector<float> weights(parts.weights.size());
  turn(channels, taps, taps, parts.weights.data(), channels, weights.data());
  compiler.add(std::make_unique<Depthwise>(
      operand, result, WindowMap{std::move(windows.rows), std::move(windows.taps), channels},
      std::move(weights), parts.bias, parts.finish));
}

void compile_groups(Compiler& compiler, const Value& operand, const Value& result, Windows windows,
                    std::int64_t groups, const Folded& parts) {
  const auto taps = static_cast<std::int64_t>(windows.taps.size());
  const std::int64_t units = result.shape[0] / groups, channels = operand.shape[0] / groups;
  std::vector<FloatBlock> weights;
  for (std::int64_t g = 0; g < groups; ++g) {
    const std::vector<float> turned =
        by_taps(parts.weights.data() + g * units * channels * taps, units, channels, taps);
    weights.push_back(packed(units, channels * taps, turned.data(), parts.bias.data() + g * units));
  }
  LinearMap map{std::move(windows.rows), in_blocks(runs_of(windows.taps, channels)), units, result.shape[0],
                channels};
  compiler.add(std::make_unique<Linear>(operand, result, std::move(map), std::move(weights), channels,
                                        value_of(parts.added), parts.finish));
}
}  // namespace

bool supports_convolution(const Graph& graph, const Node& node, const ShapeOf& shape_of) {
  const Shape& input = shape_of(node.inputs[0]);
  if (input.size() < 3 || !is_float_constant(graph, node, 1)) return false;
  const bool has_bias = node.inputs.size() > 2 && node.inputs[2] != no_value;
  if (has_bias && !is_float_constant(graph, node, 2)) return false;
  return graph.constant(node.inputs[1]).shape().size() == input.size();
}

void compile_convolution(Compiler& compiler, const Node& node) {
  const Shape kernel = compiler.graph().constant(node.inputs[1]).shape();
  const SlidingWindow window =
      sliding_window(node, compiler.whole_shape(node.inputs[0]), compiler.whole_shape(node.outputs[0]),
                     {kernel.begin() + 2, kernel.end()});
  const std::int64_t groups = node.integer("group", 1), units = kernel[0] / groups, channels = kernel[1];
  const Shape shape = compiler.shape(node.outputs[0]), strides = channels_last_strides(shape);
  const bool depthwise = channels == 1 && units == 1;
  Folded parts = folded(compiler, node, strides, !depthwise);
  const Value operand = padded(compiler, node.inputs[0], window);
  const Value result = compiler.fresh(shape, strides);
  Windows windows = windows_of(operand, window, shape, compiler.rows());
  if (depthwise)
    compile_depthwise(compiler, operand, result, std::move(windows), parts);
  else
    compile_groups(compiler, operand, result, std::move(windows), groups, parts);
  compiler.define(parts.result, result);
  if (!compiler.carries_gradient(parts.result)) return;
  Backwards back{window, groups, units, channels, std::move(parts.weights)};
  on_way_back(compiler, parts, result,
              [=, &compiler, way = std::move(back), in = node.inputs[0]](const Value& gradient) {
                const Value given = before_finish(compiler, parts, result, gradient);
                if (compiler.carries_gradient(in)) bring_back(compiler, way, in, given);
              });
}
}  // namespace assay::channels
