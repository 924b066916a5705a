#include <assay/bounds.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>

#include <assay/error.h>
#include "assay/bounds/interval_graph.h"
#include "assay/bounds/linear_bounds.h"
#include "assay/support/thread_pool.h"

namespace assay::bounds {
namespace {

// What is of the network's input alone stays behind.
SessionOptions for_intervals(const SessionOptions& options) {
  return {.threads = options.threads, .memory_limit = options.memory_limit, .engine = options.engine};
}

// Middle and radius in float32 that hold an interval.
std::pair<float, float> around(double low, double high) {
  const auto middle = static_cast<float>(0.5 * low + 0.5 * high);
  const auto radius = static_cast<float>(std::max(high - middle, middle - low));
  const bool point = low == high && static_cast<double>(middle) == low;
  // At least the next number.
  return {middle, point ? 0 : radius + (radius * 0x1p-22F + std::numeric_limits<float>::denorm_min())};
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

  void require(const Box& box) const {
    const std::size_t size = network.size(network.input);
    if (box.low.size() != size || box.high.size() != size)
      fail(Fault::usage, "a box of {} intervals does not fit '{}', which takes {} numbers a record",
           box.low.size(), network.graph.name(), size);
    for (std::size_t i = 0; i < size; ++i)
      if (!(box.low[i] <= box.high[i]) || !std::isfinite(box.low[i]) || !std::isfinite(box.high[i]))
        fail(Fault::usage, "a box has no numbers between {} and {} for input {}", box.low[i], box.high[i], i);
  }

  // The intervals of these values, box by box.
  std::vector<Intervals> of(std::span<const Box> boxes, const std::vector<ValueId>& values) const {
    Shape shape = network.shape(network.input);
    shape[0] = std::ssize(boxes);
    std::vector<float> middles, radii;
    middles.reserve(boxes.size() * network.size(network.input));
    radii.reserve(middles.capacity());
    for (const Box& box : boxes) {
      require(box);
      for (std::size_t i = 0; i < box.low.size(); ++i) {
        const auto [middle, radius] = around(box.low[i], box.high[i]);
        middles.push_back(middle);
        radii.push_back(radius);
      }
    }
    Tensors given;
    given.emplace(engine.graph().inputs()[0], Array::of<float>(shape, middles));
    given.emplace(engine.graph().inputs()[1], Array::of<float>(shape, radii));
    std::vector<ValueId> wanted;
    for (const ValueId id : values)
      for (const ValueId part : {intervals.bounds.at(id).middle, intervals.bounds.at(id).radius})
        if (!given.contains(part)) wanted.push_back(part);
    Tensors found = engine.run(given, wanted);
    found.merge(given);
    std::vector<Intervals> all(boxes.size());
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
        const double m = static_cast<double>(middle.as<float>()[i]),
                     r = static_cast<double>(radius.as<float>()[i]);
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
    const std::vector<double> least = with.least(at, sums);
    for (std::size_t i = 0; i < sums.size(); ++i)
      known[i] =
          std::max(known[i], cautious(least[i], one.constraints[i].limit, at.at(network.output), sums[i]));
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
      method == Method::crown ? state.all_values() : std::vector<ValueId>{state.network.output};
  std::vector<std::vector<double>> result(cases.size());
  for (std::size_t first = 0; first < cases.size(); first += state.batch) {
    const std::size_t count = std::min(state.batch, cases.size() - first);
    const std::span<const Case> some = cases.subspan(first, count);
    std::vector<Box> boxes;
    for (const Case& one : some) boxes.push_back(one.box);
    std::vector<Intervals> found = state.of(boxes, values);
    for (std::size_t c = 0; c < count; ++c) result[first + c] = state.by_intervals(found[c], some[c]);
    if (method == Method::interval) continue;
    const LinearBounds& lines = state.lines();
    split_loop(count, 1, [&](std::size_t begin, std::size_t end) {
      for (std::size_t c = begin; c < end; ++c) state.by_lines(lines, some[c], found[c], result[first + c]);
    });
  }
  return result;
}

}  // namespace assay::bounds
