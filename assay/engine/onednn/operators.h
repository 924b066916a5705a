#pragma once

// How single operators become oneDNN primitives. Adding one: a supports_* and a compile_* function in
// operators.cpp and a line in its table.

#include <map>
#include <set>
#include <vector>

#include "assay/engine/onednn/program.h"
#include "assay/engine/parameters.h"

namespace assay::onednn {

// State while a segment is being compiled: where each value is, in which layout, and which buffers are free.
class Compiler {
 public:
  Compiler(const SegmentRequest& request, std::span<const ValueId> inputs, std::int64_t rows);
  Program compile();

  const Graph& graph() const { return graph_; }
  // Logical shape of a value in this chunk.
  dnnl::memory::dims shape(ValueId id) const;
  static dnnl::memory::desc plain(const dnnl::memory::dims& dims);
  static dnnl::memory::desc any(const dnnl::memory::dims& dims);
  static dnnl::primitive_attr attributes(const dnnl::post_ops& post = {});

  // For nodes that take over work of the one that follows.
  Absorber absorber();
  // The node that alone reads the value, if it is in the segment and the value is not wanted by anyone else.
  const Node* sole_reader(ValueId id) const;
  // Marks a node as done by the primitive of an earlier one.
  void fuse(const Node& node);

  const Place& place(ValueId id) const;
  Place buffer(const dnnl::memory::desc& desc);
  // A constant in the layout that a primitive wants.
  Place weight(const Array& array, const dnnl::memory::dims& dims, const dnnl::memory::desc& wanted);
  // The value in the layout that a primitive wants, reordered where needed.
  Place in_layout(ValueId id, const dnnl::memory::dims& dims, const dnnl::memory::desc& wanted);
  Place plainly(ValueId id);
  void step(dnnl::primitive primitive, std::vector<std::pair<int, Place>> arguments,
            const dnnl::memory::desc& scratchpad);
  void define(ValueId id, const Place& place);
  void alias(ValueId id, const Place& place);

 private:
  void release(const Place& place);
  void produced(ValueId id);
  bool wanted(ValueId id) const;
  const Node& node(std::size_t i) const;

  const SegmentRequest& request_;
  const Graph& graph_;
  Program program_;
  std::set<int> inside_, fused_, free_;
  std::map<ValueId, Place> places_;
  std::map<ValueId, std::vector<std::size_t>> taps_at_, outputs_at_;  // of the request, by value
  std::map<int, int> shares_;                                         // further owners of a buffer
  std::vector<Place> temporaries_;
};

bool supports(const Graph& graph, const Node& node, const ShapeOf& shape_of);
void compile_node(Compiler& compiler, const Node& node);
// Nanoseconds for a record on one thread.
double cost(const Graph& graph, const Node& node, const ShapeOf& shape_of);

}  // namespace assay::onednn
