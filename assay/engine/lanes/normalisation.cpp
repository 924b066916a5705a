// Normalisation by a record's own statistics: layer, instance and group.

#include <algorithm>
#include <memory>

#include "assay/engine/lanes/operators.h"

namespace assay::lanes {
namespace {

// How elements share scales: `units` of them, each for `inner` neighbours, all of them again and again.
struct Scales {
  std::int64_t units = 0, inner = 1;
};

class Normalisation : public Operation {
 public:
  struct Parts {
    NormalisationMap map;
    Scales scales;
    std::vector<float> scale, shift;
    ValueId trainable_scale = no_value, trainable_shift = no_value;
  };

  Normalisation(std::size_t operand, std::size_t result, Parts parts)
      : Operation({operand}, result), parts_(std::move(parts)) {
    const std::int64_t elements = parts_.map.groups * parts_.map.count;
    for (std::int64_t e = 0; e < elements; ++e)
      parts_.map.scale_of.push_back(static_cast<std::int32_t>(e / parts_.scales.inner % parts_.scales.units));
    std::vector<std::int32_t> to;
    for (std::int32_t u = 0; u < parts_.scales.units; ++u) to.push_back(u);
    if (parts_.trainable_scale != no_value)
      trainable_.push_back({.constant = parts_.trainable_scale, .to = to});
    if (parts_.trainable_shift != no_value)
      trainable_.push_back({.constant = parts_.trainable_shift, .to = to});
  }

  void forward(const BatchBlock& block) const override {
    normalise(parts_.map, block.value(operand()), parts_.scale.data(), parts_.shift.data(),
              block.value(result()));
  }
  void backward(const BatchBlock& block, std::span<const GradientState> gradients) const override {
    if (gradients[0] == GradientState::unwanted) return;
    normalise_gradients(parts_.map, block.value(operand()), parts_.scale.data(), block.gradient(result()),
                        gradients[0] == GradientState::further, block.gradient(operand()));
  }
  void set(std::size_t i, std::span<const float> values) override {
    std::ranges::copy(values, (is_scale(i) ? parts_.scale : parts_.shift).begin());
  }
  void sum_weight_gradient(const BatchBlock& block, std::size_t i, bool add, float* sums) const override {
    const float* gradients = block.gradient(result());
    if (is_scale(i)) {
      normal_products(parts_.map, block.value(operand()), gradients, block.scratch());
      gradients = block.scratch();
    }
    const auto [units, inner] = parts_.scales;
    const std::int64_t shares = parts_.map.groups * parts_.map.count / units;
    element_sums(units, inner * width, shares, (inner > 1 ? 1 : units) * width, gradients, add, sums);
  }
  std::int64_t scratch() const override {
    return parts_.trainable_scale == no_value ? 0 : parts_.map.groups * parts_.map.count * width;
  }

 private:
  bool is_scale(std::size_t i) const { return i == 0 && parts_.trainable_scale != no_value; }
  Parts parts_;
};

// Elements that are normalised together and how they share scales. False where scales are not one for each
// channel or element of a group.
bool read(const Graph& graph, const Node& node, const Shape& shape, Normalisation::Parts& parts) {
  if (graph.is_constant(node.inputs[0]) || !is_float_constant(graph, node, 1)) return false;
  const auto rank = std::ssize(shape);
  const std::int64_t elements = element_count(shape);
  parts.map.epsilon = node.real("epsilon", 1e-5F);
  if (node.op == "LayerNormalization") {
    std::int64_t axis = node.integer("axis", -1);
    if (axis < 0) axis += rank;
    if (axis < 1 || axis >= rank) return false;
    parts.map.groups = element_count({shape.begin(), shape.begin() + axis});
    parts.scales = {elements / parts.map.groups, 1};
  } else {
    if (rank < 3) return false;
    parts.map.groups = node.op == "GroupNormalization" ? node.integer("num_groups", 1) : shape[1];
    if (parts.map.groups < 1 || shape[1] % parts.map.groups != 0) return false;
    parts.scales = {shape[1], elements / shape[1]};
  }
  parts.map.count = elements / parts.map.groups;
  const bool shifted = node.inputs.size() > 2 && node.inputs[2] != no_value;
  return graph.constant(node.inputs[1]).count() == parts.scales.units &&
         (!shifted || (is_float_constant(graph, node, 2) &&
                       graph.constant(node.inputs[2]).count() == parts.scales.units));
}

}  // namespace

bool supports_own_normalisation(const Graph& graph, const Node& node, const ShapeOf& shape_of) {
  Normalisation::Parts parts;
  return read(graph, node, shape_of(node.inputs[0]), parts);
}

void compile_own_normalisation(Compiler& compiler, const Node& node) {
  Normalisation::Parts parts;
  read(compiler.graph(), node, compiler.shape(node.inputs[0]), parts);
  parts.scale = floats(compiler.graph().constant(node.inputs[1]));
  if (compiler.is_trainable(node.inputs[1])) parts.trainable_scale = node.inputs[1];
  parts.shift.resize(parts.scale.size());
  if (node.inputs.size() > 2 && node.inputs[2] != no_value) {
    parts.shift = floats(compiler.graph().constant(node.inputs[2]));
    if (compiler.is_trainable(node.inputs[2])) parts.trainable_shift = node.inputs[2];
  }
  const std::size_t operand = compiler.slot(node.inputs[0]);
  compiler.add(std::make_unique<Normalisation>(operand, compiler.define(node.outputs[0]), std::move(parts)));
}

}  // namespace assay::lanes
