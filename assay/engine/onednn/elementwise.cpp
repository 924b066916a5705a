// Activations, arithmetic, normalisation, concatenation, softmax and views.

#include <algorithm>
#include <limits>
#include <string>

#include "assay/engine/onednn/families.h"

namespace assay::onednn {
namespace {

bool clip_bound(const Graph& graph, const Node& node, std::size_t input, float& bound) {
  if (input >= node.inputs.size() || node.inputs[input] == no_value) return true;
  if (!graph.is_constant(node.inputs[input])) return false;
  const Array& array = graph.constant(node.inputs[input]);
  if (array.dtype() != DType::float32 || array.count() != 1) return false;
  bound = array.as<float>()[0];
  return true;
}

// A constant that broadcasts per channel or as one number, as dimensions of the value's rank; empty
// otherwise.
Dims broadcast_dims(const Array& array, std::size_t rank, std::int64_t channels) {
  Dims dims(rank, 1);
  if (array.count() == 1) return dims;
  if (array.shape().size() > rank || array.count() != channels) return {};
  const std::size_t offset = rank - array.shape().size();
  for (std::size_t d = 0; d < array.shape().size(); ++d) dims[offset + d] = array.shape()[d];
  return dims[1] == channels ? dims : Dims{};
}

std::size_t constant_operand(const Graph& graph, const Node& node) {
  return graph.is_constant(node.inputs[1]) ? 1 : graph.is_constant(node.inputs[0]) ? 0 : 2;
}

dnnl::algorithm binary_algorithm(const std::string& op) {
  if (op == "Mul") return dnnl::algorithm::binary_mul;
  if (op == "Sub") return dnnl::algorithm::binary_sub;
  return dnnl::algorithm::binary_add;
}

}  // namespace

bool eltwise_of(const Graph& graph, const Node& node, Eltwise& eltwise) {
  if (node.op == "Relu")
    eltwise = {dnnl::algorithm::eltwise_relu};
  else if (node.op == "LeakyRelu")
    eltwise = {dnnl::algorithm::eltwise_relu, node.real("alpha", 0.01F)};
  else if (node.op == "Sigmoid")
    eltwise = {dnnl::algorithm::eltwise_logistic};
  else if (node.op == "Tanh")
    eltwise = {dnnl::algorithm::eltwise_tanh};
  else if (node.op == "Elu")
    eltwise = {dnnl::algorithm::eltwise_elu, node.real("alpha", 1.0F)};
  else if (node.op == "HardSwish")
    eltwise = {dnnl::algorithm::eltwise_hardswish, 1.0F / 6, 0.5F};  // constants that oneDNN 2 holds itself
  else if (node.op == "Clip") {
    eltwise = {dnnl::algorithm::eltwise_clip, std::numeric_limits<float>::lowest(),
               std::numeric_limits<float>::max()};
    return clip_bound(graph, node, 1, eltwise.alpha) && clip_bound(graph, node, 2, eltwise.beta) &&
           eltwise.alpha <= eltwise.beta;
  } else {
    return false;
  }
  return true;
}

ValueId absorb_activation(Compiler& compiler, ValueId id, dnnl::post_ops& post) {
  const Node* reader = compiler.sole_reader(id);
  Eltwise eltwise;
  if (reader == nullptr || !eltwise_of(compiler.graph(), *reader, eltwise)) return id;
  append_eltwise(post, eltwise.algorithm, eltwise.alpha, eltwise.beta);
  compiler.fuse(*reader);
  return reader->outputs[0];
}

bool supports_eltwise(const Graph& graph, const Node& node, const ShapeOf&) {
  Eltwise eltwise;
  return !graph.is_constant(node.inputs[0]) && eltwise_of(graph, node, eltwise);
}

void compile_eltwise(Compiler& compiler, const Node& node) {
  Eltwise eltwise;
  eltwise_of(compiler.graph(), node, eltwise);
  const Place source = compiler.place(node.inputs[0]);
  const auto primitive =
      describe_eltwise(eltwise.algorithm, source.desc, eltwise.alpha, eltwise.beta, Compiler::attributes());
  const Place target = compiler.buffer(primitive.dst_desc());
  compiler.step(dnnl::eltwise_forward(primitive), {{DNNL_ARG_SRC, source}, {DNNL_ARG_DST, target}},
                primitive.scratchpad_desc());
  compiler.define(node.outputs[0], target);
}

bool supports_binary(const Graph& graph, const Node& node, const ShapeOf& shape_of) {
  const std::size_t constant = constant_operand(graph, node);
  if (constant == 0 && node.op == "Sub") return false;
  if (constant == 2) return shape_of(node.inputs[0]) == shape_of(node.inputs[1]);
  const Shape& shape = shape_of(node.inputs[1 - constant]);
  const Array& array = graph.constant(node.inputs[constant]);
  return array.dtype() == DType::float32 && shape == shape_of(node.outputs[0]) &&
         !broadcast_dims(array, shape.size(), shape[1]).empty();
}

void compile_binary(Compiler& compiler, const Node& node) {
  const std::size_t constant = constant_operand(compiler.graph(), node);
  const ValueId first = node.inputs[constant == 0 ? 1 : 0];
  const Dims dims = compiler.shape(first);
  Place left = compiler.place(first);
  if (dims_of(left.desc) != dims) left = compiler.plainly(first);
  Place right;
  if (constant == 2) {
    right = compiler.in_layout(node.inputs[1], dims, left.desc);
  } else {
    const Array& array = compiler.graph().constant(node.inputs[constant]);
    const Dims shape = broadcast_dims(array, dims.size(), dims[1]);
    right = compiler.weight(array, shape, Compiler::plain(shape));
  }
  dnnl::post_ops post;
  const ValueId result = absorb_activation(compiler, node.outputs[0], post);
  const auto primitive =
      describe_binary(binary_algorithm(node.op), left.desc, right.desc, Compiler::attributes(post));
  const Place target = compiler.buffer(primitive.dst_desc());
  compiler.step(dnnl::binary(primitive),
                {{DNNL_ARG_SRC_0, left}, {DNNL_ARG_SRC_1, right}, {DNNL_ARG_DST, target}},
                primitive.scratchpad_desc());
  compiler.define(result, target);
}

bool supports_normalisation(const Graph& graph, const Node& node, const ShapeOf& shape_of) {
  const Shape& shape = shape_of(node.inputs[0]);
  // Which axes a fused sum goes along is ambiguous where one after the channels has a single position.
  if (std::any_of(shape.begin() + 2, shape.end(), [](std::int64_t size) { return size == 1; })) return false;
  Affine affine;
  return affine_of(graph, node, affine) && static_cast<std::int64_t>(affine.scale.size()) == shape[1];
}

void compile_normalisation(Compiler& compiler, const Node& node) {
  // y = scale * x + shift per channel, as a product and a fused sum.
  Affine affine;
  affine_of(compiler.graph(), node, affine);
  const Dims dims = compiler.shape(node.inputs[0]);
  Dims shape(dims.size(), 1);
  shape[1] = dims[1];
  Place source = compiler.place(node.inputs[0]);
  if (dims_of(source.desc) != dims) source = compiler.plainly(node.inputs[0]);
  const Place scale = compiler.weight(Array::of<float>(shape, affine.scale), shape, Compiler::plain(shape));
  const Place shift = compiler.weight(Array::of<float>(shape, affine.shift), shape, Compiler::plain(shape));
  dnnl::post_ops post;
  post.append_binary(dnnl::algorithm::binary_add, Compiler::plain(shape));
  const ValueId result = absorb_activation(compiler, node.outputs[0], post);
  const auto primitive =
      describe_binary(dnnl::algorithm::binary_mul, source.desc, scale.desc, Compiler::attributes(post));
  const Place target = compiler.buffer(primitive.dst_desc());
  compiler.step(dnnl::binary(primitive),
                {{DNNL_ARG_SRC_0, source},
                 {DNNL_ARG_SRC_1, scale},
                 {DNNL_ARG_ATTR_MULTIPLE_POST_OP(0) | DNNL_ARG_SRC_1, shift},
                 {DNNL_ARG_DST, target}},
                primitive.scratchpad_desc());
  compiler.define(result, target);
}

bool supports_concat(const Graph& graph, const Node& node, const ShapeOf& shape_of) {
  const auto rank = static_cast<std::int64_t>(shape_of(node.outputs[0]).size());
  const std::int64_t axis = node.integer("axis", 1);
  if (axis == 0 || axis == -rank) return false;
  return std::none_of(node.inputs.begin(), node.inputs.end(),
                      [&](ValueId in) { return graph.is_constant(in); });
}

void compile_concat(Compiler& compiler, const Node& node) {
  const Dims output = compiler.shape(node.outputs[0]);
  std::int64_t axis = node.integer("axis", 1);
  if (axis < 0) axis += static_cast<std::int64_t>(output.size());
  std::vector<dnnl::memory::desc> descs;
  std::vector<std::pair<int, Place>> arguments;
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    Place source = compiler.place(node.inputs[i]);
    if (dims_of(source.desc) != compiler.shape(node.inputs[i])) source = compiler.plainly(node.inputs[i]);
    descs.push_back(source.desc);
    arguments.emplace_back(DNNL_ARG_MULTIPLE_SRC + static_cast<int>(i), source);
  }
  const auto primitive = describe_concat(static_cast<int>(axis), descs, Compiler::attributes());
  const Place target = compiler.buffer(primitive.dst_desc());
  arguments.emplace_back(DNNL_ARG_DST, target);
  compiler.step(dnnl::concat(primitive), std::move(arguments), primitive.scratchpad_desc());
  compiler.define(node.outputs[0], target);
}

bool supports_softmax(const Graph& graph, const Node& node, const ShapeOf& shape_of) {
  const auto rank = static_cast<std::int64_t>(shape_of(node.inputs[0]).size());
  const std::int64_t axis = node.integer("axis", -1);
  return !graph.is_constant(node.inputs[0]) && axis != 0 && axis != -rank;
}

void compile_softmax(Compiler& compiler, const Node& node) {
  const Place source = compiler.plainly(node.inputs[0]);
  std::int64_t axis = node.integer("axis", -1);
  if (axis < 0) axis += static_cast<std::int64_t>(dims_of(source.desc).size());
  const auto primitive = describe_softmax(source.desc, static_cast<int>(axis), Compiler::attributes());
  const Place target = compiler.buffer(primitive.dst_desc());
  compiler.step(dnnl::softmax_forward(primitive), {{DNNL_ARG_SRC, source}, {DNNL_ARG_DST, target}},
                primitive.scratchpad_desc());
  compiler.define(node.outputs[0], target);
}

bool supports_view(const Graph& graph, const Node& node, const ShapeOf& shape_of) {
  if (graph.is_constant(node.inputs[0])) return false;
  if (node.op == "Identity" || node.op == "Dropout") return !drops(graph, node);
  return shape_of(node.outputs[0]).size() == 2 && shape_of(node.inputs[0]).size() >= 2;
}

void compile_view(Compiler& compiler, const Node& node) {
  // Nothing moves: a reader that needs another layout reorders.
  compiler.alias(node.outputs[0], compiler.place(node.inputs[0]));
}

}  // namespace assay::onednn
