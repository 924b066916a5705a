#include "assay/support/text/shell.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include <assay/error.h>
#include "assay/support/files/file.h"
#include "assay/support/process.h"

namespace assay {
namespace {

namespace fs = std::filesystem;

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
  EXPECT_TRUE(program_file("sh").is_absolute());
  EXPECT_EQ(program_file("no-such-program-anywhere"), "");
}

TEST(Process, ProgramsOfTheCurrentFolderAreNotTaken) {
  const fs::path folder = fs::path(testing::TempDir()) / "assay_program_test";
  write_file(folder / "assay-planted-program", "#!/bin/sh\n");
  fs::permissions(folder / "assay-planted-program", fs::perms::owner_all);
  const fs::path before = fs::current_path();
  const std::string path = std::getenv("PATH");
  fs::current_path(folder);
  for (const char* relative : {"", ":", ".", "/nowhere:"}) {
    ::setenv("PATH", relative, 1);
    EXPECT_EQ(program_file("assay-planted-program"), "") << "PATH=" << relative;
    EXPECT_THROW(run_process({"assay-planted-program"}), Error);
  }
  ::setenv("PATH", folder.c_str(), 1);
  EXPECT_EQ(program_file("assay-planted-program"), folder / "assay-planted-program");
  ::setenv("PATH", path.c_str(), 1);
  fs::current_path(before);
  fs::remove_all(folder);
}

TEST(Process, WritesOnlyWhereItMay) {
  const fs::path folder = fs::path(testing::TempDir()) / "assay_confined_test";
  fs::remove_all(folder);
  fs::create_directories(folder / "inside");
  write_file(folder / "kept", "as it was");
  const ProcessOptions options{.folder = folder, .writes_only_in = folder / "inside"};
  const ProcessResult within = run_process(
      {"sh", "-c", "echo $TMPDIR && echo new >inside/a && mv inside/a inside/b && cat kept inside/b"},
      options);
  EXPECT_EQ(within.code, 0) << within.output;
  EXPECT_EQ(within.output, (folder / "inside").string() + "\nas it wasnew\n");
  if (run_process({"sh", "-c", "echo new >made"}, options).code == 0)
    GTEST_SKIP() << "this system has no Landlock";
  for (const char* command : {"echo other >kept", ": >kept", "rm kept", "mv kept inside/kept", "mkdir new",
                              "ln -s kept link", "mv inside/b b", "cd inside && echo other >../kept"})
    EXPECT_NE(run_process({"sh", "-c", command}, options).code, 0) << command;
  EXPECT_EQ(read_file(folder / "kept"), "as it was");
  fs::remove_all(folder);
}

}  // namespace
}  // namespace assay
