#include "assay/engine/threads/workers.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <stdexcept>
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

TEST(Team, LoopsOverAllOnceWhateverTheNumberOfThreads) {
  for (const std::size_t threads : {1, 2, 3, 64}) {
    for (const std::size_t count : {0, 1, 2, 50}) {
      std::vector<std::atomic<int>> done(count);
      workers_for(count, threads, [&](std::size_t i) { ++done[i]; });
      EXPECT_TRUE(std::ranges::all_of(done, [](const std::atomic<int>& times) { return times == 1; }))
          << count << " on " << threads;
    }
  }
}

TEST(Team, ALoopThatFailsSaysWhyAndStops) {
  std::atomic<int> begun = 0;
  const auto body = [&](std::size_t i) {
    ++begun;
    if (i == 2) throw std::out_of_range("the third");
  };
  EXPECT_THROW(workers_for(1000, 3, body), std::out_of_range);
  begun = 0;
  EXPECT_THROW(workers_for(1000, 1, body), std::out_of_range);
  EXPECT_EQ(begun, 3);  // with several threads the others may go on until they hear of it
}

}  // namespace
}  // namespace assay
