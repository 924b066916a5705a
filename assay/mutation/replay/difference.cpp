#include "assay/mutation/replay/difference.h"

#include <algorithm>
#include <cstring>
#include <set>

#include "assay/model/backwards.h"

namespace assay::mutation {
namespace {

bool same_attribute(const Attribute& a, const Attribute& b) {
  if (a.index() != b.index()) return false;
  return std::visit(
      [&](const auto& value) {
        using T = std::decay_t<decltype(value)>;
        if constexpr (std::is_same_v<T, Array>) {
          return same_elements(value, std::get<Array>(b));
        } else {
          return value == std::get<T>(b);
        }
      },
      a);
}

class Comparison {
 public:
  Comparison(const Graph& original, const Graph& mutant, ValueId decision,
             const std::function<bool(ValueId)>& per_record)
      : original_(original),
        mutant_(mutant),
        decision_(decision),
        per_record_(per_record),
        origin_(mutant.values().size(), no_value),
        dirty_(mutant.nodes().size()),
        edited_(mutant.nodes().size()) {}

  Difference run() {
    for (const ValueId id : mutant_.inputs()) origin(id) = id;
    for (const NodeId n : mutant_.node_ids()) classify(n);
    forget_other_outputs();
    std::vector<bool> inside = nodes_between();
    while (leaks_weights(inside)) inside = nodes_between();
    return gather(inside);
  }

 private:
  ValueId& origin(ValueId id) { return origin_[index_of(id)]; }
  const Node& node(NodeId n) const { return mutant_.node(n); }

  // Whether an input gives what the original's input gives.
  bool same_input(ValueId id, ValueId was) {
    if (id == no_value || was == no_value) return id == was;
    if (mutant_.is_constant(id) != original_.is_constant(was)) return false;
    if (mutant_.is_constant(id)) return same_elements(mutant_.constant(id), original_.constant(was));
    return origin(id) == was;
  }

  bool unedited(const Node& now, const Node& was) const {
    if (now.inputs != was.inputs || now.outputs != was.outputs) return false;
    return std::ranges::all_of(now.inputs, [&](ValueId id) {
      if (id == no_value || mutant_.is_constant(id) != original_.is_constant(id)) return id == no_value;
      return !mutant_.is_constant(id) || same_elements(mutant_.constant(id), original_.constant(id));
    });
  }

  void classify(NodeId n) {
    const Node& now = node(n);
    const auto index = original_.find_node(now.name);
    const Node* was = index ? &original_.node(*index) : nullptr;
    if (was && !same_function(now, *was)) was = nullptr;
    edited_[index_of(n)] = !was || !unedited(now, *was);
    dirty_[index_of(n)] = true;
    if (!was ||
        !std::ranges::equal(now.inputs, was->inputs, [&](ValueId a, ValueId b) { return same_input(a, b); }))
      return;
    dirty_[index_of(n)] = false;
    for (std::size_t i = 0; i < now.outputs.size(); ++i) {
      if (now.outputs[i] != no_value) origin(now.outputs[i]) = was->outputs[i];
    }
  }

  // Nodes that lead only to other outputs do not change the decision.
  void forget_other_outputs() {
    std::vector<bool> leads(mutant_.values().size());
    leads[index_of(decision_)] = true;
    for (const NodeId n : backwards(mutant_.node_ids())) {
      const bool needed = std::ranges::any_of(
          node(n).outputs, [&](ValueId id) { return id != no_value && leads[index_of(id)]; });
      for (const ValueId id : node(n).inputs) {
        if (needed && id != no_value) leads[index_of(id)] = true;
      }
      dirty_[index_of(n)] = dirty_[index_of(n)] && needed;
      edited_[index_of(n)] = edited_[index_of(n)] && needed;
    }
  }

  // Edited nodes whose result differs, and everything between two of them.
  std::vector<bool> nodes_between() const {
    std::vector<bool> inside(dirty_.size());
    const auto is_inside = [&](NodeId n) { return inside[index_of(n)]; };
    const auto is_read_inside = [&](ValueId id) {
      return id != no_value && std::ranges::any_of(mutant_.consumers(id), is_inside);
    };
    for (const NodeId n : backwards(mutant_.node_ids())) {
      if (!dirty_[index_of(n)]) continue;
      inside[index_of(n)] = edited_[index_of(n)] || std::ranges::any_of(node(n).outputs, is_read_inside);
    }
    return inside;
  }

  // Readers of changed weights belong to the difference; true when there were any.
  bool leaks_weights(const std::vector<bool>& inside) {
    bool found = false;
    for (const NodeId n : mutant_.node_ids()) {
      if (!inside[index_of(n)]) continue;
      for (const ValueId id : node(n).outputs) {
        if (id == no_value || per_record_(id)) continue;
        for (const NodeId reader : mutant_.consumers(id)) {
          const std::size_t r = index_of(reader);
          found |= !inside[r] && !edited_[r];
          edited_[r] = true;
        }
      }
    }
    return found;
  }

  // Values equal to the original's that the node reads, without constants. In place of one that does not
  // depend on the batch (a shape, for instance) those from which it is computed.
  std::set<ValueId> clean_inputs(NodeId n) {
    std::set<ValueId> found;
    std::vector<ValueId> open = node(n).inputs;
    while (!open.empty()) {
      const ValueId id = open.back();
      open.pop_back();
      if (id == no_value || mutant_.is_constant(id) || origin(id) == no_value) continue;
      const NodeId producer = mutant_.producer(id);
      if (producer == no_node || per_record_(origin(id))) {
        found.insert(id);
      } else {
        const auto& inputs = mutant_.node(producer).inputs;
        open.insert(open.end(), inputs.begin(), inputs.end());
      }
    }
    return found;
  }

  Difference gather(const std::vector<bool>& inside) {
    Difference result;
    std::set<ValueId> also_read;
    for (const NodeId n : mutant_.node_ids()) {
      if (!dirty_[index_of(n)]) continue;
      for (const ValueId id : clean_inputs(n)) {
        result.border.emplace(id, origin(id));
        if (!inside[index_of(n)]) also_read.insert(origin(id));
      }
      if (!inside[index_of(n)]) continue;
      result.nodes.push_back(n);
      for (const ValueId id : node(n).inputs) {
        if (id != no_value && !mutant_.is_constant(id) && origin(id) != no_value)
          result.sources.emplace(id, origin(id));
      }
      for (const ValueId id : node(n).outputs) {
        if (id == no_value) continue;
        const bool read = std::ranges::any_of(mutant_.consumers(id),
                                              [&](NodeId reader) { return !inside[index_of(reader)]; });
        if (read || id == decision_) result.boundary.push_back(id);
      }
    }
    result.also_read.assign(also_read.begin(), also_read.end());
    return result;
  }

  const Graph& original_;
  const Graph& mutant_;
  ValueId decision_;
  const std::function<bool(ValueId)>& per_record_;
  std::vector<ValueId> origin_;  // per value of the mutant: the equal value of the original
  std::vector<bool> dirty_;      // per node: its outputs differ from the original's
  std::vector<bool> edited_;     // per node: it is not the original's node
};

}  // namespace

bool same_function(const Node& a, const Node& b) {
  return a.op == b.op && a.inputs.size() == b.inputs.size() && a.outputs.size() == b.outputs.size() &&
         std::ranges::equal(a.attributes, b.attributes, [](const auto& x, const auto& y) {
           return x.first == y.first && same_attribute(x.second, y.second);
         });
}

bool same_elements(const Array& a, const Array& b) {
  if (a.dtype() != b.dtype() || a.shape() != b.shape()) return false;
  return a.shares_storage(b) || a.byte_size() == 0 || std::memcmp(a.data(), b.data(), a.byte_size()) == 0;
}

Difference compare(const Graph& original, const Graph& mutant, ValueId decision,
                   const std::function<bool(ValueId)>& per_record) {
  return Comparison(original, mutant, decision, per_record).run();
}

}  // namespace assay::mutation
