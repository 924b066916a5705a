// The losses that networks exported for training end in.

#include "assay/engine/operators/parts/support.h"

namespace assay::operators {
namespace {

// -log p of each target, weighted by its class and 0 where the target is to be ignored; then reduced.
Array likelihood_loss(const Call& call, const Array& log_probabilities, const Array& targets,
                      const Array& weights) {
  require_rank_at_least(log_probabilities, 2);
  const std::int64_t classes = log_probabilities.size(1);
  Ints expected = log_probabilities.shape();
  expected.erase(expected.begin() + 1);
  if (targets.shape() != expected)
    fail(Fault::model, "the targets have the shape {}, not {}", to_string(targets.shape()),
         to_string(expected));
  Array target = targets.to(DType::int64), counted = array::ones_like(target, DType::boolean);
  if (call.node.has("ignore_index")) {
    counted = target != call.node.integer("ignore_index", 0);
    target = array::where(counted, target, array::zeros_like(target));
  }
  target = checked_indices(target, classes);
  Array weight = counted.to(log_probabilities.dtype());
  if (weights.defined()) {
    if (weights.rank() != 1 || weights.size(0) != classes)
      fail(Fault::model, "{} weights are given for {} classes", weights.count(), classes);
    weight = weight * array::index_select(weights, 0, target.flatten()).reshape(target.shape());
  }
  const Array loss = -array::gather(log_probabilities, 1, target.unsqueeze(1)).squeeze(1) * weight;
  const std::string reduction = call.node.text("reduction", "mean");
  if (reduction == "none") return loss;
  if (reduction == "sum") return loss.sum();
  if (reduction == "mean") return loss.sum() / weight.sum();
  fail(Fault::model, "reduction '{}' is not none, sum or mean", reduction);
}

}  // namespace

Outputs negative_log_likelihood_loss(const Call& call) {
  return {likelihood_loss(call, call.input(0), call.input(1), call.optional(2))};
}

Outputs softmax_cross_entropy_loss(const Call& call) {
  require_rank_at_least(call.input(0), 2);
  const Array log_probabilities = array::log_softmax(call.input(0), 1);
  return {likelihood_loss(call, log_probabilities, call.input(1), call.optional(2)), log_probabilities};
}

}  // namespace assay::operators
