#include "assay/model/graph.h"

#include <algorithm>
#include <queue>
#include <set>

#include "assay/support/error.h"
#include "assay/support/hash.h"

namespace assay {
namespace {

template <typename T>
T attribute_of(const Node& node, std::string_view name, T fallback) {
  const auto it = node.attributes.find(std::string(name));
  if (it == node.attributes.end()) return fallback;
  if (const T* value = std::get_if<T>(&it->second)) return *value;
  fail(Fault::model, "{}: attribute '{}' has the wrong type", node.describe(), name);
}

struct HashAttribute {
  Hasher& hasher;
  void operator()(std::int64_t v) const { hasher.number(v); }
  void operator()(float v) const { hasher.real(v); }
  void operator()(const std::string& v) const { hasher.text(v); }
  void operator()(const Array& v) const {
    hasher.number(static_cast<int>(v.dtype())).text(to_string(v.shape())).bytes(v.data(), v.byte_size());
  }
  template <typename T>
  void operator()(const std::vector<T>& v) const {
    hasher.number(static_cast<std::int64_t>(v.size()));
    for (const T& item : v) (*this)(item);
  }
};

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
std::vector<std::int64_t> Node::integers(std::string_view attribute, std::vector<std::int64_t> fallback) const {
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
  const auto it = std::find_if(values_.begin(), values_.end(), [&](const Value& v) { return v.name == name; });
  if (it == values_.end()) return std::nullopt;
  return static_cast<ValueId>(it - values_.begin());
}

std::optional<int> Graph::find_node(std::string_view name) const {
  const auto it = std::find_if(nodes_.begin(), nodes_.end(), [&](const Node& n) { return n.name == name; });
  if (it == nodes_.end()) return std::nullopt;
  return static_cast<int>(it - nodes_.begin());
}

std::int64_t Graph::parameter_count() const {
  std::int64_t count = 0;
  for (std::size_t i = 0; i < values_.size(); ++i) {
    const auto& constant = values_[i].constant;
    if (constant && constant->dtype() == DType::float32 && !consumers_[i].empty()) count += constant->count();
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
  for (std::size_t i = 0; i < values_.size(); ++i) value_names_.emplace(values_[i].name, static_cast<int>(i));
  for (std::size_t i = 0; i < nodes_.size(); ++i) node_names_.emplace(nodes_[i].name, static_cast<int>(i));
}

std::string GraphBuilder::fresh(std::map<std::string, int, std::less<>>& names, std::string name,
                                std::string_view kind) {
  if (!name.empty()) {
    if (names.contains(name)) fail(Fault::model, "graph '{}': two {}s are named '{}'", name_, kind, name);
    return name;
  }
  for (std::size_t i = names.size();; ++i) {
    std::string candidate = fmt::format("{}_{}", kind, i);
    if (!names.contains(candidate)) return candidate;
  }
}

ValueId GraphBuilder::value(std::string name) {
  name = fresh(value_names_, std::move(name), "value");
  const auto id = static_cast<ValueId>(values_.size());
  value_names_.emplace(name, id);
  values_.push_back({.name = std::move(name), .constant = std::nullopt, .shape = {}});
  return id;
}

ValueId GraphBuilder::input(std::string name, DType dtype, Shape shape) {
  const ValueId id = value(std::move(name));
  values_.back().dtype = dtype;
  values_.back().shape = std::move(shape);
  inputs_.push_back(id);
  return id;
}

ValueId GraphBuilder::constant(std::string name, Array array) {
  const ValueId id = value(std::move(name));
  values_.back().dtype = array.dtype();
  values_.back().constant = std::move(array);
  return id;
}

int GraphBuilder::node(Node node) {
  node.name = fresh(node_names_, std::move(node.name), "node");
  const int index = static_cast<int>(nodes_.size());
  node_names_.emplace(node.name, index);
  nodes_.push_back(std::move(node));
  removed_.push_back(false);
  return index;
}

ValueId GraphBuilder::add(std::string op, std::string name, std::vector<ValueId> inputs,
                          std::map<std::string, Attribute> attributes, std::string output_name) {
  name = fresh(node_names_, std::move(name), "node");
  if (output_name.empty() && !value_names_.contains(name)) output_name = name;
  const ValueId out = value(std::move(output_name));
  node({.name = std::move(name), .op = std::move(op), .inputs = std::move(inputs), .outputs = {out},
        .attributes = std::move(attributes)});
  return out;
}

void GraphBuilder::output(ValueId id) { outputs_.push_back(id); }

void GraphBuilder::replace_constant(ValueId id, Array array) {
  Value& value = values_.at(static_cast<std::size_t>(id));
  if (!value.constant) fail(Fault::model, "value '{}' is not a constant and cannot be replaced by one", value.name);
  value.constant = std::move(array);
}

void GraphBuilder::replace_node(int index, Node node) {
  Node& old = nodes_.at(static_cast<std::size_t>(index));
  if (node.name.empty()) node.name = old.name;
  if (node.name != old.name) {
    node.name = fresh(node_names_, std::move(node.name), "node");
    node_names_.erase(old.name);
    node_names_.emplace(node.name, index);
  }
  old = std::move(node);
}

void GraphBuilder::redirect(ValueId from, ValueId to) {
  for (Node& node : nodes_) std::replace(node.inputs.begin(), node.inputs.end(), from, to);
  std::replace(outputs_.begin(), outputs_.end(), from, to);
}

ValueId GraphBuilder::insert_after(ValueId id, std::string op, std::string name, std::vector<ValueId> more_inputs,
                                   std::map<std::string, Attribute> attributes) {
  const ValueId out = value({});
  redirect(id, out);
  more_inputs.insert(more_inputs.begin(), id);
  node({.name = std::move(name), .op = std::move(op), .inputs = std::move(more_inputs), .outputs = {out},
        .attributes = std::move(attributes)});
  return out;
}

void GraphBuilder::remove_node(int index, ValueId replacement) {
  const Node& node = nodes_.at(static_cast<std::size_t>(index));
  if (replacement == no_value) replacement = node.inputs.at(0);
  const ValueId out = node.outputs.at(0);
  node_names_.erase(node.name);
  removed_[static_cast<std::size_t>(index)] = true;
  redirect(out, replacement);
}

Graph GraphBuilder::build() const {
  const auto value_count = values_.size();
  const auto check_id = [&](ValueId id, const std::string& who) {
    if (id < 0 || static_cast<std::size_t>(id) >= value_count) {
      fail(Fault::model, "{} refers to value {} of {}", who, id, value_count);
    }
  };
  std::vector<int> producers(value_count, -1);
  for (std::size_t n = 0; n < nodes_.size(); ++n) {
    if (removed_[n]) continue;
    for (const ValueId out : nodes_[n].outputs) {
      if (out == no_value) continue;
      check_id(out, nodes_[n].describe());
      const Value& produced = values_[static_cast<std::size_t>(out)];
      const bool given = produced.constant || std::find(inputs_.begin(), inputs_.end(), out) != inputs_.end();
      if (given || producers[static_cast<std::size_t>(out)] >= 0) {
        fail(Fault::model, "{}: value '{}' is produced twice", nodes_[n].describe(), produced.name);
      }
      producers[static_cast<std::size_t>(out)] = static_cast<int>(n);
    }
  }
  if (outputs_.empty()) fail(Fault::model, "graph '{}' has no outputs", name_);

  // Depth-first from the outputs, without recursion: finds what is needed, a topological order, and cycles.
  enum class Mark : char { fresh, open, done };
  std::vector<Mark> marks(nodes_.size(), Mark::fresh);
  std::set<int> needed;
  const auto available = [&](ValueId id) {
    const auto index = static_cast<std::size_t>(id);
    return values_[index].constant || std::find(inputs_.begin(), inputs_.end(), id) != inputs_.end();
  };
  const auto visit = [&](ValueId root) {
    check_id(root, fmt::format("output of graph '{}'", name_));
    if (producers[static_cast<std::size_t>(root)] < 0) {
      if (!available(root)) {
        fail(Fault::model, "graph output '{}' is produced by no node", values_[static_cast<std::size_t>(root)].name);
      }
      return;
    }
    std::vector<std::pair<int, std::size_t>> stack{{producers[static_cast<std::size_t>(root)], 0}};
    while (!stack.empty()) {
      auto& [n, next] = stack.back();
      const Node& node = nodes_[static_cast<std::size_t>(n)];
      Mark& mark = marks[static_cast<std::size_t>(n)];
      if (mark == Mark::done || next == node.inputs.size()) {
        mark = Mark::done;
        needed.insert(n);
        stack.pop_back();
        continue;
      }
      mark = Mark::open;
      const ValueId in = node.inputs[next++];
      if (in == no_value) continue;
      check_id(in, node.describe());
      const int before = producers[static_cast<std::size_t>(in)];
      if (before < 0) {
        if (!available(in)) {
          fail(Fault::model, "{}: input '{}' is produced by no node", node.describe(),
               values_[static_cast<std::size_t>(in)].name);
        }
      } else if (marks[static_cast<std::size_t>(before)] == Mark::open) {
        fail(Fault::model, "{}: input '{}' depends on the node's own output (a cycle)", node.describe(),
             values_[static_cast<std::size_t>(in)].name);
      } else if (marks[static_cast<std::size_t>(before)] == Mark::fresh) {
        stack.emplace_back(before, 0);
      }
    }
  };
  for (const ValueId out : outputs_) visit(out);

  // Kahn's algorithm with the lowest index first: keeps the author's order wherever it is already valid.
  std::vector<int> waiting(nodes_.size(), 0);
  std::vector<std::vector<int>> readers(nodes_.size());
  std::priority_queue<int, std::vector<int>, std::greater<>> ready;
  for (const int n : needed) {
    std::set<int> before;
    for (const ValueId in : nodes_[static_cast<std::size_t>(n)].inputs) {
      if (in != no_value && producers[static_cast<std::size_t>(in)] >= 0) {
        before.insert(producers[static_cast<std::size_t>(in)]);
      }
    }
    waiting[static_cast<std::size_t>(n)] = static_cast<int>(before.size());
    for (const int b : before) readers[static_cast<std::size_t>(b)].push_back(n);
    if (before.empty()) ready.push(n);
  }

  Graph graph;
  graph.name_ = name_;
  graph.values_ = values_;
  graph.inputs_ = inputs_;
  graph.outputs_ = outputs_;
  graph.notices_ = notices_;
  while (!ready.empty()) {
    const int n = ready.top();
    ready.pop();
    graph.nodes_.push_back(nodes_[static_cast<std::size_t>(n)]);
    for (const int reader : readers[static_cast<std::size_t>(n)]) {
      if (--waiting[static_cast<std::size_t>(reader)] == 0) ready.push(reader);
    }
  }
  graph.producers_.assign(value_count, -1);
  graph.consumers_.assign(value_count, {});
  for (std::size_t n = 0; n < graph.nodes_.size(); ++n) {
    for (const ValueId out : graph.nodes_[n].outputs) {
      if (out != no_value) graph.producers_[static_cast<std::size_t>(out)] = static_cast<int>(n);
    }
    for (const ValueId in : graph.nodes_[n].inputs) {
      if (in == no_value) continue;
      auto& list = graph.consumers_[static_cast<std::size_t>(in)];
      if (list.empty() || list.back() != static_cast<int>(n)) list.push_back(static_cast<int>(n));
    }
  }

  Hasher hasher;
  const auto hash_ids = [&](std::span<const ValueId> ids) {
    hasher.number(static_cast<std::int64_t>(ids.size()));
    for (const ValueId id : ids) hasher.text(id == no_value ? "" : values_[static_cast<std::size_t>(id)].name);
  };
  hash_ids(inputs_);
  hash_ids(outputs_);
  for (const Node& node : graph.nodes_) {
    hasher.text(node.name).text(node.op);
    hash_ids(node.inputs);
    hash_ids(node.outputs);
    for (const auto& [key, attribute] : node.attributes) {
      hasher.text(key);
      std::visit(HashAttribute{hasher}, attribute);
    }
  }
  for (std::size_t i = 0; i < value_count; ++i) {
    if (!values_[i].constant || graph.consumers_[i].empty()) continue;
    hasher.text(values_[i].name);
    HashAttribute{hasher}(*values_[i].constant);
  }
  graph.hash_ = hasher.hex();
  return graph;
}

}  // namespace assay
