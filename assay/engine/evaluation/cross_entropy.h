#pragma once

// Cross-entropy of the softmax of a record's scores.

#include <cstddef>
#include <span>

namespace assay::inline engine {

// log(1 + exp(b - a)), where a is the class's own score and b that of all others together (log-sum-exp). Adds
// `factor` times its gradient with respect to each score. A softmax would lose the leading part of the
// gradient where the network is sure: 1 - p is 0 in float32 once the others have less than 6e-8. REQUIRES two
// scores. Throws Error{data} for a label that is none of them.
double cross_entropy(std::span<const float> scores, std::size_t label, double factor,
                     std::span<float> gradients);

// The same gradients times the power of two that brings 1 - p to between one half and one: where only their
// direction matters, they do not vanish in float32 however sure the network is, and keep their signs bit for
// bit.
void direction_of_cross_entropy(std::span<const float> scores, std::size_t label, double factor,
                                std::span<float> gradients);

}  // namespace assay::inline engine
