#pragma once

// The objectives that attacks climb: greater means nearer to the goal of the problem.

#include <assay/extend/attack_problem.h>

namespace assay::attack {

// Cross-entropy of the softmax of the scores with the label, or less the cross-entropy with the target; times
// a factor above 0 for each record, so that it does not vanish where the network is sure. Attacks take the
// direction of its gradient alone.
AttackedNetwork::Objective loss(const AttackProblem& problem);

// The score of one class per record ([n] int64).
AttackedNetwork::Objective score_of(const Array& classes);

// The score of one class less that of another, per record ([n] int64 both).
AttackedNetwork::Objective lead_of(const Array& classes, const Array& over);

// constants [n] times max(0, margin() + confidence). Equal scores share the gradient of the greatest.
AttackedNetwork::Objective hinge_of_margin(const AttackProblem& problem, const Array& constants,
                                           double confidence);

// [n, r] the classes with the greatest clean scores except the label, or the target alone.
Array rivals_of(const AttackProblem& problem, std::size_t most);

// How far the scores are from what is wanted: Z_y - max_{i != y} Z_i, or max_{i != t} Z_i - Z_t for a target.
// Negative once it is reached.
Array margin(const AttackProblem& problem, const Array& scores);

}  // namespace assay::attack
