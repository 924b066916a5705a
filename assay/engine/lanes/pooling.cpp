// Pools, and means, sums and maxima over axes.

#include <algorithm>
#include <map>

#include "assay/engine/lanes/operators.h"
#include "assay/engine/padding.h"

namespace assay::lanes {
namespace {

using Ints = std::vector<std::int64_t>;

class Pool : public Operation {
 public:
  Pool(std::size_t operand, std::size_t result, bool greatest, Ties ties, PoolMap map,
       std::int64_t elements_in)
      : Operation({operand}, result),
        greatest_(greatest),
        ties_(ties),
        map_(std::move(map)),
        elements_in_(elements_in) {}

  void forward(const BatchBlock& block) const override {
    (greatest_ ? pool_max : pool_sum)(map_, block.value(operand()), block.value(result()));
  }

  void backward(const BatchBlock& block, std::span<const GradientState> gradients) const override {
    if (gradients[0] == GradientState::unwanted) return;
    float* const to = block.gradient(operand());
    if (gradients[0] == GradientState::first) fill(elements_in_, 0, to);
    if (greatest_) {
      pool_max_gradients(map_, ties_, block.value(operand()), block.value(result()), block.gradient(result()),
                         to);
    } else {
      pool_sum_gradients(map_, block.gradient(result()), to);
    }
  }

 private:
  bool greatest_;
  Ties ties_;
  PoolMap map_;
  std::int64_t elements_in_;
};

// Adds a place that reads these elements, to the pattern of those that read alike.
class Patterns {
 public:
  void add(const Ints& elements, std::int64_t to, float factor) {
    Ints relative = elements;
    for (std::int64_t& element : relative) element -= elements[0];
    const auto [entry, added] = known_.emplace(std::pair(relative, factor), map_.patterns.size());
    if (added) {
      Pattern& pattern = map_.patterns.emplace_back();
      for (const std::int64_t element : relative)
        pattern.taps.push_back({static_cast<std::int32_t>(element * width), 0});
      map_.factors.push_back(factor);
    }
    map_.patterns[entry->second].places.push_back(
        {static_cast<std::int32_t>(elements[0] * width), static_cast<std::int32_t>(to * width)});
  }
  PoolMap take(std::int64_t channels, std::int64_t in, std::int64_t out) {
    map_.channels = channels;
    map_.step_in = in * width;
    map_.step_out = out * width;
    return std::move(map_);
  }

 private:
  PoolMap map_;
  std::map<std::pair<Ints, float>, std::size_t> known_;
};

// Elements of a picture under a window that begins at `first` (per axis, perhaps outside).
void collect(const SlidingWindow& window, const Ints& sizes, const Ints& first, std::size_t axis,
             std::int64_t base, Ints& elements) {
  if (axis == sizes.size()) {
    elements.push_back(base);
    return;
  }
  for (std::int64_t k = 0; k < window.kernel[axis]; ++k) {
    const std::int64_t at = first[axis] + k * window.dilations[axis];
    if (at >= 0 && at < sizes[axis])
      collect(window, sizes, first, axis + 1, base * sizes[axis] + at, elements);
  }
}

}  // namespace

bool supports_pooling(const Graph&, const Node& node, const ShapeOf& shape_of) {
  const Shape &input = shape_of(node.inputs[0]), &output = shape_of(node.outputs[0]);
  if (input.size() < 3) return false;
  const SlidingWindow window = pool_window(node, input, output);
  const bool average = !node.op.ends_with("MaxPool");
  bool partial = node.text("auto_pad", "NOTSET") != "NOTSET";
  const Ints pads = entries(node, "pads", 2 * window.kernel.size(), 0);
  for (std::size_t d = 0; d < window.kernel.size(); ++d) {
    const std::int64_t extent = (window.kernel[d] - 1) * window.dilations[d] + 1;
    // Windows that lie wholly in the padding have no agreed value.
    if (window.left[d] >= window.kernel[d] || window.right[d] >= extent) return false;
    if (window.dilations[d] != 1 && (average || window.left[d] != 0 || window.right[d] > 0)) return false;
    partial |= window.right[d] > pads[d + window.kernel.size()];
  }
  return !(average && partial && node.integer("count_include_pad", 0) != 0);
}

void compile_pooling(Compiler& compiler, const Node& node) {
  const Shape input = compiler.shape(node.inputs[0]), output = compiler.shape(node.outputs[0]);
  const SlidingWindow window = pool_window(node, input, output);
  const bool greatest = node.op.ends_with("MaxPool");
  const bool counts_padding = node.integer("count_include_pad", 0) != 0;
  const Ints in(input.begin() + 2, input.end()), out(output.begin() + 2, output.end());
  Patterns patterns;
  Ints at(out.size(), 0);
  for (std::int64_t to = 0, all = element_count(out); to < all; ++to) {
    Ints first(out.size()), elements;
    for (std::size_t d = 0; d < out.size(); ++d) first[d] = at[d] * window.strides[d] - window.left[d];
    collect(window, in, first, 0, 0, elements);
    const auto count = counts_padding ? element_count(window.kernel) : std::ssize(elements);
    patterns.add(elements, to, greatest ? 1.0F : 1.0F / static_cast<float>(count));
    for (std::size_t d = out.size(); d-- > 0 && ++at[d] == out[d];) at[d] = 0;
  }
  const std::size_t operand = compiler.slot(node.inputs[0]);
  compiler.add(std::make_unique<Pool>(operand, compiler.define(node.outputs[0]), greatest,
                                      compiler.ties(node.op == "MaxPool" ? Ties::first : Ties::shared),
                                      patterns.take(input[1], element_count(in), element_count(out)),
                                      element_count(input)));
}

bool supports_reduction(const Graph& graph, const Node& node, const ShapeOf& shape_of) {
  Ints axes;
  return !graph.is_constant(node.inputs[0]) &&
         reduced_axes(graph, node, shape_of(node.inputs[0]).size(), axes);
}

void compile_reduction(Compiler& compiler, const Node& node) {
  const Shape input = compiler.shape(node.inputs[0]);
  Ints axes;
  reduced_axes(compiler.graph(), node, input.size(), axes);
  // Elements by the element of the result that they go into.
  Shape kept = input;
  for (const std::int64_t axis : axes) kept[axis] = 1;
  std::vector<Ints> elements(element_count(kept));
  Ints at(input.size(), 0);
  for (std::int64_t i = 0, all = element_count(input); i < all; ++i) {
    std::int64_t to = 0;
    for (std::size_t d = 0; d < input.size(); ++d) to = to * kept[d] + (kept[d] == 1 ? 0 : at[d]);
    elements[to].push_back(i);
    for (std::size_t d = input.size(); d-- > 0 && ++at[d] == input[d];) at[d] = 0;
  }
  const float factor = node.op == "ReduceMean" ? 1.0F / static_cast<float>(elements[0].size()) : 1.0F;
  Patterns patterns;
  for (std::size_t to = 0; to < elements.size(); ++to) patterns.add(elements[to], to, factor);
  const std::size_t operand = compiler.slot(node.inputs[0]);
  compiler.add(std::make_unique<Pool>(operand, compiler.define(node.outputs[0]), node.op == "ReduceMax",
                                      compiler.ties(Ties::shared), patterns.take(1, 0, 0),
                                      element_count(input)));
}

}  // namespace assay::lanes
