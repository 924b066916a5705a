#pragma once

// All that differs between oneDNN 2 and 3: how primitives are described, and how a layout is read. For
// inference on the CPU.

#include <oneapi/dnnl/dnnl.hpp>

#include <vector>

#include "assay/engine/recurrent_cell.h"

namespace assay::onednn {

using Dims = dnnl::memory::dims;
using Desc = dnnl::memory::desc;

dnnl::engine& cpu();

#if DNNL_VERSION_MAJOR >= 3
using Pooling = dnnl::pooling_forward;
#else
using Pooling = dnnl::pooling_v2_forward;
#endif

dnnl::eltwise_forward::primitive_desc describe_eltwise(dnnl::algorithm algorithm, const Desc& source,
                                                       float alpha, float beta,
                                                       const dnnl::primitive_attr& attributes);
// The result has the left operand's layout.
dnnl::binary::primitive_desc describe_binary(dnnl::algorithm algorithm, const Desc& left, const Desc& right,
                                             const dnnl::primitive_attr& attributes);
dnnl::softmax_forward::primitive_desc describe_softmax(const Desc& source, int axis,
                                                       const dnnl::primitive_attr& attributes);
dnnl::concat::primitive_desc describe_concat(int axis, const std::vector<Desc>& sources,
                                             const dnnl::primitive_attr& attributes);
dnnl::inner_product_forward::primitive_desc describe_inner_product(const Desc& source, const Desc& weights,
                                                                   const Desc& bias, const Desc& target,
                                                                   const dnnl::primitive_attr& attributes);

// Strides, dilations as oneDNN counts them (0 is dense), padding before and after.
struct Window {
  Dims strides, dilations, left, right;
};
dnnl::convolution_forward::primitive_desc describe_convolution(const Desc& source, const Desc& weights,
                                                               const Desc& bias, const Desc& target,
                                                               const Window& window,
                                                               const dnnl::primitive_attr& attributes);
Pooling::primitive_desc describe_pooling(dnnl::algorithm algorithm, const Desc& source, const Desc& target,
                                         const Dims& kernel, const Window& window,
                                         const dnnl::primitive_attr& attributes);

// All steps of one direction.
struct RecurrentSizes {
  std::int64_t steps = 0, records = 0, features = 0, hidden = 0, gates = 0;
};
struct Recurrence {
  dnnl::primitive primitive;
  Desc source, target, state, bias;   // plain: [steps, records, ...], [1, 1, records, hidden]
  Desc plain_layer, plain_recurrent;  // [1, 1, inputs, gates, hidden]
  Desc layer, recurrent, scratchpad;  // as the primitive wants them
};
Recurrence describe_recurrence(CellKind cell, bool backwards, const RecurrentSizes& sizes);

void append_eltwise(dnnl::post_ops& post, dnnl::algorithm algorithm, float alpha, float beta);

Dims dims_of(const Desc& desc);

// A layout of float32 values as strides and blocks inside; `blocked` is false for any other.
struct Blocking {
  bool blocked = false;
  Dims dims, strides, inner_blocks, inner_axes;
  std::int64_t offset = 0;
};
Blocking blocking_of(const Desc& desc);

}  // namespace assay::onednn
