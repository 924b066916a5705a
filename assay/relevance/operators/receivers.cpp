#include <algorithm>

#include "assay/relevance/operators/families.h"

namespace assay::relevance::passing {
namespace {

Positions those_of(const Dependence& dependence, const Node& node,
                   std::initializer_list<std::size_t> positions) {
  Positions result;
  for (const std::size_t i : positions) {
    if (i < node.inputs.size() && dependence.carries(node.inputs[i])) result.push_back(i);
  }
  return result;
}

}  // namespace

Positions all(const Dependence& dependence, const Node& node) { return dependence.carrying_inputs(node); }
Positions first(const Dependence& dependence, const Node& node) { return those_of(dependence, node, {0}); }
Positions branches(const Dependence& dependence, const Node& node) {
  return those_of(dependence, node, {1, 2});
}
Positions scattering(const Dependence& dependence, const Node& node) {
  return those_of(dependence, node, {0, 2});
}
Positions sequence(const Dependence& dependence, const Node& node) {
  return those_of(dependence, node, {0, 5, 6});
}

Positions looked_up(const Dependence& dependence, const Node& node) {
  const Positions table = first(dependence, node);
  return table.empty() ? those_of(dependence, node, {1}) : table;
}

Positions quotient(const Dependence& dependence, const Node& node) {
  const Positions numerator = first(dependence, node);
  return numerator.empty() ? those_of(dependence, node, {1}) : numerator;
}

// The operand that looks least like a gate takes all; equals share.
Positions signal(const Dependence& dependence, const Node& node) {
  Positions receivers = dependence.carrying_inputs(node);
  if (receivers.size() < 2) return receivers;
  int least = 2;
  for (const std::size_t i : receivers) least = std::min(least, dependence.gate_strength(node.inputs[i]));
  std::erase_if(receivers, [&](std::size_t i) { return dependence.gate_strength(node.inputs[i]) > least; });
  return receivers;
}

}  // namespace assay::relevance::passing
