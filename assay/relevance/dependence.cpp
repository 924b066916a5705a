#include "assay/relevance/dependence.h"

#include <algorithm>

#include <assay/extend/operator_traits.h>

namespace assay::relevance {
namespace {

// Operators that scale, shift or move what comes in at the one input that carries.
bool keeps_character(std::string_view op) {
  return is_movement(op) || is_pass_through(op) || has_trait(op, Trait::affine);
}

// Outputs that say where numbers are, and remainders of whole numbers.
bool counts(const Node& node, std::size_t output) {
  if (node.op == "Mod") return node.integer("fmod", 0) == 0;
  return output > 0 && (node.op == "TopK" || node.op == "MaxPool" || node.op == "Unique");
}

}  // namespace

Dependence::Dependence(const Graph& graph)
    : graph_(&graph), carries_(graph.values().size(), false), static_(graph.values().size(), false) {
  for (const ValueId id : graph.value_ids()) static_[index_of(id)] = graph.is_constant(id);
  for (const ValueId id : graph.inputs()) carries_[index_of(id)] = true;
  for (const Node& node : graph.nodes()) {
    const bool fixed =
        std::ranges::all_of(node.inputs, [&](ValueId id) { return id == no_value || is_static(id); });
    // A layer that reads tokens as rows of 0 and 1, which follow from comparisons: relevance ends at it.
    const bool begins = is_weighted(node.op) && !fixed;
    const bool carrying =
        !has_trait(node.op, Trait::cuts_relevance) && (begins || !carrying_inputs(node).empty());
    for (std::size_t i = 0; i < node.outputs.size(); ++i) {
      const ValueId id = node.outputs[i];
      if (id == no_value) continue;
      carries_[index_of(id)] = carrying && !counts(node, i);
      static_[index_of(id)] = fixed;
    }
  }
}

std::vector<std::size_t> Dependence::carrying_inputs(const Node& node) const {
  std::vector<std::size_t> positions;
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    if (carries(node.inputs[i])) positions.push_back(i);
  }
  return positions;
}

int Dependence::gate_strength(ValueId id) const {
  for (NodeId n = graph_->producer(id); n != no_node; n = graph_->producer(id)) {
    const Node& node = graph_->node(n);
    if (has_trait(node.op, Trait::strong_gate)) return 2;
    if (has_trait(node.op, Trait::weak_gate)) return 1;
    const std::vector<std::size_t> carrying = carrying_inputs(node);
    if (!keeps_character(node.op) || carrying.size() != 1) return 0;
    id = node.inputs[carrying[0]];
  }
  return 0;
}

}  // namespace assay::relevance
