// Element-wise arithmetic of several operands, and everything linear (or homogeneous) in its input.

#include <assay/array_math.h>

#include <assay/extend/rule.h>
#include "assay/relevance/operators/families.h"
#include "assay/relevance/vjp.h"

namespace assay::relevance::passing {

// R_i = x_i sum_j (dy_j / dx_i) R_j / y_j. For y linear in x that is the z-rule with the operator's own
// weights; for a homogeneous y such as a norm it conserves as well, by Euler's theorem.
Relevances proportional(const Passage& p) {
  const Array share = share_of(p.arriving(), p.outputs[0], p.epsilon);
  Relevances results = vector_jacobian(p.node, p.inputs, p.receivers, std::span(&share, 1));
  for (std::size_t i = 0; i < results.size(); ++i) results[i] = results[i] * p.input(p.receivers[i]);
  return results;
}

// Constant addends are biases: they absorb their part, or are left out of the denominator.
Relevances sum(const Passage& p) {
  const bool subtracts = p.node.op == "Sub";
  const auto addend = [&](std::size_t i) { return subtracts && i == 1 ? -p.input(i) : p.input(i); };
  Array z = p.outputs[0];
  if (!p.bias_absorbs && p.receivers.size() < p.inputs.size()) {
    z = array::zeros_like(z);
    for (const std::size_t i : p.receivers) z = z + addend(i);
  }
  const Array share = share_of(p.arriving(), z, p.epsilon);
  Relevances results;
  for (const std::size_t i : p.receivers)
    results.push_back(array::sum_to(addend(i) * share, p.input(i).shape()));
  return results;
}

Relevances mean(const Passage& p) {
  const double count = p.inputs.size();
  const Array share = share_of(p.arriving(), p.outputs[0] * count, p.epsilon);
  Relevances results;
  for (const std::size_t i : p.receivers)
    results.push_back(array::sum_to(p.input(i) * share, p.input(i).shape()));
  return results;
}

Relevances product(const Passage& p) {
  const Array share =
      p.receivers.size() == 1 ? p.arriving() : p.arriving() / static_cast<double>(p.receivers.size());
  Relevances results;
  for (const std::size_t i : p.receivers) results.push_back(array::sum_to(share, p.input(i).shape()));
  return results;
}

// A constant that wins takes its relevance with it.
Relevances extreme(const Passage& p) {
  Array winners = array::zeros_like(p.outputs[0]);
  std::vector<Array> wins;  // of each operand
  for (const Array& input : p.inputs) {
    const Array equal = input.eq(p.outputs[0]).to(winners.dtype());
    wins.push_back(p.maxima_share ? equal : equal * winners.eq(0).to(winners.dtype()));
    winners = winners + wins.back();
  }
  const Array share = share_of(p.arriving(), winners);
  Relevances results;
  for (const std::size_t i : p.receivers)
    results.push_back(array::sum_to(share * wins[i], p.input(i).shape()));
  return results;
}

// Each operand takes its share by the z-rule; with two operands that is half for each.
Relevances bilinear(const Passage& p) {
  Relevances results = proportional(p);
  if (results.size() == 1) return results;
  for (Array& result : results) result = result / static_cast<double>(results.size());
  return results;
}

// s = softmax(x), expanded at x: R_i = x_i (R_i - s_i sum_j R_j) (Achtibat et al., ICML 2024, eq. 13). Masked
// elements, of which s is 0 and x may be infinite, get nothing.
Relevances softmax(const Passage& p) {
  const Array &x = p.input(0), &s = p.outputs[0];
  const Array all = p.arriving().sum(p.node.integer("axis", -1), /*keep=*/true);
  return {array::where(s.eq(0), array::zeros({}, x.dtype()), x * (p.arriving() - s * all))};
}

}  // namespace assay::relevance::passing
