#include "assay/engine/layers/activation_chain.h"

#include <algorithm>
#include <set>

#include <assay/extend/operator_traits.h>

namespace assay::inline engine {
namespace {

constexpr std::size_t largest_composite = 32;  // nodes

bool is_output(const Graph& graph, ValueId id) {
  return std::ranges::find(graph.outputs(), id) != graph.outputs().end();
}

std::string composite_name(const Graph& graph, const Composite& composite) {
  if (composite.reduces) return "Normalisation";
  const auto contains = [&](std::string_view op) {
    return std::ranges::any_of(composite.nodes, [&](NodeId n) { return graph.node(n).op == op; });
  };
  if (contains("Erf") || (contains("Tanh") && contains("Pow"))) return "Gelu";
  if (contains("Softplus")) return "Mish";
  if (contains("HardSigmoid") || contains("Clip")) return "HardSwish";
  if (contains("Sigmoid")) return "Swish";
  return "composite";
}

// Addition of, or multiplication with, constants: part of the linear operator before it.
bool is_affine(const Node& node, const Constants& constants, ValueId data) {
  if (node.op == "BatchNormalization") return node.inputs[0] == data;
  if (!has_trait(node.op, Trait::affine) || node.inputs.size() != 2) return false;
  if (node.inputs[0] == data) return constants.has(node.inputs[1]);
  const bool commutes = node.op != "Sub" && node.op != "Div";
  return commutes && constants.has(node.inputs[0]);
}

// A constant factor after a composite is part of it (the 0.5 of GELU).
bool is_scale(const Node& node, const Constants& constants) {
  if (node.op != "Mul" && node.op != "Div") return false;
  return std::ranges::any_of(node.inputs, [&](ValueId id) {
    return constants.has(id) && constants.values()[index_of(id)].count() == 1;
  });
}

}  // namespace

std::optional<Composite> find_composite(const Graph& graph, std::span<const ValueInfo> infos, ValueId root,
                                        bool choices) {
  Composite composite;
  std::set<ValueId> inside{root};
  const auto readers = graph.consumers(root);
  if (readers.size() < 2 || readers.size() > largest_composite) return std::nullopt;
  std::set<NodeId> pending(readers.begin(), readers.end());
  while (!pending.empty() && composite.nodes.size() < largest_composite) {
    const NodeId n = *pending.begin();
    pending.erase(pending.begin());
    const Node& node = graph.node(n);
    const bool reduces = is_reduction(node.op);
    const bool chooses = choices && (node.op == "Where" || is_kind(node.op, OperatorKind::truth));
    if ((!reduces && !chooses && !is_elementwise(node.op)) || node.outputs.empty()) return std::nullopt;
    for (const ValueId id : node.inputs) {
      const bool foreign = id != no_value && infos[index_of(id)].batch_axis >= 0 && !inside.contains(id);
      if (foreign) return std::nullopt;
    }
    composite.nodes.push_back(n);
    composite.reduces |= reduces;
    const ValueId out = node.outputs[0];
    if (pending.empty()) {
      composite.exit = out;
      composite.name = composite_name(graph, composite);
      return composite;
    }
    if (is_output(graph, out)) return std::nullopt;
    inside.insert(out);
    pending.insert(graph.consumers(out).begin(), graph.consumers(out).end());
  }
  return std::nullopt;
}

Chain follow_chain(const Graph& graph, const Constants& constants, std::span<const ValueInfo> infos,
                   ValueId from, bool affine) {
  Chain chain{.value = from, .nodes = {}, .ops = {}, .activation = {}, .range = {}};
  std::vector<NodeId> passed;
  const auto take = [&](NodeId n, ValueId value, const std::string& op) {
    chain.nodes.insert(chain.nodes.end(), passed.begin(), passed.end());
    passed.clear();
    chain.nodes.push_back(n);
    chain.value = value;
    if (!op.empty()) chain.ops.push_back(op);
  };
  for (ValueId at = from; !is_output(graph, at);) {
    const auto composite = find_composite(graph, infos, at);
    if (composite && !composite->reduces) {
      for (const NodeId n : composite->nodes)
        take(n, composite->exit, n == composite->nodes.back() ? composite->name : "");
      chain.activation = composite->name;
      const auto next = graph.consumers(composite->exit);
      if (next.size() == 1 && !is_output(graph, composite->exit)) {
        const Node& node = graph.node(next[0]);
        if (is_scale(node, constants)) take(next[0], node.outputs[0], "");
      }
      return chain;
    }
    const auto readers = graph.consumers(at);
    if (readers.size() != 1) return chain;
    const Node& node = graph.node(readers[0]);
    if (node.outputs.empty() || node.outputs[0] == no_value) return chain;
    if (is_activation(node.op) && node.inputs[0] == at) {
      take(readers[0], node.outputs[0], node.op);
      chain.activation = node.op;
      chain.range = range_of(graph, node);
      return chain;
    }
    if (affine && is_affine(node, constants, at)) {
      take(readers[0], node.outputs[0], node.op);
    } else if (is_pass_through(node.op) && node.inputs[0] == at) {
      passed.push_back(readers[0]);
    } else {
      return chain;
    }
    at = node.outputs[0];
  }
  return chain;
}

}  // namespace assay::inline engine
