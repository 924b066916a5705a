#pragma once

// A network as nodes and values with ONNX operator semantics (canonical form: operator set 18, and 21 for
// GroupNormalization; readers upgrade older forms) and its weights. Immutable once built; an edit makes a new
// graph that shares untouched weights.

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "assay/model/array.h"

namespace assay {

// Index of a value in Graph::values(). `no_value` stands for an optional input that is absent.
using ValueId = std::int32_t;
inline constexpr ValueId no_value = -1;

using Attribute = std::variant<std::int64_t, float, std::string, std::vector<std::int64_t>, std::vector<float>,
                               std::vector<std::string>, Array>;

struct Node {
  std::string name;      // unique in the graph, as users know it ("conv1", "features.3")
  std::string op;        // ONNX operator type ("Conv")
  std::vector<ValueId> inputs;
  std::vector<ValueId> outputs;  // no_value for an output nobody named
  std::map<std::string, Attribute> attributes;

  // The attribute, or the fallback where the node does not carry it. Throws Error{model} naming node and
  // attribute when it is of another type.
  std::int64_t integer(std::string_view attribute, std::int64_t fallback) const;
  float real(std::string_view attribute, float fallback) const;
  std::string text(std::string_view attribute, std::string fallback) const;
  std::vector<std::int64_t> integers(std::string_view attribute, std::vector<std::int64_t> fallback) const;
  std::vector<float> reals(std::string_view attribute, std::vector<float> fallback) const;
  std::vector<std::string> texts(std::string_view attribute, std::vector<std::string> fallback) const;
  bool has(std::string_view attribute) const { return attributes.contains(std::string(attribute)); }
  // "node 'conv1' (Conv)", for messages.
  std::string describe() const;
};

struct Value {
  std::string name;                // unique in the graph
  std::optional<Array> constant;   // weights and other constants
  // For graph inputs and outputs: element type and shape, -1 for a dynamic dimension (axis 0 is the batch
  // unless the model says otherwise). Empty elsewhere.
  DType dtype = DType::float32;
  Shape shape;
};

class Graph {
 public:
  Graph() = default;

  const std::string& name() const { return name_; }
  // In an order in which every node comes after the producers of its inputs.
  std::span<const Node> nodes() const { return nodes_; }
  std::span<const Value> values() const { return values_; }
  std::span<const ValueId> inputs() const { return inputs_; }    // without constants
  std::span<const ValueId> outputs() const { return outputs_; }

  const Value& value(ValueId id) const { return values_.at(static_cast<std::size_t>(id)); }
  // Index of the node that computes the value; -1 for inputs and constants.
  int producer(ValueId id) const { return producers_.at(static_cast<std::size_t>(id)); }
  // Indices of nodes that read the value, ascending, each once.
  std::span<const int> consumers(ValueId id) const { return consumers_.at(static_cast<std::size_t>(id)); }
  bool is_constant(ValueId id) const { return id != no_value && value(id).constant.has_value(); }
  const Array& constant(ValueId id) const { return *value(id).constant; }

  // O(log n).
  std::optional<ValueId> find_value(std::string_view name) const;
  std::optional<int> find_node(std::string_view name) const;

  // Content hash of structure and weights (names included); computed once when built. 32 hex digits.
  const std::string& hash() const { return hash_; }
  // Number of elements of all floating-point constants that nodes read, single numbers (a scale, an epsilon) left out.
  std::int64_t parameter_count() const;
  // What readers noticed and users should know: widened weights, ignored nodes. Not part of the hash.
  const std::vector<std::string>& notices() const { return notices_; }

 private:
  friend class GraphBuilder;
  std::string name_;
  std::vector<Node> nodes_;
  std::vector<Value> values_;
  std::vector<ValueId> inputs_, outputs_;
  std::vector<int> producers_;
  std::vector<std::vector<int>> consumers_;
  std::vector<int> values_by_name_, nodes_by_name_;  // indices, sorted by name
  std::string hash_;
  std::vector<std::string> notices_;
};

// Makes graphs, from nothing or from an existing graph. Any order of calls; build() sorts and checks.
//
//   GraphBuilder edit(graph);
//   edit.replace_constant(kernel, fuzzed);
//   Graph mutant = edit.build();          // shares every other weight with `graph`
//
// Value ids of the graph edited stay valid in the builder and in the result; node indices are stable in the
// builder, and re-sorted in the result (find them there by name).
class GraphBuilder {
 public:
  explicit GraphBuilder(std::string name = "graph");
  explicit GraphBuilder(const Graph& graph);

  // Names must be unique; an empty name is replaced by a fresh one.
  ValueId input(std::string name, DType dtype, Shape shape);
  ValueId constant(std::string name, Array array);
  ValueId value(std::string name);  // to be produced by a node
  int node(Node node);              // index of the new node
  // The common case: one new node with one output, whose value takes the node's name (or `output_name`).
  ValueId add(std::string op, std::string name, std::vector<ValueId> inputs,
              std::map<std::string, Attribute> attributes = {}, std::string output_name = {});
  void output(ValueId id);  // appends a graph output
  // Declares a value's element type and shape, as graph outputs have them.
  void set_type(ValueId id, DType dtype, Shape shape);
  void set_outputs(std::vector<ValueId> ids) { outputs_ = std::move(ids); }
  void notice(std::string message) { notices_.push_back(std::move(message)); }

  // Edits.
  void replace_constant(ValueId id, Array array);
  void replace_node(int index, Node node);
  // Puts a node between `id` and everything that reads it (graph outputs included): `node.inputs` must name
  // `id`. Returns the new value.
  ValueId insert_after(ValueId id, std::string op, std::string name, std::vector<ValueId> more_inputs = {},
                       std::map<std::string, Attribute> attributes = {});
  // Frees `id` for another producer: its node now computes a fresh value, which is returned. Readers of `id` (graph outputs
  // included) stay as they are.
  ValueId detach(ValueId id);
  // Puts a node in front of the readers of `id` without touching them: what computed `id` computes a fresh value, which
  // the node reads wherever its inputs name `id`, and the node computes `id`. Returns the fresh value.
  ValueId wrap(ValueId id, Node node);
  // `base` when neither a node nor a value has that name, else `base` with a number.
  std::string unused_name(const std::string& base) const;
  // Removes the node; readers of its first output read `replacement` instead (default: its first input).
  void remove_node(int index, ValueId replacement = no_value);
  // Everything that reads `from` (graph outputs included) reads `to` instead.
  void redirect(ValueId from, ValueId to);

  std::span<const Node> nodes() const { return nodes_; }
  std::span<const Value> values() const { return values_; }
  std::span<const ValueId> outputs() const { return outputs_; }

  // Checks and sorts: every input exists and is produced once, no cycle, names unique, outputs reachable.
  // Nodes that no output depends on are dropped. Throws Error{model} naming the node or value at fault.
  Graph build() const;

 private:
  std::string name_;
  std::vector<Node> nodes_;
  std::vector<bool> removed_;
  std::vector<Value> values_;
  std::vector<ValueId> inputs_, outputs_;
  std::vector<std::string> notices_;
  std::map<std::string, int, std::less<>> value_names_, node_names_;
  std::size_t next_fresh_ = 0;
  std::string fresh(std::map<std::string, int, std::less<>>& names, std::string name, std::string_view kind);
  const Node& present_node(int index) const;
};

}  // namespace assay
