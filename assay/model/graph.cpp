#include <assay/graph.h>

#include <algorithm>

#include <assay/error.h>
#include <assay/model.h>
#include "assay/array/types.h"

namespace assay::inline model {
namespace {

template <typename T>
T attribute_of(const Node& node, std::string_view name, T fallback) {
  const auto it = node.attributes.find(std::string(name));
  if (it == node.attributes.end()) return fallback;
  if (const T* value = std::get_if<T>(&it->second)) return *value;
  fail(Fault::model, "{}: attribute '{}' has the wrong type", node.describe(), name);
}

// `order` holds the ids of `things` sorted by name.
template <typename Named, typename Id>
std::optional<Id> find_by_name(const std::vector<Named>& things, const std::vector<Id>& order,
                               std::string_view name) {
  const auto name_of = [&](Id id) -> std::string_view { return things[index_of(id)].name; };
  const auto found = std::ranges::lower_bound(order, name, {}, name_of);
  if (found == order.end() || name_of(*found) != name) return std::nullopt;
  return *found;
}

}  // namespace

std::int64_t Node::integer(std::string_view attribute, std::int64_t fallback) const {
  return attribute_of(*this, attribute, fallback);
}
float Node::real(std::string_view attribute, float fallback) const {
  return attribute_of(*this, attribute, fallback);
}
std::string Node::text(std::string_view attribute, std::string fallback) const {
  return attribute_of(*this, attribute, std::move(fallback));
}
std::vector<std::int64_t> Node::integers(std::string_view attribute,
                                         std::vector<std::int64_t> fallback) const {
  return attribute_of(*this, attribute, std::move(fallback));
}
std::vector<float> Node::reals(std::string_view attribute, std::vector<float> fallback) const {
  return attribute_of(*this, attribute, std::move(fallback));
}
std::vector<std::string> Node::texts(std::string_view attribute, std::vector<std::string> fallback) const {
  return attribute_of(*this, attribute, std::move(fallback));
}
std::string Node::describe() const { return fmt::format("node '{}' ({})", name, op); }

std::optional<ValueId> Graph::find_value(std::string_view name) const {
  return find_by_name(values_, values_by_name_, name);
}

std::optional<NodeId> Graph::find_node(std::string_view name) const {
  return find_by_name(nodes_, nodes_by_name_, name);
}

namespace {

// Factors of zeros and ones remove elements; they are not trained.
bool is_mask(const Array& factors) {
  const std::span<const float> values = factors.as<float>();
  return std::ranges::all_of(values, [](float value) { return value == 0 || value == 1; }) &&
         std::ranges::find(values, 0.0F) != values.end();
}

}  // namespace

std::int64_t Graph::parameter_count() const {
  std::int64_t count = 0;
  for (std::size_t i = 0; i < values_.size(); ++i) {
    const auto& constant = values_[i].constant;
    if (!constant || constant->dtype() != DType::float32 || constant->shape().empty() ||
        consumers_[i].empty())
      continue;
    const bool multiplies =
        std::ranges::all_of(consumers_[i], [&](NodeId reader) { return node(reader).op == "Mul"; });
    if (!multiplies || !is_mask(*constant)) count += constant->count();
  }
  return count;
}

GraphBuilder::GraphBuilder(std::string name) : name_(std::move(name)) {}

GraphBuilder::GraphBuilder(const Graph& graph)
    : name_(graph.name_),
      nodes_(graph.nodes_),
      removed_(graph.nodes_.size(), false),
      values_(graph.values_),
      inputs_(graph.inputs_),
      outputs_(graph.outputs_),
      notices_(graph.notices_) {
  for (const Value& value : values_) value_names_.insert(value.name);
  for (const Node& node : nodes_) node_names_.insert(node.name);
}

std::string GraphBuilder::fresh(const std::set<std::string, std::less<>>& names, std::string name,
                                std::string_view kind) {
  if (!name.empty()) {
    if (names.contains(name)) fail(Fault::model, "graph '{}': two {}s are named '{}'", name_, kind, name);
    return name;
  }
  for (next_fresh_ = std::max(next_fresh_, names.size());; ++next_fresh_) {
    std::string candidate = fmt::format("{}_{}", kind, next_fresh_);
    if (!names.contains(candidate)) return candidate;
  }
}

namespace {

// Engines compute with seven types; others are stored in the one that holds their numbers.
DType held_type(DType type) { return type == DType::uint64 ? DType::int64 : array::computing_type(type); }

DType checked_type(DType type, const std::string& value) {
  if (held_type(type) != type)
    fail(Fault::unsupported, "value '{}': networks hold elements of {} as {}; convert them", value,
         to_string(type), to_string(held_type(type)));
  return type;
}

}  // namespace

ValueId GraphBuilder::value(std::string name) {
  name = fresh(value_names_, std::move(name), "value");
  const auto id = static_cast<ValueId>(values_.size());
  value_names_.insert(name);
  values_.push_back({.name = std::move(name), .constant = std::nullopt, .shape = {}});
  return id;
}

ValueId GraphBuilder::input(std::string name, DType dtype, Shape shape) {
  const ValueId id = value(std::move(name));
  values_.back().dtype = checked_type(dtype, values_.back().name);
  values_.back().shape = std::move(shape);
  inputs_.push_back(id);
  return id;
}

ValueId GraphBuilder::constant(std::string name, Array array) {
  const ValueId id = value(std::move(name));
  values_.back().dtype = checked_type(array.dtype(), values_.back().name);
  values_.back().constant = array.detach().contiguous();
  return id;
}

NodeId GraphBuilder::node(Node node) {
  node.name = fresh(node_names_, std::move(node.name), "node");
  const auto id = static_cast<NodeId>(nodes_.size());
  node_names_.insert(node.name);
  nodes_.push_back(std::move(node));
  removed_.push_back(false);
  return id;
}

ValueId GraphBuilder::add(std::string op, std::string name, std::vector<ValueId> inputs,
                          std::map<std::string, Attribute> attributes, std::string output_name) {
  name = fresh(node_names_, std::move(name), "node");
  if (output_name.empty() && !value_names_.contains(name)) output_name = name;
  const ValueId out = value(std::move(output_name));
  node({.name = std::move(name),
        .op = std::move(op),
        .inputs = std::move(inputs),
        .outputs = {out},
        .attributes = std::move(attributes)});
  return out;
}

void GraphBuilder::output(ValueId id) { outputs_.push_back(id); }

void GraphBuilder::set_type(ValueId id, DType dtype, Shape shape) {
  Value& value = values_.at(index_of(id));
  value.dtype = checked_type(dtype, value.name);
  value.shape = std::move(shape);
}

void GraphBuilder::replace_constant(ValueId id, Array array) {
  Value& value = values_.at(index_of(id));
  if (!value.constant)
    fail(Fault::model, "value '{}' is not a constant and cannot be replaced by one", value.name);
  static_cast<void>(checked_type(array.dtype(), value.name));
  value.constant = array.detach().contiguous();
}

const Node& GraphBuilder::present_node(NodeId id) const {
  if (index_of(id) >= nodes_.size() || removed_[index_of(id)]) {
    fail(Fault::model, "graph '{}' has no node {}, or it was removed", name_, static_cast<int>(id));
  }
  return node(id);
}

void GraphBuilder::replace_node(NodeId id, Node node) {
  const std::string old_name = present_node(id).name;
  if (node.name.empty()) node.name = old_name;
  if (node.name != old_name) {
    node.name = fresh(node_names_, std::move(node.name), "node");
    node_names_.erase(old_name);
    node_names_.insert(node.name);
  }
  nodes_[index_of(id)] = std::move(node);
}

void GraphBuilder::redirect(ValueId from, ValueId to) {
  for (Node& node : nodes_) std::replace(node.inputs.begin(), node.inputs.end(), from, to);
  std::replace(outputs_.begin(), outputs_.end(), from, to);
}

ValueId GraphBuilder::insert_after(ValueId id, std::string op, std::string name,
                                   std::vector<ValueId> more_inputs,
                                   std::map<std::string, Attribute> attributes) {
  more_inputs.insert(more_inputs.begin(), id);
  const auto before = nodes_.size();
  const ValueId out = add(std::move(op), std::move(name), std::move(more_inputs), std::move(attributes));
  Node inserted = std::move(nodes_[before]);
  redirect(id, out);
  nodes_[before] = std::move(inserted);
  return out;
}

std::string GraphBuilder::unused_name(const std::string& base) const {
  std::string name = base;
  for (int i = 2; value_names_.contains(name) || node_names_.contains(name); ++i)
    name = fmt::format("{}_{}", base, i);
  return name;
}

ValueId GraphBuilder::detach(ValueId id) {
  const std::string name = values_.at(index_of(id)).name;
  for (std::size_t n = 0; n < nodes_.size(); ++n) {
    const auto output = std::ranges::find(nodes_[n].outputs, id);
    if (removed_[n] || output == nodes_[n].outputs.end()) continue;
    return *output = value(unused_name(name + "/before"));
  }
  fail(Fault::model, "value '{}' is computed by no node and cannot be detached from one", name);
}

ValueId GraphBuilder::wrap(ValueId id, Node added) {
  const ValueId before = detach(id);
  std::replace(added.inputs.begin(), added.inputs.end(), id, before);
  added.outputs = {id};
  node(std::move(added));
  return before;
}

void GraphBuilder::remove_node(NodeId id, ValueId replacement) {
  const Node& node = present_node(id);
  if (replacement == no_value && !node.inputs.empty()) replacement = node.inputs[0];
  if (replacement == no_value || node.outputs.empty()) {
    fail(Fault::model, "{} cannot be removed: nothing can replace its output", node.describe());
  }
  const ValueId out = node.outputs[0];
  node_names_.erase(node.name);
  removed_[index_of(id)] = true;
  redirect(out, replacement);
}

}  // namespace assay::inline model
