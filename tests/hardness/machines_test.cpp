// Machines that have less than today's: a full disk, an old kernel, a processor without AVX2.

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "tests/program/program.h"

namespace assay {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr int not_possible_here = 77;
const std::string evaluate = "\"$assay\" evaluate net.onnx images-idx3-ubyte -q",
                  remedy = "No space left on device; free some space there, or name a file on another disk";

class Machines : public Program {
 protected:
  // A script in which small/ is a separate disk of 64 KiB, and `fill` and `clear` are commands.
  Outcome with_small_disk(const std::string& script) const {
    write_file(folder / "script",
               "mkdir small && mount -t tmpfs -o size=64k tmpfs small || exit 77\n"
               "fill() { head -c 1000000 /dev/zero >small/filler 2>/dev/null; true; }\n"
               "clear() { rm small/filler; }\n" +
                   script);
    return shell(
        "export assay; unshare --map-root-user --mount true 2>/dev/null || exit 77; "
        "unshare --map-root-user --mount sh script");
  }

  // Facts and tables of evaluate by a command that runs the program.
  nlohmann::json evaluated(const std::string& with) const {
    const Outcome outcome = shell(with + evaluate + " --json r.json");
    if (outcome.code != 0) return {{"code", outcome.code}, {"err", outcome.err}};
    const nlohmann::json result = nlohmann::json::parse(read_file(folder / "r.json"));
    return {{"facts", result["facts"]}, {"headline", result["headline"]}, {"code", 0}};
  }
};

TEST_F(Machines, AFullDiskKeepsTheOldFileAndTheResultIsShown) {
  const Outcome outcome = with_small_disk(
      evaluate + " --json small/r.json >/dev/null || exit 1\ncp small/r.json old.json; fill\n" + evaluate +
      " --json small/r.json --csv tables; code=$?\n"
      "cmp small/r.json old.json && test \"$(ls small)\" = \"$(printf 'filler\\nr.json')\" || exit 2\nexit "
      "$code");
  if (outcome.code == not_possible_here) GTEST_SKIP() << "no file system may be mounted here";
  EXPECT_EQ(outcome.code, 7) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("small/r.json: writing failed: " + remedy));
  EXPECT_THAT(outcome.out, HasSubstr("90.00 %")) << "the result is on standard output";
  EXPECT_TRUE(fs::exists(folder / "tables")) << "other files are written";
}

TEST_F(Machines, AFullDiskIsFoundBeforeTheTraining) {
  const Outcome outcome = with_small_disk(
      "fill; \"$assay\" train net.onnx images-idx3-ubyte --initialiser keep --epochs 1 --out small/n.onnx");
  if (outcome.code == not_possible_here) GTEST_SKIP() << "no file system may be mounted here";
  EXPECT_EQ(outcome.code, 7) << outcome.err;
  EXPECT_THAT(outcome.err,
              HasSubstr("small/n.onnx: it will have 144 bytes and its disk takes 0; free some space"));
  EXPECT_THAT(outcome.err, Not(HasSubstr("epoch")));
}

TEST_F(Machines, AfterRoomWasMadeAnAttackGoesOn) {
  const std::string attack = "\"$assay\" attack net.onnx images-idx3-ubyte --attack fgsm --out small/made -q";
  const Outcome outcome =
      with_small_disk("fill; " + attack + " && exit 1; test $? = 7 || exit 2; clear; " + attack);
  if (outcome.code == not_possible_here) GTEST_SKIP() << "no file system may be mounted here";
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("free some space and run the same command again"));
}

TEST_F(Machines, AKernelOf2012IsEnough) {
  const std::string old = "'" ASSAY_OLD_MACHINE "' ";
  if (shell(old + "/bin/true").code != 0) GTEST_SKIP() << "the system allows no filter of calls";
  EXPECT_EQ(evaluated(old), evaluated(""));
  EXPECT_EQ(
      shell(old + "\"$assay\" mutate net.onnx images-idx3-ubyte --operator gf --count 2 --state m -q").code,
      0);
  EXPECT_EQ(shell(old + "\"$assay\" attack net.onnx images-idx3-ubyte --attack fgsm --out made -q").code, 0);
}

// Names of new files cannot be foreseen, so there is no run without random numbers.
TEST_F(Machines, WithoutRandomNumbersASentenceSaysWhatIsNeeded) {
  const Outcome outcome = shell(
      "export assay; unshare --map-root-user --mount sh -c 'mount --bind /dev/null /dev/urandom' 2>/dev/null "
      "|| exit 77; "
      "unshare --map-root-user --mount sh -c 'mount --bind /dev/null /dev/urandom && exec " ASSAY_OLD_MACHINE
      " " +
      evaluate + " --json r.json'");
  if (outcome.code == not_possible_here) GTEST_SKIP() << "nothing may be mounted, or no calls filtered, here";
  EXPECT_EQ(outcome.code, 7) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("it needs Linux 3.17 or newer, or /dev/urandom"));
}

TEST_F(Machines, AProcessorWithoutVectorsOfTodayIsEnough) {
#ifdef __x86_64__
  const std::string emulated = "qemu-x86_64-static -cpu core2duo ";
  if (shell(emulated + "/bin/true").code != 0) GTEST_SKIP() << "no qemu-x86_64-static here";
  nlohmann::json with = evaluated(emulated);
  ASSERT_EQ(with["code"], 0) << with["err"];
  EXPECT_EQ(with["headline"], evaluated("")["headline"]);
#else
  GTEST_SKIP() << "for x86-64";
#endif
}

}  // namespace
}  // namespace assay
