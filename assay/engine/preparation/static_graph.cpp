#include "assay/engine/preparation/static_graph.h"

#include <assay/model.h>

#include <algorithm>
#include <set>

#include <assay/extend/operator_traits.h>
#include "assay/engine/preparation/shape_numbers.h"

namespace assay::inline engine {
namespace {

// Folded values become separate constants.
class Maker {
 public:
  // `known`: one entry a value, undefined for values that are not constants.
  Maker(const Graph& graph, std::span<const Array> known, std::span<const ValueInfo> infos)
      : graph_(graph), known_(known), infos_(infos), builder_(graph) {}

  Graph make() {
    for (const NodeId n : graph_.node_ids()) {
      const Node& old = graph_.node(n);
      if (folded(old)) continue;
      Node node = old;
      leave_out_empty_parts(node);
      for (ValueId& id : node.inputs) {
        if (id != no_value && !graph_.is_constant(id) && is_known(id)) id = constant_for(id);
      }
      if (const auto target = computed_target(old)) {
        node.inputs[1] = builder_.constant({}, Array::of<std::int64_t>({std::ssize(*target)}, *target));
        node.attributes.erase("allowzero");
      }
      if (node.inputs != old.inputs) builder_.replace_node(n, std::move(node));
    }
    return builder_.build();
  }

 private:
  bool is_known(ValueId id) const { return known_[index_of(id)].defined(); }
  bool folded(const Node& node) const {
    return std::ranges::all_of(node.outputs, [&](ValueId id) { return id == no_value || is_known(id); });
  }

  ValueId constant_for(ValueId id) {
    const auto [entry, fresh] = made_.try_emplace(id, no_value);
    if (fresh) entry->second = builder_.constant({}, known_[index_of(id)]);
    return entry->second;
  }

  // What is joined to nothing stays as it is: the keys of tokens, where there are no earlier ones.
  void leave_out_empty_parts(Node& node) const {
    if (node.op != "Concat") return;
    const auto rest = std::ranges::remove_if(node.inputs, [&](ValueId id) { return is_empty(id); });
    if (rest.begin() == node.inputs.begin()) return;
    node.inputs.erase(rest.begin(), rest.end());
    if (node.inputs.size() > 1) return;
    node.op = "Identity";
    node.attributes.clear();
  }
  // True where the value has no element, however many records there are: the file says so. A size that sample
  // batches have as 0, as of records from the ninth on, may be more for others.
  bool is_empty(ValueId id) const {
    if (is_known(id)) return known_[index_of(id)].count() == 0;
    const NodeId producer = graph_.producer(id);
    return producer != no_node && graph_.node(producer).op == "Expand" &&
           has_size_of_zero(graph_.node(producer).inputs[1]);
  }
  // Of a target of sizes, or of constant parts that are joined to one.
  bool has_size_of_zero(ValueId sizes) const {
    if (is_known(sizes)) return known_[index_of(sizes)].eq(0).any().item<bool>();
    const NodeId producer = graph_.producer(sizes);
    return producer != no_node && graph_.node(producer).op == "Concat" &&
           std::ranges::any_of(graph_.node(producer).inputs,
                               [&](ValueId part) { return is_known(part) && has_size_of_zero(part); });
  }

  // The target of a Reshape that keeps the batch in front, where it follows from shapes alone.
  std::optional<Shape> computed_target(const Node& node) const {
    if (node.op != "Reshape" || is_known(node.inputs[1])) return std::nullopt;
    const ValueInfo& before = infos_[index_of(node.inputs[0])];
    const ValueInfo& after = infos_[index_of(node.outputs[0])];
    if (before.batch_axis != 0 || after.batch_axis != 0 || after.shaped_by_content ||
        !from_shapes(node.inputs[1]))
      return std::nullopt;
    Shape target = after.shape;
    target[0] = -1;
    if (std::ranges::count(target, 0) > 0) return std::nullopt;
    return target;
  }

  // True when the value is computed from constants and shapes only.
  bool from_shapes(ValueId root) const {
    std::set<ValueId> seen;
    std::vector<ValueId> open{root};
    while (!open.empty()) {
      const ValueId id = open.back();
      open.pop_back();
      if (id == no_value || is_known(id) || !seen.insert(id).second) continue;
      const NodeId producer = graph_.producer(id);
      if (producer == no_node) return false;
      const Node& node = graph_.node(producer);
      if (node.op == "Shape") continue;
      if (!is_movement(node.op) && !is_pass_through(node.op) && !has_trait(node.op, Trait::affine))
        return false;
      open.insert(open.end(), node.inputs.begin(), node.inputs.end());
    }
    return true;
  }

  const Graph& graph_;
  std::span<const Array> known_;
  std::span<const ValueInfo> infos_;
  GraphBuilder builder_;
  std::map<ValueId, ValueId> made_;
};

}  // namespace

Graph make_static(const Graph& graph, const Constants& constants, std::span<const ValueInfo> infos) {
  const Graph plain = Maker(graph, constants.values(), infos).make();
  // Most networks have no arithmetic left, and nothing is to be computed for them.
  if (std::ranges::none_of(plain.nodes(), [](const Node& node) { return node.op == "Shape"; })) return plain;
  std::vector<Array> known(constants.values().begin(), constants.values().end());
  for (const auto& [id, number] : numbers_of_shapes(graph, constants, infos)) known[index_of(id)] = number;
  const Graph made = Maker(graph, known, infos).make();
  // Values computed from these numbers and constants, for example a mask, are constant as well.
  const Constants folded(made, std::uint64_t{1} << 62);
  std::vector<ValueInfo> all(infos.begin(), infos.end());
  all.resize(made.values().size());
  return Maker(made, folded.values(), all).make();
}

}  // namespace assay::inline engine
