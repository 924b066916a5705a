// All operators: one line each, sorted by the ONNX name, with the function (in the family file) that computes
// it.

#include "assay/engine/operators/parts/support.h"

#define ASSAY_OPERATORS(X)                                   \
  X(Abs, abs)                                                \
  X(Acos, acos)                                              \
  X(Acosh, acosh)                                            \
  X(Add, add)                                                \
  X(AffineGrid, affine_grid)                                 \
  X(And, logical_and)                                        \
  X(ArgMax, arg_max)                                         \
  X(ArgMin, arg_min)                                         \
  X(Asin, asin)                                              \
  X(Asinh, asinh)                                            \
  X(Atan, atan)                                              \
  X(Atanh, atanh)                                            \
  X(AveragePool, average_pool)                               \
  X(BatchNormalization, batch_normalization)                 \
  X(BitCast, bit_cast)                                       \
  X(BitShift, bit_shift)                                     \
  X(BitwiseAnd, bitwise_and)                                 \
  X(BitwiseNot, bitwise_not)                                 \
  X(BitwiseOr, bitwise_or)                                   \
  X(BitwiseXor, bitwise_xor)                                 \
  X(BlackmanWindow, blackman_window)                         \
  X(Cast, cast)                                              \
  X(CastLike, cast_like)                                     \
  X(Ceil, ceil)                                              \
  X(Celu, celu)                                              \
  X(CenterCropPad, center_crop_pad)                          \
  X(Clip, clip)                                              \
  X(Col2Im, col2im)                                          \
  X(Compress, compress)                                      \
  X(Concat, concat)                                          \
  X(ConstantOfShape, constant_of_shape)                      \
  X(Conv, conv)                                              \
  X(ConvTranspose, conv_transpose)                           \
  X(Cos, cos)                                                \
  X(Cosh, cosh)                                              \
  X(CumProd, cumulative_product)                             \
  X(CumSum, cumulative_sum)                                  \
  X(DFT, dft)                                                \
  X(DeformConv, deform_conv)                                 \
  X(DepthToSpace, depth_to_space)                            \
  X(DequantizeLinear, dequantize_linear)                     \
  X(Det, det)                                                \
  X(Div, divide)                                             \
  X(Dropout, dropout)                                        \
  X(DynamicQuantizeLinear, dynamic_quantize_linear)          \
  X(Einsum, einsum)                                          \
  X(Elu, elu)                                                \
  X(Equal, equal)                                            \
  X(Erf, erf)                                                \
  X(Exp, exp)                                                \
  X(Expand, expand)                                          \
  X(EyeLike, eye_like)                                       \
  X(Flatten, flatten)                                        \
  X(Floor, floor)                                            \
  X(GRU, gru)                                                \
  X(Gather, gather)                                          \
  X(GatherElements, gather_elements)                         \
  X(GatherND, gather_nd)                                     \
  X(Gelu, gelu)                                              \
  X(Gemm, gemm)                                              \
  X(GlobalAveragePool, global_average_pool)                  \
  X(GlobalLpPool, global_lp_pool)                            \
  X(GlobalMaxPool, global_max_pool)                          \
  X(Greater, greater)                                        \
  X(GreaterOrEqual, greater_or_equal)                        \
  X(GridSample, grid_sample)                                 \
  X(GroupNormalization, group_normalization)                 \
  X(HammingWindow, hamming_window)                           \
  X(HannWindow, hann_window)                                 \
  X(HardSigmoid, hard_sigmoid)                               \
  X(HardSwish, hard_swish)                                   \
  X(Hardmax, hardmax)                                        \
  X(Identity, identity)                                      \
  X(If, branch)                                              \
  X(InstanceNormalization, instance_normalization)           \
  X(IsInf, is_inf)                                           \
  X(IsNaN, is_nan)                                           \
  X(LRN, lrn)                                                \
  X(LSTM, lstm)                                              \
  X(LayerNormalization, layer_normalization)                 \
  X(LeakyRelu, leaky_relu)                                   \
  X(Less, less)                                              \
  X(LessOrEqual, less_or_equal)                              \
  X(LinearAttention, linear_attention)                       \
  X(Log, log)                                                \
  X(LogSoftmax, log_softmax)                                 \
  X(Loop, loop)                                              \
  X(LpNormalization, lp_normalization)                       \
  X(LpPool, lp_pool)                                         \
  X(MatMul, matmul)                                          \
  X(Max, maximum)                                            \
  X(MaxPool, max_pool)                                       \
  X(MaxUnpool, max_unpool)                                   \
  X(Mean, mean)                                              \
  X(MeanVarianceNormalization, mean_variance_normalization)  \
  X(MelWeightMatrix, mel_weight_matrix)                      \
  X(Min, minimum)                                            \
  X(Mish, mish)                                              \
  X(Mod, modulo)                                             \
  X(Mul, multiply)                                           \
  X(Neg, negative)                                           \
  X(NegativeLogLikelihoodLoss, negative_log_likelihood_loss) \
  X(NonMaxSuppression, non_max_suppression)                  \
  X(NonZero, non_zero)                                       \
  X(Not, logical_not)                                        \
  X(OneHot, one_hot)                                         \
  X(Or, logical_or)                                          \
  X(PRelu, prelu)                                            \
  X(Pad, pad)                                                \
  X(Pow, power)                                              \
  X(QuantizeLinear, quantize_linear)                         \
  X(RNN, rnn)                                                \
  X(Range, range)                                            \
  X(Reciprocal, reciprocal)                                  \
  X(ReduceL1, reduce_l1)                                     \
  X(ReduceL2, reduce_l2)                                     \
  X(ReduceLogSum, reduce_log_sum)                            \
  X(ReduceLogSumExp, reduce_log_sum_exp)                     \
  X(ReduceMax, reduce_max)                                   \
  X(ReduceMean, reduce_mean)                                 \
  X(ReduceMin, reduce_min)                                   \
  X(ReduceProd, reduce_prod)                                 \
  X(ReduceSum, reduce_sum)                                   \
  X(ReduceSumSquare, reduce_sum_square)                      \
  X(Relu, relu)                                              \
  X(Reshape, reshape)                                        \
  X(Resize, resize)                                          \
  X(ReverseSequence, reverse_sequence)                       \
  X(RoiAlign, roi_align)                                     \
  X(Round, round)                                            \
  X(STFT, stft)                                              \
  X(Scan, scan)                                              \
  X(ScatterElements, scatter_elements)                       \
  X(ScatterND, scatter_nd)                                   \
  X(Selu, selu)                                              \
  X(Shape, shape)                                            \
  X(Shrink, shrink)                                          \
  X(Sigmoid, sigmoid)                                        \
  X(Sign, sign)                                              \
  X(Sin, sin)                                                \
  X(Sinh, sinh)                                              \
  X(Size, size)                                              \
  X(Slice, slice)                                            \
  X(Softmax, softmax)                                        \
  X(SoftmaxCrossEntropyLoss, softmax_cross_entropy_loss)     \
  X(Softplus, softplus)                                      \
  X(Softsign, softsign)                                      \
  X(SpaceToDepth, space_to_depth)                            \
  X(Split, split)                                            \
  X(Sqrt, sqrt)                                              \
  X(Squeeze, squeeze)                                        \
  X(StraightThrough, straight_through)                       \
  X(Sub, subtract)                                           \
  X(Sum, sum)                                                \
  X(Swish, swish)                                            \
  X(Tan, tan)                                                \
  X(Tanh, tanh)                                              \
  X(TfIdfVectorizer, tf_idf_vectorizer)                      \
  X(ThresholdedRelu, thresholded_relu)                       \
  X(Tile, tile)                                              \
  X(TopK, top_k)                                             \
  X(Transpose, transpose)                                    \
  X(TreeEnsemble, tree_ensemble)                             \
  X(Trilu, trilu)                                            \
  X(Unique, unique)                                          \
  X(Unsqueeze, unsqueeze)                                    \
  X(Where, where)                                            \
  X(Xor, logical_xor)

namespace assay::operators {

#define DECLARE(op, function) Outputs function(const Call& call);
ASSAY_OPERATORS(DECLARE)
#undef DECLARE

namespace {

template <Outputs (*function)(const Call&)>
Outputs run(const Node& node, std::span<const Array> inputs, KernelContext& context) {
  return function(Call{node, inputs, context});
}

}  // namespace

#define ENTRY(op, function) KernelInfo{#op, run<function>},
constexpr KernelInfo catalogue[] = {ASSAY_OPERATORS(ENTRY)};
#undef ENTRY

}  // namespace assay::operators

namespace assay::inline engine {

std::span<const KernelInfo> kernels() { return operators::catalogue; }

}  // namespace assay::inline engine
