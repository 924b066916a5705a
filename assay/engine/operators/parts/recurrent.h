#pragma once

// Common parts of RNN, GRU and LSTM: reading their inputs, directions, sequence lengths and activations.

#include <functional>

#include "assay/engine/operators/parts/support.h"

namespace assay::operators {

using State = std::vector<Array>;  // hidden, and for LSTM cell: each [batch, hidden]
// One time step: the input's projection [batch, gates * hidden] and the state to the next state.
using Step = std::function<State(const Array& projected, const State& state)>;
using Activation = std::function<Array(const Array&)>;

// One direction's weights.
struct Direction {
  Array weight;                       // [gates * hidden, input]
  Array recurrent;                    // transposed: [hidden, gates * hidden]
  Array bias;                         // of input and recurrent part together: [gates * hidden], or undefined
  Array candidate_bias;               // see Recurrence::candidate_bias_apart: [hidden], or undefined
  Array peephole;                     // [3 * hidden], or undefined
  std::vector<Activation> functions;  // with clipping before
};
using MakeStep = std::function<Step(const Direction&)>;

// The node's inputs, checked.
struct Recurrence {
  // `gates`: 1 for RNN, 3 for GRU, 4 for LSTM. `defaults`: activations of one direction.
  Recurrence(const Call& call, std::int64_t gates, const std::vector<std::string>& defaults);

  const Call& call;
  std::int64_t gates, steps = 0, batch = 0, hidden = 0;
  std::size_t directions = 1;
  bool reverse = false, batch_first = false;
  // The recurrent bias of the last gate is not part of the projection (GRU with linear_before_reset).
  bool candidate_bias_apart = false;
  float clip = 0;
  Array input;                          // [steps, batch, features]
  Array lengths;                        // [batch], or undefined
  std::vector<Activation> activations;  // all directions, one after the other

  bool backwards(std::size_t direction) const { return reverse || direction == 1; }
  Direction direction(std::size_t d) const;
  State initial(std::size_t d, std::size_t states) const;

 private:
  void require_shape(std::size_t input, const Ints& wanted) const;
  void require_shapes() const;
  void read_lengths();
};

// Attributes activations, activation_alpha and activation_beta; alphas and betas are consumed in order by the
// functions that have one.
std::vector<Activation> read_activations(const Call& call, std::size_t directions,
                                         const std::vector<std::string>& defaults);

}  // namespace assay::operators
