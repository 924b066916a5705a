// Packs of results made by hand: what is written, and what is found when something was changed.

#include "assay/evidence/pack.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include <assay/error.h>
#include <assay/gate.h>
#include "assay/evidence/comparison.h"
#include "assay/evidence/requirements.h"
#include "assay/evidence/signature.h"
#include "assay/evidence/zip.h"
#include "assay/support/files/file.h"
#include "assay/support/files/sha256.h"
#include "assay/support/process.h"

namespace assay::evidence {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using Kind = report::Column::Kind;

report::Document coverage_result() {
  report::Measurement m;
  m.criterion = "kmnc";
  m.covered = "6";
  m.coverable = "10";
  m.value = 0.6;
  report::Document document;
  document.command = "cover";
  document.headline = "net on test: kmnc 60.00 %";
  document.facts = {{"test_accuracy", "test accuracy", 0.9, Kind::percent}};
  document.tables = {report::criteria_table(std::span(&m, 1)),
                     {"uncovered",
                      "",
                      {{"layer", ""}, {"m", "", Kind::count}, {"combination", ""}, {"record", ""}},
                      {{std::string("fc"), std::int64_t{6}, std::string("0.1"), std::string("rec 7")}}}};
  document.warnings = {{"overlap", "3 records are in both", "cut from one"}};
  document.definitions = {{"kmnc", "sections covered", "Ma et al. 2018"}};
  document.provenance = {{"model_hash", std::string("abc")}, {"seconds", 1.0}};
  return document;
}

class EvidencePack : public testing::Test {
 protected:
  void SetUp() override {
    folder = fs::path(testing::TempDir()) / testing::UnitTest::GetInstance()->current_test_info()->name();
    fs::remove_all(folder);
    pack = folder / "pack";
    contents.study.title = "A study <of> digits";
    contents.study.requirements = {{"REQ-1", "enough | coverage", {"kmnc=0.5", "warnings<=1"}, ""},
                                   {"REQ-2", "all of it", {"kmnc=1"}, "coverage"},
                                   {"REQ-3", "what nobody measured", {"mutation=0.5"}, ""}};
    contents.study.steps = {{"coverage", "cover", {}, ""}};
    contents.study.not_done = {"Night was not tested."};
    contents.results = {{contents.study.steps[0],
                         coverage_result(),
                         0,
                         {"cover", "--model", "my net.onnx"},
                         "results/coverage.json"}};
    contents.inputs = {{"network", "my net.onnx", std::string(64, 'a'), 17},
                       {"test data", "test.npz", std::string(64, 'b'), 9}};
    contents.program = {{"assay", "0.1"}, {"commit", "f00"}};
    contents.machine = {{"processor", "one"}};
    contents.created = "2026-01-02T03:04:05Z";
    write_file(pack / "results/coverage.json", report::to_json(coverage_result()));
  }
  void TearDown() override { fs::remove_all(folder); }

  fs::path folder, pack;
  PackContents contents;
};

TEST_F(EvidencePack, TiesRequirementsToFigures) {
  const std::vector<Outcome> outcomes = write_pack(contents, pack);
  ASSERT_EQ(outcomes.size(), 4U);
  EXPECT_TRUE(is_met(0, outcomes));
  EXPECT_FALSE(is_met(1, outcomes));
  EXPECT_FALSE(is_met(2, outcomes)) << "what was not measured does not hold";
  EXPECT_EQ(outcomes[3].file, "");
  const std::string report = read_file(pack / "REPORT.md");
  for (const char* part :
       {"REQ-1", "1 of 3 requirements hold", "assay cover --model 'my net.onnx'", "3 records are in both",
        "Night was not tested", "sections covered", "Requirement REQ-3", "Mutants were not run"})
    EXPECT_THAT(report, HasSubstr(part));
  EXPECT_THAT(read_file(pack / "REPORT.html"), HasSubstr("A study &lt;of&gt; digits"));
  EXPECT_THAT(read_file(pack / "traceability/requirements.csv"), HasSubstr("REQ-1,kmnc=0.5,true,coverage"));
  EXPECT_THAT(read_file(pack / "traceability/records.csv"),
              HasSubstr("rec 7,coverage,nearest to uncovered,fc m=6 0.1"));
}

TEST_F(EvidencePack, AChangedByteIsFoundWhereverThePackIs) {
  write_pack(contents, pack);
  const fs::path elsewhere = folder / "moved";
  fs::copy(pack, elsewhere, fs::copy_options::recursive);
  const Manifest manifest = read_manifest(elsewhere);
  EXPECT_THAT(differences(manifest, elsewhere), ElementsAre());
  for (const PackFile& file : manifest.files) {
    const std::string whole = read_file(elsewhere / file.path);
    EXPECT_EQ(file.sha256, sha256_hex(whole));
    std::string changed = whole;
    changed[changed.size() / 2] ^= 1;
    write_file(elsewhere / file.path, changed);
    EXPECT_THAT(differences(manifest, elsewhere), ElementsAre("changed: " + file.path));
    fs::remove(elsewhere / file.path);
    EXPECT_THAT(differences(manifest, elsewhere), ElementsAre("missing: " + file.path));
    write_file(elsewhere / file.path, whole);
  }
  write_file(elsewhere / "results/more.json", "{}");
  EXPECT_THAT(differences(manifest, elsewhere), ElementsAre("not listed: results/more.json"));
}

TEST_F(EvidencePack, ManifestsThatLeadElsewhereAreRefused) {
  write_pack(contents, pack);
  const std::string good = read_file(pack / manifest_name);
  const auto with = [&](const std::string& path) {
    auto json = nlohmann::json::parse(good);
    json["files"][0]["path"] = path;
    write_file(pack / manifest_name, json.dump());
  };
  for (const char* path : {"../secret", "/etc/passwd", "a/../../b", ""}) {
    with(path);
    EXPECT_THROW(read_manifest(pack), Error) << path;
  }
  for (const char* text : {"", "{}", "[]", "no json", "{\"schema\": \"assay/evidence\"}"}) {
    write_file(pack / manifest_name, text);
    EXPECT_THROW(read_manifest(pack), Error) << text;
  }
}

TEST_F(EvidencePack, IsSignedAndCheckedByOpenSsh) {
  if (!can_sign()) GTEST_SKIP() << "no ssh-keygen here";
  write_pack(contents, pack);
  const fs::path key = folder / "key";
  ASSERT_EQ(run_process({"ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "me", "-f", key.string()}).code,
            0);
  EXPECT_FALSE(check_signature(pack, {}, "").there);
  sign_manifest(pack, key);
  EXPECT_TRUE(check_signature(pack, {}, "").good) << check_signature(pack, {}, "").text;
  write_file(folder / "signers", "me@here " + read_file(key.string() + ".pub"));
  EXPECT_TRUE(check_signature(pack, folder / "signers", "me@here").good);
  EXPECT_FALSE(check_signature(pack, folder / "signers", "you@there").good);
  write_file(pack / manifest_name, read_file(pack / manifest_name) + " ");
  EXPECT_FALSE(check_signature(pack, {}, "").good);
}

TEST_F(EvidencePack, ListsNetworkAndDataAsCycloneDx) {
  write_pack(contents, pack);
  const auto bom = nlohmann::json::parse(read_file(pack / "bom.cdx.json"));
  EXPECT_EQ(bom["bomFormat"], "CycloneDX");
  EXPECT_EQ(bom["specVersion"], "1.6");
  ASSERT_EQ(bom["components"].size(), 2U);
  EXPECT_EQ(bom["components"][0]["type"], "machine-learning-model");
  EXPECT_EQ(bom["components"][0]["hashes"][0]["content"], std::string(64, 'a'));
  EXPECT_EQ(bom["components"][0]["modelCard"]["modelParameters"]["datasets"][0]["ref"],
            bom["components"][1]["bom-ref"]);
  EXPECT_EQ(bom["components"][1]["type"], "data");
}

TEST_F(EvidencePack, SameFilesMakeTheSameArchive) {
  write_pack(contents, pack);
  write_zip(pack, folder / "a.zip");
  fs::copy(pack, folder / "copy", fs::copy_options::recursive);
  write_zip(folder / "copy", folder / "b.zip");
  EXPECT_TRUE(read_file(folder / "a.zip") == read_file(folder / "b.zip"));
  EXPECT_EQ(read_file(folder / "a.zip").substr(0, 2), "PK");
}

TEST(Study, IsCheckedBeforeAnythingRuns) {
  Study study;
  study.steps = {{"a", "cover", {}, ""}};
  study.requirements = {{"R", "", {"kmnc=0.5"}, "a"}};
  EXPECT_NO_THROW(check_study(study));
  const auto refused = [&](const auto& change) {
    Study wrong = study;
    change(wrong);
    EXPECT_THROW(check_study(wrong), Error);
  };
  refused([](Study& s) { s.steps.push_back(s.steps[0]); });
  refused([](Study& s) { s.requirements.push_back(s.requirements[0]); });
  refused([](Study& s) { s.requirements[0].gates.clear(); });
  refused([](Study& s) { s.requirements[0].gates = {"kmnc"}; });
  refused([](Study& s) { s.requirements[0].step = "b"; });
  refused([](Study& s) { s.requirements[0].id.clear(); });
}

TEST(Figures, AreComparedCellByCell) {
  report::Document then = coverage_result(), now = coverage_result();
  EXPECT_THAT(compare_figures(then, now, 0).different, ElementsAre());
  now.provenance[1].second = 9.0;  // times are no figures
  now.facts[0].value = 0.9000001;
  EXPECT_THAT(compare_figures(then, now, 0).different, ElementsAre("test_accuracy: 0.9, now 0.9000001"));
  EXPECT_EQ(compare_figures(then, now, 1e-6).close, 1U);
  report::Document said = then;
  said.headline = "net on test: kmnc 70.00 %";
  said.warnings.clear();
  report::Gate failed = report::parse_gate("kmnc=0.7");
  failed.passed = false;
  said.gates = {failed};
  EXPECT_THAT(
      compare_figures(then, said, 0).different,
      ElementsAre(HasSubstr("gates: "), HasSubstr("warnings: "), HasSubstr("now 'net on test: kmnc 70")));
  now.tables[0].rows[0][4] = std::int64_t{5};
  EXPECT_THAT(compare_figures(then, now, 1e-6).different, ElementsAre("criteria, row 1, covered: 6, now 5"));
  now.tables.pop_back();
  EXPECT_EQ(compare_figures(then, now, 1e-6).different.size(), 2U);
}

TEST(Commands, AreRepeatedWithoutTheirOutputs) {
  EXPECT_THAT(repeatable("cover",
                         "--model 'my net.onnx' --train t.npz --profile p --state s --append --json=x.json "
                         "--quiet --criterion 'idc[m=6]' --share=-1"),
              ElementsAre("cover", "--model", "my net.onnx", "--train", "t.npz", "--criterion", "idc[m=6]",
                          "--share=-1"));
  EXPECT_THAT(repeatable("cover", "--profile p"), ElementsAre("cover", "--profile", "p"));
  EXPECT_THAT(repeatable("mutate", "run --model n --out x"), ElementsAre("mutate", "run", "--model", "n"));
}

}  // namespace
}  // namespace assay::evidence
