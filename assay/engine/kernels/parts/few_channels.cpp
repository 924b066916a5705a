#include "assay/engine/kernels/parts/few_channels.h"

#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>

namespace assay::operators {
namespace {

constexpr std::int64_t most_channels = 4;                     // from 5 on oneDNN is as fast
constexpr std::int64_t window_bytes = std::int64_t{8} << 20;  // of records done at once

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// Gradients of some records at a time: each needs room for all its windows.
Tensor input_gradient(const Tensor& slope, const Tensor& input, const Tensor& filter, const Ints& stride,
                      const Ints& padding) {
  const std::int64_t windows =
      input.size(1) * filter.size(2) * filter.size(3) * slope.size(2) * slope.size(3);
  const std::int64_t bytes = std::max<std::int64_t>(1, windows * static_cast<std::int64_t>(sizeof(float)));
  const std::int64_t at_once = std::max<std::int64_t>(at::get_num_threads(), window_bytes / bytes);
  const Tensor result = at::empty_like(input, at::MemoryFormat::Contiguous);
  for (std::int64_t from = 0; from < input.size(0); from += at_once) {
    const std::int64_t count = std::min(at_once, input.size(0) - from);
    result.narrow(0, from, count)
        .copy_(std::get<0>(
            at::_slow_conv2d_backward(slope.narrow(0, from, count), input.narrow(0, from, count), filter,
                                      filter.sizes().slice(2), stride, padding, {true, false, false})));
  }
  return result;
}

struct FewChannels : torch::autograd::Function<FewChannels> {
  static Tensor forward(AutogradContext* context, const Tensor& input, const Tensor& filter,
                        const c10::optional<Tensor>& bias, const Ints& stride, const Ints& padding) {
    context->save_for_backward({input, filter});
    context->saved_data["stride"] = stride;
    context->saved_data["padding"] = padding;
    return at::conv2d(input, filter, bias, stride, padding);
  }
  static variable_list backward(AutogradContext* context, const variable_list& slopes) {
    const variable_list saved = context->get_saved_variables();
    const Ints stride = context->saved_data["stride"].toIntVector(),
               padding = context->saved_data["padding"].toIntVector();
    return {
        input_gradient(slopes[0].contiguous(), saved[0].contiguous(), saved[1].contiguous(), stride, padding),
        {},
        {},
        {},
        {}};
  }
};

}  // namespace

bool gains_from_few_channels(const PictureConvolution& c) {
  const bool constant = !c.filter.requires_grad() && !(c.bias.defined() && c.bias.requires_grad());
  return at::GradMode::is_enabled() && c.input.requires_grad() && constant && c.input.device().is_cpu() &&
         c.input.scalar_type() == at::kFloat && c.input.size(1) <= most_channels;
}

Tensor convolve_few_channels(const PictureConvolution& c) {
  const c10::optional<Tensor> bias = c.bias.defined() ? c10::optional<Tensor>(c.bias) : c10::nullopt;
  return FewChannels::apply(c.input, c.filter, bias, c.stride, c.padding);
}

}  // namespace assay::operators
