// What is normalised: by given numbers, or by those of the record.

#include <algorithm>

#include "assay/engine/torch/module/operators.h"

namespace assay::torch_module {
namespace {

Tensor along_channels(const Tensor& vector, const Tensor& x) {
  Ints shape(static_cast<std::size_t>(x.dim()), 1);
  shape[1] = -1;
  return vector.reshape(shape);
}

}  // namespace

bool takes_batch_normalisation(const Form& form) { return form.integer("training_mode", 0) == 0; }

Outputs batch_normalisation(const Call& call) {
  const Tensor &x = call.x(), &scale = call.x(1), &shift = call.x(2), &mean = call.x(3),
               &variance = call.x(4);
  const float epsilon = call.real("epsilon", 1e-5F);
  if (!mean.requires_grad() && !variance.requires_grad())
    return {at::batch_norm(x, scale, shift, mean, variance, false, 0, epsilon, false)};
  const Tensor factor = scale * at::rsqrt(variance + epsilon);  // libtorch's own has no gradient for these
  return {x * along_channels(factor, x) + along_channels(shift - mean * factor, x)};
}

// Whatever goes along an axis goes not along that of the records.
bool takes_axis_of_record(const Form& form) {
  const bool last = form.op() != "Gather" && form.op() != "Split";
  return !form.is_constant(0) && form.axis(last ? -1 : 0) > 0;
}

Outputs layer_normalisation(const Call& call) {
  const auto shape = call.x().sizes().slice(static_cast<std::size_t>(call.axis(-1)));
  const Tensor shift = call.has(2) ? call.x(2).expand(shape) : Tensor();
  return {
      at::layer_norm(call.x(), shape, call.x(1).expand(shape), shift, call.real("epsilon", 1e-5F), false)};
}

Outputs group_normalisation(const Call& call) {
  const std::int64_t channels = call.x().size(1);
  const std::int64_t groups =
      call.op() == "InstanceNormalization" ? channels : call.integer("num_groups", channels);
  return {at::group_norm(call.x(), groups, call.x(1), call.x(2), call.real("epsilon", 1e-5F), false)};
}

// x / (bias + alpha / size * sum of squares over the `size` nearest channels)^beta
Outputs local_response_normalisation(const Call& call) {
  const Tensor& x = call.x();
  const std::int64_t size = call.integer("size", 1), last = x.size(1) - 1;
  // Channels beyond the first and the last add nothing.
  const std::int64_t before = std::min((size - 1) / 2, last), after = std::min(size / 2, last);
  Ints pads(static_cast<std::size_t>(2 * x.dim()), 0);
  pads[pads.size() - 4] = before, pads[pads.size() - 3] = after;
  const Tensor squares = at::constant_pad_nd(x * x, pads, 0).unfold(1, before + after + 1, 1).sum(-1);
  const float alpha = call.real("alpha", 1e-4F) / static_cast<float>(size);
  return {x / at::pow(squares * alpha + call.real("bias", 1), call.real("beta", 0.75F))};
}

// x / norm along the axis; 0 where the norm is 0.
Outputs lp_normalisation(const Call& call) {
  const Tensor norm = at::norm(call.x(), call.integer("p", 2), {call.axis(-1)}, /*keepdim=*/true);
  return {call.x() / at::where(norm == 0, at::ones_like(norm), norm)};
}

// Records keep apart only where their axis is not among those normalised over.
bool takes_mean_variance(const Form& form) {
  return std::ranges::none_of(form.integers("axes", {0, 2, 3}),
                              [&](std::int64_t axis) { return Form::from_front(axis, form.rank()) == 0; });
}

// (x - mean) / (standard deviation + 1e-9)
Outputs mean_variance_normalisation(const Call& call) {
  const auto [variance, mean] = at::var_mean(call.x(), call.integers("axes", {}), /*unbiased=*/false, true);
  return {(call.x() - mean) / (at::sqrt(variance) + 1e-9)};
}

}  // namespace assay::torch_module
