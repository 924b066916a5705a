#include "assay/relevance/vjp.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <torch/csrc/autograd/autograd.h>

#include "assay/engine/kernel.h"

namespace assay::relevance {

std::vector<Tensor> vector_jacobian(const Node& node, std::span<const Tensor> inputs,
                                    std::span<const std::size_t> positions,
                                    std::span<const Tensor> cotangents) {
  const at::AutoGradMode with_grad(true);
  std::vector<Tensor> sources(inputs.begin(), inputs.end()), leaves;
  for (Tensor& source : sources) {
    if (source.defined()) source = source.detach();
  }
  for (const std::size_t position : positions) {
    leaves.push_back(sources[position].detach().requires_grad_());
    sources[position] = leaves.back();
  }
  KernelContext context;
  const std::vector<Tensor> results = run_node(node, sources, context);
  std::vector<Tensor> outputs, weights;
  for (std::size_t o = 0; o < cotangents.size() && o < results.size(); ++o) {
    if (!cotangents[o].defined() || !results[o].requires_grad()) continue;
    outputs.push_back(results[o]);
    weights.push_back(cotangents[o]);
  }
  std::vector<Tensor> slopes(leaves.size());
  if (!outputs.empty())
    slopes = torch::autograd::grad(outputs, leaves, weights, false, false, /*allow_unused=*/true);
  for (std::size_t i = 0; i < slopes.size(); ++i) {
    slopes[i] = slopes[i].defined() ? slopes[i].detach() : at::zeros_like(leaves[i]).detach();
  }
  return slopes;
}

Tensor vector_jacobian(const Node& node, std::span<const Tensor> inputs, std::size_t position,
                       const Tensor& cotangent) {
  return vector_jacobian(node, inputs, std::span(&position, 1), std::span(&cotangent, 1))[0];
}

}  // namespace assay::relevance
