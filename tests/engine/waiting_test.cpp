#include "assay/engine/threads/waiting.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <thread>
#include <vector>

#include <assay/session.h>
#include "assay/engine/threads/team.h"
#include "tests/engine/graphs.h"

namespace assay {
namespace {

std::ptrdiff_t threads_of_this_process() {
  const std::filesystem::directory_iterator tasks("/proc/self/task");
  return std::distance(begin(tasks), end(tasks));
}

TEST(Waiting, BrieflyAddsThreadsThatSleepOnceAndTeamsDoTheirWork) {
  if (!std::filesystem::exists("/proc/self/task")) GTEST_SKIP() << "there is no /proc";
  std::vector<std::atomic<int>> done(5);
  const auto all_done = [&](int times) {
    run_team(done.size(), [&](std::size_t worker) { ++done[worker]; });
    return std::ranges::all_of(done, [&](const std::atomic<int>& count) { return count == times; });
  };
  ::setenv("OMP_WAIT_POLICY", "passive", 1);
  EXPECT_TRUE(all_done(1));
  const std::ptrdiff_t before = threads_of_this_process();
  wait_briefly();
  EXPECT_EQ(threads_of_this_process(), before) << "the environment says how to wait";
  ::unsetenv("OMP_WAIT_POLICY");
  ::unsetenv("GOMP_SPINCOUNT");
  wait_briefly();
  const std::ptrdiff_t after = threads_of_this_process();
  EXPECT_GT(after, before);
  wait_briefly();
  EXPECT_EQ(threads_of_this_process(), after);
  EXPECT_TRUE(all_done(2));
}

TEST(EngineThreads, OfANewThreadAreThoseThatWereSetLastUnlessItSetsItsOwn) {
  const Graph graph = test::lenet_like();
  const auto ran = [&](const Session& session) {
    session.run({{graph.inputs()[0], at::zeros({2, 1, 12, 12})}}, graph.outputs());
    return at::get_num_threads();
  };
  const Session session(graph, {.threads = 2});
  EXPECT_EQ(ran(session), 2);
  int before = 0, after = 0, again = 0;
  std::thread([&] {
    before = ran(session);
    set_engine_threads(1);
    after = ran(session);
  }).join();
  std::thread([&] { again = ran(session); }).join();
  EXPECT_EQ(before, 2);
  EXPECT_EQ(after, 1);
  EXPECT_EQ(again, 1) << "set last, by the other thread";
  EXPECT_EQ(ran(session), 2) << "set by this thread";
}

TEST(Team, LoopsOverAllOnceWhateverTheNumberOfThreads) {
  for (const std::size_t threads : {1, 2, 3, 64}) {
    for (const std::size_t count : {0, 1, 2, 50}) {
      std::vector<std::atomic<int>> done(count);
      team_for(count, threads, [&](std::size_t i) { ++done[i]; });
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
  EXPECT_THROW(team_for(1000, 3, body), std::out_of_range);
  begun = 0;
  EXPECT_THROW(team_for(1000, 1, body), std::out_of_range);
  EXPECT_EQ(begun, 3);  // with several threads the others may go on until they hear of it
}

}  // namespace
}  // namespace assay
