#include "assay/engine/preparation/fast_path.h"

#include <assay/array_math.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include <assay/extend/operator_traits.h>
#include "assay/engine/differentiable.h"
#include "assay/engine/elements.h"
#include "assay/engine/preparation/input_form.h"
#include "assay/engine/preparation/static_graph.h"

namespace assay {
namespace {

// Plans to be kept: compiled segments hold separate weights, so large networks keep few.
std::size_t plans_to_keep(const Constants& constants) {
  constexpr double room = 256e6, least = 8, most = 64;
  double bytes = 1;
  for (const Array& constant : constants.values()) {
    if (constant.defined()) bytes += static_cast<double>(constant.byte_size());
  }
  return static_cast<std::size_t>(std::clamp(room / bytes, least, most));
}

bool contains(std::span<const ValueId> ids, ValueId id) { return std::ranges::find(ids, id) != ids.end(); }

// Maxima of some back ends drop a NaN that has to be reported, so batches that hold one go to the kernels.
bool all_finite(const Tensors& given) {
  return std::ranges::all_of(given, [](const auto& entry) {
    return entry.second.dtype() != DType::float32 || has_finite_elements(entry.second);
  });
}

// What a record takes with the kernels, in nanoseconds, from the elements that a node reads and writes and
// the products it sums: rough, since only few nodes have the choice.
double kernel_cost(const Graph& graph, const Node& node, const ShapeOf& shape_of) {
  double elements = 0;
  for (const ValueId id : node.inputs) {
    if (id != no_value && !graph.is_constant(id))
      elements += static_cast<double>(element_count(shape_of(id)));
  }
  double products = 0;
  if ((is_convolution(node.op) || is_dense(node.op)) && node.inputs.size() > 1 &&
      graph.is_constant(node.inputs[1])) {
    const Array& weights = graph.constant(node.inputs[1]);
    const Shape& out = shape_of(node.outputs[0]);
    if (element_count(out) > 0 && out.size() > 1) {
      const std::int64_t units = is_dense(node.op) ? out.back() : out[1];
      products = static_cast<double>(weights.count() / units * element_count(out));
    }
  }
  if (node.op == "MatMul" && !graph.is_constant(node.inputs[1]) && !shape_of(node.inputs[0]).empty()) {
    products =
        static_cast<double>(element_count(shape_of(node.outputs[0])) * shape_of(node.inputs[0]).back());
  }
  constexpr double per_element = 1, per_product = 1.0 / 25, call = 20;
  if (is_recurrent(node.op)) {  // of one step, with its many small operations
    constexpr double step = 200;
    for (const std::size_t i : {1, 2}) {
      if (graph.is_constant(node.inputs[i]))
        products += static_cast<double>(graph.constant(node.inputs[i]).count());
    }
    return step + per_product * products;
  }
  return call + per_element * elements + per_product * products;
}

}  // namespace

FastPath::FastPath(const Graph& graph, const Constants& constants, std::vector<ValueInfo> infos, int threads,
                   std::string engine)
    : FastPath(make_static(graph, constants, infos), infos, threads, std::move(engine)) {
  for (const Node& node : graph.nodes()) {
    const bool gone = std::ranges::none_of(node.outputs, [&](ValueId id) {
      return id != no_value && (constants.has(id) || graph_.producer(id) >= 0);
    });
    if (gone) folded_.insert(node.inputs.begin(), node.inputs.end());
  }
}

FastPath::FastPath(Graph graph, std::vector<ValueInfo> infos, int threads, std::string engine)
    : graph_(std::move(graph)),
      constants_(graph_, std::uint64_t{1} << 62),
      infos_(std::move(infos)),
      shape_of_([this](ValueId id) -> const Shape& { return shapes_[static_cast<std::size_t>(id)]; }),
      threads_(threads),
      engine_(std::move(engine)),
      most_plans_(plans_to_keep(constants_)) {
  infos_.resize(graph_.values().size());
  for (const ValueInfo& info : infos_) {
    const bool plain =
        info.batch_axis == 0 && info.batch_multiple == 1 && info.single && !info.shaped_by_content;
    shapes_.push_back(plain ? info.shape : Shape());
  }
}

std::unique_ptr<const FastPath> FastPath::as_batch_major() const {
  std::optional<BatchMajor> other = make_batch_major(graph_, infos_);
  if (!other) return nullptr;
  std::unique_ptr<FastPath> made(
      new FastPath(std::move(other->graph), std::move(other->infos), threads_, engine_));
  made->moved_ = std::move(other->moved);
  made->extra_ = std::move(other->extra);
  return made;
}

bool FastPath::as_expected(ValueId id, const Array& tensor) const {
  const ValueInfo& info = infos_[static_cast<std::size_t>(id)];
  if (!info.computed || tensor.rank() != static_cast<std::int64_t>(info.shape.size()) || tensor.count() == 0)
    return false;
  for (std::int64_t i = 0; i < tensor.rank(); ++i) {
    if (i != info.batch_axis && tensor.size(i) != info.shape[static_cast<std::size_t>(i)]) return false;
  }
  const bool single = tensor.dtype() == DType::float32;
  return info.single == single || (single && becomes_real(graph_, id));
}

ReducedValue FastPath::translated(ReducedValue tap) const {
  const auto moved = moved_.find(tap.value);
  if (moved == moved_.end()) return tap;
  tap.value = moved->second.front;
  tap.axis = infos_[static_cast<std::size_t>(tap.value)].shape.size() - 1;
  return tap;
}

bool FastPath::reduces_batch_major(ValueId id, std::size_t axis) const {
  const auto moved = moved_.find(id);
  return moved != moved_.end() && axis + 1 == moved->second.shape.size() &&
         static_cast<int>(axis) != moved->second.place.axis && graph_.producer(moved->second.front) >= 0;
}

FastPath::Translated FastPath::translated(const Request& request) const {
  Translated here{{}, {}, {}, request};
  const auto front_of = [&](ValueId id) {
    const auto known = moved_.find(id);
    return known == moved_.end() ? id : known->second.front;
  };
  const auto add = [&](std::span<const ValueId> ids, std::vector<ValueId>& to) {
    for (const ValueId id : ids)
      if (!contains(to, front_of(id))) to.push_back(front_of(id));
  };
  add(request.wanted, here.wanted);
  add(request.visited, here.visited);
  for (const ReducedValue& tap : request.tapped) {
    const ReducedValue front = translated(tap);
    if (std::ranges::find(here.tapped, front) == here.tapped.end()) here.tapped.push_back(front);
  }
  here.request.tapped = here.tapped;
  here.request.wanted = here.wanted;
  here.request.visited = here.visited;
  return here;
}

bool FastPath::can_translate(const Tensors& given, const Request& request) const {
  if (std::ranges::any_of(request.learned, [&](ValueId id) { return folded_.contains(id); })) return false;
  if (moved_.empty()) return true;
  const auto moved = [&](ValueId id) { return moved_.contains(id); };
  if (!request.learned.empty() || request.training != nullptr ||
      std::ranges::any_of(given, [&](const auto& entry) { return moved(entry.first); }))
    return false;
  return !request.differentiable ||
         (std::ranges::none_of(request.wanted, moved) && std::ranges::none_of(request.visited, moved));
}

bool FastPath::can_run(const Tensors& given, const Request& request) const {
  return can_translate(given, request) && is_here(given, translated(request).request);
}

bool FastPath::is_here(const Tensors& given, const Request& request) const {
  const auto computed = [&](ValueId id) { return graph_.producer(id) >= 0; };
  for (const auto& [id, tensor] : given) {
    if (contains(request.learned, id)) continue;
    if (!computed(id) && !contains(graph_.inputs(), id)) return false;
    if (!as_expected(id, tensor)) return false;
  }
  const auto available = [&](ValueId id) { return computed(id) || given.contains(id) || constants_.has(id); };
  return std::ranges::all_of(request.wanted, available) && std::ranges::all_of(request.visited, available) &&
         std::ranges::all_of(request.tapped, available, &ReducedValue::value) &&
         std::ranges::none_of(request.tapped,
                              [&](const auto& tap) { return shape_of_(tap.value).empty(); }) &&
         (plan_for(given, request).keeps_nan || all_finite(given));
}

// Whether what gradients make a back end keep for all nodes it can run stays small compared with the
// machine's memory.
bool FastPath::fits(const Plan& plan, const Backend& backend, const Request& request) const {
  constexpr double most_bytes = 1e9;  // of all threads
  double bytes = 0, learned = 0;
  for (const ValueId id : request.learned) learned += static_cast<double>(graph_.constant(id).count());
  for (const int n : plan.nodes) {
    if (backend.supports(graph_, node(n), shape_of_)) bytes += backend.kept_bytes(node(n), shape_of_);
  }
  return bytes * threads_ + backend.learned_bytes(learned) <= most_bytes;
}

// Nanoseconds of a record; without a back end, with the kernels.
double FastPath::cost(const Backend* backend, const Node& node) const {
  const double once =
      backend == nullptr ? kernel_cost(graph_, node, shape_of_) : backend->cost(graph_, node, shape_of_);
  return is_recurrent(node.op) ? once * static_cast<double>(steps_of(node)) : once;
}

// Of a recurrent node, as probed.
std::int64_t FastPath::steps_of(const Node& node) const {
  const Shape& input = infos_[static_cast<std::size_t>(node.inputs[0])].shape;
  return input.size() == 3 ? input[node.integer("layout", 0) != 0 ? 1 : 0] : 1;
}

// Whether the back end can run the node as this request wants it.
bool FastPath::takes(const Backend& backend, const Node& node, const Request& request) const {
  if (!backend.supports(graph_, node, shape_of_)) return false;
  if (is_recurrent(node.op) && steps_of(node) > backend.most_steps(graph_, node)) return false;
  const auto tapped = [&](ValueId id) {
    return std::ranges::find(request.tapped, id, &ReducedValue::value) != request.tapped.end();
  };
  if (backend.stands_alone(node) && std::ranges::any_of(node.outputs, tapped)) return false;
  if (request.training == nullptr) return true;
  if (has_trait(node.op, Trait::in_training)) return false;
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    if (contains(request.learned, node.inputs[i]) && !backend.learns(graph_, node, i)) return false;
  }
  return true;
}

// The back end of every step: the cheapest way through all, where a change of back end costs the layout's
// change. nullptr stands for the kernels.
std::vector<const Backend*> FastPath::choose(const Plan& plan, const Request& request) const {
  std::vector<const Backend*> all{nullptr};
  for (const Backend* backend : backends()) {
    if (engine_ != "auto" && engine_ != backend->name()) continue;
    if (!request.differentiable || (backend->differentiates() && fits(plan, *backend, request)))
      all.push_back(backend);
  }
  constexpr double never = 1e30, change_per_element = 0.5, change = 30;
  const std::size_t steps = plan.nodes.size(), choices = all.size();
  std::vector<double> best(choices, 0);
  std::vector<std::vector<std::size_t>> before(steps, std::vector<std::size_t>(choices));
  for (std::size_t step = 0; step < steps; ++step) {
    const Node& at = node(plan.nodes[step]);
    double border = change;
    for (const ValueId id : at.inputs) {
      if (id != no_value && !graph_.is_constant(id))
        border += change_per_element * static_cast<double>(element_count(shape_of_(id)));
    }
    std::vector<double> next(choices, never);
    for (std::size_t c = 0; c < choices; ++c) {
      double own = cost(nullptr, at);
      if (all[c] != nullptr) own = takes(*all[c], at, request) ? cost(all[c], at) : never;
      // With a back end named, kernels are for what it cannot do.
      if (all[c] == nullptr && engine_ != "auto" && choices > 1 && takes(*all[1], at, request)) own = never;
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
  auto at = static_cast<std::size_t>(std::ranges::min_element(best) - best.begin());
  for (std::size_t step = steps; step-- > 0; at = before[step][at]) chosen[step] = all[at];
  return chosen;
}

FastPath::Part FastPath::make_part(const Plan& plan, std::size_t begin, std::size_t end,
                                   const Backend& backend, const Request& request) const {
  const std::span nodes(plan.nodes.data() + begin, end - begin);
  const std::span later(plan.nodes.data() + end, plan.nodes.size() - end);
  SegmentRequest asked_for{.graph = &graph_,
                           .nodes = {nodes.begin(), nodes.end()},
                           .shape_of = shape_of_,
                           .keep = {},
                           .taps = {},
                           .threads = threads_};
  std::vector<ValueId> whole;
  std::unordered_set<ValueId> asked(request.wanted.begin(), request.wanted.end());
  asked.insert(request.visited.begin(), request.visited.end());
  std::unordered_multimap<ValueId, ReducedValue> tapped;
  for (const ReducedValue& tap : request.tapped) tapped.emplace(tap.value, tap);
  for (const int n : nodes) {
    for (const ValueId id : node(n).inputs) {
      if (contains(request.learned, id) && !contains(asked_for.learned, id)) asked_for.learned.push_back(id);
    }
    for (const ValueId id : node(n).outputs) {
      if (id == no_value) continue;
      const bool read_later = std::ranges::any_of(
          graph_.consumers(id), [&](int reader) { return std::ranges::binary_search(later, reader); });
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
  return {begin, end, &backend, std::move(taps), std::move(whole), backend.compile(std::move(asked_for))};
}

FastPath::FastPlan FastPath::make_plan_for(const Tensors& given, const Request& request) const {
  std::vector<bool> available(graph_.values().size());
  for (std::size_t i = 0; i < available.size(); ++i) available[i] = constants_.values()[i].defined();
  for (const auto& [id, tensor] : given) available[static_cast<std::size_t>(id)] = true;
  std::vector<ValueId> visited(request.visited.begin(), request.visited.end());
  for (const ReducedValue& tap : request.tapped) visited.push_back(tap.value);
  FastPlan fast{make_plan(graph_, available, request.wanted, visited), {}};
  const std::vector<const Backend*> chosen = choose(fast.plan, request);
  // Values that on_value may replace have to leave a part before others read them.
  const auto cut_after = [&](std::size_t step) {
    return request.differentiable &&
           std::ranges::any_of(node(fast.plan.nodes[step]).outputs,
                               [&](ValueId id) { return contains(request.visited, id); });
  };
  for (std::size_t begin = 0; begin < chosen.size();) {
    std::size_t end = begin + 1;
    const auto alone = [&](std::size_t step) {
      return chosen[step] != nullptr && chosen[step]->stands_alone(node(fast.plan.nodes[step]));
    };
    while (end < chosen.size() && chosen[end] == chosen[begin] && !cut_after(end - 1) && !alone(begin) &&
           !alone(end))
      ++end;
    if (chosen[begin] != nullptr) {
      fast.parts.push_back(make_part(fast.plan, begin, end, *chosen[begin], request));
      fast.keeps_nan &= chosen[begin]->keeps_nan();
    }
    begin = end;
  }
  return fast;
}

const FastPath::FastPlan& FastPath::plan_for(const Tensors& given, const Request& request) const {
  Key key(5);
  for (const auto& [id, tensor] : given) key[0].push_back(id);
  key[1].assign(request.wanted.begin(), request.wanted.end());
  key[2].assign(request.visited.begin(), request.visited.end());
  key[4] = {request.differentiable ? 1 : 0, request.training != nullptr ? 1 : 0};
  for (const ReducedValue& tap : request.tapped) {
    key[3].push_back(tap.value);
    key[3].push_back(2 * static_cast<ValueId>(tap.reduction) + (tap.whole ? 1 : 0));
  }
  const auto known = plans_.find(key);
  if (known != plans_.end()) return *known->second;
  auto made = std::make_unique<const FastPlan>(make_plan_for(given, request));
  if (plans_.size() >= most_plans_) plans_.clear();
  return *plans_.emplace(std::move(key), std::move(made)).first->second;
}

void FastPath::run_part(const Part& part, std::vector<Array>& values, const Request& request) const {
  Tensors inputs, outputs;
  for (const ValueId id : part.segment->inputs()) inputs.emplace(id, values[static_cast<std::size_t>(id)]);
  if (request.differentiable) {
    outputs = run_differentiably(part.segment, inputs);
  } else {
    const std::int64_t rows = inputs.at(part.segment->inputs()[0]).size(0);
    std::vector<Array> matrices;
    std::vector<float*> tapped;
    for (const ReducedValue& tap : part.taps) {
      matrices.push_back(array::empty({rows, tap.columns(shape_of_(tap.value))}));
      tapped.push_back(matrices.back().elements<float>());
    }
    part.segment->run(inputs, outputs, tapped);
    for (std::size_t i = 0; i < matrices.size(); ++i) request.on_matrix(part.taps[i], matrices[i]);
  }
  for (auto& [id, tensor] : outputs) {
    if (contains(request.visited, id) || contains(part.whole, id)) request.on_value(id, tensor);
    values[static_cast<std::size_t>(id)] = std::move(tensor);
  }
}

Tensors FastPath::run(const Tensors& given, const Request& request) const {
  if (moved_.empty() || request.differentiable) return execute(plan_for(given, request), given, request, {});
  Translated here = translated(request);
  // By what they are here. Taps are seen where nothing reduces them.
  std::map<ValueId, std::set<ValueId>> seen;
  const auto see = [&](ValueId id) {
    const auto moved = moved_.find(id);
    if (moved != moved_.end()) seen[moved->second.front].insert(id);
  };
  std::ranges::for_each(request.visited, see);
  std::ranges::for_each(request.tapped, see, &ReducedValue::value);
  const auto visit = [&](ValueId front, const Array& tensor) {
    const auto found = seen.find(front);
    if (found == seen.end()) return;
    for (const ValueId id : found->second) {
      Array was = as_it_was(tensor, moved_.at(id));
      request.on_value(id, was);
    }
  };
  here.request.on_value = [&](ValueId id, Array& tensor) {
    visit(id, tensor);
    if (request.on_value) request.on_value(id, tensor);
  };
  here.request.on_matrix = [&](const ReducedValue& front, const Array& matrix) {
    for (const ReducedValue& tap : request.tapped)
      if (translated(tap) == front) request.on_matrix(tap, matrix);
  };
  for (const auto& [id, tensor] : given) visit(id, tensor);
  Tensors results = execute(plan_for(given, here.request), given, here.request, {});
  for (const ValueId id : request.wanted) {
    const auto moved = moved_.find(id);
    if (moved != moved_.end())
      results.insert_or_assign(id, as_it_was(results.at(moved->second.front), moved->second).contiguous());
  }
  std::erase_if(results, [&](const auto& entry) { return !contains(request.wanted, entry.first); });
  return results;
}

std::optional<RecordGradients> FastPath::gradients(const Tensors& given, const Request& request,
                                                   const RecordObjective& objective,
                                                   std::span<const ValueId> wanted) const {
  const FastPlan& fast = plan_for(given, request);
  if (fast.parts.size() != 1 || fast.parts[0].end - fast.parts[0].begin != fast.plan.nodes.size())
    return std::nullopt;
  const Segment& segment = *fast.parts[0].segment;
  if (!segment.takes_objectives()) return std::nullopt;
  Tensors inputs;
  for (const ValueId id : segment.inputs()) {
    if (!given.contains(id)) return std::nullopt;
    inputs.emplace(id, given.at(id));
  }
  const bool known =
      std::ranges::all_of(wanted, [&](ValueId id) { return inputs.contains(id); }) &&
      std::ranges::all_of(objective.read, [&](ValueId id) { return contains(segment.outputs(), id); });
  if (!known || objective.numbers == 0) return std::nullopt;
  return segment.gradients(inputs, objective, wanted);
}

Tensors FastPath::execute(const FastPlan& fast, const Tensors& given, const Request& request,
                          const std::function<void(std::size_t)>& after_step) const {
  std::vector<Array> values(graph_.values().size());
  for (const auto& [id, tensor] : given) values[static_cast<std::size_t>(id)] = tensor;
  KernelContext inference;
  KernelContext& context = request.training != nullptr ? *request.training : inference;
  const Executor executor{graph_, constants_.values(), context, request.on_value};
  auto next = fast.parts.begin();
  for (std::size_t step = 0; step < fast.plan.nodes.size(); ++step) {
    if (next != fast.parts.end() && next->begin == step) {
      run_part(*next, values, request);
      for (; step + 1 < next->end; ++step) release(fast.plan.release[step], values);
      ++next;
    } else {
      executor.run(fast.plan.nodes[step], values);
    }
    release(fast.plan.release[step], values);
    if (after_step) after_step(step + 1);
  }
  Tensors results;
  for (const ValueId id : request.wanted) {
    const auto index = static_cast<std::size_t>(id);
    results.emplace(id, values[index].defined() ? values[index] : constants_.values()[index]);
  }
  return results;
}

std::vector<PlannedSegment> FastPath::explain(const Tensors& given, const Request& request,
                                              bool measure) const {
  const Translated here = translated(request);
  const FastPlan& fast = plan_for(given, here.request);
  std::vector<PlannedSegment> planned;
  auto next = fast.parts.begin();
  for (std::size_t step = 0; step < fast.plan.nodes.size(); ++step) {
    while (next != fast.parts.end() && next->end <= step) ++next;
    const bool inside = next != fast.parts.end() && next->begin <= step;
    const std::string name(inside ? next->backend->name() : "reference");
    if (planned.empty() || planned.back().engine != name || (inside && next->begin == step))
      planned.push_back({.engine = name, .nodes = {}});
    planned.back().nodes.push_back(fast.plan.nodes[step]);
    if (inside) planned.back().nanoseconds += cost(next->backend, node(fast.plan.nodes[step]));
  }
  constexpr int runs = 5;
  for (int i = 0; measure && i < runs; ++i) {
    std::vector<double> took(planned.size(), 0);
    std::size_t at = 0, end = planned.empty() ? 0 : planned[0].nodes.size();
    auto last = std::chrono::steady_clock::now();
    execute(fast, given, here.request, [&](std::size_t done) {
      const auto now = std::chrono::steady_clock::now();
      while (done > end) end += planned[++at].nodes.size();
      took[at] += std::chrono::duration<double, std::nano>(now - last).count();
      last = now;
    });
    const auto records = static_cast<double>(given.begin()->second.size(0));
    for (std::size_t p = 0; p < planned.size(); ++p)
      planned[p].measured = i == 0 ? took[p] / records : std::min(planned[p].measured, took[p] / records);
  }
  return planned;
}

std::vector<int> FastPath::nodes_in(const Graph& session, std::span<const int> nodes) const {
  std::vector<int> found;
  for (const int n : nodes) {
    if (const auto same = session.find_node(node(n).name)) found.push_back(*same);
  }
  if (found.empty()) found.push_back(session.find_node(extra_.at(node(nodes[0]).name)).value());
  return found;
}

}  // namespace assay
