#include "assay/inspection/units/gates.h"

#include <assay/array_math.h>

#include <limits>

#include "assay/engine/operators/parts/recurrent.h"

namespace assay::inspection {
namespace {

using operators::Direction;
using operators::Recurrence;

// One direction of a layer, all steps at once.
struct Sequence {
  Sequence(const Recurrence& run, std::size_t d, std::size_t states, const Array& all_hidden)
      : backwards(run.backwards(d)), weights(run.direction(d)), initial(run.initial(d, states)) {
    projected = array::matmul(run.input, weights.weight.t());
    if (weights.bias.defined()) projected = projected + weights.bias;
    if (run.lengths.defined())
      active = (array::arange(run.steps, run.lengths.dtype()).unsqueeze(1) < run.lengths).unsqueeze(2);
    hidden = all_hidden.select(2, d).transpose(0, 1);
    const Array first = initial[0].unsqueeze(0);
    before =
        backwards ? array::cat({hidden.slice(0, 1), first}) : array::cat({first, hidden.slice(0, 0, -1)});
    // Backwards, a record's last step is the first that is met.
    if (active.defined() && backwards) {
      const Array met = array::cat({active.slice(0, 1), array::zeros_like(active.slice(0, 0, 1))});
      before = array::where(met, before, first.expand(before.shape()));
    }
  }

  bool backwards;
  Direction weights;
  operators::State initial;
  Array projected;       // [steps, records, gates * hidden]
  Array hidden, before;  // [steps, records, hidden]: the state after each step, and the one it started from
  Array active;          // [steps, records, 1], or undefined: all are
};

using Gates = std::map<std::string, Array>;  // [steps, records, hidden]

// The elementwise recursion over cell states; everything else is known from the hidden states.
Gates lstm_gates(const Sequence& s, bool coupled) {
  const Arrays sums = array::chunk(s.projected + array::matmul(s.before, s.weights.recurrent), 4, 2);
  std::vector<Array> peephole(3);
  if (s.weights.peephole.defined()) peephole = array::chunk(s.weights.peephole, 3, 0);
  const auto peep = [](const Array& sum, const Array& weight, const Array& cell) {
    return weight.defined() ? sum + weight * cell : sum;
  };
  const auto& f = s.weights.functions;
  const std::int64_t steps = s.projected.size(0);
  std::map<std::string, std::vector<Array>> parts;
  for (const std::string& name : gate_names("LSTM")) parts[name].resize(steps);
  Array cell = s.initial[1];
  for (std::int64_t i = 0; i < steps; ++i) {
    const std::int64_t t = s.backwards ? steps - 1 - i : i;
    const auto at_step = [&](const char* name) -> Array& { return parts[name][t]; };
    const Array in = f[0](peep(sums[0][t], peephole[0], cell));
    const Array forget = coupled ? 1 - in : f[0](peep(sums[2][t], peephole[2], cell));
    const Array candidate = f[1](sums[3][t]);
    Array next = forget * cell + in * candidate;
    at_step("input") = in, at_step("forget") = forget, at_step("candidate") = candidate;
    at_step("output") = f[0](peep(sums[1][t], peephole[1], next));
    at_step("cell") = next;
    cell = s.active.defined() ? array::where(s.active[t], next, cell) : next;
  }
  Gates gates;
  for (const auto& [name, list] : parts) gates[name] = array::stack(list);
  return gates;
}

Gates gru_gates(const Sequence& s, const Recurrence& run) {
  const std::int64_t size = run.hidden;
  const Array gate_weight = s.weights.recurrent.narrow(1, 0, 2 * size),
              weight = s.weights.recurrent.narrow(1, 2 * size, size);
  const Array sums = s.projected.narrow(2, 0, 2 * size) + array::matmul(s.before, gate_weight);
  const Arrays both = array::chunk(s.weights.functions[0](sums), 2, 2);
  const Array fresh = s.projected.narrow(2, 2 * size, size);
  Array own =
      run.candidate_bias_apart ? array::matmul(s.before, weight) : array::matmul(both[1] * s.before, weight);
  if (run.candidate_bias_apart) {
    if (s.weights.candidate_bias.defined()) own = own + s.weights.candidate_bias;
    own = both[1] * own;
  }
  return {{"update", both[0]}, {"reset", both[1]}, {"candidate", s.weights.functions[1](fresh + own)}};
}

}  // namespace

std::vector<std::string> gate_names(std::string_view op) {
  if (op == "LSTM") return {"input", "output", "forget", "candidate", "cell"};
  if (op == "GRU") return {"update", "reset", "candidate"};
  return {};
}

Array by_record(const Node& node, const Array& hidden) {
  const Array ordered = node.integer("layout", 0) != 0 ? hidden : hidden.permute({2, 0, 1, 3});
  return ordered.reshape({ordered.size(0), ordered.size(1), -1});
}

std::map<std::string, Array> gates_of(const Node& node, std::span<const Array> inputs, const Array& hidden) {
  KernelContext context;
  const operators::Call call{node, inputs, context};
  const bool lstm = node.op == "LSTM";
  Recurrence run =
      lstm ? Recurrence(call, 4, {"Sigmoid", "Tanh", "Tanh"}) : Recurrence(call, 3, {"Sigmoid", "Tanh"});
  run.candidate_bias_apart = !lstm && node.integer("linear_before_reset", 0) != 0;
  const Array states =
      by_record(node, hidden)
          .reshape({run.batch, run.steps, static_cast<std::int64_t>(run.directions), run.hidden});
  std::map<std::string, std::vector<Array>> directions;
  for (std::size_t d = 0; d < run.directions; ++d) {
    const Sequence sequence(run, d, lstm ? 2 : 1, states);
    const Gates gates =
        lstm ? lstm_gates(sequence, node.integer("input_forget", 0) != 0) : gru_gates(sequence, run);
    for (const auto& [name, gate] : gates) {
      const Array known =
          sequence.active.defined()
              ? gate.masked_fill(sequence.active.logical_not(), std::numeric_limits<double>::quiet_NaN())
              : gate;
      directions[name].push_back(known.transpose(0, 1));
    }
  }
  std::map<std::string, Array> all;
  for (const auto& [name, parts] : directions) all[name] = array::cat(parts, 2);
  return all;
}

}  // namespace assay::inspection
