// Branches and loops whose conditions or numbers of rounds depend on what the network computes: each body is
// a separate network, run with the same kernels, so gradients pass through it.

#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <mutex>

#include "assay/engine/constants.h"
#include "assay/engine/execute.h"
#include "assay/engine/operators/parts/support.h"
#include "assay/model/bodies.h"

namespace assay::operators {
namespace {

constexpr std::int64_t most_rounds = 10'000'000;
constexpr std::size_t most_bodies = 256;

struct Body {
  Graph graph;
  Constants constants;
  Plan plan;
};

Body prepare_body(const Node& node, const std::string& attribute) {
  Graph graph = read_body(node, attribute);
  Constants constants(graph, memory_limit());
  std::vector<bool> available(graph.values().size());
  for (std::size_t i = 0; i < available.size(); ++i) available[i] = constants.values()[i].defined();
  for (const ValueId id : graph.inputs()) available[index_of(id)] = true;
  Plan plan = make_plan(graph, available, graph.outputs());
  return {std::move(graph), std::move(constants), std::move(plan)};
}

// Bodies are prepared once: copies of a graph share the bytes, which are held so that no others come to stand
// at the same place. What a body computes from constants runs while it is prepared, bodies inside it as well:
// no lock is held meanwhile.
std::shared_ptr<const Body> body_in(const Call& call, const std::string& attribute) {
  struct Prepared {
    Array bytes;
    std::shared_ptr<const Body> body;
  };
  static std::mutex mutex;
  static std::map<const std::byte*, Prepared> known;
  const auto found = call.node.attributes.find(attribute);
  const Array* bytes = found == call.node.attributes.end() ? nullptr : std::get_if<Array>(&found->second);
  if (bytes == nullptr) fail(Fault::model, "attribute '{}' holds no body", attribute);
  const auto key = bytes->data();
  {
    const std::scoped_lock lock(mutex);
    if (const auto entry = known.find(key); entry != known.end()) return entry->second.body;
  }
  auto body = std::make_shared<const Body>(prepare_body(call.node, attribute));
  const std::scoped_lock lock(mutex);
  if (known.size() >= most_bodies) known.clear();
  return known.try_emplace(key, Prepared{*bytes, std::move(body)}).first->second.body;
}

// The outputs for the body's own inputs and what it captures.
Outputs run_body(const Body& body, const Outputs& given, std::span<const Array> captured,
                 KernelContext& context) {
  const auto inputs = body.graph.inputs();
  if (inputs.size() != given.size() + captured.size())
    fail(Fault::model, "the body has {} inputs, {} are given", inputs.size(), given.size() + captured.size());
  std::vector<Array> values(body.graph.values().size());
  for (std::size_t i = 0; i < inputs.size(); ++i)
    values[index_of(inputs[i])] = i < given.size() ? given[i] : captured[i - given.size()];
  KernelContext inside = context;
  inside.update_constant = nullptr;
  const OnValue no_observer;
  Executor{body.graph, body.constants.values(), inside, no_observer}.run(body.plan, values);
  Outputs outputs;
  for (const ValueId id : body.graph.outputs()) {
    const Array& value = values[index_of(id)];
    outputs.push_back(value.defined() ? value : body.constants.values()[index_of(id)]);
  }
  return outputs;
}

std::span<const Array> captured_of(const Call& call) {
  const std::int64_t count = call.node.integer("captured", 0);
  require_in("captured", count, 0, std::ssize(call.inputs));
  return call.inputs.last(count);
}

bool is_true(const Array& condition) {
  if (!condition.defined() || condition.count() != 1)
    fail(Fault::model, "a condition is not one truth value");
  return condition.detach().to(DType::float64).item<double>() != 0;
}

// The results of rounds, one after another, along a new axis.
class Rounds {
 public:
  Rounds(std::int64_t axis, bool backward) : axis_(axis), backward_(backward) {}
  void add(const Array& part) {
    check_size({std::ssize(parts_) + 1, part.count()}, size_of(part.dtype()));
    parts_.push_back(part);
  }
  Array stacked() {
    if (parts_.empty()) return array::zeros({0});
    if (backward_) std::ranges::reverse(parts_);
    return array::stack(parts_, axis_in(axis_, parts_[0].rank() + 1));
  }

 private:
  Outputs parts_;
  std::int64_t axis_;
  bool backward_;
};

std::int64_t at_or_zero(const Ints& list, std::size_t i) { return i < list.size() ? list[i] : 0; }

Outputs scan_of(const Call& call, const Body& body, Outputs states, const Outputs& scanned) {
  const bool batched = call.node.has("batched");
  const Ints axes = call.node.integers("scan_input_axes", {});
  const Ints backward = call.node.integers(batched ? "directions" : "scan_input_directions", {});
  const Ints out_axes = call.node.integers("scan_output_axes", {});
  const Ints out_backward = call.node.integers("scan_output_directions", {});
  std::int64_t length = -1;
  for (std::size_t i = 0; i < scanned.size(); ++i) {
    const std::int64_t size = scanned[i].size(axis_in(at_or_zero(axes, i), scanned[i].rank()));
    if (length >= 0 && size != length)
      fail(Fault::model, "scanned inputs of {} and {} positions", length, size);
    length = size;
  }
  std::vector<Rounds> rounds;
  for (std::size_t i = 0; i + states.size() < body.graph.outputs().size(); ++i)
    rounds.emplace_back(at_or_zero(out_axes, i), at_or_zero(out_backward, i) != 0);
  for (std::int64_t round = 0; round < length; ++round) {
    Outputs given = states;
    for (std::size_t i = 0; i < scanned.size(); ++i) {
      const std::int64_t at = at_or_zero(backward, i) != 0 ? length - 1 - round : round;
      given.push_back(scanned[i].select(axis_in(at_or_zero(axes, i), scanned[i].rank()), at));
    }
    const Outputs outputs = run_body(body, given, captured_of(call), call.context);
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      if (i < states.size())
        states[i] = outputs[i];
      else
        rounds[i - states.size()].add(outputs[i]);
    }
  }
  for (Rounds& one : rounds) states.push_back(one.stacked());
  return states;
}

}  // namespace

Outputs branch(const Call& call) {
  const bool taken = is_true(call.input(0));
  const auto body = body_in(call, taken ? "then_branch" : "else_branch");
  return run_body(*body, {}, captured_of(call), call.context);
}

// (rounds, condition, states, captured) -> (states, what each round gives)
Outputs loop(const Call& call) {
  const auto body = body_in(call, "body");
  const auto captured = captured_of(call);
  if (call.inputs.size() < captured.size() + 2) fail(Fault::model, "rounds and condition are missing");
  const std::int64_t rounds = call.integer(0, std::numeric_limits<std::int64_t>::max());
  bool goes_on = !call.has(1) || is_true(call.input(1));
  Outputs states(call.inputs.begin() + 2, call.inputs.end() - std::ssize(captured));
  if (body->graph.outputs().size() < states.size() + 1)
    fail(Fault::model, "the body has {} outputs for {} states", body->graph.outputs().size(), states.size());
  std::vector<Rounds> scanned(body->graph.outputs().size() - 1 - states.size(), Rounds(0, false));
  for (std::int64_t round = 0; goes_on && round < rounds; ++round) {
    if (round == most_rounds) fail(Fault::resources, "the loop goes on after {} rounds", round);
    Outputs given{array::scalar(round, DType::int64), array::ones({}, DType::boolean)};
    given.insert(given.end(), states.begin(), states.end());
    const Outputs outputs = run_body(*body, given, captured, call.context);
    goes_on = is_true(outputs[0]);
    for (std::size_t i = 1; i < outputs.size(); ++i) {
      if (i <= states.size())
        states[i - 1] = outputs[i];
      else
        scanned[i - 1 - states.size()].add(outputs[i]);
    }
  }
  for (Rounds& one : scanned) states.push_back(one.stacked());
  return states;
}

// (states, scanned, captured) -> (states, what each round gives). Before operator set 9 each record of a
// batch was scanned on its own.
Outputs scan(const Call& call) {
  const auto body = body_in(call, "body");
  const std::int64_t own = std::ssize(call.inputs) - std::ssize(captured_of(call));
  const std::int64_t count = call.node.integer("num_scan_inputs", 0);
  require_in("num_scan_inputs", count, 1, own);
  for (std::int64_t i = 0; i < own; ++i) call.input(static_cast<std::size_t>(i));
  const Outputs states(call.inputs.begin(), call.inputs.begin() + (own - count)),
      scanned(call.inputs.begin() + (own - count), call.inputs.begin() + own);
  if (!call.node.has("batched")) return scan_of(call, *body, states, scanned);
  std::vector<Rounds> records;
  for (std::int64_t record = 0; record < scanned[0].size(0); ++record) {
    Outputs states_of, scanned_of;
    for (const Array& state : states) states_of.push_back(state.select(0, record));
    for (const Array& one : scanned) scanned_of.push_back(one.select(0, record));
    const Outputs outputs = scan_of(call, *body, std::move(states_of), scanned_of);
    records.resize(outputs.size(), Rounds(0, false));
    for (std::size_t i = 0; i < outputs.size(); ++i) records[i].add(outputs[i]);
  }
  Outputs results;
  for (Rounds& one : records) results.push_back(one.stacked());
  return results;
}

}  // namespace assay::operators
