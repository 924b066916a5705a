// Exploration as people run it.

#include <nlohmann/json.hpp>
#include <regex>
#include <set>

#include "tests/program/program.h"

namespace assay {
namespace {

class ExploreProgram : public Program {
 protected:
  nlohmann::json json(const std::string& name) const {
    return nlohmann::json::parse(read_file(folder / name));
  }
  const std::string run =
      "explore net.onnx --mutant 'gf[sigma=0.5]' --mutant ws --data images-idx3-ubyte --constraint none "
      "--step 0.3 --quiet --out out --pictures 2 ";
};

TEST_F(ExploreProgram, LeavesDataManifestAndPictures) {
  const Outcome outcome = assay(run + "--json out.json --html out.html");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const auto document = json("out.json"), manifest = json("out/manifest.json");
  const auto count = document["facts"]["findings"].get<std::size_t>();
  ASSERT_GT(count, 0U);
  ASSERT_EQ(manifest["findings"].size(), count);
  for (const auto& finding : manifest["findings"]) {
    std::set<int> classes;
    ASSERT_EQ(finding["networks"].size(), 3U);
    for (const auto& network : finding["networks"]) classes.insert(network["class"].get<int>());
    EXPECT_GT(classes.size(), 1U);
    EXPECT_TRUE(finding.contains("label"));  // two classes, three networks: there is always a majority
  }
  ASSERT_FALSE(document["pictures"].empty());
  for (const auto& picture : document["pictures"]) {
    EXPECT_TRUE(read_file(folder / picture["path"].get<std::string>()).starts_with("\x89PNG"));
    const std::regex named("seed '\\d+': net [01], gf\\S* [01], ws\\S* [01]; difference times .*");
    const auto title = picture["title"].get<std::string>();
    EXPECT_TRUE(std::regex_match(title, named)) << title;
  }
  EXPECT_NE(read_file(folder / "out.html").find("data:image/png;base64,"), std::string::npos);
  const Outcome data =
      assay("data " + document["facts"]["voted_data"].get<std::string>() + " --json data.json --quiet");
  ASSERT_EQ(data.code, 0) << data.err;
  EXPECT_EQ(json("data.json")["facts"]["records"].get<std::size_t>(), count);
}

TEST_F(ExploreProgram, TheSameCommandGoesOnAndAnotherIsRefused) {
  ASSERT_EQ(assay(run + "--json one.json --findings 1 --round 16").code, 0);
  ASSERT_EQ(assay(run + "--json two.json --round 16").code, 0);
  EXPECT_GT(json("two.json")["facts"]["resumed"].get<int>(), 0);
  EXPECT_GE(json("two.json")["facts"]["findings"].get<int>(),
            json("one.json")["facts"]["findings"].get<int>());
  const Outcome other = assay(run + "--lambda1 2 --round 16");
  EXPECT_EQ(other.code, 6) << other.err;
  EXPECT_NE(other.err.find("journal of another exploration"), std::string::npos) << other.err;
}

// It names values that hold anyway, also of options without effect.
TEST_F(ExploreProgram, TheRecordedCommandRunsAgain) {
  ASSERT_EQ(assay(run + "--lambda2 0 --json one.json").code, 0);
  const std::string recorded = json("one.json")["provenance"]["options"].get<std::string>();
  EXPECT_NE(recorded.find("--margin"), std::string::npos) << recorded;
  const Outcome again = assay("explore " + recorded);
  EXPECT_EQ(again.code, 0) << again.err;
}

TEST_F(ExploreProgram, ReadsItsFlagsFromAFile) {
  write_file(folder / "assay.toml",
             "[explore]\nmodel = [\"net.onnx\"]\nmutant = [\"nai\"]\ndata = "
             "\"images-idx3-ubyte\"\nconstraint = [\"mask[area=2x4,at=0x0]\", \"linf[eps=0.5]\"]\n"
             "iterations = 3\noutput = \"from-file\"\n");
  const Outcome outcome = assay("explore --quiet --json out.json");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_TRUE(std::filesystem::exists(folder / "from-file/findings.npz"));
  EXPECT_NE(json("out.json").dump().find("linf[eps=0.5]"), std::string::npos);
}

TEST_F(ExploreProgram, SaysWhatIsWrong) {
  const auto expect = [&](const std::string& arguments, const std::string& words) {
    const Outcome outcome = assay("explore " + arguments);
    EXPECT_NE(outcome.code, 0) << arguments;
    EXPECT_NE(outcome.err.find(words), std::string::npos) << arguments << ": " << outcome.err;
  };
  expect("net.onnx --data images-idx3-ubyte", "at least two networks");
  expect("--data images-idx3-ubyte", "which networks?");
  expect("net.onnx net.onnx --data images-idx3-ubyte --constraint ocl", "did you mean 'occl'?");
  expect("net.onnx net.onnx --data images-idx3-ubyte --choice best", "no choice of neurons");
  expect("net.onnx net.onnx --data images-idx3-ubyte --target 2", "there is no network 2");
  expect("net.onnx --mutant nonsense --data images-idx3-ubyte", "nonsense");
  expect("net.onnx net.onnx --data images-idx3-ubyte --criterion 'idc[m=0]'", "m");
  const std::string two = "net.onnx net.onnx --data images-idx3-ubyte ";
  expect(two + "--constraint occl --constraint light", "'light' and 'occl' cannot hold together");
  expect(two + "--constraint none --constraint light", "--constraint none has no effect");
  expect(two + "--margin 0.1", "--margin has no effect on classes");
  expect(two + "--opposite-signs", "--opposite-signs has no effect on classes");
  expect(two + "--lambda2 0 --choose-once", "--choose-once has no effect with --lambda2 0");
  expect(two + "--lambda2 0 --choice rarest", "--choice has no effect with --lambda2 0");
  expect(two + "--method deeplift", "--method has no effect where no neurons are ranked by importance");
  expect(two + "--choice relevant --method nonsense", "nonsense");
  expect(two + "--margin -1", "is not a number from 0 on");
  expect(two + "--lambda1 -1", "is not a number from 0 on");
}

TEST_F(ExploreProgram, MutantsThatAreDrawnTwiceAreTwo) {
  const Outcome outcome = assay(
      "explore net.onnx --mutant 'gf[sigma=0.5]' --mutant 'gf[sigma=0.5]' --data images-idx3-ubyte "
      "--constraint none --iterations 1 --quiet --out out");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const auto networks = json("out/manifest.json")["networks"];
  ASSERT_EQ(networks.size(), 3U);
  EXPECT_NE(networks[1]["hash"], networks[2]["hash"]);
  EXPECT_NE(networks[1]["name"], networks[2]["name"]);
}

}  // namespace
}  // namespace assay
