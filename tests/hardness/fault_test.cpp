// Faults of the system: streams that are closed, full or gone, no room, no permission, little memory.

#include <unistd.h>

#include <nlohmann/json.hpp>

#include "tests/hardness/commands.h"
#include "tests/program/program.h"

namespace assay {
namespace {

namespace fs = std::filesystem;
using Faults = Program;

const std::string
    cover = "$assay cover --model net.onnx --train images-idx3-ubyte --test images-idx3-ubyte --criterion nc",
    mutate = "$assay mutate --model net.onnx --test images-idx3-ubyte --operator gf --count 2",
    attack = "$assay attack net.onnx images-idx3-ubyte --attack fgsm --out made";

TEST_F(Faults, NobodyHasToListenToStandardError) {
  for (const std::string& command : {cover, mutate, attack}) {
    EXPECT_EQ(shell(command + " 2>&-").code, 0) << command;
    EXPECT_EQ(shell(command + " 2>/dev/full").code, 0) << command;
    // A pipe without a reader: the result cannot be shown, which is the one fault.
    EXPECT_EQ(shell("{ " + command + " 2>&1; echo $? >code; } | true; exit $(cat code)").code, 7) << command;
  }
  EXPECT_EQ(shell("$assay evaluate --model none.onnx --data images-idx3-ubyte 2>&-").code, 7);
}

TEST_F(Faults, StandardOutputThatCannotBeWrittenIsAnErrorAndFilesAreThere) {
  for (const std::string closing : {">&-", ">/dev/full"}) {
    fs::remove(folder / "r.json");
    const Outcome outcome = shell(cover + " --quiet --json r.json " + closing);
    EXPECT_EQ(outcome.code, 7) << closing;
    EXPECT_NE(outcome.err.find("standard output"), std::string::npos) << outcome.err;
    EXPECT_TRUE(nlohmann::json::accept(read_file(folder / "r.json")));
    for (const char* other : {"--help", "--version", "completion bash", ""})
      EXPECT_EQ(shell(std::string("$assay ") + other + " " + closing).code, 7) << other << closing;
  }
}

TEST_F(Faults, ClosedStreamsNeverBecomeResults) {
  const Outcome outcome = shell(cover + " --state s.cov --json r.json <&- >&- 2>&-");
  EXPECT_EQ(outcome.code, 7);
  EXPECT_TRUE(nlohmann::json::accept(read_file(folder / "r.json")));
  EXPECT_EQ(assay("combine s.cov").code, 0);
}

TEST_F(Faults, ALimitOnFileSizesIsAFullDisk) {
  const Outcome outcome = shell("ulimit -f 0; " + cover + " --quiet --state s.cov");
  EXPECT_EQ(outcome.code, 7);
  EXPECT_FALSE(fs::exists(folder / "s.cov"));
  const Outcome again = shell(cover + " --quiet --state s.cov");
  EXPECT_EQ(again.code, 0) << again.err;
  for (const auto& entry : fs::directory_iterator(folder))
    EXPECT_EQ(entry.path().string().find(".partial"), std::string::npos) << entry.path();
}

TEST_F(Faults, PlacesThatCannotBeWrittenAreFoundBeforeTheWork) {
  write_file(folder / "file", "x");
  for (const std::string& command :
       {cover + " --state file/s.cov", cover + " --json /proc/none/r.json", attack + " --html file/r.html",
        std::string("$assay explore net.onnx --mutant ws --data images-idx3-ubyte --out file/found"),
        mutate + " --state made", cover + " --csv ''"}) {
    fs::create_directories(folder / "made");
    const Outcome outcome = shell(command);
    if (command.ends_with("''")) continue;
    EXPECT_EQ(outcome.code, 7) << command << outcome.err;
    EXPECT_EQ(outcome.err.find("records in"), std::string::npos) << "no stage has begun: " << outcome.err;
    EXPECT_EQ(outcome.err.find("internal"), std::string::npos) << outcome.err;
  }
}

TEST_F(Faults, WithoutPermission) {
  if (::geteuid() == 0) GTEST_SKIP() << "nothing is refused to root";
  fs::create_directories(folder / "closed");
  fs::permissions(folder / "closed", fs::perms::owner_read | fs::perms::owner_exec);
  EXPECT_EQ(shell(cover + " --state closed/s.cov").code, 7);
  fs::permissions(folder / "closed", fs::perms::owner_all);
}

TEST_F(Faults, LittleMemoryIsAClearError) {
  const Outcome outcome = assay("data digits:100000 --memory 0.00001 --write x.npz");
  EXPECT_EQ(outcome.code, 8) << outcome.err;
  EXPECT_NE(outcome.err.find("memory"), std::string::npos) << outcome.err;
  EXPECT_FALSE(fs::exists(folder / "x.npz"));
}

}  // namespace
}  // namespace assay
