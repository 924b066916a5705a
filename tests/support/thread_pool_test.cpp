#include "assay/support/thread_pool.h"

#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <stdexcept>
#include <thread>
#include <vector>

namespace assay {
namespace {

TEST(ThreadPool, EveryWorkerRunsOnce) {
  for (const std::size_t workers : {1, 2, 5, 3, 8}) {
    std::vector<std::atomic<int>> runs(workers);
    run_on_pool(workers, [&](std::size_t worker) { ++runs[worker]; });
    for (const auto& count : runs) EXPECT_EQ(count, 1);
  }
}

TEST(ThreadPool, JobsWithinAJobRunOnItsThread) {
  std::atomic<int> runs{0};
  run_on_pool(3, [&](std::size_t) {
    const std::thread::id own = std::this_thread::get_id();
    EXPECT_EQ(loop_threads(), 1U);
    run_on_pool(4, [&](std::size_t) {
      EXPECT_EQ(std::this_thread::get_id(), own);
      ++runs;
    });
  });
  EXPECT_EQ(runs, 12);
}

TEST(ThreadPool, SeveralThreadsMayAskAtATime) {
  std::atomic<int> runs{0};
  {
    std::vector<std::jthread> askers;
    for (int i = 0; i < 4; ++i) {
      askers.emplace_back([&] {
        for (int n = 0; n < 200; ++n) run_on_pool(3, [&](std::size_t) { ++runs; });
      });
    }
  }
  EXPECT_EQ(runs, 4 * 200 * 3);
}

TEST(ThreadPool, ThrowsWhenAllHaveStopped) {
  std::atomic<int> runs{0};
  const auto fails = [&](std::size_t worker) {
    ++runs;
    if (worker == 1) throw std::out_of_range("one");
  };
  EXPECT_THROW(run_on_pool(4, fails), std::out_of_range);
  EXPECT_EQ(runs, 4);
  run_on_pool(2, [&](std::size_t) { ++runs; });
  EXPECT_EQ(runs, 6) << "it goes on";
}

TEST(ThreadPool, ACopyOfTheProcessHasThreadsOfItsOwn) {
  run_on_pool(3, [](std::size_t) {});
  const pid_t child = ::fork();
  if (child == 0) {
    std::atomic<int> runs{0};
    run_on_pool(3, [&](std::size_t) { ++runs; });
    ::_exit(runs == 3 ? 0 : 1);
  }
  int status = 1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST(SplitLoop, CoversAllOnce) {
  set_loop_threads(3);
  for (const std::size_t count : {0, 1, 7, 1000}) {
    std::vector<std::atomic<int>> seen(count);
    split_loop(count, 10, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) ++seen[i];
    });
    for (const auto& times : seen) EXPECT_EQ(times, 1);
  }
  set_loop_threads(0);
}

}  // namespace
}  // namespace assay
