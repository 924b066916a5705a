#include "assay/engine/probe.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>

#include <assay/error.h>
#include <assay/extend/operator_traits.h>
#include <assay/extend/random.h>
#include "assay/engine/execute.h"
#include "assay/engine/input_form.h"
#include "assay/engine/kernels/memory.h"

namespace assay {
namespace {

// True when a dimension of two batches, of two and of three records, is proportional to the number of
// records.
bool scales(std::int64_t two, std::int64_t three) { return three > two && two == 2 * (three - two); }

ValueInfo compare(const Shape& two, const Shape& three) {
  ValueInfo info;
  info.computed = true;
  info.shape = two;
  if (two.size() != three.size()) return info;
  int axis = -1;
  for (std::size_t i = 0; i < two.size(); ++i) {
    if (two[i] == three[i]) continue;
    if (axis >= 0 || !scales(two[i], three[i])) return info;
    axis = static_cast<int>(i);
  }
  if (axis < 0) return info;
  info.batch_axis = axis;
  info.batch_multiple = two[static_cast<std::size_t>(axis)] / 2;
  info.shape[static_cast<std::size_t>(axis)] = info.batch_multiple;
  return info;
}

// Uniform in [0, 1) for floating-point types, zeros (valid as indices) for others.
Tensor numbers(const Shape& shape, at::ScalarType type, std::uint64_t stream) {
  Tensor tensor = at::zeros(shape, at::kFloat);
  if (!at::isFloatingType(type)) return tensor.to(type);
  Rng rng(1, {stream});
  float* const out = tensor.data_ptr<float>();
  for (std::int64_t i = 0; i < tensor.numel(); ++i) out[i] = static_cast<float>(rng.uniform());
  return tensor.to(type);
}

// Where recurrent operators put the batch, by the number of the output: Y, Y_h, Y_c.
int recurrent_batch_axis(const Node& node, std::size_t output) {
  const bool batch_first = node.integer("layout", 0) == 1;
  if (batch_first) return 0;
  return output == 0 ? 2 : 1;
}

// A Reshape that merges [time, batch, ...] into rows interleaves the records: rows of one record are not
// adjacent. Such values, and what is computed from them row by row, are marked as not understood.
void discard_interleaved(const Graph& graph, std::vector<ValueInfo>& infos) {
  std::vector<bool> interleaved(infos.size(), false);
  const auto info = [&](ValueId id) -> ValueInfo& { return infos[static_cast<std::size_t>(id)]; };
  for (const Node& node : graph.nodes()) {
    const bool merges = node.op == "Reshape" || node.op == "Flatten";
    const bool affected = std::ranges::any_of(node.inputs, [&](ValueId id) {
      return id != no_value &&
             (interleaved[static_cast<std::size_t>(id)] || (merges && info(id).batch_axis > 0));
    });
    for (const ValueId id : node.outputs) {
      if (!affected || id == no_value || info(id).batch_multiple == 1) continue;
      interleaved[static_cast<std::size_t>(id)] = true;
      info(id).batch_axis = -1;
    }
  }
}

}  // namespace

Tensors tiny_batch(const Graph& graph, const RecordShapes& known, std::int64_t rows, c10::Device device) {
  Tensors inputs;
  for (const ValueId id : graph.inputs()) {
    const Value& value = graph.value(id);
    const InputForm form = input_form(graph, id, known);
    Shape shape = form.record;
    for (std::size_t i = 0; i < shape.size(); ++i) {
      if (shape[i] < 0) {
        fail(Fault::usage,
             "dimension {} of input '{}' of network '{}', which takes {}, is known neither from the file nor "
             "from "
             "the data; give the shape of one record",
             i + 1, value.name, graph.name(), to_string(value.shape));
      }
    }
    if (form.batch_axis >= 0) shape.insert(shape.begin() + form.batch_axis, rows);
    check_size(shape, size_of(value.dtype));
    inputs.emplace(id, numbers(shape, scalar_type(value.dtype), static_cast<std::uint64_t>(id)).to(device));
  }
  return inputs;
}

Footprint footprint(const Graph& graph, const Constants& constants, const Tensors& inputs,
                    c10::Device device) {
  const at::NoGradGuard no_grad;
  const std::size_t count = graph.values().size();
  Footprint seen{std::vector<Shape>(count), std::vector<bool>(count), std::vector<bool>(count),
                 std::vector<bool>(count)};
  const auto see = [&](ValueId id, const Tensor& tensor) {
    const auto index = static_cast<std::size_t>(id);
    seen.shapes[index] = tensor.sizes().vec();
    seen.computed[index] = true;
    seen.floating[index] = tensor.is_floating_point();
    seen.single[index] = tensor.scalar_type() == at::kFloat;
  };
  std::vector<Tensor> values(count);
  std::vector<bool> available(count, false);
  for (std::size_t i = 0; i < count; ++i) {
    available[i] = constants.values()[i].defined();
    if (available[i]) see(static_cast<ValueId>(i), constants.values()[i]);
  }
  for (const auto& [id, tensor] : inputs) {
    values[static_cast<std::size_t>(id)] = tensor;
    available[static_cast<std::size_t>(id)] = true;
    see(id, tensor);
  }
  KernelContext context;
  const OnValue on_value = see;
  Executor{graph, constants.values(), context, device, on_value}.run(
      make_plan(graph, available, graph.outputs()), values);
  return seen;
}

std::vector<ValueInfo> compare_footprints(const Graph& graph, const Footprint& two, const Footprint& three) {
  std::vector<ValueInfo> infos(two.shapes.size());
  for (std::size_t i = 0; i < infos.size(); ++i) {
    if (!two.computed[i] || !three.computed[i]) continue;
    infos[i] = compare(two.shapes[i], three.shapes[i]);
    infos[i].floating = two.floating[i];
    infos[i].single = two.single[i];
  }
  discard_interleaved(graph, infos);
  return infos;
}

std::vector<ValueInfo> guess_from_footprint(const Graph& graph, const Footprint& footprint,
                                            std::int64_t batch) {
  std::vector<ValueInfo> infos(footprint.shapes.size());
  std::vector<bool> depends(infos.size(), false);
  for (const ValueId id : graph.inputs()) depends[static_cast<std::size_t>(id)] = true;
  const auto place = [&](ValueId id, int axis) {
    ValueInfo& info = infos[static_cast<std::size_t>(id)];
    if (axis < 0 || axis >= static_cast<int>(info.shape.size())) return;
    std::int64_t& dimension = info.shape[static_cast<std::size_t>(axis)];
    if (dimension % batch != 0 || dimension == 0) return;
    dimension /= batch;
    info.batch_axis = axis;
    info.batch_multiple = dimension;
  };
  for (std::size_t i = 0; i < infos.size(); ++i) {
    infos[i].shape = footprint.shapes[i];
    infos[i].computed = footprint.computed[i];
    infos[i].floating = footprint.floating[i];
    infos[i].single = footprint.single[i];
  }
  for (const ValueId id : graph.inputs()) place(id, input_form(graph, id, {}).batch_axis);
  for (const Node& node : graph.nodes()) {
    const bool reads_batch =
        node.op != "Shape" && node.op != "Size" && std::ranges::any_of(node.inputs, [&](ValueId id) {
          return id != no_value && depends[static_cast<std::size_t>(id)];
        });
    for (std::size_t o = 0; reads_batch && o < node.outputs.size(); ++o) {
      if (node.outputs[o] == no_value) continue;
      depends[static_cast<std::size_t>(node.outputs[o])] = true;
      place(node.outputs[o], is_recurrent(node.op) ? recurrent_batch_axis(node, o) : 0);
    }
  }
  return infos;
}

}  // namespace assay
