#include "assay/mutation/replay/replay.h"

#include <assay/array_math.h>

#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>

#include <assay/error.h>
#include <assay/extend/operator_traits.h>
#include "assay/engine/elements.h"
#include "assay/support/threads.h"

namespace assay::mutation {
namespace {

// How channels change.
struct ChannelChange {
  Array by;                     // [n, channels, ...]
  bool finite = true;           // without infinities and NaNs
  std::vector<bool> untouched;  // per record
};

ChannelChange change_of(const Array& now, const Array& before) {
  const std::size_t rows = now.size(0);
  ChannelChange change{{}, true, std::vector<bool>(rows, true)};
  if (now.dtype() != DType::float32 || before.dtype() != DType::float32) {
    change.by = now - before;
    change.finite = array::isfinite(change.by.sum()).item<bool>();
    const std::vector<bool> touched = truths_of(change.by.ne(0).reshape({now.size(0), -1}).any(1));
    for (std::size_t r = 0; r < rows; ++r) change.untouched[r] = !touched[r];
    return change;
  }
  change.by = array::empty(now.shape());
  const std::size_t elements = rows == 0 ? 0 : now.count() / rows;
  const Array here = in_memory(now, DType::float32), there = in_memory(before, DType::float32);
  const float *is = here.elements<float>(), *was = there.elements<float>();
  float* by = change.by.elements<float>();
  float sum = 0;  // of zeros: a NaN where something is not finite
  for (std::size_t r = 0; r < rows; ++r, is += elements, was += elements, by += elements) {
    bool touched = false;
    for (std::size_t i = 0; i < elements; ++i) {
      by[i] = is[i] - was[i];
      sum += by[i] * 0;
      touched |= by[i] != 0;
    }
    change.untouched[r] = !touched;
  }
  change.finite = !std::isnan(sum);
  return change;
}

// Whether the file fixes how many records run at a time; nodes of such a network cannot run by themselves on
// other numbers.
bool fixes_batch(const Graph& graph) {
  return std::ranges::any_of(graph.inputs(), [&](ValueId id) {
    const Shape& shape = graph.value(id).shape;
    return !shape.empty() && shape[0] > 0;
  });
}

// Edits of a graph keep its values under their numbers and append others.
bool is_edit(const Graph& original, const Graph& mutant) {
  const auto same = [](const Value& a, const Value& b) { return a.name == b.name; };
  return std::ranges::equal(original.inputs(), mutant.inputs()) &&
         mutant.values().size() >= original.values().size() &&
         std::equal(original.values().begin(), original.values().end(), mutant.values().begin(), same);
}

}  // namespace

Block::Block(const Session& session) : session_(session) {
  const Graph& graph = session.graph();
  std::set<ValueId> ids{session.logits()};
  for (const Layer& layer : session.layers()) {
    if (!layer.carries_weights) continue;
    ids.insert(layer.linear_value);
    for (const ValueId id : graph.node(layer.node).inputs) {
      if (id != no_value && graph.producer(id) != no_node && session.record_axis(id).axis >= 0)
        ids.insert(id);
    }
  }
  boundaries_.assign(ids.begin(), ids.end());
}

double Block::bytes_per_record(const Session& session) {
  double bytes = 0;
  for (const ValueId id : session.graph().value_ids()) {
    if (session.record_axis(id).axis >= 0) bytes += 4.0 * element_count(session.shape(id));
  }
  return bytes;
}

void Block::add(Tensors inputs) {
  Chunk chunk;
  const auto& [id, tensor] = *inputs.begin();
  const auto [axis, rows] = session_.record_axis(id);
  chunk.rows = tensor.size(std::max(axis, 0)) / rows;
  chunk.inputs = std::move(inputs);
  chunks_.push_back(std::move(chunk));
}

Tensors Block::frontier(const Chunk& chunk, ValueId id) const {
  const Graph& graph = session_.graph();
  Tensors found;
  std::set<ValueId> seen;
  std::vector<ValueId> open{id};
  while (!open.empty()) {
    const ValueId at = open.back();
    open.pop_back();
    if (at == no_value || graph.is_constant(at) || !seen.insert(at).second) continue;
    const auto known = chunk.values.find(at), input = chunk.inputs.find(at);
    if (known != chunk.values.end()) {
      found.insert(*known);
    } else if (input != chunk.inputs.end()) {
      found.insert(*input);
    } else {
      const auto& inputs = graph.node(graph.producer(at)).inputs;
      open.insert(open.end(), inputs.begin(), inputs.end());
    }
  }
  return found;
}

const Array& Block::value(std::size_t index, ValueId id) {
  const std::lock_guard lock(*mutex_);
  Chunk& chunk = chunks_[index];
  if (const auto input = chunk.inputs.find(id); input != chunk.inputs.end()) return input->second;
  if (!chunk.prepared) {
    chunk.prepared = true;
    for (auto& [boundary, tensor] : session_.run(chunk.inputs, boundaries_))
      chunk.values.insert_or_assign(boundary, std::move(tensor));
  }
  const auto known = chunk.values.find(id);
  if (known != chunk.values.end()) return known->second;
  return chunk.values[id] = session_.run(frontier(chunk, id), std::span(&id, 1)).at(id);
}

Replay::Replay(const Session& original, Graph mutant, bool naive, bool separate)
    : original_(original),
      mutant_(std::move(mutant)),
      separate_(separate || !is_edit(original.graph(), mutant_)),
      naive_(naive || separate_ || fixes_batch(original.graph())) {
  if (separate_) check_separate();
  if (naive_) return;
  const std::size_t known = original.graph().values().size();
  difference_ = compare(original.graph(), mutant_, original.logits(), [&](ValueId id) {
    return index_of(id) >= known || original.record_axis(id).axis >= 0;
  });
  if (difference_.empty()) return;
  pickable_ = std::ranges::all_of(difference_.also_read, [&](ValueId id) {
    const auto [axis, rows] = original.record_axis(id);
    return axis < 0 ? rows > 0 : axis == 0 && rows == 1;
  });
  threads_ =
      original.options().threads > 0 ? original.options().threads : static_cast<int>(available_threads());
  changed_ = find_changed_weights(original, mutant_, difference_);
  channels_ = find_channel_path(original, mutant_, difference_, changed_);
  const auto linear =
      std::ranges::count_if(difference_.nodes, [&](NodeId n) { return is_weighted(mutant_.node(n).op); });
  heavy_ = linear > 1 || !make_part();
}

// False where what changes is not a network by itself.
bool Replay::make_part() {
  std::map<ValueId, Shape> given;
  for (const auto& [id, source] : difference_.sources) {
    const auto [axis, rows] = original_.record_axis(source);
    if (axis < 0 || rows != 1) return false;
    Shape shape = original_.shape(source);
    shape[axis] = -1;
    given.emplace(id, std::move(shape));
  }
  try {
    part_.emplace(mutant_, difference_.nodes, given, difference_.boundary, original_.options());
  } catch (const Error& error) {
    if (error.fault() == Fault::interrupted) throw;
    return false;
  }
  return true;
}

const Session& Replay::whole() const {
  if (!whole_) whole_ = std::make_unique<Session>(mutant_, original_.options());
  return *whole_;
}

void Replay::check_separate() const {
  const auto ours = original_.graph().inputs(), theirs = mutant_.inputs();
  const auto differ = [&](const char* what, const std::string& here, const std::string& there) {
    fail(Fault::mismatch, "network '{}' {} {}, the original {}", mutant_.name(), what, there, here);
  };
  if (ours.size() != theirs.size())
    differ("has inputs:", std::to_string(ours.size()), std::to_string(theirs.size()));
  for (std::size_t i = 0; i < ours.size(); ++i) {
    const Shape &here = original_.shape(ours[i]), &there = whole().shape(theirs[i]);
    if (here != there) differ("takes records", assay::to_string(here), assay::to_string(there));
  }
  const Shape &here = original_.shape(original_.logits()), &there = whole().shape(whole().logits());
  if (here != there) differ("gives", assay::to_string(here), assay::to_string(there));
}

Array Replay::decide(const Tensors& inputs) const {
  const ValueId decision = separate_ ? whole().logits() : original_.logits();
  if (!separate_) return whole().run(inputs, std::span(&decision, 1)).at(decision);
  Tensors given;
  for (std::size_t i = 0; i < mutant_.inputs().size(); ++i)
    given.emplace(mutant_.inputs()[i], inputs.at(original_.graph().inputs()[i]));
  return whole().run(given, std::span(&decision, 1)).at(decision);
}

Replay::Answer Replay::run(Block& block, std::size_t chunk) const {
  if (naive_) return run_whole(block, chunk);
  if (difference_.empty())
    return {block.value(chunk, original_.logits()), std::vector<bool>(block.rows(chunk), true)};
  if (channels_) {
    Answer answer = run_channels(block, chunk);
    if (answer.decisions.defined()) return answer;
  }
  return heavy_ ? run_whole(block, chunk) : run_tail(block, chunk);
}

Replay::Answer Replay::run_whole(Block& block, std::size_t chunk) const {
  if (naive_) return {decide(block.inputs(chunk)), {}};
  Tensors given;
  for (const auto& [id, source] : difference_.border) given.emplace(id, block.value(chunk, source));
  return {decide(given), {}};
}

Array Replay::run_after(Block& block, std::size_t chunk, Tensors boundary,
                        const std::function<Array(const Array&)>& picked) const {
  const ValueId decision = original_.logits();
  for (const ValueId id : difference_.also_read) boundary.emplace(id, picked(block.value(chunk, id)));
  return original_.run(boundary, std::span(&decision, 1)).at(decision);
}

bool Replay::is_layer_with_other_weights() const {
  return changed_ && difference_.nodes.size() == 1 && std::ssize(changed_->units()) == changed_->width();
}

Tensors Replay::run_difference(Block& block, std::size_t chunk) const {
  if (is_layer_with_other_weights()) {
    const ValueId boundary = difference_.boundary.at(0);
    Array now = changed_->run(block.value(chunk, difference_.sources.begin()->second),
                              block.value(chunk, boundary), threads_);
    if (now.defined()) return {{boundary, std::move(now)}};
  }
  Tensors given;
  for (const auto& [id, source] : difference_.sources) given.emplace(id, block.value(chunk, source));
  return part_->run(given);
}

Replay::Answer Replay::run_tail(Block& block, std::size_t chunk) const {
  return {run_after(block, chunk, run_difference(block, chunk), [](const Array& whole) { return whole; }),
          {}};
}

Replay::Answer Replay::run_channels(Block& block, std::size_t chunk) const {
  const array::Recording unrecorded(false);
  const ChannelPath& path = *channels_;
  const Array now = path.run(block.value(chunk, path.source),
                             path.start ? block.value(chunk, path.started) : Array(), threads_);
  if (!now.defined()) return {};
  const Array& before = block.value(chunk, path.end);
  ChannelChange change = change_of(now, picked(before, path.channels, 1));
  if (!change.finite) return {};  // infinities do not add up; the other ways do without sums
  Answer answer{block.value(chunk, original_.logits()), std::move(change.untouched)};
  std::vector<std::int64_t> reached;
  for (std::size_t r = 0; r < answer.untouched.size(); ++r) {
    if (!answer.untouched[r]) reached.push_back(r);
  }
  if (reached.empty()) return answer;
  Tensors boundary;
  const bool all = !pickable_ || reached.size() > answer.untouched.size() * 9 / 10;
  const auto of_reached = [&](const Array& values) {
    return all || values.size(0) != before.size(0) ? values : picked(values, reached);
  };
  if (path.next_value != no_value) {
    const Array sum =
        path.run_next(of_reached(block.value(chunk, path.next_value)), of_reached(change.by), threads_);
    if (!sum.defined()) return {};
    boundary.emplace(path.next_value, sum);
  } else {
    const Array value = of_reached(before).clone();
    put(value, path.channels, of_reached(now), 1);
    boundary.emplace(path.end, value);
  }
  const Array decisions = run_after(block, chunk, std::move(boundary), of_reached);
  if (all) {
    answer.decisions = decisions;
  } else {
    answer.decisions = answer.decisions.clone();
    put(answer.decisions, reached, decisions);
  }
  return answer;
}

Array Replay::exact(Block& block, std::size_t chunk, const std::vector<std::int64_t>& rows) const {
  Tensors given;
  for (const auto& [id, tensor] : block.inputs(chunk)) {
    const auto [axis, multiple] = original_.record_axis(id);
    given.emplace(id, axis == 0 && multiple == 1 ? picked(tensor, rows) : tensor);
  }
  return decide(given);
}

std::string Replay::way() const {
  if (naive_) return "whole network";
  if (difference_.empty()) return "nothing changes";
  const std::string& first = mutant_.node(difference_.nodes[0]).name;
  if (channels_) return fmt::format("{} of {} channels from {}", channels_->changed, channels_->width, first);
  if (is_layer_with_other_weights()) return fmt::format("changed weights of {}", first);
  return fmt::format("{} from {}", heavy_ ? "mutant" : "original", first);
}

}  // namespace assay::mutation
