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

namespace {

#if DNNL_VERSION_MAJOR >= 3
template <typename Cell, typename... Parts>
typename Cell::primitive_desc described(const dnnl::primitive_attr& attributes, const Parts&... parts) {
  return {cpu(), inference, parts..., attributes};
}
#else
template <typename Cell, typename... Parts>
typename Cell::primitive_desc described(const dnnl::primitive_attr& attributes, const Parts&... parts) {
  return {typename Cell::desc(inference, parts...), attributes, cpu()};
}
#endif

}  // namespace

Recurrence describe_recurrence(CellKind cell, bool backwards, const RecurrentSizes& sizes) {
  constexpr auto single = dnnl::memory::data_type::f32;
  using Tag = dnnl::memory::format_tag;
  const auto weights = [&](std::int64_t inputs, Tag tag) {
    return Desc({1, 1, inputs, sizes.gates, sizes.hidden}, single, tag);
  };
  Recurrence made;
  made.source = Desc({sizes.steps, sizes.records, sizes.features}, single, Tag::tnc);
  made.target = Desc({sizes.steps, sizes.records, sizes.hidden}, single, Tag::tnc);
  made.state = Desc({1, 1, sizes.records, sizes.hidden}, single, Tag::ldnc);
  const std::int64_t biases = sizes.gates + (cell == CellKind::gru_reset_after ? 1 : 0);
  made.bias = Desc({1, 1, biases, sizes.hidden}, single, Tag::ldgo);
  made.plain_layer = weights(sizes.features, Tag::ldigo);
  made.plain_recurrent = weights(sizes.hidden, Tag::ldigo);
  const Desc layer = weights(sizes.features, Tag::any), recurrent = weights(sizes.hidden, Tag::any);
  const auto way = backwards ? dnnl::rnn_direction::unidirectional_right2left
                             : dnnl::rnn_direction::unidirectional_left2right;
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  const auto take = [&](const auto& description, auto primitive) {
    made.layer = description.weights_layer_desc();
    made.recurrent = description.weights_iter_desc();
    made.scratchpad = description.scratchpad_desc();
    made.primitive = decltype(primitive)(description);
  };
  const Desc &x = made.source, &y = made.target, &h = made.state, &b = made.bias;
  switch (cell) {
    case CellKind::rnn:
      take(described<dnnl::vanilla_rnn_forward>(attributes, dnnl::algorithm::eltwise_tanh, way, x, h, layer,
                                                recurrent, b, y, h),
           dnnl::vanilla_rnn_forward());
      break;
    case CellKind::lstm:
      take(described<dnnl::lstm_forward>(attributes, way, x, h, h, layer, recurrent, b, y, h, h),
           dnnl::lstm_forward());
      break;
    case CellKind::gru:
      take(described<dnnl::gru_forward>(attributes, way, x, h, layer, recurrent, b, y, h),
           dnnl::gru_forward());
      break;
    case CellKind::gru_reset_after:
      take(described<dnnl::lbr_gru_forward>(attributes, way, x, h, layer, recurrent, b, y, h),
           dnnl::lbr_gru_forward());
      break;
  }
  return made;
}

}  // namespace assay::onednn
