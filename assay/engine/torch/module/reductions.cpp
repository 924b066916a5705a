// What takes the elements along axes together.

#include <algorithm>

#include "assay/engine/torch/module/operators.h"

namespace assay::torch_module {
namespace {

Tensor reduced(std::string_view op, const Tensor& x, const Ints& axes, bool keep) {
  if (op == "ReduceMean") return at::mean(x, axes, keep);
  if (op == "ReduceMax") return at::amax(x, axes, keep);
  if (op == "ReduceMin") return at::amin(x, axes, keep);
  if (op == "ReduceL1") return at::sum(at::abs(x), axes, keep);
  if (op == "ReduceL2") return at::norm(x, 2, axes, keep);
  if (op == "ReduceSumSquare") return at::sum(x * x, axes, keep);
  if (op == "ReduceLogSum") return at::log(at::sum(x, axes, keep));
  if (op == "ReduceLogSumExp") return at::logsumexp(x, axes, keep);
  return at::sum(x, axes, keep);
}

}  // namespace

// Without axes: over all of them, that of the records too, or none.
bool takes_reduction(const Form& form) {
  const Ints axes = form.axes(1, {});
  return !axes.empty() && std::ranges::find(axes, 0) == axes.end();
}

Outputs reduction(const Call& call) {
  return {reduced(call.op(), call.x(), call.axes(1, {}), call.integer("keepdims", 1) != 0)};
}

Outputs softmax(const Call& call) { return {at::softmax(call.x(), call.axis(-1))}; }
Outputs log_softmax(const Call& call) { return {at::log_softmax(call.x(), call.axis(-1))}; }

bool takes_cumulative(const Form& form) { return form.axes(1, {0}).at(0) != 0; }

Outputs cumulative_sum(const Call& call) {
  const std::int64_t axis = call.axes(1, {}).at(0);
  const bool reverse = call.integer("reverse", 0) != 0;
  Tensor added = reverse ? at::flip(call.x(), {axis}) : call.x();
  // Moved, not taken away again: small sums would be lost behind a large element, and infinities become NaN.
  if (call.integer("exclusive", 0) != 0) {
    const Tensor first = at::zeros_like(at::narrow(added, axis, 0, 1));
    added = at::cat({first, at::narrow(added, axis, 0, added.size(axis) - 1)}, axis);
  }
  const Tensor sums = at::cumsum(added, axis);
  return {reverse ? at::flip(sums, {axis}) : sums};
}

}  // namespace assay::torch_module
