#include "assay/engine/backend.h"

#include <array>
#include <set>

#include <assay/error.h>
#include "assay/engine/channels/segment.h"
#include "assay/engine/lanes/segment.h"

namespace assay::inline engine {

std::vector<Array> Segment::gradients(const Tensors&, std::span<const Array>,
                                      std::span<const ValueId>) const {
  fail(Fault::internal, "gradients are requested from a back end that has none");
}

RecordGradients Segment::gradients(const Tensors&, const RecordObjective&, std::span<const ValueId>) const {
  fail(Fault::internal, "gradients are requested from a back end that has none");
}

bool Backend::trains(const Graph&, const Node&, std::size_t) const { return false; }
double Backend::trainable_bytes(double) const { return 0; }

std::span<const Backend* const> backends() {
  static const std::array<const Backend*, 2> all{&lanes::backend(), &channels::backend()};
  return all;
}

std::optional<NodeId> nan_test_of(const Graph& graph, const Node& choice) {
  if (choice.op != "Where" || graph.is_constant(choice.inputs[2])) return std::nullopt;
  const NodeId test = graph.producer(choice.inputs[0]);
  if (test == no_node || graph.node(test).op != "IsNaN" || graph.node(test).inputs[0] != choice.inputs[2] ||
      graph.consumers(choice.inputs[0]).size() != 1)
    return std::nullopt;
  return test;
}

std::vector<ValueId> outside_inputs(const SegmentRequest& request) {
  std::set<ValueId> made, read;
  for (const NodeId n : request.nodes) {
    const Node& node = request.graph->node(n);
    for (const ValueId in : node.inputs) {
      if (in != no_value && !request.graph->is_constant(in) && !made.contains(in)) read.insert(in);
    }
    made.insert(node.outputs.begin(), node.outputs.end());
  }
  std::erase_if(read, [&](ValueId id) { return request.shape_of(id).size() < 2; });
  return {read.begin(), read.end()};
}

}  // namespace assay::inline engine
