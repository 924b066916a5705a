// Convolutions, their transposes and dense layers: one operation, told apart by who reads what.

#include <algorithm>
#include <functional>
#include <limits>
#include <map>

#include "assay/engine/lanes/operators.h"

namespace assay::lanes {
namespace {

using Ints = std::vector<std::int64_t>;

std::int32_t place32(std::int64_t value) { return static_cast<std::int32_t>(value); }

// Where channels and positions of an operand or result lie: elements from one to the next.
struct Side {
  std::int64_t channels = 0, channel_step = 0, position_step = 1;
};

// What a position reads: (position, weight) in order.
using Reads = std::vector<std::pair<std::int64_t, std::int64_t>>;

// Positions that read alike, each from a place of its own, are one pattern.
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

// What every position of a convolution's result reads inside its operand's picture.
std::vector<Reads> window_reads(const SlidingWindow& window, const Ints& in, const Ints& out) {
  std::vector<Reads> reads(static_cast<std::size_t>(element_count(out)));
  each_index(out, [&](const Ints& at, std::int64_t place) {
    each_index(window.kernel, [&](const Ints& tap, std::int64_t weight) {
      std::int64_t from = 0;
      for (std::size_t d = 0; d < in.size(); ++d) {
        const std::int64_t x = at[d] * window.strides[d] - window.left[d] + tap[d] * window.dilations[d];
        if (x < 0 || x >= in[d]) return;
        from = from * in[d] + x;
      }
      reads[static_cast<std::size_t>(place)].emplace_back(from, weight);
    });
  });
  return reads;
}

// The other way: which results an operand's positions went into.
std::vector<Reads> turned(const std::vector<Reads>& reads, std::int64_t positions) {
  std::vector<Reads> back(static_cast<std::size_t>(positions));
  for (std::size_t to = 0; to < reads.size(); ++to) {
    for (const auto& [from, weight] : reads[to])
      back[static_cast<std::size_t>(from)].emplace_back(static_cast<std::int64_t>(to), weight);
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

class Linear : public Operation {
 public:
  struct Parts {
    std::vector<Reads> reads;  // of every position of the result
    std::int64_t kernel = 1, groups = 1, positions_in = 1;
    Side in, out;                              // of a group
    std::int64_t group_in = 0, group_out = 0;  // elements from group to group
    std::int64_t elements_out = 0;
    // weight(group, unit, channel read, which of the kernel)
    std::function<float(std::int64_t, std::int64_t, std::int64_t, std::int64_t)> weight;
    std::vector<float> bias;  // by group and unit; empty: none
    Finish finish = Finish::none;
  };

  Linear(int operand, int result, const Parts& parts, bool differentiates)
      : Operation({operand}, result),
        forward_(map_of(parts.reads, parts.kernel, parts.in, parts.out)),
        groups_(parts.groups),
        group_in_(parts.group_in * width),
        group_out_(parts.group_out * width),
        elements_out_(parts.elements_out),
        bias_(parts.bias),
        finish_(parts.finish) {
    const std::int64_t kernel = parts.kernel;
    for (std::int64_t g = 0; g < groups_; ++g) {
      weights_.push_back(
          packed(parts.out.channels, parts.in.channels * kernel,
                 [&](std::int64_t u, std::int64_t k) { return parts.weight(g, u, k / kernel, k % kernel); }));
    }
    if (!differentiates) return;
    backward_ = map_of(turned(parts.reads, parts.positions_in), kernel, parts.out, parts.in);
    for (std::int64_t g = 0; g < groups_; ++g) {
      back_weights_.push_back(
          packed(parts.in.channels, parts.out.channels * kernel,
                 [&](std::int64_t c, std::int64_t k) { return parts.weight(g, k / kernel, c, k % kernel); }));
    }
  }

  void forward(const Tile& tile) const override {
    for (std::int64_t g = 0; g < groups_; ++g) {
      const float* const bias = bias_.empty() ? nullptr : bias_.data() + g * forward_.units;
      apply(forward_, tile.value(operand()) + g * group_in_, weights_[static_cast<std::size_t>(g)].data(),
            bias, finish_, false, tile.value(result()) + g * group_out_);
    }
  }

  void backward(const Tile& tile, std::span<const Slope> slopes) const override {
    if (slopes[0] == Slope::unwanted) return;
    float* const slope = tile.slope(result());
    if (finish_ == Finish::rectify) {
      lanes::slopes({.kind = Unary::rectify}, elements_out_, tile.value(result()), tile.value(result()),
                    slope, false, slope);
    }
    for (std::int64_t g = 0; g < groups_; ++g) {
      apply(backward_, slope + g * group_out_, back_weights_[static_cast<std::size_t>(g)].data(), nullptr,
            Finish::none, slopes[0] == Slope::further, tile.slope(operand()) + g * group_in_);
    }
  }

 private:
  LinearMap forward_, backward_;
  std::int64_t groups_, group_in_, group_out_, elements_out_;
  std::vector<float> bias_;
  Finish finish_;
  std::vector<std::vector<float>> weights_, back_weights_;  // by group
};

Ints spatial(const Shape& shape) { return {shape.begin() + 2, shape.end()}; }

std::vector<float> bias_of(const Graph& graph, const Node& node, std::int64_t units) {
  if (node.inputs.size() > 2 && node.inputs[2] != no_value) return floats(graph.constant(node.inputs[2]));
  return std::vector<float>(static_cast<std::size_t>(units), 0.0F);
}

// What a convolution and its transpose have in common.
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

bool supports_kernel(const Graph& graph, const Node& node, const ShapeOf& shape_of) {
  const Shape &input = shape_of(node.inputs[0]), &output = shape_of(node.outputs[0]);
  if (input.size() < 3 || !is_float_constant(graph, node, 1)) return false;
  const bool has_bias = node.inputs.size() > 2 && node.inputs[2] != no_value;
  if (has_bias && !is_float_constant(graph, node, 2)) return false;
  const Shape& kernel = graph.constant(node.inputs[1]).shape();
  if (kernel.size() != input.size()) return false;
  // What every position reads is written down.
  constexpr std::int64_t most_reads = std::int64_t{1} << 22;
  const std::int64_t positions = std::max(element_count(spatial(input)), element_count(spatial(output)));
  return positions * element_count(spatial(kernel)) <= most_reads;
}

}  // namespace

bool supports_convolution(const Graph& graph, const Node& node, const ShapeOf& shape_of) {
  return supports_kernel(graph, node, shape_of);
}

void compile_convolution(Compiler& compiler, const Node& node) {
  const Graph& graph = compiler.graph();
  const Array& array = graph.constant(node.inputs[1]);
  const Shape input = compiler.shape(node.inputs[0]), output = compiler.shape(node.outputs[0]);
  std::vector<float> weights = floats(array), bias = bias_of(graph, node, output[1]);
  ValueId id = compiler.absorber().normalisation(node.outputs[0], weights, bias);
  const SlidingWindow window = sliding_window(node, input, output, spatial(array.shape()));
  Linear::Parts parts = parts_between(node, input, output, window.kernel);
  id = compiler.absorb_rectifier(id, parts.finish);
  parts.reads = window_reads(window, spatial(input), spatial(output));
  parts.bias = std::move(bias);
  parts.weight = [&](std::int64_t g, std::int64_t u, std::int64_t c, std::int64_t k) {
    return weights[static_cast<std::size_t>(
        ((g * parts.out.channels + u) * parts.in.channels + c) * parts.kernel + k)];
  };
  const int operand = compiler.slot(node.inputs[0]);
  compiler.add(std::make_unique<Linear>(operand, compiler.define(id), parts, compiler.differentiates()));
}

bool supports_transposed(const Graph& graph, const Node& node, const ShapeOf& shape_of) {
  return supports_kernel(graph, node, shape_of) && node.text("auto_pad", "NOTSET") == "NOTSET";
}

void compile_transposed(Compiler& compiler, const Node& node) {
  const Graph& graph = compiler.graph();
  const Array& array = graph.constant(node.inputs[1]);
  const Shape input = compiler.shape(node.inputs[0]), output = compiler.shape(node.outputs[0]);
  const std::vector<float> weights = floats(array);
  const Ints kernel = spatial(array.shape());
  Linear::Parts parts = parts_between(node, input, output, kernel);
  parts.bias = bias_of(graph, node, output[1]);
  const ValueId id = compiler.absorb_rectifier(node.outputs[0], parts.finish);

  // The convolution that goes from the result to the operand, turned.
  const Ints pads = node.integers("pads", Ints(2 * kernel.size(), 0));
  const SlidingWindow window{
      .kernel = kernel,
      .strides = node.integers("strides", Ints(kernel.size(), 1)),
      .dilations = node.integers("dilations", Ints(kernel.size(), 1)),
      .left = Ints(pads.begin(), pads.begin() + static_cast<std::ptrdiff_t>(kernel.size())),
      .right = {}};
  parts.reads = turned(window_reads(window, spatial(output), spatial(input)), parts.out.channel_step);
  parts.weight = [&](std::int64_t g, std::int64_t u, std::int64_t c, std::int64_t k) {
    return weights[static_cast<std::size_t>(
        ((g * parts.in.channels + c) * parts.out.channels + u) * parts.kernel + k)];
  };
  const int operand = compiler.slot(node.inputs[0]);
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
  std::vector<float> weights, bias;
  return dense_parameters(graph, node, weights, bias);
}

void compile_dense(Compiler& compiler, const Node& node) {
  std::vector<float> weights, bias;
  dense_parameters(compiler.graph(), node, weights, bias);
  const Shape input = compiler.shape(node.inputs[0]), output = compiler.shape(node.outputs[0]);
  ValueId id = node.outputs[0];
  if (node.op == "MatMul") id = compiler.absorber().added_bias(id, bias);
  if (input.size() == 2) id = compiler.absorber().normalisation(id, weights, bias);
  Linear::Parts parts;
  id = compiler.absorb_rectifier(id, parts.finish);

  // The last axis is that of channels, all others are positions.
  const std::int64_t units = output.back(), inputs = input.back();
  parts.elements_out = element_count(output);
  const std::int64_t rows = parts.elements_out / units;
  parts.positions_in = rows;
  parts.in = {inputs, 1, inputs};
  parts.out = {units, 1, units};
  parts.bias = std::move(bias);
  parts.weight = [&](std::int64_t, std::int64_t u, std::int64_t c, std::int64_t) {
    return weights[static_cast<std::size_t>(u * inputs + c)];
  };
  parts.reads.resize(static_cast<std::size_t>(rows));
  for (std::int64_t r = 0; r < rows; ++r) parts.reads[static_cast<std::size_t>(r)] = {{r, 0}};
  const int operand = compiler.slot(node.inputs[0]);
  compiler.add(std::make_unique<Linear>(operand, compiler.define(id), parts, compiler.differentiates()));
}

}  // namespace assay::lanes
