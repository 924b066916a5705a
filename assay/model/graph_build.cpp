// GraphBuilder::build(): checks, sorts and connects. Every step is linear in nodes and values but for
// the logarithm of sorting.

#include <algorithm>

#include <assay/error.h>
#include <assay/graph.h>
#include <assay/model.h>
#include "assay/model/graph_hash.h"
#include "assay/model/stable_order.h"

namespace assay::inline model {
namespace {

// Which node makes each value, and which values need no node.
class Producers {
 public:
  Producers(const std::string& graph, std::span<const Node> nodes, const std::vector<bool>& removed,
            std::span<const Value> values, std::span<const ValueId> inputs)
      : graph_(graph),
        nodes_(nodes),
        values_(values),
        given_(values.size()),
        producers_(values.size(), no_node) {
    for (std::size_t i = 0; i < values.size(); ++i) given_[i] = values[i].constant.has_value();
    for (const ValueId id : inputs) given_[index_of(id)] = true;
    for (const NodeId n : IdRange<NodeId>(nodes.size())) {
      if (!removed[index_of(n)]) claim_outputs(n);
    }
  }

  // The node that makes an input of `reader`; no_node where none has to.
  NodeId of_input(ValueId id, const Node& reader) const {
    if (id == no_value) return no_node;
    require_in_range(id, reader.describe());
    if (producers_[index_of(id)] == no_node && !given_[index_of(id)]) {
      fail(Fault::model, "{}: input '{}' is produced by no node", reader.describe(),
           values_[index_of(id)].name);
    }
    return producers_[index_of(id)];
  }
  NodeId of_output(ValueId id) const {
    require_in_range(id, fmt::format("output of graph '{}'", graph_));
    if (producers_[index_of(id)] == no_node && !given_[index_of(id)]) {
      fail(Fault::model, "graph output '{}' is produced by no node", values_[index_of(id)].name);
    }
    return producers_[index_of(id)];
  }

 private:
  void claim_outputs(NodeId n) {
    for (const ValueId out : nodes_[index_of(n)].outputs) {
      if (out == no_value) continue;
      require_in_range(out, nodes_[index_of(n)].describe());
      if (given_[index_of(out)] || producers_[index_of(out)] != no_node) {
        fail(Fault::model, "{}: value '{}' is produced twice", nodes_[index_of(n)].describe(),
             values_[index_of(out)].name);
      }
      producers_[index_of(out)] = n;
    }
  }
  void require_in_range(ValueId id, const std::string& who) const {
    if (index_of(id) >= values_.size())
      fail(Fault::model, "{} refers to value {} of {}", who, static_cast<int>(id), values_.size());
  }

  const std::string& graph_;
  std::span<const Node> nodes_;
  std::span<const Value> values_;
  std::vector<bool> given_;
  std::vector<NodeId> producers_;
};

// Marks what the outputs need, depth first without recursion, and refuses cycles.
class Needed {
 public:
  Needed(std::span<const Node> nodes, std::span<const Value> values, const Producers& producers)
      : nodes_(nodes), values_(values), producers_(producers), marks_(nodes.size(), Mark::fresh) {}

  void visit(NodeId root) {
    if (root == no_node || marks_[index_of(root)] == Mark::done) return;
    std::vector<std::pair<NodeId, std::size_t>> stack{{root, 0}};
    while (!stack.empty()) {
      auto& [n, next] = stack.back();
      const Node& node = nodes_[index_of(n)];
      if (next == node.inputs.size()) {
        marks_[index_of(n)] = Mark::done;
        stack.pop_back();
        continue;
      }
      marks_[index_of(n)] = Mark::open;
      const ValueId in = node.inputs[next++];
      const NodeId before = producers_.of_input(in, node);
      if (before == no_node || marks_[index_of(before)] == Mark::done) continue;
      if (marks_[index_of(before)] == Mark::open) {
        fail(Fault::model, "{}: input '{}' depends on the node's own output (a cycle)", node.describe(),
             values_[index_of(in)].name);
      }
      stack.emplace_back(before, 0);
    }
  }
  bool has(std::size_t n) const { return marks_[n] == Mark::done; }

 private:
  enum class Mark : char { fresh, open, done };
  std::span<const Node> nodes_;
  std::span<const Value> values_;
  const Producers& producers_;
  std::vector<Mark> marks_;
};

// The nodes that are needed, in the author's order wherever that is valid.
std::vector<std::size_t> sorted(std::span<const Node> nodes, const Needed& needed,
                                const Producers& producers) {
  std::vector<std::vector<std::size_t>> before(nodes.size());
  for (std::size_t n = 0; n < nodes.size(); ++n) {
    if (!needed.has(n)) continue;
    for (const ValueId in : nodes[n].inputs) {
      const NodeId producer = producers.of_input(in, nodes[n]);
      if (producer != no_node) before[n].push_back(index_of(producer));
    }
  }
  std::vector<std::size_t> order = stable_order(before);
  std::erase_if(order, [&](std::size_t n) { return !needed.has(n); });
  return order;
}

template <typename Id, typename Named>
std::vector<Id> sorted_by_name(IdRange<Id> ids, const std::vector<Named>& things) {
  std::vector<Id> order(ids.begin(), ids.end());
  std::ranges::sort(order, {}, [&](Id id) -> const std::string& { return things[index_of(id)].name; });
  return order;
}

}  // namespace

Graph GraphBuilder::build() const {
  if (outputs_.empty()) fail(Fault::model, "graph '{}' has no outputs", name_);
  const Producers producers(name_, nodes_, removed_, values_, inputs_);
  Needed needed(nodes_, values_, producers);
  for (const ValueId out : outputs_) needed.visit(producers.of_output(out));

  Graph graph;
  graph.name_ = name_;
  graph.values_ = values_;
  graph.inputs_ = inputs_;
  graph.outputs_ = outputs_;
  graph.notices_ = notices_;
  for (const std::size_t n : sorted(nodes_, needed, producers)) graph.nodes_.push_back(nodes_[n]);

  graph.producers_.assign(values_.size(), no_node);
  graph.consumers_.assign(values_.size(), {});
  for (const NodeId n : graph.node_ids()) {
    const Node& node = graph.node(n);
    for (const ValueId out : node.outputs) {
      if (out != no_value) graph.producers_[index_of(out)] = n;
    }
    for (const ValueId in : node.inputs) {
      if (in == no_value) continue;
      auto& list = graph.consumers_[index_of(in)];
      if (list.empty() || list.back() != n) list.push_back(n);
    }
  }
  graph.hash_ = std::make_shared<ContentHash>();
  graph.values_by_name_ = sorted_by_name(graph.value_ids(), graph.values_);
  graph.nodes_by_name_ = sorted_by_name(graph.node_ids(), graph.nodes_);
  return graph;
}

}  // namespace assay::inline model
