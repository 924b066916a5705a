// Recurrent cells, unrolled over time (Arras et al., WASSA 2017): the epsilon rule on the linear parts and on
// sums; of a product of gate and signal the signal takes all.

#include "assay/engine/operators/parts/recurrent.h"

#include <assay/array_math.h>

#include <assay/extend/rule.h>
#include "assay/relevance/operators/families.h"

namespace assay::relevance::passing {
namespace {

using operators::Call;
using operators::Direction;
using operators::Recurrence;
using operators::State;

// What one step has computed on its way forward, by name of the formula in operators/recurrent.cpp.
struct Memory {
  State after;
  Array candidate;        // pre-activation of the signal: [batch, hidden]
  Array recurrent;        // what the candidate reads of the last state, before its weights
  Array recurrent_scale;  // factor after these weights (GRU's reset gate with linear_before_reset), or
                          // undefined
  Array kept, fresh;  // addends of the new state: from the old state, from the candidate; undefined for RNN
};
using Advance = std::function<Memory(const Array& projected, const State& before)>;

struct Cell {
  std::size_t states;
  Advance (*make)(const Recurrence&, const Direction&);
};

Array part_of(const Array& t, std::int64_t size, std::int64_t which) {
  return t.narrow(1, which * size, size);
}

// Relevance on its way backwards through one direction.
class Unrolled {
 public:
  Unrolled(const Passage& p, const Recurrence& run, const Cell& cell, std::size_t d)
      : p_(p),
        run_(run),
        cell_(cell),
        d_(d),
        weights_(run.direction(d)),
        last_((run.gates - 1) * run.hidden) {
    forward();
  }

  // Adds to `input` [steps, batch, features]; returns the relevance of the initial states.
  State backward(const Array& sequence, State state, Array& input) {
    const Array weight = weights_.weight.narrow(0, last_, run_.hidden);        // [hidden, features]
    const Array recurrent = weights_.recurrent.narrow(1, last_, run_.hidden);  // [hidden, hidden]
    for (std::int64_t i = run_.steps - 1; i >= 0; --i) {
      const std::int64_t t = time(i);
      const Memory& memory = memories_[i];
      const Array active =
          run_.lengths.defined() ? (run_.lengths > t).unsqueeze(1).to(DType::float32) : Array();
      State arriving = state;
      if (sequence.defined()) arriving[0] = arriving[0] + sequence.select(0, t);
      if (active.defined()) {
        for (Array& part : arriving) part = part * active;
      }
      auto [candidate, older] = through_state(memory, arriving);
      const Array share = share_of(candidate, denominator(memory), p_.epsilon);
      const Array x = run_.input.select(0, t);
      input.select(0, t).add_(x * array::mm(share, weight));
      const Array scaled = memory.recurrent_scale.defined() ? share * memory.recurrent_scale : share;
      older[0] = older[0] + memory.recurrent * array::mm(scaled, recurrent.t());
      if (active.defined()) {
        for (std::size_t k = 0; k < older.size(); ++k) older[k] = older[k] + state[k] * (1 - active);
      }
      state = std::move(older);
    }
    return state;
  }

 private:
  std::int64_t time(std::int64_t i) const { return run_.backwards(d_) ? run_.steps - 1 - i : i; }

  void forward() {
    const Array flat = run_.input.reshape({run_.steps * run_.batch, -1});
    Array projected = array::mm(flat, weights_.weight.t());
    if (weights_.bias.defined()) projected = projected + weights_.bias;
    projected = projected.reshape({run_.steps, run_.batch, -1});
    const Advance advance = cell_.make(run_, weights_);
    State state = run_.initial(d_, cell_.states);
    for (std::int64_t i = 0; i < run_.steps; ++i) {
      const std::int64_t t = time(i);
      memories_.push_back(advance(projected.select(0, t), state));
      State next = memories_.back().after;
      if (run_.lengths.defined()) {
        const Array active = (run_.lengths > t).unsqueeze(1);
        for (std::size_t k = 0; k < next.size(); ++k) next[k] = array::where(active, next[k], state[k]);
      }
      state = std::move(next);
    }
  }

  // From the new states to the candidate and to the old states.
  std::pair<Array, State> through_state(const Memory& memory, const State& arriving) const {
    State older(cell_.states);
    for (Array& part : older) part = array::zeros_like(arriving[0]);
    if (!memory.kept.defined()) return {arriving[0], std::move(older)};
    // The state that is a sum: LSTM's cell (the output is gated by o and passes on to it), GRU's hidden
    // state.
    const bool has_cell = cell_.states == 2;
    const Array whole = has_cell ? arriving[0] + arriving[1] : arriving[0];
    const Array share = share_of(whole, memory.kept + memory.fresh, p_.epsilon);
    older[has_cell ? 1 : 0] = share * memory.kept;
    return {share * memory.fresh, std::move(older)};
  }

  // What the candidate's relevance is divided by: with its bias, or without where biases do not absorb.
  Array denominator(const Memory& memory) const {
    if (p_.bias_absorbs) return memory.candidate;
    Array z = memory.candidate;
    if (weights_.bias.defined()) z = z - weights_.bias.narrow(0, last_, run_.hidden);
    if (weights_.candidate_bias.defined()) z = z - memory.recurrent_scale * weights_.candidate_bias;
    return z;
  }

  const Passage& p_;
  const Recurrence& run_;
  const Cell& cell_;
  std::size_t d_;
  Direction weights_;
  std::int64_t last_;  // where the candidate's rows begin among the gates'
  std::vector<Memory> memories_;
};

Relevances unroll(const Passage& p, const Recurrence& run, const Cell& cell) {
  const bool first = run.batch_first;
  Array input = array::zeros_like(run.input).contiguous();
  std::vector<std::vector<Array>> initial(2);
  for (std::size_t d = 0; d < run.directions; ++d) {
    const std::int64_t direction = d;
    Array sequence;  // [steps, batch, hidden]
    if (p.relevance[0].defined()) {
      sequence =
          first ? p.relevance[0].select(2, direction).transpose(0, 1) : p.relevance[0].select(1, direction);
    }
    State state(cell.states);
    for (std::size_t k = 0; k < cell.states; ++k) {
      const bool arrives = k + 1 < p.relevance.size() && p.relevance[k + 1].defined();
      state[k] = arrives ? p.relevance[k + 1].select(first ? 1 : 0, direction)
                         : array::zeros({run.batch, run.hidden}, run.input.dtype());
    }
    const State before = Unrolled(p, run, cell, d).backward(sequence, std::move(state), input);
    for (std::size_t k = 0; k < before.size(); ++k) initial[k].push_back(before[k]);
  }
  Relevances results;
  for (const std::size_t i : p.receivers) {
    if (i == 0) {
      results.push_back(first ? input.transpose(0, 1) : input);
    } else {
      results.push_back(array::stack(initial[i - 5], first ? 1 : 0));
    }
  }
  return results;
}

Advance lstm_step(const Recurrence& run, const Direction& one) {
  const bool coupled = run.call.node.integer("input_forget", 0) != 0;
  std::vector<Array> peephole(3);
  if (one.peephole.defined()) peephole = array::chunk(one.peephole, 3, 0);
  return [=, size = run.hidden](const Array& x, const State& before) {
    const auto peep = [](const Array& gate, const Array& weight, const Array& cell) {
      return weight.defined() ? gate + weight * cell : gate;
    };
    const Array all = array::addmm(x, before[0], one.recurrent);
    const Array in = one.functions[0](peep(part_of(all, size, 0), peephole[0], before[1]));
    const Array forget =
        coupled ? 1 - in : one.functions[0](peep(part_of(all, size, 2), peephole[2], before[1]));
    Memory memory;
    memory.candidate = part_of(all, size, 3);
    memory.recurrent = before[0];
    memory.kept = forget * before[1];
    memory.fresh = in * one.functions[1](memory.candidate);
    const Array next = memory.kept + memory.fresh;
    const Array out = one.functions[0](peep(part_of(all, size, 1), peephole[1], next));
    memory.after = {out * one.functions[2](next), next};
    return memory;
  };
}

Advance gru_step(const Recurrence& run, const Direction& one) {
  return [=, size = run.hidden, apart = run.candidate_bias_apart](const Array& x, const State& before) {
    const Array& h = before[0];
    const Array weight = one.recurrent.narrow(1, 2 * size, size);
    const Array gates =
        one.functions[0](array::addmm(x.narrow(1, 0, 2 * size), h, one.recurrent.narrow(1, 0, 2 * size)));
    const Array update = part_of(gates, size, 0), reset = part_of(gates, size, 1);
    Memory memory;
    memory.recurrent = apart ? h : reset * h;
    Array own = array::mm(memory.recurrent, weight);
    if (apart) {
      memory.recurrent_scale = reset;
      if (one.candidate_bias.defined()) own = own + one.candidate_bias;
      own = own * reset;
    }
    memory.candidate = part_of(x, size, 2) + own;
    memory.kept = update * h;
    memory.fresh = (1 - update) * one.functions[1](memory.candidate);
    memory.after = {memory.kept + memory.fresh};
    return memory;
  };
}

Advance rnn_step(const Recurrence&, const Direction& one) {
  return [=](const Array& x, const State& before) {
    Memory memory;
    memory.candidate = array::addmm(x, before[0], one.recurrent);
    memory.recurrent = before[0];
    memory.after = {one.functions[0](memory.candidate)};
    return memory;
  };
}

}  // namespace

Relevances lstm(const Passage& p) {
  KernelContext context;
  const Call call{p.node, p.inputs, context};
  return unroll(p, Recurrence(call, 4, {"Sigmoid", "Tanh", "Tanh"}), {2, lstm_step});
}

Relevances gru(const Passage& p) {
  KernelContext context;
  const Call call{p.node, p.inputs, context};
  Recurrence run(call, 3, {"Sigmoid", "Tanh"});
  run.candidate_bias_apart = p.node.integer("linear_before_reset", 0) != 0;
  return unroll(p, run, {1, gru_step});
}

Relevances rnn(const Passage& p) {
  KernelContext context;
  const Call call{p.node, p.inputs, context};
  return unroll(p, Recurrence(call, 1, {"Tanh"}), {1, rnn_step});
}

}  // namespace assay::relevance::passing
