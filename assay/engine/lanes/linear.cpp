// Convolutions, their transposes and dense layers: one operation, told apart by who reads what.

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <optional>

#include "assay/engine/direct_sums.h"
#include "assay/engine/lanes/operators.h"
#include "assay/engine/lanes/winograd.h"
#include "assay/engine/padding.h"

namespace assay::lanes {
namespace {

using Ints = std::vector<std::int64_t>;

std::int32_t place32(std::int64_t value) { return static_cast<std::int32_t>(value); }

// Where channels and positions of an operand or result lie: elements from one to the next.
struct Side {
  std::int64_t channels = 0, channel_step = 0, position_step = 1;
};

// The reads of a position: (position, weight) in order.
using Reads = std::vector<std::pair<std::int64_t, std::int64_t>>;

// Positions that read alike, each from another position, are one pattern.
std::vector<Pattern> patterns_of(const std::vector<Reads>& reads, const Side& in, const Side& out) {
  std::map<Reads, std::size_t> known;
  std::vector<Pattern> patterns;
  for (std::size_t to = 0; to < reads.size(); ++to) {
    const std::int64_t from = reads[to].empty() ? 0 : reads[to][0].first;
    Reads relative = reads[to];
    for (auto& [at, weight] : relative) at -= from;
    const auto [entry, added] = known.emplace(relative, patterns.size());
    if (added) {
      Pattern& pattern = patterns.emplace_back();
      for (const auto& [at, weight] : relative)
        pattern.taps.push_back({place32(at * in.position_step * width), place32(weight)});
    }
    patterns[entry->second].places.push_back(
        {place32(from * in.position_step * width),
         place32(static_cast<std::int64_t>(to) * out.position_step * width)});
  }
  return patterns;
}

// Visits the indices of a box in order.
template <typename Visit>
void each_index(const Ints& sizes, const Visit& visit) {
  Ints at(sizes.size(), 0);
  for (std::int64_t i = 0, all = element_count(sizes); i < all; ++i) {
    visit(at, i);
    for (std::size_t d = sizes.size(); d-- > 0;) {
      if (++at[d] < sizes[d]) break;
      at[d] = 0;
    }
  }
}

// The elements that every position of a convolution's result reads inside its operand's picture.
std::vector<Reads> window_reads(const SlidingWindow& window, const Ints& in, const Ints& out) {
  std::vector<Reads> reads(element_count(out));
  each_index(out, [&](const Ints& at, std::int64_t place) {
    each_index(window.kernel, [&](const Ints& tap, std::int64_t weight) {
      std::int64_t from = 0;
      for (std::size_t d = 0; d < in.size(); ++d) {
        const std::int64_t x = at[d] * window.strides[d] - window.left[d] + tap[d] * window.dilations[d];
        if (x < 0 || x >= in[d]) return;
        from = from * in[d] + x;
      }
      reads[place].emplace_back(from, weight);
    });
  });
  return reads;
}

// The other way: which results an operand's positions went into.
std::vector<Reads> reversed(const std::vector<Reads>& reads, std::int64_t positions) {
  std::vector<Reads> back(positions);
  for (std::size_t to = 0; to < reads.size(); ++to) {
    for (const auto& [from, weight] : reads[to])
      back[from].emplace_back(static_cast<std::int64_t>(to), weight);
  }
  return back;
}

// One loop over all where channels have few taps: the loop over taps is the quick one.
void flatten(LinearMap& map) {
  const bool few = std::ranges::all_of(map.patterns, [](const Pattern& p) { return p.taps.size() < 4; });
  constexpr std::int64_t most = 16384;
  if (!few || map.outer == 1 || map.outer * map.inner > most) return;
  for (Pattern& pattern : map.patterns) {
    std::vector<WindowTap> taps;
    for (std::int64_t c = 0; c < map.outer; ++c) {
      for (const WindowTap& tap : pattern.taps)
        taps.push_back({place32(c * map.outer_step + tap.offset), place32(c * map.inner + tap.weight)});
    }
    pattern.taps = std::move(taps);
  }
  map.inner *= map.outer;
  map.outer = 1;
}

LinearMap map_of(const std::vector<Reads>& reads, std::int64_t kernel, const Side& in, const Side& out) {
  LinearMap map{.patterns = patterns_of(reads, in, out),
                .outer = in.channels,
                .outer_step = in.channel_step * width,
                .inner = kernel,
                .units = out.channels,
                .unit_step = out.channel_step * width};
  flatten(map);
  return map;
}

// Where every tap meets operand and result.
WeightMap weight_map_of(const std::vector<Reads>& reads, std::int64_t kernel, const Side& in,
                        const Side& out) {
  constexpr std::size_t range = 32;  // positions of the result
  WeightMap map{.taps = std::vector<WeightTap>(kernel),
                .ranges = 0,
                .channels = in.channels,
                .channel_step = in.channel_step * width,
                .units = out.channels,
                .unit_step = out.channel_step * width,
                .stride = in.channels * kernel};
  const auto mark = [&] {
    for (WeightTap& tap : map.taps) tap.ranges.push_back(static_cast<std::int32_t>(tap.places.size()));
  };
  mark();
  for (std::size_t to = 0; to < reads.size(); ++to) {
    for (const auto& [from, weight] : reads[to]) {
      map.taps[weight].places.push_back({place32(from * in.position_step * width),
                                         place32(static_cast<std::int64_t>(to) * out.position_step * width)});
    }
    if ((to + 1) % range != 0 && to + 1 != reads.size()) continue;
    ++map.ranges;
    mark();
  }
  return map;
}

// The loop of a convolution, a dense layer or the gradient of one, by the quickest way.
class Loop {
 public:
  Loop() = default;
  // `weight(group, unit, k)` tells which of the weights, k as in LinearMap.
  template <typename Weight>
  Loop(LinearMap map, std::int64_t groups, const Weight& weight) : map_(std::move(map)) {
    const std::int64_t count = map_.outer * map_.inner;
    for (std::int64_t g = 0; g < groups; ++g) {
      groups_.emplace_back().order =
          packed(map_.units, count, [&](std::int64_t u, std::int64_t k) { return weight(g, u, k); });
    }
  }
  // By fewer products; `order` tells which weights these take.
  void shorten(const WinogradWindows& windows, Way way, std::vector<std::int32_t> order) {
    winograd_.emplace(windows, way);
    plain_.order = std::move(order);
  }

  const LinearMap& map() const { return map_; }

  void set(std::span<const float> weights, float factor) {
    for (Weights& some : groups_) some.set(weights, factor);
    if (!winograd_) return;
    plain_.set(weights, factor);
    winograd_->set(plain_.values);
    plain_.values = {};
  }
  // Weights stay as they were set.
  void settle() {
    for (Weights& some : groups_) some.order = {};
    plain_.order = {};
  }

  void run(std::int64_t group, const float* operand, const float* bias, Finish finish, bool add,
           float* scratch, float* result, const Neighbours& neighbours) const {
    const float* const weights = groups_[group].values.data();
    if (!winograd_) return apply(map_, operand, weights, bias, finish, add, result, neighbours);
    for (std::int64_t n = 0; n < neighbours.count; ++n) {
      const std::int64_t at = n * neighbours.step;
      const auto direct = [&](float* to) { apply(map_, operand + at, weights, bias, finish, false, to); };
      winograd_->run(operand + at, bias, finish, add, scratch, direct, result + at);
    }
  }
  bool reads_weights_once() const {
    return !winograd_ && map_.patterns.size() == 1 && map_.patterns[0].places.size() == 1;
  }
  std::int64_t scratch() const { return winograd_ ? winograd_->scratch() : 0; }

 private:
  struct Weights {
    void set(std::span<const float> weights, float factor) {
      values.resize(order.size());
      for (std::size_t i = 0; i < order.size(); ++i) values[i] = factor * weights[order[i]];
    }
    std::vector<std::int32_t> order;  // empty where weights stay
    std::vector<float> values;
  };

  LinearMap map_;
  std::vector<Weights> groups_;  // packed
  std::optional<Winograd> winograd_;
  Weights plain_;  // as it takes them
};

class Linear : public Operation {
 public:
  struct Parts {
    std::vector<Reads> reads;  // of every position of the result
    std::int64_t kernel = 1, groups = 1, positions_in = 1;
    Side in, out;                              // of a group
    std::int64_t group_in = 0, group_out = 0;  // elements from group to group
    std::int64_t elements_out = 0;
    std::vector<float> weights, bias;  // the bias by group and unit
    // Which of the weights: by group, unit, channel read, which of the kernel.
    std::function<std::int64_t(std::int64_t, std::int64_t, std::int64_t, std::int64_t)> weight;
    Finish finish = Finish::none;
    std::optional<WinogradWindows> windows = {};
    // Constants that come with every run, and what they are multiplied with.
    ValueId trainable_weights = no_value, trainable_bias = no_value;
    float weights_factor = 1, bias_factor = 1;
    std::int64_t bias_count = 0;  // numbers of the trainable bias: one for all, or one a unit
  };

  Linear(std::size_t operand, std::size_t result, const Parts& parts, bool differentiates)
      : Operation({operand}, result),
        groups_(parts.groups),
        group_in_(parts.group_in * width),
        group_out_(parts.group_out * width),
        elements_out_(parts.elements_out),
        bias_(parts.bias),
        finish_(parts.finish) {
    const std::int64_t kernel = parts.kernel;
    forward_ = Loop(map_of(parts.reads, kernel, parts.in, parts.out), groups_,
                    [&](std::int64_t g, std::int64_t u, std::int64_t k) {
                      return parts.weight(g, u, k / kernel, k % kernel);
                    });
    if (differentiates) {
      backward_ = Loop(map_of(reversed(parts.reads, parts.positions_in), kernel, parts.out, parts.in),
                       groups_, [&](std::int64_t g, std::int64_t c, std::int64_t k) {
                         return parts.weight(g, k / kernel, c, k % kernel);
                       });
    }
    if (parts.windows) {
      std::vector<std::int32_t> order;
      for (std::int64_t u = 0; u < parts.out.channels; ++u) {
        for (std::int64_t i = 0; i < parts.in.channels * kernel; ++i)
          order.push_back(place32(parts.weight(0, u, i / kernel, i % kernel)));
      }
      forward_.shorten(*parts.windows, Way::forward, order);
      if (differentiates) backward_.shorten(*parts.windows, Way::back, order);
    }
    for (Loop* loop : {&forward_, &backward_}) {
      loop->set(parts.weights, parts.weights_factor);
      if (parts.trainable_weights == no_value) loop->settle();
    }
    if (parts.trainable_weights != no_value) train_weights(parts, differentiates);
    if (parts.trainable_bias != no_value) train_bias(parts);
  }

  void forward(const BatchBlock& block) const override { forward_all({&block, 1}); }

  void forward_all(std::span<const BatchBlock> blocks) const override {
    const BatchBlock& block = blocks[0];
    for (std::int64_t g = 0; g < groups_; ++g) {
      const float* const bias = bias_.empty() ? nullptr : bias_.data() + g * forward_.map().units;
      forward_.run(g, block.value(operand()) + g * group_in_, bias, finish_, false, block.scratch(),
                   block.value(result()) + g * group_out_, neighbours(blocks));
    }
  }

  void backward(const BatchBlock& block, std::span<const GradientState> gradients) const override {
    backward_all({&block, 1}, gradients);
  }

  void backward_all(std::span<const BatchBlock> blocks,
                    std::span<const GradientState> gradients) const override {
    for (const BatchBlock& block : blocks) {
      if (finish_ != Finish::rectify) break;
      float* const gradient = block.gradient(result());
      lanes::gradients({.kind = Unary::rectify}, elements_out_, block.value(result()), block.value(result()),
                       gradient, false, gradient);
    }
    if (gradients[0] == GradientState::unwanted) return;
    const BatchBlock& block = blocks[0];
    for (std::int64_t g = 0; g < groups_; ++g) {
      backward_.run(g, block.gradient(result()) + g * group_out_, nullptr, Finish::none,
                    gradients[0] == GradientState::further, block.scratch(),
                    block.gradient(operand()) + g * group_in_, neighbours(blocks));
    }
  }

  bool reads_weights_once() const override { return forward_.reads_weights_once(); }

  void set(std::size_t i, std::span<const float> values) override {
    if (trainable_[i].constant == bias_constant_) {
      for (std::size_t u = 0; u < bias_.size(); ++u)
        bias_[u] = trainable_[i].factor * values[values.size() == 1 ? 0 : u];
      return;
    }
    forward_.set(values, trainable_[i].factor);
    backward_.set(values, trainable_[i].factor);
  }

  void sum_weight_gradient(const BatchBlock& block, std::size_t i, bool add, float* sums) const override {
    const float* const gradient = block.gradient(result());
    for (std::int64_t g = 0; g < groups_; ++g) {
      const float* const of_group = gradient + g * group_out_;
      if (trainable_[i].constant == bias_constant_) {
        element_sums(forward_.map().units, forward_.map().unit_step, positions_, position_step_, of_group,
                     add, sums + g * forward_.map().units);
      } else if (dense_stride_ > 0) {
        float* rows[width];
        for (std::int64_t r = 0; r < width; ++r) rows[r] = block.scratch() + r * dense_stride_;
        from_lanes(block.value(operand()), by_weight_.stride, width, rows);
        dense_sums(forward_.map().units, forward_.map().unit_step, dense_stride_, block.scratch(), of_group,
                   add, sums);
      } else {
        weight_sums(by_weight_, block.value(operand()) + g * group_in_, of_group, add,
                    sums + g * by_weight_.units * by_weight_.stride);
      }
    }
  }

  std::int64_t scratch() const override {
    return std::max({dense_stride_ * width, forward_.scratch(), backward_.scratch()});
  }
  bool reads_values() const override { return finish_ == Finish::rectify; }

 private:
  static std::size_t index(std::int64_t group) { return group; }

  Neighbours neighbours(std::span<const BatchBlock> blocks) const {
    if (blocks.size() == 1) return {};
    return {std::ssize(blocks), blocks[1].value(result()) - blocks[0].value(result())};
  }

  void train_weights(const Parts& parts, bool differentiates) {
    const std::int64_t count = parts.in.channels * parts.kernel, units = parts.out.channels;
    TrainableConstant trainable{
        .constant = parts.trainable_weights, .factor = parts.weights_factor, .to = {}};
    if (differentiates) {
      by_weight_ = weight_map_of(parts.reads, parts.kernel, parts.in, parts.out);
      if (reads_in_order(parts)) dense_stride_ = (count + width - 1) / width * width;
      const std::int64_t stride = dense_stride_ > 0 ? dense_stride_ : count;
      trainable.to.assign(groups_ * units * stride, -1);
      for (std::int64_t row = 0; row < groups_ * units; ++row) {
        for (std::int64_t k = 0; k < count; ++k) {
          trainable.to[row * stride + k] =
              place32(parts.weight(row / units, row % units, k / parts.kernel, k % parts.kernel));
        }
      }
    }
    trainable_.push_back(std::move(trainable));
  }

  void train_bias(const Parts& parts) {
    bias_constant_ = parts.trainable_bias;
    positions_ = std::ssize(parts.reads);
    position_step_ = parts.out.position_step * width;
    TrainableConstant trainable{.constant = parts.trainable_bias, .factor = parts.bias_factor, .to = {}};
    trainable.unique = parts.bias_count > 1;
    for (std::int64_t u = 0; u < groups_ * parts.out.channels; ++u)
      trainable.to.push_back(trainable.unique ? place32(u) : 0);
    trainable_.push_back(std::move(trainable));
  }

  // One position that reads all there is, one element after the other.
  static bool reads_in_order(const Parts& parts) {
    if (parts.reads.size() != 1 || parts.groups != 1) return false;
    if (parts.kernel != parts.in.channel_step || std::ssize(parts.reads[0]) != parts.kernel) return false;
    if (parts.kernel > 1 && parts.in.position_step != 1) return false;
    for (std::int64_t k = 0; k < parts.kernel; ++k) {
      if (parts.reads[0][index(k)] != std::pair(k, k)) return false;
    }
    return true;
  }

  Loop forward_, backward_;
  WeightMap by_weight_;            // of trainable weights
  std::int64_t dense_stride_ = 0;  // of the sums where by_weight_ is a dense layer's; otherwise 0
  std::int64_t positions_ = 0, position_step_ = 0;  // of the result
  ValueId bias_constant_ = no_value;
  std::int64_t groups_, group_in_, group_out_, elements_out_;
  std::vector<float> bias_;
  Finish finish_;
};

Ints spatial(const Shape& shape) { return {shape.begin() + 2, shape.end()}; }

std::vector<float> bias_of(const Graph& graph, const Node& node, std::int64_t units) {
  if (node.inputs.size() > 2 && node.inputs[2] != no_value) return floats(graph.constant(node.inputs[2]));
  return std::vector<float>(units, 0.0F);
}

// Common parts of a convolution and its transpose.
Linear::Parts parts_between(const Node& node, const Shape& input, const Shape& output, const Ints& kernel) {
  Linear::Parts parts;
  parts.groups = node.integer("group", 1);
  parts.kernel = element_count(kernel);
  parts.positions_in = element_count(spatial(input));
  const std::int64_t positions_out = element_count(spatial(output));
  parts.in = {input[1] / parts.groups, parts.positions_in};
  parts.out = {output[1] / parts.groups, positions_out};
  parts.group_in = parts.in.channels * parts.positions_in;
  parts.group_out = parts.out.channels * positions_out;
  parts.elements_out = output[1] * positions_out;
  return parts;
}

// Notes which of a node's constants come with every run.
void read_trainable(const Compiler& compiler, const Node& node, Linear::Parts& parts) {
  if (compiler.is_trainable(node.inputs[1])) parts.trainable_weights = node.inputs[1];
  if (node.inputs.size() < 3 || !compiler.is_trainable(node.inputs[2])) return;
  parts.trainable_bias = node.inputs[2];
  parts.bias_count = compiler.graph().constant(node.inputs[2]).count();
}
bool trains(const Linear::Parts& parts) {
  return parts.trainable_weights != no_value || parts.trainable_bias != no_value;
}

bool supports_kernel(const Graph& graph, const Node& node, const ShapeOf& shape_of) {
  const Shape &input = shape_of(node.inputs[0]), &output = shape_of(node.outputs[0]);
  if (input.size() < 3 || !is_float_constant(graph, node, 1)) return false;
  const bool has_bias = node.inputs.size() > 2 && node.inputs[2] != no_value;
  if (has_bias && !is_float_constant(graph, node, 2)) return false;
  const Shape& kernel = graph.constant(node.inputs[1]).shape();
  if (kernel.size() != input.size()) return false;
  // The reads of all positions are listed; at most this many.
  constexpr std::int64_t most_reads = std::int64_t{1} << 22;
  const std::int64_t positions = std::max(element_count(spatial(input)), element_count(spatial(output)));
  return positions * element_count(spatial(kernel)) <= most_reads;
}

}  // namespace

std::optional<WinogradWindows> winograd_windows(const Node& node, const Shape& kernel, const Shape& input,
                                                const Shape& output) {
  if (kernel.size() != 2 || node.integer("group", 1) != 1 || node.integer(direct_sums, 0) != 0)
    return std::nullopt;
  const SlidingWindow window = sliding_window(node, input, output, kernel);
  WinogradWindows windows{.channels = input[1], .units = output[1], .axes = {}};
  for (std::size_t a = 0; a < windows.axes.size(); ++a) {
    const std::int64_t taps = window.kernel[a], stride = window.strides[a], zeros = window.left[a];
    constexpr std::int64_t longest = 7;
    if (taps < 2 || taps > longest || stride > 2 || window.dilations[a] != 1 || zeros >= taps)
      return std::nullopt;
    windows.axes[a] = {input[a + 2], output[a + 2], taps, stride, zeros};
  }
  return windows.pays() ? std::optional(windows) : std::nullopt;
}

double products_of_convolution(const Graph& graph, const Node& node, const ShapeOf& shape_of) {
  const Array& weights = graph.constant(node.inputs[1]);
  const Shape &input = shape_of(node.inputs[0]), &output = shape_of(node.outputs[0]);
  const double each = static_cast<double>(weights.count()) / weights.shape()[0];
  if (node.op != "Conv") return each * element_count(input);
  const auto windows = winograd_windows(node, spatial(weights.shape()), input, output);
  return windows ? windows->products() : each * element_count(output);
}

bool supports_convolution(const Graph& graph, const Node& node, const ShapeOf& shape_of) {
  return supports_kernel(graph, node, shape_of);
}

void compile_convolution(Compiler& compiler, const Node& node) {
  const Graph& graph = compiler.graph();
  const Array& array = graph.constant(node.inputs[1]);
  const Shape input = compiler.shape(node.inputs[0]), output = compiler.shape(node.outputs[0]);
  const SlidingWindow window = sliding_window(node, input, output, spatial(array.shape()));
  Linear::Parts parts = parts_between(node, input, output, window.kernel);
  parts.weights = floats(array);
  parts.bias = bias_of(graph, node, output[1]);
  read_trainable(compiler, node, parts);
  ValueId id = node.outputs[0];
  if (!trains(parts)) id = compiler.absorber().normalisation(id, parts.weights, parts.bias);
  id = compiler.absorb_rectifier(id, parts.finish);
  parts.reads = window_reads(window, spatial(input), spatial(output));
  parts.windows = winograd_windows(node, window.kernel, input, output);
  parts.weight = [&](std::int64_t g, std::int64_t u, std::int64_t c, std::int64_t k) {
    return ((g * parts.out.channels + u) * parts.in.channels + c) * parts.kernel + k;
  };
  const std::size_t operand = compiler.slot(node.inputs[0]);
  compiler.add(std::make_unique<Linear>(operand, compiler.define(id), parts, compiler.differentiates()));
}

bool supports_transposed(const Graph& graph, const Node& node, const ShapeOf& shape_of) {
  return supports_kernel(graph, node, shape_of);
}

void compile_transposed(Compiler& compiler, const Node& node) {
  const Graph& graph = compiler.graph();
  const Array& array = graph.constant(node.inputs[1]);
  const Shape input = compiler.shape(node.inputs[0]), output = compiler.shape(node.outputs[0]);
  const Ints kernel = spatial(array.shape());
  Linear::Parts parts = parts_between(node, input, output, kernel);
  parts.weights = floats(array);
  parts.bias = bias_of(graph, node, output[1]);
  read_trainable(compiler, node, parts);
  const ValueId id = compiler.absorb_rectifier(node.outputs[0], parts.finish);

  // The convolution that goes from the result to the operand, with its taps reversed.
  const SlidingWindow window = transposed_window(node, input, output, kernel);
  parts.reads = reversed(window_reads(window, spatial(output), spatial(input)), parts.out.channel_step);
  parts.weight = [&](std::int64_t g, std::int64_t u, std::int64_t c, std::int64_t k) {
    return ((g * parts.in.channels + c) * parts.out.channels + u) * parts.kernel + k;
  };
  const std::size_t operand = compiler.slot(node.inputs[0]);
  compiler.add(std::make_unique<Linear>(operand, compiler.define(id), parts, compiler.differentiates()));
}

bool supports_dense(const Graph& graph, const Node& node, const ShapeOf& shape_of) {
  const Shape& input = shape_of(node.inputs[0]);
  if (graph.is_constant(node.inputs[0]) || !is_float_constant(graph, node, 1)) return false;
  if (graph.constant(node.inputs[1]).shape().size() != 2) return false;
  if (node.op == "Gemm") {
    if (node.integer("transA", 0) != 0 || input.size() != 2) return false;
    const bool has_bias = node.inputs.size() > 2 && node.inputs[2] != no_value;
    if (has_bias && !is_float_constant(graph, node, 2)) return false;
  }
  return has_bias_of_units(graph, node);
}

void compile_dense(Compiler& compiler, const Node& node) {
  const Graph& graph = compiler.graph();
  Linear::Parts parts;
  parts.weights = dense_weights(graph, node);
  parts.bias = dense_bias(graph, node);
  const Shape input = compiler.shape(node.inputs[0]), output = compiler.shape(node.outputs[0]);
  const std::int64_t units = output.back(), inputs = input.back();
  read_trainable(compiler, node, parts);
  // Trainable weights come as they are stored, others as [units, inputs].
  bool by_unit = true;
  if (parts.trainable_weights != no_value) {
    parts.weights = floats(graph.constant(node.inputs[1]));
    by_unit = node.op == "Gemm" && node.integer("transB", 0) != 0;
    parts.weights_factor = node.op == "Gemm" ? node.real("alpha", 1.0F) : 1.0F;
  }
  if (node.op == "Gemm") parts.bias_factor = node.real("beta", 1.0F);
  ValueId id = node.outputs[0];
  if (!trains(parts)) {
    if (node.op == "MatMul") id = compiler.absorber().added_bias(id, parts.bias);
    if (input.size() == 2) id = compiler.absorber().normalisation(id, parts.weights, parts.bias);
  }
  id = compiler.absorb_rectifier(id, parts.finish);

  // The last axis is that of channels, all others are positions.
  parts.elements_out = element_count(output);
  const std::int64_t rows = parts.elements_out / units;
  parts.positions_in = rows;
  parts.in = {inputs, 1, inputs};
  parts.out = {units, 1, units};
  parts.weight = [&](std::int64_t, std::int64_t u, std::int64_t c, std::int64_t) {
    return by_unit ? u * inputs + c : c * units + u;
  };
  parts.reads.resize(rows);
  for (std::int64_t r = 0; r < rows; ++r) parts.reads[r] = {{r, 0}};
  const std::size_t operand = compiler.slot(node.inputs[0]);
  compiler.add(std::make_unique<Linear>(operand, compiler.define(id), parts, compiler.differentiates()));
}

}  // namespace assay::lanes
