#include "onnx_build.h"

namespace assay::testing_onnx {
namespace {

onnx::AttributeProto& attribute(onnx::NodeProto& node, const std::string& name,
                                onnx::AttributeProto::AttributeType type) {
  auto& proto = *node.add_attribute();
  proto.set_name(name);
  proto.set_type(type);
  return proto;
}

void set_type(onnx::ValueInfoProto& info, const std::string& name, int type) {
  info.set_name(name);
  info.mutable_type()->mutable_tensor_type()->set_elem_type(type);
}

void set_shape(onnx::ValueInfoProto& info, const Shape& shape) {
  auto& proto = *info.mutable_type()->mutable_tensor_type()->mutable_shape();
  for (const auto size : shape) {
    auto& dim = *proto.add_dim();
    if (size >= 0) dim.set_dim_value(size);
    if (size < 0) dim.set_dim_param("N");
  }
}

}  // namespace

void set(onnx::NodeProto& node, const std::string& name, std::int64_t value) {
  attribute(node, name, onnx::AttributeProto::INT).set_i(value);
}
void set(onnx::NodeProto& node, const std::string& name, float value) {
  attribute(node, name, onnx::AttributeProto::FLOAT).set_f(value);
}
void set(onnx::NodeProto& node, const std::string& name, const char* value) {
  attribute(node, name, onnx::AttributeProto::STRING).set_s(value);
}
void set(onnx::NodeProto& node, const std::string& name, const Ints& values) {
  attribute(node, name, onnx::AttributeProto::INTS).mutable_ints()->Assign(values.begin(), values.end());
}
void set(onnx::NodeProto& node, const std::string& name, const std::vector<float>& values) {
  attribute(node, name, onnx::AttributeProto::FLOATS).mutable_floats()->Assign(values.begin(), values.end());
}

onnx::TensorProto floats(const std::string& name, const Shape& shape, const std::vector<float>& values) {
  onnx::TensorProto tensor;
  tensor.set_name(name);
  tensor.set_data_type(onnx::TensorProto::FLOAT);
  tensor.mutable_dims()->Assign(shape.begin(), shape.end());
  tensor.mutable_float_data()->Assign(values.begin(), values.end());
  return tensor;
}

onnx::TensorProto integers(const std::string& name, const Ints& values) {
  onnx::TensorProto tensor;
  tensor.set_name(name);
  tensor.set_data_type(onnx::TensorProto::INT64);
  tensor.add_dims(std::ssize(values));
  tensor.mutable_int64_data()->Assign(values.begin(), values.end());
  return tensor;
}

OnnxFile::OnnxFile(int opset) {
  proto.set_ir_version(8);
  proto.add_opset_import()->set_version(opset);
  proto.mutable_graph()->set_name("test");
}

onnx::ValueInfoProto& OnnxFile::input(const std::string& name, const Shape& shape, int type) {
  auto& info = *proto.mutable_graph()->add_input();
  set_type(info, name, type);
  set_shape(info, shape);
  return info;
}

onnx::ValueInfoProto& OnnxFile::output(const std::string& name, const std::optional<Shape>& shape) {
  auto& info = *proto.mutable_graph()->add_output();
  set_type(info, name, onnx::TensorProto::FLOAT);
  if (shape) set_shape(info, *shape);
  return info;
}

onnx::TensorProto& OnnxFile::weight(onnx::TensorProto tensor) {
  return *proto.mutable_graph()->add_initializer() = std::move(tensor);
}

onnx::NodeProto& OnnxFile::node(const std::string& op, const Names& inputs, const Names& outputs,
                                const std::string& name) {
  auto& node = *proto.mutable_graph()->add_node();
  node.set_op_type(op);
  if (!name.empty()) node.set_name(name);
  for (const auto& input : inputs) node.add_input(input);
  for (const auto& output : outputs) node.add_output(output);
  return node;
}

OnnxFile one_node(int opset, const std::string& op, const Shape& shape,
                  const std::function<void(onnx::NodeProto&)>& change) {
  OnnxFile file(opset);
  file.input("x", shape);
  file.output("y");
  auto& node = file.node(op, {"x"}, {"y"}, "n");
  if (change) change(node);
  return file;
}

const Node& node_of(const Graph& graph, const std::string& name) {
  const auto index = graph.find_node(name);
  if (!index) throw std::runtime_error("no node named " + name);
  return graph.node(*index);
}

Array constant_input(const Graph& graph, const std::string& node, std::size_t i) {
  const ValueId id = node_of(graph, node).inputs.at(i);
  if (!graph.is_constant(id)) throw std::runtime_error("the input is no constant");
  return graph.constant(id);
}

std::vector<std::string> ops(const Graph& graph) {
  std::vector<std::string> names;
  for (const Node& node : graph.nodes()) names.push_back(node.op);
  return names;
}

void expect_error(Fault fault, const Names& parts, const std::function<void()>& action) {
  try {
    action();
    ADD_FAILURE() << "no error was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(static_cast<int>(error.fault()), static_cast<int>(fault)) << error.what();
    for (const auto& part : parts)
      EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
  }
}

std::filesystem::path fresh_folder(const std::string& name) {
  const auto path = std::filesystem::path(testing::TempDir()) / name;
  std::filesystem::remove_all(path);
  std::filesystem::create_directories(path);
  return path;
}

}  // namespace assay::testing_onnx
