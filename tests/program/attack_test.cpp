// Attacks as people run them: pictures of what changed.

#include <nlohmann/json.hpp>

#include "tests/program/program.h"

namespace assay {
namespace {

class AttackProgram : public Program {
 protected:
  nlohmann::json json(const std::string& name) const {
    return nlohmann::json::parse(read_file(folder / name));
  }
};

TEST_F(AttackProgram, DrawsWhatChangedInsideThePage) {
  const Outcome outcome = assay(
      "attack net.onnx images-idx3-ubyte --quiet --attack 'fgsm[eps=0.5]' --attack 'noise[sigma=0.0001]' "
      "--pictures 2 --out out --json out.json --html out.html");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const auto pictures = json("out.json")["pictures"];
  ASSERT_EQ(pictures.size(), 4U);
  for (const auto& picture : pictures)
    EXPECT_TRUE(read_file(folder / picture["path"].get<std::string>()).starts_with("\x89PNG"));
  EXPECT_EQ(pictures[0]["path"], "out/fgsm-1.png");
  // The first record that the network gets right is the second; its label is 1.
  const std::string success = pictures[0]["title"], failure = pictures[2]["title"];
  EXPECT_TRUE(success.starts_with("fgsm, record '1': 1 is taken for 0, L2 ")) << success;
  EXPECT_TRUE(failure.starts_with("noise, record '1': 1 is taken for 1, L2 ")) << failure;
  EXPECT_NE(read_file(folder / "out.html").find("data:image/png;base64,"), std::string::npos);
}

TEST_F(AttackProgram, DrawsNothingWhenAskedForNothing) {
  const Outcome outcome =
      assay("attack net.onnx images-idx3-ubyte --quiet --attack fgsm --pictures 0 --out out --json out.json");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_TRUE(json("out.json")["pictures"].empty());
}

TEST_F(AttackProgram, LaterAttacksSeeWhatStillStands) {
  const std::string attacks =
      "attack net.onnx images-idx3-ubyte --quiet --attack 'fgsm[eps=0.3]' --attack 'bim[eps=0.3]' --attack "
      "'noise[sigma=0.3]' --pictures 0 --batch 16 ";
  ASSERT_EQ(assay(attacks + "--out all --json all.json").code, 0);
  ASSERT_EQ(assay(attacks + "--standing --out rest --json rest.json").code, 0);
  const auto all = json("all.json"), rest = json("rest.json");
  EXPECT_EQ(all["facts"]["robust_accuracy"], rest["facts"]["robust_accuracy"]);
  const auto rows = rest["tables"]["attacks"]["rows"];
  EXPECT_EQ(rows[0]["records"], all["tables"]["attacks"]["rows"][0]["records"]);
  for (std::size_t i = 1; i < 3; ++i)
    EXPECT_EQ(rows[i]["records"].get<int>(),
              rows[i - 1]["records"].get<int>() - rows[i - 1]["successes"].get<int>());
  EXPECT_GT(rows[0]["successes"], 0);
  const Outcome one = assay("attack net.onnx images-idx3-ubyte --attack fgsm --standing");
  EXPECT_EQ(one.code, 1);
  EXPECT_NE(one.err.find("--standing has no effect"), std::string::npos) << one.err;
  const Outcome always = assay("attack net.onnx images-idx3-ubyte --preset autoattack --standing");
  EXPECT_NE(always.err.find("--standing has no effect: the attacks of preset autoattack always"),
            std::string::npos)
      << always.err;
  // Nothing is left after an attack that turns everything.
  ASSERT_EQ(
      assay(
          "attack net.onnx images-idx3-ubyte -q --attack 'fgsm[eps=1]' --attack 'pgd[eps=1]' --attack noise "
          "--standing --out none --json none.json")
          .code,
      0);
  EXPECT_NE(json("none.json").dump().find("nothing left to attack"), std::string::npos);
}

TEST_F(AttackProgram, ExtendsCoverageByPresetsAndAttacks) {
  const Outcome outcome = assay(
      "cover --quiet --threads 1 --model net.onnx --train images-idx3-ubyte --test 'images-idx3-ubyte[:20]' "
      "--criterion nc --criterion kmnc "
      "--extend-with 'noise,madry,noise[sigma=0.1]' --json out.json");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const auto table = json("out.json")["tables"]["extensions"];
  ASSERT_EQ(table["rows"].size(), 2U);
  for (const char* column : {"test", "noise", "pgd", "noise-2"})
    EXPECT_TRUE(table["rows"][1].contains(column)) << column;
  for (const char* column : {"noise", "pgd", "noise-2"})
    EXPECT_GE(table["rows"][1][column], table["rows"][1]["test"]) << column;
  EXPECT_GT(table["rows"][1]["noise"], table["rows"][1]["test"]);  // kmnc
  EXPECT_FALSE(std::filesystem::exists(folder / "assay-attack" / "pgd.npz.journal"));
  EXPECT_NE(
      assay("cover --model net.onnx --train images-idx3-ubyte --test images-idx3-ubyte --extend-with madri")
          .code,
      0);
}

TEST_F(AttackProgram, ARunThatIsKilledGoesOn) {
  const std::string run =
      "attack net.onnx images-idx3-ubyte --quiet --threads 1 --batch 2 --attack 'cw[iterations=20,search=2]' "
      "--attack noise --out ";
  ASSERT_EQ(assay(run + "calm").code, 0);
  EXPECT_GT(killed_until_done(run + "killed"), 2);
  ASSERT_EQ(assay(run + "killed").code, 0);
  for (const char* name : {"cw.npz", "noise.npz"})
    EXPECT_TRUE(read_file(folder / "calm" / name) == read_file(folder / "killed" / name)) << name;
  EXPECT_FALSE(std::filesystem::exists(folder / "killed" / "cw.npz.journal"));
  EXPECT_FALSE(std::filesystem::exists(folder / "killed" / "noise.npz.journal"));
}

}  // namespace
}  // namespace assay
