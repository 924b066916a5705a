#include "assay/engine/sample_shapes.h"

#include <algorithm>
#include <array>

#include <assay/array_math.h>
#include <assay/error.h>
#include <assay/extend/operator_traits.h>
#include "assay/engine/execute.h"
#include "assay/engine/operators/memory.h"
#include "assay/engine/preparation/shape_arithmetic.h"
#include "assay/engine/preparation/shape_rules.h"

namespace assay::inline engine {
namespace {

void see(SampleShapes& seen, ValueId id, const Array& tensor) {
  const auto index = index_of(id);
  seen.shapes[index] = tensor.shape();
  seen.types[index] = tensor.dtype();
  seen.computed[index] = true;
}

// Before any node: constants and inputs.
SampleShapes given_values(const Constants& constants, const Tensors& inputs) {
  const std::size_t count = constants.values().size();
  SampleShapes seen{std::vector<Shape>(count), std::vector<DType>(count), std::vector<bool>(count)};
  for (const ValueId id : IdRange<ValueId>(count)) {
    if (constants.has(id)) see(seen, id, constants.values()[index_of(id)]);
  }
  for (const auto& [id, tensor] : inputs) see(seen, id, tensor);
  return seen;
}

constexpr std::size_t most_held_bytes = std::size_t{256} << 20;

// Shapes, and numbers that are computed of them. A node without a rule runs on zeros where shapes alone tell
// the sizes of its results. Otherwise it runs as it is, and so does what it reads: most often masks and
// positions, which cost little.
class ByRules {
 public:
  ByRules(const Graph& graph, const Constants& constants, const Tensors& inputs)
      : graph_(graph),
        constants_(constants),
        executor_{graph, constants.values(), context_, no_observer_},
        seen_(given_values(constants, inputs)),
        given_(seen_.computed),
        values_(graph.values().size()) {
    const array::Recording unrecorded(false);
    for (const auto& [id, tensor] : inputs) values_[index_of(id)] = tensor;
    for (const NodeId n : make_plan(graph, given_, graph.outputs()).nodes) {
      const Node& node = graph.node(n);
      const bool found = numbers(node) || forms(node) || forms_by_contents(node) || contents_of_results(n);
      if (!found) {
        complete_ = false;
        return;
      }
    }
  }

  // Unless so much had to run that its results are not to be held together.
  std::optional<SampleShapes> found() && {
    return complete_ ? std::optional(std::move(seen_)) : std::nullopt;
  }

 private:
  // The elements of the value, if it is constant, given, known from shapes or computed.
  const Array* known(ValueId id) const {
    const Array& value = values_[index_of(id)];
    if (value.defined()) return &value;
    return constants_.has(id) ? &constants_.values()[index_of(id)] : nullptr;
  }

  bool numbers(const Node& node) {
    std::optional<Array> result;
    if (node.op == "Shape") {
      result = dimensions(node, seen_.shapes[index_of(node.inputs[0])]);
    } else {
      std::vector<Array> operands;
      for (const ValueId id : node.inputs) {
        const Array* const held = id == no_value ? nullptr : known(id);
        if (held == nullptr) return false;
        operands.push_back(*held);
      }
      result = integer_result(node, operands);
    }
    if (!result) return false;
    see(seen_, node.outputs[0], *result);
    values_[index_of(node.outputs[0])] = *std::move(result);
    return true;
  }

  bool forms(const Node& node) {
    std::vector<OperandShape> operands;
    for (const ValueId id : node.inputs) {
      if (id == no_value) {
        operands.emplace_back();
        continue;
      }
      const auto index = index_of(id);
      if (!seen_.computed[index]) return false;
      operands.push_back({&seen_.shapes[index], seen_.types[index], known(id)});
    }
    std::vector<ResultForm> results = result_forms(node, operands);
    if (results.empty()) results = forms_on_zeros(node, operands);
    for (std::size_t i = 0; i < std::min(results.size(), node.outputs.size()); ++i) {
      if (node.outputs[i] == no_value) continue;
      const auto index = index_of(node.outputs[i]);
      seen_.shapes[index] = std::move(results[i].shape);
      seen_.types[index] = results[i].type;
      seen_.computed[index] = true;
    }
    return !results.empty();
  }

  // Where integers that the rule asks for are computed from more than shapes.
  bool forms_by_contents(const Node& node) {
    bool more = false;
    for (std::size_t i = 1; i < node.inputs.size(); ++i) {
      const ValueId id = node.inputs[i];
      if (id == no_value || known(id) != nullptr || seen_.types[index_of(id)] != DType::int64) continue;
      if (!contents(id)) return false;
      more = true;
    }
    return more && forms(node);
  }

  bool contents_of_results(NodeId n) {
    const auto& outputs = graph_.node(n).outputs;
    const auto first = std::ranges::find_if(outputs, [](ValueId id) { return id != no_value; });
    return first == outputs.end() || values_[index_of(*first)].defined() || contents(*first);
  }

  // Runs the value's node, and before it what that reads.
  bool contents(ValueId wanted) {
    const NodeId producer = graph_.producer(wanted);
    const bool ready = std::ranges::all_of(
        graph_.node(producer).inputs, [&](ValueId id) { return id == no_value || known(id) != nullptr; });
    if (ready) return run(producer);
    std::vector<bool> there = given_;
    for (std::size_t i = 0; i < values_.size(); ++i) there[i] = there[i] || values_[i].defined();
    return std::ranges::all_of(make_plan(graph_, there, std::span(&wanted, 1)).nodes,
                               [&](NodeId n) { return run(n); });
  }

  bool run(NodeId n) {
    executor_.run(n, values_);
    for (const ValueId id : graph_.node(n).outputs) {
      if (id == no_value || !values_[index_of(id)].defined()) continue;
      see(seen_, id, values_[index_of(id)]);
      held_bytes_ += values_[index_of(id)].byte_size();
    }
    return held_bytes_ <= most_held_bytes;
  }

  const Graph& graph_;
  const Constants& constants_;
  KernelContext context_;
  OnValue no_observer_;
  Executor executor_;
  SampleShapes seen_;
  std::vector<bool> given_;    // before any node
  std::vector<Array> values_;  // elements that are known, but those of constants
  std::size_t held_bytes_ = 0;
  bool complete_ = true;
};

// Whether sizes of results follow from sizes of operands, and from the elements of those that tell sizes.
bool is_sized_by_shapes(const Node& node) {
  using enum OperatorKind;
  constexpr std::array kinds{activation,   arithmetic, convolution, dense,     function, normalisation,
                             pass_through, pooling,    recurrent,   reduction, softmax,  truth};
  return std::ranges::any_of(kinds, [&](OperatorKind kind) { return is_kind(node.op, kind); });
}

}  // namespace

bool tells_size(const Node& node, std::size_t input) {
  if (is_kind(node.op, OperatorKind::generator) || node.op == "If" || node.op == "Loop") return true;
  const bool by_element = is_elementwise(node.op) || is_kind(node.op, OperatorKind::truth) ||
                          node.op.starts_with("Gather") || node.op.starts_with("Scatter") ||
                          node.op == "Where" || node.op == "Concat" || node.op == "ReverseSequence" ||
                          node.op.ends_with("quantizeLinear") || node.op.ends_with("QuantizeLinear") ||
                          is_recurrent(node.op);
  return input > 0 && !by_element;
}

std::vector<ResultForm> forms_on_zeros(const Node& node, std::span<const OperandShape> operands) {
  if (!is_sized_by_shapes(node)) return {};
  try {
    std::vector<Array> inputs(operands.size());
    std::size_t bytes = 0;
    for (std::size_t i = 0; i < operands.size(); ++i) {
      const auto& [shape, type, constant] = operands[i];
      if (shape == nullptr) continue;
      if (constant != nullptr) {
        inputs[i] = *constant;
        continue;
      }
      if (!is_real(type) && tells_size(node, i)) return {};
      check_size(*shape, size_of(type));
      bytes += element_count(*shape) * size_of(type);
      if (bytes > most_held_bytes) return {};
      inputs[i] = array::zeros(*shape, type);
    }
    const array::Recording unrecorded(false);
    KernelContext context;
    std::vector<ResultForm> forms;
    for (const Array& result : run_node(node, inputs, context)) {
      if (!result.defined()) return {};  // which ones there are is seen when it runs
      forms.push_back({result.shape(), result.dtype()});
    }
    return forms;
  } catch (const Error& error) {  // zeros may not suit it
    if (error.fault() == Fault::interrupted) throw;
    return {};
  }
}

SampleShapes look(const Graph& graph, const Constants& constants, std::span<const Tensors> batches,
                  const OnRuns& on_runs) {
  const array::Recording unrecorded(false);
  const std::size_t count = graph.values().size();
  SampleShapes seen = given_values(constants, batches[0]);
  std::vector<std::vector<Array>> runs(batches.size(), std::vector<Array>(count));
  for (std::size_t r = 0; r < runs.size(); ++r) {
    for (const auto& [id, tensor] : batches[r]) runs[r][index_of(id)] = tensor;
  }
  KernelContext context;
  const OnValue no_observer;
  const Executor executor{graph, constants.values(), context, no_observer};
  const Plan plan = make_plan(graph, seen.computed, graph.outputs());
  for (std::size_t step = 0; step < plan.nodes.size(); ++step) {
    for (auto& values : runs) executor.run(plan.nodes[step], values);
    for (const ValueId id : graph.node(plan.nodes[step]).outputs) {
      const auto index = index_of(id);
      if (id == no_value || !runs[0][index].defined()) continue;
      see(seen, id, runs[0][index]);
      std::vector<Array> results;
      for (const auto& values : runs) results.push_back(values[index]);
      if (on_runs) on_runs(id, results);
    }
    for (auto& values : runs) release(plan.release[step], values);
  }
  return seen;
}

SampleShapes sample_shapes(const Graph& graph, const Constants& constants, const Tensors& inputs) {
  if (std::optional<SampleShapes> known = ByRules(graph, constants, inputs).found()) return *std::move(known);
  return look(graph, constants, std::span(&inputs, 1), {});
}

}  // namespace assay::inline engine
