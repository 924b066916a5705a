// Normalisations.

#include <algorithm>

#include "assay/engine/operators/parts/support.h"

namespace assay::operators {
namespace {

Array checked_epsilon(const Call& call, const Array& like) {
  const float epsilon = call.node.real("epsilon", 1e-5f);
  if (!(epsilon >= 0)) fail(Fault::model, "epsilon is {}; it must not be negative", epsilon);
  return scalar_like(like, epsilon);
}

void require_per_channel(const Call& call, std::size_t first, std::size_t last, std::int64_t channels) {
  for (std::size_t i = first; i <= last; ++i) {
    if (call.input(i).rank() != 1 || call.input(i).size(0) != channels) {
      fail(Fault::model, "input {} must hold one number for each of {} channels", i, channels);
    }
  }
}

Outputs grouped(const Call& call, std::int64_t groups) {
  const Array& x = call.input(0);
  require_in("num_groups", groups, 1, std::max<std::int64_t>(1, x.size(1)));
  require_per_channel(call, 1, 2, x.size(1));
  const double epsilon = checked_epsilon(call, x).item<double>();
  return {array::group_norm(x, groups, call.input(1), call.input(2), epsilon)};
}

}  // namespace

// In training the batch's own statistics normalise, and the running ones move towards them:
// running * momentum + batch * (1 - momentum), the variance being that of the population.
Outputs batch_normalization(const Call& call) {
  const Array& x = call.input(0);
  require_rank_at_least(x, 2);
  require_per_channel(call, 1, 4, x.size(1));
  const double epsilon = checked_epsilon(call, x).item<double>();
  const Array &scale = call.input(1), &bias = call.input(2), &mean = call.input(3), &variance = call.input(4);
  const bool declared = call.node.integer("training_mode", 0) != 0;
  if (!declared && !call.context.training) {
    return {array::batch_norm(x, scale, bias, mean, variance, epsilon)};
  }
  const double momentum = call.node.real("momentum", 0.9f);
  const auto [output, batch_mean, batch_variance] = array::batch_norm(x, scale, bias, epsilon);
  const Array new_mean = mean.detach() * momentum + batch_mean * (1 - momentum);
  const Array new_variance = variance.detach() * momentum + batch_variance * (1 - momentum);
  if (call.context.training && call.context.update_constant) {
    call.context.update_constant(call.node.inputs[3], new_mean);
    call.context.update_constant(call.node.inputs[4], new_variance);
  }
  return {output, new_mean, new_variance};
}

Outputs layer_normalization(const Call& call) {
  const Array& x = call.input(0);
  const std::int64_t axis = call.axis(-1, x.rank());
  const auto shape = part_of(x.shape(), static_cast<std::size_t>(axis));
  const double epsilon = checked_epsilon(call, x).item<double>();
  const Array bias = call.has(2) ? call.input(2).expand(shape) : Array();
  const Array y = array::layer_norm(x, x.rank() - axis, call.input(1).expand(shape), bias, epsilon);
  if (!call.wants(1) && !call.wants(2)) return {y};
  Ints axes = all_axes(x.rank());
  axes.erase(axes.begin(), axes.begin() + axis);
  return {y, array::mean(x, axes, true), array::rsqrt(array::var(x, axes, true) + epsilon)};
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
  const Array& x = call.input(0);
  require_rank_at_least(x, 2);
  const std::int64_t size = call.node.integer("size", 0), last = std::max<std::int64_t>(0, x.size(1) - 1);
  require_in("size", size, 1, largest_extent);
  const float alpha = call.node.real("alpha", 1e-4f), beta = call.node.real("beta", 0.75f);
  // Channels beyond the first and the last add nothing.
  const std::int64_t before = std::min((size - 1) / 2, last), after = std::min(size / 2, last);
  Ints pads(2 * x.rank(), 0);
  pads[pads.size() - 4] = before, pads[pads.size() - 3] = after;
  const Array padded = array::pad(x * x, pads, 0);
  const Array squares = padded.unfold(1, before + after + 1, 1).sum(-1);
  return {x / array::pow(squares * (alpha / static_cast<float>(size)) + call.node.real("bias", 1), beta)};
}

// x / norm along the axis; 0 where the norm is 0.
Outputs lp_normalization(const Call& call) {
  const Array& x = call.input(0);
  const std::int64_t p = call.node.integer("p", 2);
  require_in("p", p, 1, 2);
  const Array norm = array::norm(x, p, {call.axis(-1, x.rank())}, true);
  return {x / array::where(norm == 0, array::ones_like(norm), norm)};
}

// (x - mean) / (standard deviation + 1e-9)
Outputs mean_variance_normalization(const Call& call) {
  const Array& x = call.input(0);
  const Ints axes = call.axes(1, x.rank(), {0, 2, 3});
  const Array variance = array::var(x, axes, true), mean = array::mean(x, axes, true);
  return {(x - mean) / (array::sqrt(variance) + 1e-9)};
}

}  // namespace assay::operators
