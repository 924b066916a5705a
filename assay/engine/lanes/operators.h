#pragma once

// How single operators become operations on batch blocks. Adding one: a supports_* and a compile_* function
// in the file of its family, here, and a line in the table of operators.cpp.

#include <map>
#include <optional>
#include <set>

#include "assay/engine/lanes/program.h"
#include "assay/engine/lanes/winograd.h"
#include "assay/engine/parameters.h"

namespace assay::lanes {

// State while a segment is being compiled.
class Compiler {
 public:
  Compiler(const SegmentRequest& request, std::span<const ValueId> inputs, std::span<const ValueId> wanted);
  Program compile();

  const Graph& graph() const { return graph_; }
  const Shape& shape(ValueId id) const {
    return request_.shape_of(id);
  }  // of one record, the batch axis in front
  // Whether the value of the constant comes with every run.
  bool is_trainable(ValueId id) const { return trainable_.contains(id); }
  // True when operations will have to go backward as well.
  bool differentiates() const { return differentiates_; }
  // To whom goes what comes back to equal maxima of an operator with these ties.
  Ties ties(Ties of_operator) const;
  // Whether the function whose result this is passes its value over its operand instead of its gradient.
  bool passes_ratio(ValueId id) const;

  std::size_t slot(ValueId id) const { return slots_.at(id); }
  std::size_t define(ValueId id);              // a new slot for a value about to be computed
  std::size_t scratch(std::int64_t elements);  // one for a value between two operations of a node
  void alias(ValueId id, ValueId same);        // the value is where `same` is
  void add(std::unique_ptr<Operation> operation) { program_.operations.push_back(std::move(operation)); }

  // For nodes that take over work of the one that follows.
  Absorber absorber();
  // Takes over a ReLU that alone reads the value. Returns the value that is computed then.
  ValueId absorb_rectifier(ValueId id, Finish& finish);

 private:
  const Node* sole_reader(ValueId id) const;
  void reduce_tapped();
  std::vector<std::size_t> reduced_slots() const;
  void stabilise();
  void place_values();
  void find_gradients();
  void place_gradients();
  void find_neighbours();
  void find_lessons();

  const SegmentRequest& request_;
  const Graph& graph_;
  bool differentiates_ = false;
  Program program_;
  std::set<NodeId> inside_;
  std::set<const Node*> fused_;
  std::set<ValueId> trainable_;
  std::map<ValueId, std::size_t> slots_;
  std::vector<ValueId> by_;      // inputs to differentiate by
  std::vector<ValueId> wanted_;  // by others than the nodes: kept, tapped or stabilised
  std::set<ValueId> stabilised_;
};

bool supports_convolution(const Graph& graph, const Node& node, const ShapeOf& shape_of);
void compile_convolution(Compiler& compiler, const Node& node);
// Products of a convolution, or the equivalent cost.
double products_of_convolution(const Graph& graph, const Node& node, const ShapeOf& shape_of);
// Where a convolution of pictures is quicker with fewer products.
std::optional<WinogradWindows> winograd_windows(const Node& node, const Shape& kernel, const Shape& input,
                                                const Shape& output);
bool supports_transposed(const Graph& graph, const Node& node, const ShapeOf& shape_of);
void compile_transposed(Compiler& compiler, const Node& node);
bool supports_dense(const Graph& graph, const Node& node, const ShapeOf& shape_of);
void compile_dense(Compiler& compiler, const Node& node);
bool supports_matmul(const Graph& graph, const Node& node, const ShapeOf& shape_of);
void compile_matmul(Compiler& compiler, const Node& node);
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
bool supports_own_normalisation(const Graph& graph, const Node& node, const ShapeOf& shape_of);
void compile_own_normalisation(Compiler& compiler, const Node& node);
bool supports_softmax(const Graph& graph, const Node& node, const ShapeOf& shape_of);
void compile_softmax(Compiler& compiler, const Node& node);
bool supports_view(const Graph& graph, const Node& node, const ShapeOf& shape_of);
void compile_view(Compiler& compiler, const Node& node);
bool supports_choice(const Graph& graph, const Node& node, const ShapeOf& shape_of);
void compile_choice(Compiler& compiler, const Node& node);
bool supports_concat(const Graph& graph, const Node& node, const ShapeOf& shape_of);
void compile_concat(Compiler& compiler, const Node& node);
bool supports_movement(const Graph& graph, const Node& node, const ShapeOf& shape_of);
void compile_movement(Compiler& compiler, const Node& node);

// What a node computes of each element, or of each pair of elements; nothing if it is another operator.
std::optional<UnaryFunction> function_of(const Graph& graph, const Node& node);
std::optional<Binary> pair_of(const Node& node);

// For each element of the result, the operand's element it is made of; empty: the same one. `operand` may
// have fewer axes; axes of size 1 are broadcast.
std::vector<std::int32_t> broadcast_elements(const Shape& operand, const Shape& result);

bool supports(const Graph& graph, const Node& node, const ShapeOf& shape_of);
bool trains(const Node& node);  // from constants that come with every run
void compile_node(Compiler& compiler, const Node& node);

// Nanoseconds for a record on one thread.
double cost(const Graph& graph, const Node& node, const ShapeOf& shape_of);

}  // namespace assay::lanes
