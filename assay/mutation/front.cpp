#include "assay/mutation/front.h"

#include <algorithm>

#include <assay/extend/operator_traits.h>
#include "assay/engine/layers/attention.h"
#include "assay/mutation/layer_weights.h"

namespace assay::mutation {
namespace {

std::vector<bool> nodes_of_layers(const Subject& subject) {
  std::vector<bool> marks(subject.graph().nodes().size(), false);
  for (const SubjectLayer& layer : subject.layers())
    for (const NodeId n : layer.nodes) marks[index_of(n)] = true;
  return marks;
}

// Takes what the layer needs and nothing has taken.
std::vector<NodeId> take_front(const Graph& graph, const SubjectLayer& layer, std::vector<bool>& taken) {
  std::vector<NodeId> found;
  std::vector<ValueId> pending{layer.input};
  while (!pending.empty()) {
    const ValueId value = pending.back();
    pending.pop_back();
    const NodeId n = value == no_value ? no_node : graph.producer(value);
    if (n == no_node || taken[index_of(n)]) continue;
    taken[index_of(n)] = true;
    found.push_back(n);
    const auto& inputs = graph.node(n).inputs;
    pending.insert(pending.end(), inputs.begin(), inputs.end());
  }
  std::ranges::sort(found);
  return found;
}

// Exporters call positions that are an input so.
bool names_positions(const std::string& name) { return name.find("position") != std::string::npos; }

std::optional<RowTable> table_read_by(const Subject& subject, NodeId n, std::size_t input) {
  const Graph& graph = subject.graph();
  auto weights = weights_at(graph, n, input, std::nullopt, 0);
  if (!weights) return std::nullopt;
  const Shape& shape = graph.constant(weights->constant).shape();
  const bool matrix = shape.size() == 2 || (shape.size() == 3 && shape[0] == 1);
  if (!matrix || shape[shape.size() - 2] < 2) return std::nullopt;
  return RowTable{
      .weights = std::move(*weights), .rows = shape[shape.size() - 2], .width = shape[shape.size() - 1]};
}

std::optional<RowTable> gathered(const Subject& subject, NodeId n) {
  const Graph& graph = subject.graph();
  const Node& node = graph.node(n);
  if (node.integer("axis", 0) != 0) return std::nullopt;
  auto table = table_read_by(subject, n, 0);
  if (!table) return std::nullopt;
  table->numbers = node.inputs[1];
  ValueId moved = no_value;
  const bool computed = maker_of(graph, node.inputs[1], &moved) != nullptr;
  table->given = !computed && !graph.is_constant(moved) && !names_positions(graph.value(moved).name);
  return table;
}

// Scores of attention get numbers like this where nothing is to be seen.
bool is_mask(const Array& numbers) {
  constexpr float hidden = -1e4F;
  return std::ranges::any_of(numbers.as<float>(), [](float number) { return number <= hidden; });
}

// The whole table, or its first rows, is added to tokens [records, tokens, width].
std::optional<RowTable> added(const Subject& subject, NodeId n) {
  const Graph& graph = subject.graph();
  if (subject.shape(graph.node(n).outputs[0]).size() != 3) return std::nullopt;
  auto table = table_read_by(subject, n, 0);
  if (!table) table = table_read_by(subject, n, 1);
  return table && !is_mask(graph.constant(table->weights.constant)) ? table : std::nullopt;
}

}  // namespace

std::vector<NodeId> nodes_in_front(const Subject& subject, const SubjectLayer& layer) {
  std::vector<bool> taken = nodes_of_layers(subject);
  for (const SubjectLayer& one : subject.layers()) {
    std::vector<NodeId> front = take_front(subject.graph(), one, taken);
    if (&one == &layer) return front;
  }
  return {};
}

std::vector<RowTable> tables_in_front(const Subject& subject, const SubjectLayer& layer) {
  std::vector<RowTable> tables;
  for (const NodeId n : nodes_in_front(subject, layer)) {
    const Node& node = subject.graph().node(n);
    std::optional<RowTable> table;
    if (node.op == "Gather") table = gathered(subject, n);
    if (node.op == "Slice") table = table_read_by(subject, n, 0);
    if (node.op == "Add") table = added(subject, n);
    if (table) tables.push_back(std::move(*table));
  }
  return tables;
}

}  // namespace assay::mutation
