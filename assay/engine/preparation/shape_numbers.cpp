#include "assay/engine/preparation/shape_numbers.h"

#include <assay/array_math.h>

#include <algorithm>
#include <cstring>

#include <assay/error.h>
#include <assay/extend/operator_traits.h>
#include "assay/engine/elements.h"
#include "assay/engine/execute.h"
#include "assay/engine/preparation/shape_arithmetic.h"

namespace assay::inline engine {
namespace {

constexpr std::int64_t most_elements = 64;

// Operators whose results are not larger than their operands together.
bool stays_small(const Node& node) {
  const OperatorTraits* const traits = traits_of(node.op);
  if (traits == nullptr || traits->has(Trait::in_training)) return false;
  switch (traits->kind) {
    case OperatorKind::arithmetic:
    case OperatorKind::function:
    case OperatorKind::pass_through:
    case OperatorKind::reduction:
    case OperatorKind::truth:
      return true;
    default:
      return traits->has(Trait::reshapes) || node.op == "Concat" || node.op == "Gather" ||
             node.op == "Slice" || node.op == "Split";
  }
}

// The result of a Shape node; undefined if unknown.
Array shape_of(const Node& node, const ValueInfo& info, std::int64_t records) {
  if (!info.computed || info.shaped_by_content || info.varying_axis < -1) return {};
  Shape shape = info.shape;
  if (info.varying_axis >= 0) shape[info.varying_axis] *= records;
  return dimensions(node, shape);
}

bool same_elements(const Array& a, const Array& b) {
  if (a.dtype() != b.dtype() || a.shape() != b.shape()) return false;
  const Array x = in_memory(a, a.dtype()), y = in_memory(b, b.dtype());
  return x.count() == 0 || std::memcmp(x.data(), y.data(), x.byte_size()) == 0;
}

Tensors numbers_for(const Graph& graph, const Constants& constants, std::span<const ValueInfo> infos,
                    std::int64_t records) {
  Tensors found;
  std::vector<Array> values(graph.values().size());
  KernelContext context;
  const OnValue no_observer;
  const Executor executor{graph, constants.values(), context, no_observer};
  const auto small = [&](ValueId id) {
    if (id == no_value || found.contains(id)) return true;
    return constants.has(id) && constants.values()[index_of(id)].count() <= most_elements;
  };
  const auto operands = [&](const Node& node) {
    std::vector<Array> held;
    for (const ValueId id : node.inputs) {
      const auto number = found.find(id);
      held.push_back(id == no_value          ? Array()
                     : number != found.end() ? number->second
                                             : constants.values()[index_of(id)]);
    }
    return held;
  };
  for (const NodeId n : graph.node_ids()) {
    const Node& node = graph.node(n);
    const auto result = [&](ValueId id) -> Array& { return values[index_of(id)]; };
    if (node.op == "Shape") {
      if (!constants.has(node.outputs[0]))
        result(node.outputs[0]) = shape_of(node, infos[index_of(node.inputs[0])], records);
    } else {
      const bool from_shapes =
          std::ranges::any_of(node.inputs, [&](ValueId id) { return found.contains(id); });
      if (!from_shapes || !stays_small(node) || !std::ranges::all_of(node.inputs, small)) continue;
      if (std::optional<Array> whole = integer_result(node, operands(node))) {
        result(node.outputs[0]) = *std::move(whole);
      } else {
        try {
          executor.run(n, values);
        } catch (const Error& error) {
          if (error.fault() == Fault::interrupted) throw;
          continue;  // for this number of records
        }
      }
    }
    for (const ValueId id : node.outputs) {
      if (id != no_value && result(id).defined() && result(id).count() <= most_elements)
        found.emplace(id, result(id));
    }
  }
  return found;
}

}  // namespace

Tensors numbers_of_shapes(const Graph& graph, const Constants& constants, std::span<const ValueInfo> infos) {
  const array::Recording unrecorded(false);
  Tensors same = numbers_for(graph, constants, infos, 1);
  for (const std::int64_t records : {2, 3, 1000003}) {
    const Tensors others = numbers_for(graph, constants, infos, records);
    std::erase_if(same, [&](const auto& entry) {
      const auto other = others.find(entry.first);
      return other == others.end() || !same_elements(entry.second, other->second);
    });
  }
  return same;
}

}  // namespace assay::inline engine
