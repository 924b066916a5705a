#include "assay/engine/decision.h"

#include <algorithm>

#include <assay/extend/operator_traits.h>

#include "assay/engine/value_bounds.h"

namespace assay {
namespace {

// True for nodes that pass their first input on unchanged in inference.
bool passes_through(const Node& node, std::span<const ValueInfo> infos) {
  if (is_pass_through(node.op)) return true;
  return has_trait(node.op, Trait::reshapes) && infos[static_cast<std::size_t>(node.inputs[0])].shape ==
                                                    infos[static_cast<std::size_t>(node.outputs[0])].shape;
}

// The node that determines the value, past nodes that change nothing; nullptr for inputs and constants.
const Node* origin(const Graph& graph, ValueId id, std::span<const ValueInfo> infos) {
  for (int n = graph.producer(id); n >= 0; n = graph.producer(id)) {
    const Node& node = graph.nodes()[static_cast<std::size_t>(n)];
    if (node.inputs.empty() || node.inputs[0] == no_value || !passes_through(node, infos)) return &node;
    id = node.inputs[0];
  }
  return nullptr;
}

bool is_column(const ValueInfo& info) {
  return !info.shape.empty() && element_count(info.shape) == info.shape[0];
}

// A clipped or averaged sigmoid, one that is spelt out, the second of two softmaxes.
bool is_probability(const Graph& graph, ValueId output) {
  constexpr double rounding = 1e-6;
  const Bounds bounds = bounds_of(graph, output);
  return bounds.low >= -rounding && bounds.high <= 1 + rounding;
}

}  // namespace

Decision find_decision(const Graph& graph, std::span<const ValueInfo> infos) {
  // Labels that stand in front of scores are whole numbers.
  const auto outputs = graph.outputs();
  const auto scores =
      std::ranges::find_if(outputs, [&](ValueId id) { return infos[static_cast<std::size_t>(id)].floating; });
  const ValueId output = scores == outputs.end() ? outputs[0] : *scores;
  const Node* node = origin(graph, output, infos);
  if (node && is_softmax(node->op)) return {.logits = node->inputs[0], .softmax = true};
  return {.logits = output,
          .sigmoid = (node && is_sigmoid(node->op)) ||
                     (is_column(infos[static_cast<std::size_t>(output)]) && is_probability(graph, output))};
}

}  // namespace assay
