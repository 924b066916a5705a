#include <algorithm>

#include "assay/engine/channels/operators.h"
#include "assay/engine/lanes/operators.h"

namespace assay::channels {
Compiler::Compiler(const SegmentRequest& request, std::span<const ValueId> inputs,
                   std::span<const ValueId> wanted, std::int64_t rows)
    : request_(request),
      graph_(*request.graph),
      by_(wanted.begin(), wanted.end()),
      carries_(wanted.begin(), wanted.end()) {
  program_.rows = rows;
  program_.outputs.resize(request.keep.size());
  program_.taps.resize(request.taps.size());
  inside_.insert(request.nodes.begin(), request.nodes.end());
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const Shape all = shape(inputs[i]);
    values_[inputs[i]] = {Value::Kind::input, i, 0, element_count(all), all, plain_strides(all)};
  }
  for (std::size_t i = 0; i < request.nodes.size() && !by_.empty(); ++i) {
    if (std::ranges::any_of(node(i).inputs, [this](ValueId id) { return carries_.contains(id); }))
      carries_.insert(node(i).outputs.begin(), node(i).outputs.end());
  }
}

Shape Compiler::shape(ValueId id) const {
  const Shape& whole = request_.shape_of(id);
  return {whole.begin() + 1, whole.end()};
}

bool Compiler::wanted(ValueId id) const {
  return std::ranges::find(request_.keep, id) != request_.keep.end() ||
         std::ranges::find(request_.taps, id, &ReducedValue::value) != request_.taps.end();
}

const Node* Compiler::sole_reader(ValueId id) const {
  const auto readers = graph_.consumers(id);
  if (wanted(id) || readers.size() != 1 || !inside_.contains(readers[0])) return nullptr;
  return &graph_.node(readers[0]);
}

void Compiler::fuse(const Node& node) { fused_.insert(&node); }

Absorber Compiler::absorber() {
  return {.graph = graph_,
          .sole_reader = [this](ValueId id) { return sole_reader(id); },
          .fuse = [this](const Node& node) { fuse(node); }};
}

// The function of the value that only a product with the value reads; nullptr where there is none.
const Node* Compiler::gate_of(ValueId id) const {
  const auto readers = graph_.consumers(id);
  if (wanted(id) || readers.size() != 2 || !inside_.contains(readers[0]) || !inside_.contains(readers[1]))
    return nullptr;
  for (std::size_t i = 0; i < 2; ++i) {
    const Node &function = graph_.node(readers[i]), &product = graph_.node(readers[1 - i]);
    if (product.op == "Mul" && supports_unary(graph_, function, request_.shape_of) &&
        sole_reader(function.outputs[0]) == &product)
      return &function;
  }
  return nullptr;
}

ValueId Compiler::absorb_function(ValueId id, Finish& finish) {
  const Node* reader = sole_reader(id);
  const bool alone = reader != nullptr && supports_unary(graph_, *reader, request_.shape_of);
  if (!alone) reader = gate_of(id);
  if (reader == nullptr) return id;
  // On the way back there is only the result.
  if (carries_gradient(id) && !(alone && is_told_by_result(*lanes::function_of(graph_, *reader)))) return id;
  finish = {.function = lanes::function_of(graph_, *reader), .gates = !alone};
  fuse(*reader);
  if (alone) return absorb_dequantisation(reader->outputs[0], *finish.function);
  const Node& product = *sole_reader(reader->outputs[0]);
  fuse(product);
  return product.outputs[0];
}

ValueId Compiler::absorb_dequantisation(ValueId id, lanes::UnaryFunction& function) {
  const Node* const reader = sole_reader(id);
  if (function.kind != lanes::Unary::quantise || carries_gradient(id) || reader == nullptr) return id;
  const auto back = lanes::function_of(graph_, *reader);
  const bool same = back && back->kind == lanes::Unary::dequantise && back->alpha == function.alpha &&
                    back->beta == function.beta;
  if (!same || !supports_unary(graph_, *reader, request_.shape_of)) return id;
  function.kind = lanes::Unary::steps;
  fuse(*reader);
  return reader->outputs[0];
}

ValueId Compiler::absorb_nan_replacement(ValueId id, std::optional<float>& number) {
  const auto readers = graph_.consumers(id);
  if (wanted(id) || carries_gradient(id) || readers.size() != 2) return id;
  for (std::size_t i = 0; i < 2; ++i) {
    const Node &test = graph_.node(readers[i]), &choice = graph_.node(readers[1 - i]);
    if (!inside_.contains(readers[i]) || nan_test_of(graph_, choice) != readers[i] ||
        !supports_nan_replacement(graph_, choice, request_.shape_of))
      continue;
    number = nan_replacement(graph_, choice);
    fuse(test);
    fuse(choice);
    return choice.outputs[0];
  }
  return id;
}

ValueId Compiler::absorb_sum(ValueId id, const Shape& strides, std::optional<Added>& added) {
  const Node* const reader = sole_reader(id);
  if (reader == nullptr || reader->op != "Add" || reader->inputs[0] == reader->inputs[1]) return id;
  const ValueId other = reader->inputs[reader->inputs[0] == id ? 1 : 0];
  if (!values_.contains(other) || shape(other) != shape(id)) return id;
  added = {other, as(value(other), strides)};
  fuse(*reader);
  return reader->outputs[0];
}

// Best fit among the free buffers, else a new one. Functions work on whole vectors, which may go beyond the
// end.
Value Compiler::fresh(const Shape& shape, const Shape& strides) {
  constexpr std::int64_t vector = 16;
  const std::int64_t count = element_count(shape),
                     floats = (program_.rows * count + vector - 1) / vector * vector;
  std::optional<std::size_t> best;
  for (const std::size_t candidate : free_) {
    const std::int64_t size = program_.buffers[candidate];
    if (size >= floats && (!best || size < program_.buffers[*best])) best = candidate;
  }
  if (best) {
    free_.erase(*best);
  } else {
    best = program_.buffers.size();
    program_.buffers.push_back(floats);
  }
  return {Value::Kind::buffer, *best, 0, count, shape, strides};
}

Value Compiler::temporary(const Shape& shape, const Shape& strides) {
  Value value = fresh(shape, strides);
  temporaries_.push_back(value.index);
  return value;
}

Value Compiler::as(const Value& value, const Shape& strides) {
  if (lies_as(value, strides)) return value;
  Value arranged = temporary(value.shape, strides);
  add(arrangement(value, arranged));
  return arranged;
}

void Compiler::define(ValueId id, Value value) {
  if (value.kind == Value::Kind::buffer) ++owners_[value.index];
  values_[id] = std::move(value);
  produced(id);
}

// Records taps and outputs at the moment the value exists, while it is in cache.
void Compiler::produced(ValueId id) {
  for (std::size_t t = 0; t < request_.taps.size(); ++t) {
    if (request_.taps[t].value != id) continue;
    const Value& made = value(id);
    const bool simple = request_.taps[t].axis == 1 && lies_as(made, channels_last_strides(made.shape));
    const Value readable = simple ? made : plainly(id);
    program_.taps[t] = {program_.operations.size(), readable, request_.taps[t]};
  }
  for (std::size_t o = 0; o < request_.keep.size(); ++o) {
    if (request_.keep[o] != id) continue;
    program_.outputs[o] = {program_.operations.size(), value(id)};
    if (!by_.empty()) hold(value(id));  // an objective reads all of them together
  }
}

void Compiler::release(std::size_t buffer) {
  if (--owners_[buffer] <= 0) free_.insert(buffer);
}

void Compiler::release_read_last_by(std::size_t node, const std::map<ValueId, std::size_t>& last_reader) {
  for (auto it = values_.begin(); it != values_.end();) {
    const auto last = last_reader.find(it->first);
    const bool dead = last == last_reader.end() || last->second <= node;
    if (!dead || it->second.kind != Value::Kind::buffer) {
      ++it;
      continue;
    }
    release(it->second.index);
    it = values_.erase(it);
  }
}

Program Compiler::compile() {
  std::map<ValueId, std::size_t> last_reader;
  for (std::size_t i = 0; i < request_.nodes.size(); ++i) {
    for (const ValueId in : node(i).inputs) {
      if (in != no_value) last_reader[in] = i;
    }
  }
  for (std::size_t i = 0; i < request_.nodes.size(); ++i) {
    if (!fused_.contains(&node(i))) compile_node(*this, node(i));
    free_temporaries();
    release_read_last_by(i, last_reader);
  }
  if (!by_.empty()) go_back(by_);
  return std::move(program_);
}

// A temporary that became a value lives on as that.
void Compiler::free_temporaries() {
  for (const std::size_t buffer : temporaries_) {
    if (owners_[buffer] == 0) free_.insert(buffer);
  }
  temporaries_.clear();
}

Program compile(const SegmentRequest& request, std::span<const ValueId> inputs,
                std::span<const ValueId> wanted, std::int64_t rows) {
  return Compiler(request, inputs, wanted, rows).compile();
}

}  // namespace assay::channels
