#include "assay/bounds/interval_graph.h"

#include <assay/array_math.h>

#include <cmath>
#include <string_view>

#include <assay/extend/operator_traits.h>
#include <assay/model.h>
#include "assay/bounds/element_functions.h"
#include "assay/engine/direct_sums.h"
#include "assay/engine/parameters.h"

namespace assay::bounds {
namespace {

// The comparison that holds exactly where this one of two numbers does not.
const char* opposite_of(std::string_view comparison) {
  if (comparison == "Greater") return "LessOrEqual";
  if (comparison == "GreaterOrEqual") return "Less";
  return comparison == "Less" ? "GreaterOrEqual" : "Greater";
}

class Builder {
 public:
  explicit Builder(const StaticNetwork& network)
      : network_(network), graph_(network.graph), functions_(element_functions(network)) {}

  IntervalGraph build() {
    const auto input = [&](const char* name) {
      Shape shape = network_.shape(network_.input);
      shape[0] = -1;
      return edit_.input(name, DType::float32, shape);
    };
    IntervalValue at{input("middle"), input("radius")};
    bounds_[network_.input] = at;
    for (const Node& node : graph_.nodes()) {
      const auto function = functions_.at.find(node.outputs.empty() ? no_value : node.outputs[0]);
      const auto valley = function == functions_.at.end() ? std::nullopt : function->second.function.valley();
      if (valley)
        bounds_[node.outputs[0]] = through_valley(function->second, *valley);
      else
        add(node);
      if (bounds_.contains(network_.output)) break;
    }
    // Every bound is an output, so that none is left out as unused.
    for (const auto& [id, bound] : bounds_) {
      if (id == network_.input) continue;
      edit_.output(bound.middle);
      edit_.output(bound.radius);
    }
    return {.graph = edit_.build(), .bounds = bounds_, .divisors = divisors_, .roots = roots_};
  }

 private:
  void add(const Node& node) {
    switch (rule_of(graph_, node)) {
      case Rule::affine:
        bounds_[node.outputs[0]] = affine(node);
        break;
      case Rule::sum:
        bounds_[node.outputs[0]] = sum(node);
        break;
      case Rule::movement:
        move(node);
        break;
      case Rule::monotone:
      case Rule::greatest:
        bounds_[node.outputs[0]] = ends(node);
        break;
      case Rule::curve:
        bounds_[node.outputs[0]] = curve(node);
        break;
      case Rule::product:
        bounds_[node.outputs[0]] = product(node);
        break;
      case Rule::truth:
        break;
      case Rule::choice:
        bounds_[node.outputs[0]] = choice(node);
        break;
    }
  }

  ValueId number(double value) {
    const auto rounded = static_cast<float>(value);
    const auto [at, fresh] = numbers_.try_emplace(rounded, no_value);
    if (fresh) at->second = edit_.constant("", Array::of<float>({}, std::vector<float>{rounded}));
    return at->second;
  }
  ValueId constant(const Array& array) { return edit_.constant("", array); }
  ValueId constant_of(ValueId id) {
    const auto [at, fresh] = constants_.try_emplace(id, no_value);
    if (fresh) at->second = constant(graph_.constant(id));
    return at->second;
  }
  ValueId apply(const char* op, std::vector<ValueId> inputs) { return edit_.add(op, "", std::move(inputs)); }
  // The same node on other operands.
  ValueId apply(const Node& node, std::vector<ValueId> inputs) {
    return edit_.add(node.op, "", std::move(inputs), node.attributes);
  }
  // The operand among middles or among radii. A constant is itself in both.
  ValueId part(ValueId id, ValueId IntervalValue::*which) {
    if (id == no_value) return no_value;
    return graph_.is_constant(id) ? constant_of(id) : bounds_.at(id).*which;
  }
  std::vector<ValueId> parts(const Node& node, ValueId IntervalValue::*which) {
    std::vector<ValueId> all;
    for (const ValueId id : node.inputs) all.push_back(part(id, which));
    return all;
  }
  // radius + share * (|middle| + radius).
  ValueId widened(IntervalValue at, double share) {
    return apply("Add", {apply("Mul", {at.radius, number(1 + 1.001 * share)}),
                         apply("Mul", {apply("Abs", {at.middle}), number(1.001 * share)})});
  }

  // With y = W x + b, |x - m| <= r and errors of at most g (|W| |x| + |b|) in y and in W m + b each, y is
  // within |W| r + 2 g (|W| (|m| + r) + |b|) of what is computed of m. The sum on the right is computed with
  // an error of the same kind: products take 1 + g of it, for others 4 g instead of 2 g is enough.
  IntervalValue affine(const Node& node) {
    const double rounding = rounding_of(terms_of(network_, node), node);
    const std::size_t data = graph_.is_constant(node.inputs[0]) ? 1 : 0;
    const ValueId middle = apply(node, parts(node, &IntervalValue::middle));
    if (node.op == "Conv") return {middle, radius_of_convolution(node, rounding)};
    if (node.op == "Gemm") return {middle, radius_of_gemm(node, data, rounding)};
    if (node.op == "MatMul") return {middle, radius_of_product(node, data, rounding)};
    return {middle, radius(node, widened(bounds_.at(node.inputs[data]), 4 * rounding), 4 * rounding)};
  }

  // A value, and the factor that the constants it is multiplied with take.
  struct Scaled {
    ValueId value = no_value;
    double factor = 1;
  };
  // (1 + g) ((1 + g) r + g (|m| + ...)) of the above, for |x| <= |m| + r. Of ends that are not negative it is
  // linear: r is half their difference, and |m| + r the upper one. Sixteen units are for the ends' rounding,
  // that of their middle and of this sum.
  Scaled widened_for_product(ValueId id, double g) {
    const auto known = ends_.find(id);
    if (known == ends_.end() || !known->second.positive) {
      const IntervalValue at = bounds_.at(id);
      return {apply("Add", {apply("Mul", {at.radius, number((1 + g) * (1 + g))}),
                            apply("Mul", {apply("Abs", {at.middle}), number(2 * g * (1 + g))})})};
    }
    const Ends& ends = known->second;
    const double of_high = (1 + g) * (0.5 + 1.5 * g) + 16 * unit_roundoff, of_low = (1 + g) * (0.5 - 0.5 * g);
    return {apply("Sub", {ends.high, apply("Mul", {ends.low, number(of_low / of_high)})}), of_high};
  }

  static Array magnitudes(const Array& array) { return array.to(DType::float32).abs(); }
  ValueId magnitude(ValueId id) { return constant(graph_.constant(id).abs()); }
  // The part of the radius that rounding adds for added constants: a share of their magnitudes.
  ValueId slack(const Array& added, double share) {
    return constant((added.to(DType::float32).abs() * share + underflow).to(DType::float32));
  }

  ValueId radius(const Node& node, ValueId at, double share) {
    if (node.op == "BatchNormalization") return radius_of_normalisation(node, at, share);
    std::vector<ValueId> inputs;
    for (const ValueId id : node.inputs)
      inputs.push_back(id == no_value                                  ? no_value
                       : !graph_.is_constant(id)                       ? at
                       : graph_.constant(id).dtype() == DType::float32 ? magnitude(id)
                                                                       : constant_of(id));
    const ValueId sum = node.op == "Neg" ? at : apply(node, std::move(inputs));
    return apply("Add", {sum, number(underflow)});
  }

  ValueId weights_of(ValueId id, double factor) { return constant(magnitudes(graph_.constant(id)) * factor); }
  // What underflow can take from an operand, after it is multiplied with all weights.
  double lost(ValueId weights) const {
    return underflow * (1 + static_cast<double>(magnitudes(graph_.constant(weights)).sum().as<float>()[0]));
  }
  ValueId added(const Array& bias, double rounding, ValueId weights) {
    return constant((magnitudes(bias) * (2 * rounding * (1 + rounding)) + lost(weights)).to(DType::float32));
  }

  ValueId radius_of_convolution(const Node& node, double rounding) {
    const ValueId data = node.inputs[0], weights = node.inputs[1];
    const bool biased = node.inputs.size() > 2 && node.inputs[2] != no_value;
    const Array bias =
        biased ? graph_.constant(node.inputs[2]) : array::zeros({graph_.constant(weights).size(0)});
    const Scaled at = widened_for_product(data, rounding);
    const ValueId sum =
        apply(node, {at.value, weights_of(weights, at.factor), added(bias, rounding, weights)});
    const auto transforms =
        transform_rounding(graph_, node, network_.shape(data), network_.shape(node.outputs[0]));
    return transforms ? apply("Add", {sum, rounding_of_transforms(*transforms, data, at)}) : sum;
  }

  // Three convolutions may be computed by transforms: the network's, of at most |m| + r, that of middles, and
  // that of radii.
  ValueId rounding_of_transforms(const TransformRounding& transforms, ValueId data, const Scaled& radius) {
    const auto known = ends_.find(data);
    const IntervalValue at = bounds_.at(data);
    const ValueId size = known != ends_.end() && known->second.positive
                             ? known->second.high
                             : apply("Add", {apply("Abs", {at.middle}), at.radius});
    const ValueId all = apply("Add", {apply("Mul", {greatest(size), number(2)}),
                                      apply("Mul", {greatest(radius.value), number(radius.factor)})});
    const std::int64_t channels = network_.shape(data)[1];
    const Array gains = Array::of<float>({std::ssize(transforms.gains) / channels, channels, 1, 1},
                                         std::vector<float>(transforms.gains));
    // The sum over channels is also rounded.
    const Array shares = (gains * (transforms.share * 1.01)).to(DType::float32);
    return edit_.add("Conv", "", {all, constant(shares)}, {{direct_sums, std::int64_t{1}}});
  }
  // Of each channel of a picture.
  ValueId greatest(ValueId id) {
    return edit_.add("ReduceMax", "",
                     {id, constant(Array::of<std::int64_t>({2}, std::vector<std::int64_t>{2, 3}))},
                     {{"keepdims", std::int64_t{1}}});
  }

  ValueId radius_of_gemm(const Node& node, std::size_t data, double rounding) {
    Node positive = node;
    const float alpha = node.real("alpha", 1), beta = node.real("beta", 1);
    positive.attributes["alpha"] = std::abs(alpha);
    positive.attributes["beta"] = 1.0F;
    const bool biased = node.inputs.size() > 2 && node.inputs[2] != no_value;
    const Array bias = biased ? graph_.constant(node.inputs[2]) * beta : array::zeros({1});
    const std::size_t weights = 1 - data;
    const Scaled at = widened_for_product(node.inputs[data], rounding);
    std::vector<ValueId> inputs{at.value, at.value, added(bias, rounding, node.inputs[weights])};
    inputs[weights] = weights_of(node.inputs[weights], at.factor);
    return apply(positive, std::move(inputs));
  }

  ValueId radius_of_product(const Node& node, std::size_t data, double rounding) {
    const ValueId weights = node.inputs[1 - data];
    const Scaled at = widened_for_product(node.inputs[data], rounding);
    std::vector<ValueId> inputs{at.value, at.value};
    inputs[1 - data] = weights_of(weights, at.factor);
    return apply("Add", {apply(node, std::move(inputs)), number(lost(weights))});
  }

  // Also covers a convolution into whose weights the scale is folded.
  ValueId radius_of_normalisation(const Node& node, ValueId at, double share) {
    const auto of = [&](std::size_t i) { return graph_.constant(node.inputs[i]).to(DType::float64); };
    const Array scale = (of(1) / array::sqrt(of(4) + static_cast<double>(node.real("epsilon", 1e-5F)))).abs();
    const Array shift = scale * of(3).abs() + of(2).abs();
    Shape channels(network_.shape(node.inputs[0]).size() - 1, 1);
    channels[0] = scale.count();
    const Array factor = (scale * (1 + 4 * unit_roundoff)).to(DType::float32).reshape(channels);
    return apply("Add", {apply("Mul", {at, constant(factor)}),
                         slack(shift.to(DType::float32).reshape(channels), share)});
  }

  // One rounding of the network's sum, one of the middles, two of the radii.
  IntervalValue sum(const Node& node) {
    const ValueId middle = apply(node, parts(node, &IntervalValue::middle));
    ValueId radius = no_value;
    for (const ValueId id : node.inputs) {
      if (graph_.is_constant(id)) continue;
      const ValueId one = bounds_.at(id).radius;
      radius = radius == no_value ? one : apply("Add", {radius, one});
    }
    // The middle has the shape of the sum, also where a constant is broadcast.
    const ValueId wide = apply("Add", {apply("Mul", {radius, number(1 + 8 * unit_roundoff)}),
                                       apply("Mul", {apply("Abs", {middle}), number(8 * unit_roundoff)})});
    return {middle, apply("Add", {wide, number(underflow)})};
  }

  void move(const Node& node) {
    std::vector<ValueId> middles = parts(node, &IntervalValue::middle), radii;
    for (const ValueId id : node.inputs) {
      const bool added = id != no_value && graph_.is_constant(id) && is_real(graph_.constant(id).dtype());
      radii.push_back(added ? constant(array::zeros_like(graph_.constant(id)))
                            : part(id, &IntervalValue::radius));
    }
    const std::vector<ValueId> of_middles = copies(node, std::move(middles)),
                               of_radii = copies(node, std::move(radii));
    for (std::size_t i = 0; i < node.outputs.size(); ++i)
      if (node.outputs[i] != no_value) bounds_[node.outputs[i]] = {of_middles[i], of_radii[i]};
  }

  std::vector<ValueId> copies(const Node& node, std::vector<ValueId> inputs) {
    Node copy{
        .name = "", .op = node.op, .inputs = std::move(inputs), .outputs = {}, .attributes = node.attributes};
    for (const ValueId id : node.outputs) copy.outputs.push_back(id == no_value ? no_value : edit_.value(""));
    std::vector<ValueId> outputs = copy.outputs;
    edit_.node(std::move(copy));
    return outputs;
  }

  // Both ends of an interval, as functions that never fall give them.
  struct Ends {
    ValueId low = no_value, high = no_value;
    bool positive = false;  // or zero
    // The ends before rectification, if nothing else was applied: then a window can take its maximum first.
    ValueId unrectified_low = no_value, unrectified_high = no_value;
  };

  // Rectifiers and maxima take elements as they are: their ends need no further rounding.
  static bool is_exact(const Node& node) {
    return node.op == "Relu" || node.op == "Clip" || rule_of_maxima(node);
  }
  static bool rule_of_maxima(const Node& node) { return node.op == "MaxPool" || node.op == "GlobalMaxPool"; }

  IntervalValue ends(const Node& node) {
    const Ends from = ends_of(node.inputs[0]);
    const bool rectified = rule_of_maxima(node) && from.unrectified_low != no_value;
    const auto end = [&](ValueId whole, ValueId unrectified) {
      std::vector<ValueId> inputs = parts(node, &IntervalValue::middle);
      inputs[0] = rectified ? unrectified : whole;
      const ValueId found = apply(node, std::move(inputs));
      return rectified ? apply("Relu", {found}) : found;
    };
    Ends found{.low = end(from.low, from.unrectified_low),
               .high = end(from.high, from.unrectified_high),
               .positive = node.op == "Clip"
                               ? range_of(graph_, node).low >= 0 && range_of(graph_, node).high >= 0
                               : node.op == "Relu" || from.positive};
    if (node.op == "Relu") found.unrectified_low = from.low, found.unrectified_high = from.high;
    if (is_exact(node)) ends_[node.outputs[0]] = found;
    return between(found, node.op == "Sigmoid" || node.op == "Tanh" ? function_error : underflow);
  }

  // Ends are products and functions of ends that are rounded once, relative to their size.
  IntervalValue curve(const Node& node) {
    const ValueId operand = node.inputs[0];
    const Ends at = ends_of(operand);
    if (is_square(graph_, node)) return square(at);
    if (node.op == "Reciprocal") {
      divisors_.push_back(operand);
      return between({.low = apply(node, {at.high}), .high = apply(node, {at.low})}, underflow);
    }
    if (node.op == "Sqrt" && !at.positive) roots_.push_back(operand);
    const auto end = [&](ValueId from) {
      std::vector<ValueId> inputs = parts(node, &IntervalValue::middle);
      inputs[0] = node.op == "Sqrt" ? apply("Relu", {from}) : from;
      return apply(node, std::move(inputs));
    };
    const bool relative = node.op == "Sqrt" || node.op == "Pow";
    const double size = node.op == "HardSigmoid" ? std::abs(node.real("beta", 0.5F))
                        : node.op == "Elu"       ? node.real("alpha", 1)
                                                 : 0;
    return between({.low = end(at.low), .high = end(at.high)},
                   relative ? underflow : function_error * (1 + size));
  }

  IntervalValue square(const Ends& at) {
    const auto squared = [&](ValueId id) { return apply("Mul", {id, id}); };
    const ValueId above = apply("Relu", {at.low}), below = apply("Relu", {apply("Neg", {at.high})});
    return between({.low = apply("Add", {squared(above), squared(below)}),
                    .high = apply("Max", {squared(at.low), squared(at.high)}),
                    .positive = true},
                   underflow);
  }

  IntervalValue product(const Node& node) {
    const Ends one = ends_of(node.inputs[0]), other = ends_of(node.inputs[1]);
    std::vector<ValueId> all;
    for (const ValueId a : {one.low, one.high})
      for (const ValueId b : {other.low, other.high}) all.push_back(apply("Mul", {a, b}));
    const ValueId high = apply("Max", all);
    return between({.low = apply("Min", std::move(all)), .high = high}, underflow);
  }

  // The least is at the bottom, or at the end that is next to it. That the bottom is rounded lowers it by
  // less than the error there.
  IntervalValue through_valley(const FoundFunction& found, const ElementFunction::Valley& valley) {
    const Ends at = ends_of(found.operand);
    const ValueId least = apply("Max", {at.low, apply("Min", {at.high, number(valley.bottom)})});
    const ValueId high = apply("Max", {value_at(found, at.low), value_at(found, at.high)});
    const IntervalValue between_ends = between({.low = value_at(found, least), .high = high}, underflow);
    // Of the network, of the function at both ends, and of these.
    const ValueId size = apply("Max", {apply("Abs", {at.low}), apply("Abs", {at.high})});
    const ValueId error = apply("Mul", {size, number(2.1 * valley.error)});
    return {between_ends.middle, apply("Add", {between_ends.radius, error})};
  }
  // What the nodes make of another operand.
  ValueId value_at(const FoundFunction& found, ValueId operand) {
    std::map<ValueId, ValueId> made{{found.operand, operand}};
    for (const Node* node : found.nodes) {
      std::vector<ValueId> inputs;
      for (const ValueId id : node->inputs) {
        const auto known = made.find(id);
        inputs.push_back(known != made.end() ? known->second : id == no_value ? no_value : constant_of(id));
      }
      made[node->outputs[0]] = apply(*node, std::move(inputs));
    }
    return made.at(found.nodes.back()->outputs[0]);
  }

  // Of both values where the comparison is open.
  IntervalValue choice(const Node& node) {
    const Node& truth = graph_.node(graph_.producer(node.inputs[0]));
    const Ends a = outside(truth.inputs[0]), b = outside(truth.inputs[1]),
               one = ends_or_constant(node.inputs[1]), other = ends_or_constant(node.inputs[2]);
    const ValueId this_way = apply(truth, {a.low, b.high}), that_way = apply(truth, {a.high, b.low});
    // Of ends that are not numbers all comparisons are false: then nothing is sure.
    Node opposite = truth;
    opposite.op = opposite_of(truth.op);
    const ValueId always = apply("And", {this_way, that_way}),
                  never = apply("And", {apply(opposite, {a.low, b.high}), apply(opposite, {a.high, b.low})});
    const auto chosen = [&](const char* both, ValueId of_one, ValueId of_other) {
      const ValueId either = apply(both, {of_one, of_other});
      return apply("Where", {always, of_one, apply("Where", {never, of_other, either})});
    };
    return between({.low = chosen("Min", one.low, other.low), .high = chosen("Max", one.high, other.high)},
                   underflow);
  }
  Ends ends_or_constant(ValueId id) {
    if (!graph_.is_constant(id)) return ends_of(id);
    return {.low = constant_of(id), .high = constant_of(id)};
  }
  // Ends that rounding leaves outside of the interval.
  Ends outside(ValueId id) {
    if (graph_.is_constant(id)) return ends_or_constant(id);
    const Ends at = ends_of(id);
    const ValueId size = apply("Max", {apply("Abs", {at.low}), apply("Abs", {at.high})});
    const ValueId rounding = apply("Mul", {size, number(8 * unit_roundoff)});
    return {.low = apply("Sub", {at.low, rounding}), .high = apply("Add", {at.high, rounding})};
  }

  Ends ends_of(ValueId id) {
    const auto known = ends_.find(id);
    if (known != ends_.end()) return known->second;
    const IntervalValue at = bounds_.at(id);
    return {.low = apply("Sub", {at.middle, at.radius}), .high = apply("Add", {at.middle, at.radius})};
  }

  // Half the width, and what rounding the ends, their middle and the width can take away.
  IntervalValue between(const Ends& at, double error) {
    const ValueId sum = apply("Add", {at.low, at.high}), middle = apply("Mul", {sum, number(0.5)});
    const ValueId size = at.positive ? sum : apply("Add", {apply("Abs", {at.low}), apply("Abs", {at.high})});
    const ValueId rounding = apply("Add", {apply("Mul", {size, number(32 * unit_roundoff)}), number(error)});
    return {middle, apply("Add", {apply("Sub", {at.high, middle}), rounding})};
  }

  const StaticNetwork& network_;
  const Graph& graph_;
  ElementFunctions functions_;
  GraphBuilder edit_{"intervals"};
  std::map<ValueId, IntervalValue> bounds_;
  std::map<ValueId, Ends> ends_;  // of what is exact
  std::vector<ValueId> divisors_, roots_;
  std::map<ValueId, ValueId> constants_;
  std::map<float, ValueId> numbers_;
};

}  // namespace

IntervalGraph interval_graph(const StaticNetwork& network) { return Builder(network).build(); }

}  // namespace assay::bounds
