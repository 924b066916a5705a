#include "assay/inspection/units/gates.h"

#include <ATen/ATen.h>

#include <limits>

#include "assay/engine/kernels/parts/recurrent.h"

namespace assay::inspection {
namespace {

using operators::Direction;
using operators::Recurrence;

// One direction of a layer, all steps at once.
struct Sequence {
  Sequence(const Recurrence& run, std::size_t d, std::size_t states, const Tensor& all_hidden)
      : backwards(run.backwards(d)), weights(run.direction(d)), initial(run.initial(d, states)) {
    projected = at::matmul(run.input, weights.weight.t());
    if (weights.bias.defined()) projected = projected + weights.bias;
    if (run.lengths.defined())
      active = (at::arange(run.steps, run.lengths.options()).unsqueeze(1) < run.lengths).unsqueeze(2);
    hidden = all_hidden.select(2, static_cast<std::int64_t>(d)).transpose(0, 1);
    const Tensor first = initial[0].unsqueeze(0);
    before = backwards ? at::cat({hidden.slice(0, 1), first}) : at::cat({first, hidden.slice(0, 0, -1)});
    // Backwards, a record's last step is the first that is met.
    if (active.defined() && backwards) {
      const Tensor met = at::cat({active.slice(0, 1), at::zeros_like(active.slice(0, 0, 1))});
      before = at::where(met, before, first.expand_as(before));
    }
  }

  bool backwards;
  Direction weights;
  operators::State initial;
  Tensor projected;       // [steps, records, gates * hidden]
  Tensor hidden, before;  // [steps, records, hidden]: the state after each step, and the one it started from
  Tensor active;          // [steps, records, 1], or undefined: all are
};

using Gates = std::map<std::string, Tensor>;  // [steps, records, hidden]

// The elementwise recursion over cell states; everything else is known from the hidden states.
Gates lstm_gates(const Sequence& s, bool coupled) {
  const auto sums = (s.projected + at::matmul(s.before, s.weights.recurrent)).chunk(4, 2);
  std::vector<Tensor> peephole(3);
  if (s.weights.peephole.defined()) peephole = s.weights.peephole.chunk(3, 0);
  const auto peep = [](const Tensor& sum, const Tensor& weight, const Tensor& cell) {
    return weight.defined() ? sum + weight * cell : sum;
  };
  const auto& f = s.weights.functions;
  const std::int64_t steps = s.projected.size(0);
  std::map<std::string, std::vector<Tensor>> parts;
  for (const std::string& name : gate_names("LSTM")) parts[name].resize(static_cast<std::size_t>(steps));
  Tensor cell = s.initial[1];
  for (std::int64_t i = 0; i < steps; ++i) {
    const std::int64_t t = s.backwards ? steps - 1 - i : i;
    const auto at_step = [&](const char* name) -> Tensor& {
      return parts[name][static_cast<std::size_t>(t)];
    };
    const Tensor in = f[0](peep(sums[0][t], peephole[0], cell));
    const Tensor forget = coupled ? 1 - in : f[0](peep(sums[2][t], peephole[2], cell));
    const Tensor candidate = f[1](sums[3][t]);
    Tensor next = forget * cell + in * candidate;
    at_step("input") = in, at_step("forget") = forget, at_step("candidate") = candidate;
    at_step("output") = f[0](peep(sums[1][t], peephole[1], next));
    at_step("cell") = next;
    cell = s.active.defined() ? at::where(s.active[t], next, cell) : next;
  }
  Gates gates;
  for (const auto& [name, list] : parts) gates[name] = at::stack(list);
  return gates;
}

Gates gru_gates(const Sequence& s, const Recurrence& run) {
  const std::int64_t size = run.hidden;
  const Tensor gate_weight = s.weights.recurrent.narrow(1, 0, 2 * size),
               weight = s.weights.recurrent.narrow(1, 2 * size, size);
  const auto both =
      s.weights.functions[0](s.projected.narrow(2, 0, 2 * size) + at::matmul(s.before, gate_weight))
          .chunk(2, 2);
  const Tensor fresh = s.projected.narrow(2, 2 * size, size);
  Tensor own =
      run.candidate_bias_apart ? at::matmul(s.before, weight) : at::matmul(both[1] * s.before, weight);
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

Tensor by_record(const Node& node, const Tensor& hidden) {
  const Tensor ordered = node.integer("layout", 0) != 0 ? hidden : hidden.permute({2, 0, 1, 3});
  return ordered.reshape({ordered.size(0), ordered.size(1), -1});
}

std::map<std::string, Tensor> gates_of(const Node& node, std::span<const Tensor> inputs,
                                       const Tensor& hidden) {
  KernelContext context;
  const operators::Call call{node, inputs, context};
  const bool lstm = node.op == "LSTM";
  Recurrence run =
      lstm ? Recurrence(call, 4, {"Sigmoid", "Tanh", "Tanh"}) : Recurrence(call, 3, {"Sigmoid", "Tanh"});
  run.candidate_bias_apart = !lstm && node.integer("linear_before_reset", 0) != 0;
  const Tensor states =
      by_record(node, hidden)
          .reshape({run.batch, run.steps, static_cast<std::int64_t>(run.directions), run.hidden});
  std::map<std::string, std::vector<Tensor>> directions;
  for (std::size_t d = 0; d < run.directions; ++d) {
    const Sequence sequence(run, d, lstm ? 2 : 1, states);
    const Gates gates =
        lstm ? lstm_gates(sequence, node.integer("input_forget", 0) != 0) : gru_gates(sequence, run);
    for (const auto& [name, gate] : gates) {
      const Tensor known =
          sequence.active.defined()
              ? gate.masked_fill(sequence.active.logical_not(), std::numeric_limits<double>::quiet_NaN())
              : gate;
      directions[name].push_back(known.transpose(0, 1));
    }
  }
  std::map<std::string, Tensor> all;
  for (const auto& [name, parts] : directions) all[name] = at::cat(parts, 2);
  return all;
}

}  // namespace assay::inspection
