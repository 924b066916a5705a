#include <algorithm>
#include <string>

#include "assay/engine/onednn/families.h"

namespace assay::onednn {
namespace {

using Dims = dnnl::memory::dims;

struct Pooling {
  Dims kernel, strides, dilations, left, right;
  bool average = false, counts_padding = false, ceil = false, padded = false;
};

Pooling pooling_of(const Node& node, const Dims& input, const Dims& output) {
  const std::size_t rank = input.size() - 2;
  Pooling pooling;
  pooling.average = node.op == "AveragePool" || node.op == "GlobalAveragePool";
  const Dims spatial(input.begin() + 2, input.end());
  const bool global = node.op.starts_with("Global");
  pooling.kernel = global ? spatial : node.integers("kernel_shape", spatial);
  pooling.strides = node.integers("strides", Dims(rank, 1));
  pooling.dilations = node.integers("dilations", Dims(rank, 1));
  pooling.counts_padding = node.integer("count_include_pad", 0) != 0;
  const Dims pads = node.integers("pads", Dims(2 * rank, 0));
  const std::string automatic = node.text("auto_pad", "NOTSET");
  for (std::size_t d = 0; d < rank; ++d) {
    const std::int64_t extent = (pooling.kernel[d] - 1) * pooling.dilations[d] + 1;
    const std::int64_t needed = (output[d + 2] - 1) * pooling.strides[d] + extent - input[d + 2];
    std::int64_t left = automatic == "NOTSET" ? pads[d] : 0;
    if (automatic == "SAME_UPPER") left = std::max<std::int64_t>(needed, 0) / 2;
    if (automatic == "SAME_LOWER") left = (std::max<std::int64_t>(needed, 0) + 1) / 2;
    pooling.left.push_back(left);
    pooling.right.push_back(needed - left);
    pooling.padded |= left != 0 || needed - left > 0;
    pooling.ceil |= automatic == "NOTSET" && needed - left > pads[d + rank];
    pooling.dilations[d] -= 1;
  }
  return pooling;
}

}  // namespace

bool supports_pooling(const Graph&, const Node& node, const ShapeOf& shape_of) {
  const Shape& input = shape_of(node.inputs[0]);
  if (input.size() < 3) return false;
  const Pooling pooling = pooling_of(node, input, shape_of(node.outputs[0]));
  if (pooling.average && pooling.counts_padding &&
      (pooling.ceil || node.text("auto_pad", "NOTSET") != "NOTSET"))
    return false;
  for (std::size_t d = 0; d < pooling.kernel.size(); ++d) {
    // Windows that lie wholly in the padding have no agreed value; dilation beside padding is the
    // reference's.
    if (pooling.left[d] >= pooling.kernel[d] || pooling.right[d] >= pooling.kernel[d]) return false;
    if (pooling.dilations[d] != 0 && (pooling.padded || pooling.average)) return false;
  }
  return true;
}

void compile_pooling(Compiler& compiler, const Node& node) {
  const Dims input = compiler.shape(node.inputs[0]), output = compiler.shape(node.outputs[0]);
  const Pooling pooling = pooling_of(node, input, output);
  const dnnl::algorithm algorithm = !pooling.average         ? dnnl::algorithm::pooling_max
                                    : pooling.counts_padding ? dnnl::algorithm::pooling_avg_include_padding
                                                             : dnnl::algorithm::pooling_avg_exclude_padding;
  const Place given = compiler.place(node.inputs[0]);
  const Place source = given.desc.dims() == input ? given : compiler.plainly(node.inputs[0]);
  const dnnl::pooling_v2_forward::desc desc(dnnl::prop_kind::forward_inference, algorithm, source.desc,
                                            Compiler::any(output), pooling.strides, pooling.kernel,
                                            pooling.dilations, pooling.left, pooling.right);
  const dnnl::pooling_v2_forward::primitive_desc primitive(desc, Compiler::attributes(), cpu());
  const Place target = compiler.buffer(primitive.dst_desc());
  compiler.step(dnnl::pooling_v2_forward(primitive), {{DNNL_ARG_SRC, source}, {DNNL_ARG_DST, target}},
                primitive.scratchpad_desc());
  compiler.define(node.outputs[0], target);
}

}  // namespace assay::onednn
