// Convolutions and dense layers: pictures are padded first, so that all windows read their operand at the
// same offsets.

#include <algorithm>
#include <cstring>

#include "assay/engine/channels/functions.h"
#include "assay/engine/channels/operators.h"

namespace assay::channels {
namespace {

using Ints = std::vector<std::int64_t>;

// A picture with zeros around it, channels last. What lies beyond a negative padding is cut off.
class Pad : public Operation {
 public:
  // `left`: by axis after the channels.
  Pad(Value from, Value to, Ints left) : from_(std::move(from)), to_(std::move(to)), left_(std::move(left)) {}
  void run(const Memory& memory, std::int64_t records) const override {
    for (std::int64_t r = 0; r < records; ++r)
      copy(1, memory.at(from_) + r * from_.record, memory.at(to_) + r * to_.record);
  }

 private:
  static void clear(float* to, std::int64_t count) {
    std::memset(to, 0, static_cast<std::size_t>(count) * sizeof(float));
  }
  void copy(std::size_t axis, const float* from, float* to) const {
    const std::int64_t step = from_.strides[axis], step_to = to_.strides[axis], left = left_[axis - 1];
    const std::int64_t begin = std::clamp<std::int64_t>(left, 0, to_.shape[axis]),
                       end = std::clamp<std::int64_t>(left + from_.shape[axis], begin, to_.shape[axis]);
    clear(to, begin * step_to);
    clear(to + end * step_to, (to_.shape[axis] - end) * step_to);
    from += (begin - left) * step;
    to += begin * step_to;
    if (axis + 1 == from_.shape.size()) {
      std::memcpy(to, from, static_cast<std::size_t>((end - begin) * step_to) * sizeof(float));
      return;
    }
    for (std::int64_t i = begin; i < end; ++i, from += step, to += step_to) copy(axis + 1, from, to);
  }

  Value from_, to_;
  Ints left_;
};

class Linear : public Operation {
 public:
  // For every group: the map is the same, what differs is where operand, weights and result begin.
  Linear(Value operand, Value result, LinearMap map, std::vector<FloatBlock> groups, std::int64_t group_step,
         std::optional<Value> added, Finish finish)
      : operand_(std::move(operand)),
        result_(std::move(result)),
        map_(std::move(map)),
        groups_(std::move(groups)),
        group_step_(group_step),
        added_(std::move(added)),
        finish_(finish),
        rows_(result_.count() / map_.result_step) {}

  void run(const Memory& memory, std::int64_t records) const override {
    const float* const operand = memory.at(operand_);
    float* const result = memory.at(result_);
    constexpr std::int64_t together = 240;  // rows whose numbers stay in a second-level cache
    const std::int64_t rows = records * rows_;
    for (std::int64_t first = 0; first < rows; first += together) {
      const std::int64_t count = std::min(together, rows - first);
      for (std::size_t g = 0; g < groups_.size(); ++g) {
        const auto group = static_cast<std::int64_t>(g);
        apply(map_, first, count, operand + group * group_step_, groups_[g].get(),
              result + group * map_.units);
      }
      float* const made = result + first * map_.result_step;
      if (added_) {
        const float* const added = memory.at(*added_) + first * map_.result_step;
        apply({.kind = lanes::Binary::add, .inner = count * map_.result_step}, made, added, made);
      }
      apply_in_place(finish_, count * map_.result_step, made);
    }
  }

 private:
  Value operand_, result_;
  LinearMap map_;
  std::vector<FloatBlock> groups_;  // packed weights
  std::int64_t group_step_;
  std::optional<Value> added_;
  Finish finish_;
  std::int64_t rows_;  // of a record
};

class Depthwise : public Operation {
 public:
  Depthwise(Value operand, Value result, WindowMap map, std::vector<float> weights, std::vector<float> bias,
            Finish finish)
      : operand_(std::move(operand)),
        result_(std::move(result)),
        map_(std::move(map)),
        weights_(std::move(weights)),
        bias_(std::move(bias)),
        finish_(finish) {}

  void run(const Memory& memory, std::int64_t records) const override {
    float* const result = memory.at(result_);
    convolve(map_, records * (result_.count() / map_.channels), memory.at(operand_), weights_.data(),
             bias_.data(), result);
    apply_in_place(finish_, records * result_.count(), result);
  }

 private:
  Value operand_, result_;
  WindowMap map_;
  std::vector<float> weights_, bias_;
  Finish finish_;
};

// Calls body(place) for all places of a grid, in order.
template <typename Body>
void each_of(const Ints& sizes, const Body& body) {
  Ints place(sizes.size(), 0);
  for (std::int64_t i = 0, all = element_count(sizes); i < all; ++i) {
    body(place);
    for (std::size_t d = sizes.size(); d-- > 0 && ++place[d] == sizes[d];) place[d] = 0;
  }
}

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
  Windows found;
  const Ints positions(result.begin() + 1, result.end());
  const auto place_of = [&](const Ints& place, const Ints& steps) {
    std::int64_t at = 0;
    for (std::size_t d = 0; d < place.size(); ++d) at += place[d] * steps[d] * operand.strides[d + 1];
    return at;
  };
  for (std::int64_t r = 0; r < records; ++r) {
    each_of(positions, [&](const Ints& place) {
      found.rows.push_back(static_cast<std::int32_t>(r * operand.record + place_of(place, window.strides)));
    });
  }
  each_of(window.kernel, [&](const Ints& place) {
    found.taps.push_back(static_cast<std::int32_t>(place_of(place, window.dilations)));
  });
  return found;
}

// Taps that lie side by side are one run.
std::vector<Run> runs_of(std::span<const std::int32_t> taps, std::int64_t channels) {
  std::vector<Run> runs;
  const auto length = static_cast<std::int32_t>(channels);
  for (const std::int32_t tap : taps) {
    if (!runs.empty() && runs.back().offset + runs.back().length == tap)
      runs.back().length += length;
    else
      runs.push_back({tap, length});
  }
  return runs;
}

// Weights and bias after what is folded into them, and the value that is computed then.
struct Folded {
  std::vector<float> weights, bias;
  std::optional<Value> added;
  Finish finish;
  ValueId result = no_value;
};

// `strides` of the result.
Folded folded(Compiler& compiler, const Node& node, const Shape& strides, bool sums) {
  const Graph& graph = compiler.graph();
  Folded parts;
  parts.result = node.outputs[0];
  if (node.op == "Conv") {
    const Array& kernel = graph.constant(node.inputs[1]);
    parts.weights = floats(kernel);
    parts.bias.resize(static_cast<std::size_t>(kernel.shape()[0]));
    if (node.inputs.size() > 2 && node.inputs[2] != no_value)
      parts.bias = floats(graph.constant(node.inputs[2]));
  } else {
    dense_parameters(graph, node, parts.weights, parts.bias);
    if (node.op == "MatMul") parts.result = compiler.absorber().added_bias(parts.result, parts.bias);
  }
  // Of [N, units] and [N, units, ...] alone the units of a layer are the channels of a normalisation.
  if (node.op == "Conv" || compiler.shape(node.outputs[0]).size() == 1)
    parts.result = compiler.absorber().normalisation(parts.result, parts.weights, parts.bias);
  if (sums) parts.result = compiler.absorb_sum(parts.result, strides, parts.added);
  parts.result = compiler.absorb_function(parts.result, parts.finish);
  return parts;
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
                       Folded parts) {
  const auto taps = static_cast<std::int64_t>(windows.taps.size());
  const std::int64_t channels = result.shape[0];
  std::vector<float> weights(parts.weights.size());
  turn(channels, taps, taps, parts.weights.data(), channels, weights.data());
  compiler.add(std::make_unique<Depthwise>(
      operand, result, WindowMap{std::move(windows.rows), std::move(windows.taps), channels},
      std::move(weights), std::move(parts.bias), parts.finish));
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
  const ValueId computed = parts.result;
  if (depthwise) {
    compile_depthwise(compiler, operand, result, std::move(windows), std::move(parts));
    return compiler.define(computed, result);
  }
  const auto taps = static_cast<std::int64_t>(windows.taps.size());
  std::vector<FloatBlock> weights;
  for (std::int64_t g = 0; g < groups; ++g) {
    const std::vector<float> turned =
        by_taps(parts.weights.data() + g * units * channels * taps, units, channels, taps);
    weights.push_back(packed(units, channels * taps, turned.data(), parts.bias.data() + g * units));
  }
  LinearMap map{std::move(windows.rows), in_blocks(runs_of(windows.taps, channels)), units, shape[0],
                channels};
  compiler.add(std::make_unique<Linear>(operand, result, std::move(map), std::move(weights), channels,
                                        std::move(parts.added), parts.finish));
  compiler.define(computed, result);
}

bool supports_dense(const Graph& graph, const Node& node, const ShapeOf& shape_of) {
  const Shape& input = shape_of(node.inputs[0]);
  if (graph.is_constant(node.inputs[0]) || !is_float_constant(graph, node, 1)) return false;
  if (graph.constant(node.inputs[1]).shape().size() != 2 || input.size() < 2) return false;
  if (node.op == "Gemm") {
    if (node.integer("transA", 0) != 0) return false;
    const bool has_bias = node.inputs.size() > 2 && node.inputs[2] != no_value;
    if (has_bias && !is_float_constant(graph, node, 2)) return false;
  }
  std::vector<float> weights, bias;
  return dense_parameters(graph, node, weights, bias);
}

void compile_dense(Compiler& compiler, const Node& node) {
  const Value operand = compiler.plainly(node.inputs[0]);
  const Shape shape = compiler.shape(node.outputs[0]), strides = plain_strides(shape);
  Folded parts = folded(compiler, node, strides, true);
  const std::int64_t inputs = operand.shape.back(), units = shape.back();
  const Value result = compiler.fresh(shape, strides);
  LinearMap map{{}, {}, units, units, inputs};
  for (std::int64_t r = 0, rows = compiler.rows() * (operand.count() / inputs); r < rows; ++r)
    map.rows.push_back(static_cast<std::int32_t>(r * inputs));
  const Run run{0, static_cast<std::int32_t>(inputs)};
  map.blocks = in_blocks(std::span(&run, 1));
  std::vector<FloatBlock> weights;
  weights.push_back(packed(units, inputs, parts.weights.data(), parts.bias.data()));
  compiler.add(std::make_unique<Linear>(operand, result, std::move(map), std::move(weights), 0,
                                        std::move(parts.added), parts.finish));
  compiler.define(parts.result, result);
}

}  // namespace assay::channels
