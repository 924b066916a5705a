#include <assay/report.h>

#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>

#include "assay/report/percent.h"

namespace assay::report {
namespace {

Document sample() {
  Document document;
  document.command = "cover";
  document.headline = "IDC 99.99 %";
  document.facts = {{"records", "records", std::int64_t{1234567}, Column::Kind::count},
                    {"idc", "coverage", 0.99999, Column::Kind::percent}};
  document.tables = {{"layers",
                      "Layers",
                      {{"name", "layer"}, {"neurons", "neurons", Column::Kind::count}},
                      {{std::string("fc1"), std::int64_t{84}}, {std::string("größe"), std::monostate{}}}}};
  document.notices = {"two records are not finite"};
  document.definitions = {{"IDC", "covered combinations by all combinations", "Gerasimou et al. 2020"}};
  document.provenance = {{"seed", std::int64_t{7}}};
  return document;
}

std::string printed(const Document& document, ConsoleStyle style = {}) {
  std::ostringstream out;
  print(document, out, style);
  return out.str();
}

TEST(Json, HoldsEverythingUnderStableKeys) {
  const auto json = nlohmann::json::parse(to_json(sample()));
  EXPECT_EQ(json["schema"], "assay/result");
  EXPECT_EQ(json["version"], document_schema_version);
  EXPECT_EQ(json["facts"]["records"], 1234567);
  EXPECT_EQ(json["tables"]["layers"]["rows"][0]["neurons"], 84);
  EXPECT_TRUE(json["tables"]["layers"]["rows"][1]["neurons"].is_null());
  EXPECT_EQ(json["provenance"]["seed"], 7);
  EXPECT_EQ(json["definitions"][0]["source"], "Gerasimou et al. 2020");
}

TEST(Json, WritesNonFiniteNumbersAndBrokenTextWithoutFailing) {
  Document document = sample();
  document.facts = {{"a", "a", std::numeric_limits<double>::quiet_NaN()},
                    {"b", "b", -std::numeric_limits<double>::infinity()},
                    {"c", "c", std::string("\xff\xfe")}};
  const auto json = nlohmann::json::parse(to_json(document));
  EXPECT_EQ(json["facts"]["a"], "NaN");
  EXPECT_EQ(json["facts"]["b"], "-Infinity");
}

TEST(Console, NeverRoundsACoverageUpToAHundredPercent) {
  const std::string text = printed(sample());
  EXPECT_NE(text.find("99.99 %"), std::string::npos);
  EXPECT_EQ(text.find("100"), std::string::npos);
}

TEST(Console, RoundsUpperBoundsUp) {
  const std::vector<std::pair<double, std::string>> bounds{
      {0.03012, "3.02 %"},   {0.0301, "3.01 %"}, {0, "0.00 %"},       {1e-9, "0.01 %"},
      {0.99991, "100.00 %"}, {1, "100.00 %"},    {1.0 / 3, "33.34 %"}};
  for (const auto& [bound, text] : bounds) {
    EXPECT_EQ(percent_at_most(bound), text);
    EXPECT_EQ(shown(Column{"upper", "failures at most", Column::Kind::percent}, bound), text);
    EXPECT_EQ(shown(Column{"high", "to", Column::Kind::percent}, bound), text);
    EXPECT_EQ(shown(Fact{"upper", "failures at most", bound, Column::Kind::percent}), text);
    EXPECT_EQ(shown(Column{"share", "failures", Column::Kind::percent}, bound), percent(bound));
  }
  for (int thousandths = 0; thousandths <= 10'000; ++thousandths)  // what has two digits stays as it is
    EXPECT_EQ(percent_at_most(thousandths / 1e4), percent(thousandths / 1e4));
  EXPECT_EQ(percent_at_most(std::numeric_limits<double>::quiet_NaN()), "nan");
}

TEST(Console, ShowsExactPercentagesExactly) {
  Document document;
  for (const double fraction : {1.0, 0.29, 0.57, 0.07}) {
    document.facts.push_back({"x", "x", fraction, Column::Kind::percent});
  }
  const std::string text = printed(document);
  for (const char* shown : {"100.00 %", "29.00 %", "57.00 %", "7.00 %"})
    EXPECT_NE(text.find(shown), std::string::npos);
}

TEST(Console, AlignsColumnsByCodePointsAndGroupsCounts) {
  const std::string text = printed(sample());
  EXPECT_NE(text.find("  layer  neurons\n  -----  -------\n  fc1         84\n  größe        -\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("1,234,567"), std::string::npos);
}

TEST(Console, PlainOutputHasNoEscapes) {
  EXPECT_EQ(printed(sample()).find('\033'), std::string::npos);
  EXPECT_NE(printed(sample(), {.colour = true}).find('\033'), std::string::npos);
}

}  // namespace
}  // namespace assay::report
