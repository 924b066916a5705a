#include "assay/engine/evaluation/rows.h"

#include <algorithm>

#include <assay/extend/operator_traits.h>

namespace assay::inline engine {
namespace {

bool moves(const Node& node) { return node.op == "Transpose" || has_trait(node.op, Trait::reshapes); }

// Copies elements along axes, so that what is one number stays one.
bool copies(const Node& node) { return node.op == "Expand" || node.op == "Tile"; }

std::optional<double> one_number(const Array& array) {
  if (array.count() == 0) return std::nullopt;
  const Array wide = array.to(DType::float64);
  const std::span<const double> numbers = wide.as<double>();
  const bool same = std::ranges::all_of(numbers, [&](double number) { return number == numbers[0]; });
  return same ? std::optional(numbers[0]) : std::nullopt;
}

// A Slice, whose result has its operand's shape, that does not turn an axis round.
bool takes_all(const DecisionRows& rows, const Node& node) {
  if (node.op != "Slice") return false;
  if (node.inputs.size() < 5 || node.inputs[4] == no_value) return true;
  return rows.constant(node.inputs[4]) == 1;
}

// An operator of several operands that was given one.
bool has_one_operand(const Node& node) {
  const bool several =
      node.op == "Sum" || node.op == "Max" || node.op == "Min" || node.op == "Mean" || node.op == "Concat";
  return several && node.inputs.size() == 1;
}

}  // namespace

bool is_rows(const Shape& shape) {
  return !shape.empty() &&
         std::ranges::count_if(shape.begin() + 1, shape.end(), [](auto size) { return size != 1; }) < 2;
}

const Node* DecisionRows::producer(ValueId id) const {
  const NodeId n = id == no_value ? no_node : graph_.producer(id);
  return n == no_node ? nullptr : &graph_.node(n);
}

bool DecisionRows::holds_rows(ValueId id) const {
  return info(id).batch_axis == 0 && info(id).batch_multiple == 1 && is_rows(info(id).shape);
}

bool DecisionRows::passes_through(const Node& node) const {
  if (node.inputs.empty() || node.inputs[0] == no_value) return false;
  const ValueId from = node.inputs[0], to = node.outputs[0];
  if (node.op == "Cast" || node.op == "CastLike") return info(from).floating && info(to).floating;
  if (is_pass_through(node.op) || has_one_operand(node)) return true;
  const bool same_shape = info(from).shape == info(to).shape;
  if (copies(node) || takes_all(*this, node)) return same_shape;
  if (!moves(node)) return false;
  return (node.op != "Transpose" && same_shape) || (holds_rows(from) && holds_rows(to));
}

ValueId DecisionRows::source(ValueId id) const {
  for (const Node* node = producer(id); node != nullptr && passes_through(*node); node = producer(id))
    id = node->inputs[0];
  return id;
}

std::optional<double> DecisionRows::constant(ValueId id) const {
  if (id == no_value) return std::nullopt;
  if (graph_.is_constant(id)) return one_number(graph_.constant(id));
  const Node* const node = producer(id);
  if (node == nullptr || node->inputs.empty()) return std::nullopt;
  if (node->op == "ConstantOfShape") {
    const auto held = node->attributes.find("value");
    return held == node->attributes.end() ? 0.0 : one_number(std::get<Array>(held->second));
  }
  const bool keeps = is_pass_through(node->op) || moves(*node) || copies(*node);
  return keeps ? constant(node->inputs[0]) : std::nullopt;
}

bool DecisionRows::one_per_record(ValueId id) const {
  if (constant(id)) return true;
  const ValueInfo& here = info(id);
  if (!here.computed) return false;
  if (element_count(here.shape) == 1 && (here.batch_axis <= 0)) return true;
  const Node* const node = producer(id);
  if (node == nullptr || !holds_rows(id)) return false;
  if (copies(*node) || moves(*node) || is_pass_through(node->op)) return one_per_record(node->inputs[0]);
  return is_elementwise(node->op) && std::ranges::all_of(node->inputs, [&](ValueId operand) {
           return operand == no_value || one_per_record(operand);
         });
}

bool DecisionRows::is_over_rows(const Node& node) const {
  if (!holds_rows(node.outputs[0])) return true;
  const Shape& shape = info(node.outputs[0]).shape;
  const std::int64_t axis = node.integer("axis", -1);
  const std::size_t from_front = axis < 0 ? axis + std::ssize(shape) : axis;
  return from_front < shape.size() && shape[from_front] * shape[0] == element_count(shape);
}

bool DecisionRows::is_negative_nowhere(ValueId id) const {
  if (!bounds_) bounds_.emplace(graph_);
  return bounds_->of(id).low >= 0;
}

}  // namespace assay::inline engine
