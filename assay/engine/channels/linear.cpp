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

// Where a place of a grid is in a picture, so many positions apart along each axis.
std::int32_t offset_of(const Ints& place, const Ints& steps, const Value& picture) {
  std::int64_t at = 0;
  for (std::size_t d = 0; d < place.size(); ++d) at += place[d] * steps[d] * picture.strides[d + 1];
  return static_cast<std::int32_t>(at);
}

// Where the windows of all records begin in the operand, and where their taps are from there.
struct Windows {
  std::vector<std::int32_t> rows, taps;
};
std::vector<std::int32_t> rows_of(const Value& operand, const Ints& steps, const Ints& positions,
                                  std::int64_t records) {
  std::vector<std::int32_t> rows;
  for (std::int64_t r = 0; r < records; ++r) {
    each_of(positions, [&](const Ints& place) {
      rows.push_back(static_cast<std::int32_t>(r * operand.record) + offset_of(place, steps, operand));
    });
  }
  return rows;
}
Windows windows_of(const Value& operand, const SlidingWindow& window, const Shape& result,
                   std::int64_t records) {
  Windows found{rows_of(operand, window.strides, {result.begin() + 1, result.end()}, records), {}};
  each_of(window.kernel,
          [&](const Ints& place) { found.taps.push_back(offset_of(place, window.dilations, operand)); });
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
  std::optional<Added> added;
  Finish finish;
  ValueId result = no_value;
};

std::optional<Value> value_of(const std::optional<Added>& added) {
  return added ? std::optional(added->value) : std::nullopt;
}

// What the gradient is in front of the function and the sum that the result has passed.
Value before_finish(Compiler& compiler, const Folded& parts, const Value& result, const Value& gradient) {
  const Value given = parts.finish.function
                          ? through_function(compiler, *parts.finish.function, result, result, gradient)
                          : compiler.as(gradient, result.strides);
  if (parts.added) compiler.contribute(parts.added->id, given);
  return given;
}

void on_way_back(Compiler& compiler, const Folded& parts, const Value& result, Compiler::Step step) {
  std::vector<Value> kept;
  if (parts.finish.function) kept.push_back(result);
  compiler.on_way_back(parts.result, kept, std::move(step));
}

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

// A convolution on the way back: the gradient of a position of the operand comes from the results whose
// windows cover it. Positions that lie a stride apart are covered by the same taps: they are a phase.
struct Backwards {
  SlidingWindow window;
  std::int64_t groups = 1, units = 0, channels = 0;  // of a group
  std::vector<float> weights;                        // [groups * units][channels][taps]

  std::int64_t taps() const { return element_count(window.kernel); }
  float weight(std::int64_t group, std::int64_t unit, std::int64_t channel, std::int64_t tap) const {
    return weights[static_cast<std::size_t>(((group * units + unit) * channels + channel) * taps() + tap)];
  }
};

// Along an axis: which taps of the kernel meet the positions of a phase, and how many results the first
// position lies in front of each.
struct Meeting {
  std::int64_t tap = 0, shift = 0;
};
std::vector<Meeting> meetings(const SlidingWindow& window, std::size_t axis, std::int64_t phase) {
  std::vector<Meeting> found;
  const std::int64_t stride = window.strides[axis];
  for (std::int64_t k = window.kernel[axis]; k-- > 0;) {
    const std::int64_t at = phase + window.left[axis] - k * window.dilations[axis];
    if (at % stride == 0) found.push_back({k, at / stride});
  }
  return found;  // by ascending shift
}

// A phase: the positions of the operand from `first` on, a stride apart, and what meets them, by axis.
struct Phase {
  Ints first, positions;
  std::vector<std::vector<Meeting>> meetings;
};

std::vector<Phase> phases_of(const SlidingWindow& window, const Shape& operand) {
  std::vector<Phase> phases;
  each_of(window.strides, [&](const Ints& first) {
    Phase phase{first, {}, {}};
    for (std::size_t d = 0; d < first.size(); ++d) {
      phase.positions.push_back((operand[d + 1] - first[d] + window.strides[d] - 1) / window.strides[d]);
      phase.meetings.push_back(meetings(window, d, first[d]));
    }
    const bool met = std::ranges::none_of(phase.meetings, &std::vector<Meeting>::empty) &&
                     std::ranges::none_of(phase.positions, [](std::int64_t n) { return n <= 0; });
    if (met) phases.push_back(std::move(phase));
  });
  return phases;
}

// The gradient with the zeros around it, or without the borders, that the positions of the phase read.
Value framed(Compiler& compiler, const Phase& phase, const Value& gradient) {
  Shape shape = gradient.shape;
  Ints left;
  bool changed = false;
  for (std::size_t d = 0; d < phase.positions.size(); ++d) {
    const std::int64_t least = phase.meetings[d].front().shift, most = phase.meetings[d].back().shift;
    left.push_back(-least);
    shape[d + 1] = phase.positions[d] + most - least;
    changed |= least != 0 || shape[d + 1] != gradient.shape[d + 1];
  }
  if (!changed) return gradient;
  const Value result = compiler.temporary(shape, channels_last_strides(shape));
  compiler.add(std::make_unique<Pad>(gradient, result, left));
  return result;
}

// Taps of the kernel, as indices, that meet the phase, and where they read.
struct Covering {
  Ints taps;
  std::vector<std::int32_t> offsets;
};
Covering covering(const Phase& phase, const SlidingWindow& window, const Value& operand) {
  Covering found;
  const Ints ones(phase.meetings.size(), 1);
  Ints sizes;
  for (const auto& axis : phase.meetings) sizes.push_back(static_cast<std::int64_t>(axis.size()));
  each_of(sizes, [&](const Ints& which) {
    std::int64_t tap = 0;
    Ints place;
    for (std::size_t d = 0; d < which.size(); ++d) {
      const Meeting& at = phase.meetings[d][static_cast<std::size_t>(which[d])];
      tap = tap * window.kernel[d] + at.tap;
      place.push_back(at.shift - phase.meetings[d].front().shift);
    }
    found.taps.push_back(tap);
    found.offsets.push_back(offset_of(place, ones, operand));
  });
  return found;
}

// The gradients of the positions of a phase, as a value of its own.
void add_phase(Compiler& compiler, const Backwards& way, const Phase& phase, const Value& gradient,
               const Value& result, std::optional<Value> added) {
  const Value operand = framed(compiler, phase, gradient);
  const Covering covers = covering(phase, way.window, operand);
  const Ints ones(phase.positions.size(), 1);
  std::vector<std::int32_t> rows = rows_of(operand, ones, phase.positions, compiler.rows());
  if (way.units == 1 && way.channels == 1) {
    std::vector<float> weights;
    for (const std::int64_t tap : covers.taps) {
      for (std::int64_t g = 0; g < way.groups; ++g) weights.push_back(way.weight(g, 0, 0, tap));
    }
    compiler.add(std::make_unique<Depthwise>(
        operand, result, WindowMap{std::move(rows), covers.offsets, way.groups}, std::move(weights),
        std::vector<float>(static_cast<std::size_t>(way.groups)), Finish{}));
    return;
  }
  const std::vector<float> none(static_cast<std::size_t>(way.channels));
  std::vector<FloatBlock> groups;
  for (std::int64_t g = 0; g < way.groups; ++g) {
    std::vector<float> weights;
    for (std::int64_t c = 0; c < way.channels; ++c) {
      for (const std::int64_t tap : covers.taps) {
        for (std::int64_t u = 0; u < way.units; ++u) weights.push_back(way.weight(g, u, c, tap));
      }
    }
    const auto count = static_cast<std::int64_t>(covers.taps.size()) * way.units;
    groups.push_back(packed(way.channels, count, weights.data(), none.data()));
  }
  LinearMap map{std::move(rows), in_blocks(runs_of(covers.offsets, way.units)), way.channels,
                way.groups * way.channels, way.units};
  compiler.add(std::make_unique<Linear>(operand, result, std::move(map), std::move(groups), way.units,
                                        std::move(added), Finish{}));
}

// What the results of a convolution say of few channels: products of all taps at once, which would fill no
// vector one by one, are added where the taps lie. `to` is cleared before.
class Scatter : public Operation {
 public:
  Scatter(const Backwards& way, Value gradient, Value to)
      : window_(way.window), gradient_(std::move(gradient)), to_(std::move(to)), channels_(way.channels) {
    const std::int64_t units = way.taps() * channels_;
    std::vector<float> weights;
    for (std::int64_t tap = 0; tap < way.taps(); ++tap) {
      for (std::int64_t c = 0; c < channels_; ++c) {
        for (std::int64_t u = 0; u < way.units; ++u) weights.push_back(way.weight(0, u, c, tap));
      }
    }
    const std::vector<float> none(static_cast<std::size_t>(units));
    weights_ = packed(units, way.units, weights.data(), none.data());
    const Run run{0, static_cast<std::int32_t>(way.units)};
    map_ = {{}, in_blocks(std::span(&run, 1)), units, units, way.units};
    positions_ = {gradient_.shape.begin() + 1, gradient_.shape.end()};
    for (std::int64_t r = 0; r < together; ++r) map_.rows.push_back(static_cast<std::int32_t>(r * way.units));
  }

  void run(const Memory& memory, std::int64_t records) const override {
    thread_local std::vector<float> products;
    products.resize(static_cast<std::size_t>(together * map_.units));
    const std::int64_t rows = element_count(positions_);
    for (std::int64_t r = 0; r < records; ++r) {
      const float* const gradient = memory.at(gradient_) + r * gradient_.record;
      float* const to = memory.at(to_) + r * to_.record;
      for (std::int64_t first = 0; first < rows; first += together) {
        const std::int64_t count = std::min(together, rows - first);
        apply(map_, 0, count, gradient + first * gradient_.shape[0], weights_.get(), products.data());
        for (std::int64_t i = 0; i < count; ++i) add(first + i, products.data() + i * map_.units, to);
      }
    }
  }

 private:
  // The taps of the window at a position, from the outermost axis to the nearest.
  void add(std::int64_t position, const float* products, float* to) const {
    Ints begin(positions_.size());
    for (std::size_t d = begin.size(); d-- > 0; position /= positions_[d])
      begin[d] = position % positions_[d] * window_.strides[d] - window_.left[d];
    along(0, begin, products, to);
  }
  void along(std::size_t axis, const Ints& begin, const float* products, float* to) const {
    if (axis == begin.size()) {
      for (std::int64_t c = 0; c < channels_; ++c) to[c] += products[c];
      return;
    }
    std::int64_t below = channels_;
    for (std::size_t d = axis + 1; d < begin.size(); ++d) below *= window_.kernel[d];
    for (std::int64_t k = 0; k < window_.kernel[axis]; ++k, products += below) {
      const std::int64_t at = begin[axis] + k * window_.dilations[axis];
      if (at >= 0 && at < to_.shape[axis + 1])
        along(axis + 1, begin, products, to + at * to_.strides[axis + 1]);
    }
  }

  static constexpr std::int64_t together = 96;  // positions whose products stay near

  SlidingWindow window_;
  Value gradient_, to_;
  std::int64_t channels_;
  FloatBlock weights_;
  LinearMap map_;
  Ints positions_;
};

// Adds to the gradient of a convolution's operand. `gradient` lies with channels last.
void bring_back(Compiler& compiler, const Backwards& way, ValueId operand, const Value& gradient) {
  const Shape shape = compiler.shape(operand), strides = channels_last_strides(shape);
  constexpr std::int64_t few_channels = 8;
  if (way.groups == 1 && way.channels < few_channels && way.units > 1) {
    const Value part = compiler.temporary(shape, strides);
    compiler.add(clearing(part));
    compiler.add(std::make_unique<Scatter>(way, gradient, part));
    return compiler.contribute(operand, part);
  }
  const std::vector<Phase> phases = phases_of(way.window, shape);
  const bool single = element_count(way.window.strides) == 1 && phases.size() == 1;
  const Value part = compiler.temporary(shape, strides);
  if (single) {
    const bool sums = way.units > 1 || way.channels > 1;
    add_phase(compiler, way, phases[0], gradient, part,
              sums ? compiler.take_gradient(operand, strides) : std::nullopt);
    return compiler.contribute(operand, part);
  }
  compiler.add(clearing(part));
  for (const Phase& phase : phases) {
    Value seen = part;
    for (std::size_t d = 0; d < phase.first.size(); ++d) {
      seen.offset += phase.first[d] * strides[d + 1];
      seen.strides[d + 1] *= way.window.strides[d];
      seen.shape[d + 1] = phase.positions[d];
    }
    const Value own = compiler.temporary(seen.shape, channels_last_strides(seen.shape));
    add_phase(compiler, way, phase, gradient, own, std::nullopt);
    compiler.add(arrangement(own, seen));
  }
  compiler.contribute(operand, part);
}

// Products of the last axis with weights [units][inputs]. All lie plainly.
void add_dense(Compiler& compiler, const Value& operand, const Value& result,
               const std::vector<float>& weights, const std::vector<float>& bias, std::optional<Value> added,
               const Finish& finish) {
  const std::int64_t inputs = operand.shape.back(), units = result.shape.back();
  LinearMap map{{}, {}, units, units, inputs};
  for (std::int64_t r = 0, rows = compiler.rows() * (operand.count() / inputs); r < rows; ++r)
    map.rows.push_back(static_cast<std::int32_t>(r * inputs));
  const Run run{0, static_cast<std::int32_t>(inputs)};
  map.blocks = in_blocks(std::span(&run, 1));
  std::vector<FloatBlock> panels;
  panels.push_back(packed(units, inputs, weights.data(), bias.data()));
  compiler.add(std::make_unique<Linear>(operand, result, std::move(map), std::move(panels), 0,
                                        std::move(added), finish));
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
  const Folded parts = folded(compiler, node, strides, !depthwise);
  const Value operand = padded(compiler, node.inputs[0], window);
  const Value result = compiler.fresh(shape, strides);
  Windows windows = windows_of(operand, window, shape, compiler.rows());
  if (depthwise)
    compile_depthwise(compiler, operand, result, std::move(windows), parts);
  else
    compile_groups(compiler, operand, result, std::move(windows), groups, parts);
  compiler.define(parts.result, result);
  const Backwards way{window, groups, units, channels, parts.weights};
  on_way_back(compiler, parts, result, [=, &compiler, in = node.inputs[0]](const Value& gradient) {
    const Value given = before_finish(compiler, parts, result, gradient);
    if (compiler.carries_gradient(in)) bring_back(compiler, way, in, given);
  });
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
  return has_bias_of_units(graph, node);
}

void compile_dense(Compiler& compiler, const Node& node) {
  const Value operand = compiler.plainly(node.inputs[0]);
  const Shape shape = compiler.shape(node.outputs[0]), strides = plain_strides(shape);
  const Folded parts = folded(compiler, node, strides, true);
  const std::int64_t inputs = operand.shape.back(), units = shape.back();
  const Value result = compiler.fresh(shape, strides);
  add_dense(compiler, operand, result, parts.weights, parts.bias, value_of(parts.added), parts.finish);
  compiler.define(parts.result, result);
  on_way_back(compiler, parts, result, [=, &compiler, in = node.inputs[0]](const Value& gradient) {
    const Value given = before_finish(compiler, parts, result, gradient);
    if (!compiler.carries_gradient(in)) return;
    std::vector<float> weights(parts.weights.size());
    turn(units, inputs, inputs, parts.weights.data(), units, weights.data());
    const Value part = compiler.temporary(operand.shape, operand.strides);
    add_dense(compiler, given, part, weights, std::vector<float>(static_cast<std::size_t>(inputs)),
              compiler.take_gradient(in, operand.strides), {});
    compiler.contribute(in, part);
  });
}

}  // namespace assay::channels
