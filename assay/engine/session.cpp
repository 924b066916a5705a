#include <assay/session.h>

#include <assay/array_math.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include <assay/error.h>
#include <assay/extend/random.h>
#include "assay/engine/arithmetic.h"
#include "assay/engine/elements.h"
#include "assay/engine/lanes/kernels.h"
#include "assay/engine/preparation/input_form.h"
#include "assay/engine/reduce.h"
#include "assay/engine/session_state.h"
#include "assay/support/threads.h"

namespace assay::inline engine {
namespace {

Activations to_activations(const Array& matrix) {
  const Array host = in_memory(matrix, DType::float32);
  const float* const begin = host.elements<float>();
  return {.rows = static_cast<std::size_t>(host.size(0)),
          .columns = static_cast<std::size_t>(host.size(1)),
          .values = std::vector<float>(begin, begin + host.count())};
}

// Layers whose neurons are the channels of a batch, reduced over everything else.
// The axis of neurons where back ends may reduce the layer.
std::optional<std::size_t> reduced_axis(const Layer& layer, Reduction reduction) {
  if (layer.batch_axis != 0 || layer.batch_multiple != 1 || layer.neuron_axes.size() != 1)
    return std::nullopt;
  const std::size_t axis = layer.neuron_axes[0];
  const bool known = axis == 1 || axis == layer.shape.size();
  return known && reduction != Reduction::every_position ? std::optional(axis) : std::nullopt;
}

// The best of several runs, in nanoseconds.
double least_time(const std::function<void()>& work) {
  constexpr int runs = 5;
  double least = std::numeric_limits<double>::infinity();
  for (int i = 0; i < runs; ++i) {
    const auto start = std::chrono::steady_clock::now();
    work();
    const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - start;
    least = std::min(least, took.count());
  }
  return least;
}

// Whether the network does without this input of texts. Tokens come with a mask, types and positions, and
// exporters leave out the inputs that a network does not read.
bool goes_without(const Graph& graph, const std::string& input) {
  if (input != "attention_mask" && input != "token_type_ids" && input != "position_ids") return false;
  return std::ranges::none_of(graph.inputs(), [&](ValueId id) { return graph.value(id).name == input; });
}

}  // namespace

void set_record_shapes(SessionOptions& options, const DatasetFacts& facts) {
  if (facts.others.empty()) {
    options.record_shape = facts.record_shape;
    return;
  }
  options.record_shapes[facts.input_name] = facts.record_shape;
  for (const InputFacts& other : facts.others) options.record_shapes[other.name] = other.record_shape;
}

Session::Session(Graph graph, SessionOptions options)
    : state_(std::make_unique<State>(std::move(graph), std::move(options))) {}
Session::~Session() = default;
Session::Session(Session&&) noexcept = default;

const Graph& Session::graph() const { return state_->graph; }
const SessionOptions& Session::options() const { return state_->options; }

Tensors Session::bind(const Batch& batch) const {
  std::vector<NamedShape> given{{batch.input_name, record_of(batch.inputs)}};
  std::vector<const Array*> values{&batch.inputs};
  for (const NamedArray& other : batch.others) {
    if (goes_without(graph(), other.name)) continue;
    given.push_back({other.name, record_of(other.values)});
    values.push_back(&other.values);
  }
  const std::vector<ValueId> ids = matching_inputs(graph(), given);
  Tensors bound;
  for (std::size_t i = 0; i < ids.size(); ++i)
    bound.emplace(ids[i], bind_records(graph(), ids[i], state_->shapes, *values[i]));
  return bound;
}

Tensors Session::bind(const Array& inputs) const {
  const ValueId id = matching_inputs(graph(), {{"", record_of(inputs)}})[0];
  Tensors bound;
  bound.emplace(id, bind_records(graph(), id, state_->shapes, inputs));
  return bound;
}

ValueId Session::first_input(const DatasetFacts& facts) const {
  std::vector<NamedShape> given{{facts.input_name, facts.record_shape}};
  for (const InputFacts& other : facts.others) {
    if (!goes_without(graph(), other.name)) given.push_back({other.name, other.record_shape});
  }
  return matching_inputs(graph(), given)[0];
}

Tensors Session::run(const Tensors& given, std::span<const ValueId> wanted) const {
  const array::Recording unrecorded(false);
  const FastPath::Request request{.wanted = wanted};
  if (const FastPath* fast = state_->fast(given, request)) return fast->run(given, request);
  KernelContext context;
  return state_->compute(given, {wanted}, context);
}

Tensors Session::trace(const Tensors& given, std::span<const ValueId> wanted, bool training, Rng* random,
                       Tensors* constants) const {
  const array::Recording recorded(true);
  KernelContext context;
  context.training = training;
  context.random = random;
  Tensors all = given;
  std::vector<ValueId> trainable;
  if (constants) {
    all.insert(constants->begin(), constants->end());
    for (const auto& [id, value] : *constants) trainable.push_back(id);
    context.update_constant = [constants](ValueId id, const Array& value) {
      (*constants)[id] = value.detach();
    };
  }
  const FastPath::Request request{.wanted = wanted,
                                  .differentiable = true,
                                  .trainable = trainable,
                                  .training = training || constants ? &context : nullptr};
  if (const FastPath* fast = state_->fast(all, request)) return fast->run(all, request);
  return state_->compute(all, {wanted}, context);
}

Session::Observed Session::observe(const Tensors& given, std::span<const Tap> taps,
                                   std::span<const ValueId> outputs) const {
  const array::Recording unrecorded(false);
  Observed seen;
  seen.layers.resize(taps.size());
  std::unordered_map<ValueId, std::vector<std::size_t>> taps_at;
  for (std::size_t i = 0; i < taps.size(); ++i) taps_at[taps[i].layer->value].push_back(i);
  const auto reduce = [&](ValueId id, const Array& value) {
    const auto found = taps_at.find(id);
    if (found == taps_at.end()) return;
    for (const std::size_t i : found->second) {
      if (seen.layers[i].values.empty()) seen.layers[i] = to_activations(assay::reduce(value, taps[i]));
    }
  };
  const auto keep_matrix = [&](const ReducedValue& tap, const Array& matrix) {
    for (const std::size_t i : taps_at.at(tap.value)) {
      if (taps[i].reduction == tap.reduction && taps[i].whole == tap.whole)
        seen.layers[i] = to_activations(matrix);
    }
  };
  std::vector<ValueId> wanted(outputs.begin(), outputs.end()), visited, at_the_end;
  std::vector<ReducedValue> tapped, elsewhere;  // the latter if records come in front
  std::unordered_set<ValueId> to_return(outputs.begin(), outputs.end()), to_visit;
  const auto add = [](std::vector<ValueId>& list, std::unordered_set<ValueId>& known, ValueId id) {
    if (known.insert(id).second) list.push_back(id);
  };
  for (const Tap& tap : taps) {
    // Values that no node will compute, and all values of a network that runs in groups, are reduced at the
    // end.
    const ValueId id = tap.layer->value;
    const bool computed = state_->group == 0 && !given.contains(id) && !state_->constants.has(id);
    if (!computed) {
      add(wanted, to_return, id);
      at_the_end.push_back(id);
    } else if (const auto axis = reduced_axis(*tap.layer, tap.reduction)) {
      tapped.push_back({id, tap.reduction, *axis, tap.whole});
    } else if (tap.reduction != Reduction::every_position && state_->reduces_batch_major(*tap.layer)) {
      elsewhere.push_back(
          {id, tap.reduction, static_cast<std::size_t>(tap.layer->neuron_axes[0]), tap.whole});
    } else {
      add(visited, to_visit, id);
    }
  }
  const auto request = [&] { return FastPath::Request{wanted, visited, tapped, reduce, keep_matrix}; };
  const std::size_t in_place = tapped.size();
  tapped.insert(tapped.end(), elsewhere.begin(), elsewhere.end());
  const FastPath* fast = state_->fast(given, request());
  if (fast == nullptr && !elsewhere.empty()) {
    tapped.resize(in_place);
    for (const ReducedValue& tap : elsewhere) add(visited, to_visit, tap.value);
    fast = state_->fast(given, request());
  }
  Tensors values;
  if (fast != nullptr) {
    values = fast->run(given, request());
  } else {
    KernelContext context;
    for (const ReducedValue& tap : tapped) add(visited, to_visit, tap.value);
    values =
        state_->compute(given, {wanted, visited}, context, state_->group == 0 ? OnValue(reduce) : OnValue());
  }
  for (const ValueId id : at_the_end) reduce(id, values.at(id));
  for (const ValueId id : outputs) seen.outputs.emplace(id, values.at(id));
  return seen;
}

std::vector<Tap> taps_of(std::span<const Layer> layers, Reduction reduction) {
  std::vector<Tap> taps;
  for (const Layer& layer : layers) taps.push_back({&layer, reduction});
  return taps;
}

const std::vector<Layer>& Session::layers() const { return state_->layers(); }

const Shape& Session::shape(ValueId id) const { return state_->infos().at(index_of(id)).shape; }

Session::RecordAxis Session::record_axis(ValueId id) const {
  const ValueInfo& info = state_->infos().at(index_of(id));
  const bool unknown = info.batch_axis < 0 && info.of_records;
  return {info.batch_axis, unknown ? 0 : info.batch_multiple};
}

std::int64_t Session::group() const { return state_->group; }
ValueId Session::logits() const { return state_->decision().logits; }
bool Session::ends_in_softmax() const { return state_->decision().softmax; }
bool Session::ends_in_sigmoid() const { return state_->decision().sigmoid; }
const std::vector<std::string>& Session::notices() const { return state_->notices; }

std::vector<PlannedSegment> Session::plan(bool measure) const {
  const State& s = *state_;
  const array::Recording unrecorded(false);
  const FastPath::Request request{.wanted = s.graph.outputs()};
  const FastPath* fast = nullptr;
  const auto planned_for = [&](std::int64_t records, bool measured) {
    const Tensors given = tiny_batch(s.graph, s.shapes, records);
    fast = s.fast(given, request);
    if (fast != nullptr) {
      std::vector<PlannedSegment> planned = fast->explain(given, request, measured);
      for (PlannedSegment& segment : planned) segment.nodes = fast->nodes_in(s.graph, segment.nodes);
      return planned;
    }
    const IdRange<NodeId> every_node = s.graph.node_ids();
    const auto all = [&] { run(given, s.graph.outputs()); };
    return std::vector<PlannedSegment>{{.engine = "reference",
                                        .nodes = {every_node.begin(), every_node.end()},
                                        .measured = measured ? least_time(all) / records : 0}};
  };
  std::vector<PlannedSegment> planned = planned_for(2, false);
  if (measure) {
    // As many records as take a part of a second, but one for every thread.
    constexpr double most = 3e8;
    const double every = s.options.threads > 0 ? s.options.threads : static_cast<double>(available_threads()),
                 preferred = preferred_batch();
    double expected = 1;
    for (const PlannedSegment& segment : planned) expected += segment.nanoseconds;
    const double records = std::clamp(most / expected, std::min(every, preferred), preferred);
    planned = planned_for(static_cast<std::int64_t>(records), true);
  }
  std::vector<bool> counted(s.graph.nodes().size());
  for (PlannedSegment& segment : planned) {
    for (const NodeId n : segment.nodes) {
      if (counted[index_of(n)]) continue;
      counted[index_of(n)] = true;
      const Node& node = s.graph.node(n);
      segment.multiply_adds +=
          multiply_adds(s.graph, node, [this](ValueId id) -> const Shape& { return shape(id); }) *
          (fast == nullptr ? 1 : fast->share_of(node));
    }
  }
  return planned;
}

std::size_t Session::preferred_batch(bool keeps_values) const {
  const State& s = *state_;
  const BatchBytes bytes = batch_bytes(s.graph, s.infos());
  // A processor's caches are small. Of large networks as many records as keep all threads of a usual
  // processor busy and no lane empty, where that takes no gigabyte.
  constexpr double tile = lanes::width, tiles = 8, most = 512, large = 1e9;
  const double each = std::max(1.0, keeps_values ? bytes.all : bytes.at_a_time),
               enough = keeps_values ? tile : tiles * tile, usual = 128e6,
               allowed = s.options.memory_limit > 0 ? static_cast<double>(s.options.memory_limit) / 2
                                                    : std::numeric_limits<double>::infinity(),
               budget = std::min(allowed, std::max(usual, std::min(enough * each, large)));
  const double records = std::clamp(budget / each, 1.0, most);
  return static_cast<std::size_t>(records < tile ? records : std::floor(records / tile) * tile);
}

}  // namespace assay::inline engine
