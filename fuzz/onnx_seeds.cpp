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

// Of domain ai.onnx.ml.
constexpr const char* classical_ops[] = {
    "ArrayFeatureExtractor", "Binarizer",       "CastMap",    "FeatureVectorizer", "Imputer", "LabelEncoder",
    "LinearClassifier",      "LinearRegressor", "Normalizer", "OneHotEncoder",     "Scaler",  "ZipMap"};

constexpr const char* random_ops[] = {"RandomNormal",      "RandomUniform", "RandomNormalLike",
                                      "RandomUniformLike", "Bernoulli",     "Multinomial"};

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

std::string classical_operator(const char* op, const char* transform) {
  onnx::ModelProto model = header(17);
  auto& domain = *model.add_opset_import();
  domain.set_domain("ai.onnx.ml");
  domain.set_version(3);
  add_weight(model, "w", onnx::TensorProto::INT64);
  auto& node = *model.mutable_graph()->add_node();
  node.set_op_type(op);
  node.set_domain("ai.onnx.ml");
  node.add_output("y");
  node.add_output("scores");
  node.add_input("x");
  if (std::string(op) == "ArrayFeatureExtractor") node.add_input("w");
  for (const char* name : {"offset", "scale", "coefficients", "intercepts", "imputed_value_floats"}) {
    auto& numbers = attribute(node, name, onnx::AttributeProto::FLOATS);
    numbers.add_floats(0.5F);
    numbers.add_floats(2);
  }
  for (const char* name :
       {"classlabels_ints", "cats_int64s", "keys_int64s", "values_int64s", "inputdimensions"}) {
    auto& numbers = attribute(node, name, onnx::AttributeProto::INTS);
    numbers.add_ints(0);
    numbers.add_ints(1);
  }
  for (const char* name : {"targets", "zeros"}) attribute(node, name, onnx::AttributeProto::INT).set_i(1);
  for (const char* name : {"threshold", "replaced_value_float"})
    attribute(node, name, onnx::AttributeProto::FLOAT).set_f(0.5F);
  attribute(node, "norm", onnx::AttributeProto::STRING).set_s("L2");
  attribute(node, "post_transform", onnx::AttributeProto::STRING).set_s(transform);
  return model.SerializeAsString();
}

std::string random_operator(const char* op) {
  onnx::ModelProto model = header(17);
  auto& node = *model.mutable_graph()->add_node();
  node.set_op_type(op);
  node.add_output("r");
  const std::string name = op;
  if (name != "RandomNormal" && name != "RandomUniform") node.add_input("x");
  auto& shape = attribute(node, "shape", onnx::AttributeProto::INTS);
  shape.add_ints(1);
  shape.add_ints(2);
  for (const char* real : {"mean", "high"}) attribute(node, real, onnx::AttributeProto::FLOAT).set_f(0.5F);
  auto& sum = *model.mutable_graph()->add_node();
  sum.set_op_type("Add");
  for (const char* input : {"x", "r"}) sum.add_input(input);
  sum.add_output("y");
  return model.SerializeAsString();
}

// A sparse weight (COO), by places of all elements or by rows and columns.
std::string sparse_weight(bool by_axis, bool as_constant) {
  onnx::ModelProto model = header(17);
  onnx::SparseTensorProto sparse;
  sparse.mutable_values()->set_name("w");
  sparse.mutable_values()->set_data_type(onnx::TensorProto::FLOAT);
  sparse.mutable_values()->add_dims(2);
  for (const float value : {1.0F, 2.0F}) sparse.mutable_values()->add_float_data(value);
  sparse.mutable_indices()->set_data_type(onnx::TensorProto::INT64);
  sparse.mutable_indices()->add_dims(2);
  if (by_axis) sparse.mutable_indices()->add_dims(2);
  for (const std::int64_t at : {0, 1, 1, 0}) {
    if (sparse.indices().int64_data_size() < (by_axis ? 4 : 2)) sparse.mutable_indices()->add_int64_data(at);
  }
  for (const std::int64_t dim : {2, 2}) sparse.add_dims(dim);
  if (as_constant) {
    auto& constant = *model.mutable_graph()->add_node();
    constant.set_op_type("Constant");
    constant.add_output("w");
    *attribute(constant, "sparse_value", onnx::AttributeProto::SPARSE_TENSOR).mutable_sparse_tensor() =
        sparse;
  } else {
    *model.mutable_graph()->add_sparse_initializer() = sparse;
  }
  auto& node = *model.mutable_graph()->add_node();
  node.set_op_type("MatMul");
  for (const char* input : {"x", "w"}) node.add_input(input);
  node.add_output("y");
  return model.SerializeAsString();
}

}  // namespace

std::vector<std::string> onnx_seeds() {
  std::vector<std::string> seeds;
  for (const char* op : ops) {
    for (const int opset : {7, 9, 11, 17, 21}) seeds.push_back(one_operator(op, opset));
  }
  for (const char* op : fused_ops) seeds.push_back(fused_operator(op));
  for (const char* op : classical_ops) {
    for (const char* transform : {"NONE", "SOFTMAX", "LOGISTIC"})
      seeds.push_back(classical_operator(op, transform));
  }
  for (const char* op : random_ops) seeds.push_back(random_operator(op));
  for (const bool by_axis : {false, true}) {
    for (const bool as_constant : {false, true}) seeds.push_back(sparse_weight(by_axis, as_constant));
  }
  return seeds;
}

}  // namespace assay::fuzz
