// A study from its file to what it ran: steps that are completed, run by a program that stands in for Assay,
// and checked.

#include <gmock/gmock.h>

#include <csignal>

#include <assay/error.h>
#include <assay/gate.h>
#include "apps/assay/program.h"
#include "assay/evidence/approvals.h"
#include "assay/evidence/gathering.h"
#include "assay/evidence/requirements.h"
#include "assay/evidence/verdict.h"
#include "assay/evidence/verification.h"
#include "assay/support/files/file.h"
#include "assay/support/process.h"

namespace assay::evidence {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

template <typename Work>
std::string refusal(const Work& work) {
  try {
    work();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

class StudyTest : public testing::Test {
 protected:
  StudyTest() : folder(fs::path(testing::TempDir()) / "assay_study_test"), pack(folder / "pack") {
    fs::remove_all(folder);
    fs::create_directories(folder);
    app::declare_step_commands();
  }
  ~StudyTest() override {
    set_this_program({});
    fs::remove_all(folder);
  }

  StudyFile read(const std::string& text) const {
    write_file(folder / "study.toml", text);
    return read_study(folder / "study.toml");
  }

  // A program that notes its arguments and writes a result, in which a figure stands that a file holds.
  void stand_in() const {
    report::Document result;
    result.command = "evaluate";
    result.headline = "a result";
    result.facts = {{"accuracy", "accuracy", 0.5}};
    report::Measurement accuracy;
    accuracy.criterion = "accuracy";
    accuracy.covered = "5";
    accuracy.coverable = "10";
    accuracy.value = 0.5;
    result.tables = {report::criteria_table(std::span(&accuracy, 1))};
    result.provenance = {{"options", "--data " + (folder / "test.npz").string() + " --seed 7 --json x.json"}};
    write_file(folder / "result.json", report::to_json(result));
    write_file(folder / "program.sh", "#!/bin/sh\nhere='" + folder.string() +
                                          "'\necho \"$@\" >> \"$here/arguments\"\n"
                                          "for word; do case $word in --json=*) cp \"$here/result.json\" "
                                          "\"${word#--json=}\";; fail) exit 5;; esac; done\n");
    fs::permissions(folder / "program.sh", fs::perms::owner_all);
    set_this_program(folder / "program.sh");
  }

  const fs::path folder, pack;
};

TEST_F(StudyTest, StepsAndRequirementsStandInTheFile) {
  const StudyFile file = read(
      "[evaluate]\ndata = 'x'\n[[evidence.step]]\ncommand = 'cover'\ncriterion = ['nc', 'idc']\nby-class = "
      "true\n"
      "append = false\n[[evidence.step]]\nname = 'old'\nresult = 'old.json'\n"
      "[[evidence.requirement]]\nid = 'R1'\ntext = 'Enough.'\ngates = ['nc=0.5']\nstep = 'cover'\n");
  ASSERT_EQ(file.study.steps.size(), 2U);
  EXPECT_EQ(file.study.steps[0].name, "cover");
  EXPECT_THAT(file.study.steps[0].arguments,
              testing::UnorderedElementsAre("--criterion=nc", "--criterion=idc", "--by-class"));
  EXPECT_EQ(file.study.steps[1].collected, "old.json");
  ASSERT_EQ(file.study.requirements.size(), 1U);
  EXPECT_THAT(file.study.requirements[0].gates, ElementsAre("nc=0.5"));
  EXPECT_TRUE(file.given.contains({"evaluate", "data"}));
  EXPECT_THAT(refusal([&] { read("[[evidence.step]]\nname = 'x'\n"); }), HasSubstr("study.toml:1"));
  EXPECT_THAT(refusal([&] { read("[evidence]\nstep = 1\n"); }), HasSubstr("write [[evidence.step]]"));
  EXPECT_THAT(refusal([&] { read("[[evidence.requirement]]\ngate = 'nc=1'\n"); }),
              HasSubstr("did you mean 'gates'"));
}

TEST_F(StudyTest, PersonsWhoDecideStandInTheFile) {
  const std::string one = "name = 'Ada'\nrole = 'safety manager'\ndate = 2026-11-29\ndecision = 'approved'\n";
  const StudyFile single = read("[approval]\n" + one);
  ASSERT_EQ(single.study.approvals.size(), 1U);
  EXPECT_EQ(described(single.study.approvals[0]), "Ada, safety manager, 2026-11-29: approved");
  const StudyFile several = read("[[approval]]\n" + one +
                                 "[[approval]]\nname = 'Bo'\nrole = 'tester'\ndate = '2026-11-30'\n"
                                 "decision = 'approved with conditions'\nnote = 'by day'\n"
                                 "identity = 'bo@here'\nkey = 'SHA256:abc'\n");
  ASSERT_EQ(several.study.approvals.size(), 2U);
  EXPECT_EQ(several.study.approvals[1].key, "SHA256:abc");
  EXPECT_EQ(several.study.approvals[1].identity, "bo@here");
  const auto refused = [&](std::string_view what, std::string_view with) {
    std::string text = "[approval]\n" + one;
    text.replace(text.find(what), what.size(), with);
    return refusal([&] { read(text); });
  };
  EXPECT_THAT(refused("name = 'Ada'", ""), HasSubstr("study.toml:1: an approval has no name"));
  EXPECT_THAT(refused("role = 'safety manager'", ""), HasSubstr("the approval of Ada has no role"));
  EXPECT_THAT(refused("2026-11-29", "'29.11.2026'"), HasSubstr("write it as 2026-11-29"));
  EXPECT_THAT(refused("2026-11-29", "'2026-02-30'"), HasSubstr("'2026-02-30'"));
  EXPECT_THAT(refused("'approved'", "'aproved'"), HasSubstr("did you mean 'approved'"));
  EXPECT_THAT(refused("'approved'", "'approved with conditions'"), HasSubstr("does not name them"));
  EXPECT_THAT(refused("role", "rol"), HasSubstr("did you mean 'role'"));
  EXPECT_THAT(refused("role", "key = 'ssh-ed25519 AAAA'\nrole"), HasSubstr("write its fingerprint"));
  EXPECT_THAT(refusal([&] { read("approval = 'Ada'\n"); }), HasSubstr("write [approval] with name, role"));
}

TEST_F(StudyTest, StepsAreGivenWhatTheyLack) {
  Study study;
  study.steps = {{"cover", "cover", {"--test=own.npz"}, ""},
                 {"evaluate", "evaluate", {}, ""},
                 {"old", "", {}, "old.json"}};
  complete(study, {{"evaluate", "data"}}, {"net.onnx", "train.npz", "test.npz"});
  std::vector<std::string> texts;
  for (const Step& step : study.steps) {
    texts.push_back(step.name + ":");
    for (const std::string& argument : step.arguments) texts.back() += " " + argument;
  }
  EXPECT_THAT(texts, ElementsAre("network: --model=net.onnx --data=train.npz",
                                 "training-data: --data=train.npz", "test-data: --data=test.npz",
                                 "cover: --test=own.npz --model=net.onnx --train=train.npz",
                                 "evaluate: --model=net.onnx", "old:"));
  Study empty;
  complete(empty, {}, {});
  ASSERT_EQ(empty.steps.size(), 3U);
  EXPECT_EQ(empty.steps[2].command, "mutate");
  Study wrong;
  wrong.steps = {{"../x", "cover", {}, ""}};
  EXPECT_THAT(refusal([&] { complete(wrong, {}, {}); }), HasSubstr("cannot be the name"));
}

TEST_F(StudyTest, StepsThatTakeTheSubjectAreGivenIt) {
  Study study;
  for (const char* command : {"audit", "inspect", "retrain", "prune"})
    study.steps.push_back({command, command, {}, ""});
  study.steps.push_back({"explore", "explore", {"--profile=net.profile"}, ""});
  complete(study, {}, {"net.onnx", "train.npz", "test.npz"});
  std::vector<std::string> texts;
  for (std::size_t s = 3; s < study.steps.size(); ++s) {
    texts.push_back(study.steps[s].name + ":");
    for (const std::string& argument : study.steps[s].arguments) texts.back() += " " + argument;
  }
  EXPECT_THAT(texts, ElementsAre("audit: --model=net.onnx --train=train.npz --test=test.npz",
                                 "inspect: --model=net.onnx --data=test.npz",
                                 "retrain: --model=net.onnx --train=train.npz --test=test.npz",
                                 "prune: --model=net.onnx --test=test.npz",
                                 "explore: --profile=net.profile --model=net.onnx --data=test.npz"));
}

TEST_F(StudyTest, AGateOnWarningsIsOnAllSteps) {
  Study study;
  study.requirements = {{"R1", "nothing is doubtful", {"warnings<=0"}, ""},
                        {"R2", "the first is not", {"warnings<=0"}, "network"}};
  std::vector<StepResult> results(2);
  results[0].step.name = "network";
  results[1].step.name = "coverage";
  EXPECT_TRUE(is_met(0, outcomes_of(study, results)));
  results[1].document.warnings = {{"overlap", "records are in both", ""}};
  const std::vector<Outcome> outcomes = outcomes_of(study, results);
  EXPECT_FALSE(is_met(0, outcomes));
  EXPECT_TRUE(is_met(1, outcomes));
  EXPECT_EQ(outcomes[0].step, "coverage");
  EXPECT_THAT(outcomes[0].gate.reason, HasSubstr("fails for 1 of 2: warnings[layer=all,context=coverage] "));
}

TEST_F(StudyTest, WarningsAndFailedGatesOfStepsAreThoseOfThePack) {
  PackContents contents;
  contents.results.resize(1);
  contents.results[0].step.name = "coverage";
  EXPECT_FALSE(report::any_failed(document_of(contents, {})));
  report::Gate gate = report::parse_gate("nc=0.9");
  gate.passed = false;
  contents.results[0].document.gates = {gate};
  contents.results[0].document.warnings = {{"overlap", "records are in both", ""}};
  const report::Document document = document_of(contents, {});
  EXPECT_TRUE(report::any_failed(document));
  EXPECT_THAT(document.headline, HasSubstr("gates of steps failed: coverage"));
  ASSERT_EQ(document.warnings.size(), 1U);
  EXPECT_EQ(document.warnings[0].text, "step coverage: records are in both");
}

TEST_F(StudyTest, AFolderOfOthersAndAFinishedPackStay) {
  Study study;
  study.steps = {{"cover", "cover", {}, ""}};
  begin_pack(pack, study, false).reset();
  write_file(pack / "results/cover.json", "a result");
  write_file(pack / "states/cover.state.journal", "a journal");
  begin_pack(pack, study, false).reset();  // what an interrupted run left
  EXPECT_TRUE(fs::exists(pack / "results/cover.json"));
  for (const char* other : {"mine.txt", "results/night.json", "pages/mine.html"}) {
    write_file(pack / other, "x");
    for (const bool replace : {false, true})
      EXPECT_THAT(refusal([&] { begin_pack(pack, study, replace); }),
                  HasSubstr(std::string("holds other files (") + other));
    fs::remove(pack / other);
  }
  write_pack({}, pack);
  finish_pack(begin_pack(pack, study, false));
  EXPECT_FALSE(fs::exists(pack / manifest_name)) << "it was not finished";
  write_pack({}, pack);
  EXPECT_THAT(refusal([&] { begin_pack(pack, study, false); }), HasSubstr("holds an evidence pack"));
  study.steps.front().name = "night";
  write_file(pack / "mine.txt", "x");
  EXPECT_THAT(refusal([&] { begin_pack(pack, study, true); }), HasSubstr("holds other files (mine.txt)"));
  EXPECT_TRUE(fs::exists(pack / manifest_name)) << "nothing is taken away before all is known";
  fs::remove(pack / "mine.txt");
  begin_pack(pack, study, true).reset();
  EXPECT_FALSE(fs::exists(pack / manifest_name));
  EXPECT_FALSE(fs::exists(pack / "results/cover.json")) << "what the manifest listed is gone";
}

TEST_F(StudyTest, APackIsFinishedWhenAllThatGoesWithItIsWritten) {
  auto journal = begin_pack(pack, {}, false);
  EXPECT_THAT(refusal([&] { begin_pack(pack, {}, false); }), HasSubstr("another run"));
  write_pack({}, pack);
  EXPECT_THAT(differences(read_manifest(pack), pack), ElementsAre(HasSubstr("not finished")));
  finish_pack(std::move(journal));
  EXPECT_THAT(differences(read_manifest(pack), pack), IsEmpty());
}

TEST_F(StudyTest, StepsAreRunCollectedAndCheckedAgain) {
  stand_in();
  write_file(folder / "test.npz", "records");
  Study study;
  study.title = "A study";
  study.requirements = {{"R1", "half are right", {"accuracy=0.5"}, ""}};
  study.steps = {{"evaluate", "evaluate", {"--data=" + (folder / "test.npz").string(), "--threads=3"}, ""},
                 {"old", "", {}, (folder / "result.json").string()}};
  finish_pack(begin_pack(pack, study, false));
  const PackContents contents =
      gather(study, {pack, "", {{"quiet", ""}, {"threads", "1"}, {"seed", "1"}}}, silence());
  EXPECT_EQ(read_file(folder / "arguments"),
            "evaluate --data=" + (folder / "test.npz").string() +
                " --threads=3 --json=" + (pack / "results/evaluate.json").string() + " --quiet\n")
      << "flags that a step has itself are not given again, nor those that it does not take";
  ASSERT_EQ(contents.results.size(), 2U);
  EXPECT_THAT(contents.results[0].typed,
              ElementsAre("evaluate", "--data", (folder / "test.npz").string(), "--seed", "7"));
  EXPECT_THAT(contents.results[1].typed, IsEmpty());
  EXPECT_EQ(contents.results[1].step.command, "evaluate");
  const report::Document made = document_of(contents, write_pack(contents, pack));
  EXPECT_THAT(made.headline, HasSubstr("2 steps, "));

  const VerifyOptions again{.rerun = "evaluate", .from = folder.string()};
  const report::Document same = verify(pack, again, silence());
  EXPECT_FALSE(report::any_failed(same)) << same.headline;
  EXPECT_THAT(same.headline, HasSubstr("figures came out the same"));
  EXPECT_THAT(read_file(folder / "arguments"), Not(HasSubstr("--seed"))) << "earlier versions gave it";
  std::string other = read_file(folder / "result.json");
  other.replace(other.find("0.5"), 3, "0.7");
  write_file(folder / "result.json", other);
  EXPECT_TRUE(report::any_failed(verify(pack, again, silence())));
  EXPECT_FALSE(report::any_failed(verify(pack, {.from = folder.string()}, silence())))
      << "no command was run";
  EXPECT_THAT(refusal([&] { verify(pack, {.rerun = "evaluat"}, silence()); }),
              HasSubstr("did you mean 'evaluate'"));
  write_file(pack / "results/evaluate.json", other);
  EXPECT_TRUE(report::any_failed(verify(pack, {}, silence())));
}

TEST_F(StudyTest, AStepThatFailsEndsTheStudy) {
  stand_in();
  Study study;
  study.steps = {{"evaluate", "evaluate", {"fail"}, ""}};
  const auto journal = begin_pack(pack, study, false);
  EXPECT_THAT(refusal([&] { gather(study, {pack, "", {}}, silence()); }), HasSubstr("ended with code 5"));
}

// Signals end processes, whatever this one was started to ignore and its children with it: nohup leaves out
// SIGHUP.
class DefaultSignals {
 public:
  DefaultSignals() : hang_up_(std::signal(SIGHUP, SIG_DFL)), terminate_(std::signal(SIGTERM, SIG_DFL)) {}
  ~DefaultSignals() {
    std::signal(SIGHUP, hang_up_);
    std::signal(SIGTERM, terminate_);
  }
  DefaultSignals(const DefaultSignals&) = delete;
  DefaultSignals& operator=(const DefaultSignals&) = delete;

 private:
  void (*hang_up_)(int);
  void (*terminate_)(int);
};

// The study ends as its step did (docs/exit-codes.md).
TEST_F(StudyTest, AStepThatFailsGivesTheStudyItsFault) {
  const DefaultSignals signals;
  stand_in();
  Study study;
  study.steps = {{"evaluate", "evaluate", {}, ""}};
  const auto journal = begin_pack(pack, study, false);
  const std::vector<std::pair<std::string, Fault>> faults{{"exit 1", Fault::usage},
                                                          {"exit 3", Fault::model},
                                                          {"exit 4", Fault::unsupported},
                                                          {"exit 5", Fault::data},
                                                          {"exit 6", Fault::mismatch},
                                                          {"exit 7", Fault::io},
                                                          {"exit 8", Fault::resources},
                                                          {"exit 70", Fault::internal},
                                                          {"exit 130", Fault::interrupted},
                                                          {"kill -TERM $$", Fault::interrupted},
                                                          {"kill -HUP $$", Fault::interrupted},
                                                          {"kill -KILL $$", Fault::resources}};
  for (const auto& [ending, fault] : faults) {
    write_file(folder / "program.sh", "#!/bin/sh\n" + ending + "\n");
    try {
      gather(study, {pack, "", {}}, silence());
      ADD_FAILURE() << ending;
    } catch (const Error& error) {
      EXPECT_EQ(error.fault(), fault) << ending << ": " << error.what();
    }
  }
}

}  // namespace
}  // namespace assay::evidence
