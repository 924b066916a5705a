#include "assay/engine/execute.h"

#include <ATen/ATen.h>

#include <assay/progress.h>

namespace assay {

void release(std::span<const ValueId> ids, std::vector<Tensor>& values) {
  for (const ValueId id : ids) values[static_cast<std::size_t>(id)].reset();
}

void Executor::run(int index, std::vector<Tensor>& values) const {
  check_interrupt();
  const Node& node = graph.nodes()[static_cast<std::size_t>(index)];
  std::vector<Tensor> inputs;
  for (const ValueId id : node.inputs) {
    const auto at = static_cast<std::size_t>(id);
    inputs.push_back(id == no_value ? Tensor() : values[at].defined() ? values[at] : constants[at]);
    if (inputs.back().defined() && inputs.back().device() != device) inputs.back() = inputs.back().to(device);
  }
  std::vector<Tensor> outputs = run_node(node, inputs, context);
  for (std::size_t i = 0; i < node.outputs.size(); ++i) {
    if (node.outputs[i] == no_value) continue;
    if (on_value && outputs[i].defined()) on_value(node.outputs[i], outputs[i]);
    values[static_cast<std::size_t>(node.outputs[i])] = std::move(outputs[i]);
  }
}

void Executor::run(const Plan& plan, std::vector<Tensor>& values) const {
  for (std::size_t step = 0; step < plan.nodes.size(); ++step) {
    run(plan.nodes[step], values);
    release(plan.release[step], values);
  }
}

}  // namespace assay
