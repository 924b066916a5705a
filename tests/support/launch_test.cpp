#include "assay/support/ranks/launch.h"

#include <gmock/gmock.h>

#include <cstdlib>

#include <assay/error.h>
#include "assay/support/machine.h"

namespace assay {
namespace {

TEST(Launch, ALauncherIsSeenInTheEnvironment) {
  ASSERT_EQ(std::getenv("OMPI_COMM_WORLD_SIZE"), nullptr);
  EXPECT_EQ(launched_ranks(), nullptr);
  ::setenv("OMPI_COMM_WORLD_SIZE", "1", 1);
  EXPECT_EQ(launched_ranks(), nullptr);
  // The module for MPI lies beside the program, not beside this test.
  ::setenv("OMPI_COMM_WORLD_SIZE", "4", 1);
  try {
    launched_ranks();
    ADD_FAILURE() << "four processes were not seen";
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), Fault::unsupported);
    EXPECT_THAT(error.what(), testing::HasSubstr("started 4 processes"));
  }
  ::unsetenv("OMPI_COMM_WORLD_SIZE");
}

TEST(Launch, AProcessAloneTakesAllThreads) { EXPECT_EQ(threads_of_rank(Ranks()), 0); }

TEST(Machine, TimesAreInUtc) {
  EXPECT_THAT(utc_now(), testing::MatchesRegex("2[0-9]{3}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z"));
  EXPECT_FALSE(processor_name().empty());
}

}  // namespace
}  // namespace assay
