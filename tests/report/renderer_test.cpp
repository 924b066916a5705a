#include <assay/report.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include <assay/gate.h>
#include "assay/report/escape.h"
#include "assay/support/text/characters.h"

namespace assay::report {
namespace {

using testing::HasSubstr;
using testing::Not;

std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t n = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + part.size())) ++n;
  return n;
}

Document gated_document(bool gated = true) {
  const std::vector<Measurement> measurements = {{"kmnc", "a\"<&>'\x01\xff,|@b", "", "", "6", "10", 0.6},
                                                 {"kmnc", "all", "", "", "6", "10", 0.6}};
  Document document;
  document.command = "cover";
  document.headline = "KMNC 60 %";
  document.tables = {criteria_table(measurements)};
  document.definitions = {{"KMNC", "sections covered", "Ma et al. 2018"}};
  document.provenance = {{"finished", std::string("2026-01-02T03:04:05Z")}, {"seconds", 1.5}};
  if (gated) {
    for (const char* text : {"kmnc=0.6", "kmnc[layer=*]=0.7", "nc=0.1"})
      document.gates.push_back(evaluate(parse_gate(text), measurements));
  }
  return document;
}

TEST(Escape, Xml) {
  EXPECT_EQ(xml_escaped("a<b>&\"'\n"), "a&lt;b&gt;&amp;&quot;&apos;&#10;");
  EXPECT_EQ(xml_escaped(std::string("\0\x1b", 2)), "\\x00\\x1b");
  EXPECT_EQ(xml_escaped("größe \xF0\x9F\x98\x80"), "größe \xF0\x9F\x98\x80");
}

TEST(Escape, InvalidUtf8BecomesReplacement) {
  for (const char* bytes :
       {"\xff", "\xC0\x80", "\xE0\x80\x80", "\xED\xA0\x80", "\xF4\x90\x80\x80", "\xE2\x82", "\xC3"}) {
    const std::string text = xml_escaped(bytes);
    EXPECT_EQ(text.size(), 3 * std::string(bytes).size());
    EXPECT_TRUE(character_codes(text)) << "not UTF-8";
  }
}

TEST(Junit, HasACasePerGate) {
  const std::string text = to_junit(gated_document());
  EXPECT_THAT(text, HasSubstr("tests=\"3\" failures=\"2\" errors=\"0\" time=\"1.500\""));
  EXPECT_THAT(text, HasSubstr("timestamp=\"2026-01-02T03:04:05\""));
  EXPECT_EQ(count_of(text, "<testcase "), 3U);
  EXPECT_EQ(count_of(text, "<failure "), 2U);
  EXPECT_THAT(text, HasSubstr("name=\"kmnc=0.6\" time=\"0\"/>"));
  EXPECT_THAT(text, Not(HasSubstr("\x01")));
}

TEST(Junit, HasACasePerMeasurementWithoutGates) {
  const std::string text = to_junit(gated_document(false));
  EXPECT_THAT(text, HasSubstr("tests=\"2\" failures=\"0\""));
  EXPECT_EQ(count_of(text, "<testcase "), 2U);
  EXPECT_THAT(text, HasSubstr("a&quot;&lt;&amp;&gt;&apos;\\x01\xEF\xBF\xBD,|@b"));
}

TEST(Sarif, HasAnErrorPerFailedGateAndItsRule) {
  const auto json = nlohmann::json::parse(to_sarif(gated_document()));
  EXPECT_EQ(json["version"], "2.1.0");
  const auto& run = json["runs"][0];
  ASSERT_EQ(run["results"].size(), 2U);
  for (const auto& result : run["results"]) {
    EXPECT_EQ(result["level"], "error");
    EXPECT_EQ(run["tool"]["driver"]["rules"][result["ruleIndex"].get<std::size_t>()]["id"], result["ruleId"]);
    EXPECT_EQ(result["locations"][0]["logicalLocations"].size(), 1U);
  }
  EXPECT_EQ(run["tool"]["driver"]["rules"].size(), 2U);
  EXPECT_THAT(run["tool"]["driver"]["rules"][0]["fullDescription"]["text"].get<std::string>(),
              HasSubstr("Ma et al."));
}

TEST(Markdown, EscapesAndFolds) {
  const std::string text = to_markdown(gated_document());
  EXPECT_THAT(text, HasSubstr("**gates: 1 of 3 passed**"));
  EXPECT_EQ(count_of(text, "**FAILED**"), 2U);
  EXPECT_THAT(text, HasSubstr("<details><summary>Criteria (2)</summary>"));
  EXPECT_THAT(text, HasSubstr("&lt;&amp;&gt;"));
  EXPECT_THAT(text, HasSubstr("\\|@\xE2\x80\x8B"));
  EXPECT_THAT(text, HasSubstr("kmnc\\[layer=\\*\\]=0.7"));
}

TEST(Markdown, CutsLongTables) {
  Document document;
  document.tables = {{"t", "T", {{"x", "x"}}, std::vector<std::vector<Cell>>(60, {std::string("row")})}};
  EXPECT_THAT(to_markdown(document), HasSubstr("... and 10 more"));
}

TEST(Csv, QuotesAsRfc4180Says) {
  const Table table{
      "t",
      "T",
      {{"a", "a"}, {"b,c", "b"}},
      {{std::string("x\"y\n"), 0.1}, {std::monostate{}, std::int64_t{-7}}, {true, std::string()}}};
  EXPECT_EQ(to_csv(table), "a,\"b,c\"\r\n\"x\"\"y\n\",0.1\r\n,-7\r\ntrue,\r\n");
}

TEST(Csv, HasOneTableAFile) {
  Document document;
  document.tables = {{"t", "T", {{"z", "z"}}, {{0.5}}}, {"u", "U", {{"z", "z"}}, {}}};
  document.facts = {{"chosen", "chosen", std::int64_t{3}}};
  document.warnings = {{"scale", "other inputs", "a, b"}};
  using Files = std::vector<std::pair<std::string, std::string>>;
  EXPECT_EQ(to_csv_files(document),
            (Files{{"t.csv", "z\r\n0.5\r\n"},
                   {"u.csv", "z\r\n"},
                   {"facts.csv", "fact,value\r\nchosen,3\r\n"},
                   {"warnings.csv", "id,text,cause\r\nscale,other inputs,\"a, b\"\r\n"}}));
}

TEST(Renderers, OfOneTableSayWhetherADocumentHasIt) {
  const Renderer& elements = renderers().find("elements");
  Document document;
  EXPECT_FALSE(elements.tells_of(document));
  EXPECT_TRUE(renderers().find("junit").tells_of(document));
  document.tables = {{"mutants", "Mutants", {}, {}}};
  EXPECT_TRUE(elements.tells_of(document));
}

TEST(Renderers, AllRenderAnything) {
  ASSERT_FALSE(renderers().empty());
  for (const Renderer& renderer : renderers()) {
    for (const Document& document : {gated_document(), gated_document(false), Document{}}) {
      EXPECT_NE(renderer.render == nullptr, renderer.render_files == nullptr) << renderer.name;
      if (renderer.render_files) {
        EXPECT_EQ(renderer.render_files(document).empty(), document.tables.empty() && document.facts.empty());
        continue;
      }
      const std::string text = renderer.render(document);
      EXPECT_FALSE(text.empty()) << renderer.name;
      EXPECT_TRUE(character_codes(text)) << renderer.name << ": not UTF-8";
    }
  }
}

}  // namespace
}  // namespace assay::report
