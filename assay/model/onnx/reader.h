#pragma once

// Reads one ONNX graph into the canonical form. Each family of nodes that are more than one node stands in a
// separate file: read_control.cpp (branches, loops), read_sequences.cpp, read_classical.cpp.

#include <map>
#include <set>
#include <string>
#include <vector>

#include <assay/graph.h>
#include "assay/model/onnx/body.h"
#include "assay/model/onnx/fold.h"
#include "assay/model/onnx/graph.h"
#include "assay/model/onnx/known.h"
#include "assay/model/onnx/order.h"
#include "assay/model/onnx/proto.h"
#include "assay/model/onnx/tensor.h"

namespace assay::onnx_format {

class Reader {
 public:
  Reader(onnx::ModelProto model, std::filesystem::path folder, std::string name);

  Graph read();
  // The same of a body: its inputs need no shapes.
  Graph body();
  // How many positions these Scan nodes go over, by their names, where shapes do not tell.
  void tell_scanned(std::map<std::string, std::int64_t> positions) { scanned_ = std::move(positions); }
  // What users should know of how the file is read.
  void notice(std::string text) { graph_.notice(std::move(text)); }

 private:
  struct Type {
    DType dtype = DType::float32;
    std::optional<Shape> shape;
  };

  // read.cpp
  void reserve_names(const onnx::GraphProto& graph);
  void read_initializers();
  void read_initializer(onnx::TensorProto& tensor);
  void read_inputs(const onnx::GraphProto& graph);
  void read_outputs(const onnx::GraphProto& graph);
  Type type_of(const onnx::ValueInfoProto& info, std::string_view role);
  Type inferred_type(const onnx::ValueInfoProto& info, std::string_view role);
  template <typename List>
  void declare_shapes(const List& list);
  void read_node(const onnx::NodeProto& proto, int index);
  void read_operator(const onnx::NodeProto& proto, Node node);
  void infer_types(const onnx::NodeProto& proto, const Node& node);
  bool fold(const std::string& output, const Node& node);
  std::string node_name(const onnx::NodeProto& proto, int index);
  [[noreturn]] void refuse_domain(const onnx::NodeProto& proto, const Node& node) const;
  void read_attributes(const onnx::NodeProto& proto, Node& node);
  Attribute read_attribute(const onnx::AttributeProto& proto, const Node& node);
  const onnx::FunctionProto* function_of(const onnx::NodeProto& proto) const;
  void call_function(const onnx::FunctionProto& function, const onnx::NodeProto& call,
                     const std::string& prefix);
  // The value of this name is the one of that name.
  void alias(const std::string& from, const std::string& to);
  // Adds a node of the canonical form whose inputs and output have names.
  void add(const std::string& op, const std::string& name, const std::vector<std::string>& inputs,
           const std::string& output, std::map<std::string, Attribute> attributes = {});
  // The name of a new constant of integers.
  std::string constant(const std::string& base, const std::vector<std::int64_t>& values, bool single = false);

  // read_control.cpp
  bool read_control(const onnx::NodeProto& proto, const Node& node);
  std::vector<onnx::NodeProto> take_out_endings(onnx::NodeProto& proto, const Node& node);
  void read_if(const onnx::NodeProto& proto, const Node& node);
  void read_loop(const onnx::NodeProto& proto, const Node& node);
  void read_scan(const onnx::NodeProto& proto, const Node& node);
  bool unroll_loop(const onnx::NodeProto& proto, const Node& node, const onnx::GraphProto& body);
  bool unroll_scan(const onnx::NodeProto& proto, const Node& node, const onnx::GraphProto& body);
  // How many positions a Scan goes over. Axes with a known rank become those from 0.
  std::optional<std::int64_t> scanned_positions(const onnx::NodeProto& proto, const Node& node, int states,
                                                std::vector<std::int64_t>& axes);
  // The body's nodes as nodes of this graph: its inputs are called `given` here, its outputs `wanted` ("":
  // unused).
  void inline_body(onnx::GraphProto body, const std::vector<std::string>& given,
                   const std::vector<std::string>& wanted, const std::string& prefix);
  void stack(const std::vector<std::string>& parts, std::int64_t axis, const std::string& output,
             const Node& node);
  void state_types(const onnx::NodeProto& proto, const Node& node, onnx::GraphProto& body) const;
  // A node whose bodies run as separate networks; each of `bodies` is an attribute of the file's node.
  void keep_bodies(const onnx::NodeProto& proto, Node node, const std::vector<std::string>& bodies);
  Graph read_body(onnx::GraphProto body, const std::set<std::string>& captured, const std::string& name);

  // read_sequences.cpp
  bool is_sequence_or_optional(const std::string& name) const;
  bool read_sequence(const onnx::NodeProto& proto, const Node& node);
  void split_to_sequence(const onnx::NodeProto& proto, const Node& node);
  void concat_sequence(const onnx::NodeProto& proto, const Node& node);
  void map_sequence(const onnx::NodeProto& proto, const Node& node);
  // Turns a loop's sequence to which every round appends one element into what rounds give one after another.
  // False where there is none.
  bool stack_collected(onnx::NodeProto& loop, const Node& node);
  bool read_stacked(const onnx::NodeProto& proto, const Node& node);
  void join_stacked(const onnx::NodeProto& proto, const Node& node, const std::string& stacked);
  std::size_t position_in(const onnx::NodeProto& proto, const Node& node, int input, std::int64_t count);
  const std::vector<std::string>& sequence(const onnx::NodeProto& proto, const Node& node, int input) const;
  bool read_optional(const onnx::NodeProto& proto, const Node& node);

  // read_classical.cpp
  bool read_classical(const onnx::NodeProto& proto, const Node& node);
  void read_columns(onnx::NodeProto proto, Node node);

  onnx::ModelProto model_;
  std::filesystem::path folder_;
  TensorReader tensors_;
  OnnxGraph graph_;
  Known known_{graph_};
  Folder folder_of_constants_;
  std::set<std::string> given_names_;  // names of nodes still to come, each once
  // Sequences and optional values exist while reading only: names of their elements; of what they hold.
  std::map<std::string, std::vector<std::string>> sequences_;
  std::map<std::string, std::optional<std::string>> optionals_;
  // Sequences of as many elements as a loop has rounds: the value that has them along its first axis.
  std::map<std::string, std::string> stacked_;
  std::set<std::string> dropped_;  // texts, values after them or operators of classical machine learning
  std::map<std::string, std::string>
      named_;  // output of a dropped node that names its input's columns -> that input
  int opset_ = 0, depth_ = 0;
  std::int64_t unrolled_ = 0;
  std::map<std::string, std::int64_t> scanned_;
  bool is_body_ = false;  // inputs need no shapes, and outputs are whatever they are
};

}  // namespace assay::onnx_format
