// Every operator of the catalogue, on every kind of network: replaying a mutant gives what running it whole
// gives.

#include <gtest/gtest.h>

#include <assay/array_math.h>
#include <assay/mutation.h>
#include "assay/mutation/replay/replay.h"
#include "networks.h"
#include "tests/engine/graphs.h"
#include "tests/written.h"

namespace assay::mutation {
namespace {

class EveryOperatorReplayed : public testing::TestWithParam<std::string> {};

TEST_P(EveryOperatorReplayed, ReplayedAnswersAsTheWholeMutantDoes) {
  std::size_t mutants = 0;
  for (const auto network :
       {testing_mutation::small_cnn, testing_mutation::residual_cnn, testing_mutation::recurrent,
        testing_mutation::shared_weights, testing_mutation::quantised_cnn, testing_mutation::language,
        test::transformer_like}) {
    const Session session(network());
    const Subject subject(session);
    Block block(session);
    block.add(testing_mutation::inputs_of(session, 9));
    for (const bool whole_network : {false, true}) {
      DrawOptions options;
      options.operators = {parse_spec("operator", GetParam())};
      options.per_operator = 6;
      options.whole_network = whole_network;
      options.seed = 3;
      for (const Mutant& mutant : draw_mutants(subject, options).mutants) {
        const Graph graph = apply(subject, mutant).graph;
        const Replay fast(session, graph), naive(session, graph, true);
        EXPECT_TRUE(fast.changes_anything()) << mutant.text();
        const Array now = fast.run(block, 0).decisions, expected = naive.run(block, 0).decisions;
        EXPECT_TRUE(array::allclose(now, expected, 1e-4, 1e-4, /*equal_nan=*/true))
            << session.graph().name() << " " << mutant.text() << ", " << fast.way() << "\n"
            << written(now) << "\n"
            << written(expected);
        ++mutants;
      }
    }
  }
  EXPECT_GT(mutants, 0U);
}

std::vector<std::string> names() {
  std::vector<std::string> names;
  for (const OperatorInfo& info : operators())
    if (!info.of_source()) names.push_back(info.name);
  return names;
}

INSTANTIATE_TEST_SUITE_P(Catalogue, EveryOperatorReplayed, testing::ValuesIn(names()),
                         [](const auto& c) { return c.param; });

}  // namespace
}  // namespace assay::mutation
