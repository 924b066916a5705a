#include "assay/engine/layers/attention.h"

#include <assay/extend/operator_traits.h>

namespace assay {

const Node* maker_of(const Graph& graph, ValueId value, ValueId* moved) {
  const Node* maker = nullptr;
  for (int n = graph.producer(value); n >= 0; n = graph.producer(value)) {
    const Node& node = graph.node(n);
    if (node.op != "Cast" && !is_pass_through(node.op) && (node.op == "Where" || !is_movement(node.op))) {
      maker = &node;
      break;
    }
    value = node.inputs[0];
  }
  if (moved != nullptr) *moved = value;
  return maker;
}

std::optional<Attention> attention_behind(const Graph& graph, ValueId value) {
  const Node* const product = maker_of(graph, value);
  if (product == nullptr || product->op != "MatMul") return std::nullopt;
  const Node* weights = maker_of(graph, product->inputs[0]);
  // Exporters choose 0 after a softmax where it is not a number.
  while (weights != nullptr && weights->op == "Where") weights = maker_of(graph, weights->inputs[2]);
  if (weights == nullptr || weights->op != "Softmax") return std::nullopt;
  return Attention{product, weights};
}

}  // namespace assay
