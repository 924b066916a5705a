// What texts ask for, filled from packs, and the argument that is drawn of it.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include <assay/gate.h>
#include "apps/assay/program.h"
#include "assay/evidence/argument.h"
#include "assay/evidence/requirements.h"
#include "assay/evidence/step_commands.h"
#include "assay/evidence/templates/filling.h"

namespace assay::evidence {
namespace {

using State = FilledItem::State;
using testing::ElementsAre;
using testing::HasSubstr;

StepResult step_result(const std::string& name, const std::string& command, const std::string& criterion,
                       int covered) {
  report::Measurement m;
  m.criterion = criterion;
  m.covered = std::to_string(covered);
  m.coverable = "10";
  m.value = covered / 10.0;
  StepResult result;
  result.step.name = name;
  result.step.command = command;
  result.file = "results/" + name + ".json";
  result.document.command = command;
  result.document.tables = {report::criteria_table(std::span(&m, 1))};
  return result;
}

PackContents contents_with(std::vector<StepResult> results, std::vector<Requirement> requirements = {}) {
  PackContents contents;
  contents.study.title = "Digits <b>";
  contents.study.requirements = std::move(requirements);
  contents.study.document_id = "D-1";
  contents.results = std::move(results);
  return contents;
}

FilledItem filled(const Source& source, const PackContents& contents) {
  return fill({"t", "T", "", {{"1", "x", source, ""}}}, contents,
              outcomes_of(contents.study, contents.results))
      .at(0);
}

TEST(Templates, AreThere) {
  for (const char* name :
       {"eu-ai-act", "iso-pas-8800", "iso-26262-tool", "easa", "aspice-mle4", "fda", "amlas"})
    EXPECT_TRUE(templates().contains(name)) << name;
}

class EveryTemplate : public testing::TestWithParam<std::string> {};

TEST_P(EveryTemplate, AsksForWhatThereIs) {
  app::declare_step_commands();
  const Template& one = templates().find(GetParam());
  const std::vector<std::string> parts = pack_parts();
  ASSERT_FALSE(one.items.empty());
  EXPECT_FALSE(one.title.empty());
  EXPECT_FALSE(one.scope.empty());
  std::set<std::pair<std::string, std::string>> seen;
  for (const Item& item : one.items) {
    EXPECT_TRUE(seen.emplace(item.clause, item.asks).second) << item.clause << " " << item.asks;
    for (const std::string& part : item.source.parts) EXPECT_THAT(parts, testing::Contains(part));
    for (const std::string& command : item.source.steps)
      EXPECT_TRUE(step_commands().contains(command) || command == "selftest") << command;
  }
}

TEST_P(EveryTemplate, HasARowForEachItem) {
  const Template& one = templates().find(GetParam());
  const PackContents contents = contents_with({step_result("test", "evaluate", "accuracy", 9)});
  const std::string text = template_text(one, contents, {}).markdown();
  EXPECT_EQ(static_cast<std::size_t>(std::ranges::count(text, '\n')),
            one.items.size() + 2 /* of the table */ + 7 /* heading and paragraphs */)
      << text;
  EXPECT_THAT(text, HasSubstr("not evidenced"));
}

std::vector<std::string> all_templates() { return templates().names(); }
INSTANTIATE_TEST_SUITE_P(All, EveryTemplate, testing::ValuesIn(all_templates()), [](const auto& info) {
  std::string name = info.param;
  std::ranges::replace(name, '-', '_');
  return name;
});

TEST(Filling, TakesStepsTablesAndFigures) {
  const PackContents contents =
      contents_with({step_result("night", "evaluate", "accuracy", 9)}, {{"REQ-1", "", {"accuracy=0.8"}, ""}});
  const FilledItem step = filled({.steps = {"attack", "evaluate"}}, contents);
  EXPECT_EQ(step.state, State::evidenced);
  EXPECT_THAT(step.evidence, ElementsAre("step night: results/night.json",
                                         "REQ-1 (accuracy=0.8) holds: results/night.json"));
  EXPECT_EQ(filled({.tables = {"criteria"}}, contents).state, State::evidenced);
  EXPECT_EQ(filled({.figures = {"accuracy"}}, contents).state, State::evidenced);
  const FilledItem none = filled({.steps = {"attack"}, .figures = {"certified", "area"}}, contents);
  EXPECT_EQ(none.state, State::open);
  EXPECT_EQ(none.lacking, "needs a step attack, or a gate on certified or area");
  EXPECT_EQ(filled({}, contents).lacking, "no pack shows it");
}

TEST(Filling, NeedsAllParts) {
  PackContents contents = contents_with({step_result("night", "evaluate", "accuracy", 9)});
  const Source source{.steps = {"evaluate"}, .parts = {"approvals", "signature"}};
  EXPECT_EQ(filled(source, contents).lacking, "needs approvals; signature");
  contents.study.approvals = {{"Ada", "tester", "2026-11-29", "approved", ""}};
  EXPECT_EQ(filled(source, contents).lacking, "needs signature");
  contents.is_signed = true;
  EXPECT_EQ(filled(source, contents).state, State::evidenced);
  contents.results.clear();
  EXPECT_EQ(filled(source, contents).lacking, "needs a step evaluate");
}

TEST(Filling, SaysWhatSpeaksAgainst) {
  PackContents contents =
      contents_with({step_result("night", "evaluate", "accuracy", 7)}, {{"REQ-1", "", {"accuracy=0.8"}, ""}});
  const FilledItem item = filled({.steps = {"evaluate"}}, contents);
  EXPECT_EQ(item.state, State::contradicted);
  EXPECT_THAT(item.evidence[1], HasSubstr("does NOT hold"));
  contents.study.requirements.clear();
  EXPECT_EQ(filled({.steps = {"evaluate"}}, contents).state, State::evidenced);
  contents.results[0].document.gates = {report::parse_gate("accuracy=1")};
  EXPECT_EQ(filled({.steps = {"evaluate"}}, contents).state, State::contradicted);
  // What nobody measured neither evidences nor contradicts.
  contents.study.requirements = {{"REQ-2", "", {"mutation=0.5"}, ""}};
  EXPECT_EQ(filled({.figures = {"mutation"}}, contents).state, State::open);
}

TEST(Arguments, AreWholeTreesWithTheWorstStateAbove) {
  const PackContents contents = contents_with({step_result("night", "evaluate", "accuracy", 7)},
                                              {{"REQ-1", "Most are right.", {"accuracy=0.8"}, ""}});
  const Argument argument = argument_of(contents, outcomes_of(contents.study, contents.results));
  EXPECT_EQ(argument.nodes.front().id, "G1");
  EXPECT_EQ(argument.nodes.front().state, State::contradicted);
  std::set<std::string> ids{"G1"}, supported;
  for (const ArgumentNode& node : argument.nodes) {
    if (&node == &argument.nodes.front()) continue;
    EXPECT_TRUE(ids.insert(node.id).second) << node.id;
  }
  for (const ArgumentLink& link : argument.links) {
    EXPECT_TRUE(ids.contains(link.from));
    EXPECT_TRUE(supported.insert(link.to).second) << link.to << " stands below two";
  }
  EXPECT_EQ(supported.size(), argument.nodes.size() - 1);
  const auto json = nlohmann::json::parse(to_json(argument));
  EXPECT_EQ(json["nodes"].size(), argument.nodes.size());
  EXPECT_EQ(json["links"].size(), argument.links.size());
  const auto requirement = std::ranges::find_if(
      json["nodes"], [](const auto& node) { return node["text"] == "REQ-1 Most are right."; });
  ASSERT_NE(requirement, json["nodes"].end());
  EXPECT_EQ((*requirement)["state"], "CONTRADICTED");
  EXPECT_TRUE(std::ranges::any_of(
      json["nodes"], [](const auto& node) { return node["kind"] == "goal" && node["undeveloped"] == true; }));
}

TEST(Arguments, AreDrawnAsTheyAre) {
  PackContents contents =
      contents_with({step_result("night", "evaluate", "accuracy", 9)},
                    {{"REQ-1", std::string(500, 'x') + " <&\"> end", {"accuracy=0.8"}, ""}});
  contents.inputs = {{"network", "net.onnx", std::string(64, 'a'), 1}};
  const Argument argument = argument_of(contents, outcomes_of(contents.study, contents.results));
  const std::string svg = to_svg(argument);
  EXPECT_EQ(svg, to_svg(argument));
  EXPECT_THAT(svg, testing::StartsWith("<svg xmlns=\"http://www.w3.org/2000/svg\""));
  EXPECT_THAT(svg, testing::EndsWith("</svg>\n"));
  EXPECT_THAT(svg, HasSubstr("<title>Digits &lt;b&gt;</title>"));
  for (const ArgumentNode& node : argument.nodes)
    EXPECT_THAT(svg, HasSubstr(">" + node.id + ": ")) << node.id;
  // Undeveloped goals say so.
  std::size_t open = 0, told = 0;
  for (const ArgumentNode& node : argument.nodes)
    open += node.kind == ArgumentNode::Kind::goal && node.state == State::open ? 1 : 0;
  for (std::size_t at = svg.find("undeveloped"); at != std::string::npos;
       at = svg.find("undeveloped", at + 1))
    ++told;
  EXPECT_EQ(told, open);
  EXPECT_GT(open, 0U);
}

}  // namespace
}  // namespace assay::evidence
