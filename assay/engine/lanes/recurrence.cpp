#include "assay/engine/lanes/recurrence.h"

#include <assay/array_math.h>

#include <algorithm>
#include <array>
#include <optional>

#include "assay/engine/lanes/batch_blocks.h"
#include "assay/engine/recurrent_cell.h"

namespace assay::lanes {
namespace {

using N = RecurrentNode;

// A matrix of a constant in the order in which the loop reads it.
class Weights {
 public:
  // place(unit, k): where the constant has the weight.
  template <typename Place>
  Weights(std::int64_t units, std::int64_t count, const Place& place)
      : order_(packed(units, count, place)), values_(order_.size()) {}
  void set(std::span<const float> constant) {
    for (std::size_t i = 0; i < order_.size(); ++i) values_[i] = constant[order_[i]];
  }
  const float* data() const { return values_.data(); }

 private:
  std::vector<std::int32_t> order_;
  std::vector<float> values_;
};

// The products of gates [begin, end) with the previous state, and the way back.
struct RecurrentPart {
  std::int64_t begin, end;
  Weights forward, backward;
  LinearMap map, back_map;
};

// Dense layers at so many positions.
LinearMap dense(std::int64_t count, std::int64_t units, std::int64_t positions, std::int64_t step_in,
                std::int64_t step_out) {
  Pattern pattern;
  for (std::int64_t k = 0; k < count; ++k)
    pattern.taps.push_back({static_cast<std::int32_t>(k * width), static_cast<std::int32_t>(k)});
  for (std::int64_t p = 0; p < positions; ++p)
    pattern.places.push_back(
        {static_cast<std::int32_t>(p * step_in * width), static_cast<std::int32_t>(p * step_out * width)});
  return {
      .patterns = {pattern}, .outer = 1, .outer_step = 0, .inner = count, .units = units, .unit_step = width};
}

// The weights of one direction.
struct DirectionWeights {
  DirectionWeights(const RecurrentNode& cell, std::int64_t direction)
      : bias(static_cast<std::size_t>(cell.gates * cell.hidden)),
        candidate_bias(cell.kind == CellKind::gru_reset_after ? static_cast<std::size_t>(cell.hidden) : 0),
        input(cell.gates * cell.hidden, cell.features,
              [=, f = cell.features, g = cell.gates * cell.hidden](std::int64_t u, std::int64_t k) {
                return (direction * g + u) * f + k;
              }),
        input_back(cell.features, cell.gates * cell.hidden,
                   [=, f = cell.features, g = cell.gates * cell.hidden](std::int64_t c, std::int64_t k) {
                     return (direction * g + k) * f + c;
                   }) {
    const std::int64_t h = cell.hidden, rows = cell.gates * h;
    const auto part = [&](std::int64_t begin, std::int64_t end) {
      const auto at = [=](std::int64_t u, std::int64_t k) {
        return (direction * rows + begin * h + u) * h + k;
      };
      const auto transposed = [=](std::int64_t c, std::int64_t k) { return at(k, c); };
      const std::int64_t units = (end - begin) * h;
      parts.push_back({begin, end, Weights(units, h, at), Weights(h, units, transposed),
                       dense(h, units, 1, 0, 0), dense(units, h, 1, 0, 0)});
    };
    if (cell.gates == 3) {
      part(0, 2);
      part(2, 3);
    } else {
      part(0, cell.gates);
    }
  }
  // Input and recurrent bias of a gate are one sum, but for a candidate that resets after its product.
  void set_bias(std::span<const float> both) {
    const std::size_t rows = bias.size(), apart = candidate_bias.size();
    for (std::size_t u = 0; u < rows; ++u) bias[u] = both[u] + (u + apart < rows ? both[rows + u] : 0);
    for (std::size_t u = 0; u < apart; ++u) candidate_bias[u] = both[2 * rows - apart + u];
  }

  std::vector<float> bias, candidate_bias;
  Weights input, input_back;
  std::vector<RecurrentPart> parts;
};

// Everything that depends on the number of steps: the memory of a batch block and the loops over all steps.
struct Layout {
  Layout(const RecurrentNode& cell, std::int64_t all_steps) : steps(all_steps) {
    const std::int64_t h = cell.hidden, f = cell.features, g = cell.gates * h;
    const auto take = [&](std::int64_t elements) {
      const std::int64_t at = floats;
      floats += elements * width;
      return at;
    };
    input = take(steps * f);
    for (std::int64_t d = 0; d < cell.directions(); ++d) {
      Direction& one = directions.emplace_back();
      one.gates = take(steps * g);
      one.states = take((steps + 1) * h);
      if (cell.states > 1) one.cells = take((steps + 1) * h);
      one.beside = take(steps * h);
    }
    input_gradient = take(steps * f);
    gradients = take(steps * cell.directions() * h);
    for (std::int64_t& at : state_gradients) at = take(cell.directions() * h);
    spare = take(h);
    more = take(h);
    forward = dense(f, g, steps, f, g);
    backward = dense(g, f, steps, g, f);
  }

  // Offsets in floats. Of the k-th step that a direction takes: the state before, [hidden] (one more for the
  // last), and what its kind of cell needs in addition, [hidden]: tanh of an LSTM's cell, the state that a
  // GRU has reset, or the product it resets. Gates are [steps][gates][hidden], by the place of the step.
  struct Direction {
    std::int64_t gates = 0, states = 0, cells = 0, beside = 0;
  };
  std::int64_t steps, floats = 0, input = 0, input_gradient = 0, gradients = 0, spare = 0, more = 0;
  std::array<std::int64_t, 2> state_gradients{};
  std::vector<Direction> directions;
  LinearMap forward, backward;  // the input's part of all gates
};

// Where a direction's k-th step is.
std::int64_t place_of(bool backwards, std::int64_t steps, std::int64_t k) {
  return backwards ? steps - 1 - k : k;
}

constexpr std::int64_t most_floats = std::int64_t{1} << 25;   // of a batch block
constexpr std::int64_t most_weights = std::int64_t{1} << 22;  // they are held in four orders

class LanesRecurrence : public Segment {
 public:
  explicit LanesRecurrence(SegmentRequest request)
      : request_(std::move(request)),
        node_(request_.graph->node(request_.nodes.at(0))),
        cell_(*request_.graph, node_),
        workers_(static_cast<std::size_t>(std::max(request_.threads, 1))) {
    const auto note = [&](std::size_t input, bool constant) {
      if (!has_input(node_, input) || request_.graph->is_constant(node_.inputs[input]) != constant) return;
      if (!constant || std::ranges::find(request_.trainable, node_.inputs[input]) != request_.trainable.end())
        inputs_.push_back(node_.inputs[input]);
    };
    note(0, false);
    for (std::size_t k = 0; k < cell_.states; ++k) note(N::first_state + k, false);
    for (const std::size_t input : {N::weights, N::recurrent_weights, N::bias}) note(input, true);
    for (std::int64_t d = 0; d < cell_.directions(); ++d) directions_.emplace_back(cell_, d);
    for (const std::size_t input : {N::weights, N::recurrent_weights, N::bias}) {
      if (has_input(node_, input)) set(input, request_.graph->constant(node_.inputs[input]).as<float>());
    }
  }

  std::span<const ValueId> inputs() const override { return inputs_; }
  std::span<const ValueId> outputs() const override { return request_.keep; }
  bool takes_objectives() const override { return false; }

  void run(const Tensors& given, Tensors& results, std::span<float* const>) const override {
    const Batch batch(*this, given);
    std::vector<std::pair<std::size_t, float*>> kept;
    for (std::size_t o = 0; o < node_.outputs.size(); ++o) {
      const ValueId id = node_.outputs[o];
      if (std::ranges::find(request_.keep, id) == request_.keep.end()) continue;
      kept.emplace_back(
          o, (results[id] = array::empty(batch.shape_of_output(o), DType::float32)).elements<float>());
    }
    each_block(
        workers_, batch.layout.floats, batch.records, 1, 1, [](float* memory) { return memory; },
        [&](float* memory, std::int64_t first, std::int64_t count) {
          forward(batch, memory, first, count);
          for (const auto& [output, to] : kept) {
            each_row_of_output(batch, output, first,
                               [&](std::int64_t at, std::int64_t begin, std::int64_t step) {
                                 float* rows[width];
                                 point_at_rows(to + begin, step, count, rows);
                                 from_lanes(memory + at, cell_.hidden, count, rows);
                               });
          }
        });
  }

  std::vector<Array> gradients(const Tensors& given, std::span<const Array> of_outputs,
                               std::span<const ValueId> wanted) const override {
    const Batch batch(*this, given);
    std::vector<Array> results, seeds;
    for (const ValueId id : wanted) results.push_back(array::zeros_like(given.at(id)));
    for (const Array& gradient : of_outputs)
      seeds.push_back(gradient.defined() ? gradient.contiguous() : gradient);
    // Sums for the constants that are requested: where each begins, -1: not requested.
    std::array<std::int64_t, 3> begins{-1, -1, -1};
    std::int64_t all = 0;
    const auto result_of = [&](std::size_t input) -> Array* {
      if (!has_input(node_, input)) return nullptr;
      const auto at = std::ranges::find(wanted, node_.inputs[input]) - wanted.begin();
      return at == std::ssize(wanted) ? nullptr : &results[at];
    };
    for (std::size_t i = 0; i < begins.size(); ++i) {
      const Array* const result = result_of(N::weights + i);
      if (result == nullptr) continue;
      begins[i] = all;
      all += result->count();
    }
    const Chunks chunks(batch.records, all > 0);
    std::vector<float> sums(static_cast<std::size_t>(chunks.count * all));
    each_block(
        workers_, batch.layout.floats, batch.records, chunks.blocks_each, 1,
        [](float* memory) { return memory; },
        [&](float* memory, std::int64_t first, std::int64_t count) {
          forward(batch, memory, first, count);
          load_gradients(batch, memory, seeds, first, count);
          float* const of_chunk = sums.data() + chunks.of(first) * all;
          for (std::size_t d = 0; d < directions_.size(); ++d) {
            go_back(batch, memory, d, result_of);
            sum_weight_gradient(batch, memory, d, begins, of_chunk, !chunks.begins(first));
            for (std::size_t k = 0; k < cell_.states; ++k) {
              if (Array* const to = result_of(N::first_state + k))
                store_state(batch, memory, d, k, first, count, to->elements<float>());
            }
          }
          if (Array* const to = result_of(0)) store_input_gradients(batch, memory, first, count, *to);
        });
    for (std::size_t i = 0; i < begins.size(); ++i) {
      if (begins[i] < 0) continue;
      Array& result = *result_of(N::weights + i);
      float* const to = result.elements<float>();
      for (std::int64_t c = 0; c < chunks.count; ++c) {
        const float* const from = sums.data() + c * all + begins[i];
        for (std::int64_t e = 0; e < result.count(); ++e) to[e] += from[e];
      }
    }
    return results;
  }

 private:
  // Arguments of a call.
  struct Batch {
    Batch(const LanesRecurrence& of, const Tensors& given)
        : cell(of.cell_),
          input(given.at(of.node_.inputs[0]).contiguous()),
          steps(input.size(cell.records_first ? 1 : 0)),
          records(input.size(cell.records_first ? 0 : 1)),
          layout(of.layout_for(steps)) {
      for (std::size_t k = 0; k < cell.states; ++k) {
        if (has_input(of.node_, N::first_state + k))
          states[k] = given.at(of.node_.inputs[N::first_state + k]).contiguous();
      }
      for (const std::size_t i : {N::weights, N::recurrent_weights, N::bias}) {
        if (!has_input(of.node_, i) || !given.contains(of.node_.inputs[i])) continue;
        const Array value = given.at(of.node_.inputs[i]).contiguous();
        of.set(i, value.as<float>());
      }
    }
    std::vector<std::int64_t> shape_of_output(std::size_t output) const {
      const std::int64_t d = cell.directions(), h = cell.hidden;
      if (output > 0) return cell.records_first ? std::vector{records, d, h} : std::vector{d, records, h};
      return cell.records_first ? std::vector{records, steps, d, h} : std::vector{steps, d, records, h};
    }
    // Where the row of a record begins in the input, in states, and in all states; and from record to record.
    std::int64_t input_at(std::int64_t t, std::int64_t r) const {
      return (cell.records_first ? r * steps + t : t * records + r) * cell.features;
    }
    std::int64_t input_step() const { return (cell.records_first ? steps : 1) * cell.features; }
    std::int64_t state_at(std::int64_t d, std::int64_t r) const {
      return (cell.records_first ? r * cell.directions() + d : d * records + r) * cell.hidden;
    }
    std::int64_t state_step() const { return (cell.records_first ? cell.directions() : 1) * cell.hidden; }
    std::int64_t result_at(std::int64_t t, std::int64_t d, std::int64_t r) const {
      return (cell.records_first ? (r * steps + t) * cell.directions() + d
                                 : (t * cell.directions() + d) * records + r) *
             cell.hidden;
    }
    std::int64_t result_step() const {
      return (cell.records_first ? steps * cell.directions() : 1) * cell.hidden;
    }

    const RecurrentNode& cell;
    Array input;
    std::int64_t steps, records;
    const Layout& layout;
    std::array<Array, 2> states;
  };

  const Layout& layout_for(std::int64_t steps) const {
    if (!layout_ || layout_->steps != steps) layout_.emplace(cell_, steps);
    return *layout_;
  }

  void set(std::size_t input, std::span<const float> values) const {
    const std::size_t each = values.size() / directions_.size();
    for (std::size_t d = 0; d < directions_.size(); ++d) {
      DirectionWeights& one = directions_[d];
      if (input == N::weights) {
        one.input.set(values);
        one.input_back.set(values);
      } else if (input == N::recurrent_weights) {
        for (RecurrentPart& part : one.parts) {
          part.forward.set(values);
          part.backward.set(values);
        }
      } else {
        one.set_bias(values.subspan(d * each, each));
      }
    }
  }

  void forward(const Batch& batch, float* memory, std::int64_t first, std::int64_t count) const {
    const Layout& layout = batch.layout;
    const float* rows[width];
    for (std::int64_t t = 0; t < batch.steps; ++t) {
      point_at_rows<const float>(batch.input.elements<float>() + batch.input_at(t, first), batch.input_step(),
                                 count, rows);
      to_lanes(rows, cell_.features, memory + layout.input + t * cell_.features * width);
    }
    for (std::size_t d = 0; d < directions_.size(); ++d) {
      const DirectionWeights& weights = directions_[d];
      const Layout::Direction& at = layout.directions[d];
      apply(layout.forward, memory + layout.input, weights.input.data(), weights.bias.data(), Finish::none,
            false, memory + at.gates);
      for (std::size_t k = 0; k < cell_.states; ++k) {
        float* const start = memory + (k == 0 ? at.states : at.cells);
        if (!batch.states[k].defined()) {
          fill(cell_.hidden, 0, start);
          continue;
        }
        point_at_rows<const float>(
            batch.states[k].elements<float>() + batch.state_at(static_cast<std::int64_t>(d), first),
            batch.state_step(), count, rows);
        to_lanes(rows, cell_.hidden, start);
      }
      for (std::int64_t k = 0; k < batch.steps; ++k) step(batch, memory, d, k);
    }
  }

  // The place of gate `number` of a direction's k-th step.
  float* gate(const Batch& batch, float* memory, std::size_t d, std::int64_t k, std::int64_t number) const {
    const std::int64_t t = place_of(cell_.backwards[d], batch.steps, k);
    return memory + batch.layout.directions[d].gates + (t * cell_.gates + number) * cell_.hidden * width;
  }

  void step(const Batch& batch, float* memory, std::size_t d, std::int64_t k) const {
    const std::int64_t h = cell_.hidden, row = h * width;
    const DirectionWeights& weights = directions_[d];
    const Layout::Direction& at = batch.layout.directions[d];
    float* const gates = gate(batch, memory, d, k, 0);
    const float* const before = memory + at.states + k * row;
    float* const after = memory + at.states + (k + 1) * row;
    float* const beside = memory + at.beside + k * row;
    const auto product = [&](std::size_t part, const float* operand, const float* bias, bool add, float* to) {
      const RecurrentPart& of = weights.parts[part];
      apply(of.map, operand, of.forward.data(), bias, Finish::none, add, to);
    };
    const auto multiply_by = [&](const float* left, const float* right, float* to) {
      apply(BinaryMap{.kind = Binary::multiply, .elements = h, .left_at = {}, .right_at = {}}, left, right,
            to);
    };
    const UnaryFunction squash{.kind = Unary::tanh}, open{.kind = Unary::sigmoid};
    product(0, before, nullptr, true, gates);
    if (cell_.kind == CellKind::rnn) return apply(squash, h, gates, after);
    if (cell_.kind == CellKind::lstm) {
      apply(open, 3 * h, gates, gates);
      apply(squash, h, gates + 3 * row, gates + 3 * row);
      float* const cells = memory + at.cells + k * row;
      lstm_cells(h, gates, cells, cells + row);
      apply(squash, h, cells + row, beside);
      return multiply_by(gates + row, beside, after);
    }
    apply(open, 2 * h, gates, gates);
    if (cell_.kind == CellKind::gru_reset_after) {
      product(1, before, weights.candidate_bias.data(), false, beside);
      multiply_add(h, gates + row, beside, gates + 2 * row);
    } else {
      multiply_by(gates + row, before, beside);
      product(1, beside, nullptr, true, gates + 2 * row);
    }
    apply(squash, h, gates + 2 * row, gates + 2 * row);
    gru_states(h, gates, before, after);
  }

  // visit(place in the batch block, first float in the output, floats from record to record) for every row of
  // an output: all states, the last states, the last cells.
  template <typename Visit>
  void each_row_of_output(const Batch& batch, std::size_t output, std::int64_t first,
                          const Visit& visit) const {
    const std::int64_t row = cell_.hidden * width;
    for (std::int64_t d = 0; d < cell_.directions(); ++d) {
      const Layout::Direction& at = batch.layout.directions[d];
      if (output > 0) {
        visit((output == 1 ? at.states : at.cells) + batch.steps * row, batch.state_at(d, first),
              batch.state_step());
        continue;
      }
      for (std::int64_t k = 0; k < batch.steps; ++k) {
        const std::int64_t t = place_of(cell_.backwards[d], batch.steps, k);
        visit(at.states + (k + 1) * row, batch.result_at(t, d, first), batch.result_step());
      }
    }
  }

  // Those of records that are missing are 0, so that they add nothing to sums.
  void load_gradients(const Batch& batch, float* memory, const std::vector<Array>& seeds, std::int64_t first,
                      std::int64_t count) const {
    const Layout& layout = batch.layout;
    const std::int64_t h = cell_.hidden, directions = cell_.directions();
    const std::vector<float> none(static_cast<std::size_t>(h), 0.0F);
    const auto load = [&](const float* base, std::int64_t step, float* to) {
      const float* rows[width];
      for (std::int64_t r = 0; r < width; ++r) rows[r] = r < count ? base + r * step : none.data();
      to_lanes(rows, h, to);
    };
    fill(batch.steps * directions * h, 0, memory + layout.gradients);
    for (const std::int64_t at : layout.state_gradients) fill(directions * h, 0, memory + at);
    for (std::size_t s = 0; s < seeds.size(); ++s) {
      if (!seeds[s].defined()) continue;
      const float* const from = seeds[s].elements<float>();
      const auto output = static_cast<std::size_t>(std::ranges::find(node_.outputs, request_.keep[s]) -
                                                   node_.outputs.begin());
      for (std::int64_t d = 0; d < directions; ++d) {
        if (output > 0) {
          load(from + batch.state_at(d, first), batch.state_step(),
               memory + layout.state_gradients[output - 1] + d * h * width);
          continue;
        }
        for (std::int64_t t = 0; t < batch.steps; ++t)
          load(from + batch.result_at(t, d, first), batch.result_step(),
               memory + layout.gradients + (t * directions + d) * h * width);
      }
    }
  }

  // Gates become their gradients; the gradients of states those of the first states.
  template <typename Asked>
  void go_back(const Batch& batch, float* memory, std::size_t d, const Asked& result_of) const {
    const Layout& layout = batch.layout;
    const Layout::Direction& at = layout.directions[d];
    const DirectionWeights& weights = directions_[d];
    const std::int64_t h = cell_.hidden, row = h * width, offset = static_cast<std::int64_t>(d) * row;
    float* const gradient = memory + layout.state_gradients[0] + offset;
    float* const gradient_of_cells = memory + layout.state_gradients[1] + offset;
    const auto product = [&](std::size_t part, const float* operand, bool add, float* to) {
      const RecurrentPart& of = weights.parts[part];
      apply(of.back_map, operand, of.backward.data(), nullptr, Finish::none, add, to);
    };
    for (std::int64_t k = batch.steps; k-- > 0;) {
      const std::int64_t t = place_of(cell_.backwards[d], batch.steps, k);
      float* const gates = gate(batch, memory, d, k, 0);
      const float* const before = memory + at.states + k * row;
      float* const beside = memory + at.beside + k * row;
      add_to(h, memory + layout.gradients + t * cell_.directions() * row + offset, gradient);
      if (cell_.kind == CellKind::rnn) {
        lanes::gradients(UnaryFunction{.kind = Unary::tanh}, h, before + row, before + row, gradient, false,
                         gates);
        product(0, gates, false, gradient);
      } else if (cell_.kind == CellKind::lstm) {
        lstm_gradients(h, memory + at.cells + k * row, beside, gradient, gradient_of_cells, gates);
        product(0, gates, false, gradient);
      } else {
        gru_gradients(h, before, gradient, gates);
        if (cell_.kind == CellKind::gru_reset_after) {
          reset_gradients(h, gates + 2 * row, beside, gates + row);
          product(1, beside, true, gradient);
        } else {
          float *const through = memory + layout.spare, *const reset = memory + layout.more;
          product(1, gates + 2 * row, false, through);
          std::copy_n(before, row, reset);
          reset_gradients(h, through, reset, gates + row);
          add_to(h, reset, gradient);
        }
        product(0, gates, true, gradient);
      }
    }
    if (result_of(0) != nullptr) {
      apply(layout.backward, memory + at.gates, weights.input_back.data(), nullptr, Finish::none, d > 0,
            memory + layout.input_gradient);
    }
  }

  // Sums of a direction for weights, recurrent weights and bias; after go_back().
  void sum_weight_gradient(const Batch& batch, float* memory, std::size_t d,
                           const std::array<std::int64_t, 3>& begins, float* sums, bool add) const {
    const Layout::Direction& at = batch.layout.directions[d];
    const std::int64_t h = cell_.hidden, f = cell_.features, rows = cell_.gates * h, steps = batch.steps;
    const std::int64_t direction = d;
    // Of units from `unit` on at the k-th step: what they read, and their gradient.
    const auto sum = [&](std::int64_t channels, std::int64_t units, const float* operand,
                         const float* gradient, const auto& from, const auto& to, float* result) {
      WeightMap map{.taps = {WeightTap{.places = {}, .ranges = {0}}},
                    .ranges = 0,
                    .channels = channels,
                    .channel_step = width,
                    .units = units,
                    .unit_step = width,
                    .stride = channels};
      constexpr std::int64_t together = 32;
      for (std::int64_t k = 0; k < steps; ++k) {
        map.taps[0].places.push_back(
            {static_cast<std::int32_t>(from(k) * width), static_cast<std::int32_t>(to(k) * width)});
        if ((k + 1) % together != 0 && k + 1 != steps) continue;
        map.taps[0].ranges.push_back(static_cast<std::int32_t>(k + 1));
        ++map.ranges;
      }
      weight_sums(map, operand, gradient, add, result);
    };
    const float* const gates = memory + at.gates;
    const auto place = [&](std::int64_t k) { return place_of(cell_.backwards[d], steps, k); };
    const auto in_order = [&](std::int64_t size) { return [=](std::int64_t k) { return k * size; }; };
    const auto gates_at = [&](std::int64_t number) {
      return [=](std::int64_t k) { return place(k) * rows + number * h; };
    };
    if (begins[0] >= 0) {
      sum(
          f, rows, memory + batch.layout.input, gates, [&](std::int64_t k) { return place(k) * f; },
          gates_at(0), sums + begins[0] + direction * rows * f);
    }
    const bool after = cell_.kind == CellKind::gru_reset_after, reset = cell_.kind == CellKind::gru;
    if (begins[1] >= 0) {
      float* const to = sums + begins[1] + direction * rows * h;
      const float* const states = memory + at.states;
      const float* const beside = memory + at.beside;
      for (const RecurrentPart& part : directions_[d].parts) {
        const bool candidate = part.begin == 2;
        float* const result = to + part.begin * h * h;
        const std::int64_t units = (part.end - part.begin) * h;
        if (candidate && after) {
          sum(h, units, states, beside, in_order(h), in_order(h), result);
        } else {
          sum(h, units, candidate && reset ? beside : states, gates, in_order(h), gates_at(part.begin),
              result);
        }
      }
    }
    if (begins[2] >= 0) {
      float* const to = sums + begins[2] + direction * 2 * rows;
      element_sums(rows, width, steps, rows * width, gates, add, to);
      element_sums(after ? 2 * h : rows, width, steps, rows * width, gates, add, to + rows);
      if (after) element_sums(h, width, steps, h * width, memory + at.beside, add, to + rows + 2 * h);
    }
  }

  void store_state(const Batch& batch, const float* memory, std::size_t d, std::size_t k, std::int64_t first,
                   std::int64_t count, float* to) const {
    const std::int64_t direction = d;
    float* rows[width];
    point_at_rows(to + batch.state_at(direction, first), batch.state_step(), count, rows);
    from_lanes(memory + batch.layout.state_gradients[k] + direction * cell_.hidden * width, cell_.hidden,
               count, rows);
  }

  void store_input_gradients(const Batch& batch, const float* memory, std::int64_t first, std::int64_t count,
                             Array& to) const {
    for (std::int64_t t = 0; t < batch.steps; ++t) {
      float* rows[width];
      point_at_rows(to.elements<float>() + batch.input_at(t, first), batch.input_step(), count, rows);
      from_lanes(memory + batch.layout.input_gradient + t * cell_.features * width, cell_.features, count,
                 rows);
    }
  }

  SegmentRequest request_;
  const Node& node_;
  RecurrentNode cell_;
  std::size_t workers_;
  std::vector<ValueId> inputs_;                       // records, states, then trainable constants
  mutable std::vector<DirectionWeights> directions_;  // take the values of trainable constants
  mutable std::optional<Layout> layout_;              // of the last call
};

}  // namespace

bool supports_recurrence(const Graph& graph, const Node& node) {
  if (!is_usual_recurrence(graph, node)) return false;
  for (const std::size_t k : {N::first_state, N::first_state + 1}) {
    if (has_input(node, k) && node.inputs[k] == node.inputs[0]) return false;
  }
  return graph.constant(node.inputs[N::weights]).count() <= most_weights &&
         graph.constant(node.inputs[N::recurrent_weights]).count() <= most_weights;
}

double recurrence_cost(const Graph& graph, const Node& node) {
  constexpr double products_rate = 3, element_rate = 0.1;  // for each float of a vector
  const RecurrentNode cell(graph, node);
  const auto rows = static_cast<double>(cell.directions() * cell.gates * cell.hidden),
             products = rows * static_cast<double>(cell.features + cell.hidden);
  const auto lanes = static_cast<double>(lanes_of_vector());
  return products / (products_rate * lanes) + rows / (element_rate * lanes);
}

std::int64_t most_steps(const Graph& graph, const Node& node) {
  const RecurrentNode cell(graph, node);
  return most_floats / std::max<std::int64_t>(Layout(cell, 1).floats, 1);
}

std::unique_ptr<Segment> compile_recurrence(SegmentRequest request) {
  return std::make_unique<LanesRecurrence>(std::move(request));
}

}  // namespace assay::lanes
