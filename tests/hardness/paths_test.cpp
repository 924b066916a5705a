// What may be at a path that is read: every flag of every command that takes a file or data is given a pipe
// without a writer, a device without an end, a folder and a link in a circle. Each is refused at once, in
// little memory; what may come from a pipe is waited for, and a signal ends that.

#include <fmt/format.h>
#include <sys/stat.h>

#include <set>

#include <assay/report.h>
#include "assay/data/files/image.h"
#include "tests/hardness/commands.h"
#include "tests/hardness/flags.h"

namespace assay {
namespace {

namespace fs = std::filesystem;

// Flags that write what they name, to pipes and devices as well, where they wait for a reader.
std::set<std::string> written() {
  std::set<std::string> flags{"--out",    "--out-dir", "--json",  "--write",          "--matrix",
                              "--scores", "--zip",     "--sheet", "--killing-subset", "--predictions",
                              "--ids"};
  for (const report::Renderer& renderer : report::renderers()) flags.insert("--" + renderer.name);
  return flags;
}
// Flags whose file is read once, so that it may come from a pipe.
const std::set<std::string> streamed{"--add", "--config", "--no-worse-than", "--sql-file"};

class Paths : public FlagSweep {
 protected:
  void SetUp() override {
    FlagSweep::SetUp();
    ASSERT_EQ(::mkfifo((folder / "pipe").c_str(), 0600), 0);
    fs::create_directories(folder / "nothing");
    fs::create_symlink("circle", folder / "circle");
  }
  // Flags that name files or folders.
  std::set<std::string> path_flags_of(const std::string& command) const {
    std::set<std::string> names;
    for (const auto& [flag, type] : flags_of(command)) {
      if (type.starts_with("FILE") || type.starts_with("SPEC") || type.starts_with("FOLDER"))
        names.insert(flag);
    }
    return names;
  }
};

class PathsOfCommand : public Paths, public ::testing::WithParamInterface<CommandRun> {};

TEST_P(PathsOfCommand, HoldAFileOrAreRefused) {
  const CommandRun& run = GetParam();
  if (run.slow) GTEST_SKIP() << "its flags are those of others";
  for (const std::string& command : run.prepare) ASSERT_EQ(assay(command + " --quiet").code, 0) << command;
  const std::set<std::string> flags = path_flags_of(run.name), common = path_flags_of("criteria"),
                              outputs = written();
  ASSERT_GT(common.size(), 5U) << "of every command are --json and --config";
  for (const std::string& flag : flags) {
    if (common.contains(flag) && run.name != "evaluate") continue;  // the same everywhere
    const bool waits = outputs.contains(flag) || streamed.contains(flag);
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
