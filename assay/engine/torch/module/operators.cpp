#include "assay/engine/torch/module/operators.h"

#include <algorithm>

namespace assay::torch_module {
namespace {

bool always(const Form&) { return true; }

constexpr Role data = Role::data, weights = Role::weights, parameter = Role::parameter, unread = Role::unread;

const std::vector<Operator>& operators() {
  static const std::vector<Operator> all{
      {"Add", pair, always},
      {"AveragePool", average_pool, takes_average_pool},
      {"BatchNormalization",
       batch_normalisation,
       takes_batch_normalisation,
       {data, weights, weights, weights, weights}},
      {"Cast", view, takes_cast},
      {"Celu", with_slope, always},
      {"Clip", clip, always, {data, parameter, parameter}},
      {"Concat", concatenation, takes_several},
      {"Conv", convolution, takes_convolution, {data, weights, weights}},
      {"ConvTranspose", transposed_convolution, takes_convolution, {data, weights, weights}},
      {"CumSum", cumulative_sum, takes_cumulative, {data, parameter}},
      {"DepthToSpace", depth_to_space, always},
      {"Div", pair, always},
      {"Dropout", view, always, {data, unread, unread}},
      {"Einsum", einsum, takes_einsum},
      {"Elu", with_slope, always},
      {"Expand", repetition, always, {data, unread}},
      {"Flatten", view, always},
      {"Gather", gather, takes_axis_of_record, {data, parameter}},
      {"Gelu", gelu, always},
      {"Gemm", gemm, takes_gemm, {data, weights, weights}},
      {"GlobalAveragePool", global_average_pool, always},
      {"GlobalMaxPool", global_max_pool, always},
      {"GroupNormalization", group_normalisation, always, {data, weights, weights}},
      {"HardSigmoid", hard_sigmoid, always},
      {"Identity", view, always},
      {"InstanceNormalization", group_normalisation, always, {data, weights, weights}},
      {"LRN", local_response_normalisation, always},
      {"LayerNormalization", layer_normalisation, takes_axis_of_record, {data, weights, weights}},
      {"LeakyRelu", with_slope, always},
      {"LogSoftmax", log_softmax, takes_axis_of_record},
      {"LpNormalization", lp_normalisation, takes_axis_of_record},
      {"MatMul", matrix_product, always},
      {"Max", pair, always},
      {"MaxPool", max_pool, always},
      {"Mean", pair, always},
      {"MeanVarianceNormalization", mean_variance_normalisation, takes_mean_variance},
      {"Min", pair, always},
      {"Mul", pair, always},
      {"PRelu", prelu, always},
      {"Pad", pad, takes_pad, {data, parameter, parameter, parameter}},
      {"Pow", pair, always},
      {"ReduceL1", reduction, takes_reduction, {data, parameter}},
      {"ReduceL2", reduction, takes_reduction, {data, parameter}},
      {"ReduceLogSum", reduction, takes_reduction, {data, parameter}},
      {"ReduceLogSumExp", reduction, takes_reduction, {data, parameter}},
      {"ReduceMax", reduction, takes_reduction, {data, parameter}},
      {"ReduceMean", reduction, takes_reduction, {data, parameter}},
      {"ReduceMin", reduction, takes_reduction, {data, parameter}},
      {"ReduceSum", reduction, takes_reduction, {data, parameter}},
      {"ReduceSumSquare", reduction, takes_reduction, {data, parameter}},
      {"Reshape", view, always, {data, unread}},
      {"Resize", resize, takes_resize, {data, unread, parameter, parameter}},
      {"Selu", with_slope, always},
      {"Shrink", shrink, always},
      {"Slice", slice, takes_slice, {data, parameter, parameter, parameter, parameter}},
      {"Softmax", softmax, takes_axis_of_record},
      {"SpaceToDepth", space_to_depth, always},
      {"Split", split, takes_axis_of_record, {data, parameter}},
      {"Squeeze", view, always, {data, unread}},
      {"Sub", pair, always},
      {"Sum", pair, always},
      {"Swish", swish, always},
      {"ThresholdedRelu", thresholded_relu, always},
      {"Tile", tile, always, {data, parameter}},
      {"Transpose", transpose, always},
      {"Trilu", triangle, always, {data, parameter}},
      {"Unsqueeze", view, always, {data, unread}},
      {"Where", where, always},
  };
  return all;
}

const Operator function_operator{"", function_of_one, always};

}  // namespace

const Operator* find_operator(std::string_view op) {
  if (is_function(op)) return &function_operator;
  const auto& all = operators();
  const auto found = std::ranges::find(all, op, &Operator::op);
  return found == all.end() ? nullptr : &*found;
}

}  // namespace assay::torch_module
