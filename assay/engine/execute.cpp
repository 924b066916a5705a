#include "assay/engine/execute.h"

#include <assay/array_math.h>

#include <assay/progress.h>

namespace assay::inline engine {

void release(std::span<const ValueId> ids, std::vector<Array>& values) {
  for (const ValueId id : ids) values[index_of(id)] = Array();
}

void Executor::run(NodeId n, std::vector<Array>& values) const {
  check_interrupt();
  const Node& node = graph.node(n);
  std::vector<Array> inputs;
  for (const ValueId id : node.inputs) {
    const auto at = index_of(id);
    inputs.push_back(id == no_value ? Array() : values[at].defined() ? values[at] : constants[at]);
  }
  std::vector<Array> outputs = run_node(node, inputs, context);
  for (std::size_t i = 0; i < node.outputs.size(); ++i) {
    if (node.outputs[i] == no_value) continue;
    if (on_value && outputs[i].defined()) on_value(node.outputs[i], outputs[i]);
    values[index_of(node.outputs[i])] = std::move(outputs[i]);
  }
}

void Executor::run(const Plan& plan, std::vector<Array>& values) const {
  for (std::size_t step = 0; step < plan.nodes.size(); ++step) {
    run(plan.nodes[step], values);
    release(plan.release[step], values);
  }
}

}  // namespace assay::inline engine
