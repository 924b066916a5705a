#pragma once

// The graph that the ONNX reader is building: values by name, names for what the reader adds, and what is
// known of shapes and constants on the way.

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <assay/graph.h>
#include <assay/model.h>

namespace assay::onnx_format {

class OnnxGraph {
 public:
  explicit OnnxGraph(std::string name) : builder_(std::move(name)) {}

  // Names that the file uses: the reader's own will differ from them.
  void reserve_value_name(const std::string& name) { value_names_.insert(name); }
  void reserve_node_name(const std::string& name) { node_names_.insert(name); }
  std::string unique_value_name(const std::string& base) { return unique(value_names_, base); }
  std::string unique_node_name(const std::string& base) { return unique(node_names_, base); }

  // The value of that name, made on its first mention; no_value for "".
  ValueId value(const std::string& name);
  // Throw Error{model} when the name has a value that is defined already.
  ValueId define_constant(const std::string& name, Array array);
  ValueId define_input(const std::string& name, DType dtype, Shape shape);
  // What the file declares about a value's shape, -1 for unknown dimensions.
  void declare_shape(const std::string& name, Shape shape) { declared_[name] = std::move(shape); }
  // For an input of a body: overrides define_input().
  void forget_shape(const std::string& name) { declared_.erase(name); }
  void declare_output(const std::string& name, DType dtype, Shape shape);
  // The ONNX element type of a value, which Assay may hold in another: as the file states it, or as it
  // follows from the node that computes the value.
  void declare_type(const std::string& name, int onnx_type) { types_[name] = onnx_type; }
  std::optional<int> element_type(const std::string& name) const;
  std::optional<int> element_type(ValueId id) const;
  // Notes what follows for outputs of these names ("": none) whose types are not stated.
  void infer_types(const Node& node, const std::vector<std::string>& outputs);

  // A constant, or an output for a node, with a fresh name near `base`.
  ValueId new_constant(const std::string& base, Array array);
  ValueId new_value(const std::string& base);

  // Appends a node and notes the ranks and element types of its outputs.
  void add(Node node);

  const Array* constant(ValueId id) const;
  // The node that computes the value; nullptr for inputs, constants and values whose node is still to come.
  const Node* producer(ValueId id) const;
  // The ONNX name of a value.
  const std::string& name(ValueId id) const { return builder_.values()[index_of(id)].name; }
  bool is_mentioned(const std::string& name) const { return ids_.contains(name); }
  // Number of axes, where known: declared by the file or following from the operators.
  std::optional<std::int64_t> rank(ValueId id) const;
  // Size of an axis (from the front), where the file declares it.
  std::optional<std::int64_t> dimension(ValueId id, std::size_t axis) const;

  void notice(std::string message) { builder_.notice(std::move(message)); }
  // A notice that may hold for many nodes: finish_remarks() makes one line of each kind, "WHERE and 5 more:
  // KIND".
  void remark(const std::string& kind, const std::string& where);
  void finish_remarks();
  const GraphBuilder& builder() const { return builder_; }

 private:
  std::string unique(std::set<std::string>& names, const std::string& base);
  const Shape* declared(ValueId id) const;
  void require_undefined(const std::string& name) const;
  std::optional<std::int64_t> rank_after(const Node& node) const;
  std::optional<std::int64_t> rank_after_axes(const Node& node) const;

  GraphBuilder builder_;
  std::map<std::string, ValueId> ids_;
  std::map<std::string, Shape> declared_;
  std::map<std::string, int> types_;
  std::map<ValueId, std::int64_t> ranks_;
  std::map<ValueId, NodeId> producers_;
  std::set<ValueId> inputs_;
  std::set<std::string> value_names_, node_names_;
  std::map<std::string, std::size_t> suffixes_;
  struct Remark {
    std::string first;
    std::size_t count = 0;
  };
  std::map<std::string, Remark> remarks_;
};

}  // namespace assay::onnx_format
