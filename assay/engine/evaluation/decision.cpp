#include "assay/engine/evaluation/decision.h"

#include <algorithm>
#include <vector>

#include <assay/extend/operator_traits.h>

namespace assay::inline engine {
namespace {

// The operand of a softmax over rows, and whether its logarithm is taken.
struct FoundSoftmax {
  ValueId scores = no_value;
  bool logarithm = false;
};

// A softmax over rows, or its logarithm, written with any operators.
class SoftmaxFinder {
 public:
  explicit SoftmaxFinder(const DecisionRows& rows) : rows_(rows) {}

  std::optional<FoundSoftmax> at(ValueId value) const {
    const Node* const node = rows_.origin(value);
    if (node == nullptr) return std::nullopt;
    if (is_softmax(node->op) && rows_.is_over_rows(*node))
      return FoundSoftmax{node->inputs[0], node->op == "LogSoftmax"};
    if (node->op == "Exp") return inside(*node, /*logarithm=*/true);
    if (node->op == "Log") return inside(*node, /*logarithm=*/false);
    if (!rows_.holds_rows(node->outputs[0]) || rows_.width(node->outputs[0]) < 2) return std::nullopt;
    if (node->op == "Sub") return less_log_sum(node->inputs[0], node->inputs[1]);
    if (node->op == "Div") return over_sum(node->inputs[0], node->inputs[1]);
    if (node->op != "Mul") return std::nullopt;
    const auto found = times_inverse(node->inputs[0], node->inputs[1]);
    return found ? found : times_inverse(node->inputs[1], node->inputs[0]);
  }

 private:
  const Node* of(ValueId value, std::string_view op) const {
    const Node* const node = rows_.origin(value);
    return node != nullptr && node->op == op ? node : nullptr;
  }

  // exp(log-softmax), log(softmax).
  std::optional<FoundSoftmax> inside(const Node& function, bool logarithm) const {
    const auto found = at(function.inputs[0]);
    if (!found || found->logarithm != logarithm) return std::nullopt;
    return FoundSoftmax{found->scores, !logarithm};
  }

  // Before what is added to all scores of a record alike, such as the greatest of them taken away.
  ValueId unshifted(ValueId value) const {
    for (const Node* node = rows_.origin(value); node != nullptr; node = rows_.origin(value)) {
      if (node->op == "Sub" && rows_.one_per_record(node->inputs[1])) {
        value = node->inputs[0];
      } else if (node->op == "Add" && rows_.one_per_record(node->inputs[1])) {
        value = node->inputs[0];
      } else if (node->op == "Add" && rows_.one_per_record(node->inputs[0])) {
        value = node->inputs[1];
      } else {
        break;
      }
    }
    return value;
  }

  bool from_same_scores(ValueId a, ValueId b) const {
    return rows_.source(unshifted(a)) == rows_.source(unshifted(b));
  }

  // Past what brings one number a record to the shape of the scores.
  const Node* sum_in(ValueId value) const {
    const Node* node = rows_.origin(value);
    while (node != nullptr && (node->op == "Expand" || node->op == "Tile" || node->op == "Transpose" ||
                               has_trait(node->op, Trait::reshapes)))
      node = rows_.origin(node->inputs[0]);
    return node;
  }

  // exp(z) over its sum.
  std::optional<FoundSoftmax> over_sum(ValueId part, ValueId whole) const {
    const Node *const exp = of(part, "Exp"), *const sum = sum_in(whole);
    if (exp == nullptr || sum == nullptr || sum->op != "ReduceSum" || !rows_.one_per_record(whole))
      return std::nullopt;
    if (rows_.origin(sum->inputs[0]) != exp) return std::nullopt;
    return FoundSoftmax{unshifted(exp->inputs[0]), false};
  }

  std::optional<FoundSoftmax> times_inverse(ValueId part, ValueId factor) const {
    const Node* const inverse = sum_in(factor);
    if (inverse == nullptr) return std::nullopt;
    if (inverse->op == "Reciprocal") return over_sum(part, inverse->inputs[0]);
    const bool divides = inverse->op == "Div" && rows_.constant(inverse->inputs[0]) == 1;
    return divides ? over_sum(part, inverse->inputs[1]) : std::nullopt;
  }

  // z less the logarithm of the sum of exp(z).
  std::optional<FoundSoftmax> less_log_sum(ValueId scores, ValueId log_sum) const {
    if (!rows_.one_per_record(log_sum)) return std::nullopt;
    const Node* node = sum_in(log_sum);
    while (node != nullptr && (node->op == "Add" || node->op == "Sub")) {
      const Node* const first = sum_in(node->inputs[0]);
      const bool in_front = first != nullptr && (first->op == "Log" || first->op == "ReduceLogSumExp");
      node = in_front ? first : node->op == "Add" ? sum_in(node->inputs[1]) : nullptr;
    }
    if (node == nullptr) return std::nullopt;
    if (node->op == "Log") {
      const Node* const sum = sum_in(node->inputs[0]);
      node = sum != nullptr && sum->op == "ReduceSum" ? of(sum->inputs[0], "Exp") : nullptr;
    } else if (node->op != "ReduceLogSumExp") {
      return std::nullopt;
    }
    if (node == nullptr || !from_same_scores(node->inputs[0], scores)) return std::nullopt;
    return FoundSoftmax{unshifted(scores), true};
  }

  const DecisionRows& rows_;
};

// A clipped or averaged sigmoid or softmax, one that is spelt out, the second of two softmaxes.
bool is_probability(const Graph& graph, ValueId output) {
  constexpr double rounding = 1e-6;
  const Bounds bounds = ValueBounds(graph).of(output);
  return bounds.low >= -rounding && bounds.high <= 1 + rounding;
}

// Operators that may stand between a decision value and its output.
bool leads_to_output(const Node& node) {
  return is_elementwise(node.op) || is_softmax(node.op) || is_reduction(node.op) || is_movement(node.op);
}

bool computed_from(const Graph& graph, ValueId output, ValueId value) {
  std::vector<bool> seen(graph.values().size(), false);
  std::vector<ValueId> pending{output};
  while (!pending.empty()) {
    const ValueId id = pending.back();
    pending.pop_back();
    if (id == value) return true;
    if (id == no_value || seen[index_of(id)]) continue;
    seen[index_of(id)] = true;
    const NodeId producer = graph.producer(id);
    if (producer == no_node) continue;
    const Node& node = graph.node(producer);
    if (leads_to_output(node)) pending.insert(pending.end(), node.inputs.begin(), node.inputs.end());
  }
  return false;
}

}  // namespace

Decision find_decision(const Graph& graph, std::span<const ValueInfo> infos) {
  // Labels that stand in front of scores are integers.
  const auto outputs = graph.outputs();
  const auto scores = std::ranges::find_if(outputs, [&](ValueId id) { return infos[index_of(id)].floating; });
  const ValueId output = scores == outputs.end() ? outputs[0] : *scores;
  const DecisionRows rows(graph, infos);
  if (const auto softmax = SoftmaxFinder(rows).at(output))
    return {.logits = softmax->scores, .softmax = true};
  const Node* const node = rows.origin(output);
  return {.logits = output,
          .sigmoid = (node != nullptr && is_sigmoid(node->op)) ||
                     (rows.holds_rows(output) && is_probability(graph, output))};
}

ValueId deciding_output(const Graph& graph, ValueId logits) {
  for (const ValueId output : graph.outputs()) {
    if (computed_from(graph, output, logits)) return output;
  }
  return graph.outputs()[0];
}

}  // namespace assay::inline engine
