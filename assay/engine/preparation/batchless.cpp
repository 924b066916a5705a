#include "assay/engine/preparation/batchless.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>

#include <assay/error.h>
#include <assay/model.h>
#include "assay/engine/kernels/memory.h"
#include "assay/engine/preparation/free_batch.h"

namespace assay {
namespace {

constexpr std::int64_t tried_records = 3;

// The node only puts an axis of 1 in front of what it is given, or takes it away again.
bool moves_leading_one(const Graph& graph, const Node& node, const Footprint& seen) {
  const bool reshapes =
      node.op == "Unsqueeze" || node.op == "Squeeze" || node.op == "Reshape" || node.op == "Flatten";
  if (!reshapes || node.inputs.empty() || graph.is_constant(node.inputs[0])) return false;
  Shape before = seen.shapes[static_cast<std::size_t>(node.inputs[0])],
        after = seen.shapes[static_cast<std::size_t>(node.outputs[0])];
  if (before.size() > after.size()) std::swap(before, after);
  before.insert(before.begin(), 1);
  return before == after;
}

// `records` of those of `original`, which has the same inputs.
Graph declared_with_batch(const Graph& graph, const Graph& original, std::int64_t records) {
  GraphBuilder edit(graph);
  for (const ValueId id : original.inputs()) {
    Shape shape = original.value(id).shape;
    shape.insert(shape.begin(), records);
    edit.set_type(id, original.value(id).dtype, shape);
  }
  return edit.build();
}

// Without the nodes that bring the first axis of 1 to the inputs and take it from the outputs.
std::optional<Graph> without_leading_ones(const Graph& graph, const Footprint& seen) {
  GraphBuilder edit(graph);
  bool changed = false;
  for (std::size_t n = 0; n < graph.nodes().size(); ++n) {
    const Node& node = graph.nodes()[n];
    const bool at_edge =
        std::ranges::any_of(
            node.inputs,
            [&](ValueId id) { return std::ranges::find(graph.inputs(), id) != graph.inputs().end(); }) ||
        std::ranges::find(graph.outputs(), node.outputs[0]) != graph.outputs().end();
    if (!at_edge || !moves_leading_one(graph, node, seen)) continue;
    edit.replace_node(static_cast<int>(n), {.name = node.name,
                                            .op = "Identity",
                                            .inputs = {node.inputs[0]},
                                            .outputs = node.outputs,
                                            .attributes = {}});
    changed = true;
  }
  return changed ? std::optional(edit.build()) : std::nullopt;
}

class Trial {
 public:
  Trial(const Graph& graph, c10::Device device) : device_(device) {
    const Graph several = declared_with_batch(graph, graph, tried_records);
    inputs_ = tiny_batch(several, {}, tried_records, device);
    const Constants constants(graph, device, memory_limit());
    std::vector<Tensors> alone;
    for (std::int64_t i = 0; i < tried_records; ++i) {
      Tensors one;
      for (const auto& [id, tensor] : inputs_) one.emplace(id, tensor.select(0, i));
      alone.push_back(run_all(graph, constants, one, device));
    }
    for (const ValueId id : graph.outputs()) {
      std::vector<Tensor> rows;
      for (const Tensors& outputs : alone) rows.push_back(outputs.at(id).reshape({-1}));
      wanted_.emplace(id, at::stack(rows).to(at::kDouble));
    }
    Tensors first;
    for (const auto& [id, tensor] : inputs_) first.emplace(id, tensor.select(0, 0));
    seen_ = footprint(graph, constants, first, device);
  }

  const Footprint& seen() const { return seen_; }

  bool holds_for(const Graph& candidate) const {
    try {
      const Constants constants(candidate, device_, memory_limit());
      for (const auto& [id, tensor] : run_all(candidate, constants, inputs_, device_)) {
        const Tensor& wanted = wanted_.at(id);
        if (tensor.dim() == 0 || tensor.size(0) != tried_records || tensor.numel() != wanted.numel())
          return false;
        if (!at::allclose(tensor.reshape(wanted.sizes()).to(at::kDouble), wanted, 1e-4, 1e-6,
                          /*equal_nan=*/true))
          return false;
      }
      return true;
    } catch (const Error& error) {
      if (error.fault() == Fault::interrupted || error.fault() == Fault::resources) throw;
      return false;
    }
  }

 private:
  c10::Device device_;
  Tensors inputs_, wanted_;  // [tried_records, ...]
  Footprint seen_;
};

// Targets of Reshape that were made for one record.
std::optional<Graph> freed(const Graph& graph, const Graph& original, c10::Device device) {
  const Graph one = declared_with_batch(graph, original, 1);
  try {
    const Constants constants(one, device, memory_limit());
    return free_batch(one, constants, footprint(one, constants, tiny_batch(one, {}, 1, device), device), 1);
  } catch (const Error& error) {
    if (error.fault() == Fault::interrupted || error.fault() == Fault::resources) throw;
    return std::nullopt;
  }
}

// Declared for any number of records; outputs as they come.
Graph opened(const Graph& graph, const Graph& original) {
  const Graph open = declared_with_batch(graph, original, -1);
  GraphBuilder edit(open);
  for (const ValueId id : graph.outputs()) {
    if (graph.producer(id) >= 0) edit.set_type(id, graph.value(id).dtype, {});
  }
  return edit.build();
}

}  // namespace

bool takes_single_record(const Graph& graph, const RecordShapes& known) {
  if (graph.inputs().empty()) return false;
  return std::ranges::all_of(graph.inputs(), [&](ValueId id) {
    const Shape &declared = graph.value(id).shape, &told = known.of(graph, id);
    if (declared.empty() || std::ranges::count(declared, -1) > 0) return false;
    if (declared[0] == 1) return false;  // a batch of one, which records with one channel fit as well
    return told.empty() ? declared.size() == 1 : told == declared;
  });
}

std::optional<Graph> with_batch_axis(const Graph& graph, c10::Device device) {
  const at::NoGradGuard no_grad;
  const Trial trial(graph, device);
  std::vector<Graph> candidates{graph};
  if (auto bare = without_leading_ones(graph, trial.seen())) candidates.push_back(std::move(*bare));
  for (std::size_t i = candidates.size(); i-- > 0;) {
    if (auto free = freed(candidates[i], graph, device)) candidates.push_back(std::move(*free));
  }
  for (const Graph& candidate : candidates) {
    if (trial.holds_for(candidate)) return opened(candidate, graph);
  }
  return std::nullopt;
}

}  // namespace assay
