// Conditions of the machine and wishes of people: signals to commands that have started others, no more
// threads, no room for a library, no reader left. Each ends with the exit code of docs/exit-codes.md.

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "tests/hardness/little_memory.h"
#include "tests/program/program.h"

namespace assay {
namespace {

namespace fs = std::filesystem;

class Conditions : public Program {
 protected:
  // Runs a script whose process group may be signalled by what it starts.
  Outcome script(const std::string& text) const {
    write_file(folder / "script.sh", "assay='" ASSAY_PROGRAM "'\n" + text);
    return shell("sh script.sh");
  }

  // The beginning of a command line that runs the program as a user who may have no further process.
  static std::string no_more_processes() {
    const std::string limit = "prlimit --nproc=1:1 ";
    return ::geteuid() == 0 ? "setpriv --reuid 65534 --regid 65534 --clear-groups " + limit : limit;
  }
  // Whether that can be tried here: limits on processes do not hold for root, and others have to reach the
  // program.
  bool can_run_out_of_processes() const {
    fs::permissions(folder, fs::perms::all);
    return shell(no_more_processes() + "true && " + no_more_processes() + " $assay --version").code == 0;
  }
};

// A step of the study signals the study while it runs, and then never ends by itself.
TEST_F(Conditions, AStudyEndsAsItsSignalSays) {
  write_file(folder / "stop.sh", "kill -$(cat signal) $(cat pid); cat >/dev/null; sleep infinity\n");
  for (const auto& [name, code] : {std::pair("TERM", 143), std::pair("INT", 130), std::pair("HUP", 129)}) {
    fs::remove_all(folder / "pack");
    write_file(folder / "signal", name);
    write_file(folder / "study.toml",
               "[evidence]\ntitle = 'Study'\nmodel = 'net.onnx'\ntest = 'images-idx3-ubyte'\n"
               "[[evidence.step]]\nname = 'asked'\ncommand = 'inspect'\n"
               "hypotheses = ['program[command=sh stop.sh]']\n");
    const Outcome outcome =
        script("echo $$ >pid; exec \"$assay\" evidence --config study.toml --out pack --quiet");
    EXPECT_EQ(outcome.code, code) << name << ": " << outcome.err;
  }
}

TEST_F(Conditions, SignalsAreHeardWhileAProgramOfTheUserAnswers) {
  write_file(folder / "stop.sh", "kill -TERM $(cat pid); cat >/dev/null; sleep infinity\n");
  const Outcome outcome = script(
      "echo $$ >pid; exec \"$assay\" inspect --model net.onnx --data images-idx3-ubyte --quiet "
      "--hypotheses 'program[command=sh stop.sh]'");
  EXPECT_EQ(outcome.code, 143) << outcome.err;
}

// Opened for both, then for writing alone, then closed but for the writer: there will never be a reader.
TEST_F(Conditions, WhoStopsReadingWantsNoWord) {
  for (const char* command :
       {"--help", "criteria", "evaluate --quiet --model net.onnx --data images-idx3-ubyte",
        "evaluate --quiet --model net.onnx --data images-idx3-ubyte --json -"}) {
    const Outcome outcome =
        shell(fmt::format("rm -f p; mkfifo p; exec 3<>p; exec 4>p; exec 3>&-; $assay {} >&4", command));
    EXPECT_EQ(outcome.code, 7) << command;
    EXPECT_EQ(outcome.err, "") << command;
  }
}

TEST_F(Conditions, OneThreadIsEnough) {
  if (!can_run_out_of_processes()) GTEST_SKIP() << "nobody else reaches the program, or setpriv is not there";
  const std::string data = "images-idx3-ubyte", both = " --train " + data + " --test " + data;
  for (const std::string& command :
       {"evaluate --model net.onnx --data " + data, "cover --model net.onnx --criterion nc" + both,
        "importance --model net.onnx --data " + data,
        "mutate --model net.onnx --operator gf --count 2 --test " + data,
        "train --model net.onnx --epochs 1 --out t.onnx --data " + data}) {
    for (const char* threads : {"", " --threads 1"}) {
      const Outcome outcome = shell(no_more_processes() + "$assay " + command + " --quiet" + threads);
      EXPECT_EQ(outcome.code, 0) << command << threads << ": " << outcome.err;
    }
    const Outcome several = shell(no_more_processes() + "$assay " + command + " --quiet --threads 64");
    EXPECT_EQ(several.code, 8) << command << ": " << several.err;
    EXPECT_NE(several.err.find("--threads"), std::string::npos) << several.err;
  }
}

TEST_F(Conditions, NoProcessForAProgramIsAShortageAndNoDefect) {
  if (!can_run_out_of_processes()) GTEST_SKIP() << "nobody else reaches the program, or setpriv is not there";
  const Outcome outcome =
      shell(no_more_processes() +
            "$assay evidence --title Study --model net.onnx --test images-idx3-ubyte --out pack --quiet");
  EXPECT_EQ(outcome.code, 8) << outcome.err;
}

TEST_F(Conditions, NoRoomForTrainingIsAShortage) {
  if (std::string(little_memory(1)).empty()) GTEST_SKIP() << "sanitizers map more than there is";
  for (const int megabytes : {300, 500, 800}) {
    const Outcome outcome =
        shell(fmt::format("ulimit -v {}; $assay train --model net.onnx --data images-idx3-ubyte "
                          "--epochs 1 --out t.onnx --quiet",
                          megabytes << 10));
    EXPECT_TRUE(outcome.code == 8 || outcome.code == 0)
        << megabytes << " MB: " << outcome.code << outcome.err;
  }
}

}  // namespace
}  // namespace assay
