#include "assay/engine/execute.h"

#include <ATen/ATen.h>

#include "assay/support/progress.h"

namespace assay {

void execute(const Graph& graph, const Plan& plan, std::span<const Tensor> constants, std::vector<Tensor>& values,
             KernelContext& context, c10::Device device, const OnValue& on_value) {
  std::vector<Tensor> inputs;
  for (std::size_t step = 0; step < plan.nodes.size(); ++step) {
    check_interrupt();
    const Node& node = graph.nodes()[static_cast<std::size_t>(plan.nodes[step])];
    inputs.clear();
    for (const ValueId id : node.inputs) {
      const auto index = static_cast<std::size_t>(id);
      inputs.push_back(id == no_value ? Tensor() : values[index].defined() ? values[index] : constants[index]);
      if (inputs.back().defined() && inputs.back().device() != device) inputs.back() = inputs.back().to(device);
    }
    std::vector<Tensor> outputs = run_node(node, inputs, context);
    for (std::size_t i = 0; i < node.outputs.size(); ++i) {
      if (node.outputs[i] == no_value) continue;
      if (on_value && outputs[i].defined()) on_value(node.outputs[i], outputs[i]);
      values[static_cast<std::size_t>(node.outputs[i])] = std::move(outputs[i]);
    }
    for (const ValueId id : plan.release[step]) values[static_cast<std::size_t>(id)].reset();
  }
}

}  // namespace assay
