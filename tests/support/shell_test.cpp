#include "assay/support/text/shell.h"

#include <gtest/gtest.h>

#include <assay/error.h>
#include "assay/support/process.h"

namespace assay {
namespace {

TEST(ShellWords, AreQuotedWhereTheyNeedItAndReadBack) {
  EXPECT_EQ(shell_word("net.onnx"), "net.onnx");
  EXPECT_EQ(shell_word("a b"), "'a b'");
  EXPECT_EQ(shell_word(""), "''");
  EXPECT_EQ(shell_word("it's"), "'it'\\''s'");
  EXPECT_EQ(shell_word("idc[m=6]"), "'idc[m=6]'");
  for (const std::string word : {"plain", "", "two words", "it's $HOME", "\\back", "a\nb", "*?[]{}~#;&|<>\""})
    EXPECT_EQ(shell_words("x " + shell_word(word) + "  y"), (std::vector<std::string>{"x", word, "y"}));
  EXPECT_THROW(shell_words("'open"), Error);
}

TEST(ShellWords, MeanTheSameToAShell) {
  for (const std::string word : {"two words", "it's $HOME", "\\back", "*?[]{}~#;&|<>\""})
    EXPECT_EQ(run_process({"/bin/sh", "-c", "printf %s " + shell_word(word)}).output, word);
}

TEST(Process, GivesOutputAndCode) {
  const ProcessResult result = run_process({"sh", "-c", "pwd; echo wrong >&2; exit 3"}, {.folder = "/"});
  EXPECT_EQ(result.code, 3);
  EXPECT_EQ(result.output, "/\nwrong\n");
  EXPECT_EQ(run_process({"sh", "-c", "kill -9 $$"}).code, 137);
  EXPECT_THROW(run_process({"no-such-program-anywhere"}), Error);
  EXPECT_TRUE(has_program("sh"));
  EXPECT_FALSE(has_program("no-such-program-anywhere"));
}

}  // namespace
}  // namespace assay
