#pragma once

// A recurrent node of the usual kind, for back ends: constant weights, the usual activations, and no lengths
// of sequences, clipping, peepholes or coupled gates.

#include <cstdint>
#include <vector>

#include <assay/graph.h>

namespace assay::inline engine {

enum class CellKind { lstm, gru, gru_reset_after, rnn };

struct RecurrentNode {
  // REQUIRES is_usual_recurrence().
  RecurrentNode(const Graph& graph, const Node& node);

  CellKind kind = CellKind::lstm;
  std::int64_t gates = 0, hidden = 0, features = 0;
  std::size_t states = 0;       // that go from step to step
  bool records_first = false;   // [records, steps, ...], else [steps, records, ...]
  std::vector<bool> backwards;  // by direction
  std::int64_t directions() const { return std::ssize(backwards); }

  // Inputs of the node.
  static constexpr std::size_t weights = 1, recurrent_weights = 2, bias = 3, first_state = 5;
};

bool is_usual_recurrence(const Graph& graph, const Node& node);
bool has_input(const Node& node, std::size_t input);

}  // namespace assay::inline engine
