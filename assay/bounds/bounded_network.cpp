#include <assay/bounds.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>

#include <assay/array_math.h>
#include <assay/error.h>
#include "assay/bounds/interval_graph.h"
#include "assay/bounds/linear_bounds.h"
#include "assay/support/numbers/vectorised.h"
#include "assay/support/thread_pool.h"

namespace assay::bounds {
namespace {

// What is of the network's input alone is left out.
SessionOptions for_intervals(const SessionOptions& options) {
  return {.threads = options.threads, .memory_limit = options.memory_limit, .engine = options.engine};
}

// Middles and radii in float32 that hold intervals; radii are at least the next number, and 0 of points. What
// is added is a normal number: with denormal ones processors take long.
// Returns whether all are intervals of finite numbers.
ASSAY_VECTORISED bool hold(const double* __restrict low, const double* __restrict high, std::size_t count,
                           float* __restrict middles, float* __restrict radii) {
  constexpr auto least = static_cast<float>(underflow);
  constexpr double most = std::numeric_limits<double>::max();
  int bad = 0;
  for (std::size_t i = 0; i < count; ++i) {
    bad |= static_cast<int>(!(low[i] <= high[i])) | static_cast<int>(!(low[i] >= -most)) |
           static_cast<int>(!(high[i] <= most));
    const auto middle = static_cast<float>(0.5 * low[i] + 0.5 * high[i]);
    const double above = high[i] - static_cast<double>(middle), below = static_cast<double>(middle) - low[i],
                 width = above > below ? above : below;
    const auto radius = static_cast<float>(width);
    middles[i] = middle;
    radii[i] = width > 0 ? radius + (radius * 0x1p-22F + least) : 0;
  }
  return bad == 0;
}

double sum_of(const Box& box, const Terms& terms) {
  double sum = 0;
  for (const auto& [output, factor] : terms)
    sum += factor > 0 ? factor * box.low[output] : factor * box.high[output];
  return sum;
}

// Lower bounds come from sums in double precision, whose rounding is less than this share.
double cautious(double least, double limit, const Box& box, const Terms& terms) {
  double size = std::abs(limit);
  for (const auto& [output, factor] : terms)
    size += std::abs(factor) * std::max(std::abs(box.low[output]), std::abs(box.high[output]));
  return least - limit - 1e-12 * size;
}

}  // namespace

struct BoundedNetwork::State {
  State(const Session& session, ValueId output)
      : network(static_network(session, output)),
        intervals(interval_graph(network)),
        engine(intervals.graph, for_intervals(session.options())),
        batch(std::max<std::size_t>(1, session.preferred_batch() / 2)),
        threads(session.options().threads) {}

  StaticNetwork network;
  IntervalGraph intervals;
  Session engine;
  std::size_t batch;
  int threads;
  std::once_flag once;
  std::optional<LinearBounds> linear;  // made when it is first needed

  const LinearBounds& lines() {
    std::call_once(once, [&] { linear.emplace(network); });
    return *linear;
  }

  void hold_box(const Box& box, float* middles, float* radii) const {
    const std::size_t size = network.size(network.input);
    if (box.low.size() != size || box.high.size() != size)
      fail(Fault::usage, "a box of {} intervals does not fit '{}', which takes {} numbers a record",
           box.low.size(), network.graph.name(), size);
    if (hold(box.low.data(), box.high.data(), size, middles, radii)) return;
    for (std::size_t i = 0; i < size; ++i)
      if (!(box.low[i] <= box.high[i]) || !std::isfinite(box.low[i]) || !std::isfinite(box.high[i]))
        fail(Fault::usage, "a box has no numbers between {} and {} for input {}", box.low[i], box.high[i], i);
  }

  // The intervals of these values, box by box.
  std::vector<Intervals> of(std::span<const Case> cases, const std::vector<ValueId>& values) const {
    Shape shape = network.shape(network.input);
    shape[0] = std::ssize(cases);
    Array middles = array::empty(shape), radii = array::empty(shape);
    const std::size_t size = network.size(network.input);
    for (std::size_t c = 0; c < cases.size(); ++c)
      hold_box(cases[c].box, middles.elements<float>() + c * size, radii.elements<float>() + c * size);
    Tensors given;
    given.emplace(engine.graph().inputs()[0], middles);
    given.emplace(engine.graph().inputs()[1], radii);
    std::vector<ValueId> wanted;
    for (const ValueId id : values)
      for (const ValueId part : {intervals.bounds.at(id).middle, intervals.bounds.at(id).radius})
        if (!given.contains(part)) wanted.push_back(part);
    Tensors found = engine.run(given, wanted);
    found.merge(given);
    std::vector<Intervals> all(cases.size());
    for (const ValueId id : values) split(found, id, all);
    return all;
  }

  void split(const Tensors& found, ValueId id, std::vector<Intervals>& all) const {
    const Array middle = found.at(intervals.bounds.at(id).middle).contiguous(),
                radius = found.at(intervals.bounds.at(id).radius).contiguous();
    const std::size_t size = network.size(id);
    for (std::size_t b = 0; b < all.size(); ++b) {
      Box& box = all[b][id];
      box.low.reserve(size);
      box.high.reserve(size);
      for (std::size_t i = b * size; i < (b + 1) * size; ++i) {
        const double m = middle.as<float>()[i], r = radius.as<float>()[i];
        box.low.push_back(m - r);
        box.high.push_back(m + r);
      }
    }
  }

  std::vector<double> by_intervals(const Intervals& at, const Case& one) const {
    const Box& box = at.at(network.output);
    std::vector<double> least;
    for (const Constraint& constraint : one.constraints)
      least.push_back(cautious(sum_of(box, constraint.terms), constraint.limit, box, constraint.terms));
    return least;
  }

  // What intervals exclude, or cannot hold, needs no tighter bounds.
  void by_lines(const LinearBounds& with, const Case& one, Intervals& at, std::vector<double>& known) const {
    const auto settled = [](double least) { return !(least <= 0); };
    if (std::ranges::all_of(known, settled)) return;
    std::vector<Terms> sums;
    for (const Constraint& constraint : one.constraints) sums.push_back(constraint.terms);
    with.refine(at);
    const std::vector<double> least = with.least(at, sums), refined = by_intervals(at, one);
    for (std::size_t i = 0; i < sums.size(); ++i)
      known[i] = std::max({known[i], refined[i],
                           cautious(least[i], one.constraints[i].limit, at.at(network.output), sums[i])});
  }

  // Whether an interval of what something is divided by holds 0, or one of which a root is taken a negative
  // number.
  bool is_unbounded(const Intervals& at) const {
    const auto any = [&](const std::vector<ValueId>& values, const auto& bad) {
      return std::ranges::any_of(values, [&](ValueId id) {
        const Box& box = at.at(id);
        for (std::size_t i = 0; i < box.low.size(); ++i)
          if (bad(box.low[i], box.high[i])) return true;
        return false;
      });
    };
    return any(intervals.divisors, [](double low, double high) { return !(low > 0 || high < 0); }) ||
           any(intervals.roots, [](double low, double) { return !(low >= 0); });
  }

  std::vector<ValueId> output_divisors_and_roots() const {
    std::vector<ValueId> values = intervals.divisors;
    for (const ValueId id : intervals.roots)
      if (std::ranges::find(values, id) == values.end()) values.push_back(id);
    if (std::ranges::find(values, network.output) == values.end()) values.push_back(network.output);
    return values;
  }
  std::vector<ValueId> all_values() const {
    std::vector<ValueId> values;
    for (const auto& [id, interval] : intervals.bounds) values.push_back(id);
    return values;
  }
};

BoundedNetwork::BoundedNetwork(const Session& session, ValueId output)
    : state_(std::make_unique<State>(session, output)) {}
BoundedNetwork::~BoundedNetwork() = default;
BoundedNetwork::BoundedNetwork(BoundedNetwork&&) noexcept = default;

std::size_t BoundedNetwork::inputs() const { return state_->network.size(state_->network.input); }
std::size_t BoundedNetwork::outputs() const { return state_->network.size(state_->network.output); }

std::vector<Box> BoundedNetwork::outputs_over(std::span<const Box> boxes, Method method) const {
  std::vector<Constraint> both;
  for (std::size_t o = 0; o < outputs(); ++o)
    for (const double sign : {1.0, -1.0}) both.push_back({.terms = {{o, sign}}});
  std::vector<Case> cases;
  for (const Box& box : boxes) cases.push_back({box, both});
  std::vector<Box> found;
  for (const std::vector<double>& ends : least_excess(cases, method)) {
    Box& box = found.emplace_back();
    for (std::size_t o = 0; o < outputs(); ++o) {
      box.low.push_back(ends[2 * o]);
      box.high.push_back(-ends[2 * o + 1]);
    }
  }
  return found;
}

std::vector<std::vector<double>> BoundedNetwork::least_excess(std::span<const Case> cases,
                                                              Method method) const {
  State& state = *state_;
  const std::vector<ValueId> values =
      method == Method::crown ? state.all_values() : state.output_divisors_and_roots();
  std::vector<std::vector<double>> result(cases.size());
  for (std::size_t first = 0; first < cases.size(); first += state.batch) {
    const std::size_t count = std::min(state.batch, cases.size() - first);
    const std::span<const Case> some = cases.subspan(first, count);
    std::vector<Intervals> found = state.of(some, values);
    std::vector<bool> unbounded;
    for (std::size_t c = 0; c < count; ++c) {
      unbounded.push_back(state.is_unbounded(found[c]));
      result[first + c] = unbounded[c] ? std::vector<double>(some[c].constraints.size(),
                                                             -std::numeric_limits<double>::infinity())
                                       : state.by_intervals(found[c], some[c]);
    }
    if (method == Method::interval) continue;
    const LinearBounds& lines = state.lines();
    split_loop(count, 1, [&](std::size_t begin, std::size_t end) {
      for (std::size_t c = begin; c < end; ++c)
        if (!unbounded[c]) state.by_lines(lines, some[c], found[c], result[first + c]);
    });
  }
  return result;
}

}  // namespace assay::bounds
