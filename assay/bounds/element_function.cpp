#include "assay/bounds/element_function.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numbers>

#include <assay/extend/operator_traits.h>

namespace assay::bounds {
namespace {

double logistic(double x) { return 1 / (1 + std::exp(-x)); }

struct Interval {
  double low, high;
};

constexpr Interval everything{-std::numeric_limits<double>::infinity(),
                              std::numeric_limits<double>::infinity()};

Interval product(Interval a, Interval b) {
  const auto all = {a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high};
  if (std::ranges::any_of(all, [](double one) { return std::isnan(one); })) return everything;
  const auto [low, high] = std::minmax(all);
  return {low, high};
}
double magnitude(Interval a) { return std::max(std::abs(a.low), std::abs(a.high)); }

// Of what rises to 0 and falls from there.
template <class F>
Interval around_zero(F&& f, Interval at) {
  const double one = f(at.low), other = f(at.high);
  return {std::min(one, other), at.low <= 0 && at.high >= 0 ? f(0.0) : std::max(one, other)};
}

}  // namespace

std::optional<ElementFunction::Step> ElementFunction::step_of(const Graph& graph, const Node& node) {
  using Kind = Step::Kind;
  static const std::map<std::string, Kind, std::less<>> kinds{
      {"Add", Kind::add},          {"Sub", Kind::subtract},        {"Mul", Kind::multiply},
      {"Div", Kind::multiply},     {"Sigmoid", Kind::sigmoid},     {"Tanh", Kind::tanh},
      {"Erf", Kind::erf},          {"Softplus", Kind::softplus},   {"HardSigmoid", Kind::hard_sigmoid},
      {"Relu", Kind::rectifier},   {"LeakyRelu", Kind::rectifier}, {"Elu", Kind::elu},
      {"Clip", Kind::clip},        {"Pow", Kind::square},          {"Sqrt", Kind::root},
      {"Greater", Kind::more},     {"GreaterOrEqual", Kind::more}, {"Less", Kind::more},
      {"LessOrEqual", Kind::more}, {"Where", Kind::choice},        {"Reciprocal", Kind::reciprocal}};
  const auto known = kinds.find(node.op);
  if (known == kinds.end()) return std::nullopt;
  Step step{.kind = known->second};
  if (node.op == "HardSigmoid") step.p = node.real("alpha", 0.2F), step.q = node.real("beta", 0.5F);
  if (node.op == "LeakyRelu") step.p = node.real("alpha", 0.01F);
  if (node.op == "Elu") step.p = node.real("alpha", 1);
  if (node.op == "Clip") {
    const ValueRange range = range_of(graph, node);
    step.p = range.low, step.q = range.high;
  }
  if (node.op == "Pow" && exponent_of(graph, node) == 3) step.kind = Kind::cube;
  return step;
}

void ElementFunction::set_operands(Step& step, const Node& node, const std::vector<std::size_t>& from) {
  step.a = from[0];
  step.b = from.size() > 1 ? from[1] : 0;
  if (node.op == "Less" || node.op == "LessOrEqual") std::swap(step.a, step.b);
  if (node.op == "Where") step.c = from[0], step.a = from[1], step.b = from[2];
  if (step.kind == Step::Kind::multiply && step.a == step.b) step.kind = Step::Kind::square;
}

std::optional<ElementFunction> ElementFunction::of(const Graph& graph, ValueId root,
                                                   std::span<const Node* const> nodes) {
  ElementFunction function;
  std::map<ValueId, std::size_t> registers{{root, 0}};
  const auto keep = [&](Step step) {
    function.steps_.push_back(step);
    return function.steps_.size();
  };
  for (const Node* node : nodes) {
    std::optional<Step> step = step_of(graph, *node);
    if (!step) return std::nullopt;
    const bool one = node->op == "Clip" || node->op == "Pow";
    std::vector<std::size_t> from;
    for (const ValueId id : std::span(node->inputs).first(one ? 1 : node->inputs.size())) {
      const auto known = registers.find(id);
      if (known != registers.end()) {
        from.push_back(known->second);
        continue;
      }
      if (!graph.is_constant(id) || graph.constant(id).count() != 1) return std::nullopt;
      double number = graph.constant(id).to(DType::float64).reshape({1}).as<double>()[0];
      if (node->op == "Div") number = 1 / number;
      from.push_back(keep({.kind = Step::Kind::constant, .p = number}));
    }
    set_operands(*step, *node, from);
    registers[node->outputs[0]] = keep(*step);
  }
  return function;
}

// Where it is open what is chosen, the function may jump.
ElementFunction::Range ElementFunction::chosen(const Range& truth, const Range& one, const Range& other) {
  if (truth.low == 1) return one;
  if (truth.high == 0) return other;
  return {std::min(one.low, other.low), std::max(one.high, other.high), everything.low, everything.high,
          std::max(one.error, other.error)};
}

ElementFunction::Range ElementFunction::range_after(const Step& step,
                                                    const std::vector<Range>& registers) const {
  using Kind = Step::Kind;
  const Range &a = registers[step.a], &b = registers[step.b];
  const Interval x{a.low, a.high}, y{b.low, b.high}, dx{a.least_slope, a.most_slope},
      dy{b.least_slope, b.most_slope};
  // Of a function that rises or falls all over, with all that its derivative can be.
  const auto through = [&](double one, double other, Interval slope, double error) {
    const Interval d = product(slope, dx);
    return Range{std::min(one, other), std::max(one, other), d.low, d.high,
                 (magnitude(slope) + a.error) * a.error + error};
  };
  const auto of_both = [&](Interval value, Interval d, double error) {
    return Range{value.low, value.high, d.low, d.high,
                 error + 4 * unit_roundoff * (magnitude(value) + error)};
  };
  switch (step.kind) {
    case Kind::constant:
      return {step.p, step.p, 0, 0, 2 * unit_roundoff * std::abs(step.p)};
    case Kind::add:
      return of_both({x.low + y.low, x.high + y.high}, {dx.low + dy.low, dx.high + dy.high},
                     a.error + b.error);
    case Kind::subtract:
      return of_both({x.low - y.high, x.high - y.low}, {dx.low - dy.high, dx.high - dy.low},
                     a.error + b.error);
    case Kind::multiply: {
      const Interval left = product(dx, y), right = product(x, dy);
      return of_both(product(x, y), {left.low + right.low, left.high + right.high},
                     magnitude(x) * b.error + magnitude(y) * a.error + a.error * b.error);
    }
    case Kind::sigmoid: {
      const auto slope = [](double t) { return logistic(t) * logistic(-t); };
      return through(logistic(x.low), logistic(x.high), around_zero(slope, x), function_error);
    }
    case Kind::tanh: {
      const auto slope = [](double t) { return 1 - std::tanh(t) * std::tanh(t); };
      return through(std::tanh(x.low), std::tanh(x.high), around_zero(slope, x), function_error);
    }
    case Kind::erf: {
      const auto slope = [](double t) { return 2 * std::numbers::inv_sqrtpi * std::exp(-t * t); };
      return through(std::erf(x.low), std::erf(x.high), around_zero(slope, x), function_error);
    }
    case Kind::softplus: {
      const auto at = [](double t) { return std::max(t, 0.0) + std::log1p(std::exp(-std::abs(t))); };
      return through(at(x.low), at(x.high), {logistic(x.low), logistic(x.high)},
                     function_error + 8 * unit_roundoff * magnitude(x));
    }
    case Kind::hard_sigmoid: {
      const auto at = [&](double t) { return std::clamp(step.p * t + step.q, 0.0, 1.0); };
      const bool inside = at(x.low) > 0 && at(x.high) < 1, outside = at(x.low) == at(x.high);
      return through(at(x.low), at(x.high), {inside ? step.p : 0, outside ? 0 : step.p},
                     function_error * (1 + std::abs(step.q)) + step.p * a.error);
    }
    case Kind::rectifier: {
      const auto at = [&](double t) { return t > 0 ? t : step.p * t; };
      return through(at(x.low), at(x.high), {x.low >= 0 ? 1 : step.p, x.high <= 0 ? step.p : 1},
                     2 * unit_roundoff * magnitude(x) + std::max(1.0, std::abs(step.p)) * a.error);
    }
    case Kind::elu: {
      const auto at = [&](double t) { return t > 0 ? t : step.p * std::expm1(t); };
      const auto slope = [&](double t) { return t > 0 ? 1 : step.p * std::exp(t); };
      auto [least, most] = std::minmax({slope(x.low), slope(std::min(x.high, 0.0)), slope(x.high)});
      if (x.low > 0) least = most = 1;
      return through(at(x.low), at(x.high), {least, most}, function_error * (1 + step.p));
    }
    case Kind::clip: {
      const auto at = [&](double t) { return std::clamp(t, step.p, step.q); };
      const bool inside = x.low >= step.p && x.high <= step.q, outside = x.high <= step.p || x.low >= step.q;
      return through(at(x.low), at(x.high), {inside ? 1.0 : 0, outside ? 0.0 : 1}, a.error);
    }
    case Kind::square: {
      const double most = magnitude(x);
      const bool crosses = x.low < 0 && x.high > 0;
      Range found = through(x.low * x.low, x.high * x.high, {2 * x.low, 2 * x.high},
                            a.error * a.error + 8 * unit_roundoff * most * most);
      if (crosses) found.low = 0;
      return found;
    }
    case Kind::cube: {
      const double one = 3 * x.low * x.low, other = 3 * x.high * x.high, most = magnitude(x);
      const bool crosses = x.low < 0 && x.high > 0;
      return through(x.low * x.low * x.low, x.high * x.high * x.high,
                     {crosses ? 0 : std::min(one, other), std::max(one, other)},
                     3 * most * a.error * a.error + a.error * a.error * a.error +
                         16 * unit_roundoff * most * most * most);
    }
    case Kind::root: {
      const double low = std::sqrt(std::max(x.low, 0.0)), high = std::sqrt(std::max(x.high, 0.0));
      // |sqrt(x') - sqrt(x)| is |x' - x| / (sqrt(x') + sqrt(x)), and at most the root of |x' - x|.
      const double moved = a.error > 0 ? std::min(a.error / low, std::sqrt(a.error)) : 0;
      const Interval d = product({0.5 / high, 0.5 / low}, dx);
      return {low, high, d.low, d.high, moved + 4 * unit_roundoff * (high + moved)};
    }
    case Kind::reciprocal: {
      const double low = 1 / x.high, high = 1 / x.low;
      const double nearest = std::min(std::abs(x.low), std::abs(x.high)),
                   greatest = std::max(std::abs(low), std::abs(high));
      const double moved = a.error < nearest ? a.error / (nearest * (nearest - a.error))
                                             : std::numeric_limits<double>::infinity();
      return through(low, high, {-std::max(low * low, high * high), -std::min(low * low, high * high)},
                     moved + 8 * unit_roundoff * (greatest + moved));
    }
    case Kind::more: {
      const double error = a.error + b.error;
      return {x.low - y.high > error ? 1.0 : 0.0, x.high - y.low < -error ? 0.0 : 1.0, 0, 0, 0};
    }
    case Kind::choice:
      return chosen(registers[step.c], a, b);
  }
  return {};
}

ElementFunction::Range ElementFunction::over_all(double low, double high) const {
  std::vector<Range> registers{{low, high, 1, 1, 0}};
  registers.reserve(steps_.size() + 1);
  for (const Step& step : steps_) registers.push_back(range_after(step, registers));
  return registers.back();
}

std::pair<double, double> ElementFunction::beyond(double slope, double low, double high) const {
  const auto parts = static_cast<int>(std::clamp((high - low) * 4, 8.0, 64.0));
  double least = std::numeric_limits<double>::infinity(), most = -least;
  for (int part = 0; part < parts; ++part) {
    const double from = low + (high - low) * part / parts,
                 to = part + 1 == parts ? high : low + (high - low) * (part + 1) / parts;
    const double middle = 0.5 * (from + to), half = std::max(to - middle, middle - from) * (1 + 1e-12);
    const Range all = over_all(from, to), at = over_all(middle, middle);
    const double turn = half * std::max(std::abs(all.most_slope - slope), std::abs(all.least_slope - slope));
    // By the derivative, and by what the function is at all; both hold.
    const double line_low = std::min(slope * from, slope * to),
                 line_high = std::max(slope * from, slope * to);
    double below = all.low - line_high, above = all.high - line_low;
    if (std::isfinite(turn)) {
      below = std::max(below, at.low - slope * middle - turn);
      above = std::min(above, at.high - slope * middle + turn);
    }
    const double error =
        all.error * 1.01 +
        1e-12 * (std::abs(at.low) + std::abs(slope * middle) + std::abs(below) + std::abs(above)) + underflow;
    // Nothing is known where an end of the part has no derivative and its errors no bound.
    if (std::isnan(error) || std::isnan(below) || std::isnan(above))
      return {-std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity()};
    least = std::min(least, below - error);
    most = std::max(most, above + error);
  }
  return {least, most};
}

std::pair<double, double> ElementFunction::ends(double low, double high) const {
  return beyond(0, low, high);
}

// Along the chord.
Relaxation ElementFunction::over(double low, double high) const {
  const double width = high - low;
  double slope = 0;
  if (width > 0) slope = (over_all(high, high).low - over_all(low, low).low) / width;
  if (!std::isfinite(slope)) slope = 0;
  const auto [least, most] = beyond(slope, low, high);
  return {{slope, least}, {slope, most}};
}

}  // namespace assay::bounds
