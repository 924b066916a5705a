// Attention that sees what it must not see.

#include <utility>
#include <vector>

#include <fmt/format.h>

#include <assay/extend/mutation_operator.h>
#include <assay/extend/operator_traits.h>
#include <assay/model.h>
#include "assay/engine/layers/attention.h"

namespace assay::mutation {
namespace {

// Whether the value is made from a product of queries and keys by what scales, moves and masks it.
bool holds_product(const Graph& graph, ValueId value) {
  const NodeId n = value == no_value ? no_node : graph.producer(value);
  if (n == no_node) return false;
  const Node& node = graph.node(n);
  if (node.op == "MatMul") return true;
  const bool passes = node.op == "Add" || node.op == "Where" || node.op == "Mul" || node.op == "Div" ||
                      node.op == "Cast" || is_movement(node.op) || is_pass_through(node.op);
  if (!passes) return false;
  for (const ValueId input : node.inputs)
    if (holds_product(graph, input)) return true;
  return false;
}

// A node that masks scores, and the scores.
using Masking = std::pair<NodeId, ValueId>;

// All between the product and the softmax.
std::vector<Masking> maskings(const Graph& graph, ValueId scores) {
  std::vector<Masking> found;
  while (holds_product(graph, scores)) {
    const NodeId n = graph.producer(scores);
    const Node& node = graph.node(n);
    if (node.op == "MatMul") break;
    ValueId inner = no_value;
    std::size_t products = 0;
    for (std::size_t i = node.op == "Where" ? 1 : 0; i < node.inputs.size(); ++i) {
      if (!holds_product(graph, node.inputs[i])) continue;
      inner = node.inputs[i];
      ++products;
    }
    if (products != 1) break;  // scores of several products, such as those of relative positions
    if (node.op == "Add" || node.op == "Where") found.emplace_back(n, inner);
    scores = inner;
  }
  return found;
}

void drop(Edit& edit, const Masking& masking) {
  edit.restructure([masking](GraphBuilder& builder) {
    Node node = builder.node(masking.first);
    builder.replace_node(masking.first, {.name = node.name,
                                         .op = "Identity",
                                         .inputs = {masking.second},
                                         .outputs = node.outputs,
                                         .attributes = {}});
  });
}

}  // namespace

OperatorInfo mask_operator() {
  return {
      .name = "mask",
      .title = "attention mask dropped",
      .summary = "attention sees every token: those that come later, and those that fill up",
      .definition =
          "where a layer reads the result of attention, additions to its scores and choices between these "
          "and "
          "another value, which lie between the product of queries and keys and the softmax, pass the "
          "scores on as they are",
      .limits =
          "one mutant per attention; a bias of relative positions that is added with the mask goes with "
          "it; "
          "a mask that leaves nothing out gives a mutant that no test kills",
      .paper = "what a mask is for: Vaswani et al., Attention Is All You Need, NeurIPS 2017",
      .level = OperatorInfo::Level::layer,
      .refusal = [](const SubjectLayer&, const SpecOptions&) { return std::string(); },
      .apply =
          [](const MutationSite& target, Edit& edit) {
            const auto attention = attention_of(edit.subject().graph(), target.layer.input);
            if (!attention) return;
            const auto found = maskings(edit.subject().graph(), attention->softmax->inputs[0]);
            for (const Masking& one : found) drop(edit, one);
            if (!found.empty()) edit.note(target.layer, -1, "reads attention without mask");
          }};
}

}  // namespace assay::mutation
