#include "assay/engine/evaluation/decision.h"

#include <algorithm>

#include <assay/extend/operator_traits.h>

#include "assay/engine/preparation/value_bounds.h"

namespace assay {
namespace {

bool moves(const Node& node) { return node.op == "Transpose" || has_trait(node.op, Trait::reshapes); }

bool holds_rows(const ValueInfo& info) {
  return info.batch_axis == 0 && info.batch_multiple == 1 && is_rows(info.shape);
}

// True for nodes that pass their first input on unchanged in inference, but for axes of size 1 in rows.
bool passes_through(const Node& node, std::span<const ValueInfo> infos) {
  if (is_pass_through(node.op)) return true;
  if (!moves(node)) return false;
  const ValueInfo &in = infos[static_cast<std::size_t>(node.inputs[0])],
                  &out = infos[static_cast<std::size_t>(node.outputs[0])];
  return (node.op != "Transpose" && in.shape == out.shape) || (holds_rows(in) && holds_rows(out));
}

// The node that determines the value, past nodes that change nothing; nullptr for inputs and constants.
const Node* origin(const Graph& graph, ValueId id, std::span<const ValueInfo> infos) {
  for (int n = graph.producer(id); n >= 0; n = graph.producer(id)) {
    const Node& node = graph.nodes()[static_cast<std::size_t>(n)];
    if (node.inputs.empty() || node.inputs[0] == no_value || !passes_through(node, infos)) return &node;
    id = node.inputs[0];
  }
  return nullptr;
}

// Whether a softmax is over all that a record has, where it has one row.
bool is_over_rows(const Node& softmax, std::span<const ValueInfo> infos) {
  const ValueInfo& info = infos[static_cast<std::size_t>(softmax.outputs[0])];
  if (!holds_rows(info)) return true;
  const auto rank = static_cast<std::int64_t>(info.shape.size());
  const std::int64_t axis = softmax.integer("axis", -1);
  const std::size_t from_front = static_cast<std::size_t>(axis < 0 ? axis + rank : axis);
  return from_front < info.shape.size() &&
         info.shape[from_front] * info.shape[0] == element_count(info.shape);
}

// Whether a value is one number for each record of `rows`, which has one row.
bool sums_rows(ValueId sum, ValueId rows, std::span<const ValueInfo> infos) {
  const ValueInfo &one = infos[static_cast<std::size_t>(sum)], &all = infos[static_cast<std::size_t>(rows)];
  return holds_rows(all) && one.shape.size() == all.shape.size() && element_count(one.shape) == all.shape[0];
}

// The scores of a softmax that is spelt out: exp(log-softmax), exp(z - log-sum-exp), exp(z) over its sum.
ValueId scores_of_spelt_softmax(const Graph& graph, const Node& node, std::span<const ValueInfo> infos) {
  const auto from = [&](const Node& reader, std::size_t input) {
    return origin(graph, reader.inputs[input], infos);
  };
  if (node.op == "Exp") {
    const Node* inner = from(node, 0);
    if (inner && inner->op == "LogSoftmax" && is_over_rows(*inner, infos)) return inner->inputs[0];
    if (!inner || inner->op != "Sub") return no_value;
    const Node* sum = from(*inner, 1);
    const bool same = sum && sum->op == "ReduceLogSumExp" && sum->inputs[0] == inner->inputs[0] &&
                      sums_rows(sum->outputs[0], inner->inputs[0], infos);
    return same ? inner->inputs[0] : no_value;
  }
  if (node.op != "Div") return no_value;
  const Node *exp = from(node, 0), *sum = from(node, 1);
  const bool spelt = exp && exp->op == "Exp" && sum && sum->op == "ReduceSum" && from(*sum, 0) == exp &&
                     sums_rows(sum->outputs[0], exp->outputs[0], infos);
  return spelt ? exp->inputs[0] : no_value;
}

// A clipped or averaged sigmoid or softmax, one that is spelt out, the second of two softmaxes.
bool is_probability(const Graph& graph, ValueId output) {
  constexpr double rounding = 1e-6;
  const Bounds bounds = bounds_of(graph, output);
  return bounds.low >= -rounding && bounds.high <= 1 + rounding;
}

}  // namespace

Decision find_decision(const Graph& graph, std::span<const ValueInfo> infos) {
  // Labels that stand in front of scores are whole numbers.
  const auto outputs = graph.outputs();
  const auto scores =
      std::ranges::find_if(outputs, [&](ValueId id) { return infos[static_cast<std::size_t>(id)].floating; });
  const ValueId output = scores == outputs.end() ? outputs[0] : *scores;
  const Node* node = origin(graph, output, infos);
  if (node && is_softmax(node->op) && is_over_rows(*node, infos))
    return {.logits = node->inputs[0], .softmax = true};
  if (const ValueId scores_before = node ? scores_of_spelt_softmax(graph, *node, infos) : no_value;
      scores_before != no_value)
    return {.logits = scores_before, .softmax = true};
  return {.logits = output,
          .sigmoid = (node && is_sigmoid(node->op)) ||
                     (holds_rows(infos[static_cast<std::size_t>(output)]) && is_probability(graph, output))};
}

bool is_rows(const Shape& shape) {
  return !shape.empty() &&
         std::ranges::count_if(shape.begin() + 1, shape.end(), [](auto size) { return size != 1; }) < 2;
}

ValueId deciding_output(const Graph& graph, ValueId logits) {
  for (const ValueId output : graph.outputs()) {
    for (ValueId id = output; id != no_value;) {
      if (id == logits) return output;
      const int producer = graph.producer(id);
      if (producer < 0) break;
      const Node& node = graph.nodes()[static_cast<std::size_t>(producer)];
      const bool spelt = node.op == "Exp" || node.op == "Sub" || node.op == "Div";
      if (node.inputs.empty() || !(spelt || is_softmax(node.op) || is_pass_through(node.op) || moves(node)))
        break;
      id = node.inputs[0];
    }
  }
  return graph.outputs()[0];
}

}  // namespace assay
