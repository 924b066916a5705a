#include "assay/engine/preparation/free_batch.h"

#include <assay/array_math.h>

#include <algorithm>

#include <assay/error.h>
#include <assay/model.h>
#include "assay/engine/execute.h"
#include "assay/engine/preparation/input_form.h"

namespace assay::inline engine {
namespace {

// The target with -1 in place of the leading dimension, every other dimension being the one seen.
std::optional<Shape> freed_target(const Shape& seen, std::int64_t batch) {
  if (seen.empty() || seen[0] % batch != 0) return std::nullopt;
  Shape target = seen;
  target[0] = -1;
  return target;
}

// Halves of a batch, one after the other along the axis on which the whole batch is twice as large.
Array joined_halves(const Array& first, const Array& second, const Array& whole) {
  std::int64_t axis = 0;
  for (std::int64_t i = whole.rank() - 1; i >= 0 && whole.rank() == first.rank(); --i) {
    if (whole.size(i) == 2 * first.size(i) && first.size(i) > 0) axis = i;
  }
  return array::cat({first, second}, axis);
}

}  // namespace

Tensors run_all(const Graph& graph, const Constants& constants, const Tensors& inputs) {
  const std::size_t count = graph.values().size();
  std::vector<Array> values(count);
  std::vector<bool> available(count, false);
  for (std::size_t i = 0; i < count; ++i) available[i] = constants.values()[i].defined();
  for (const auto& [id, tensor] : inputs) {
    values[index_of(id)] = tensor;
    available[index_of(id)] = true;
  }
  KernelContext context;
  const OnValue no_observer;
  Executor{graph, constants.values(), context, no_observer}.run(make_plan(graph, available, graph.outputs()),
                                                                values);
  Tensors outputs;
  for (const ValueId id : graph.outputs()) {
    const auto index = index_of(id);
    outputs.emplace(id, values[index].defined() ? values[index] : constants.values()[index]);
  }
  return outputs;
}

std::optional<Graph> free_batch(const Graph& graph, const Constants& constants,
                                const SampleShapes& sample_shapes, std::int64_t batch) {
  GraphBuilder builder(graph);
  bool changed = false;
  for (const NodeId n : graph.node_ids()) {
    Node node = graph.node(n);
    if (node.op != "Reshape" || node.inputs.size() < 2 || !constants.has(node.inputs[1])) continue;
    if (constants.has(node.inputs[0])) continue;
    const auto target = freed_target(sample_shapes.shapes[index_of(node.outputs[0])], batch);
    if (!target) continue;
    node.inputs[1] = builder.constant({}, Array::of<std::int64_t>({std::ssize(*target)}, *target));
    node.attributes.erase("allowzero");
    builder.replace_node(n, std::move(node));
    changed = true;
  }
  if (!changed) return std::nullopt;
  return builder.build();
}

bool squeezes_all(const Node& node) {
  return node.op == "Squeeze" && (node.inputs.size() < 2 || node.inputs[1] == no_value);
}

Graph with_squeezed_axes(const Graph& graph, const SampleShapes& sample_shapes) {
  GraphBuilder builder(graph);
  for (const NodeId n : graph.node_ids()) {
    Node node = graph.node(n);
    if (!squeezes_all(node) || !sample_shapes.computed[index_of(node.inputs[0])]) continue;
    const Shape& seen = sample_shapes.shapes[index_of(node.inputs[0])];
    std::vector<std::int64_t> axes;
    for (std::size_t axis = 0; axis < seen.size(); ++axis) {
      if (seen[axis] == 1) axes.push_back(axis);
    }
    if (axes.empty()) node.op = "Identity";
    node.inputs.resize(axes.empty() ? 1 : 2);
    if (!axes.empty())
      node.inputs[1] = builder.constant({}, Array::of<std::int64_t>({std::ssize(axes)}, axes));
    builder.replace_node(n, std::move(node));
  }
  return builder.build();
}

bool has_outputs_shaped_by_content(const Graph& graph, const Constants& constants, const RecordShapes& known,
                                   std::int64_t group) {
  const auto seen = [&](std::int64_t rows) {
    return sample_shapes(graph, constants, tiny_batch(graph, known, rows));
  };
  const std::vector<ValueInfo> infos = group > 0 ? find_records(graph, constants, known, group)
                                                 : compare_sample_shapes(graph, seen(2), seen(3));
  return std::ranges::any_of(graph.outputs(), [&](ValueId id) {
    const ValueInfo& info = infos[index_of(id)];
    return info.computed && info.shaped_by_content;
  });
}

bool batch_is_free(const Graph& graph, const Constants& constants, const Graph& original,
                   const Constants& original_constants, const RecordShapes& known, std::int64_t batch) {
  const array::Recording unrecorded(false);
  const Tensors whole = tiny_batch(original, known, 2 * batch);
  Tensors halves[2] = {whole, whole};
  for (const ValueId id : original.inputs()) {
    const int axis = input_form(original, id, known).batch_axis;
    if (axis < 0) continue;
    for (int half = 0; half < 2; ++half) halves[half][id] = whole.at(id).narrow(axis, half * batch, batch);
  }
  try {
    const Tensors together = run_all(graph, constants, whole);
    const Tensors first = run_all(original, original_constants, halves[0]);
    const Tensors second = run_all(original, original_constants, halves[1]);
    for (const auto& [id, tensor] : together) {
      if (first.at(id).rank() == 0) continue;
      const Array expected = joined_halves(first.at(id), second.at(id), tensor);
      if (tensor.shape() != expected.shape()) return false;
      if (!array::allclose(tensor.to(DType::float64), expected.to(DType::float64), 1e-3, 1e-5,
                           /*equal_nan=*/true))
        return false;
    }
    return true;
  } catch (const Error& error) {
    if (error.fault() == Fault::interrupted) throw;
    return false;
  }
}

}  // namespace assay::inline engine
