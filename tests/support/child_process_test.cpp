// Commands that answer, hang, shout and die.

#include "assay/support/child_process.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <functional>

#include "assay/support/process.h"

namespace assay {
namespace {

TEST(ChildProcess, GivesInputAndTakesOutput) {
  const ChildResult result = run_child("cat; echo to me >&2; exit 5", "hello", {});
  EXPECT_EQ(result.output, "hello");
  EXPECT_EQ(result.errors, "to me\n");
  EXPECT_EQ(result.exit_code, 5);
  EXPECT_FALSE(result.timed_out || result.stopped);
}

TEST(ChildProcess, EndsWhatIsSilentTooLong) {
  const ChildResult result = run_child("echo first; sleep 600 & sleep 600", "", {.silence = 0.05});
  EXPECT_TRUE(result.timed_out);
  EXPECT_EQ(result.output, "first\n");
  EXPECT_EQ(result.signal, 9);
}

TEST(ChildProcess, EndsWhatTakesTooLongHoweverLoudItIs) {
  const ChildResult result = run_child("yes", "", {.total = 0.05, .kept = 1000});
  EXPECT_TRUE(result.timed_out);
  EXPECT_LT(result.output.size(), 100'000U);
}

TEST(ChildProcess, EndsWhatHasClosedItsOutput) {
  EXPECT_TRUE(run_child("exec >&- 2>&-; sleep 600", "", {.total = 0.05}).timed_out);
}

TEST(ChildProcess, StopsWhenAskedTo) {
  int asked = 0;
  const ChildResult result = run_child("sleep 600", "", {.stop = [&] { return ++asked > 1; }});
  EXPECT_TRUE(result.stopped);
  EXPECT_FALSE(result.timed_out);
}

TEST(ChildProcess, KeepsTheEndOfTheOutput) {
  const ChildResult result = run_child("seq 1 200000", "", {.kept = 100});
  EXPECT_TRUE(result.output.ends_with("199999\n200000\n"));
  EXPECT_LT(result.output.size(), 100'000U);
}

// Kills a process while it does `work`, which writes to the file descriptor that it is given and goes on for
// ever. The pipe is at its end when the last process that can write to it has ended.
void expect_ends_when_killed(const std::function<void(int)>& work) {
  std::array<int, 2> pipe{};
  ASSERT_EQ(::pipe(pipe.data()), 0);
  const pid_t program = ::fork();
  if (program == 0) {
    ::close(pipe[0]);
    work(pipe[1]);
    std::_Exit(0);
  }
  ::close(pipe[1]);
  char byte = 0;
  ASSERT_EQ(::read(pipe[0], &byte, 1), 1) << "it has started";
  ::kill(program, SIGKILL);
  EXPECT_EQ(::read(pipe[0], &byte, 1), 0);
  ::close(pipe[0]);
  ::waitpid(program, nullptr, 0);
}

TEST(ChildProcess, EndsWithAllThatItStartedWhenThisProgramIsKilled) {
  expect_ends_when_killed(
      [](int to) { run_child(fmt::format("sleep infinity & echo >&{}; wait", to), "", {}); });
}

TEST(Process, EndsWhenThisProgramIsKilled) {
  expect_ends_when_killed([](int to) {
    run_process({"sh", "-c", fmt::format("echo >&{}; exec sleep infinity", to)});
  });
}

TEST(ChildProcess, LeavesNoProcessBehind) {
  run_child("true", "", {});
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1);
  EXPECT_EQ(errno, ECHILD);
}

}  // namespace
}  // namespace assay
