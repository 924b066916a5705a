#include "assay/engine/preparation/part.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <assay/progress.h>
#include "assay/engine/kernel.h"

namespace assay {

Part::Part(const Graph& graph, std::span<const int> nodes) {
  for (const int n : nodes) {
    nodes_.push_back(graph.nodes()[static_cast<std::size_t>(n)]);
    for (const ValueId id : nodes_.back().inputs) {
      if (graph.is_constant(id)) constants_.emplace(id, to_tensor(graph.constant(id)));
    }
  }
}

Tensors Part::run(const Tensors& given, std::span<const ValueId> wanted) const {
  const at::NoGradGuard no_grad;
  const c10::Device device = given.empty() ? c10::Device(c10::kCPU) : given.begin()->second.device();
  Tensors values = given;
  KernelContext context;
  for (const Node& node : nodes_) {
    check_interrupt();
    std::vector<Tensor> inputs;
    for (const ValueId id : node.inputs) {
      if (id == no_value) {
        inputs.emplace_back();
      } else {
        const auto constant = constants_.find(id);
        inputs.push_back(constant == constants_.end() ? values.at(id) : constant->second.to(device));
      }
    }
    std::vector<Tensor> outputs = run_node(node, inputs, context);
    for (std::size_t i = 0; i < node.outputs.size(); ++i) {
      if (node.outputs[i] != no_value) values[node.outputs[i]] = std::move(outputs[i]);
    }
  }
  Tensors results;
  for (const ValueId id : wanted) results.emplace(id, values.at(id));
  return results;
}

}  // namespace assay
