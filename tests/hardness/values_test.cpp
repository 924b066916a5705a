// Values that no flag is made for: every flag of every command that takes a value is given numbers that are
// none, beyond all bounds or in other digits, and texts of nothing. None ends in an internal error, a crash
// or silence.

#include <set>

#include "tests/hardness/commands.h"
#include "tests/hardness/flags.h"

namespace assay {
namespace {

const std::vector<std::string>& values() {
  static const std::vector<std::string> all{
      "nan", "-inf", "1e308", "18446744073709551616", "-1",  "0",   "''", "' '",   "'\xD9\xA3'", "0x10",
      "010", "1,5",  "a=b",   "'x[y=1e400]'",         "'['", "'='", ",",  "'\xff'"};
  return all;
}

class ValuesOfCommand : public FlagSweep, public ::testing::WithParamInterface<CommandRun> {};

TEST_P(ValuesOfCommand, AreTakenOrRefusedInWords) {
  const CommandRun& run = GetParam();
  if (run.slow) GTEST_SKIP() << "its flags are those of others";
  for (const std::string& command : run.prepare) ASSERT_EQ(assay(command + " --quiet").code, 0) << command;
  const char* const wanted = std::getenv("ASSAY_HARDNESS");
  const std::size_t step = wanted != nullptr && std::string(wanted) == "whole" ? 1 : 6;  // of the values
  const auto flags = flags_of(run.name), common = flags_of("criteria");
  ASSERT_GT(common.size(), 5U) << "of every command are --json and --csv";
  std::size_t turn = 0;
  for (const auto& [flag, type] : flags) {
    if (common.contains(flag) && run.name != "evaluate") continue;  // the same everywhere
    for (std::size_t v = turn++ % step; v < values().size(); v += step)
      expect_told(run.name + " " + with_value(run.arguments, flag, values()[v]));
    if (HasFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(Commands, ValuesOfCommand, ::testing::ValuesIn(command_runs()),
                         [](const auto& run) { return run.param.name + run.param.variant; });

}  // namespace
}  // namespace assay
