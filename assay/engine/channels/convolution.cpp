// Convolutions, and transposed ones.

#include "assay/array/transposed.h"
#include "assay/engine/channels/linear.h"
#include "assay/engine/channels/winograd.h"
#include "assay/engine/padding.h"

namespace assay::channels {
namespace {

// An operand that lies with channels last, with the padding of the windows around it.
Value padded(Compiler& compiler, const Value& plain, const SlidingWindow& window) {
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
void write_by_taps(const float* weights, std::int64_t units, std::int64_t channels, std::int64_t taps,
                   float* to) {
  for (std::int64_t u = 0; u < units; ++u) {
    const std::int64_t unit = u * channels * taps;
    array::write_transposed(channels, taps, taps, weights + unit, channels, to + unit);
  }
}
std::vector<float> by_taps(const float* weights, std::int64_t units, std::int64_t channels,
                           std::int64_t taps) {
  std::vector<float> transposed(units * channels * taps);
  write_by_taps(weights, units, channels, taps, transposed.data());
  return transposed;
}
void compile_depthwise(Compiler& compiler, const Value& operand, const Value& result, Windows windows,
                       const Folded& parts) {
  const auto taps = std::ssize(windows.taps);
  const std::int64_t channels = result.shape[0];
  std::vector<float> weights(parts.weights.size());
  array::write_transposed(channels, taps, taps, parts.weights.data(), channels, weights.data());
  compiler.add(std::make_unique<Depthwise>(
      operand, result, WindowMap{std::move(windows.rows), std::move(windows.taps), channels},
      std::move(weights), parts.bias, parts.finish));
}

void compile_groups(Compiler& compiler, const Value& operand, const Value& result, Windows windows,
                    std::int64_t groups, const Folded& parts) {
  const auto taps = std::ssize(windows.taps);
  const std::int64_t units = result.shape[0] / groups, channels = operand.shape[0] / groups;
  std::vector<FloatBlock> weights;
  for (std::int64_t g = 0; g < groups; ++g) {
    const std::vector<float> transposed =
        by_taps(parts.weights.data() + g * units * channels * taps, units, channels, taps);
    weights.push_back(packed(units, channels * taps, transposed.data(), parts.bias.data() + g * units));
  }
  LinearMap map{std::move(windows.rows), in_blocks(runs_of(windows.taps, channels)), units, result.shape[0],
                channels};
  compiler.add(std::make_unique<Linear>(operand, result, std::move(map), std::move(weights), channels,
                                        value_of(parts.added), parts.finish));
}
// `grid`: where fewer products than those of the definition do.
void add_convolution(Compiler& compiler, const Value& plain, const Value& result, const SlidingWindow& window,
                     std::int64_t groups, const std::optional<BlockGrid>& grid, const Folded& parts) {
  if (grid && !parts.bytes) {
    const Filters filters{by_taps(parts.weights.data(), grid->units, grid->channels, 9), parts.bias,
                          value_of(parts.added), parts.finish};
    return compiler.add(with_fewer_products(*grid, plain, result, filters, compiler.rows()));
  }
  const Value operand = padded(compiler, plain, window);
  Windows windows = windows_of(operand, window, result.shape, compiler.rows());
  if (operand.shape[0] == groups && result.shape[0] == groups)
    compile_depthwise(compiler, operand, result, std::move(windows), parts);
  else if (parts.bytes)
    compiler.add(byte_products(compiler, operand, result, *parts.bytes,
                               {std::move(windows.rows), runs_of(windows.taps, operand.shape[0] / groups),
                                operand.shape[0] / groups},
                               parts.bias, value_of(parts.added), parts.finish));
  else
    compile_groups(compiler, operand, result, std::move(windows), groups, parts);
}

bool has_float_kernel(const Graph& graph, const Node& node, const ShapeOf& shape_of) {
  const Shape& input = shape_of(node.inputs[0]);
  if (input.size() < 3 || !is_float_constant(graph, node, 1)) return false;
  const bool has_bias = node.inputs.size() > 2 && node.inputs[2] != no_value;
  if (has_bias && !is_float_constant(graph, node, 2)) return false;
  return graph.constant(node.inputs[1]).shape().size() == input.size();
}

// The way back from the results of a ConvTranspose, whose kernel is [operand's][group's results][taps].
Backwards way_of_transposed(const Graph& graph, const Node& node, const Shape& input, const Shape& output) {
  const Array& kernel = graph.constant(node.inputs[1]);
  const Shape& sizes = kernel.shape();
  const std::int64_t groups = node.integer("group", 1);
  return {transposed_window(node, input, output, {sizes.begin() + 2, sizes.end()}), groups, sizes[0] / groups,
          sizes[1], floats(kernel)};
}
}  // namespace

bool supports_convolution(const Graph& graph, const Node& node, const ShapeOf& shape_of) {
  return has_float_kernel(graph, node, shape_of);
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
  const Value operand = compiler.channels_last(node.inputs[0]);
  const Value result = compiler.fresh(shape, strides);
  const std::optional<BlockGrid> grid = grid_of(node, window, operand.shape, shape);
  const std::int64_t taps = element_count(window.kernel);
  if (channels % 4 == 0 && !is_direct(node)) {
    parts.bytes = byte_layer_of(compiler.graph(), node.inputs[0], groups, units, channels * taps,
                                [&](std::int64_t first, std::int64_t count, float* to) {
                                  write_by_taps(parts.weights.data() + first * channels * taps, count,
                                                channels, taps, to);
                                });
  }
  add_convolution(compiler, operand, result, window, groups, grid, parts);
  compiler.define(parts.result, result);
  if (!compiler.carries_gradient(parts.result)) return;
  Backwards back{window, groups, units, channels, std::move(parts.weights), is_direct(node)};
  on_way_back(compiler, parts, result,
              [=, &compiler, way = std::move(back), in = node.inputs[0]](const Value& gradient) {
                const Value given = before_finish(compiler, parts, result, gradient);
                if (compiler.carries_gradient(in)) bring_back(compiler, way, in, given);
              });
}

// Results that no tap meets would be the bias alone: that is left to others.
bool supports_transposed(const Graph& graph, const Node& node, const ShapeOf& shape_of) {
  if (!has_float_kernel(graph, node, shape_of)) return false;
  const Shape &input = shape_of(node.inputs[0]), &output = shape_of(node.outputs[0]);
  return meets_all(way_of_transposed(graph, node, input, output).window, {output.begin() + 1, output.end()});
}

void compile_transposed(Compiler& compiler, const Node& node) {
  const Graph& graph = compiler.graph();
  Backwards way = way_of_transposed(graph, node, compiler.whole_shape(node.inputs[0]),
                                    compiler.whole_shape(node.outputs[0]));
  const Shape shape = compiler.shape(node.outputs[0]);
  Folded parts;
  parts.bias.resize(shape[0]);
  if (node.inputs.size() > 2 && node.inputs[2] != no_value)
    parts.bias = floats(graph.constant(node.inputs[2]));
  parts.result = compiler.absorb_function(node.outputs[0], parts.finish);
  const Value operand = compiler.channels_last(node.inputs[0]);
  const Value result = compiler.fresh(shape, channels_last_strides(shape));
  add_transposed(compiler, way, operand, result, {parts.bias, {}, parts.finish});
  compiler.define(parts.result, result);
  if (!compiler.carries_gradient(parts.result)) return;
  on_way_back(compiler, parts, result,
              [=, &compiler, &node, way = std::move(way), in = node.inputs[0]](const Value& gradient) {
                const Value given = before_finish(compiler, parts, result, gradient);
                if (!compiler.carries_gradient(in)) return;
                const Value part = compiler.temporary(operand.shape, operand.strides);
                Folded back;
                back.weights = way.weights;
                back.bias.resize(operand.shape[0]);
                add_convolution(compiler, given, part, way.window, way.groups,
                                grid_of(node, way.window, given.shape, part.shape), back);
                compiler.contribute(in, part);
              });
}
}  // namespace assay::channels
