// Convolution and dense layers.

#include <algorithm>
#include <cmath>
#include <string>

#include "assay/engine/onednn/families.h"

namespace assay::onednn {
namespace {

// Strides, dilations and padding with automatic padding resolved from input and output extents.
Window window_of(const Node& node, const Dims& input, const Dims& output, const Dims& kernel) {
  const std::size_t rank = input.size() - 2;
  Window window;
  window.strides = node.integers("strides", Dims(rank, 1));
  window.dilations = node.integers("dilations", Dims(rank, 1));
  const Dims pads = node.integers("pads", Dims(2 * rank, 0));
  const std::string automatic = node.text("auto_pad", "NOTSET");
  for (std::size_t d = 0; d < rank; ++d) {
    const std::int64_t extent = (kernel[d] - 1) * window.dilations[d] + 1;
    const std::int64_t needed = (output[d + 2] - 1) * window.strides[d] + extent - input[d + 2];
    std::int64_t left = pads[d];
    if (automatic == "VALID") left = 0;
    if (automatic == "SAME_UPPER") left = std::max<std::int64_t>(needed, 0) / 2;
    if (automatic == "SAME_LOWER") left = (std::max<std::int64_t>(needed, 0) + 1) / 2;
    window.left.push_back(left);
    window.right.push_back(needed - left);
    window.dilations[d] -= 1;
  }
  return window;
}

// Weights scaled per output channel, and the bias that goes with it. `outer` weights per output channel.
void fold(std::vector<float>& weights, std::vector<float>& bias, const Affine& affine) {
  const std::size_t outer = weights.size() / bias.size();
  for (std::size_t o = 0; o < bias.size(); ++o) {
    for (std::size_t i = 0; i < outer; ++i) weights[o * outer + i] *= affine.scale[o];
    bias[o] = bias[o] * affine.scale[o] + affine.shift[o];
  }
}

std::vector<float> floats(const Array& array) {
  const auto values = array.as<float>();
  return {values.begin(), values.end()};
}

// Takes over a batch normalisation that alone reads `id`.
ValueId absorb_normalisation(Compiler& compiler, ValueId id, std::vector<float>& weights,
                             std::vector<float>& bias) {
  const Node* reader = compiler.sole_reader(id);
  Affine affine;
  if (reader == nullptr || reader->op != "BatchNormalization" ||
      !affine_of(compiler.graph(), *reader, affine))
    return id;
  if (affine.scale.size() != bias.size()) return id;
  fold(weights, bias, affine);
  compiler.fuse(*reader);
  return reader->outputs[0];
}

// The [units, inputs] weights and the bias of a dense node.
bool dense_parameters(const Graph& graph, const Node& node, std::vector<float>& weights,
                      std::vector<float>& bias) {
  const Array& matrix = graph.constant(node.inputs[1]);
  const bool transposed = node.op == "Gemm" && node.integer("transB", 0) != 0;
  const std::int64_t inputs = matrix.shape()[transposed ? 1 : 0], units = matrix.shape()[transposed ? 0 : 1];
  const float alpha = node.op == "Gemm" ? node.real("alpha", 1.0F) : 1.0F;
  const auto values = matrix.as<float>();
  weights.resize(values.size());
  for (std::int64_t u = 0; u < units; ++u) {
    for (std::int64_t i = 0; i < inputs; ++i) {
      weights[static_cast<std::size_t>(u * inputs + i)] =
          alpha * values[static_cast<std::size_t>(transposed ? u * inputs + i : i * units + u)];
    }
  }
  bias.assign(static_cast<std::size_t>(units), 0.0F);
  if (node.op != "Gemm" || node.inputs.size() < 3 || node.inputs[2] == no_value) return true;
  const Array& added = graph.constant(node.inputs[2]);
  if (added.count() != units && added.count() != 1) return false;
  if (added.count() == units && !added.shape().empty() && added.shape().back() != units) return false;
  const float beta = node.real("beta", 1.0F);
  for (std::size_t u = 0; u < bias.size(); ++u)
    bias[u] = beta * added.as<float>()[added.count() == 1 ? 0 : u];
  return true;
}

bool is_float_constant(const Graph& graph, const Node& node, std::size_t input) {
  return graph.is_constant(node.inputs[input]) &&
         graph.constant(node.inputs[input]).dtype() == DType::float32;
}

// The bias of an Add of constants that alone reads a product.
ValueId absorb_bias(Compiler& compiler, ValueId id, std::vector<float>& bias) {
  const Node* reader = compiler.sole_reader(id);
  if (reader == nullptr || reader->op != "Add") return id;
  const ValueId other = reader->inputs[0] == id ? reader->inputs[1] : reader->inputs[0];
  if (!compiler.graph().is_constant(other)) return id;
  const Array& added = compiler.graph().constant(other);
  const auto units = static_cast<std::int64_t>(bias.size());
  if (added.dtype() != DType::float32 || added.count() != units || added.shape().empty() ||
      added.shape().back() != units)
    return id;
  for (std::size_t u = 0; u < bias.size(); ++u) bias[u] += added.as<float>()[u];
  compiler.fuse(*reader);
  return reader->outputs[0];
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
  const Window window = window_of(node, input, output, extent);

  std::vector<float> weights = floats(kernel);
  std::vector<float> bias(static_cast<std::size_t>(kernel.shape()[0]), 0.0F);
  if (node.inputs.size() > 2 && node.inputs[2] != no_value) bias = floats(graph.constant(node.inputs[2]));
  ValueId result = absorb_normalisation(compiler, node.outputs[0], weights, bias);
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
  ValueId result = node.op == "MatMul" ? absorb_bias(compiler, node.outputs[0], bias) : node.outputs[0];
  result = absorb_normalisation(compiler, result, weights, bias);
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

bool affine_of(const Graph& graph, const Node& node, Affine& affine) {
  for (std::size_t i = 1; i < 5; ++i) {
    if (i >= node.inputs.size() || node.inputs[i] == no_value || !is_float_constant(graph, node, i))
      return false;
  }
  if (node.integer("training_mode", 0) != 0) return false;
  const auto gamma = graph.constant(node.inputs[1]).as<float>(),
             beta = graph.constant(node.inputs[2]).as<float>();
  const auto mean = graph.constant(node.inputs[3]).as<float>(),
             variance = graph.constant(node.inputs[4]).as<float>();
  if (beta.size() != gamma.size() || mean.size() != gamma.size() || variance.size() != gamma.size())
    return false;
  const double epsilon = node.real("epsilon", 1e-5F);
  affine = {};
  for (std::size_t c = 0; c < gamma.size(); ++c) {
    const double scale = gamma[c] / std::sqrt(static_cast<double>(variance[c]) + epsilon);
    affine.scale.push_back(static_cast<float>(scale));
    affine.shift.push_back(static_cast<float>(beta[c] - mean[c] * scale));
  }
  return true;
}

}  // namespace assay::onednn
