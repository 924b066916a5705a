// A pack against a former one.

#include "assay/evidence/impact.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <assay/error.h>
#include <assay/gate.h>
#include "apps/assay/program.h"
#include "assay/evidence/requirements.h"
#include "assay/evidence/verification.h"
#include "assay/evidence/zip.h"
#include "assay/support/files/file.h"

namespace assay::evidence {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

class Impact : public testing::Test {
 protected:
  Impact() : folder(fs::path(testing::TempDir()) / "assay_impact_test") {
    app::declare_step_commands();
    fs::remove_all(folder);
  }
  ~Impact() override { fs::remove_all(folder); }

  static StepResult step_result(const std::string& name, const std::string& command,
                                const std::string& network, int right) {
    report::Measurement m;
    m.criterion = "accuracy";
    m.covered = std::to_string(right);
    m.coverable = "10";
    m.value = right / 10.0;
    StepResult result;
    result.step = {name, command, {}, ""};
    result.file = "results/" + name + ".json";
    result.typed = {command, "--model", "net.onnx"};
    result.document.command = command;
    result.document.headline = "right: " + std::to_string(right);
    result.document.facts = {{"records", "records", std::int64_t{10}}};
    result.document.tables = {report::criteria_table(std::span(&m, 1))};
    result.document.provenance = {{"model_hash", network}, {"options", std::string("--model net.onnx")}};
    return result;
  }

  // Writes a pack of these results.
  PackContents make(const fs::path& pack, std::vector<StepResult> results,
                    std::vector<Requirement> requirements, const fs::path& former = {}) const {
    PackContents contents;
    contents.study.title = "Digits";
    contents.study.requirements = std::move(requirements);
    contents.study.document_id = pack.filename().string();
    contents.created = "2026-11-29T00:00:00Z";
    contents.inputs = {{"network", "net.onnx", std::string(64, 'a'), 1}};
    for (const StepResult& result : results) {
      contents.study.steps.push_back(result.step);
      write_file(pack / result.file, report::to_json(result.document));
    }
    contents.results = std::move(results);
    copy_former(open_former(former).get(), pack);
    contents.former = former_of(pack);
    write_pack(contents, pack);
    return contents;
  }

  const fs::path folder;
};

// Profiles are learned of a network: another one is no sign of other data.
TEST_F(Impact, TellsProfilesFromData) {
  const auto with_profile = [](const char* network, const char* profile, const char* data) {
    StepResult result = step_result("test", "evaluate", network, 9);
    result.document.provenance.emplace_back("profile_hash", std::string(profile));
    result.document.provenance.emplace_back("train_hash", std::string(data));
    return result;
  };
  make(folder / "old", {with_profile("aaa", "p", "d")}, {});
  make(folder / "new", {with_profile("bbb", "q", "d")}, {}, folder / "old");
  EXPECT_THAT(read_file(folder / "new/change-impact.md"),
              HasSubstr("| test | another network, another profile | right: 9 |"));
  make(folder / "next", {with_profile("aaa", "p", "e")}, {}, folder / "old");
  EXPECT_THAT(read_file(folder / "next/change-impact.md"), HasSubstr("| test | other data | right: 9 |"));
}

TEST_F(Impact, TellsWhatAnotherNetworkAffects) {
  make(folder / "old",
       {step_result("test", "evaluate", "aaa", 9), step_result("night", "evaluate", "aaa", 8)},
       {{"R1", "most", {"accuracy=0.85"}, "test"},
        {"R2", "some", {"accuracy=0.5"}, "test"},
        {"R4", "gone", {"accuracy=0.1"}, "test"}});
  write_zip(folder / "old", folder / "old.zip");
  for (const char* former : {"old", "old.zip"}) {
    const fs::path pack = folder / (std::string("new-") + former);
    const PackContents contents =
        make(pack, {step_result("test", "evaluate", "bbb", 7), step_result("fog", "evaluate", "bbb", 6)},
             {{"R1", "most", {"accuracy=0.85"}, "test"},
              {"R2", "some", {"accuracy=0.5"}, "test"},
              {"R3", "more", {"accuracy=0.6"}, "fog"}},
             folder / former);
    const std::string text = read_file(pack / "change-impact.md");
    for (const char* row :
         {"The network is another one", "| model\\_hash | aaa | bbb | YES |",
          "| R1 | accuracy=0.85 | 9 of 10 \\(90.00 %\\) | 7 of 10 \\(70.00 %\\) | DOES NOT HOLD ANY MORE |",
          "| R2 | accuracy=0.5 | 9 of 10 \\(90.00 %\\) | 7 of 10 \\(70.00 %\\) | still holds |",
          "| new, holds |", "| R4 | accuracy=0.1 | 9 of 10 \\(90.00 %\\) | - | withdrawn |",
          "| test | another network | right: 9 | right: 7 |", "| fog | new | - | right: 6 |",
          "| night | NOT REPEATED | right: 8 | - |", "| test | accuracy | 0.9 | 0.7 | -0.2 |",
          "Figures that came out the same: 1", "Step night \\(evaluate\\) was not repeated"})
      EXPECT_THAT(text, HasSubstr(row)) << former;
    EXPECT_TRUE(fs::exists(pack / "change-impact.html"));
    EXPECT_THAT(read_file(pack / "REPORT.md"), HasSubstr("It follows old"));
    VerifyOptions options;
    options.program = contents.program;
    for (const report::Gate& gate : verify(pack, options, silence()).gates)
      EXPECT_TRUE(gate.passed || gate.text.starts_with("R1")) << gate.text << gate.reason;
    // What is told of the former pack follows from what was copied.
    write_file(pack / "former/results/test.json",
               report::to_json(step_result("test", "evaluate", "aaa", 7).document));
    EXPECT_THAT(verify(pack, options, silence()).headline, HasSubstr("checks failed"));
  }
}

TEST_F(Impact, SaysThatTheNetworkIsTheSame) {
  make(folder / "old", {step_result("test", "evaluate", "aaa", 9)}, {});
  make(folder / "new", {step_result("test", "evaluate", "aaa", 9)}, {}, folder / "old");
  const std::string text = read_file(folder / "new/change-impact.md");
  EXPECT_THAT(text, HasSubstr("The network is the same"));
  EXPECT_THAT(text, HasSubstr("| test | nothing | right: 9 | right: 9 |"));
  EXPECT_THAT(text, HasSubstr("Figures that came out the same: 2 \\(not listed\\); that differ: 0."));
  EXPECT_THAT(text, HasSubstr("Every step of the former pack was repeated."));
  EXPECT_THAT(text, HasSubstr("Neither study names requirements."));
}

TEST_F(Impact, SaysWhoHasToDecideAgain) {
  PackContents before = make(folder / "old", {step_result("test", "evaluate", "aaa", 9)}, {});
  before.study.approvals = {{"Ada", "tester", "2026-11-29", "approved", ""}};
  PackContents now = before;
  now.former = std::make_shared<const PackContents>(before);
  now.study.approvals.push_back({"Bo", "manager", "2026-11-30", "approved", ""});
  EXPECT_THAT(impact_text(now, {}).markdown(), Not(HasSubstr("decided on")));
  now.results = {step_result("test", "evaluate", "bbb", 9)};
  const std::string text = impact_text(now, {}).markdown();
  EXPECT_THAT(text, HasSubstr("Ada decided on 2026-11-29 about the former network, and not again."));
  EXPECT_THAT(text, Not(HasSubstr("Bo decided")));
}

TEST_F(Impact, FormerPacksAreAsTheyWereMade) {
  make(folder / "old", {step_result("test", "evaluate", "aaa", 9)}, {});
  write_file(folder / "old/results/test.json", "{}");
  try {
    open_former(folder / "old");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), Fault::data);
    EXPECT_THAT(error.what(), HasSubstr("is not as it was made: changed: results/test.json; name a pack"));
  }
  EXPECT_THROW(open_former(folder / "none"), Error);
  EXPECT_EQ(former_of(folder / "new"), nullptr);
  EXPECT_FALSE(fs::exists(folder / "old/change-impact.md")) << "it has no former one";
}

}  // namespace
}  // namespace assay::evidence
