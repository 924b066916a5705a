// The program's checks of itself: that they pass, that a wrong expected value is seen, that they leave
// nothing out.

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include <assay/error.h>
#include <assay/extend/question.h>
#include "assay/selftest/run.h"

namespace assay::selftest {
namespace {

using nlohmann::json;

report::Document answer() {
  report::Document document;
  document.facts = {{"records", "records", std::int64_t{40}}, {"accuracy", "accuracy", 0.8}};
  document.tables = {{"criteria",
                      "",
                      {{"criterion", ""}, {"layer", ""}, {"coverage", ""}},
                      {{"nc", "fc1", 0.25}, {"nc", "all", 0.5}, {"kmnc", "all", 0.125}}}};
  return document;
}

Check check(Position position, report::Cell expected, double tolerance = 0) {
  return {"figure", {"command:cover"}, std::move(position), std::move(expected), tolerance, "hand"};
}

Finding judgement(const Position& position, const report::Cell& expected, double tolerance = 0) {
  static const Case question{"question", "page.md", "cover", {}, false, {}};
  static std::vector<Check> kept;
  kept = {check(position, expected, tolerance)};
  return judged(question, kept[0], answer());
}

std::filesystem::path fresh_folder(const std::string& name) {
  const std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / name;
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  return folder;
}

Suite small_suite() {
  return read_suite(
      R"({"programs": {"hand": "1"}, "files": {"a.txt": {"text": "abc"}, "b": {"base64": "AAE="}},
    "cases": [{"name": "small", "page": "page.md", "command": "cover", "flags": {"model": ["$/a.txt,x=$/b"]},
               "checks": [{"name": "records", "functions": ["command:cover"], "at": {"column": "records"},
                           "expected": 40, "source": "hand"}]},
              {"name": "hostile", "page": "page.md", "command": "data", "flags": {}, "refused": true,
               "checks": [{"name": "message", "functions": ["command:data"], "expected": "damaged",
                           "source": "hand"}]}],
    "not_covered": {"command:demo": "it only shows", "attack:*": "random"}})",
      "small");
}

TEST(SelftestJudgement, FindsFactsAndCellsOfSelectedRows) {
  EXPECT_TRUE(judgement({"", {}, "records"}, std::int64_t{40}).passed);
  EXPECT_TRUE(judgement({"criteria", {{"criterion", "nc"}, {"layer", "all"}}, "coverage"}, 0.5).passed);
  EXPECT_TRUE(judgement({"criteria", {{"criterion", "nc"}}, ""}, std::int64_t{2}).passed);
}

TEST(SelftestJudgement, SeesAValueThatIsWrong) {
  const Finding finding = judgement({"", {}, "accuracy"}, 0.81, 0.005);
  EXPECT_FALSE(finding.passed);
  EXPECT_EQ(finding.reason, "found 0.8, expected 0.81 (tolerance 0.005)");
  EXPECT_TRUE(judgement({"", {}, "accuracy"}, 0.81, 0.02).passed);
  EXPECT_FALSE(judgement({"", {}, "records"}, "40").passed);
}

TEST(SelftestJudgement, FailsWhereTheFigureIsMissingOrNotOne) {
  EXPECT_FALSE(judgement({"", {}, "nothing"}, 1.0).passed);
  EXPECT_FALSE(judgement({"nowhere", {}, "coverage"}, 1.0).passed);
  EXPECT_FALSE(judgement({"criteria", {{"criterion", "nc"}}, "coverage"}, 0.5, 10).passed);
  EXPECT_FALSE(judgement({"criteria", {{"criterion", "kmnc"}}, "nothing"}, 0.125).passed);
}

TEST(SelftestRun, WritesFilesAsksAndExpectsRefusals) {
  const Suite suite = small_suite();
  const auto folder = fresh_folder("assay_selftest_run");
  std::vector<std::string> asked;
  const auto findings = run(
      suite,
      [&](const std::string& command, const auto& flags) {
        asked.push_back(command);
        if (command == "data") fail(Fault::data, "'b' is damaged");
        EXPECT_EQ(flags[0].second[0], (folder / "a.txt").string() + ",x=" + (folder / "b").string());
        EXPECT_EQ(std::filesystem::file_size(folder / "b"), 2U);
        return answer();
      },
      folder, silence());
  EXPECT_EQ(asked, (std::vector<std::string>{"cover", "data"}));
  ASSERT_EQ(findings.size(), 2U);
  EXPECT_TRUE(findings[0].passed && findings[1].passed) << findings[0].reason << findings[1].reason;
}

TEST(SelftestRun, AnAnswerWhereARefusalIsDueAndAnErrorWhereAnAnswerIsDueFail) {
  const Suite suite = small_suite();
  const auto findings = run(
      suite,
      [](const std::string& command, const auto&) {
        if (command == "cover") fail(Fault::model, "no such network");
        return answer();
      },
      fresh_folder("assay_selftest_wrong_way"), silence());
  ASSERT_EQ(findings.size(), 2U);
  EXPECT_FALSE(findings[0].passed);
  EXPECT_EQ(findings[0].reason, "not answered: no such network");
  EXPECT_FALSE(findings[1].passed);
  EXPECT_EQ(findings[1].reason, "answered, where it should have been refused");
}

TEST(SelftestRun, CtrlCEndsIt) {
  const Suite suite = small_suite();
  EXPECT_THROW(
      run(
          suite,
          [](const std::string&, const auto&) -> report::Document { fail(Fault::interrupted, "stopped"); },
          fresh_folder("assay_selftest_stopped"), silence()),
      Error);
}

TEST(SelftestTraceability, CountsChecksAndTakesReasonsFromTheSuite) {
  const auto functions = traced(small_suite(), {"command:cover", "command:demo", "attack:pgd", "rule:new"});
  EXPECT_EQ(functions[0].checks, 1U);
  EXPECT_EQ(functions[1].why_not, "it only shows");
  EXPECT_EQ(functions[2].why_not, "random");
  EXPECT_EQ(functions[3].why_not, "");
}

TEST(SelftestSuite, IsRefusedWhereItIsNotOne) {
  for (const char* text : {"", "[]", "{}", R"({"programs": {}, "files": {"a": {"base64": "%"}}, "cases": [],
                                              "not_covered": {}})"})
    EXPECT_THROW(read_suite(text, "text"), Error) << text;
}

// The program's own suite, run once for the tests below.
report::Document of_program(const std::vector<std::pair<std::string, std::vector<std::string>>>& flags) {
  return frame::ask({"selftest", flags}, silence());
}

std::string failures(const report::Document& document) {
  std::string text;
  for (const report::Gate& gate : document.gates) {
    if (!gate.passed) text += gate.text + ": " + gate.reason + "\n";
  }
  return text;
}

TEST(Selftest, AllChecksPassAndNoFunctionIsLeftOut) {
  const report::Document document = of_program({});
  EXPECT_GT(document.gates.size(), 100U);
  EXPECT_EQ(failures(document), "");
  const auto table = std::ranges::find(document.tables, "traceability", &report::Table::id);
  ASSERT_NE(table, document.tables.end());
  for (const auto& row : table->rows) {
    EXPECT_NE(std::get<std::string>(row[2]), "nothing says why")
        << std::get<std::string>(row[0]) << " has no check, and the suite does not say why";
  }
}

TEST(Selftest, SeesAWrongExpectedValueThatIsPlanted) {
  json suite = json::parse(built_in_suite());
  json one = json::array();
  for (json& question : suite["cases"]) {
    if (question["command"] == "evaluate" && !question.contains("refused") && one.empty()) {
      question["checks"][0]["expected"] = question["checks"][0]["expected"].get<double>() + 0.001;
      one.push_back(question);
    }
  }
  ASSERT_EQ(one.size(), 1U);
  suite["cases"] = one;
  const auto file = fresh_folder("assay_selftest_planted") / "suite.json";
  std::ofstream(file) << suite;
  const report::Document document = of_program({{"suite", {file.string()}}});
  const auto failed = std::ranges::count(document.gates, false, &report::Gate::passed);
  EXPECT_EQ(failed, 1) << failures(document);
  EXPECT_TRUE(document.headline.starts_with("1 of ")) << document.headline;
  EXPECT_NE(report::to_junit(document).find("failures=\"1\""), std::string::npos);
}

}  // namespace
}  // namespace assay::selftest
