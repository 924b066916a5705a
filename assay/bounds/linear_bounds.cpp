#include "assay/bounds/linear_bounds.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>

#include <assay/error.h>
#include "assay/bounds/backward_sums.h"

namespace assay::bounds {
namespace {

using Row = BackwardSums::Row;

double magnitude(const Box& box, std::size_t i) {
  return std::max(std::abs(box.low[i]), std::abs(box.high[i]));
}

void tighten(Box& box, std::size_t i, double low, double high) {
  box.low[i] = std::max(box.low[i], low);
  box.high[i] = std::min(box.high[i], high);
  if (box.low[i] > box.high[i]) std::swap(box.low[i], box.high[i]);  // by rounding, of a point
}

// Of a window: the element that is surely at least all lower ends, whether it is the greatest in any case,
// and the bounds of the greatest.
struct Greatest {
  std::int32_t element = 0;
  bool sure = true;
  double low = -std::numeric_limits<double>::infinity(), high = low;
};
Greatest greatest_of(const Rows& windows, std::size_t row, const Box& at) {
  Greatest found;
  for (std::size_t e = windows.begin[row]; e < windows.begin[row + 1]; ++e) {
    const std::size_t i = windows.column[e];
    if (at.low[i] > found.low) found.low = at.low[i], found.element = windows.column[e];
    found.high = std::max(found.high, at.high[i]);
  }
  for (std::size_t e = windows.begin[row]; e < windows.begin[row + 1]; ++e)
    found.sure =
        found.sure && (windows.column[e] == found.element || at.high[windows.column[e]] <= found.low);
  return found;
}

bool is_linear(Rule rule) { return rule == Rule::affine || rule == Rule::sum || rule == Rule::movement; }

// Of the factors of one element of a product.
struct Factor {
  std::size_t element;
  double low, high, middle, radius, magnitude;
};
Factor factor_of(const LinearNode::Operand& operand, std::size_t row, const Intervals& at) {
  const std::size_t i = operand.rows.column[operand.rows.begin[row]];
  const Box& box = at.at(operand.value);
  const double middle = 0.5 * (box.low[i] + box.high[i]);
  return {i,
          box.low[i],
          box.high[i],
          middle,
          std::max(box.high[i] - middle, middle - box.low[i]),
          magnitude(box, i)};
}

// The planes of McCormick (1976) through the middle: x y is m_y x + m_x y - m_x m_y, give or take r_x r_y.
void back_through_product(const std::vector<LinearNode::Operand>& factors, const Intervals& at, std::size_t k,
                          Row row, BackwardSums& sums) {
  const Factor x = factor_of(factors[0], k, at), y = factor_of(factors[1], k, at);
  BackwardSums::pass(sums.row(factors[0].value, x.element), y.middle, row);
  BackwardSums::pass(sums.row(factors[1].value, y.element), x.middle, row);
  constexpr double rounding = 0x1p-23;
  sums.add(
      -x.middle * y.middle,
      x.radius * y.radius + (rounding + 3 * BackwardSums::accuracy) * x.magnitude * y.magnitude + underflow,
      row);
}

std::pair<double, double> ends_of_product(const std::vector<LinearNode::Operand>& factors, std::size_t k,
                                          const Intervals& at) {
  const Factor x = factor_of(factors[0], k, at), y = factor_of(factors[1], k, at);
  const auto [low, high] = std::minmax({x.low * y.low, x.low * y.high, x.high * y.low, x.high * y.high});
  const double rounding = 0x1p-23 * std::max(std::abs(low), std::abs(high)) + underflow;
  return {low - rounding, high + rounding};
}

void back_through_function(const UnaryFunction& function, const Box& operand, std::size_t k, Row row, Row to,
                           BackwardSums& sums) {
  const auto [below, above] = function.over(operand.low[k], operand.high[k]);
  BackwardSums::pass(to, below.slope, above.slope, row);
  sums.add(below.intercept, above.intercept,
           BackwardSums::accuracy * magnitude(operand, k) + function.rounding(operand.low[k]), row);
}

void back_through_window(const Greatest& found, ValueId operand, const Box& at, Row row, BackwardSums& sums) {
  const std::size_t i = found.element;
  BackwardSums::pass(sums.row(operand, i), 1, found.sure ? 1 : 0, row);
  sums.add(0, found.sure ? 0 : found.high, BackwardSums::accuracy * magnitude(at, i), row);
}

}  // namespace

LinearBounds::LinearBounds(const StaticNetwork& network)
    : network_(network), functions_(element_functions(network)), direct_{network.input} {
  for (const Node& node : network.graph.nodes()) {
    for (std::size_t i = 0; i < node.outputs.size(); ++i)
      if (node.outputs[i] != no_value && (i == 0 || node.op == "Split")) add_step(node, i);
    if (std::ranges::find(node.outputs, network.output) != node.outputs.end()) break;
  }
}

void LinearBounds::add_function(ValueId operand, ValueId output, std::unique_ptr<UnaryFunction> function) {
  Step step;
  step.rule = Rule::curve;
  step.output = output;
  step.operand = operand;
  step.function = std::move(function);
  steps_.push_back(std::move(step));
}

// As rows of a sum of the two, which are broadcast alike.
void LinearBounds::add_product(const Node& node) {
  Node sum = node;
  sum.op = "Add";
  Step step;
  step.rule = Rule::product;
  step.output = node.outputs[0];
  LinearNode linear = linear_node(network_, sum, 0);
  count_entries(node, linear);
  step.factors = std::move(linear.operands);
  steps_.push_back(std::move(step));
}

void LinearBounds::add_step(const Node& node, std::size_t output) {
  const ValueId result = node.outputs[output];
  if (functions_.within.contains(result)) return;
  const auto function = functions_.at.find(result);
  if (function != functions_.at.end())
    return add_function(function->second.operand, result,
                        std::make_unique<ElementFunction>(std::move(function->second.function)));
  const Rule rule = rule_of(network_.graph, node);
  if (rule == Rule::truth) return;
  if (rule == Rule::product) return add_product(node);
  if (rule == Rule::curve) {
    const Node* const one = &node;
    return add_function(
        node.inputs[0], result,
        std::make_unique<ElementFunction>(*ElementFunction::of(network_.graph, node.inputs[0], {&one, 1})));
  }
  Step step;
  step.rule = rule;
  step.output = result;
  step.operand = node.inputs[0];
  if (rule == Rule::monotone) {
    step.function = std::make_unique<MonotoneFunction>(network_.graph, node);
  } else if (rule == Rule::greatest) {
    step.windows = windows_of(network_, node);
  } else if (rule != Rule::choice) {
    add_linear(step, node, output);
  }
  steps_.push_back(std::move(step));
}

void LinearBounds::count_entries(const Node& node, const LinearNode& linear) {
  constexpr std::size_t most = 200'000'000;  // of 12 bytes each
  for (const LinearNode::Operand& operand : linear.operands) entries_ += operand.rows.column.size();
  if (entries_ > most)
    fail(Fault::resources,
         "bounds by linear functions: the layers of '{}' up to {} have more than {} connections; use {}",
         network_.graph.name(), node.describe(), most, About{"intervals", "{method=interval}"});
}

void LinearBounds::add_linear(Step& step, const Node& node, std::size_t output) {
  if (step.rule != Rule::movement) step.rounding = rounding_of(terms_of(network_, node), node);
  if (node.op == "Conv")
    step.transforms =
        transform_rounding(network_.graph, node, network_.shape(step.operand), network_.shape(step.output));
  step.linear = linear_node(network_, node, output);
  count_entries(node, step.linear);
  if (step.linear.operands.size() == 1 && step.linear.operands[0].value == network_.input)
    direct_.insert(step.output);
}

std::vector<double> LinearBounds::lost_by_transforms(const Step& step, const Intervals& at) const {
  const Box& operand = at.at(step.operand);
  const std::size_t channels = network_.shape(step.operand)[1], units = network_.shape(step.output)[1];
  std::vector<double> greatest(channels), lost(units);
  for (std::size_t i = 0; i < operand.low.size(); ++i) {
    double& of_channel = greatest[i / (operand.low.size() / channels)];
    of_channel = std::max(of_channel, magnitude(operand, i));
  }
  for (std::size_t u = 0; u < units; ++u)
    for (std::size_t c = 0; c < channels; ++c)
      lost[u] += step.transforms->share * 1.01 *
                 static_cast<double>(step.transforms->gains[u * channels + c]) * greatest[c];
  return lost;
}

// The error of a linear element is that of the network in float32 and of the factors here, both shares of
// sum |w x|, and that of transforms, which add and subtract elements before they have a weight.
void LinearBounds::back(const Step& step, const Intervals& at, BackwardSums& sums) const {
  std::vector<double> lost;
  if (step.transforms) lost = lost_by_transforms(step, at);
  for (std::size_t k = 0; k < network_.size(step.output); ++k) {
    const Row row = sums.row(step.output, k);
    if (BackwardSums::is_nothing(row)) continue;
    if (step.function) {
      back_through_function(*step.function, at.at(step.operand), k, row, sums.row(step.operand, k), sums);
      continue;
    }
    if (step.rule == Rule::choice) {
      const Box& either = at.at(step.output);
      sums.add(either.low[k], either.high[k], 0, row);
      continue;
    }
    if (step.rule == Rule::greatest) {
      const Box& operand = at.at(step.operand);
      back_through_window(greatest_of(step.windows, k, operand), step.operand, operand, row, sums);
      continue;
    }
    if (step.rule == Rule::product) {
      back_through_product(step.factors, at, k, row, sums);
      continue;
    }
    const double added = step.linear.added.empty() ? 0 : step.linear.added[k];
    double size = std::abs(added);
    for (const auto& [value, rows] : step.linear.operands) {
      const Box& operand = at.at(value);
      for (std::size_t e = rows.begin[k]; e < rows.begin[k + 1]; ++e) {
        const std::size_t i = rows.column[e];
        BackwardSums::pass(sums.row(value, i), rows.factor[e], row);
        size += std::abs(rows.factor[e]) * magnitude(operand, i);
      }
    }
    const double transformed = lost.empty() ? 0 : lost[k / (network_.size(step.output) / lost.size())];
    sums.add(added, (step.rounding + BackwardSums::accuracy) * size + transformed + underflow, row);
  }
}

std::vector<double> LinearBounds::least(const Intervals& at, ValueId value,
                                        std::span<const Terms> wanted) const {
  BackwardSums sums(network_, wanted.size());
  for (std::size_t p = 0; p < wanted.size(); ++p)
    for (const auto& [element, factor] : wanted[p]) sums.row(value, element)[p] += factor;
  for (auto step = steps_.rbegin(); step != steps_.rend(); ++step) {
    if (!sums.has(step->output)) continue;
    back(*step, at, sums);
    sums.drop(step->output);
  }
  const Box& input = at.at(network_.input);
  if (sums.has(network_.input))
    for (std::size_t i = 0; i < input.low.size(); ++i)
      sums.add(input.low[i], input.high[i], 0, sums.row(network_.input, i));
  return sums.least();
}

void LinearBounds::refine(Intervals& at, ValueId value, const std::vector<std::size_t>& elements) const {
  constexpr std::size_t together = 32;
  for (std::size_t first = 0; first < elements.size(); first += together) {
    const std::size_t end = std::min(elements.size(), first + together);
    std::vector<Terms> sums;
    for (std::size_t e = first; e < end; ++e)
      for (const double sign : {1.0, -1.0}) sums.push_back({{elements[e], sign}});
    const std::vector<double> found = least(at, value, sums);
    for (std::size_t e = first; e < end; ++e)
      tighten(at.at(value), elements[e], found[2 * (e - first)], -found[2 * (e - first) + 1]);
  }
}

std::vector<std::size_t> LinearBounds::loose(const Step& step, const Intervals& at) const {
  const Box& operand = at.at(step.operand);
  std::set<std::size_t> elements;
  const auto add_unsure = [&](const Rows& windows, const Box& box) {
    for (std::size_t k = 0; k < windows.count(); ++k) {
      if (greatest_of(windows, k, box).sure) continue;
      for (std::size_t e = windows.begin[k]; e < windows.begin[k + 1]; ++e)
        elements.insert(windows.column[e]);
    }
  };
  if (!step.function) {
    add_unsure(step.windows, operand);
    return {elements.begin(), elements.end()};
  }
  for (std::size_t k = 0; k < operand.low.size(); ++k)
    if (!step.function->is_exact(operand.low[k], operand.high[k])) elements.insert(k);
  for (const Step& later : steps_)
    if (later.rule == Rule::greatest && later.operand == step.output)
      add_unsure(later.windows, at.at(step.output));
  return {elements.begin(), elements.end()};
}

void LinearBounds::tighten_output(const Step& step, Intervals& at) const {
  Box& output = at.at(step.output);
  if (step.rule == Rule::product) {
    for (std::size_t k = 0; k < output.low.size(); ++k) {
      const auto [low, high] = ends_of_product(step.factors, k, at);
      tighten(output, k, low, high);
    }
    return;
  }
  const Box& operand = at.at(step.operand);
  for (std::size_t k = 0; k < output.low.size(); ++k) {
    if (step.function) {
      const auto [low, high] = step.function->ends(operand.low[k], operand.high[k]);
      tighten(output, k, low, high);
    } else {
      const Greatest found = greatest_of(step.windows, k, operand);
      tighten(output, k, found.low, found.high);
    }
  }
}

void LinearBounds::refine_operands(const Step& step, Intervals& at, std::set<ValueId>& tight) const {
  if (step.rule != Rule::product) {
    if (tight.insert(step.operand).second) refine(at, step.operand, loose(step, at));
    return;
  }
  for (const LinearNode::Operand& factor : step.factors) {
    if (!tight.insert(factor.value).second) continue;
    std::vector<std::size_t> all(network_.size(factor.value));
    std::iota(all.begin(), all.end(), 0U);
    refine(at, factor.value, all);
  }
}

void LinearBounds::refine(Intervals& at) const {
  std::set<ValueId> tight = direct_;
  for (const Step& step : steps_) {
    if (is_linear(step.rule) || step.rule == Rule::choice) continue;
    refine_operands(step, at, tight);
    tighten_output(step, at);
    tight.insert(step.output);
  }
}

}  // namespace assay::bounds
