#include "assay/engine/preparation/early_picks.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <assay/extend/operator_traits.h>
#include <assay/model.h>
#include "assay/model/backwards.h"

namespace assay::inline engine {
namespace {

using Ints = std::vector<std::int64_t>;

// Sequences are [records, positions, numbers].
constexpr std::size_t sequence_rank = 3, positions_axis = 1;

class Picker {
 public:
  Picker(const Graph& graph, std::span<const ValueInfo> infos)
      : graph_(graph), builder_(graph), infos_(infos.begin(), infos.end()) {}

  std::optional<EarlyPicks> pick() {
    for (const NodeId n : graph_.node_ids()) {
      if (const std::int64_t count = picked_positions(graph_.node(n)); count > 0) move_forward(n, count);
    }
    if (passed_.empty()) return std::nullopt;
    EarlyPicks found{builder_.build(), {}, std::move(passed_), std::move(extra_), std::move(instead_)};
    infos_.resize(found.graph.values().size());
    found.infos = std::move(infos_);
    return found;
  }

 private:
  const ValueInfo& info(ValueId id) const { return infos_[index_of(id)]; }
  std::int64_t positions(ValueId id) const { return info(id).shape[positions_axis]; }

  bool has_records_in_front(ValueId id) const {
    const ValueInfo& of = info(id);
    return of.computed && !of.shaped_by_content && of.batch_axis == 0 && of.batch_multiple == 1;
  }
  bool is_sequence(ValueId id) const {
    return id != no_value && !graph_.is_constant(id) && has_records_in_front(id) && info(id).single &&
           info(id).shape.size() == sequence_rank;
  }
  bool is_along_positions(std::int64_t axis) const {
    constexpr std::int64_t rank = sequence_rank;
    return (axis < 0 ? axis + rank : axis) == static_cast<std::int64_t>(positions_axis);
  }
  bool is_last(std::int64_t axis) const {
    return axis == -1 || axis == static_cast<std::int64_t>(sequence_rank) - 1;
  }
  bool has_constants_after_first(const Node& node) const {
    return std::all_of(node.inputs.begin() + 1, node.inputs.end(),
                       [&](ValueId id) { return id == no_value || graph_.is_constant(id); });
  }

  // How many positions a node picks of its first operand; 0: it does something else, or picks all.
  std::int64_t picked_positions(const Node& node) const {
    if (node.inputs.size() < 2 || !is_sequence(node.inputs[0]) || !has_records_in_front(node.outputs[0]))
      return 0;
    const std::int64_t count = node.op == "GatherND"                            ? picked_by_record(node)
                               : has_constants_after_first(node) && along(node) ? counted(node)
                                                                                : 0;
    return count < positions(node.inputs[0]) ? count : 0;
  }
  std::int64_t picked_by_record(const Node& node) const {
    const ValueId where = node.inputs[1];
    const bool one = node.integer("batch_dims", 0) == 1 && !graph_.is_constant(where) &&
                     has_records_in_front(where) && info(where).shape == Shape{1, 1};
    return one ? 1 : 0;
  }
  bool along(const Node& node) const {
    if (node.op == "Gather") return is_along_positions(node.integer("axis", 0));
    if (node.op != "Slice" || node.inputs.size() < 4 || node.inputs[3] == no_value) return false;
    const Array axes = graph_.constant(node.inputs[3]).to(DType::int64);
    return axes.count() == 1 && is_along_positions(axes.as<std::int64_t>()[0]);
  }
  std::int64_t counted(const Node& node) const {
    const Shape& shape = info(node.outputs[0]).shape;
    if (shape.size() == sequence_rank) return shape[positions_axis];
    return shape.size() + 1 == sequence_rank ? 1 : 0;
  }

  // Nodes from which on only picked positions matter to the node, in order.
  std::set<NodeId> only_for(NodeId pick) const {
    std::set<NodeId> found;
    const ValueId from = graph_.node(pick).inputs[0];
    // Up to what makes it; none for inputs.
    const IdRange<NodeId> upto(index_of(graph_.producer(from)) + 1);
    for (const NodeId n : backwards(upto)) {
      const Node& node = graph_.node(n);
      if (!keeps_positions_apart(node, positions(from))) continue;
      const auto readers = graph_.consumers(node.outputs[0]);
      const auto counts = [&](NodeId reader) { return reader == pick || found.contains(reader); };
      if (!readers.empty() && std::ranges::all_of(readers, counts)) found.insert(n);
    }
    return found;
  }

  bool keeps_positions_apart(const Node& node, std::int64_t length) const {
    if (node.outputs.size() != 1 || !is_sequence(node.outputs[0]) || positions(node.outputs[0]) != length ||
        node.inputs.empty())
      return false;
    if (is_elementwise(node.op)) return reads_alike(node, length);
    if (has_trait(node.op, Trait::reshapes)) return stays_as_it_is(node);
    if (!is_sequence(node.inputs[0]) || positions(node.inputs[0]) != length ||
        !has_constants_after_first(node))
      return false;
    if (node.op == "MatMul") return shape_of_constant(node.inputs[1]).size() == 2;
    if (node.op == "LayerNormalization" || is_softmax(node.op)) return is_last(node.integer("axis", -1));
    return is_reduction(node.op) && reduces_numbers(node);
  }
  bool stays_as_it_is(const Node& node) const {
    return is_sequence(node.inputs[0]) && info(node.inputs[0]).shape == info(node.outputs[0]).shape;
  }
  const Shape& shape_of_constant(ValueId id) const { return graph_.constant(id).shape(); }

  bool reduces_numbers(const Node& node) const {
    if (node.inputs.size() < 2 || node.inputs[1] == no_value || node.integer("keepdims", 1) == 0)
      return false;
    const Array axes = graph_.constant(node.inputs[1]).to(DType::int64);
    return axes.count() == 1 && is_last(axes.as<std::int64_t>()[0]);
  }

  // Sequences with all positions or one, and constants that are the same at every position.
  bool reads_alike(const Node& node, std::int64_t length) const {
    return std::ranges::all_of(node.inputs, [&](ValueId id) {
      if (id == no_value) return true;
      if (!graph_.is_constant(id)) return is_sequence(id) && (positions(id) == length || positions(id) == 1);
      const Shape& shape = shape_of_constant(id);
      return shape.size() < 2 || (shape.size() <= sequence_rank && shape[shape.size() - 2] == 1);
    });
  }

  void move_forward(NodeId n, std::int64_t count) {
    const std::set<NodeId> nodes = only_for(n);
    if (std::ranges::none_of(nodes, [&](NodeId m) { return is_dense(graph_.node(m).op); })) return;
    const Node& pick = graph_.node(n);
    const std::int64_t length = positions(pick.inputs[0]);
    std::map<ValueId, ValueId> picked;
    for (const NodeId m : nodes) {
      Node node = graph_.node(m);
      if (has_trait(node.op, Trait::reshapes)) node = {{}, "Identity", {node.inputs[0]}, {}, {}};
      for (ValueId& id : node.inputs) {
        if (!is_sequence(id) || positions(id) != length) continue;
        const auto [entry, fresh] = picked.try_emplace(id, no_value);
        if (fresh) entry->second = put_pick(pick, id, count);
        id = entry->second;
      }
      const ValueId result = graph_.node(m).outputs[0];
      passed_.insert(result);
      picked[result] = put(graph_.node(m), node, shape_with(result, count));
      instead_[builder_.nodes().back().name] = static_cast<double>(count) / length;
    }
    put_result(n, picked.at(pick.inputs[0]));
  }

  Shape shape_with(ValueId id, std::int64_t count) const {
    Shape shape = info(id).shape;
    shape[positions_axis] = count;
    return shape;
  }

  // The picked positions of another sequence, with their axis.
  ValueId put_pick(const Node& pick, ValueId from, std::int64_t count) {
    Node node = pick;
    node.inputs[0] = from;
    if (pick.op == "GatherND") node.inputs[1] = position_with_axis(pick);
    if (pick.op == "Gather") {
      const Array index = graph_.constant(pick.inputs[1]);
      node.inputs[1] = builder_.constant({}, index.reshape({index.count()}));
    }
    return put(pick, std::move(node), shape_with(from, count));
  }
  ValueId position_with_axis(const Node& pick) {
    const auto [entry, fresh] = positions_.try_emplace(pick.inputs[1], no_value);
    if (!fresh) return entry->second;
    const Node node{{}, "Reshape", {pick.inputs[1], integers({-1, 1, 1})}, {}, {}};
    entry->second = put(pick, node, {1, 1, 1});
    infos_[index_of(entry->second)].floating = infos_[index_of(entry->second)].single = false;
    return entry->second;
  }
  ValueId integers(const Ints& numbers) {
    return builder_.constant({}, Array::of<std::int64_t>({std::ssize(numbers)}, numbers));
  }

  // Adds the node, whose result has this shape for one record.
  ValueId put(const Node& purpose, Node node, Shape shape) {
    node.name = builder_.unused_name(purpose.name + " (picked positions)");
    extra_.emplace(node.name, purpose.name);
    const ValueId made = builder_.value(node.name);
    node.outputs = {made};
    builder_.node(std::move(node));
    infos_.resize(index_of(made) + 1);
    infos_[index_of(made)] = info_of_records(std::move(shape));
    return made;
  }

  // Instead of the pick: the same without the axis where the pick leaves it out.
  void put_result(NodeId n, ValueId picked) {
    const Node& pick = graph_.node(n);
    Shape target = info(pick.outputs[0]).shape;
    const bool same = target.size() == sequence_rank;
    target[0] = -1;
    Node node{pick.name, same ? "Identity" : "Reshape", {picked}, pick.outputs, {}};
    if (!same) node.inputs.push_back(integers(target));
    builder_.replace_node(n, std::move(node));
  }

  const Graph& graph_;
  GraphBuilder builder_;
  std::vector<ValueInfo> infos_;
  std::set<ValueId> passed_;
  std::map<ValueId, ValueId> positions_;  // which positions records have, and the same with an axis
  std::map<std::string, std::string> extra_;
  std::map<std::string, double> instead_;
};

}  // namespace

std::optional<EarlyPicks> pick_early(const Graph& graph, std::span<const ValueInfo> infos) {
  return Picker(graph, infos).pick();
}

}  // namespace assay::inline engine
