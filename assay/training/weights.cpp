#include "assay/training/weights.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include <assay/error.h>
#include <assay/extend/operator_traits.h>
#include "assay/model/bodies.h"
#include "assay/support/text/text.h"
#include "assay/training/weight_roles.h"

namespace assay::training {
namespace {

// Results that do not change when their operands change a little, or that are integers.
bool stops_gradients(const Node& node) {
  static const std::set<std::string_view> flat{
      "Round", "Floor", "Ceil", "Sign", "Hardmax", "NonMaxSuppression", "TreeEnsemble"};
  const bool generates = is_kind(node.op, OperatorKind::generator) && node.op != "AffineGrid";
  return generates || is_kind(node.op, OperatorKind::truth) || is_kind(node.op, OperatorKind::index) ||
         flat.contains(node.op);
}

// The setting that an input of a node is; empty if it is an operand.
std::string_view setting_of(const Graph& graph, const Node& node, std::size_t i) {
  const std::string& op = node.op;
  if (op == "Clip" && i > 0) return "a bound";
  if (op == "Pad" && i > 0) return "what is padded with";
  if (op == "Resize" && i > 0) return "a size";
  if (op == "Dropout" && i > 0) return "a ratio";
  if (op == "Where" && i == 0) return "a condition";
  if (op == "RoiAlign" && i > 0) return "regions";
  if ((op.starts_with("Quantize") || op.starts_with("Dequantize")) && i > 0) return "a scale of quantisation";
  if (op == "StraightThrough" && i > 0) return "a scale of quantisation";
  if (is_recurrent(op) && (i == 5 || i == 6) && graph.is_constant(node.inputs[i])) {
    const Array& state = graph.constant(node.inputs[i]);
    if (state.dtype() == DType::float32 &&
        std::ranges::all_of(state.as<float>(), [](float value) { return value == 0; }))
      return "zeros that a recurrent cell begins with";
  }
  return {};
}

// Numbers far below all scores leave positions out of a softmax, factors of zeros and ones take elements
// away.
bool is_mask(const Array& array, bool multiplies) {
  constexpr float far_below = -1e4F;
  const std::span<const float> values = array.as<float>();
  if (std::ranges::any_of(values, [](float value) { return !std::isfinite(value) || value <= far_below; }))
    return true;
  return multiplies && std::ranges::find(values, 0.0F) != values.end() &&
         std::ranges::all_of(values, [](float value) { return value == 0 || value == 1; });
}

// Whether a graph inside the node has float constants.
bool holds_weights(const Node& node) {
  return std::ranges::any_of(bodies_of(node), [&](const std::string& attribute) {
    const Graph body = read_body(node, attribute);
    return body.parameter_count() > 0 || std::ranges::any_of(body.nodes(), holds_weights);
  });
}

class Search {
 public:
  explicit Search(const Graph& graph)
      : graph_(graph),
        roles_(weight_roles(graph)),
        found_(graph.values().size()),
        seen_(graph.nodes().size()) {
    for (const ValueId id : graph.outputs()) reach(id);
    walk({});
    for (const auto& [id, barrier] : std::vector(cut_off_)) {  // those that a gradient reaches are known now
      reach(id);
      walk(barrier);
    }
  }

  TrainedConstants result(const ConstantChoice& choice) const {
    require_known(choice);
    TrainedConstants all{.weights = {}, .untrained = {}, .bodies = bodies_};
    for (const ValueId id : graph_.value_ids()) {
      const Found& found = found_[index_of(id)];
      if (found.node == no_node) continue;
      const auto role = roles_.known.find(id);
      const Weight weight = role != roles_.known.end()
                                ? role->second
                                : Weight{.value = id, .role = Role::operand, .node = found.node};
      if (!weight.trainable()) {
        all.weights.push_back(weight);
        continue;
      }
      std::string reason = reason_against(id, found, role != roles_.known.end());
      const bool can_be = found.operand && graph_.constant(id).dtype() == DType::float32;
      if (!found.operand && graph_.constant(id).shape().empty()) continue;  // arithmetic of sizes
      if (can_be && insists(choice, id, !reason.empty())) reason.clear();
      if (freezes(choice, weight)) reason = "frozen";
      if (reason.empty()) {
        all.weights.push_back(weight);
      } else {
        all.untrained.push_back({id, std::move(reason), can_be});
      }
    }
    return all;
  }

 private:
  struct Found {
    NodeId node = no_node;  // that reads it; no_node: no node on the way to an output
    bool operand = false;   // a gradient reaches it
    bool multiplies = true;
    std::string setting = {};
  };

  void reach(ValueId id) {
    const NodeId n = id == no_value || graph_.is_constant(id) ? no_node : graph_.producer(id);
    if (n == no_node || seen_[index_of(n)]) return;
    seen_[index_of(n)] = true;
    open_.push_back(n);
  }

  // Visits what is open. `barrier`: why no gradient comes here; empty where one does.
  void walk(const std::string& barrier) {
    while (!open_.empty()) {
      const NodeId n = open_.back();
      open_.pop_back();
      visit(n, barrier);
    }
  }

  void visit(NodeId n, const std::string& barrier) {
    const Node& node = graph_.node(n);
    if (holds_weights(node)) bodies_.push_back(node.name);
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      const ValueId id = node.inputs[i];
      if (id == no_value) continue;
      std::string reason = !barrier.empty() ? barrier : std::string(setting_of(graph_, node, i));
      if (stops_gradients(node)) reason = fmt::format("no gradient passes {}", node.describe());
      if (graph_.is_constant(id)) {
        read(id, n, std::move(reason));
      } else if (reason.empty() || !barrier.empty()) {
        reach(id);
      } else {
        cut_off_.emplace_back(id, std::move(reason));
      }
    }
  }

  void read(ValueId id, NodeId n, std::string setting) {
    const DType type = graph_.constant(id).dtype();
    if (!is_real(type)) return;
    Found& found = found_[index_of(id)];
    const std::string& op = graph_.node(n).op;
    if (found.node == no_node || n < found.node) found.node = n;
    found.multiplies &= op == "Mul";
    found.operand |= setting.empty();
    if (found.setting.empty()) found.setting = std::move(setting);
  }

  // Why a constant is not trained unless the user insists; empty for weights.
  std::string reason_against(ValueId id, const Found& found, bool has_role) const {
    const Array& array = graph_.constant(id);
    if (!found.operand) return found.setting;
    if (array.dtype() != DType::float32) return "numbers of float64; training is in float32";
    if (has_role) return {};
    if (roles_.neutral.contains(id))
      return "ones or zeros of a normalisation with another scale and shift after it";
    if (array.shape().empty()) return "a single number";
    if (is_mask(array, found.multiplies)) return "a mask";
    if (array.count() == 1 && keeps_finite(id)) return "keeps a root or a quotient finite";
    if (standardises(id)) return "standardises an input";
    return {};
  }

  const Node& node(NodeId n) const { return graph_.node(n); }
  const Node* producer(ValueId id) const {
    const NodeId n = id == no_value || graph_.is_constant(id) ? no_node : graph_.producer(id);
    return n == no_node ? nullptr : &node(n);
  }

  // An epsilon: added to, or a floor of, what a root, a logarithm or a quotient is taken of.
  bool keeps_finite(ValueId id) const {
    constexpr float most = 0.01F;
    if (std::abs(graph_.constant(id).as<float>()[0]) > most) return false;
    return std::ranges::all_of(graph_.consumers(id), [&](NodeId n) {
      return (node(n).op == "Add" || node(n).op == "Max") &&
             std::ranges::all_of(graph_.consumers(node(n).outputs[0]), [&](NodeId reader) {
               const Node& next = node(reader);
               const bool divides = next.op == "Div" && next.inputs[1] == node(n).outputs[0];
               return divides || next.op == "Sqrt" || next.op == "Log" || next.op == "Reciprocal" ||
                      next.op == "Pow";
             });
    });
  }

  bool is_input(ValueId id) const { return std::ranges::find(graph_.inputs(), id) != graph_.inputs().end(); }

  // (input - mean) / deviation, or its product with the reciprocal.
  bool standardises(ValueId id) const {
    return std::ranges::any_of(graph_.consumers(id), [&](NodeId n) {
      const Node& reader = node(n);
      if (reader.op == "Sub" && reader.inputs[1] == id && is_input(reader.inputs[0])) {
        const auto next = graph_.consumers(reader.outputs[0]);
        return next.size() == 1 && scales(node(next[0]), reader.outputs[0]);
      }
      const ValueId other =
          reader.inputs[0] == id && reader.inputs.size() > 1 ? reader.inputs[1] : reader.inputs[0];
      const Node* const before = producer(other);
      return before != nullptr && scales(reader, other) && before->op == "Sub" &&
             is_input(before->inputs[0]) && graph_.is_constant(before->inputs[1]);
    });
  }

  bool scales(const Node& reader, ValueId value) const {
    if (reader.op == "Div") return reader.inputs[0] == value && graph_.is_constant(reader.inputs[1]);
    return reader.op == "Mul" &&
           (graph_.is_constant(reader.inputs[0]) || graph_.is_constant(reader.inputs[1]));
  }

  const std::string& name(ValueId id) const { return graph_.value(id).name; }

  bool insists(const ConstantChoice& choice, ValueId id, bool left_alone) const {
    return std::ranges::any_of(choice.also, [&](const std::string& wanted) {
      return wanted == name(id) || (left_alone && wanted == "all");
    });
  }

  bool freezes(const ConstantChoice& choice, const Weight& weight) const {
    return std::ranges::any_of(choice.frozen, [&](const std::string& wanted) {
      return wanted == name(weight.value) || wanted == node(weight.node).name;
    });
  }

  void require_known(const ConstantChoice& choice) const {
    std::vector<std::string> constants, reached;
    std::set<std::string> freezable;
    for (const ValueId id : graph_.value_ids()) {
      const Found& found = found_[index_of(id)];
      if (found.node == no_node) continue;
      constants.push_back(name(id));
      freezable.insert(name(id));
      const auto role = roles_.known.find(id);
      freezable.insert(node(role == roles_.known.end() ? found.node : role->second.node).name);
      const bool moves = role == roles_.known.end() || role->second.trainable();
      if (moves && found.operand && graph_.constant(id).dtype() == DType::float32)
        reached.push_back(name(id));
    }
    for (const std::string& wanted : choice.also) {
      if (wanted == "all" || std::ranges::count(reached, wanted) > 0) continue;
      if (std::ranges::count(constants, wanted) > 0)
        fail(Fault::usage,
             "constant '{}' of network '{}' cannot be trained: no gradient reaches it, or it is not of "
             "float32",
             wanted, graph_.name());
      fail(Fault::usage, "network '{}' has no float constant '{}' to be trained{}", graph_.name(), wanted,
           did_you_mean(wanted, reached));
    }
    for (const std::string& wanted : choice.frozen) {
      if (freezable.contains(wanted)) continue;
      fail(Fault::usage, "network '{}' has no weight and no layer '{}' to be frozen{}", graph_.name(), wanted,
           did_you_mean(wanted, {freezable.begin(), freezable.end()}));
    }
  }

  const Graph& graph_;
  const WeightRoles roles_;
  std::vector<Found> found_;  // by value
  std::vector<bool> seen_;    // by node
  std::vector<NodeId> open_;
  std::vector<std::pair<ValueId, std::string>>
      cut_off_;  // values that gradients do not reach this way, and why
  std::vector<std::string> bodies_;
};

}  // namespace

TrainedConstants trained_constants(const Graph& graph, const ConstantChoice& choice) {
  return Search(graph).result(choice);
}

}  // namespace assay::training
