// Normalisations.

#include <algorithm>
#include <limits>
#include <tuple>

#include "assay/engine/kernels/parts/support.h"

namespace assay::operators {
namespace {

Tensor checked_epsilon(const Call& call, const Tensor& like) {
  const float epsilon = call.node.real("epsilon", 1e-5f);
  if (!(epsilon >= 0)) fail(Fault::model, "epsilon is {}; it must not be negative", epsilon);
  return scalar_like(like, epsilon);
}

void require_per_channel(const Call& call, std::size_t first, std::size_t last, std::int64_t channels) {
  for (std::size_t i = first; i <= last; ++i) {
    if (call.input(i).dim() != 1 || call.input(i).size(0) != channels) {
      fail(Fault::model, "input {} must hold one number for each of {} channels", i, channels);
    }
  }
}

// Axes other than 1.
Ints all_but_channels(std::int64_t rank) {
  Ints axes = all_axes(rank);
  axes.erase(axes.begin() + 1);
  return axes;
}

Tensor along_channels(const Tensor& vector, const Tensor& x) {
  Ints shape(static_cast<std::size_t>(x.dim()), 1);
  shape[1] = -1;
  return vector.reshape(shape);
}

Outputs grouped(const Call& call, std::int64_t groups) {
  const Tensor& x = call.input(0);
  require_in("num_groups", groups, 1, std::max<std::int64_t>(1, x.size(1)));
  require_per_channel(call, 1, 2, x.size(1));
  const double epsilon = checked_epsilon(call, x).item<double>();
  return {at::group_norm(x, groups, call.input(1), call.input(2), epsilon)};
}

}  // namespace

// In training the batch's own statistics normalise, and the running ones move towards them:
// running * momentum + batch * (1 - momentum), the variance being that of the population.
Outputs batch_normalization(const Call& call) {
  const Tensor& x = call.input(0);
  require_rank_at_least(x, 2);
  require_per_channel(call, 1, 4, x.size(1));
  const double epsilon = checked_epsilon(call, x).item<double>();
  const Tensor &scale = call.input(1), &bias = call.input(2), &mean = call.input(3),
               &variance = call.input(4);
  const bool declared = call.node.integer("training_mode", 0) != 0;
  if (!declared && !call.context.training) {
    if (mean.requires_grad() || variance.requires_grad()) {  // libtorch's own has no gradient for these
      const Tensor factor = scale * at::rsqrt(variance + epsilon);
      return {x * along_channels(factor, x) + along_channels(bias - mean * factor, x)};
    }
    return {at::batch_norm(x, scale, bias, mean, variance, false, 0, epsilon, true)};
  }
  const double momentum = call.node.real("momentum", 0.9f);
  const std::int64_t rows = x.numel() / std::max<std::int64_t>(x.size(1), 1);
  Tensor output, batch_mean, batch_variance;
  if (rows > 1) {
    // As running statistics that forget everything, the batch's own come out of the one pass; their variance
    // is that of a sample.
    batch_mean = at::zeros_like(mean.detach()), batch_variance = at::ones_like(variance.detach());
    output = at::batch_norm(x, scale, bias, batch_mean, batch_variance, true, 1, epsilon, true);
    // Not in place: the gradient needs them as they are.
    batch_variance = batch_variance * (static_cast<double>(rows - 1) / static_cast<double>(rows));
  } else {
    std::tie(batch_variance, batch_mean) =
        at::var_mean(x.detach(), all_but_channels(x.dim()), /*unbiased=*/false);
    output = at::batch_norm(x, scale, bias, {}, {}, true, 0, epsilon, true);
  }
  const Tensor new_mean = mean.detach() * momentum + batch_mean * (1 - momentum);
  const Tensor new_variance = variance.detach() * momentum + batch_variance * (1 - momentum);
  if (call.context.training && call.context.update_constant) {
    call.context.update_constant(call.node.inputs[3], new_mean);
    call.context.update_constant(call.node.inputs[4], new_variance);
  }
  return {output, new_mean, new_variance};
}

Outputs layer_normalization(const Call& call) {
  const Tensor& x = call.input(0);
  const std::int64_t axis = call.axis(-1, x.dim());
  const auto shape = x.sizes().slice(static_cast<std::size_t>(axis));
  const double epsilon = checked_epsilon(call, x).item<double>();
  const Tensor bias = call.has(2) ? call.input(2).expand(shape) : Tensor();
  auto [y, mean, deviation] = at::native_layer_norm(x, shape, call.input(1).expand(shape), bias, epsilon);
  return {y, mean, deviation};
}

Outputs instance_normalization(const Call& call) {
  require_rank_at_least(call.input(0), 3);
  return grouped(call, call.input(0).size(1));
}

Outputs group_normalization(const Call& call) {
  require_rank_at_least(call.input(0), 2);
  return grouped(call, call.node.integer("num_groups", 0));
}

// x / (bias + alpha / size * sum of squares over the `size` nearest channels)^beta
Outputs lrn(const Call& call) {
  const Tensor& x = call.input(0);
  require_rank_at_least(x, 2);
  const std::int64_t size = call.node.integer("size", 0), last = std::max<std::int64_t>(0, x.size(1) - 1);
  require_in("size", size, 1, largest_extent);
  const float alpha = call.node.real("alpha", 1e-4f), beta = call.node.real("beta", 0.75f);
  // Channels beyond the first and the last add nothing.
  const std::int64_t before = std::min((size - 1) / 2, last), after = std::min(size / 2, last);
  Ints pads(static_cast<std::size_t>(2 * x.dim()), 0);
  pads[pads.size() - 4] = before, pads[pads.size() - 3] = after;
  const Tensor padded = at::constant_pad_nd(x * x, pads, 0);
  const Tensor squares = padded.unfold(1, before + after + 1, 1).sum(-1);
  return {x / at::pow(squares * (alpha / static_cast<float>(size)) + call.node.real("bias", 1), beta)};
}

// x / norm along the axis; 0 where the norm is 0.
Outputs lp_normalization(const Call& call) {
  const Tensor& x = call.input(0);
  const std::int64_t p = call.node.integer("p", 2);
  require_in("p", p, 1, 2);
  const Tensor norm = at::norm(x, p, {call.axis(-1, x.dim())}, /*keepdim=*/true);
  return {x / at::where(norm == 0, at::ones_like(norm), norm)};
}

// (x - mean) / (standard deviation + 1e-9)
Outputs mean_variance_normalization(const Call& call) {
  const Tensor& x = call.input(0);
  const Ints axes = call.axes(1, x.dim(), {0, 2, 3});
  const auto [variance, mean] = at::var_mean(x, axes, /*unbiased=*/false, /*keepdim=*/true);
  return {(x - mean) / (at::sqrt(variance) + 1e-9)};
}

}  // namespace assay::operators
