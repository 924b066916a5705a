#pragma once

// Small ONNX files for tests, made with the protobuf classes themselves.

#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include <assay/error.h>
#include <assay/model.h>

namespace assay::testing_onnx {

using Names = std::vector<std::string>;
using Ints = std::vector<std::int64_t>;

// Adds an attribute of the type of `value`.
void set(onnx::NodeProto& node, const std::string& name, std::int64_t value);
void set(onnx::NodeProto& node, const std::string& name, float value);
void set(onnx::NodeProto& node, const std::string& name, const char* value);
void set(onnx::NodeProto& node, const std::string& name, const Ints& values);
void set(onnx::NodeProto& node, const std::string& name, const std::vector<float>& values);

// A tensor of floats in float_data, of integers in int64_data.
onnx::TensorProto floats(const std::string& name, const Shape& shape, const std::vector<float>& values);
onnx::TensorProto integers(const std::string& name, const Ints& values);

// A model under construction; every part of `proto` may be damaged at will.
struct OnnxFile {
  explicit OnnxFile(int opset = 18);

  onnx::ValueInfoProto& input(const std::string& name, const Shape& shape,
                              int type = onnx::TensorProto::FLOAT);
  // Without a shape where none is given.
  onnx::ValueInfoProto& output(const std::string& name, const std::optional<Shape>& shape = std::nullopt);
  onnx::TensorProto& weight(onnx::TensorProto tensor);
  onnx::NodeProto& node(const std::string& op, const Names& inputs, const Names& outputs,
                        const std::string& name = {});

  std::string bytes() const { return proto.SerializeAsString(); }
  Graph read(const std::filesystem::path& folder = {}) const { return read_onnx(bytes(), folder, "test"); }

  onnx::ModelProto proto;
};

// x [N, shape...] through one node of the given operator set to y.
OnnxFile one_node(int opset, const std::string& op, const Shape& shape = {-1, 4},
                  const std::function<void(onnx::NodeProto&)>& change = {});

// The node of that name, which must exist.
const Node& node_of(const Graph& graph, const std::string& name);
// Input i of the node as a constant.
Array constant_input(const Graph& graph, const std::string& node, std::size_t i);
std::vector<std::string> ops(const Graph& graph);

// Fails unless `action` throws an Error of that fault whose message has every part.
void expect_error(Fault fault, const Names& parts, const std::function<void()>& action);

// A fresh folder of that name.
std::filesystem::path fresh_folder(const std::string& name);

inline onnx::NodeProto onnx_node(const std::string& op, const Names& inputs, const Names& outputs) {
  onnx::NodeProto made;
  made.set_op_type(op);
  for (const auto& name : inputs) made.add_input(name);
  for (const auto& name : outputs) made.add_output(name);
  return made;
}

// Gives a node an attribute that is a graph: the body of a loop, a branch.
inline void set_body(onnx::NodeProto& to, const std::string& name, const onnx::GraphProto& graph) {
  auto& attribute = *to.add_attribute();
  attribute.set_name(name);
  attribute.set_type(onnx::AttributeProto::GRAPH);
  *attribute.mutable_g() = graph;
}

}  // namespace assay::testing_onnx
