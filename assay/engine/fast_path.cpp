#include "assay/engine/fast_path.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include <assay/operator_traits.h>
#include "assay/engine/static_graph.h"

namespace assay {
namespace {

// Plans to be kept: compiled segments hold weights of their own, so large networks keep few.
std::size_t plans_to_keep(const Constants& constants) {
  constexpr double room = 256e6, least = 8, most = 64;
  double bytes = 1;
  for (const Tensor& constant : constants.values()) {
    if (constant.defined()) bytes += static_cast<double>(constant.nbytes());
  }
  return static_cast<std::size_t>(std::clamp(room / bytes, least, most));
}

// Operators that are worth the change of layout at the borders of a segment.
bool is_heavy(const Node& node) { return is_convolution(node.op) || is_dense(node.op); }

bool contains(std::span<const ValueId> ids, ValueId id) { return std::ranges::find(ids, id) != ids.end(); }

}  // namespace

FastPath::FastPath(const Graph& graph, const Constants& constants, std::vector<ValueInfo> infos, int threads)
    : graph_(make_static(graph, constants, infos)),
      constants_(graph_, c10::Device(c10::kCPU), std::uint64_t{1} << 62),
      infos_(std::move(infos)),
      threads_(threads),
      most_plans_(plans_to_keep(constants_)) {
  infos_.resize(graph_.values().size());
  for (const ValueInfo& info : infos_) {
    const bool plain = info.batch_axis == 0 && info.batch_multiple == 1 && info.single;
    shapes_.push_back(plain ? info.shape : Shape());
  }
}

bool FastPath::as_expected(ValueId id, const Tensor& tensor) const {
  const ValueInfo& info = infos_[static_cast<std::size_t>(id)];
  if (!info.computed || tensor.dim() != static_cast<std::int64_t>(info.shape.size()) || tensor.numel() == 0)
    return false;
  for (std::int64_t i = 0; i < tensor.dim(); ++i) {
    if (i != info.batch_axis && tensor.size(i) != info.shape[static_cast<std::size_t>(i)]) return false;
  }
  if (info.single != (tensor.scalar_type() == at::kFloat)) return false;
  // oneDNN's maxima may drop a NaN that has to be reported, so batches that hold one go to the reference
  // kernels.
  return !info.single || std::isfinite(tensor.sum().item<float>());
}

bool FastPath::can_run(const Tensors& given, const Request& request) const {
  const auto computed = [&](ValueId id) { return graph_.producer(id) >= 0; };
  for (const auto& [id, tensor] : given) {
    if (!computed(id) && !contains(graph_.inputs(), id)) return false;
    if (!as_expected(id, tensor)) return false;
  }
  const auto available = [&](ValueId id) { return computed(id) || given.contains(id) || constants_.has(id); };
  return std::ranges::all_of(request.wanted, available) && std::ranges::all_of(request.visited, available) &&
         std::ranges::all_of(request.tapped, available, &onednn::Tap::value);
}

bool FastPath::supported(int node) const {
  return onednn::supports(
      graph_, graph_.nodes()[static_cast<std::size_t>(node)],
      [this](ValueId id) -> const Shape& { return shapes_[static_cast<std::size_t>(id)]; });
}

FastPath::Stretch FastPath::make_stretch(const Plan& plan, std::size_t begin, std::size_t end,
                                         const Request& request) const {
  const std::span nodes(plan.nodes.data() + begin, end - begin);
  const std::span later(plan.nodes.data() + end, plan.nodes.size() - end);
  std::vector<ValueId> keep;
  std::vector<onednn::Tap> taps;
  std::unordered_set<ValueId> asked(request.wanted.begin(), request.wanted.end());
  asked.insert(request.visited.begin(), request.visited.end());
  std::unordered_multimap<ValueId, onednn::Tap> tapped;
  for (const onednn::Tap& tap : request.tapped) tapped.emplace(tap.value, tap);
  for (const int n : nodes) {
    for (const ValueId id : graph_.nodes()[static_cast<std::size_t>(n)].outputs) {
      if (id == no_value) continue;
      const bool read_later = std::ranges::any_of(
          graph_.consumers(id), [&](int reader) { return std::ranges::binary_search(later, reader); });
      if (read_later || asked.contains(id)) keep.push_back(id);
      const auto [first, last] = tapped.equal_range(id);
      for (auto at = first; at != last; ++at) taps.push_back(at->second);
    }
  }
  const auto shape_of = [this](ValueId id) -> const Shape& { return shapes_[static_cast<std::size_t>(id)]; };
  return {begin, end, taps, onednn::Segment(graph_, nodes, shape_of, keep, taps, threads_)};
}

FastPath::FastPlan FastPath::make_plan_for(const Tensors& given, const Request& request) const {
  std::vector<bool> available(graph_.values().size());
  for (std::size_t i = 0; i < available.size(); ++i) available[i] = constants_.values()[i].defined();
  for (const auto& [id, tensor] : given) available[static_cast<std::size_t>(id)] = true;
  std::vector<ValueId> visited(request.visited.begin(), request.visited.end());
  for (const onednn::Tap& tap : request.tapped) visited.push_back(tap.value);
  FastPlan fast{make_plan(graph_, available, request.wanted, visited), {}};
  for (std::size_t begin = 0; begin < fast.plan.nodes.size();) {
    std::size_t end = begin;
    bool heavy = false;
    for (; end < fast.plan.nodes.size() && supported(fast.plan.nodes[end]); ++end) {
      heavy |= is_heavy(graph_.nodes()[static_cast<std::size_t>(fast.plan.nodes[end])]);
    }
    if (heavy) fast.stretches.push_back(make_stretch(fast.plan, begin, end, request));
    begin = std::max(end, begin + 1);
  }
  return fast;
}

const FastPath::FastPlan& FastPath::plan_for(const Tensors& given, const Request& request) const {
  Key key(4);
  for (const auto& [id, tensor] : given) key[0].push_back(id);
  key[1].assign(request.wanted.begin(), request.wanted.end());
  key[2].assign(request.visited.begin(), request.visited.end());
  for (const onednn::Tap& tap : request.tapped) {
    key[3].push_back(tap.value);
    key[3].push_back(static_cast<ValueId>(tap.reduction));
  }
  const auto known = plans_.find(key);
  if (known != plans_.end()) return *known->second;
  auto made = std::make_unique<const FastPlan>(make_plan_for(given, request));
  if (plans_.size() >= most_plans_) plans_.clear();
  return *plans_.emplace(std::move(key), std::move(made)).first->second;
}

void FastPath::run_stretch(const Stretch& stretch, std::vector<Tensor>& values,
                           const Request& request) const {
  Tensors inputs, outputs;
  for (const ValueId id : stretch.segment.inputs()) inputs.emplace(id, values[static_cast<std::size_t>(id)]);
  const std::int64_t rows = inputs.begin()->second.size(0);
  std::vector<Tensor> matrices;
  std::vector<float*> tapped;
  for (const onednn::Tap& tap : stretch.taps) {
    matrices.push_back(at::empty({rows, shapes_[static_cast<std::size_t>(tap.value)][1]}, at::kFloat));
    tapped.push_back(matrices.back().data_ptr<float>());
  }
  stretch.segment.run(inputs, outputs, tapped);
  for (std::size_t i = 0; i < matrices.size(); ++i) request.on_matrix(stretch.taps[i], matrices[i]);
  const std::unordered_set<ValueId> visited(request.visited.begin(), request.visited.end());
  for (auto& [id, tensor] : outputs) {
    if (visited.contains(id)) request.on_value(id, tensor);
    values[static_cast<std::size_t>(id)] = std::move(tensor);
  }
}

Tensors FastPath::run(const Tensors& given, const Request& request) const {
  const FastPlan& fast = plan_for(given, request);
  std::vector<Tensor> values(graph_.values().size());
  for (const auto& [id, tensor] : given) values[static_cast<std::size_t>(id)] = tensor;
  KernelContext context;
  const Executor executor{graph_, constants_.values(), context, c10::Device(c10::kCPU), request.on_value};
  auto next = fast.stretches.begin();
  for (std::size_t step = 0; step < fast.plan.nodes.size(); ++step) {
    if (next != fast.stretches.end() && next->begin == step) {
      run_stretch(*next, values, request);
      for (; step + 1 < next->end; ++step) release(fast.plan.release[step], values);
      ++next;
    } else {
      executor.run(fast.plan.nodes[step], values);
    }
    release(fast.plan.release[step], values);
  }
  Tensors results;
  for (const ValueId id : request.wanted) {
    const auto index = static_cast<std::size_t>(id);
    results.emplace(id, values[index].defined() ? values[index] : constants_.values()[index]);
  }
  return results;
}

}  // namespace assay
