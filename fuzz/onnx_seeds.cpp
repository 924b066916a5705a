#include "onnx_seeds.h"

#include <onnx/onnx_pb.h>

namespace assay::fuzz {
namespace {

constexpr const char* ops[] = {"Squeeze",
                               "Unsqueeze",
                               "ReduceSum",
                               "ReduceMean",
                               "Split",
                               "Slice",
                               "Clip",
                               "Pad",
                               "Dropout",
                               "TopK",
                               "Upsample",
                               "Resize",
                               "Scatter",
                               "Softmax",
                               "BatchNormalization",
                               "GroupNormalization",
                               "Cast",
                               "EyeLike",
                               "ConstantOfShape",
                               "Identity",
                               "Constant",
                               "MatMul",
                               "Relu",
                               "Reshape",
                               "Flatten",
                               "Gelu"};

// Of domain com.microsoft.
constexpr const char* fused_ops[] = {"Attention",
                                     "BiasGelu",
                                     "EmbedLayerNormalization",
                                     "FusedConv",
                                     "FusedGemm",
                                     "FusedMatMulActivation",
                                     "MatMulNBits",
                                     "MultiHeadAttention",
                                     "QAttention",
                                     "RotaryEmbedding",
                                     "SimplifiedLayerNormalization",
                                     "SkipLayerNormalization",
                                     "SkipSimplifiedLayerNormalization"};

onnx::AttributeProto& attribute(onnx::NodeProto& node, const char* name,
                                onnx::AttributeProto::AttributeType type) {
  auto& added = *node.add_attribute();
  added.set_name(name);
  added.set_type(type);
  return added;
}

// Everything that some rule reads; the others ignore it.
void add_attributes(onnx::NodeProto& node) {
  for (const char* name : {"axes", "split", "starts", "ends", "pads"}) {
    attribute(node, name, onnx::AttributeProto::INTS).add_ints(1);
  }
  for (const char* name : {"axis", "k", "to", "dtype", "num_groups", "spatial", "training_mode"}) {
    attribute(node, name, onnx::AttributeProto::INT).set_i(1);
  }
  for (const char* name : {"min", "value", "ratio"})
    attribute(node, name, onnx::AttributeProto::FLOAT).set_f(0.5f);
  attribute(node, "scales", onnx::AttributeProto::FLOATS).add_floats(2);
  attribute(node, "mode", onnx::AttributeProto::STRING).set_s("linear");
}

onnx::ModelProto header(int opset) {
  onnx::ModelProto model;
  model.set_ir_version(8);
  model.add_opset_import()->set_version(opset);
  auto& input = *model.mutable_graph()->add_input();
  input.set_name("x");
  input.mutable_type()->mutable_tensor_type()->set_elem_type(onnx::TensorProto::FLOAT);
  auto& shape = *input.mutable_type()->mutable_tensor_type()->mutable_shape();
  shape.add_dim()->set_dim_param("N");
  shape.add_dim()->set_dim_value(4);
  model.mutable_graph()->add_output()->set_name("y");
  return model;
}

void add_weight(onnx::ModelProto& model, const char* name, int type) {
  auto& tensor = *model.mutable_graph()->add_initializer();
  tensor.set_name(name);
  tensor.set_data_type(type);
  tensor.add_dims(2);
  tensor.set_raw_data(std::string(2, '\x01'));
  if (type == onnx::TensorProto::INT64)
    tensor.set_raw_data(std::string("\1\0\0\0\0\0\0\0\2\0\0\0\0\0\0\0", 16));
  if (type == onnx::TensorProto::FLOAT16) tensor.set_raw_data(std::string("\0\x3c\0\x40", 4));
}

std::string one_operator(const char* op, int opset) {
  onnx::ModelProto model = header(opset);
  add_weight(model, "w", onnx::TensorProto::INT64);
  add_weight(model, "h", onnx::TensorProto::FLOAT16);
  add_weight(model, "b", onnx::TensorProto::UINT8);
  auto& node = *model.mutable_graph()->add_node();
  node.set_op_type(op);
  node.add_output("y");
  if (std::string(op) == "Constant") {
    attribute(node, "value_float", onnx::AttributeProto::FLOAT).set_f(1);
  } else {
    node.add_input(std::string(op) == "ConstantOfShape" || std::string(op) == "Identity" ? "w" : "x");
    if (std::string(op) == "BatchNormalization" || std::string(op) == "GroupNormalization") {
      for (const char* name : {"h", "h", "b", "b"}) node.add_input(name);
    }
    add_attributes(node);
  }
  return model.SerializeAsString();
}

std::string fused_operator(const char* op) {
  onnx::ModelProto model = header(17);
  add_weight(model, "w", onnx::TensorProto::INT64);
  add_weight(model, "h", onnx::TensorProto::FLOAT16);
  add_weight(model, "b", onnx::TensorProto::UINT8);
  auto& node = *model.mutable_graph()->add_node();
  node.set_op_type(op);
  node.set_domain("com.microsoft");
  for (const char* output : {"y", "u", "v", "s"}) node.add_output(output);
  for (const char* input : {"x", "b", "h", "b", "w", "h", "x", "h"}) node.add_input(input);
  for (const char* name :
       {"K", "N", "block_size", "num_heads", "unidirectional", "interleaved", "transA", "transB"})
    attribute(node, name, onnx::AttributeProto::INT).set_i(2);
  attribute(node, "bits", onnx::AttributeProto::INT).set_i(4);
  attribute(node, "alpha", onnx::AttributeProto::FLOAT).set_f(0.5F);
  attribute(node, "activation", onnx::AttributeProto::STRING).set_s("Clip");
  return model.SerializeAsString();
}

}  // namespace

std::vector<std::string> onnx_seeds() {
  std::vector<std::string> seeds;
  for (const char* op : ops) {
    for (const int opset : {7, 9, 11, 17, 21}) seeds.push_back(one_operator(op, opset));
  }
  for (const char* op : fused_ops) seeds.push_back(fused_operator(op));
  return seeds;
}

}  // namespace assay::fuzz
