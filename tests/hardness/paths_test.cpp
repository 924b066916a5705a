// What stands at a path that is read: every flag of every command that takes a file or data is given a pipe
// that nobody writes, a device without an end, a folder and a link in a circle. Each is refused at once, in
// little memory; what may come from a pipe is waited for, and a signal ends that.

#include <fmt/format.h>
#include <sys/stat.h>

#include <set>
#include <sstream>

#include "assay/data/files/image.h"
#include "tests/hardness/commands.h"
#include "tests/hardness/little_memory.h"
#include "tests/program/program.h"

namespace assay {
namespace {

namespace fs = std::filesystem;

// Flags that write what they name, to pipes and devices as well.
const std::set<std::string> written{"--out",    "--out-dir",  "--json",  "--html",          "--junit",
                                    "--sarif",  "--markdown", "--csv",   "--write",         "--matrix",
                                    "--scores", "--zip",      "--sheet", "--killing-subset"};
// Flags whose file is read once, so that it may come from a pipe.
const std::set<std::string> streamed{"--config", "--no-worse-than", "--sql-file"};

bool takes_path(const std::string& type) {
  return type.starts_with("FILE") || type.starts_with("SPEC") || type.starts_with("FOLDER");
}

// "--state" of lines like "  --state FILE   write ..." and "  --model,model FILE".
std::set<std::string> path_flags(const std::string& help) {
  std::set<std::string> flags;
  std::istringstream lines(help);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string names, type;
    words >> names >> type;
    const std::size_t begin = names.find("--");
    if (begin == std::string::npos || !takes_path(type)) continue;
    flags.insert(names.substr(begin, names.find(',', begin) - begin));
  }
  return flags;
}

// The arguments with another value of the flag, which is put behind where it is not there.
std::string with_value(std::string arguments, const std::string& flag, const std::string& value) {
  std::size_t at = (" " + arguments).find(" " + flag + " ");
  if (at != std::string::npos) {
    at += flag.size() + 1;
  } else if (flag == "--model" && arguments.find("net.onnx") != std::string::npos) {
    at = arguments.find("net.onnx");
  } else {
    return arguments + " " + flag + "=" + value;
  }
  const char quote = arguments[at] == '\'' ? '\'' : ' ';
  const std::size_t end = std::min(arguments.find(quote, at + 1), arguments.size());
  return arguments.replace(at, end - at + (quote == '\'' ? 1 : 0), value);
}

class Paths : public Program {
 protected:
  void SetUp() override {
    Program::SetUp();
    ASSERT_EQ(::mkfifo((folder / "pipe").c_str(), 0600), 0);
    fs::create_directories(folder / "nothing");
    fs::create_symlink("circle", folder / "circle");
  }
  std::vector<std::string> flags_of(const std::string& command) const {
    const std::set<std::string> flags = path_flags(assay(command + " --help-all").out);
    return {flags.begin(), flags.end()};
  }
  void expect_told(const std::string& command) const {
    const Outcome outcome =
        shell(little_memory(6) + std::string(little_time) + "$assay " + command + " --quiet");
    EXPECT_TRUE(outcome.code >= 0 && outcome.code < 10) << command << ": " << outcome.code << outcome.err;
    EXPECT_TRUE(outcome.code == 0 || !outcome.err.empty()) << command;
  }
};

class PathsOfCommand : public Paths, public ::testing::WithParamInterface<CommandRun> {};

TEST_P(PathsOfCommand, HoldAFileOrAreRefused) {
  const CommandRun& run = GetParam();
  if (run.slow) GTEST_SKIP() << "its flags are those of others";
  for (const std::string& command : run.prepare) ASSERT_EQ(assay(command + " --quiet").code, 0) << command;
  const std::vector<std::string> flags = flags_of(run.name);
  ASSERT_GT(flags.size(), 5U) << "of every command are --json and --config";
  for (const std::string& flag : flags) {
    const bool waits = written.contains(flag) || streamed.contains(flag);
    for (const std::string path : {"pipe", "/dev/zero", "circle", "nothing"}) {
      if (waits && path == "pipe") continue;
      expect_told(run.name + " " + with_value(run.arguments, flag, path));
      if (HasFailure()) return;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Commands, PathsOfCommand, ::testing::ValuesIn(command_runs()),
                         [](const auto& run) { return run.param.name + run.param.variant; });

// Files that stand within the value of a flag.
TEST_F(Paths, WithinSpecsHoldAFileOrAreRefused) {
  const std::string inspect = "inspect --model net.onnx --data images-idx3-ubyte ";
  for (const std::string path : {"pipe", "/dev/zero", "circle", "nothing"}) {
    for (const std::string& command :
         {"evaluate --model net.onnx,weights=" + path + " --data images-idx3-ubyte",
          "evaluate --model net.onnx --data images-idx3-ubyte,labels=" + path,
          inspect + "--hypotheses 'array[file=" + path + "]'",
          inspect + "--hypotheses 'column[file=" + path + ",column=a]'",
          inspect + "--hypotheses 'mask[coco=" + path + "]'",
          inspect + "--hypotheses 'mask[folder=" + path + "]'",
          inspect + "--hypotheses 'grammar[file=" + path + "]'", "combine " + path + " " + path,
          "diff " + path + " " + path, "verify " + path, std::string("report /dev/zero"),
          inspect + "--units from=/dev/zero", inspect + "--add x=/dev/zero --db x.db",
          "explore net.onnx --mutant ws --data images-idx3-ubyte --out found "
          "--constraint 'mask[file=" +
              path + "]'"})
      expect_told(command);
  }
}

// Opening the pipe for writing waits until it is read, so that the signal comes while the program waits.
TEST_F(Paths, ThatMayBePipesAreWaitedForAndSignalsEndThat) {
  const std::string evaluate = "evaluate --model net.onnx --data images-idx3-ubyte ",
                    inspect = "inspect --model net.onnx --data images-idx3-ubyte ";
  for (const std::string& command :
       {std::string("report pipe"), evaluate + "--config pipe", evaluate + "--no-worse-than pipe",
        inspect + "--sql-file pipe", inspect + "--hypotheses label --units from=pipe"}) {
    for (const auto& [name, code] : {std::pair("TERM", 143), std::pair("INT", 130)}) {
      // A job in the background of a shell ignores SIGINT; env makes that as it is in the foreground.
      const Outcome outcome = shell(fmt::format(
          "env --default-signal=INT $assay {} --quiet & exec 3>pipe; kill -{} $!; wait $!", command, name));
      EXPECT_EQ(outcome.code, code) << command << " " << name << ": " << outcome.err;
    }
  }
}

TEST_F(Paths, OneLinkInACircleDoesNotSpoilAFolder) {
  fs::create_directories(folder / "pictures" / "a");
  for (const char* name : {"0.png", "1.png"})
    write_png(folder / "pictures" / "a" / name, make_image(4, 4, 1));
  fs::create_symlink("circle.png", folder / "pictures" / "a" / "circle.png");
  fs::create_symlink("..", folder / "pictures" / "a" / "up");
  const Outcome outcome = assay("data pictures --quiet");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("2"), std::string::npos);
}

}  // namespace
}  // namespace assay
