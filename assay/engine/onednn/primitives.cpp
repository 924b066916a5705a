#include "assay/engine/onednn/primitives.h"

namespace assay::onednn {
namespace {

constexpr auto inference = dnnl::prop_kind::forward_inference;
constexpr auto direct = dnnl::algorithm::convolution_direct;

}  // namespace

dnnl::engine& cpu() {
  static dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  return engine;
}

#if DNNL_VERSION_MAJOR >= 3

dnnl::eltwise_forward::primitive_desc describe_eltwise(dnnl::algorithm algorithm, const Desc& source,
                                                       float alpha, float beta,
                                                       const dnnl::primitive_attr& attributes) {
  return {cpu(), inference, algorithm, source, source, alpha, beta, attributes};
}

dnnl::binary::primitive_desc describe_binary(dnnl::algorithm algorithm, const Desc& left, const Desc& right,
                                             const dnnl::primitive_attr& attributes) {
  return {cpu(), algorithm, left, right, left, attributes};
}

dnnl::softmax_forward::primitive_desc describe_softmax(const Desc& source, int axis,
                                                       const dnnl::primitive_attr& attributes) {
  return {cpu(), inference, dnnl::algorithm::softmax_accurate, source, source, axis, attributes};
}

dnnl::concat::primitive_desc describe_concat(int axis, const std::vector<Desc>& sources,
                                             const dnnl::primitive_attr& attributes) {
  return {cpu(), axis, sources, attributes};
}

dnnl::inner_product_forward::primitive_desc describe_inner_product(const Desc& source, const Desc& weights,
                                                                   const Desc& bias, const Desc& target,
                                                                   const dnnl::primitive_attr& attributes) {
  return {cpu(), inference, source, weights, bias, target, attributes};
}

dnnl::convolution_forward::primitive_desc describe_convolution(const Desc& source, const Desc& weights,
                                                               const Desc& bias, const Desc& target,
                                                               const Window& window,
                                                               const dnnl::primitive_attr& attributes) {
  return {cpu(),  inference,      direct,           source,      weights,      bias,
          target, window.strides, window.dilations, window.left, window.right, attributes};
}

Pooling::primitive_desc describe_pooling(dnnl::algorithm algorithm, const Desc& source, const Desc& target,
                                         const Dims& kernel, const Window& window,
                                         const dnnl::primitive_attr& attributes) {
  return {cpu(),  inference,        algorithm,   source,       target,    window.strides,
          kernel, window.dilations, window.left, window.right, attributes};
}

void append_eltwise(dnnl::post_ops& post, dnnl::algorithm algorithm, float alpha, float beta) {
  post.append_eltwise(algorithm, alpha, beta);
}

Dims dims_of(const Desc& desc) { return desc.get_dims(); }

Blocking blocking_of(const Desc& desc) {
  if (desc.get_format_kind() != dnnl::memory::format_kind::blocked ||
      desc.get_data_type() != dnnl::memory::data_type::f32)
    return {};
  return {true,
          desc.get_dims(),
          desc.get_strides(),
          desc.get_inner_blks(),
          desc.get_inner_idxs(),
          desc.get_submemory_offset()};
}

#else

dnnl::eltwise_forward::primitive_desc describe_eltwise(dnnl::algorithm algorithm, const Desc& source,
                                                       float alpha, float beta,
                                                       const dnnl::primitive_attr& attributes) {
  return {dnnl::eltwise_forward::desc(inference, algorithm, source, alpha, beta), attributes, cpu()};
}

dnnl::binary::primitive_desc describe_binary(dnnl::algorithm algorithm, const Desc& left, const Desc& right,
                                             const dnnl::primitive_attr& attributes) {
  return {dnnl::binary::desc(algorithm, left, right, left), attributes, cpu()};
}

dnnl::softmax_forward::primitive_desc describe_softmax(const Desc& source, int axis,
                                                       const dnnl::primitive_attr& attributes) {
  return {dnnl::softmax_forward::desc(inference, source, axis), attributes, cpu()};
}

dnnl::concat::primitive_desc describe_concat(int axis, const std::vector<Desc>& sources,
                                             const dnnl::primitive_attr& attributes) {
  return {axis, sources, cpu(), attributes};
}

dnnl::inner_product_forward::primitive_desc describe_inner_product(const Desc& source, const Desc& weights,
                                                                   const Desc& bias, const Desc& target,
                                                                   const dnnl::primitive_attr& attributes) {
  return {dnnl::inner_product_forward::desc(inference, source, weights, bias, target), attributes, cpu()};
}

dnnl::convolution_forward::primitive_desc describe_convolution(const Desc& source, const Desc& weights,
                                                               const Desc& bias, const Desc& target,
                                                               const Window& window,
                                                               const dnnl::primitive_attr& attributes) {
  return {dnnl::convolution_forward::desc(inference, direct, source, weights, bias, target, window.strides,
                                          window.dilations, window.left, window.right),
          attributes, cpu()};
}

Pooling::primitive_desc describe_pooling(dnnl::algorithm algorithm, const Desc& source, const Desc& target,
                                         const Dims& kernel, const Window& window,
                                         const dnnl::primitive_attr& attributes) {
  return {Pooling::desc(inference, algorithm, source, target, window.strides, kernel, window.dilations,
                        window.left, window.right),
          attributes, cpu()};
}

void append_eltwise(dnnl::post_ops& post, dnnl::algorithm algorithm, float alpha, float beta) {
  post.append_eltwise(1.0F, algorithm, alpha, beta);
}

Dims dims_of(const Desc& desc) { return desc.dims(); }

Blocking blocking_of(const Desc& desc) {
  const dnnl_memory_desc_t& md = desc.data;
  if (md.format_kind != dnnl_blocked || md.data_type != dnnl_f32) return {};
  const auto& blocking = md.format_desc.blocking;
  const auto axes = blocking.inner_idxs, blocks = blocking.inner_blks;
  return {true,
          desc.dims(),
          {blocking.strides, blocking.strides + md.ndims},
          {blocks, blocks + blocking.inner_nblks},
          {axes, axes + blocking.inner_nblks},
          md.offset0};
}

#endif

}  // namespace assay::onednn
