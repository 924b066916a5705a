// Convolution and dense layers.

#include "assay/engine/onednn/families.h"

namespace assay::onednn {
namespace {

// As oneDNN counts: dilation 0 is dense.
Window window_of(const SlidingWindow& sliding) {
  Window window{sliding.strides, sliding.dilations, sliding.left, sliding.right};
  for (std::int64_t& dilation : window.dilations) --dilation;
  return window;
}

}  // namespace

bool supports_convolution(const Graph& graph, const Node& node, const ShapeOf& shape_of) {
  const Shape& input = shape_of(node.inputs[0]);
  if (input.size() < 3 || !is_float_constant(graph, node, 1)) return false;
  const bool has_bias = node.inputs.size() > 2 && node.inputs[2] != no_value;
  if (has_bias && !is_float_constant(graph, node, 2)) return false;
  return graph.constant(node.inputs[1]).shape().size() == input.size();
}

void compile_convolution(Compiler& compiler, const Node& node) {
  const Graph& graph = compiler.graph();
  const Array& kernel = graph.constant(node.inputs[1]);
  const Dims input = compiler.shape(node.inputs[0]), output = compiler.shape(node.outputs[0]);
  const Dims extent(kernel.shape().begin() + 2, kernel.shape().end());
  const Window window = window_of(sliding_window(node, input, output, extent));

  std::vector<float> weights = floats(kernel);
  std::vector<float> bias(static_cast<std::size_t>(kernel.shape()[0]), 0.0F);
  if (node.inputs.size() > 2 && node.inputs[2] != no_value) bias = floats(graph.constant(node.inputs[2]));
  ValueId result = compiler.absorber().normalisation(node.outputs[0], weights, bias);
  dnnl::post_ops post;
  result = absorb_activation(compiler, result, post);

  Dims weight_dims = kernel.shape();
  const std::int64_t groups = node.integer("group", 1);
  if (groups > 1) {
    weight_dims[0] /= groups;
    weight_dims.insert(weight_dims.begin(), groups);
  }
  const Dims bias_dims{kernel.shape()[0]};
  const auto primitive =
      describe_convolution(Compiler::any(input), Compiler::any(weight_dims), Compiler::any(bias_dims),
                           Compiler::any(output), window, Compiler::attributes(post));
  const Place source = compiler.in_layout(node.inputs[0], input, primitive.src_desc());
  const Place target = compiler.buffer(primitive.dst_desc());
  compiler.step(
      dnnl::convolution_forward(primitive),
      {{DNNL_ARG_SRC, source},
       {DNNL_ARG_WEIGHTS,
        compiler.weight(Array::of<float>(kernel.shape(), weights), weight_dims, primitive.weights_desc())},
       {DNNL_ARG_BIAS, compiler.weight(Array::of<float>(bias_dims, bias), bias_dims, primitive.bias_desc())},
       {DNNL_ARG_DST, target}},
      primitive.scratchpad_desc());
  compiler.define(result, target);
}

bool supports_dense(const Graph& graph, const Node& node, const ShapeOf& shape_of) {
  if (shape_of(node.inputs[0]).size() != 2 || graph.is_constant(node.inputs[0])) return false;
  if (!is_float_constant(graph, node, 1) || graph.constant(node.inputs[1]).shape().size() != 2) return false;
  if (node.op == "Gemm") {
    if (node.integer("transA", 0) != 0) return false;
    const bool has_bias = node.inputs.size() > 2 && node.inputs[2] != no_value;
    if (has_bias && !is_float_constant(graph, node, 2)) return false;
  }
  std::vector<float> weights, bias;
  return dense_parameters(graph, node, weights, bias);
}

void compile_dense(Compiler& compiler, const Node& node) {
  std::vector<float> weights, bias;
  dense_parameters(compiler.graph(), node, weights, bias);
  ValueId result =
      node.op == "MatMul" ? compiler.absorber().added_bias(node.outputs[0], bias) : node.outputs[0];
  result = compiler.absorber().normalisation(result, weights, bias);
  dnnl::post_ops post;
  result = absorb_activation(compiler, result, post);

  const Dims output = compiler.shape(node.outputs[0]);
  // A flattened image is read where it lies: the dense weights take the image's shape instead.
  const Dims input = dims_of(compiler.place(node.inputs[0]).desc);
  Dims weight_dims = input;
  weight_dims[0] = output[1];
  const Dims bias_dims{output[1]};
  const auto primitive =
      describe_inner_product(Compiler::any(input), Compiler::any(weight_dims), Compiler::any(bias_dims),
                             Compiler::any(output), Compiler::attributes(post));
  const Place source = compiler.in_layout(node.inputs[0], input, primitive.src_desc());
  const Place target = compiler.buffer(primitive.dst_desc());
  compiler.step(
      dnnl::inner_product_forward(primitive),
      {{DNNL_ARG_SRC, source},
       {DNNL_ARG_WEIGHTS,
        compiler.weight(Array::of<float>(weight_dims, weights), weight_dims, primitive.weights_desc())},
       {DNNL_ARG_BIAS, compiler.weight(Array::of<float>(bias_dims, bias), bias_dims, primitive.bias_desc())},
       {DNNL_ARG_DST, target}},
      primitive.scratchpad_desc());
  compiler.define(result, target);
}

}  // namespace assay::onednn
