#include "assay/relevance/vjp.h"

#include <assay/array_math.h>

#include "assay/engine/operators/kernel.h"

namespace assay::relevance {

std::vector<Array> vector_jacobian(const Node& node, std::span<const Array> inputs,
                                   std::span<const std::size_t> positions,
                                   std::span<const Array> cotangents) {
  const array::Recording recorded(true);
  std::vector<Array> sources(inputs.begin(), inputs.end()), leaves;
  for (Array& source : sources) {
    if (source.defined()) source = source.detach();
  }
  for (const std::size_t position : positions) {
    leaves.push_back(sources[position].detach().requires_grad_());
    sources[position] = leaves.back();
  }
  KernelContext context;
  const std::vector<Array> results = run_node(node, sources, context);
  std::vector<Array> outputs, weights;
  for (std::size_t o = 0; o < cotangents.size() && o < results.size(); ++o) {
    if (!cotangents[o].defined() || !results[o].requires_grad()) continue;
    outputs.push_back(results[o]);
    weights.push_back(cotangents[o].to(results[o].dtype()));
  }
  std::vector<Array> gradients(leaves.size());
  if (!outputs.empty()) gradients = array::gradients(outputs, leaves, weights);
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    gradients[i] = gradients[i].defined() ? gradients[i] : array::zeros_like(leaves[i]);
  }
  return gradients;
}

Array vector_jacobian(const Node& node, std::span<const Array> inputs, std::size_t position,
                      const Array& cotangent) {
  return vector_jacobian(node, inputs, std::span(&position, 1), std::span(&cotangent, 1))[0];
}

}  // namespace assay::relevance
