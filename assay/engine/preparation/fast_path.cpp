#include "assay/engine/preparation/fast_path.h"

#include <assay/array_math.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <set>

#include <assay/extend/operator_traits.h>
#include "assay/engine/differentiable.h"
#include "assay/engine/elements.h"
#include "assay/engine/preparation/early_picks.h"
#include "assay/engine/preparation/input_form.h"
#include "assay/engine/preparation/static_graph.h"

namespace assay::inline engine {
namespace {

// Plans to be kept: compiled segments hold separate weights, so large networks keep few.
std::size_t plans_to_keep(const Constants& constants) {
  constexpr double budget = 256e6, least = 8, most = 64;
  double bytes = 1;
  for (const Array& constant : constants.values()) {
    if (constant.defined()) bytes += constant.byte_size();
  }
  return static_cast<std::size_t>(std::clamp(budget / bytes, least, most));
}

// Maxima of some back ends drop a NaN that has to be reported, so batches that hold one go to the kernels.
bool all_finite(const Tensors& given) {
  return std::ranges::all_of(given, [](const auto& entry) {
    return entry.second.dtype() != DType::float32 || has_finite_elements(entry.second);
  });
}

std::vector<ValueInfo> for_all_values(std::vector<ValueInfo> infos, const Graph& graph) {
  infos.resize(graph.values().size());
  return infos;
}

std::vector<Shape> shapes_of_batches(const std::vector<ValueInfo>& infos) {
  std::vector<Shape> shapes;
  for (const ValueInfo& info : infos) {
    const bool plain =
        info.batch_axis == 0 && info.batch_multiple == 1 && info.single && !info.shaped_by_content;
    shapes.push_back(plain ? info.shape : Shape());
  }
  return shapes;
}

}  // namespace

FastPath::FastPath(const Graph& graph, const Constants& constants, std::vector<ValueInfo> infos, int threads,
                   EngineChoice engines)
    : FastPath(make_static(graph, constants, infos), infos, threads, std::move(engines)) {
  for (const Node& node : graph.nodes()) {
    const bool gone = std::ranges::none_of(node.outputs, [&](ValueId id) {
      return id != no_value && (constants.has(id) || graph_.producer(id) != no_node);
    });
    if (gone) folded_.insert(node.inputs.begin(), node.inputs.end());
  }
}

FastPath::FastPath(Graph graph, std::vector<ValueInfo> infos, int threads, EngineChoice engines)
    : graph_(std::move(graph)),
      constants_(graph_, std::uint64_t{1} << 62),
      infos_(for_all_values(std::move(infos), graph_)),
      shapes_(shapes_of_batches(infos_)),
      shape_of_([this](ValueId id) -> const Shape& { return shapes_[index_of(id)]; }),
      threads_(threads),
      engines_(std::move(engines)),
      most_plans_(plans_to_keep(constants_)),
      planner_(graph_, infos_, shape_of_, threads_, engines_) {}

std::unique_ptr<const FastPath> FastPath::as_batch_major() const {
  std::optional<BatchMajor> other = make_batch_major(graph_, infos_);
  if (!other) return nullptr;
  std::unique_ptr<FastPath> made(
      new FastPath(std::move(other->graph), std::move(other->infos), threads_, engines_));
  made->moved_ = std::move(other->moved);
  made->extra_ = std::move(other->extra);
  return made;
}

std::unique_ptr<const FastPath> FastPath::with_early_picks() const {
  std::optional<EarlyPicks> other = pick_early(graph_, infos_);
  if (!other) return nullptr;
  std::unique_ptr<FastPath> made(
      new FastPath(std::move(other->graph), std::move(other->infos), threads_, engines_));
  made->moved_ = moved_;
  made->passed_ = std::move(other->passed);
  made->extra_ = extra_;
  made->instead_ = std::move(other->instead);
  for (const auto& [name, purpose] : other->extra) {
    const auto known = extra_.find(purpose);
    made->extra_.emplace(name, known == extra_.end() ? purpose : known->second);
  }
  return made;
}

bool FastPath::needs_passed(const Tensors& given, const Request& request) const {
  if (passed_.empty()) return false;
  const auto passed = [&](ValueId id) { return passed_.contains(id); };
  return request.training != nullptr || std::ranges::any_of(request.wanted, passed) ||
         std::ranges::any_of(request.visited, passed) ||
         std::ranges::any_of(request.tapped, passed, &ReducedValue::value) ||
         std::ranges::any_of(given, [&](const auto& entry) { return passed(entry.first); });
}

bool FastPath::as_expected(ValueId id, const Array& tensor) const {
  const ValueInfo& info = infos_[index_of(id)];
  if (!info.computed || tensor.rank() != std::ssize(info.shape) || tensor.count() == 0) return false;
  for (std::int64_t i = 0; i < tensor.rank(); ++i) {
    if (i != info.batch_axis && tensor.size(i) != info.shape[i]) return false;
  }
  const bool single = tensor.dtype() == DType::float32;
  return info.single == single || (single && becomes_real(graph_, id));
}

ReducedValue FastPath::translated(ReducedValue tap) const {
  const auto moved = moved_.find(tap.value);
  if (moved == moved_.end()) return tap;
  tap.value = moved->second.front;
  tap.axis = infos_[index_of(tap.value)].shape.size() - 1;
  return tap;
}

bool FastPath::reduces_batch_major(ValueId id, std::size_t axis) const {
  const auto moved = moved_.find(id);
  return moved != moved_.end() && axis + 1 == moved->second.shape.size() &&
         static_cast<int>(axis) != moved->second.place.axis &&
         graph_.producer(moved->second.front) != no_node;
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
  if (std::ranges::any_of(request.trainable, [&](ValueId id) { return folded_.contains(id); })) return false;
  if (moved_.empty()) return true;
  const auto moved = [&](ValueId id) { return moved_.contains(id); };
  if (!request.trainable.empty() || request.training != nullptr ||
      std::ranges::any_of(given, [&](const auto& entry) { return moved(entry.first); }))
    return false;
  return !request.differentiable ||
         (std::ranges::none_of(request.wanted, moved) && std::ranges::none_of(request.visited, moved));
}

bool FastPath::can_run(const Tensors& given, const Request& request) const {
  return can_translate(given, request) && is_here(given, translated(request).request);
}

bool FastPath::is_here(const Tensors& given, const Request& request) const {
  if (needs_passed(given, request)) return false;
  const auto computed = [&](ValueId id) { return graph_.producer(id) != no_node; };
  for (const auto& [id, tensor] : given) {
    if (contains(request.trainable, id)) continue;
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

const CompiledPlan& FastPath::plan_for(const Tensors& given, const Request& request) const {
  Key key(5);
  const auto add = [](std::vector<std::int32_t>& part, ValueId id) {
    part.push_back(static_cast<std::int32_t>(id));
  };
  for (const auto& [id, tensor] : given) add(key[0], id);
  for (const ValueId id : request.wanted) add(key[1], id);
  for (const ValueId id : request.visited) add(key[2], id);
  key[4] = {request.differentiable ? 1 : 0, request.training != nullptr ? 1 : 0};
  for (const ReducedValue& tap : request.tapped) {
    add(key[3], tap.value);
    key[3].push_back(2 * static_cast<std::int32_t>(tap.reduction) + (tap.whole ? 1 : 0));
  }
  const std::int64_t records = records_of(given);
  const auto known = plans_.find(key);
  if (known != plans_.end() && (known->second.records >= records || !planner_.is_large()))
    return known->second.plan;
  if (known != plans_.end()) plans_.erase(known);
  std::vector<bool> available(graph_.values().size());
  for (std::size_t i = 0; i < available.size(); ++i) available[i] = constants_.values()[i].defined();
  for (const auto& [id, tensor] : given) available[index_of(id)] = true;
  if (plans_.size() >= most_plans_) plans_.clear();
  return plans_.emplace(std::move(key), Known{records, planner_.plan(available, request, records)})
      .first->second.plan;
}

// How many run together, about: a power of 2, at most what every back end has enough of.
std::int64_t FastPath::records_of(const Tensors& given) const {
  const std::uint64_t most = 16 * std::max(threads_, 1);
  std::uint64_t records = 1;
  for (const auto& [id, tensor] : given) {
    const int axis = infos_[index_of(id)].batch_axis;
    if (axis >= 0 && axis < tensor.rank())
      records = std::max(records, static_cast<std::uint64_t>(tensor.size(axis)));
  }
  return std::min(std::bit_ceil(records), most);
}

void FastPath::run_part(const CompiledPart& part, std::vector<Array>& values, const Request& request) const {
  Tensors inputs, outputs;
  const std::shared_ptr<const Segment>& segment = part.segment();
  for (const ValueId id : segment->inputs()) inputs.emplace(id, values[index_of(id)]);
  if (request.differentiable) {
    outputs = run_differentiably(segment, inputs);
  } else {
    const std::int64_t rows = inputs.at(segment->inputs()[0]).size(0);
    std::vector<Array> matrices;
    std::vector<float*> tapped;
    for (const ReducedValue& tap : part.taps) {
      matrices.push_back(array::empty({rows, tap.columns(shape_of_(tap.value))}));
      tapped.push_back(matrices.back().elements<float>());
    }
    segment->run(inputs, outputs, tapped);
    for (std::size_t i = 0; i < matrices.size(); ++i) request.on_matrix(part.taps[i], matrices[i]);
  }
  for (auto& [id, tensor] : outputs) {
    if (contains(request.visited, id) || contains(part.whole, id)) request.on_value(id, tensor);
    values[index_of(id)] = std::move(tensor);
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
  const CompiledPlan& fast = plan_for(given, request);
  if (fast.parts.size() != 1 || fast.parts[0].end - fast.parts[0].begin != fast.plan.nodes.size())
    return std::nullopt;
  const Segment& segment = *fast.parts[0].segment();
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

Tensors FastPath::execute(const CompiledPlan& fast, const Tensors& given, const Request& request,
                          const std::function<void(std::size_t)>& after_step) const {
  std::vector<Array> values(graph_.values().size());
  for (const auto& [id, tensor] : given) values[index_of(id)] = tensor;
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
    const auto index = index_of(id);
    results.emplace(id, values[index].defined() ? values[index] : constants_.values()[index]);
  }
  return results;
}

std::vector<PlannedSegment> FastPath::explain(const Tensors& given, const Request& request,
                                              bool measure) const {
  const Translated here = translated(request);
  const CompiledPlan& fast = plan_for(given, here.request);
  std::vector<PlannedSegment> planned;
  auto next = fast.parts.begin();
  for (std::size_t step = 0; step < fast.plan.nodes.size(); ++step) {
    while (next != fast.parts.end() && next->end <= step) ++next;
    const bool inside = next != fast.parts.end() && next->begin <= step;
    const std::string name(inside ? next->backend->name() : "reference");
    if (planned.empty() || planned.back().engine != name || (inside && next->begin == step))
      planned.push_back({.engine = name, .nodes = {}});
    planned.back().nodes.push_back(fast.plan.nodes[step]);
    const Backend* const backend = inside ? next->backend : nullptr;
    const Node& at = node(fast.plan.nodes[step]);
    if (planned.size() > 1 && planned.back().nodes.size() == 1 && planned[planned.size() - 2].engine != name)
      planned.back().nanoseconds += planner_.cost_of_change(at);
    planned.back().nanoseconds += planner_.cost(backend, at, records_of(given));
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
    const double records = given.begin()->second.size(0);
    for (std::size_t p = 0; p < planned.size(); ++p)
      planned[p].measured = i == 0 ? took[p] / records : std::min(planned[p].measured, took[p] / records);
  }
  return planned;
}

std::vector<NodeId> FastPath::nodes_in(const Graph& session, std::span<const NodeId> nodes) const {
  std::vector<NodeId> found;
  for (const NodeId n : nodes) {
    const std::string& name = node(n).name;
    if (const auto same = session.find_node(instead_.contains(name) ? extra_.at(name) : name))
      found.push_back(*same);
  }
  if (found.empty()) found.push_back(session.find_node(extra_.at(node(nodes[0]).name)).value());
  return found;
}

double FastPath::share_of(const Node& of_session) const {
  const auto same = std::ranges::find_if(
      instead_, [&](const auto& entry) { return extra_.at(entry.first) == of_session.name; });
  return same == instead_.end() ? 1 : same->second;
}

}  // namespace assay::inline engine
