// Where explanations and attacks start, whatever the operators behind it, and what a network's decision is.

#include "assay/engine/evaluation/scores.h"

#include <gtest/gtest.h>

#include <functional>

#include <assay/array_math.h>
#include <assay/session.h>
#include "tests/engine/endings.h"

namespace assay::test {
namespace {

// Whether a value holds the scores "z", perhaps in another shape.
bool are_scores(const Session& session, ValueId id) {
  Rng rng(3);
  const ValueId z = *session.graph().find_value("z"), wanted[] = {z, id};
  const Tensors values = session.run({{session.graph().inputs()[0], random_array(rng, {5, 3})}}, wanted);
  return array::equal(values.at(z).reshape({5, -1}), values.at(id).reshape({5, -1}));
}

bool start_at_scores(std::int64_t classes, const Ending& ending) {
  const Session session(network_with(classes, ending), {.threads = 1});
  return are_scores(session, scores_of(session).value);
}

TEST(Scores, AreFoundBehindEverySpellingThatKeepsTheirOrder) {
  for (const auto& [name, ending] : keeping_order()) EXPECT_TRUE(start_at_scores(4, ending)) << name;
  for (const auto& [name, ending] : keeping_side()) EXPECT_TRUE(start_at_scores(1, ending)) << name;
}

TEST(Scores, AreTheDecisionValueWhereTheOrderMayChange) {
  for (const auto& [name, ending] : changing_order()) EXPECT_FALSE(start_at_scores(4, ending)) << name;
  for (const auto& [name, ending] : changing_side()) EXPECT_FALSE(start_at_scores(1, ending)) << name;
}

TEST(Scores, ASoftmaxInEverySpellingIsOne) {
  for (const auto& [name, ending] : softmaxes()) {
    const Session session(network_with(4, ending), {.threads = 1});
    EXPECT_TRUE(session.ends_in_softmax()) << name;
    EXPECT_TRUE(are_scores(session, session.logits())) << name;
  }
}

TEST(Scores, OfOneOutputStandOnTheSidesOfAThreshold) {
  const auto found = [](const Ending& ending) {
    const Session session(network_with(1, ending), {.threads = 1});
    return scores_of(session);
  };
  const DecisionScores logit = found([](Net&, ValueId z) { return z; });
  EXPECT_TRUE(logit.single);
  EXPECT_EQ(logit.threshold, 0);
  // A probability that is none of one score keeps its own threshold.
  const DecisionScores mean = found(changing_side().at("mean of two sigmoids"));
  EXPECT_TRUE(mean.single);
  EXPECT_EQ(mean.threshold, 0.5);
}

}  // namespace
}  // namespace assay::test
