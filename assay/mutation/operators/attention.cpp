#include "assay/mutation/operators/attention.h"

#include "assay/mutation/front.h"

namespace assay::mutation {

std::optional<ReadAttention> attention_read_by(const Subject& subject, const SubjectLayer& layer) {
  const Graph& graph = subject.graph();
  const Node* const product = maker_of(graph, layer.input);
  if (product == nullptr || product->op != "MatMul") return std::nullopt;
  const Node* weights = maker_of(graph, product->inputs[0]);
  // Exporters choose 0 after a softmax where it is not a number.
  while (weights != nullptr && weights->op == "Where") weights = maker_of(graph, weights->inputs[2]);
  if (weights == nullptr || weights->op != "Softmax") return std::nullopt;
  return ReadAttention{product, weights};
}

}  // namespace assay::mutation
