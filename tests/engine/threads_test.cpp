#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include <assay/array_math.h>
#include <assay/session.h>
#include "assay/support/thread_pool.h"
#include "tests/engine/graphs.h"

namespace assay {
namespace {

TEST(EngineThreads, OfANewThreadAreThoseThatWereSetLastUnlessItSetsItsOwn) {
  const Graph graph = test::lenet_like();
  const auto ran = [&](const Session& session) {
    session.run({{graph.inputs()[0], array::zeros({2, 1, 12, 12})}}, graph.outputs());
    return loop_threads();
  };
  const Session session(graph, {.threads = 2});
  EXPECT_EQ(ran(session), 2U);
  std::size_t before = 0, after = 0, again = 0;
  std::thread([&] {
    before = ran(session);
    set_engine_threads(1);
    after = ran(session);
  }).join();
  std::thread([&] { again = ran(session); }).join();
  EXPECT_EQ(before, 2U);
  EXPECT_EQ(after, 1U);
  EXPECT_EQ(again, 1U) << "set last, by the other thread";
  EXPECT_EQ(ran(session), 2U) << "set by this thread";
}

}  // namespace
}  // namespace assay
