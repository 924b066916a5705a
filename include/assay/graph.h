#pragma once

// A network as nodes and values with ONNX operator semantics (canonical form: operator set 18, and 21 for
// GroupNormalization; readers upgrade older forms) and its weights. Immutable once built; an edit makes a new
// graph that shares untouched weights.

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <assay/array.h>

namespace assay::inline model {

// A value of a Graph. `no_value` stands for an optional input that is absent.
enum class ValueId : std::int32_t {};
inline constexpr ValueId no_value{-1};
// In Graph::values().
constexpr std::size_t index_of(ValueId id) { return static_cast<std::size_t>(id); }

// A node of a Graph. Ids ascend in the order of Graph::nodes(). `no_node` stands where no node computes a
// value.
enum class NodeId : std::int32_t {};
inline constexpr NodeId no_node{-1};
// In Graph::nodes().
constexpr std::size_t index_of(NodeId id) { return static_cast<std::size_t>(id); }

// All ids of a graph's nodes, or of its values, ascending.
template <typename Id>
class IdRange {
 public:
  class Iterator {
   public:
    using value_type = Id;
    using difference_type = std::ptrdiff_t;
    Iterator() = default;
    explicit Iterator(std::size_t at) : at_(at) {}
    Id operator*() const { return static_cast<Id>(at_); }
    Iterator& operator++() { return ++at_, *this; }
    Iterator operator++(int) { return Iterator(at_++); }
    Iterator& operator--() { return --at_, *this; }
    Iterator operator--(int) { return Iterator(at_--); }
    bool operator==(const Iterator&) const = default;

   private:
    std::size_t at_ = 0;
  };

  explicit IdRange(std::size_t size) : size_(size) {}
  Iterator begin() const { return Iterator(0); }
  Iterator end() const { return Iterator(size_); }

 private:
  std::size_t size_;
};

using Attribute = std::variant<std::int64_t, float, std::string, std::vector<std::int64_t>,
                               std::vector<float>, std::vector<std::string>, Array>;

struct Node {
  std::string name;  // unique in the graph, as users know it ("conv1", "features.3")
  std::string op;    // ONNX operator type ("Conv")
  std::vector<ValueId> inputs;
  std::vector<ValueId> outputs;  // no_value for an output without a name
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
  std::string name;               // unique in the graph
  std::optional<Array> constant;  // weights and other constants
  // For graph inputs and outputs: element type and shape, -1 for a dynamic dimension (axis 0 is the batch
  // unless the model says otherwise). Empty for other values.
  DType dtype = DType::float32;
  Shape shape;
};

struct ContentHash;

class Graph {
 public:
  Graph() = default;

  const std::string& name() const { return name_; }
  // In an order in which every node comes after the producers of its inputs.
  std::span<const Node> nodes() const { return nodes_; }
  std::span<const Value> values() const { return values_; }
  std::span<const ValueId> inputs() const { return inputs_; }  // without constants
  std::span<const ValueId> outputs() const { return outputs_; }

  IdRange<NodeId> node_ids() const { return IdRange<NodeId>(nodes_.size()); }
  IdRange<ValueId> value_ids() const { return IdRange<ValueId>(values_.size()); }
  const Node& node(NodeId id) const { return nodes_.at(index_of(id)); }
  const Value& value(ValueId id) const { return values_.at(index_of(id)); }
  // The node that computes the value; no_node for inputs and constants.
  NodeId producer(ValueId id) const { return producers_.at(index_of(id)); }
  // Nodes that read the value, ascending, each once.
  std::span<const NodeId> consumers(ValueId id) const { return consumers_.at(index_of(id)); }
  bool is_constant(ValueId id) const { return id != no_value && value(id).constant.has_value(); }
  const Array& constant(ValueId id) const { return *value(id).constant; }

  // O(log n).
  std::optional<ValueId> find_value(std::string_view name) const;
  std::optional<NodeId> find_node(std::string_view name) const;

  // Content hash of structure and weights (names included), 32 hex digits. Computed when first asked for,
  // once for all copies of the graph; any thread may ask.
  const std::string& hash() const;
  // Number of elements of all floating-point constants that nodes read, single numbers (a scale, an epsilon)
  // left out.
  std::int64_t parameter_count() const;
  // What readers noticed and users should know: widened weights, ignored nodes. Not part of the hash.
  const std::vector<std::string>& notices() const { return notices_; }

 private:
  friend class GraphBuilder;
  std::string name_;
  std::vector<Node> nodes_;
  std::vector<Value> values_;
  std::vector<ValueId> inputs_, outputs_;
  std::vector<NodeId> producers_;
  std::vector<std::vector<NodeId>> consumers_;
  std::vector<ValueId> values_by_name_;
  std::vector<NodeId> nodes_by_name_;
  std::shared_ptr<ContentHash> hash_;
  std::vector<std::string> notices_;
};

}  // namespace assay::inline model
