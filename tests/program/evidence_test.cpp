// A study as a pack, and the pack checked by somebody else.

#include <nlohmann/json.hpp>

#include "tests/program/program.h"

namespace assay {
namespace {

using Json = nlohmann::json;

class Evidence : public Program {
 protected:
  void SetUp() override {
    Program::SetUp();
    write_file(folder / "study.toml", R"(
model = "net.onnx"

[evidence]
title = "Bright halves"
train = "images-idx3-ubyte[:100]"
test = "images-idx3-ubyte[100:]"
not-done = ["Other cameras."]

[[evidence.step]]
command = "evaluate"

[[evidence.step]]
name = "coverage"
command = "cover"
criterion = ["kmnc[sections=10]", "nc"]

[[evidence.step]]
command = "mutate"
operator = "gf[sigma=0.5]"
count = 3

[[evidence.requirement]]
id = "REQ-1"
text = "Nine of ten are right."
gates = ["accuracy=0.85", "kmnc[layer=hidden]=10%"]

[[evidence.requirement]]
id = "REQ-2"
text = "Everything is covered."
gates = ["kmnc=1"]
step = "coverage"
)");
  }
};

TEST_F(Evidence, APackVerifiesInAnotherFolderAndAChangedByteIsFound) {
  const Outcome made =
      assay("evidence --quiet --config study.toml --out pack --zip pack.zip --json made.json");
  ASSERT_EQ(made.code, 2) << made.out << made.err << "REQ-2 does not hold";
  const Json document = Json::parse(read_file(folder / "made.json"));
  EXPECT_NE(document["headline"].get<std::string>().find("1 of 2 requirements hold"), std::string::npos);
  for (const char* file :
       {"manifest.json", "REPORT.md", "REPORT.html", "bom.cdx.json", "technical-documentation.md",
        "study.toml", "pages/report.html", "results/coverage.json", "results/network.json",
        "results/test-data.json", "states/coverage.state", "states/coverage.profile", "states/mutate.state",
        "traceability/records.csv"})
    EXPECT_TRUE(std::filesystem::exists(folder / "pack" / file)) << file;
  EXPECT_TRUE(std::filesystem::exists(folder / "pack.zip"));

  const std::filesystem::path here = folder / "another place";
  std::filesystem::create_directories(here);
  std::filesystem::rename(folder / "pack", here / "pack");
  const Outcome none = assay("verify 'another place'");
  EXPECT_EQ(none.code, 7);
  EXPECT_THAT(none.err, testing::HasSubstr("is not an evidence pack"));
  // REQ-2 does not hold: that is told first, and nothing else fails.
  const auto only_the_requirement_fails = [&](const Outcome& outcome) {
    EXPECT_EQ(outcome.code, 2) << outcome.out << outcome.err;
    EXPECT_THAT(outcome.out, testing::HasSubstr("1 of 2 requirements hold; REQ-2 does not; "));
    EXPECT_THAT(outcome.out, testing::HasSubstr("files are as the manifest says"));
    EXPECT_THAT(outcome.out, testing::HasSubstr("GATE FAILED: REQ-2: kmnc=1"));
    EXPECT_EQ(outcome.out.find("GATE FAILED"), outcome.out.rfind("GATE FAILED")) << outcome.out;
  };
  only_the_requirement_fails(assay("verify --quiet 'another place/pack'"));
  only_the_requirement_fails(assay("verify --quiet pack.zip"));
  only_the_requirement_fails(assay("verify --quiet pack.zip --rerun coverage"));
  const Outcome repeated = shell("cd 'another place' && $assay verify --quiet pack --rerun all --from ..");
  only_the_requirement_fails(repeated);
  EXPECT_NE(repeated.out.find("figures came out the same"), std::string::npos) << repeated.out;

  std::string result = read_file(here / "pack/results/coverage.json");
  result.replace(result.find("\"covered\": "), 12, "\"covered\": 9");
  write_file(here / "pack/results/coverage.json", result);
  const Outcome changed = assay("verify --quiet 'another place/pack'");
  EXPECT_EQ(changed.code, 2) << changed.out;
  EXPECT_NE(changed.out.find("changed: results/coverage.json"), std::string::npos) << changed.out;
  const Outcome figures = assay("verify --quiet 'another place/pack' --rerun coverage");
  EXPECT_EQ(figures.code, 2);
  EXPECT_NE(figures.out.find("criteria, row 1, covered"), std::string::npos) << figures.out;
}

TEST_F(Evidence, PersonsAndSignatureBelongTogether) {
  if (shell("command -v ssh-keygen").code != 0) GTEST_SKIP() << "no ssh-keygen here";
  ASSERT_EQ(shell("for k in ada other; do ssh-keygen -q -t ed25519 -N '' -C $k -f $k; done").code, 0);
  const Outcome print = shell("ssh-keygen -l -f ada.pub");
  const std::string key = print.out.substr(print.out.find("SHA256:"), 50);
  write_file(folder / "decided.toml", read_file(folder / "study.toml") +
                                          "\n[[approval]]\nname = \"Ada\"\nrole = \"safety manager\"\n"
                                          "date = 2026-11-29\ndecision = \"approved\"\nkey = \"" +
                                          key + "\"\n");
  const Outcome refused = assay("evidence --quiet --config decided.toml --out pack --sign other");
  EXPECT_EQ(refused.code, 1) << refused.out;
  EXPECT_THAT(refused.err, testing::HasSubstr("is of none of the persons who decide (Ada); have one"));
  EXPECT_FALSE(std::filesystem::exists(folder / "pack"));
  const Outcome made = assay(
      "evidence --quiet --config decided.toml --out pack --sign ada --document-id 'SAF 1' --json r.json");
  EXPECT_EQ(made.code, 2) << made.err;
  const Json facts = Json::parse(read_file(folder / "r.json"))["facts"];
  EXPECT_EQ(facts["document"], "SAF 1");
  EXPECT_EQ(facts["approval_1"], "Ada, safety manager, 2026-11-29: approved");
  EXPECT_THAT(assay("verify --quiet pack").out, testing::HasSubstr("who is named in its approvals"));
  // Other commands leave the table alone.
  EXPECT_EQ(assay("evaluate --quiet --config decided.toml --data images-idx3-ubyte").code, 0);
}

TEST_F(Evidence, WhatAChangeAffectsIsTold) {
  ASSERT_EQ(assay("evidence --quiet --config study.toml --out first --zip first.zip").code, 2);
  ASSERT_EQ(assay("mutate export --quiet --model net.onnx --mutant gf@hidden#1 --out other.onnx").code, 0);
  const Outcome made =
      assay("evidence --quiet --config study.toml --model other.onnx --out second --former first.zip");
  ASSERT_EQ(made.code, 2) << made.err;
  const std::string impact = read_file(folder / "second/change-impact.md");
  EXPECT_THAT(impact, testing::HasSubstr("The network is another one"));
  EXPECT_THAT(impact, testing::HasSubstr("| coverage | another network"));
  EXPECT_THAT(assay("verify --quiet second").out, testing::HasSubstr("files are as the manifest says"));
  EXPECT_THAT(
      read_file(folder / "second/templates/eu-ai-act.md"),
      testing::HasSubstr("| 6 | relevant changes through the life cycle | evidenced | change-impact.md |"));
  const Outcome none = assay("evidence --quiet --config study.toml --out third --former missing");
  EXPECT_EQ(none.code, 7) << none.out;
  const Outcome own = assay("evidence --quiet --config study.toml --out first --former first --force");
  EXPECT_EQ(own.code, 1) << own.out << own.err;
}

TEST_F(Evidence, OtherInputsAreNamed) {
  ASSERT_EQ(assay("evidence --quiet --config study.toml --out pack").code, 2);
  write_data("images-idx3-ubyte", "labels-idx1-ubyte", 190);
  const Outcome outcome = assay("verify --quiet pack");
  EXPECT_EQ(outcome.code, 2);
  EXPECT_NE(outcome.out.find("changed: "), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("images-idx3-ubyte"), std::string::npos) << outcome.out;
}

TEST_F(Evidence, FinishedPacksAndForeignFoldersStay) {
  ASSERT_EQ(assay("evidence --quiet --config study.toml --out pack").code, 2);
  const Outcome again = assay("evidence --quiet --config study.toml --out pack");
  EXPECT_EQ(again.code, 1);
  EXPECT_NE(again.err.find("--force"), std::string::npos) << again.err;
  EXPECT_EQ(assay("evidence --quiet --config study.toml --out pack --force").code, 2);
  EXPECT_THAT(assay("verify --quiet pack").out, testing::HasSubstr("files are as the manifest says"));
  EXPECT_EQ(assay("evidence --quiet --config study.toml --out .").code, 1);
}

TEST_F(Evidence, WhatIsWrongInAStudyIsSaidBeforeAnythingRuns) {
  const auto refused = [&](const std::string& text, const std::string& hint) {
    write_file(folder / "wrong.toml", "model = \"net.onnx\"\n" + text);
    const Outcome outcome = assay("evidence --quiet --config wrong.toml --out pack");
    EXPECT_EQ(outcome.code, 1) << text << outcome.out;
    EXPECT_NE(outcome.err.find(hint), std::string::npos) << outcome.err;
    EXPECT_FALSE(std::filesystem::exists(folder / "pack"));
  };
  refused("[[evidence.requirement]]\nid = \"R\"\ngates = []\n", "no gates");
  refused("[[evidence.requirement]]\nid = \"R\"\ngate = \"nc=1\"\n", "did you mean 'gates'");
  refused("[[evidence.requirement]]\nid = \"R\"\ngates = [\"nc=1\"]\nstep = \"mutat\"\n",
          "did you mean 'mutate'");
  refused("[[evidence.step]]\nname = \"../x\"\ncommand = \"cover\"\n", "cannot be the name");
  refused("[[evidence.step]]\nname = \"x\"\n", "wrong.toml:2");
  refused("[approval]\nname = \"Ada\"\nrole = \"tester\"\ndate = 2026-11-29\n", "has the decision ''");
  refused("approval = \"Ada\"\n", "write [approval] with name");
  EXPECT_EQ(assay("verify .").code, 7);
  const Outcome missing = assay("verify missing.zip");
  EXPECT_EQ(missing.code, 7);
  EXPECT_THAT(missing.err, testing::HasSubstr("missing.zip: no such file or folder"));
  EXPECT_EQ(assay("verify pack --rerun some").code, 7);
}

// Commands of a pack write nowhere: neither by flags of earlier versions nor by what is written by default.
TEST_F(Evidence, CommandsOfAPackWriteNowhere) {
  ASSERT_EQ(assay("evidence --quiet --config study.toml --out pack").code, 2);
  std::filesystem::create_directories(folder / "victim");
  write_file(folder / "victim/fgsm.npz", "years of work");
  const std::string manifest = read_file(folder / "pack/manifest.json");
  const auto with = [&](const std::vector<std::string>& more) {
    Json json = Json::parse(manifest);
    for (Json& step : json["steps"]) {
      if (step["name"] != "coverage") continue;
      for (const std::string& word : more) step["command"].push_back(word);
    }
    write_file(folder / "pack/manifest.json", json.dump());
    return assay("verify --quiet pack --rerun coverage");
  };
  for (const char* flag : {"--extensions", "--made-dir", "--output", "--csv", "--state"}) {
    const Outcome outcome = with({"--extend-with", "fgsm", flag, "victim"});
    EXPECT_EQ(outcome.code, 5) << flag << outcome.out;
    EXPECT_THAT(outcome.err, testing::HasSubstr("which no command of a pack has")) << flag;
  }
  const Outcome by_default = with({"--extend-with", "fgsm"});
  EXPECT_EQ(by_default.code, 2) << by_default.out;
  EXPECT_THAT(by_default.out, testing::HasSubstr("is not run again: --extend-with"));
  EXPECT_FALSE(std::filesystem::exists(folder / "assay-attack"));
  EXPECT_EQ(read_file(folder / "victim/fgsm.npz"), "years of work");
}

TEST_F(Evidence, OutputsStayOutOfThePack) {
  const auto refused = [&](const std::string& flags) {
    const Outcome outcome = assay("evidence --quiet --config study.toml --out pack " + flags);
    EXPECT_EQ(outcome.code, 1) << flags << outcome.err;
    EXPECT_FALSE(std::filesystem::exists(folder / "pack/manifest.json")) << flags;
  };
  for (const char* flags : {"--zip pack/manifest.json", "--json pack/results/evaluate.json", "--csv pack",
                            "--html ./pack/REPORT.html", "--zip study.toml", "--json net.onnx"})
    refused(flags);
  ASSERT_EQ(assay("evidence --quiet --config study.toml --out pack").code, 2);
  const std::string result = read_file(folder / "pack/results/evaluate.json");
  const Outcome over = assay("verify --quiet pack --json pack/results/evaluate.json");
  EXPECT_EQ(over.code, 1) << over.err;
  EXPECT_EQ(read_file(folder / "pack/results/evaluate.json"), result);
  write_file(folder / "into.toml",
             "model = \"net.onnx\"\n[evidence]\ntest = \"images-idx3-ubyte\"\n"
             "[[evidence.step]]\ncommand = \"evaluate\"\ncsv = \"into/results\"\n");
  EXPECT_EQ(assay("evidence --quiet --config into.toml --out into").code, 1);
  // What is collected from the pack that is replaced.
  write_file(folder / "again.toml", read_file(folder / "study.toml") +
                                        "\n[[evidence.step]]\nname = \"night\"\nresult = "
                                        "\"pack/results/evaluate.json\"\n");
  EXPECT_EQ(assay("evidence --quiet --config again.toml --out pack --force").code, 1);
  EXPECT_EQ(read_file(folder / "pack/results/evaluate.json"), result);
}

// As if they had been typed, they held for commands with tables of their own.
TEST_F(Evidence, StepsReadSettingsOfTheFileThemselves) {
  write_file(folder / "settings.toml", R"(
model = "net.onnx"
seed = 7
batch = 4
[evidence]
test = "images-idx3-ubyte[100:]"
threads = 1
[evaluate]
batch = 8
[[evidence.step]]
command = "evaluate"
[[evidence.step]]
command = "faithful"
data = "images-idx3-ubyte[:5]"
method = "epsilon"
measure = "deletion"
)");
  const auto options = [this](const std::string& result) {
    const Json document = Json::parse(read_file(folder / result));
    return document["provenance"]["options"].get<std::string>();
  };
  const Outcome made = assay("evidence --quiet --config settings.toml --out pack");
  ASSERT_EQ(made.code, 0) << made.out << made.err << "faithful draws nothing here";
  EXPECT_THAT(options("pack/results/evaluate.json"), testing::HasSubstr("--batch 8"));
  EXPECT_THAT(options("pack/results/evaluate.json"), testing::HasSubstr("--threads 1"));
  EXPECT_THAT(options("pack/results/faithful.json"), testing::HasSubstr("--batch 4"));
  const Outcome typed = assay("evidence --quiet --config settings.toml --out typed --batch 3");
  ASSERT_EQ(typed.code, 0) << typed.out << typed.err;
  EXPECT_THAT(options("typed/results/evaluate.json"), testing::HasSubstr("--batch 3"));
}

// It satisfied the requirements of this one.
TEST_F(Evidence, AResultOfAnotherNetworkIsNotCollected) {
  write_file(folder / "collected.toml", R"(
model = "net.onnx"
[evidence]
test = "images-idx3-ubyte[100:]"
[[evidence.step]]
name = "night"
result = "night.json"
[[evidence.requirement]]
id = "R"
text = "Nine of ten are right."
gates = ["accuracy=0.85"]
)");
  const std::string night = "evaluate --quiet --data 'images-idx3-ubyte[:50]' --json night.json --model ";
  ASSERT_EQ(assay(night + "net.onnx --fail-under accuracy=1").code, 2);
  const Outcome own = assay("evidence --quiet --config collected.toml --out own");
  EXPECT_EQ(own.code, 2) << own.out << own.err;
  EXPECT_THAT(own.out, testing::HasSubstr("gates of steps failed: night"));
  EXPECT_THAT(read_file(folder / "own/REPORT.md"), testing::HasSubstr("A gate of step night failed"));
  EXPECT_THAT(read_file(folder / "own/REPORT.md"), testing::HasSubstr("A gate of that run failed."));
  ASSERT_EQ(assay("mutate export --quiet --model net.onnx --mutant gf@hidden#1 --out other.onnx").code, 0);
  const Outcome measured = assay(night + "other.onnx --force");
  ASSERT_EQ(measured.code, 0) << measured.err;
  const Outcome other = assay("evidence --quiet --config collected.toml --out other");
  EXPECT_EQ(other.code, 6) << other.out;
  EXPECT_THAT(other.err, testing::HasSubstr("that no step of this study runs"));
  auto nameless = nlohmann::ordered_json::parse(read_file(folder / "night.json"));  // rows keep their order
  nameless["provenance"].erase("model_hash");
  write_file(folder / "night.json", nameless.dump());
  const Outcome unknown = assay("evidence --quiet --config collected.toml --out unknown");
  EXPECT_EQ(unknown.code, 6) << unknown.out;
  EXPECT_THAT(unknown.err, testing::HasSubstr("does not say which network it is about"));
}

}  // namespace
}  // namespace assay
