// The losses that networks exported for training end in.

#include "assay/engine/kernels/parts/support.h"

namespace assay::operators {
namespace {

// -log p of each target, weighted by its class and 0 where the target is to be ignored; then reduced.
Tensor likelihood_loss(const Call& call, const Tensor& log_probabilities, const Tensor& targets,
                       const Tensor& weights) {
  require_rank_at_least(log_probabilities, 2);
  const std::int64_t classes = log_probabilities.size(1);
  Ints expected = log_probabilities.sizes().vec();
  expected.erase(expected.begin() + 1);
  if (targets.sizes().vec() != expected)
    fail(Fault::model, "the targets have the shape {}, not {}", to_string(targets.sizes().vec()),
         to_string(expected));
  Tensor target = targets.to(at::kLong), counted = at::ones_like(target, at::kBool);
  if (call.node.has("ignore_index")) {
    counted = target != call.node.integer("ignore_index", 0);
    target = at::where(counted, target, at::zeros_like(target));
  }
  target = checked_indices(target, classes);
  Tensor weight = counted.to(log_probabilities.scalar_type());
  if (weights.defined()) {
    if (weights.dim() != 1 || weights.size(0) != classes)
      fail(Fault::model, "{} weights are given for {} classes", weights.numel(), classes);
    weight = weight * at::index_select(weights, 0, target.flatten()).reshape(target.sizes());
  }
  const Tensor loss = -at::gather(log_probabilities, 1, target.unsqueeze(1)).squeeze(1) * weight;
  const std::string reduction = call.node.text("reduction", "mean");
  if (reduction == "none") return loss;
  if (reduction == "sum") return loss.sum();
  if (reduction == "mean") return loss.sum() / weight.sum();
  fail(Fault::model, "reduction '{}' is none of none, sum, mean", reduction);
}

}  // namespace

Outputs negative_log_likelihood_loss(const Call& call) {
  return {likelihood_loss(call, call.input(0), call.input(1), call.optional(2))};
}

Outputs softmax_cross_entropy_loss(const Call& call) {
  require_rank_at_least(call.input(0), 2);
  const Tensor log_probabilities = at::log_softmax(call.input(0), 1);
  return {likelihood_loss(call, log_probabilities, call.input(1), call.optional(2)), log_probabilities};
}

}  // namespace assay::operators
