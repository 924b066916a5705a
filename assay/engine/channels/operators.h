#pragma once

// How single operators become operations. Adding one: a supports_* and a compile_* function in the file of
// its family, here, and a line in the table of operators.cpp.

#include <functional>
#include <map>
#include <optional>
#include <set>

#include "assay/engine/channels/functions.h"
#include "assay/engine/channels/kernels.h"
#include "assay/engine/channels/program.h"
#include "assay/engine/parameters.h"

namespace assay::channels {

// A value that is added to a result.
struct Added {
  ValueId id = no_value;
  Value value;
};

// State while a segment is being compiled: where each value is, and which buffers are free.
class Compiler {
 public:
  Compiler(const SegmentRequest& request, std::span<const ValueId> inputs, std::span<const ValueId> wanted,
           std::int64_t rows);
  Program compile();

  const Graph& graph() const { return graph_; }
  std::int64_t rows() const { return program_.rows; }
  // Of one record, without and with the batch axis.
  Shape shape(ValueId id) const;
  const Shape& whole_shape(ValueId id) const { return request_.shape_of(id); }

  // For nodes that take over work of the one that follows.
  Absorber absorber();
  // Takes over the function that alone reads the value, or with a product that reads both. Returns the value
  // that is computed then.
  ValueId absorb_function(ValueId id, Finish& finish);
  // Quantisation takes over the de-quantisation by the same steps that alone reads its result, where nothing
  // goes back. Returns the value that is computed then.
  ValueId absorb_dequantisation(ValueId id, lanes::UnaryFunction& function);
  // Takes over the replacement of NaN in a value that nothing else reads. Returns the value computed then.
  ValueId absorb_nan_replacement(ValueId id, std::optional<float>& number);
  // Takes over the sum of the value with another one that is there. Returns the value that is computed then.
  ValueId absorb_sum(ValueId id, const Shape& strides, std::optional<Added>& added);

  const Value& value(ValueId id) const { return values_.at(id); }
  // The value as its elements are to lie, arranged where needed.
  Value plainly(ValueId id) { return as(value(id), plain_strides(value(id).shape)); }
  Value channels_last(ValueId id) { return as(value(id), channels_last_strides(value(id).shape)); }
  Value as(const Value& value, const Shape& strides);
  // Memory for a value about to be computed and defined; `temporary`: for the time of the node alone.
  Value fresh(const Shape& shape, const Shape& strides);
  Value temporary(const Shape& shape, const Shape& strides);
  void add(std::unique_ptr<Operation> operation) { program_.operations.push_back(std::move(operation)); }
  void define(ValueId id, Value value);
  // Whether nothing else lies where the value lies.
  bool is_held_once(const Value& value) {
    return value.kind == Value::Kind::buffer && owners_[value.index] == 1;
  }

  // Adds what brings the gradient of `result`, once it is complete, to the operands: a step that contributes
  // to theirs. `kept` is what it reads. Nothing where no gradient is wanted.
  using Step = std::function<void(const Value& gradient)>;
  void on_way_back(ValueId result, const std::vector<Value>& kept, Step step);
  // Whether the gradient of the value is needed on the way back.
  bool carries_gradient(ValueId id) const { return carries_.contains(id); }
  // Adds to the gradient of the value; where it has been broadcast, `part` is summed.
  void contribute(ValueId id, const Value& part);
  // The gradient so far, for an operation that adds it to its result, which is contributed then.
  std::optional<Value> take_gradient(ValueId id, const Shape& strides);
  // The gradient so far, zeros at first, to be added to.
  Value gradient_to_add_to(ValueId id);

 private:
  const Node* sole_reader(ValueId id) const;
  const Node* gate_of(ValueId id) const;
  void fuse(const Node& node);
  void produced(ValueId id);
  bool wanted(ValueId id) const;
  void release(std::size_t buffer);
  void hold(const Value& value);
  void set_gradient(ValueId id, const Value& value);
  void drop_gradient(ValueId id);
  void free_temporaries();
  void go_back(std::span<const ValueId> wanted);
  void release_read_last_by(std::size_t node, const std::map<ValueId, std::size_t>& last_reader);
  const Node& node(std::size_t i) const { return graph_.node(request_.nodes[i]); }

  const SegmentRequest& request_;
  const Graph& graph_;
  Program program_;
  std::set<NodeId> inside_;
  std::set<const Node*> fused_;
  std::set<std::size_t> free_;
  std::map<ValueId, Value> values_;
  std::map<std::size_t, int> owners_;  // values that lie in a buffer
  std::vector<std::size_t> temporaries_;

  std::vector<ValueId> by_;    // inputs whose gradients are wanted
  std::set<ValueId> carries_;  // them, and what is computed from them
  struct StepOf {
    ValueId result = no_value;
    Step run;
  };
  std::vector<StepOf> steps_;
  std::map<ValueId, Value> gradients_;
};

// The gradient of the operand of a function, from that of its result.
Value through_function(Compiler& compiler, const lanes::UnaryFunction& function, const Value& operand,
                       const Value& result, const Value& gradient);

bool supports_convolution(const Graph& graph, const Node& node, const ShapeOf& shape_of);
void compile_convolution(Compiler& compiler, const Node& node);
bool supports_transposed(const Graph& graph, const Node& node, const ShapeOf& shape_of);
void compile_transposed(Compiler& compiler, const Node& node);
bool supports_dense(const Graph& graph, const Node& node, const ShapeOf& shape_of);
void compile_dense(Compiler& compiler, const Node& node);
bool supports_product(const Graph& graph, const Node& node, const ShapeOf& shape_of);
void compile_product(Compiler& compiler, const Node& node);
bool supports_pooling(const Graph& graph, const Node& node, const ShapeOf& shape_of);
void compile_pooling(Compiler& compiler, const Node& node);
bool supports_reduction(const Graph& graph, const Node& node, const ShapeOf& shape_of);
void compile_reduction(Compiler& compiler, const Node& node);
bool supports_unary(const Graph& graph, const Node& node, const ShapeOf& shape_of);
void compile_unary(Compiler& compiler, const Node& node);
bool supports_binary(const Graph& graph, const Node& node, const ShapeOf& shape_of);
void compile_binary(Compiler& compiler, const Node& node);
bool supports_normalisation(const Graph& graph, const Node& node, const ShapeOf& shape_of);
void compile_normalisation(Compiler& compiler, const Node& node);
bool supports_layer_normalisation(const Graph& graph, const Node& node, const ShapeOf& shape_of);
void compile_layer_normalisation(Compiler& compiler, const Node& node);
// Of Where: what takes the place of NaN.
float nan_replacement(const Graph& graph, const Node& choice);
bool supports_nan_replacement(const Graph& graph, const Node& node, const ShapeOf& shape_of);
void compile_nan_replacement(Compiler& compiler, const Node& node);
bool supports_softmax(const Graph& graph, const Node& node, const ShapeOf& shape_of);
void compile_softmax(Compiler& compiler, const Node& node);
bool supports_repetition(const Graph& graph, const Node& node, const ShapeOf& shape_of);
void compile_repetition(Compiler& compiler, const Node& node);
bool supports_view(const Graph& graph, const Node& node, const ShapeOf& shape_of);
void compile_view(Compiler& compiler, const Node& node);
bool supports_movement(const Graph& graph, const Node& node, const ShapeOf& shape_of);
void compile_movement(Compiler& compiler, const Node& node);
bool supports_padding(const Graph& graph, const Node& node, const ShapeOf& shape_of);
void compile_padding(Compiler& compiler, const Node& node);
bool supports_resize(const Graph& graph, const Node& node, const ShapeOf& shape_of);
void compile_resize(Compiler& compiler, const Node& node);
bool supports_concat(const Graph& graph, const Node& node, const ShapeOf& shape_of);
void compile_concat(Compiler& compiler, const Node& node);

bool supports(const Graph& graph, const Node& node, const ShapeOf& shape_of);
void compile_node(Compiler& compiler, const Node& node);
// Nanoseconds for a record on one thread.
double cost(const Graph& graph, const Node& node, const ShapeOf& shape_of);

}  // namespace assay::channels
