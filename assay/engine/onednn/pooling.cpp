#include <string>

#include "assay/engine/onednn/families.h"
#include "assay/engine/padding.h"

namespace assay::onednn {
namespace {

struct Windows {
  Dims kernel;
  Window window;  // dilations as oneDNN counts them: 0 is dense
  bool average = false, counts_padding = false, ceil = false, padded = false;
};

Windows windows_of(const Node& node, const Dims& input, const Dims& output) {
  const SlidingWindow sliding = pool_window(node, input, output);
  Windows pooling{.kernel = sliding.kernel,
                  .window = {sliding.strides, sliding.dilations, sliding.left, sliding.right}};
  pooling.average = node.op == "AveragePool" || node.op == "GlobalAveragePool";
  pooling.counts_padding = node.integer("count_include_pad", 0) != 0;
  const std::size_t rank = sliding.kernel.size();
  const Dims pads = entries(node, "pads", 2 * rank, 0);
  const bool declared = node.text("auto_pad", "NOTSET") == "NOTSET";
  for (std::size_t d = 0; d < rank; ++d) {
    pooling.padded |= sliding.left[d] != 0 || sliding.right[d] > 0;
    pooling.ceil |= declared && sliding.right[d] > pads[d + rank];
    --pooling.window.dilations[d];
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
    // Windows that lie wholly in the padding have no agreed value; dilation with padding is the reference's.
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
