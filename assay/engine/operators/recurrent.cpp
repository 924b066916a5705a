// RNN, GRU and LSTM, in one or both directions.

#include <algorithm>
#include <functional>

#include "assay/engine/operators/parts/quantised.h"
#include "assay/engine/operators/parts/recurrent.h"

namespace assay::operators {
namespace {

// A direction's share of an input whose first axis counts directions; undefined where the input is absent.
Array share(const Call& call, std::size_t i, std::size_t direction) {
  return call.has(i) ? call.input(i).select(0, direction) : Array();
}

// Runs one direction. A record whose sequence has ended keeps its state and contributes zeros to the output;
// going backwards it keeps its initial state until its last element is met.
std::pair<Array, State> unroll(const Recurrence& run, const Array& projected, State state, bool backwards,
                               const Step& step) {
  std::vector<Array> outputs(run.steps);
  // At once: the gradients of steps selected one by one are sums of tensors as large as all steps.
  const std::vector<Array> inputs = array::unbind(projected);
  for (std::int64_t i = 0; i < run.steps; ++i) {
    const std::int64_t t = backwards ? run.steps - 1 - i : i;
    State next = step(inputs[t], state);
    Array output = next[0];
    if (run.lengths.defined()) {
      const Array active = (run.lengths > t).unsqueeze(1);
      for (std::size_t k = 0; k < state.size(); ++k) next[k] = array::where(active, next[k], state[k]);
      output = array::where(active, next[0], array::zeros_like(next[0]));
    }
    outputs[t] = output;
    state = std::move(next);
  }
  return {array::stack(outputs), std::move(state)};
}

// Runs all directions; the outputs are Y and then the last states, in the node's layout.
Outputs run_directions(const Recurrence& run, std::size_t states, const MakeStep& make_step) {
  std::vector<Array> outputs;
  std::vector<std::vector<Array>> last(states);
  for (std::size_t d = 0; d < run.directions; ++d) {
    const Direction direction = run.direction(d);
    const Array flat = run.input.reshape({run.steps * run.batch, -1});
    Array projected = array::mm(flat, direction.weight.t());
    if (direction.bias.defined()) projected = projected + direction.bias;
    projected = projected.reshape({run.steps, run.batch, -1});
    const bool backwards = run.backwards(d);
    const auto [output, state] =
        unroll(run, projected, run.initial(d, states), backwards, make_step(direction));
    outputs.push_back(output);
    for (std::size_t k = 0; k < states; ++k) last[k].push_back(state[k]);
  }
  // [steps, directions, batch, hidden], or with layout 1 [batch, steps, directions, hidden].
  Array y = array::stack(outputs, 1);
  if (run.batch_first) y = y.permute({2, 0, 1, 3});
  Outputs results{y};
  for (const auto& parts : last) results.push_back(array::stack(parts, run.batch_first ? 1 : 0));
  return results;
}

Array clipped(const Array& x, float clip) { return clip > 0 ? array::clamp(x, -clip, clip) : x; }

}  // namespace

// Recurrence
// ---------------------------------------------------------------------------------------------------

Recurrence::Recurrence(const Call& c, std::int64_t gate_count, const std::vector<std::string>& defaults)
    : call(c), gates(gate_count) {
  const Array &x = call.input(0), &weight = call.input(1), &recurrent = call.input(2);
  if (x.rank() != 3 || weight.rank() != 3 || recurrent.rank() != 3) {
    fail(Fault::model, "the input and both weights must have 3 axes");
  }
  batch_first = call.node.integer("layout", 0) != 0;
  input = batch_first ? x.transpose(0, 1) : x;
  steps = input.size(0), batch = input.size(1), hidden = recurrent.size(2);
  const std::string name = call.node.text("direction", "forward");
  if (name != "forward" && name != "reverse" && name != "bidirectional") {
    fail(Fault::model, "direction '{}' is not forward, reverse or bidirectional", name);
  }
  directions = name == "bidirectional" ? 2 : 1;
  reverse = name == "reverse";
  clip = call.node.real("clip", 0);
  require_shapes();
  read_lengths();
  activations = read_activations(call, directions, defaults);
}

void Recurrence::require_shape(std::size_t i, const Ints& wanted) const {
  if (call.has(i) && call.input(i).shape() != Shape(wanted)) {
    fail(Fault::model, "input {} is {}; {} is needed", i, to_string(call.input(i).shape()),
         to_string(wanted));
  }
}

void Recurrence::require_shapes() const {
  require_in("hidden_size", call.node.integer("hidden_size", hidden), hidden, hidden);
  require_in("the number of hidden units", hidden, 1, largest_extent);
  require_in("the length of the sequence", steps, 1, largest_extent);
  const std::int64_t d = directions;
  require_shape(1, {d, gates * hidden, input.size(2)});
  require_shape(2, {d, gates * hidden, hidden});
  require_shape(3, {d, 2 * gates * hidden});
  require_shape(4, {batch});
  const Ints state = batch_first ? Ints{batch, d, hidden} : Ints{d, batch, hidden};
  require_shape(5, state);
  if (gates != 4) return;
  require_shape(6, state);
  require_shape(7, {d, 3 * hidden});
}

void Recurrence::read_lengths() {
  if (!call.has(4)) return;
  for (const auto length : call.integers(4)) require_in("a sequence length", length, 0, steps);
  lengths = call.input(4);
}

Direction Recurrence::direction(std::size_t d) const {
  Direction one;
  one.weight = share(call, 1, d), one.recurrent = share(call, 2, d).t();
  if (const Array both = share(call, 3, d); both.defined()) {
    Array recurrent = both.narrow(0, gates * hidden, gates * hidden);
    if (candidate_bias_apart) {
      one.candidate_bias = recurrent.narrow(0, (gates - 1) * hidden, hidden);
      recurrent = array::pad(recurrent.narrow(0, 0, (gates - 1) * hidden), {0, hidden});
    }
    one.bias = both.narrow(0, 0, gates * hidden) + recurrent;
  }
  if (gates == 4) one.peephole = share(call, 7, d);
  const std::size_t each = activations.size() / directions;
  for (std::size_t i = 0; i < each; ++i) {
    one.functions.push_back(
        [f = activations[d * each + i], c = clip](const Array& x) { return f(clipped(x, c)); });
  }
  return one;
}

State Recurrence::initial(std::size_t d, std::size_t states) const {
  State state;
  for (std::size_t k = 0; k < states; ++k) {
    state.push_back(call.has(5 + k) ? call.input(5 + k).select(batch_first ? 1 : 0, d)
                                    : array::zeros({batch, hidden}, input.dtype()));
  }
  return state;
}

// Cells
// --------------------------------------------------------------------------------------------------------

// H' = f(X W' + H R' + bias)
Outputs rnn(const Call& call) {
  return run_directions(Recurrence(call, 1, {"Tanh"}), 1, [](const Direction& one) -> Step {
    return [=](const Array& x, const State& state) -> State {
      return {one.functions[0](array::addmm(x, state[0], one.recurrent))};
    };
  });
}

// z, r = f(X W' + H R' + bias); h = g(X W' + (r * H) R' + bias), or with linear_before_reset
// h = g(X W' + bias + r * (H R' + bias)); H' = (1 - z) * h + z * H
Outputs gru(const Call& call) {
  Recurrence run(call, 3, {"Sigmoid", "Tanh"});
  run.candidate_bias_apart = call.node.integer("linear_before_reset", 0) != 0;
  return run_directions(run, 1, [&](const Direction& one) -> Step {
    const std::int64_t size = run.hidden;
    const Array gate_weight = one.recurrent.narrow(1, 0, 2 * size),
                weight = one.recurrent.narrow(1, 2 * size, size);
    const auto candidate = [=, apart = run.candidate_bias_apart](const Array& x, const Array& h,
                                                                 const Array& reset) {
      if (!apart) return array::addmm(x, reset * h, weight);
      const Array own = array::mm(h, weight);
      return x + reset * (one.candidate_bias.defined() ? own + one.candidate_bias : own);
    };
    return [=](const Array& x, const State& state) -> State {
      const Array& h = state[0];
      const auto gates =
          array::chunk(one.functions[0](array::addmm(x.narrow(1, 0, 2 * size), h, gate_weight)), 2, 1);
      const Array fresh = one.functions[1](candidate(x.narrow(1, 2 * size, size), h, gates[1]));
      return {fresh + gates[0] * (h - fresh)};
    };
  });
}

// i, f = f(X W' + H R' + P * C + bias); C' = f * C + i * g(X W' + H R' + bias);
// o = f(X W' + H R' + P * C' + bias); H' = o * h(C'). Gates lie in the order i, o, f, c; peepholes i, o, f.
Outputs lstm(const Call& call) {
  const bool coupled = call.node.integer("input_forget", 0) != 0,
             quantised = call.node.integer("quantised_state", 0) != 0;
  return run_directions(
      Recurrence(call, 4, {"Sigmoid", "Tanh", "Tanh"}), 2, [=](const Direction& one) -> Step {
        std::vector<Array> peephole(3);
        if (one.peephole.defined()) peephole = array::chunk(one.peephole, 3, 0);
        const auto peep = [](const Array& gate, const Array& weight, const Array& cell) {
          return weight.defined() ? gate + weight * cell : gate;
        };
        return [=](const Array& x, const State& state) -> State {
          const Array hidden = quantised ? dynamically_rounded(state[0]) : state[0];
          const auto gates = array::chunk(array::addmm(x, hidden, one.recurrent), 4, 1);
          const Array& cell = state[1];
          const Array in = one.functions[0](peep(gates[0], peephole[0], cell));
          const Array forget = coupled ? 1 - in : one.functions[0](peep(gates[2], peephole[2], cell));
          const Array next = forget * cell + in * one.functions[1](gates[3]);
          const Array out = one.functions[0](peep(gates[1], peephole[1], next));
          return {out * one.functions[2](next), next};
        };
      });
}

}  // namespace assay::operators
