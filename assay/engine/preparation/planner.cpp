#include "assay/engine/preparation/planner.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include <assay/extend/operator_traits.h>
#include "assay/engine/elements.h"

namespace assay::inline engine {
namespace {

// What a record takes with the kernels, in nanoseconds, from the elements that a node reads and writes and
// the products it sums: rough, since only few nodes have the choice.
double kernel_cost(const Graph& graph, const Node& node, const ShapeOf& shape_of) {
  double elements = 0;
  for (const ValueId id : node.inputs) {
    if (id != no_value && !graph.is_constant(id)) elements += element_count(shape_of(id));
  }
  double products = 0, memory = 0;
  if ((is_convolution(node.op) || is_dense(node.op)) && node.inputs.size() > 1 &&
      graph.is_constant(node.inputs[1])) {
    const Array& weights = graph.constant(node.inputs[1]);
    const Shape& out = shape_of(node.outputs[0]);
    if (element_count(out) > 0 && out.size() > 1) {
      const std::int64_t units = is_dense(node.op) ? out.back() : out[1];
      const std::int64_t of_unit = weights.count() / units;
      products = of_unit * element_count(out);
      // Weights that leave the second-level cache are read again for every few records.
      constexpr std::int64_t most_cached = 256'000;
      constexpr double from_memory = 0.05;
      if (weights.count() > most_cached) memory = from_memory * weights.count();
    }
  }
  if (node.op == "MatMul" && !graph.is_constant(node.inputs[1]) && !shape_of(node.inputs[0]).empty()) {
    products = element_count(shape_of(node.outputs[0])) * shape_of(node.inputs[0]).back();
  }
  constexpr double per_element = 1, per_product = 1.0 / 25, call = 20;
  if (is_recurrent(node.op)) {  // of one step, with its many small operations
    constexpr double step = 200;
    for (const std::size_t i : {1, 2}) {
      if (graph.is_constant(node.inputs[i])) products += graph.constant(node.inputs[i]).count();
    }
    return step + per_product * products;
  }
  return call + memory + per_element * elements + per_product * products;
}

}  // namespace

Planner::Planner(const Graph& graph, const std::vector<ValueInfo>& infos, const ShapeOf& shape_of,
                 int threads, EngineChoice engines)
    : graph_(graph), infos_(infos), shape_of_(shape_of), threads_(threads), engines_(std::move(engines)) {
  constexpr double large = 5e6;  // nanoseconds of a record with the kernels
  double all = 0;
  for (const Node& node : graph.nodes()) all += kernel_cost(graph, node, shape_of);
  is_large_ = all > large;
}

// Whether what gradients make a back end keep for all nodes it can run stays small compared with the
// machine's memory.
bool Planner::fits(const Plan& plan, const Backend& backend, const RunRequest& request) const {
  constexpr double most_bytes = 1e9;  // of all threads
  double bytes = 0, trainable = 0;
  for (const ValueId id : request.trainable) trainable += graph_.constant(id).count();
  for (const NodeId n : plan.nodes) {
    if (supports(backend, node(n))) bytes += backend.kept_bytes(node(n), shape_of_);
  }
  return bytes * threads_ + backend.trainable_bytes(trainable) <= most_bytes;
}

// Back ends that work on so many records at once do as much for fewer of them, on every thread.
double Planner::cost(const Backend* backend, const Node& node, std::int64_t records) const {
  const double once =
      backend == nullptr ? kernel_cost(graph_, node, shape_of_) : backend->cost(graph_, node, shape_of_);
  const double all = is_recurrent(node.op) ? once * steps_of(node) : once;
  if (backend == nullptr || !is_large_) return all;
  const auto rounded_up = [](std::int64_t number, std::int64_t by) { return (number + by - 1) / by * by; };
  const std::int64_t done = rounded_up(records, backend->records_together() * threads_);
  return all * done / records;
}

double Planner::cost_of_change(const Node& node) const {
  constexpr double change_per_element = 1.5, change = 30;
  double border = change;
  for (const ValueId id : node.inputs) {
    if (id != no_value && !graph_.is_constant(id))
      border += change_per_element * element_count(shape_of_(id));
  }
  return border;
}

// Of a recurrent node, as probed.
std::int64_t Planner::steps_of(const Node& node) const {
  const Shape& input = infos_[index_of(node.inputs[0])].shape;
  return input.size() == 3 ? input[node.integer("layout", 0) != 0 ? 1 : 0] : 1;
}

// Back ends look at all weights of a node to say so.
bool Planner::supports(const Backend& backend, const Node& node) const {
  const auto [known, is_new] = supported_.try_emplace({&backend, &node}, false);
  if (is_new) known->second = backend.supports(graph_, node, shape_of_);
  return known->second;
}

// Whether the back end can run the node as this request wants it.
bool Planner::takes(const Backend& backend, const Node& node, const RunRequest& request) const {
  if (!supports(backend, node)) return false;
  if (is_recurrent(node.op) && steps_of(node) > backend.most_steps(graph_, node)) return false;
  const auto tapped = [&](ValueId id) {
    return std::ranges::find(request.tapped, id, &ReducedValue::value) != request.tapped.end();
  };
  if (backend.stands_alone(node) && std::ranges::any_of(node.outputs, tapped)) return false;
  // What it says is no number and cannot leave a part, even where nothing reads it here.
  const auto asked = [&](ValueId id) {
    return contains(request.wanted, id) || contains(request.visited, id) || tapped(id);
  };
  if (node.op == "IsNaN" && std::ranges::any_of(node.outputs, asked)) return false;
  if (request.training == nullptr) return true;
  if (has_trait(node.op, Trait::in_training)) return false;
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    if (contains(request.trainable, node.inputs[i]) && !backend.trains(graph_, node, i)) return false;
  }
  return true;
}

// Without one: the kernels, which come first.
std::vector<const Backend*> Planner::candidates(const Plan& plan, const RunRequest& request) const {
  std::vector<const Backend*> all{nullptr};
  for (const Backend* backend : engines_.backends) {
    if (!request.differentiable || (backend->differentiates() && fits(plan, *backend, request)))
      all.push_back(backend);
  }
  return all;
}

// The back end of every step: the cheapest way through all, where a change of back end costs the layout's
// change. nullptr stands for the kernels.
std::vector<const Backend*> Planner::choose(const Plan& plan, const RunRequest& request, std::int64_t records,
                                            const std::set<NodeId>& repeated) const {
  const std::vector<const Backend*> all = candidates(plan, request);
  constexpr double never = 1e30;
  const std::size_t steps = plan.nodes.size(), choices = all.size();
  std::vector<double> best(choices, 0);
  std::vector<std::vector<std::size_t>> before(steps, std::vector<std::size_t>(choices));
  for (std::size_t step = 0; step < steps; ++step) {
    const Node& at = node(plan.nodes[step]);
    const double border = cost_of_change(at);
    std::vector<double> next(choices, never);
    for (std::size_t c = 0; c < choices; ++c) {
      double own = cost(nullptr, at, records);
      if (all[c] == nullptr && repeated.contains(plan.nodes[step])) own = never;
      if (all[c] != nullptr) {
        const bool taken =
            takes(*all[c], at, request) && (at.op != "Expand" || repeated.contains(plan.nodes[step]));
        own = taken ? cost(all[c], at, records) : never;
      }
      // With a back end named, kernels are for what it cannot do.
      if (all[c] == nullptr && engines_.named && choices > 1 && at.op != "Expand" &&
          takes(*all[1], at, request))
        own = never;
      for (std::size_t from = 0; from < choices; ++from) {
        const double sum = best[from] + own + (from == c ? 0 : border);
        if (sum < next[c]) {
          next[c] = sum;
          before[step][c] = from;
        }
      }
    }
    best = std::move(next);
  }
  std::vector<const Backend*> chosen(steps);
  std::size_t at = std::ranges::min_element(best) - best.begin();
  for (std::size_t step = steps; step-- > 0; at = before[step][at]) chosen[step] = all[at];
  return chosen;
}

// Where parts end: of each step, that of the part it is in.
std::vector<std::size_t> Planner::ends_of(const Plan& plan, std::span<const Backend* const> chosen,
                                          const RunRequest& request) const {
  // Values that on_value may replace have to leave a part before others read them.
  const auto cut_after = [&](std::size_t step) {
    return request.differentiable && std::ranges::any_of(node(plan.nodes[step]).outputs, [&](ValueId id) {
             return contains(request.visited, id);
           });
  };
  const auto alone = [&](std::size_t step) {
    return chosen[step] != nullptr && chosen[step]->stands_alone(node(plan.nodes[step]));
  };
  std::vector<std::size_t> ends(chosen.size());
  for (std::size_t step = chosen.size(); step-- > 0;) {
    const bool joined = step + 1 < chosen.size() && chosen[step + 1] == chosen[step] && !cut_after(step) &&
                        !alone(step) && !alone(step + 1);
    ends[step] = joined ? ends[step + 1] : step + 1;
  }
  return ends;
}

// What IsNaN says is no number and cannot enter or leave a part: where it would, the kernels take both nodes.
void Planner::keep_nan_tests_inside(const Plan& plan, const RunRequest& request,
                                    std::vector<const Backend*>& chosen) const {
  for (bool changed = true; changed;) {
    changed = false;
    const std::vector<std::size_t> ends = ends_of(plan, chosen, request);
    for (std::size_t step = 0; step < chosen.size(); ++step) {
      const std::optional<NodeId> test = nan_test_of(graph_, node(plan.nodes[step]));
      if (!test) continue;
      const auto at = std::ranges::lower_bound(plan.nodes, *test);
      const bool computed = at != plan.nodes.end() && *at == *test;
      const std::size_t before = at - plan.nodes.begin();
      if (computed && ends[before] == ends[step]) continue;
      for (const std::size_t one : {computed ? before : step, step})
        changed |= std::exchange(chosen[one], nullptr) != nullptr;
    }
  }
}

// A constant that is repeated for every record, such as the first token of a sequence: how often follows from
// the shape of a value, and a back end that runs the node has no need of it.
bool Planner::repeats_constant(const Node& node) const {
  if (node.op != "Expand" || !graph_.is_constant(node.inputs[0]) || graph_.is_constant(node.inputs[1]))
    return false;
  const Shape &data = graph_.constant(node.inputs[0]).shape(), &all = shape_of_(node.outputs[0]);
  return data.size() < all.size() || (data.size() == all.size() && data[0] == 1);
}

// Those that a back end may run, and whose number of repetitions nothing else reads.
std::set<NodeId> Planner::repeated_constants(const RunRequest& request) const {
  std::set<NodeId> found;
  for (const NodeId n : graph_.node_ids()) {
    const Node& at = graph_.node(n);
    if (!repeats_constant(at)) continue;
    const ValueId times = at.inputs[1];
    const bool alone = graph_.consumers(times).size() == 1 && !contains(graph_.outputs(), times) &&
                       !contains(request.wanted, times) && !contains(request.visited, times);
    if (alone && std::ranges::any_of(engines_.backends,
                                     [&](const Backend* backend) { return takes(*backend, at, request); }))
      found.insert(n);
  }
  return found;
}

CompiledPlan Planner::plan(const std::vector<bool>& available, const RunRequest& request,
                           std::int64_t records) const {
  const std::set<NodeId> repeated = repeated_constants(request);
  if (!repeated.empty()) {
    std::vector<bool> more = available;
    for (const NodeId n : repeated) more[index_of(node(n).inputs[1])] = true;
    if (std::optional<CompiledPlan> made = plan(more, request, records, repeated)) return std::move(*made);
  }
  return *plan(available, request, records, {});
}

std::optional<CompiledPlan> Planner::plan(const std::vector<bool>& available, const RunRequest& request,
                                          std::int64_t records, const std::set<NodeId>& repeated) const {
  std::vector<ValueId> visited(request.visited.begin(), request.visited.end());
  for (const ReducedValue& tap : request.tapped) visited.push_back(tap.value);
  CompiledPlan made{make_plan(graph_, available, request.wanted, visited), {}};
  std::vector<const Backend*> chosen = choose(made.plan, request, records, repeated);
  keep_nan_tests_inside(made.plan, request, chosen);
  const std::vector<std::size_t> ends = ends_of(made.plan, chosen, request);
  for (std::size_t begin = 0; begin < chosen.size() && !repeated.empty(); begin = ends[begin]) {
    const std::span nodes(made.plan.nodes.data() + begin, ends[begin] - begin);
    const bool asks = std::ranges::any_of(nodes, [&](NodeId n) { return repeated.contains(n); });
    // How many records there are follows from what a part reads.
    if (asks && (chosen[begin] == nullptr || outside_inputs(part_of(nodes)).empty())) return std::nullopt;
  }
  for (std::size_t begin = 0; begin < chosen.size(); begin = ends[begin]) {
    if (chosen[begin] == nullptr) continue;
    made.parts.push_back(make_part(made.plan, begin, ends[begin], *chosen[begin], request));
    made.keeps_nan &= chosen[begin]->keeps_nan();
  }
  return made;
}

SegmentRequest Planner::part_of(std::span<const NodeId> nodes) const {
  return {.graph = &graph_,
          .nodes = {nodes.begin(), nodes.end()},
          .shape_of = shape_of_,
          .keep = {},
          .taps = {},
          .threads = threads_};
}

CompiledPart Planner::make_part(const Plan& plan, std::size_t begin, std::size_t end, const Backend& backend,
                                const RunRequest& request) const {
  const std::span nodes(plan.nodes.data() + begin, end - begin);
  const std::span later(plan.nodes.data() + end, plan.nodes.size() - end);
  SegmentRequest asked_for = part_of(nodes);
  std::vector<ValueId> whole;
  std::unordered_set<ValueId> asked(request.wanted.begin(), request.wanted.end());
  asked.insert(request.visited.begin(), request.visited.end());
  std::unordered_multimap<ValueId, ReducedValue> tapped;
  for (const ReducedValue& tap : request.tapped) tapped.emplace(tap.value, tap);
  for (const NodeId n : nodes) {
    for (const ValueId id : node(n).inputs) {
      if (contains(request.trainable, id) && !contains(asked_for.trainable, id))
        asked_for.trainable.push_back(id);
    }
    for (const ValueId id : node(n).outputs) {
      if (id == no_value) continue;
      const bool read_later = std::ranges::any_of(
          graph_.consumers(id), [&](NodeId reader) { return std::ranges::binary_search(later, reader); });
      if (read_later || asked.contains(id)) asked_for.keep.push_back(id);
      const auto [first, last] = tapped.equal_range(id);
      const bool reduced = first != last && (first->second.axis == 1 || backend.reduces_last_axis());
      for (auto at = first; reduced && at != last; ++at) asked_for.taps.push_back(at->second);
      if (first == last || reduced) continue;
      whole.push_back(id);
      if (!contains(asked_for.keep, id)) asked_for.keep.push_back(id);
    }
  }
  std::vector<ReducedValue> taps = asked_for.taps;
  return {begin, end, &backend, std::move(taps), std::move(whole), std::move(asked_for)};
}

}  // namespace assay::inline engine
