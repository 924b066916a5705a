// Threads where the system gives many, few and none.

#include "assay/support/threads.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <stdexcept>
#include <vector>

#include "assay/support/spare_threads.h"
namespace assay {
namespace {

// Every i in [0, 100) exactly once.
bool does_all(std::size_t threads) {
  std::vector<std::atomic<int>> done(100);
  parallel_for(done.size(), threads, [&](std::size_t i) { ++done[i]; });
  return std::ranges::all_of(done, [](const auto& times) { return times == 1; });
}

TEST(Threads, DoEveryPieceOnce) {
  EXPECT_TRUE(does_all(0));
  EXPECT_TRUE(does_all(1));
  EXPECT_TRUE(does_all(4));
  EXPECT_EQ(threads_to_be_had(1), 1U);
  EXPECT_EQ(threads_to_be_had(4), 4U);
}

[[noreturn]] void work_without_threads() {
  rlimit limit{};
  limit.rlim_cur = limit.rlim_max = 1 << 20;
  const bool limited = ::setrlimit(RLIMIT_AS, &limit) == 0;
  std::_Exit(limited && threads_to_be_had(64) == 1 && available_threads() == 1 && does_all(4) ? 0 : 1);
}

TEST(Threads, OfALoopThatFailsSayWhyAndStop) {
  std::atomic<int> begun = 0;
  const auto body = [&](std::size_t i) {
    ++begun;
    if (i == 2) throw std::out_of_range("the third");
  };
  EXPECT_THROW(parallel_for(1000, 3, body), std::out_of_range);
  begun = 0;
  EXPECT_THROW(parallel_for(1000, 1, body), std::out_of_range);
  EXPECT_EQ(begun, 3);  // with several threads the others may go on until they hear of it
}

// A limit on address space that has no room for a thread's stack. It runs in a separate process, so that no
// other test is affected.
TEST(Threads, AreNotNeeded) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "sanitizers reserve more address space than there is";
#endif
  GTEST_FLAG_SET(death_test_style, "threadsafe");  // a process that has had no threads yet
  EXPECT_EXIT(work_without_threads(), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace assay
