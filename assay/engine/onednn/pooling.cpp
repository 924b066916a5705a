#include <algorithm>
#include <string>

#include "assay/engine/onednn/families.h"

namespace assay::onednn {
namespace {

struct Windows {
  Dims kernel;
  Window window;
  bool average = false, counts_padding = false, ceil = false, padded = false;
};

Windows windows_of(const Node& node, const Dims& input, const Dims& output) {
  const std::size_t rank = input.size() - 2;
  Windows pooling;
  pooling.average = node.op == "AveragePool" || node.op == "GlobalAveragePool";
  const Dims spatial(input.begin() + 2, input.end());
  const bool global = node.op.starts_with("Global");
  pooling.kernel = global ? spatial : node.integers("kernel_shape", spatial);
  pooling.window.strides = node.integers("strides", Dims(rank, 1));
  pooling.window.dilations = node.integers("dilations", Dims(rank, 1));
  pooling.counts_padding = node.integer("count_include_pad", 0) != 0;
  const Dims pads = node.integers("pads", Dims(2 * rank, 0));
  const std::string automatic = node.text("auto_pad", "NOTSET");
  for (std::size_t d = 0; d < rank; ++d) {
    const std::int64_t extent = (pooling.kernel[d] - 1) * pooling.window.dilations[d] + 1;
    const std::int64_t needed = (output[d + 2] - 1) * pooling.window.strides[d] + extent - input[d + 2];
    std::int64_t left = automatic == "NOTSET" ? pads[d] : 0;
    if (automatic == "SAME_UPPER") left = std::max<std::int64_t>(needed, 0) / 2;
    if (automatic == "SAME_LOWER") left = (std::max<std::int64_t>(needed, 0) + 1) / 2;
    pooling.window.left.push_back(left);
    pooling.window.right.push_back(needed - left);
    pooling.padded |= left != 0 || needed - left > 0;
    pooling.ceil |= automatic == "NOTSET" && needed - left > pads[d + rank];
    pooling.window.dilations[d] -= 1;
  }
  return pooling;
}

}  // namespace

bool supports_pooling(const Graph&, const Node& node, const ShapeOf& shape_of) {
  const Shape& input = shape_of(node.inputs[0]);
  if (input.size() < 3) return false;
  const Windows pooling = windows_of(node, input, shape_of(node.outputs[0]));
  if (pooling.average && pooling.counts_padding &&
      (pooling.ceil || node.text("auto_pad", "NOTSET") != "NOTSET"))
    return false;
  for (std::size_t d = 0; d < pooling.kernel.size(); ++d) {
    // Windows that lie wholly in the padding have no agreed value; dilation beside padding is the
    // reference's.
    if (pooling.window.left[d] >= pooling.kernel[d] || pooling.window.right[d] >= pooling.kernel[d])
      return false;
    if (pooling.window.dilations[d] != 0 && (pooling.padded || pooling.average)) return false;
  }
  return true;
}

void compile_pooling(Compiler& compiler, const Node& node) {
  const Dims input = compiler.shape(node.inputs[0]), output = compiler.shape(node.outputs[0]);
  const Windows pooling = windows_of(node, input, output);
  const dnnl::algorithm algorithm = !pooling.average         ? dnnl::algorithm::pooling_max
                                    : pooling.counts_padding ? dnnl::algorithm::pooling_avg_include_padding
                                                             : dnnl::algorithm::pooling_avg_exclude_padding;
  const Place given = compiler.place(node.inputs[0]);
  const Place source = dims_of(given.desc) == input ? given : compiler.plainly(node.inputs[0]);
  const auto primitive = describe_pooling(algorithm, source.desc, Compiler::any(output), pooling.kernel,
                                          pooling.window, Compiler::attributes());
  const Place target = compiler.buffer(primitive.dst_desc());
  compiler.step(Pooling(primitive), {{DNNL_ARG_SRC, source}, {DNNL_ARG_DST, target}},
                primitive.scratchpad_desc());
  compiler.define(node.outputs[0], target);
}

}  // namespace assay::onednn
