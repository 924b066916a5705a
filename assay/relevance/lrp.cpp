#include "assay/relevance/lrp.h"

#include <assay/array_math.h>
#include <fmt/format.h>

#include <algorithm>

#include <assay/dataset.h>
#include <assay/error.h>
#include <assay/extend/operator_traits.h>
#include "assay/model/backwards.h"
#include "assay/relevance/paths.h"
#include "assay/support/text/text.h"

namespace assay::relevance {

// Before anything runs
// ------------------------------------------------------------------------------------------------

Lrp::Lrp(const Composite& composite, const Session& session, AttributionOptions options, bool)
    : composite_(composite),
      session_(session),
      start_(session, options.outputs),
      options_(std::move(options)),
      dependence_(session.graph()),
      steps_(session.graph().nodes().size()) {
  const array::Recording unrecorded(false);
  find_units();
  deciding_unit_ = deciding_unit();
}

Lrp::Lrp(const Composite& composite, const Session& session, const AttributionOptions& options)
    : Lrp(composite, session, options, true) {
  if (!(options.epsilon >= 0)) fail(Fault::usage, "epsilon is {}; it must not be negative", options.epsilon);
  const array::Recording unrecorded(false);
  for (const auto& [name, rule] : options_.layer_rules) {
    const auto n = session_.graph().find_node(name);
    if (!n || !steps_[index_of(*n)].unit) {
      fail(Fault::usage, "a rule is given for '{}', which is not a linear layer of network '{}'", name,
           session_.graph().name());
    }
    parse_rule(rule);
  }
  route_ = std::make_unique<Route>(dependence_, start_.value(), options_.wanted,
                                   [this](NodeId n) { return prepare(n); });
}

std::vector<bool> Lrp::reachable(const Composite& composite, const Session& session) {
  const array::Recording unrecorded(false);
  Lrp lrp(composite, session, {}, true);
  const Graph& graph = session.graph();
  std::vector<bool> reached(graph.values().size(), false), blocked(reached);
  for (const ValueId id : {session.logits(), lrp.start_.value()}) reached[index_of(id)] = true;
  for (const NodeId n : backwards(graph.node_ids())) {
    const Node& node = graph.node(n);
    const auto any_of = [&](const std::vector<bool>& marks) {
      return std::ranges::any_of(node.outputs,
                                 [&](ValueId id) { return id != no_value && marks[index_of(id)]; });
    };
    bool cut = any_of(blocked);
    if (any_of(reached) && chooses_path(node)) {
      for (const std::size_t i : lrp.dependence_.carrying_inputs(node))
        reached[index_of(node.inputs[i])] = true;
    } else if (any_of(reached) && !lrp.dependence_.carrying_inputs(node).empty()) {
      try {
        for (const std::size_t i : lrp.prepare(n)) reached[index_of(node.inputs[i])] = true;
      } catch (const Error& error) {
        if (error.fault() != Fault::unsupported) throw;
        cut = true;  // it has no rule
      }
    }
    for (const ValueId id : node.inputs) {
      if (cut && id != no_value) blocked[index_of(id)] = true;
    }
  }
  for (std::size_t id = 0; id < reached.size(); ++id) reached[id] = reached[id] && !blocked[id];
  return reached;
}

void Lrp::find_units() {
  for (const NodeId n : session_.graph().node_ids()) {
    Step& step = steps_[index_of(n)];
    if (step.absorbed) continue;
    step.unit = find_linear_unit(dependence_, session_, start_.value(), n);
    if (!step.unit) continue;
    for (const NodeId inner : step.unit->absorbed) steps_[index_of(inner)].absorbed = true;
    if (!options_.bias_absorbs) step.left_out = std::exchange(step.unit->map.bias, Array());
  }
}

NodeId Lrp::deciding_unit() const {
  if (!start_.single()) return no_node;
  const Graph& graph = session_.graph();
  ValueId id = start_.value();
  for (NodeId n = graph.producer(id); n != no_node; n = graph.producer(id)) {
    const auto ends_here = [&](NodeId first) {
      const Step& step = steps_[index_of(first)];
      return step.unit && step.unit->end == id;
    };
    const IdRange<NodeId> nodes = graph.node_ids();
    if (const auto unit = std::ranges::find_if(nodes, ends_here); unit != nodes.end()) return *unit;
    const Node& node = graph.node(n);
    if (!has_trait(node.op, Trait::reshapes) && !is_pass_through(node.op)) return no_node;
    id = node.inputs[0];
  }
  return no_node;
}

std::vector<std::size_t> Lrp::prepare(NodeId n) {
  Step& step = steps_[index_of(n)];
  const Node& node = session_.graph().node(n);
  if (step.absorbed) return dependence_.carrying_inputs(node);
  if (step.unit) {
    choose_rule(n);
    return {step.unit->input};
  }
  step.passing = find_relevance_operator(node.op, composite_.through_attention);
  if (!step.passing) {
    fail(Fault::unsupported,
         "lrp: {} has no rule in composite '{}'; integrated-gradients and gradient-x-input work for every "
         "operator, and "
         "docs/howto/add-a-rule.md says how to add one",
         node.describe(), composite_.name);
  }
  for (const ValueId id : node.inputs) {
    if (dependence_.is_static(id)) constants_.emplace(id, static_value(session_, id));
  }
  return step.passing->receivers(dependence_, node);
}

// No linear layer with weights (a batch normalisation may be there) lies between the network's inputs and
// this node.
bool Lrp::is_first(NodeId n) const {
  const Graph& graph = session_.graph();
  std::vector<ValueId> pending{graph.node(n).inputs[steps_[index_of(n)].unit->input]};
  std::vector<bool> seen(graph.values().size(), false);
  while (!pending.empty()) {
    const ValueId id = pending.back();
    pending.pop_back();
    const NodeId producer = graph.producer(id);
    if (producer == no_node || seen[index_of(id)]) continue;
    seen[index_of(id)] = true;
    const Node& node = graph.node(producer);
    if (steps_[index_of(producer)].unit && node.op != "BatchNormalization") return false;
    for (const std::size_t i : dependence_.carrying_inputs(node)) pending.push_back(node.inputs[i]);
  }
  return true;
}

std::string Lrp::rule_for(NodeId n) const {
  const Node& node = session_.graph().node(n);
  for (const auto& [name, rule] : options_.layer_rules) {
    if (name == node.name) return rule;
  }
  if (node.op == "BatchNormalization") return "epsilon";
  if (!composite_.first.empty() && is_first(n)) return std::string(composite_.first);
  return std::string(steps_[index_of(n)].unit->convolution ? composite_.convolution : composite_.other);
}

void Lrp::choose_rule(NodeId n) {
  Step& step = steps_[index_of(n)];
  const Node& node = session_.graph().node(n);
  const RuleChoice choice = parse_rule(rule_for(n));
  RuleSettings settings{.numbers = choice.numbers, .epsilon = options_.epsilon, .low = {}, .high = {}};
  if (choice.info->name == "box" && is_first(n)) {
    std::tie(settings.low, settings.high) = bounds(node.inputs[step.unit->input]);
  }
  step.rule = choice.info->make(settings);
  if (choice.info->name == "epsilon")
    step.epsilon = choice.numbers.empty() ? options_.epsilon : choice.numbers[0];
  if (choice.info->name == "lrp-0") step.epsilon = 0;
}

// The least and greatest values of a first layer's input: what the network makes of records at the bounds.
std::pair<Array, Array> Lrp::bounds(ValueId input) const {
  const auto inputs = session_.graph().inputs();
  const ValueId record = inputs[0];
  Shape shape = session_.shape(record);
  if (inputs.size() != 1 || session_.graph().value(record).dtype != DType::float32) {
    fail(Fault::usage, "rule 'box' needs a network with one input of real numbers");
  }
  const auto filled = [&](double one, const std::vector<float>& per_channel) {
    Array tensor = array::full(shape, one, DType::float32);
    if (per_channel.size() == 1) tensor.fill_(per_channel[0]);
    if (per_channel.size() > 1) {
      if (shape.size() < 2 || shape[1] != std::ssize(per_channel)) {
        fail(Fault::usage, "the valid range has bounds for {} channels, the input is {}", per_channel.size(),
             to_string(shape));
      }
      for (std::size_t c = 0; c < per_channel.size(); ++c) tensor.select(1, c).fill_(per_channel[c]);
    }
    return tensor;
  };
  const ValidRange range = options_.range.value_or(ValidRange{});
  const auto at_layer = [&](const Array& records) {
    return input == record ? records : session_.run({{record, records}}, std::span(&input, 1)).at(input);
  };
  const Array a = at_layer(filled(options_.low, range.low)), b = at_layer(filled(options_.high, range.high));
  return {array::minimum(a, b), array::maximum(a, b)};
}

std::string Lrp::describe() const {
  std::string text =
      fmt::format("LRP, composite {} ({}), epsilon {:g}, biases {}", composite_.name, composite_.summary,
                  options_.epsilon, options_.bias_absorbs ? "absorb relevance" : "left out");
  if (!composite_.maxima_share) text += ", the first of equal maxima takes all";
  for (const auto& [name, rule] : options_.layer_rules) text += fmt::format(", {} at '{}'", rule, name);
  return text;
}

// A batch
// -------------------------------------------------------------------------------------------------------------

const CompiledRelevance* Lrp::compiled_for(std::span<const ValueId> wanted) const {
  if (wanted.size() != 1) return nullptr;
  const auto [entry, fresh] = compiled_.try_emplace(wanted[0]);
  if (fresh) entry->second = compile(wanted[0]);
  return entry->second.get();
}

// Of networks whose linear layers all have the epsilon rule.
std::unique_ptr<const CompiledRelevance> Lrp::compile(ValueId wanted) const {
  if (!options_.bias_absorbs || !route_->reaches(wanted)) return nullptr;
  std::vector<CompiledRelevance::Passing> passed;
  for (const NodeId n : route_->nodes_to(std::span(&wanted, 1))) {
    const Step& step = steps_[index_of(n)];
    if (step.unit && !step.epsilon) return nullptr;
    passed.push_back({.node = n,
                      .part_of_unit = step.unit || step.absorbed,
                      .end = step.unit ? step.unit->end : no_value,
                      .epsilon = step.epsilon.value_or(options_.epsilon)});
  }
  return CompiledRelevance::make(session_, start_, wanted, passed, composite_.maxima_share);
}

std::vector<ValueId> Lrp::reads(std::span<const ValueId> wanted) const {
  if (const CompiledRelevance* compiled = compiled_for(wanted))
    return {compiled->reads().begin(), compiled->reads().end()};
  std::vector<ValueId> ids{start_.value()};
  const auto add = [&](ValueId id) {
    if (id != no_value && !dependence_.is_static(id)) ids.push_back(id);
  };
  for (const NodeId n : route_->nodes_to(wanted)) {
    const Step& step = steps_[index_of(n)];
    const Node& node = session_.graph().node(n);
    if (step.unit) {
      add(node.inputs[step.unit->input]);
      add(step.unit->end);
    } else if (step.passing) {
      if (step.passing->reads_inputs) std::ranges::for_each(node.inputs, add);
      if (step.passing->reads_outputs) std::ranges::for_each(node.outputs, add);
    }
  }
  for (const ValueId id : wanted) {
    if (!route_->reaches(id)) add(id);  // for the shape of its zeros
  }
  std::ranges::sort(ids);
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  return ids;
}

Relevance Lrp::attribute(const Tensors& given, const Target& target, std::span<const ValueId> wanted) const {
  const array::Recording unrecorded(false);
  Tensors values = given;
  std::vector<ValueId> missing = reads(wanted);
  std::erase_if(missing, [&](ValueId id) { return given.contains(id); });
  if (!missing.empty()) values.merge(session_.run(given, missing));
  if (const CompiledRelevance* compiled = compiled_for(wanted)) return compiled->attribute(values, target);

  const Array& scores = values.at(start_.value());
  const Array weights = start_.weights(scores, target), start = start_.explained(scores, weights, target);
  Relevance result{.values = {}, .start = per_record(start)};
  Flow flow(session_.graph());
  flow.add(start_.value(), start);
  Way way{values, {}};
  if (const Array negative = weights.lt(0); negative.any().item<bool>()) way.negative = negative;
  const std::vector<NodeId> nodes = route_->nodes_to(wanted);
  for (std::size_t i = nodes.size(); i-- > 0;) {
    pass(nodes[i], way, flow);
    for (const ValueId id : session_.graph().node(nodes[i]).outputs) {
      if (id != no_value && std::ranges::find(wanted, id) == wanted.end()) flow.drop(id);
    }
  }
  for (const ValueId id : wanted) {
    const Array& arrived = flow.at(id);
    result.values[id] = arrived.defined() ? arrived : array::zeros_like(values.at(id), DType::float32);
  }
  return result;
}

void Lrp::pass(NodeId n, const Way& way, Flow& flow) const {
  const Step& step = steps_[index_of(n)];
  const Node& node = session_.graph().node(n);
  const std::vector<Array> relevance = flow.of_outputs(node);
  if (std::ranges::none_of(relevance, [](const Array& r) { return r.defined(); })) return;
  const auto& receivers = route_->receivers(n);
  if (step.absorbed) return flow.add(node.inputs[receivers[0]], relevance[0]);
  if (step.unit) return flow.add(node.inputs[receivers[0]], through_unit(n, way, relevance[0]));
  const std::vector<Array> results = through_operator(n, way.values, relevance);
  for (std::size_t i = 0; i < receivers.size(); ++i) flow.add(node.inputs[receivers[i]], results[i]);
}

// Class 0 of a single number has the weights of class 1 with the other sign, which only the epsilon rule does
// not tell apart.
Array Lrp::through_unit(NodeId n, const Way& way, const Array& arriving) const {
  const Step& step = steps_[index_of(n)];
  const Node& node = session_.graph().node(n);
  const Array& input = way.values.at(node.inputs[step.unit->input]);
  Array output = way.values.at(step.unit->end);
  if (step.left_out.defined()) output = output - step.left_out;
  const bool mirrored = n == deciding_unit_ && way.negative.defined() && !step.epsilon;
  if (!mirrored) return step.rule->redistribute(step.unit->map, input, output, arriving);
  const Array negative = way.negative.reshape(arriving.shape()), none = array::zeros({}, arriving.dtype());
  const LinearMap opposite = step.unit->map.with([](const Array& numbers) { return numbers.neg(); });
  return step.rule->redistribute(step.unit->map, input, output, array::where(negative, none, arriving)) +
         step.rule->redistribute(opposite, input, output.neg(), array::where(negative, arriving, none));
}

std::vector<Array> Lrp::through_operator(NodeId n, const Tensors& values,
                                         std::span<const Array> relevance) const {
  const OperatorInfo& passing = *steps_[index_of(n)].passing;
  const Node& node = session_.graph().node(n);
  std::vector<Array> inputs, outputs(node.outputs.size());
  for (const ValueId id : node.inputs) inputs.push_back(look_up(id, values));
  if (passing.reads_outputs) {
    for (std::size_t o = 0; o < outputs.size(); ++o) outputs[o] = look_up(node.outputs[o], values);
  }
  return passing.propagate({.node = node,
                            .inputs = inputs,
                            .outputs = outputs,
                            .relevance = relevance,
                            .receivers = route_->receivers(n),
                            .epsilon = options_.epsilon,
                            .bias_absorbs = options_.bias_absorbs,
                            .maxima_share = composite_.maxima_share});
}

Array Lrp::look_up(ValueId id, const Tensors& values) const {
  if (id == no_value) return {};
  if (const auto found = values.find(id); found != values.end()) return found->second;
  const auto found = constants_.find(id);
  return found != constants_.end() ? found->second : Array();
}

}  // namespace assay::relevance
