// Packs of results made by hand: what is written, and what is found when something was changed.

#include "assay/evidence/pack.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include <assay/error.h>
#include <assay/gate.h>
#include "apps/assay/program.h"
#include "assay/evidence/approvals.h"
#include "assay/evidence/comparison.h"
#include "assay/evidence/repetition.h"
#include "assay/evidence/requirements.h"
#include "assay/evidence/samples.h"
#include "assay/evidence/signature.h"
#include "assay/evidence/verdict.h"
#include "assay/evidence/verification.h"
#include "assay/evidence/zip.h"
#include "assay/support/files/file.h"
#include "assay/support/files/sha256.h"
#include "assay/support/process.h"

namespace assay::evidence {
namespace {

namespace fs = std::filesystem;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
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
  document.provenance = {{"model_hash", std::string("abc")},
                         {"options", std::string("--model 'my net.onnx' --json out.json")},
                         {"seconds", 1.0}};
  return document;
}

class EvidencePack : public testing::Test {
 protected:
  void SetUp() override {
    app::declare_step_commands();
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
       {"REQ-1", "1 of 3 requirements hold; REQ-2, REQ-3 do not", "assay cover --model 'my net.onnx'",
        "3 records are in both", "Night was not tested", "sections covered", "Requirement REQ-3",
        "Mutants were not run"})
    EXPECT_THAT(report, HasSubstr(part));
  EXPECT_THAT(read_file(pack / "REPORT.html"), HasSubstr("A study &lt;of&gt; digits"));
  EXPECT_THAT(read_file(pack / "traceability/requirements.csv"), HasSubstr("REQ-1,kmnc=0.5,true,coverage"));
  EXPECT_THAT(read_file(pack / "traceability/records.csv"),
              HasSubstr("rec 7,coverage,nearest to uncovered,fc m=6 0.1"));
}

TEST_F(EvidencePack, IsPrintedWithContentsAndNumberedPages) {
  contents.study.title = "\"};*{display:none}</style><b>";
  write_pack(contents, pack);
  const std::string page = read_file(pack / "REPORT.html"), text = read_file(pack / "REPORT.md");
  EXPECT_THAT(page, HasSubstr("counter(page) \" of \" counter(pages)"));
  EXPECT_THAT(page, AllOf(HasSubstr("<main>"), HasSubstr("tabindex=\"0\">\n<table>")));
  EXPECT_THAT(page, HasSubstr("\\22 \\7d \\3b \\2a \\7b display"));
  EXPECT_THAT(page, Not(HasSubstr("display:none}</style><b>")));
  for (const char* anchor : {"what-was-asked", "how-sure-the-figures-are", "with-what"}) {
    EXPECT_THAT(page, HasSubstr(std::string("<a href=\"#") + anchor + "\">"));
    EXPECT_THAT(page, HasSubstr(std::string(" id=\"") + anchor + "\">"));
    EXPECT_THAT(text, HasSubstr(std::string("](#") + anchor + ")"));
  }
  EXPECT_THAT(document_id(contents), testing::MatchesRegex("EP-[0-9a-f]{12}"));
  EXPECT_THAT(text, HasSubstr(document_id(contents)));
  const std::string id = document_id(contents);
  contents.created = "2026-01-02T03:04:06Z";
  EXPECT_NE(document_id(contents), id);
}

TEST_F(EvidencePack, EveryFigureThatFailsAGateIsListed) {
  constexpr int layers = 30;
  std::vector<report::Measurement> figures(layers);
  for (int i = 0; i < layers; ++i) {
    figures[i].criterion = "kmnc";
    figures[i].layer = "layer" + std::to_string(i);
    figures[i].covered = std::to_string(i);
    figures[i].coverable = "100";
    figures[i].value = i / 100.0;
  }
  contents.results[0].document.tables = {report::criteria_table(figures)};
  contents.study.requirements = {{"REQ-1", "each", {"kmnc[layer=*]=0.25"}, ""}};
  const std::vector<Outcome> outcomes = write_pack(contents, pack);
  EXPECT_THAT(outcomes[0].gate.reason, HasSubstr("fails for 25 of 30: kmnc[layer=layer0] 0 of 100"));
  EXPECT_EQ(outcomes[0].gate.layer, "layer0") << "the worst decides";
  const std::string report = read_file(pack / "REPORT.md"),
                    list = read_file(pack / "traceability/members.csv");
  for (int i = 0; i < layers; ++i) {
    const std::string name = "kmnc, layer layer" + std::to_string(i);
    EXPECT_EQ(report.find("| " + name + " |") != std::string::npos, i < 25) << name;
    EXPECT_THAT(list, HasSubstr("\"" + name + "\"," + (i < 25 ? "false" : "true")));
  }
}

// As those of items, which are drawn by record.
TEST_F(EvidencePack, FiguresHaveTheIntervalsOfTheirResult) {
  std::vector<report::Measurement> figures(3);
  figures[0].criterion = "mean-iou";
  figures[0].value = 0.395;
  figures[1].criterion = "iou";
  figures[1].class_name = "sky";
  figures[2].criterion = "mean-dice";
  StepResult& result = contents.results[0];
  result.step.command = "evaluate";
  const report::Table own{"figures",
                          "",
                          {{"figure", ""}, {"value", ""}, {"low", "from"}, {"high", "to"}},
                          {{std::string("mean-iou"), 0.395, 0.3797, 0.4107},
                           {std::string("iou"), 0.5, 0.4, 0.6},
                           {std::string("mean-dice"), 0.4, report::Cell(), report::Cell()}}};
  result.document.tables = {{"none", "", {}, {}}, own, report::criteria_table(figures)};
  EXPECT_EQ(interval_of(figures[0], result), "0.3797 to 0.4107");
  EXPECT_EQ(interval_of(figures[1], result), std::nullopt) << "the row is that of all classes";
  EXPECT_EQ(interval_of(figures[2], result), std::nullopt) << "too few records";
  contents.study.requirements = {{"REQ-1", "enough", {"mean-iou=0.3"}, ""}};
  const std::vector<Outcome> outcomes = write_pack(contents, pack);
  EXPECT_EQ(interval_of(outcomes[0].gate, result), "0.3797 to 0.4107");
  EXPECT_THAT(read_file(pack / "REPORT.md"), HasSubstr("| 0.395 | 0.3797 to 0.4107 |"));
  EXPECT_THAT(read_file(pack / "traceability/members.csv"), HasSubstr("0.3797 to 0.4107"));
}

// Ends from scipy.stats.beta.ppf: 0.82378 and 0.95100, 0.55498 and 0.99747, 0.16843.
TEST_F(EvidencePack, SharesOfASampleHaveIntervals) {
  std::vector<report::Measurement> figures(4);
  const std::vector<std::pair<int, int>> counts{{90, 100}, {9, 10}, {0, 20}, {0, 0}};
  for (std::size_t i = 0; i < figures.size(); ++i) {
    figures[i].criterion = "accuracy";
    figures[i].class_name = i == 0 ? "" : std::to_string(i);
    figures[i].covered = std::to_string(counts[i].first);
    figures[i].coverable = std::to_string(counts[i].second);
    figures[i].value = counts[i].second == 0 ? 0 : double(counts[i].first) / counts[i].second;
  }
  StepResult& result = contents.results[0];
  result.step.command = "evaluate";
  EXPECT_EQ(interval_of(figures[0], result), "82.37 % to 95.10 %");
  EXPECT_EQ(interval_of(figures[1], result), "55.49 % to 99.75 %");
  EXPECT_EQ(interval_of(figures[2], result), "0.00 % to 16.85 %");
  EXPECT_EQ(interval_of(figures[3], result), std::nullopt);
  result.step.command = "cover";
  EXPECT_EQ(interval_of(figures[0], result), std::nullopt) << "obligations are no sample";
  result.step.command = "evaluate";
  contents.results[0].document.tables = {report::criteria_table(figures)};
  contents.study.requirements = {{"REQ-1", "most", {"accuracy=0.8"}, ""}};
  write_pack(contents, pack);
  const std::string report = read_file(pack / "REPORT.md");
  EXPECT_THAT(
      report,
      HasSubstr("| coverage | accuracy, class 1 | 9 of 10 \\(90.00 %\\) | 55.49 % to 99.75 % | records |"));
  EXPECT_THAT(report, HasSubstr("| 82.37 % to 95.10 % | coverage"));
  EXPECT_THAT(read_file(pack / "traceability/requirements.csv"), HasSubstr("82.37 % to 95.10 %"));
}

TEST_F(EvidencePack, RequirementsNameTheFigureThatDecides) {
  std::vector<report::Measurement> figures(3);
  const std::vector<std::pair<std::string, std::string>> groups{
      {"", "80"}, {"weather=fog", "40"}, {"weather=sun", "90"}};
  for (std::size_t i = 0; i < figures.size(); ++i) {
    figures[i].criterion = "accuracy";
    figures[i].context = groups[i].first;
    figures[i].covered = groups[i].second;
    figures[i].coverable = "100";
    figures[i].value = std::stod(groups[i].second) / 100;
  }
  contents.results[0].document.tables = {report::criteria_table(figures)};
  contents.results[0].step.command = "evaluate";  // of which figures are samples
  contents.study.requirements = {{"REQ-1", "groups", {"accuracy[weather=*]>=0.8", "accuracy>=0.8"}, ""}};
  write_pack(contents, pack);
  const std::string table = read_file(pack / "traceability/requirements.csv");
  EXPECT_THAT(table, HasSubstr(",\"accuracy, context weather=fog\",\"40 of 100 (40.00 %): "));
  EXPECT_THAT(table, HasSubstr(",accuracy,80 of 100 (80.00 %)"));
  EXPECT_THAT(table, HasSubstr("30.32 % to 50.28 %"));  // of the group that decides
}

TEST_F(EvidencePack, TellsWhichWarningsWereLookedFor) {
  write_pack(contents, pack);
  const std::string report = read_file(pack / "REPORT.md");
  EXPECT_THAT(report, HasSubstr("| overlap | test records are training records, element by element after "
                                "preprocessing | coverage | coverage |"));
  EXPECT_THAT(report, HasSubstr("| same-data |"));
  EXPECT_THAT(report, HasSubstr("| coverage | none |"));
  EXPECT_THAT(report, Not(HasSubstr("| no-gradient |"))) << "no step attacks";
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

class Verifying : public EvidencePack {
 protected:
  report::Document verified(const VerifyOptions& options = {}) const {
    VerifyOptions asked = options;
    asked.from = folder.string();
    asked.program = contents.program;
    return verify(pack, asked, silence());
  }
  // The pack changed by somebody who then makes the hashes of an unsigned manifest anew.
  void forge(const std::function<void(nlohmann::ordered_json&)>& change) const {
    auto json = nlohmann::ordered_json::parse(read_file(pack / manifest_name));
    for (auto& file : json["files"]) {
      const std::string bytes = read_file(pack / file["path"].get<std::string>());
      file["sha256"] = sha256_hex(bytes);
      file["bytes"] = bytes.size();
    }
    change(json);
    write_file(pack / manifest_name, json.dump());
  }
  void forge() const {
    forge([](nlohmann::ordered_json&) {});
  }
  // Checks that fail; requirements are not among them.
  static std::vector<std::string> failed(const report::Document& document) {
    std::vector<std::string> texts;
    for (const report::Gate& gate : document.gates)
      if (!gate.passed && !gate.text.starts_with("REQ-")) texts.push_back(gate.text + ": " + gate.reason);
    return texts;
  }
};

TEST_F(Verifying, AWholePackPassesAndIsSaidToBeUnsigned) {
  write_pack(contents, pack);
  const report::Document document = verified();
  EXPECT_THAT(failed(document), ElementsAre());
  EXPECT_THAT(document.headline, HasSubstr("files are as the manifest says; not signed; no command was run"));
}

TEST_F(Verifying, RequirementsAreToldFirstAndDecide) {
  write_pack(contents, pack);
  const report::Document document = verified();
  EXPECT_THAT(document.headline, HasSubstr("1 of 3 requirements hold; REQ-2, REQ-3 do not; "));
  ASSERT_GE(document.gates.size(), 5U);
  EXPECT_EQ(document.gates[0].text, "REQ-1: kmnc=0.5");
  EXPECT_EQ(document.gates[2].text, "REQ-2: kmnc=1");
  EXPECT_TRUE(report::any_failed(document));
  EXPECT_EQ(document.tables.front().id, "requirements");
  const std::string page = read_file(pack / "pages/report.html");
  EXPECT_LT(page.find("\"command\":\"evidence\""), page.find("\"command\":\"cover\""));
  EXPECT_THAT(page, HasSubstr("REQ-2: kmnc=1"));
  contents.study.requirements.resize(1);
  write_pack(contents, pack);
  EXPECT_FALSE(report::any_failed(verified()));
  EXPECT_THAT(verified().headline, HasSubstr("1 of 1 requirement holds; "));
  contents.study.requirements.clear();
  write_pack(contents, pack);
  EXPECT_THAT(verified().headline, HasSubstr("no requirement; "));
}

TEST_F(Verifying, PersonsWhoDecideAreToldFirst) {
  contents.study.requirements.resize(1);
  contents.study.document_id = "SAF-12/3";
  contents.study.approvals = {{"Ada <L>", "safety manager", "2026-11-29", "approved", "", "ada@here", ""},
                              {"Bo", "tester", "2026-11-30", "approved with conditions", "by day"}};
  write_pack(contents, pack);
  const report::Document document = verified();
  EXPECT_FALSE(report::any_failed(document)) << document.headline;
  ASSERT_EQ(document.facts.size(), 5U);
  EXPECT_EQ(std::get<std::string>(document.facts[0].value), "SAF-12/3");
  EXPECT_EQ(std::get<std::string>(document.facts[3].value), "Ada <L>, safety manager, 2026-11-29: approved");
  EXPECT_THAT(read_file(pack / "REPORT.html"), HasSubstr("Ada &lt;L&gt;"));
  EXPECT_THAT(read_file(pack / "REPORT.md"), HasSubstr("Document SAF-12/3, made"));
  EXPECT_THAT(read_file(pack / "pages/report.html"), HasSubstr("Bo, tester, 2026-11-30: approved with"));
  forge([](auto& json) { json["approvals"][1]["decision"] = "aproved"; });
  EXPECT_THAT(failed(verified()),
              Contains(HasSubstr("approvals: the approval of Bo has the decision 'aproved'")));
  // Nobody changes a decision unseen.
  forge([](auto& json) { json["approvals"][1]["decision"] = "approved"; });
  EXPECT_THAT(failed(verified()), ElementsAre(HasSubstr("REPORT.html is not what the results give")));
  contents.study.approvals[1].decision = "rejected";
  write_pack(contents, pack);
  const report::Document rejected = verified();
  EXPECT_THAT(rejected.headline, HasSubstr("rejected: Bo, tester, 2026-11-30: rejected (by day)"));
  EXPECT_THAT(failed(rejected), ElementsAre(HasSubstr("approval of Bo: ")));
  EXPECT_TRUE(report::any_failed(document_of(contents, outcomes_of(contents.study, contents.results))));
}

TEST_F(Verifying, ASignatureOfSomebodyElseIsFound) {
  if (!can_sign()) GTEST_SKIP() << "no ssh-keygen here";
  const fs::path key = folder / "key";
  ASSERT_EQ(run_process({"ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "me", "-f", key.string()}).code,
            0);
  write_file(folder / "signers", "ada@here,bo@here " + read_file(key.string() + ".pub"));
  contents.is_signed = true;
  const auto checked = [&](const Approval& approval, const VerifyOptions& options = {}) {
    contents.study.approvals = {approval};
    write_pack(contents, pack);
    sign_manifest(pack, key);
    return verified(options);
  };
  const Approval ada{"Ada", "safety manager", "2026-11-29", "approved", "", "ada@here", ""};
  const VerifyOptions as_ada{.signers = (folder / "signers").string(), .identity = "ada@here"};
  const VerifyOptions as_bo{.signers = (folder / "signers").string(), .identity = "bo@here"};
  EXPECT_THAT(failed(checked(ada, as_ada)), ElementsAre());
  EXPECT_THAT(verified(as_ada).headline, HasSubstr("signed by ada@here, who is named in its approvals"));
  EXPECT_THAT(failed(checked(ada, as_bo)),
              ElementsAre(HasSubstr("signatory: bo@here is none of the persons who decide (Ada); have")));
  EXPECT_THAT(checked(ada).notices, Contains(HasSubstr("not all approvals name a `key`")));
  Approval by_key = ada;
  by_key.key = key_fingerprint(key);
  EXPECT_THAT(by_key.key, testing::StartsWith("SHA256:"));
  EXPECT_EQ(by_key.key, key_fingerprint(key.string() + ".pub"));
  EXPECT_THAT(failed(checked(by_key)), ElementsAre());
  by_key.key = "SHA256:another";
  EXPECT_THAT(failed(checked(by_key)), ElementsAre(HasSubstr("signatory: the key SHA256:")));
  EXPECT_THAT(failed(checked(by_key, as_ada)), ElementsAre(HasSubstr("Ada names SHA256:another")));
}

TEST_F(Verifying, AForgedReportIsFoundWhateverTheManifestSays) {
  for (const char* path : {"REPORT.md", "REPORT.html", "pages/report.html", "traceability/requirements.csv",
                           "traceability/members.csv", "traceability/records.csv", "bom.cdx.json",
                           "technical-documentation.md"}) {
    write_pack(contents, pack);
    write_file(pack / path, read_file(pack / path) + "All requirements hold.\n");
    forge();
    const std::vector<std::string> faults = failed(verified());
    ASSERT_FALSE(faults.empty()) << path;
    EXPECT_THAT(faults.back(), HasSubstr(std::string(path) + " is not what the results give"));
  }
}

TEST_F(Verifying, AResultThatSaysOtherThanItsReportIsFound) {
  write_pack(contents, pack);
  report::Document other = coverage_result();
  other.facts[0].value = 0.99;
  write_file(pack / "results/coverage.json", report::to_json(other));
  forge();
  EXPECT_THAT(failed(verified()), ElementsAre(HasSubstr("reports: ")));
}

TEST_F(Verifying, AMissingReportIsFoundWhateverTheManifestSays) {
  write_pack(contents, pack);
  fs::remove(pack / "REPORT.md");
  auto json = nlohmann::ordered_json::parse(read_file(pack / manifest_name));
  std::erase_if(json["files"].get_ref<nlohmann::ordered_json::array_t&>(),
                [](const auto& file) { return file["path"] == "REPORT.md"; });
  write_file(pack / manifest_name, json.dump());
  EXPECT_THAT(failed(verified()), ElementsAre(HasSubstr("REPORT.md is not what the results give")));
}

TEST_F(Verifying, InputsThatAManifestLeavesOutAreFound) {
  write_pack(contents, pack);
  forge([](auto& json) { json["inputs"] = nlohmann::ordered_json::array(); });
  EXPECT_THAT(failed(verified()), Contains(HasSubstr("inputs: not listed: my net.onnx")));
}

TEST_F(Verifying, AResultOfAnotherCommandIsFound) {
  write_pack(contents, pack);
  forge([](auto& json) {
    json["steps"][0]["command"] = {"cover", "--model", "my net.onnx", "--criterion", "nc"};
  });
  EXPECT_THAT(failed(verified()),
              Contains(HasSubstr("commands: results/coverage.json is the result of another")));
}

TEST_F(Verifying, NothingIsNoEvidence) {
  write_pack(contents, pack);
  forge([](auto& json) {
    for (const char* part : {"files", "inputs", "steps", "requirements"})
      json[part] = nlohmann::ordered_json::array();
  });
  EXPECT_THAT(failed(verified()), Contains(HasSubstr("the manifest lists no file")));
  for (const fs::path& part : {pack / "results", pack / "pages", pack / "traceability"}) fs::remove_all(part);
  for (const char* file : {"REPORT.md", "REPORT.html", "bom.cdx.json", "technical-documentation.md"})
    fs::remove(pack / file);
  EXPECT_THAT(failed(verified()), Contains(HasSubstr("the manifest lists no file")));
  EXPECT_THAT(failed(verified({.rerun = "all"})), Contains(HasSubstr("commands run again: none was")));
}

TEST_F(Verifying, WhatWasNotRunIsNotCalledTheSame) {
  contents.results[0].typed.clear();
  contents.study.steps[0].collected = contents.results[0].step.collected = "night.json";
  write_pack(contents, pack);
  const report::Document document = verified({.rerun = "all"});
  EXPECT_THAT(failed(document), ElementsAre(HasSubstr("commands run again: none was")));
  EXPECT_THAT(document.headline, Not(HasSubstr("came out the same")));
  // A command that does not only measure.
  write_pack(contents, pack);
  forge([](auto& json) { json["steps"][0]["command"] = {"attack"}; });
  EXPECT_THAT(failed(verified({.rerun = "all"})), Contains(HasSubstr("commands run again: none was")));
}

TEST_F(Verifying, ManifestAndSignatureArePlainFiles) {
  write_pack(contents, pack);
  fs::create_symlink("nowhere", pack / signature_name);
  EXPECT_THROW(verified(), Error);
  fs::remove(pack / signature_name);
  fs::rename(pack / manifest_name, folder / "elsewhere.json");
  fs::create_symlink(folder / "elsewhere.json", pack / manifest_name);
  EXPECT_THROW(verified(), Error);
}

TEST_F(Verifying, WhatIsListedTwiceIsRefused) {
  write_pack(contents, pack);
  for (const char* part : {"files", "steps"}) {
    const std::string good = read_file(pack / manifest_name);
    forge([&](auto& json) { json[part].push_back(json[part][0]); });
    EXPECT_THROW(verified(), Error) << part;
    write_file(pack / manifest_name, good);
  }
}

TEST_F(Verifying, ASignatureWhoseKeyWasNotCheckedIsANotice) {
  if (!can_sign()) GTEST_SKIP() << "no ssh-keygen here";
  contents.is_signed = true;
  write_pack(contents, pack);
  EXPECT_THAT(failed(verified()), ElementsAre(HasSubstr("the manifest says it is signed")));
  const fs::path key = folder / "key";
  ASSERT_EQ(run_process({"ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "me", "-f", key.string()}).code,
            0);
  sign_manifest(pack, key);
  const report::Document unasked = verified();
  EXPECT_THAT(failed(unasked), ElementsAre());
  EXPECT_THAT(unasked.headline, HasSubstr("signed with a key that was not checked"));
  EXPECT_THAT(unasked.notices, Contains(HasSubstr("whose key it is was not checked")));
  for (const report::Gate& gate : unasked.gates) EXPECT_NE(gate.text, "signature");
  write_file(folder / "signers", "me@here " + read_file(key.string() + ".pub"));
  const VerifyOptions trusted{.signers = (folder / "signers").string(), .identity = "me@here"};
  EXPECT_THAT(verified(trusted).headline, HasSubstr("signed by me@here"));
}

TEST(Repetition, TakesCommandsByTheirFlags) {
  app::declare_step_commands();
  const auto reason = [](std::vector<std::string> typed) { return why_not_repeated(typed, "step a"); };
  EXPECT_EQ(reason({"cover", "--model", "n.onnx", "--train", "t.npz", "-m", "6,8", "--criterion=nc"}), "");
  EXPECT_EQ(reason({"cover", "--profile", "p"}), "");
  EXPECT_EQ(reason({"mutate", "list", "--model", "n.onnx"}), "");
  EXPECT_THAT(reason({"attack", "n.onnx"}), HasSubstr("`assay attack` is not among"));
  EXPECT_THAT(reason({"mutate", "--trainer=touch x"}), HasSubstr("--trainer"));
  EXPECT_THAT(reason({"cover", "--extend-with", "fgsm"}), HasSubstr("--extend-with"));
  for (const std::vector<std::string>& typed :
       std::vector<std::vector<std::string>>{{"cover", "--made-dir", "x"},
                                             {"cover", "--extensions=x"},
                                             {"cover", "--train=t", "--profile=p"},
                                             {"cover", "--json=x"},
                                             {"cover", "-mx", "-q"},
                                             {"cover", "--config", "x"},
                                             {"mutate", "export", "--list"},
                                             {"mutate", "store"},
                                             {"cover", "--trust"},
                                             {"cover", "--", "x"},
                                             {"evaluate", "x"},
                                             {"cover", "--plugin", "x.so"},
                                             {"cover", "--no-such-flag"},
                                             {"data", "--sheet", "x"}})
    EXPECT_THROW(reason(typed), Error) << testing::PrintToString(typed);
}

TEST_F(EvidencePack, CommandsRunAmongLinksToTheirInputs) {
  const fs::path from = folder / "study" / "night";
  write_file(from / "net.onnx", "net");
  write_file(from / "images/cat/1.png", "cat");
  write_file(folder / "study" / "up.npz", "up");
  const std::vector<InputFile> inputs{
      {"network", "net.onnx", "", 0},          {"data", "images/cat/1.png", "", 0},
      {"data", "./images/../net.onnx", "", 0}, {"data", "../up.npz", "", 0},
      {"data", "missing.npz", "", 0},          {"data", (folder / "study" / "up.npz").string(), "", 0}};
  fs::path gone;
  {
    const FreshFolder fresh(inputs, from);
    gone = fresh.path();
    EXPECT_EQ(read_file(fresh.work() / "net.onnx"), "net");
    EXPECT_EQ(read_file(fresh.work() / "images/cat/1.png"), "cat");
    EXPECT_EQ(read_file(fresh.work() / "../up.npz"), "up");
    EXPECT_FALSE(fs::exists(fresh.work() / "missing.npz"));
    EXPECT_TRUE(fs::is_directory(fs::symlink_status(fresh.work() / "images/cat"))) << "a link would lead out";
  }
  EXPECT_FALSE(fs::exists(gone));
  EXPECT_TRUE(fs::exists(from / "net.onnx"));
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
  const SignatureCheck other = check_signature(pack, folder / "signers", "you@there");
  EXPECT_FALSE(other.good);
  EXPECT_THAT(other.text, HasSubstr("is not a signature of this manifest.json by a key that "));
  EXPECT_THAT(other.text, HasSubstr("signers has for 'you@there'"));
  EXPECT_THAT(other.text, HasSubstr("; name who signed, or have the pack signed by somebody whom it lists"));
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
  now.provenance[2].second = 9.0;  // times are no figures
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

TEST(Figures, ThatWereCutOutOfAResultAreMissed) {
  const report::Document now = coverage_result();
  report::Document then = now;
  then.facts.clear();
  EXPECT_THAT(compare_figures(then, now, 0).different,
              ElementsAre(HasSubstr("test_accuracy: the result in the")));
  then = now;
  then.tables.pop_back();
  EXPECT_THAT(compare_figures(then, now, 0).different,
              ElementsAre(HasSubstr("uncovered: the result in the")));
  then = now;
  then.provenance[0].second = std::string("another");
  EXPECT_THAT(compare_figures(then, now, 0).different, ElementsAre(HasSubstr("hashes: ")));
  // One figure that is only close hides no warning and no sentence.
  then = now;
  then.facts[0].value = 0.9000001;
  then.warnings.clear();
  then.headline = "all is well";
  EXPECT_THAT(compare_figures(then, now, 1e-6).different,
              ElementsAre(HasSubstr("warnings: "), HasSubstr("headline: ")));
  then = now;
  then.facts[0].value = 0.9000001;
  then.headline = "net on test: kmnc 60.01 %";
  EXPECT_THAT(compare_figures(then, now, 1e-6).different, ElementsAre()) << "its numbers may differ";
}

TEST(Commands, AreRepeatedWithoutTheirOutputs) {
  app::declare_step_commands();
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
