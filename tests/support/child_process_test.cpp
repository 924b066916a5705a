// Commands that answer, hang, shout and die.

#include "assay/support/child_process.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace assay
