#include "assay/engine/torch/steps.h"

#include <algorithm>
#include <map>
#include <type_traits>

#include "assay/engine/padding.h"
#include "assay/engine/parameters.h"

namespace assay::torch_module {
namespace {

// Kernel, steps and padding of windows as they are to be computed (windows.cpp of the module).
void add_windows(const Graph& graph, const Node& node, const ShapeOf& shape_of, Step& step) {
  const bool pool = node.op == "MaxPool" || node.op == "AveragePool";
  if (!pool && node.op != "Conv" && node.op != "ConvTranspose") return;
  const Shape &in = shape_of(node.inputs[0]), &out = shape_of(node.outputs[0]);
  SlidingWindow window;
  if (pool) {
    window = pool_window(node, in, out);
  } else {
    const Shape& weights = graph.constant(node.inputs[1]).shape();
    const auto resolve = node.op == "Conv" ? sliding_window : transposed_window;
    window = resolve(node, in, out, {weights.begin() + 2, weights.end()});
  }
  step.attributes["kernel"] = window.kernel;
  step.attributes["steps"] = window.strides;
  step.attributes["dilated"] = window.dilations;
  step.attributes["left"] = window.left;
  step.attributes["right"] = window.right;
}

HostNumbers numbers_of(const Array& constant) {
  return {constant.data(), constant.dtype(), constant.shape()};
}

Step::Operand operand_of(const Graph& graph, ValueId id, const ShapeOf& shape_of) {
  if (id == no_value) return {};
  if (graph.is_constant(id)) return {-1, numbers_of(graph.constant(id)), graph.constant(id).shape()};
  return {-1, {}, shape_of(id)};
}

bool is_needed(const SegmentRequest& request, ValueId id) {
  return id != no_value &&
         (is_read(*request.graph, id) || std::ranges::find(request.keep, id) != request.keep.end() ||
          std::ranges::find(request.taps, id, &ReducedValue::value) != request.taps.end());
}

TappedSlot::How how_of(Reduction reduction) {
  return reduction == Reduction::mean  ? TappedSlot::How::mean
         : reduction == Reduction::max ? TappedSlot::How::max
                                       : TappedSlot::How::min;
}

}  // namespace

std::optional<Step> step_of(const Graph& graph, const Node& node, const ShapeOf& shape_of) {
  Step step{node.op, {}, {}, {}};
  for (const auto& [name, value] : node.attributes) {
    const bool known = std::visit(
        [&, &name = name](const auto& held) {
          if constexpr (std::is_constructible_v<StepAttribute, decltype(held)>) {
            step.attributes.emplace(name, held);
            return true;
          } else {
            return false;
          }
        },
        value);
    if (!known) return std::nullopt;
  }
  for (const ValueId id : node.inputs) step.operands.push_back(operand_of(graph, id, shape_of));
  for (const ValueId id : node.outputs) step.results.push_back({-1, id == no_value ? Shape() : shape_of(id)});
  add_windows(graph, node, shape_of, step);
  return step;
}

ModulePlan plan_of(const SegmentRequest& request, std::span<const ValueId> inputs) {
  const Graph& graph = *request.graph;
  ModulePlan plan;
  plan.threads = request.threads;
  std::map<ValueId, int> slots;
  const auto slot_of = [&](ValueId id) {
    return slots.try_emplace(id, static_cast<int>(slots.size())).first->second;
  };
  for (const ValueId id : inputs) plan.inputs.push_back(slot_of(id));
  for (const NodeId n : request.nodes) {
    const Node& node = graph.node(n);
    Step step = step_of(graph, node, request.shape_of).value();
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      const auto known = slots.find(node.inputs[i]);
      if (known == slots.end()) continue;
      step.operands[i].slot = known->second;
      step.operands[i].constant = {};
    }
    for (std::size_t i = 0; i < node.outputs.size(); ++i)
      if (is_needed(request, node.outputs[i])) step.results[i].slot = slot_of(node.outputs[i]);
    plan.steps.push_back(std::move(step));
  }
  for (const ValueId id : request.keep) plan.outputs.push_back(slot_of(id));
  for (const ReducedValue& tap : request.taps)
    plan.taps.push_back({how_of(tap.reduction), slot_of(tap.value), tap.axis, tap.whole});
  plan.slots = static_cast<int>(slots.size());
  return plan;
}

}  // namespace assay::torch_module
