#include <algorithm>
#include <limits>
#include <optional>

#include "assay/engine/lanes/operators.h"

namespace assay::lanes {
namespace {

std::size_t place_of(Reduction reduction) {
  return reduction == Reduction::max ? 1 : reduction == Reduction::min ? 2 : 0;
}

// A value that stays as it is; see Redistribution.
class Stabiliser : public Operation {
 public:
  Stabiliser(std::size_t slot, std::int64_t elements, float epsilon)
      : Operation({slot}, slot), elements_(elements), epsilon_(epsilon) {}
  void forward(const BatchBlock&) const override {}
  void backward(const BatchBlock& block, std::span<const GradientState>) const override {
    stabilise_gradients(elements_, epsilon_, block.value(result()), block.gradient(result()));
  }

 private:
  std::int64_t elements_;
  float epsilon_;
};

// Memory that values leave and others take, in whole blocks.
class Blocks {
 public:
  std::size_t take(std::int64_t elements) {
    std::optional<std::size_t> best;
    for (std::size_t b = 0; b < sizes_.size(); ++b) {
      if (free_[b] && sizes_[b] >= elements && (!best || sizes_[b] < sizes_[*best])) best = b;
    }
    if (!best) {
      best = sizes_.size();
      sizes_.push_back(elements);
      free_.push_back(false);
    }
    free_[*best] = false;
    return *best;
  }
  void give_back(std::size_t block) { free_[block] = true; }
  // Where each block begins when all are laid out from `at`, which is moved after them.
  std::vector<std::int64_t> lay_out(std::int64_t& at) const {
    std::vector<std::int64_t> begins;
    for (const std::int64_t size : sizes_) {
      begins.push_back(at);
      at += size * width;
    }
    return begins;
  }

 private:
  std::vector<std::int64_t> sizes_;
  std::vector<bool> free_;
};

}  // namespace

Compiler::Compiler(const SegmentRequest& request, std::span<const ValueId> inputs,
                   std::span<const ValueId> wanted)
    : request_(request),
      graph_(*request.graph),
      differentiates_(!wanted.empty()),
      inside_(request.nodes.begin(), request.nodes.end()),
      trainable_(request.trainable.begin(), request.trainable.end()),
      by_(wanted.begin(), wanted.end()),
      wanted_(request.keep) {
  for (const ReducedValue& tap : request.taps) wanted_.push_back(tap.value);
  if (request.redistribution) {
    for (const auto& [value, epsilon] : request.redistribution->stabilised) wanted_.push_back(value);
  }
  program_.taps.resize(request.taps.size());
  for (const ValueId id : inputs) program_.inputs.push_back(define(id));
}

std::size_t Compiler::scratch(std::int64_t elements) {
  program_.elements.push_back(elements);
  return program_.elements.size() - 1;
}

std::size_t Compiler::define(ValueId id) { return slots_[id] = scratch(element_count(shape(id))); }

void Compiler::alias(ValueId id, ValueId same) { slots_[id] = slots_.at(same); }

const Node* Compiler::sole_reader(ValueId id) const {
  const auto readers = graph_.consumers(id);
  if (std::ranges::find(wanted_, id) != wanted_.end()) return nullptr;
  if (readers.size() != 1 || !inside_.contains(readers[0])) return nullptr;
  const Node& reader = graph_.node(readers[0]);
  // What it trains stays its own.
  return std::ranges::any_of(reader.inputs, [this](ValueId in) { return is_trainable(in); }) ? nullptr
                                                                                             : &reader;
}

Absorber Compiler::absorber() {
  return {.graph = graph_,
          .sole_reader = [this](ValueId id) { return sole_reader(id); },
          .fuse = [this](const Node& node) { fused_.insert(&node); }};
}

ValueId Compiler::absorb_rectifier(ValueId id, Finish& finish) {
  const Node* reader = sole_reader(id);
  finish = reader != nullptr && reader->op == "Relu" ? Finish::rectify : Finish::none;
  if (finish == Finish::none) return id;
  absorber().fuse(*reader);
  return reader->outputs[0];
}

Ties Compiler::ties(Ties of_operator) const {
  if (!request_.redistribution) return of_operator;
  return request_.redistribution->maxima_share ? Ties::shared : Ties::first;
}

bool Compiler::passes_ratio(ValueId id) const {
  if (!request_.redistribution) return false;
  const std::vector<ValueId>& all = request_.redistribution->by_ratio;
  return std::ranges::find(all, id) != all.end();
}

// Goes back through a value on its place, once all its readers have.
void Compiler::stabilise() {
  if (!request_.redistribution || !differentiates_) return;
  for (const auto& [value, epsilon] : request_.redistribution->stabilised) {
    if (!slots_.contains(value) || !stabilised_.insert(value).second) continue;
    add(std::make_unique<Stabiliser>(slots_.at(value), element_count(shape(value)),
                                     static_cast<float>(epsilon)));
  }
}

// Notes the taps whose value has just come to be.
void Compiler::reduce_tapped() {
  for (std::size_t t = 0; t < request_.taps.size(); ++t) {
    const ReducedValue& tap = request_.taps[t];
    const auto found = slots_.find(tap.value);
    if (program_.taps[t] || found == slots_.end()) continue;
    const std::int64_t channels = shape(tap.value)[tap.axis];
    const bool last = tap.axis > 1;
    auto same = std::ranges::find_if(program_.tapped, [&](const Tapped& known) {
      return known.slot == found->second && known.channels == channels && known.neurons_last == last &&
             known.after == program_.operations.size();
    });
    if (same == program_.tapped.end()) {
      const std::int64_t positions = program_.elements[found->second] / channels;
      program_.tapped.push_back({program_.operations.size(), found->second, channels, positions, last});
      same = program_.tapped.end() - 1;
    }
    // One of each neuron is made on the way to that of all of them.
    const std::size_t place = place_of(tap.reduction);
    if (!same->neurons[place] && (!tap.whole || same->positions > 1))
      same->neurons[place] = scratch(channels);
    if (!same->whole[place] && tap.whole) same->whole[place] = scratch(1);
    program_.taps[t] = tap.whole ? same->whole[place] : same->neurons[place];
  }
}

std::vector<std::size_t> Compiler::reduced_slots() const {
  std::vector<std::size_t> slots;
  for (const Tapped& tapped : program_.tapped) {
    for (const auto* some : {&tapped.neurons, &tapped.whole})
      for (const auto slot : *some)
        if (slot) slots.push_back(*slot);
  }
  return slots;
}

// Gives every slot its memory: values of programs that only go forward leave theirs after their last reader.
void Compiler::place_values() {
  const std::size_t slots = program_.elements.size(), steps = program_.operations.size();
  std::vector<std::size_t> last(slots, 0);
  for (std::size_t i = 0; i < steps; ++i) {
    const Operation& operation = *program_.operations[i];
    for (const std::size_t operand : operation.operands()) last[operand] = i;
    last[operation.result()] = std::max(last[operation.result()], i);
  }
  // Reduced before the next operation, whose result may take the place.
  const std::vector<std::size_t> reduced = reduced_slots();
  for (const std::size_t slot : reduced) last[slot] = steps;
  for (const std::size_t output : program_.outputs) last[output] = steps;

  Blocks blocks;
  std::vector<std::optional<std::size_t>> block(slots);
  const auto take = [&](std::size_t slot) {
    if (!block[slot]) block[slot] = blocks.take(program_.elements[slot]);
  };
  for (const std::size_t input : program_.inputs) take(input);
  for (const std::size_t slot : reduced) take(slot);
  for (std::size_t i = 0; i < steps; ++i) {
    const Operation& operation = *program_.operations[i];
    take(operation.result());
    if (differentiates_) continue;
    for (std::size_t s = 0; s < slots; ++s) {
      if (last[s] == i && block[s]) blocks.give_back(*block[s]);
    }
  }
  const std::vector<std::int64_t> begins = blocks.lay_out(program_.floats);
  for (std::size_t s = 0; s < slots; ++s) program_.value_at.push_back(block[s] ? begins[*block[s]] : -1);
}

void Compiler::find_gradients() {
  const std::size_t slots = program_.elements.size();
  std::vector<bool> needed(slots), held(slots);
  for (const ValueId id : by_) {
    if (!is_trainable(id)) needed[slots_.at(id)] = true;
  }
  for (const WeightGradient& gradient : program_.weight_gradients) {
    if (gradient.at >= 0) needed[program_.operations[gradient.operation]->result()] = true;
  }
  for (const auto& operation : program_.operations) {
    if (std::ranges::any_of(operation->operands(), [&](std::size_t operand) { return needed[operand]; }))
      needed[operation->result()] = true;
  }
  program_.reads_values = program_.sums > 0;
  const auto meet = [&](std::size_t slot) {
    if (!needed[slot]) return GradientState::unwanted;
    const bool further = held[slot];
    held[slot] = true;
    return further ? GradientState::further : GradientState::first;
  };
  for (const std::size_t output : program_.outputs) program_.seeded.push_back(meet(output));
  program_.gradients.resize(program_.operations.size());
  for (std::size_t i = program_.operations.size(); i-- > 0;) {
    const Operation& operation = *program_.operations[i];
    if (!held[operation.result()]) continue;
    for (const std::size_t operand : operation.operands()) program_.gradients[i].push_back(meet(operand));
    program_.reads_values |= operation.reads_values();
  }
  place_gradients();
}

// A gradient takes its memory when it is first added to, and leaves it when all operations that made the
// value have been gone back through.
void Compiler::place_gradients() {
  const std::size_t slots = program_.elements.size();
  std::vector<std::size_t> made(slots, program_.operations.size());  // by which operation, the first of them
  for (std::size_t i = program_.operations.size(); i-- > 0;) made[program_.operations[i]->result()] = i;
  for (const std::size_t input : program_.inputs) made[input] = program_.operations.size();

  Blocks blocks;
  std::vector<std::optional<std::size_t>> block(slots);
  const auto take = [&](std::size_t slot, GradientState gradient) {
    if (gradient == GradientState::first) block[slot] = blocks.take(program_.elements[slot]);
  };
  for (std::size_t o = 0; o < program_.outputs.size(); ++o) take(program_.outputs[o], program_.seeded[o]);
  for (std::size_t i = program_.operations.size(); i-- > 0;) {
    const Operation& operation = *program_.operations[i];
    if (program_.gradients[i].empty()) continue;
    for (std::size_t o = 0; o < operation.operands().size(); ++o)
      take(operation.operands()[o], program_.gradients[i][o]);
    const std::size_t result = operation.result();
    if (made[result] == i) blocks.give_back(block[result].value());
  }
  const std::vector<std::int64_t> begins = blocks.lay_out(program_.floats);
  for (const auto b : block) program_.gradient_at.push_back(b ? begins[*b] : -1);
}

void Compiler::find_lessons() {
  for (std::size_t i = 0; i < program_.operations.size(); ++i) {
    const Operation& operation = *program_.operations[i];
    program_.scratch = std::max(program_.scratch, operation.scratch());
    for (std::size_t which = 0; which < operation.trainable().size(); ++which) {
      const TrainableConstant& trainable = operation.trainable()[which];
      WeightGradient& gradient =
          program_.weight_gradients.emplace_back(WeightGradient{.operation = i, .which = which});
      if (std::ranges::find(by_, trainable.constant) == by_.end()) continue;
      gradient.at = program_.sums;
      program_.sums += (std::ssize(trainable.to) + width - 1) / width * width;
    }
  }
}

// As many as half of a usual second-level cache holds: larger batch blocks lose more to it than weights gain.
void Compiler::find_neighbours() {
  constexpr std::int64_t cache = (std::int64_t{1} << 19) / sizeof(float);
  const auto once = [](const auto& operation) { return operation->reads_weights_once(); };
  if (std::ranges::none_of(program_.operations, once)) return;
  program_.neighbours =
      std::clamp<std::int64_t>(cache / std::max<std::int64_t>(program_.floats, 1), 1, most_neighbours);
}

Program Compiler::compile() {
  for (const NodeId n : request_.nodes) {
    if (!fused_.contains(&graph_.node(n))) compile_node(*this, graph_.node(n));
    stabilise();
    reduce_tapped();
  }
  program_.tapped_after.resize(program_.operations.size() + 1);
  for (std::size_t t = 0; t < program_.tapped.size(); ++t)
    program_.tapped_after[program_.tapped[t].after].push_back(t);
  for (const ValueId id : request_.keep) program_.outputs.push_back(slots_.at(id));
  place_values();
  find_lessons();
  if (differentiates_) find_gradients();
  find_neighbours();
  return std::move(program_);
}

Program compile(const SegmentRequest& request, std::span<const ValueId> inputs,
                std::span<const ValueId> wanted) {
  Compiler compiler(request, inputs, wanted);
  return compiler.compile();
}

}  // namespace assay::lanes
