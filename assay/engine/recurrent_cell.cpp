#include "assay/engine/recurrent_cell.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <string>
#include <string_view>

namespace assay::inline engine {
namespace {

constexpr std::size_t lengths_input = 4, peephole_input = 7;

struct Cell {
  std::string_view op;
  CellKind kind;
  std::int64_t gates;
  std::size_t states;
  std::vector<std::string_view> activations;  // lower case
};

const Cell* cell_of(const Node& node) {
  static const Cell lstm{"LSTM", CellKind::lstm, 4, 2, {"sigmoid", "tanh", "tanh"}},
      gru{"GRU", CellKind::gru, 3, 1, {"sigmoid", "tanh"}},
      reset_after{"GRU", CellKind::gru_reset_after, 3, 1, {"sigmoid", "tanh"}},
      rnn{"RNN", CellKind::rnn, 1, 1, {"tanh"}};
  if (node.op == "LSTM") return &lstm;
  if (node.op == "GRU") return node.integer("linear_before_reset", 0) != 0 ? &reset_after : &gru;
  return node.op == "RNN" ? &rnn : nullptr;
}

bool usual_activations(const Node& node, const Cell& cell) {
  const std::vector<std::string> given = node.texts("activations", {});
  for (std::size_t i = 0; i < given.size(); ++i) {
    const std::string_view usual = cell.activations[i % cell.activations.size()];
    const auto same = [](unsigned char a, char b) { return std::tolower(a) == b; };
    if (!std::ranges::equal(given[i], usual, same)) return false;
  }
  return true;
}

bool finite_weights(const Graph& graph, const Node& node, std::size_t i, const Shape& wanted) {
  if (!has_input(node, i) || !graph.is_constant(node.inputs[i])) return false;
  const Array& weights = graph.constant(node.inputs[i]);
  if (weights.dtype() != DType::float32 || weights.shape() != wanted) return false;
  return std::ranges::all_of(weights.as<float>(), [](float w) { return std::isfinite(w); });
}

}  // namespace

bool has_input(const Node& node, std::size_t input) {
  return input < node.inputs.size() && node.inputs[input] != no_value;
}

RecurrentNode::RecurrentNode(const Graph& graph, const Node& node) {
  const Cell& cell = *cell_of(node);
  kind = cell.kind, gates = cell.gates, states = cell.states;
  hidden = graph.constant(node.inputs[recurrent_weights]).shape()[2];
  features = graph.constant(node.inputs[weights]).shape()[2];
  records_first = node.integer("layout", 0) != 0;
  const std::string direction = node.text("direction", "forward");
  if (direction != "reverse") backwards.push_back(false);
  if (direction != "forward") backwards.push_back(true);
}

bool is_usual_recurrence(const Graph& graph, const Node& node) {
  using N = RecurrentNode;
  const Cell* const cell = cell_of(node);
  if (cell == nullptr || has_input(node, lengths_input) || has_input(node, peephole_input)) return false;
  // Of a quantised LSTM states are rounded from step to step.
  if (node.has("clip") || node.integer("input_forget", 0) != 0 || node.has("quantised_state")) return false;
  const std::string direction = node.text("direction", "forward");
  if (direction != "forward" && direction != "reverse" && direction != "bidirectional") return false;
  if (!usual_activations(node, *cell)) return false;
  for (std::size_t k = 0; k < cell->states; ++k) {
    if (has_input(node, N::first_state + k) && graph.is_constant(node.inputs[N::first_state + k]))
      return false;
  }
  if (!has_input(node, 0) || graph.is_constant(node.inputs[0])) return false;
  if (!has_input(node, N::weights) || !graph.is_constant(node.inputs[N::weights])) return false;
  const Shape& weights = graph.constant(node.inputs[N::weights]).shape();
  if (weights.size() != 3 || element_count(weights) == 0) return false;
  const std::int64_t directions = direction == "bidirectional" ? 2 : 1;
  const std::int64_t rows = weights[1], hidden = rows / cell->gates;
  return finite_weights(graph, node, N::weights, {directions, hidden * cell->gates, weights[2]}) &&
         finite_weights(graph, node, N::recurrent_weights, {directions, rows, hidden}) &&
         (!has_input(node, N::bias) || finite_weights(graph, node, N::bias, {directions, 2 * rows}));
}

}  // namespace assay::inline engine
