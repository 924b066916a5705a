#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include <assay/error.h>
#include <assay/gate.h>
#include <assay/report.h>

namespace assay::report {
namespace {

Document awkward_document() {
  Document document;
  document.command = "cover";
  document.headline = "größe \"99\"\n";
  document.facts = {{"records", "records", std::int64_t{-7}, Column::Kind::count},
                    {"idc", "coverage", 1.0, Column::Kind::percent, 4},
                    {"nan", "not a number", std::nan(""), Column::Kind::number},
                    {"word", "word", std::string("NaN")},
                    {"flag", "flag", true}};
  document.tables = {
      {"b",
       "B",
       {{"name", "layer"}, {"x", "x", Column::Kind::number, 3}},
       {{std::string("fc1"), 0.1}, {std::monostate{}, -std::numeric_limits<double>::infinity()}}},
      {"a", "A", {}, {}}};
  const std::vector<Measurement> measurements = {{"kmnc", "all", "", "", "3", "7", 3.0 / 7}};
  document.gates = {evaluate(parse_gate("kmnc=0.4"), measurements),
                    evaluate(parse_gate("nc=0.4"), measurements)};
  document.pictures = {{"heat", "out/heat.png"}};
  document.notices = {"two records are not finite"};
  document.definitions = {{"IDC", "covered by all", "Gerasimou et al. 2020"}};
  document.provenance = {{"seed", std::int64_t{7}}, {"seconds", 0.25}, {"none", std::monostate{}}};
  return document;
}

TEST(ReadDocument, IsTheInverseOfToJson) {
  for (const Document& document : {awkward_document(), Document{}}) {
    const std::string text = to_json(document);
    EXPECT_EQ(to_json(read_document(text)), text);
  }
}

TEST(ReadDocument, KeepsWhatPeopleSee) {
  const Document document = read_document(to_json(awkward_document()));
  EXPECT_EQ(document.facts[1].title, "coverage");
  EXPECT_EQ(shown(document.facts[1].value, document.facts[1].kind, document.facts[1].decimals), "100.0000 %");
  EXPECT_TRUE(std::isnan(std::get<double>(document.facts[2].value)));
  EXPECT_EQ(std::get<std::string>(document.facts[3].value), "NaN");
  EXPECT_EQ(document.tables[0].id, "b");
  EXPECT_EQ(document.tables[0].columns[1].decimals, 3);
  EXPECT_TRUE(document.gates[0].passed);
  EXPECT_FALSE(document.gates[1].passed);
  EXPECT_EQ(document.gates[0].covered, "3");
}

void expect_refused(const std::string& text) {
  try {
    read_document(text, "base.json");
    ADD_FAILURE() << text.substr(0, 200);
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), Fault::data) << error.what();
    EXPECT_EQ(std::string(error.what()).rfind("base.json: ", 0), 0U);
  }
}

TEST(ReadDocument, RefusesEveryCutOff) {
  const std::string text = to_json(awkward_document());
  for (std::size_t length = 0; length + 2 < text.size(); ++length) expect_refused(text.substr(0, length));
}

TEST(ReadDocument, RefusesWhatIsNoDocument) {
  for (const char* text :
       {"", "null", "[]", "{}", "7", "{\"schema\": \"assay/result\"}", "{\"schema\": 7, \"version\": 1}"})
    expect_refused(text);
  expect_refused(std::string(1 << 20, '['));
  expect_refused("{\"schema\":" + std::string(100, '['));
}

std::string replaced(const std::string& from, const std::string& to) {
  std::string text = to_json(awkward_document());
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

TEST(ReadDocument, RefusesWhatDoesNotFitTheSchema) {
  expect_refused(replaced("\"version\": 1", "\"version\": 2"));
  expect_refused(replaced("\"headline\"", "\"headlyne\""));
  expect_refused(replaced("\"command\": \"cover\"", "\"command\": 7"));
  expect_refused(replaced("\"records\": -7", "\"records\": 18446744073709551615"));
  expect_refused(replaced("\"records\": -7", "\"records\": []"));
  expect_refused(replaced("\"records\": -7", "\"rekords\": -7"));
  expect_refused(replaced("\"kind\": \"count\"", "\"kind\": \"amount\""));
  expect_refused(replaced("\"decimals\": 4", "\"decimals\": 4000000"));
  expect_refused(replaced("\"x\": 0.1", "\"y\": 0.1"));
  expect_refused(replaced("\"passed\": true", "\"passed\": 1"));
  expect_refused(replaced("\"id\": \"x\"", "\"id\": \"name\""));
}

}  // namespace
}  // namespace assay::report
