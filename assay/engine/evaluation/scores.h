#pragma once

// Where explanations and attacks start. A decision is often a function of scores that keeps their order: a
// softmax with a logarithm, a clip or a constant after it, a sigmoid, a tanh. Its gradient vanishes where the
// network is sure, and may have another sign than that of the scores.

#include <assay/session.h>

namespace assay::inline engine {

struct DecisionScores {
  // [records, classes], of which the greatest is the decision, or one number a record; the decision value
  // itself where nothing is in between.
  ValueId value = no_value;
  double threshold = 0;  // of one number a record: class 1 lies above it, class 0 below
  bool single = false;   // whether it is one: the score of class 1 is (number - threshold) / 2, that of
                         // class 0 the same with the other sign
};

// O(nodes + constants).
DecisionScores scores_of(const Session& session);

}  // namespace assay::inline engine
