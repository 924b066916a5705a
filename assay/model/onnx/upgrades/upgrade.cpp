#include "assay/model/onnx/upgrades/upgrade.h"

#include <assay/error.h>
#include "assay/model/onnx/fold.h"
#include "assay/model/onnx/upgrades/upgrade_rules.h"

namespace assay::onnx_format {

std::span<const UpgradeRule> upgrade_rules() {
  static const std::vector<UpgradeRule> all = [] {
    std::vector<UpgradeRule> rules;
    for (const auto& family :
         {rules_of_early_sets(), rules_of_forms(), rules_of_inference(), rules_of_types()})
      rules.insert(rules.end(), family.begin(), family.end());
    return rules;
  }();
  return all;
}

// Attribute -> constant input, if the node carries it and the input is not there.
void ints_to_input(Upgrade& u, const char* attribute, std::size_t input) {
  if (!u.node.has(attribute)) return;
  const std::vector<std::int64_t> values = u.node.integers(attribute, {});
  u.node.attributes.erase(attribute);
  if (!u.has_input(input)) u.set_input(input, u.integers(attribute, values));
}

void real_to_input(Upgrade& u, const char* attribute, std::size_t input) {
  if (!u.node.has(attribute)) return;
  const float value = u.node.real(attribute, 0);
  u.node.attributes.erase(attribute);
  if (!u.has_input(input)) u.set_input(input, u.real(attribute, value));
}

std::vector<std::int64_t> required_ints(const Upgrade& u, const char* attribute) {
  if (!u.node.has(attribute))
    fail(Fault::model, "{}: attribute '{}' is missing", u.node.describe(), attribute);
  return u.node.integers(attribute, {});
}

void Upgrade::require_inputs(std::initializer_list<std::size_t> inputs) const {
  for (const std::size_t i : inputs) {
    if (!has_input(i)) fail(Fault::model, "{}: input {} is missing", node.describe(), i);
  }
}

void Upgrade::set_input(std::size_t i, ValueId id) {
  if (node.inputs.size() <= i) node.inputs.resize(i + 1, no_value);
  node.inputs[i] = id;
}

ValueId Upgrade::constant(std::string_view role, Array array) {
  return graph.new_constant(fmt::format("{}/{}", node.name, role), std::move(array));
}

ValueId Upgrade::integers(std::string_view role, const std::vector<std::int64_t>& values) {
  return constant(role, Array::of<std::int64_t>({std::ssize(values)}, values));
}

ValueId Upgrade::integer(std::string_view role, std::int64_t value) {
  return constant(role, Array::of<std::int64_t>({}, std::vector{value}));
}

ValueId Upgrade::real(std::string_view role, float value) {
  return constant(role, Array::of<float>({}, std::vector{value}));
}

ValueId Upgrade::before(std::string_view role, std::string op, std::vector<ValueId> inputs,
                        std::map<std::string, Attribute> attributes) {
  // Optional inputs at the end are left out, as they are where the written file is read again.
  while (!inputs.empty() && inputs.back() == no_value) inputs.pop_back();
  const std::string name = graph.unique_node_name(fmt::format("{}/{}", node.name, role));
  const ValueId out = graph.new_value(name);
  graph.add({.name = name,
             .op = std::move(op),
             .inputs = std::move(inputs),
             .outputs = {out},
             .attributes = std::move(attributes)});
  return out;
}

ValueId Upgrade::length(std::string_view role, ValueId x, std::int64_t axis) {
  const ValueId size = before(role, "Shape", {x}, {{"start", axis}, {"end", axis + 1}});
  return before(fmt::format("{}_number", role), "Squeeze", {size, integers("front", {0})});
}

ValueId Upgrade::places(std::string_view role, ValueId x, std::int64_t axis) {
  const ValueId count = length(fmt::format("{}_count", role), x, axis);
  return before(role, "Range", {integer("zero", 0), count, integer("one", 1)});
}

void Upgrade::after(std::string_view role, std::string op, ValueId second_input) {
  const ValueId inner = graph.new_value(fmt::format("{}/inner", node.name));
  nodes_after.push_back({.name = graph.unique_node_name(fmt::format("{}/{}", node.name, role)),
                         .op = std::move(op),
                         .inputs = {inner},
                         .outputs = {node.outputs[0]},
                         .attributes = {}});
  if (second_input != no_value) nodes_after.back().inputs.push_back(second_input);
  node.outputs[0] = inner;
}

void Upgrade::forward(std::size_t output, ValueId value) {
  if (output >= node.outputs.size() || node.outputs[output] == no_value) return;
  graph.add({.name = graph.unique_node_name(fmt::format("{}/output_{}", node.name, output)),
             .op = "Identity",
             .inputs = {value},
             .outputs = {node.outputs[output]},
             .attributes = {}});
}

void add_upgraded(OnnxGraph& graph, Node node, int opset) {
  if (node.outputs.empty()) fail(Fault::model, "{}: the node has no output", node.describe());
  Upgrade upgrade{graph, node, {}};
  if (opset < 7) {
    for (const char* hint : {"consumed_inputs", "is_test"}) node.attributes.erase(hint);
  }
  for (const UpgradeRule& rule : upgrade_rules()) {
    if (opset < rule.since && node.op == rule.op) rule.apply(upgrade);
  }
  upgrade_classical(upgrade);
  upgrade_fused(upgrade);
  upgrade_quantised(upgrade);
  upgrade_attention(upgrade);
  upgrade_states(upgrade);
  while (!node.inputs.empty() && node.inputs.back() == no_value) node.inputs.pop_back();
  graph.add(std::move(node));
  // The one that was added last reads the node's own output.
  auto& added = upgrade.nodes_after;
  for (auto last = added.rbegin(); last != added.rend(); ++last) graph.add(std::move(*last));
}

}  // namespace assay::onnx_format
