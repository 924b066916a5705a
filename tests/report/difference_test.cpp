#include "assay/report/difference.h"

#include <gtest/gtest.h>

#include <assay/error.h>
#include <assay/gate.h>

namespace assay::report {
namespace {

Measurement figure(const std::string& name, double value, bool more = true) {
  Measurement m;
  m.criterion = name, m.value = value, m.higher_is_better = more;
  return m;
}

Document run_with(const std::vector<Measurement>& figures, const std::string& accuracy) {
  Document document;
  document.command = "cover";
  document.headline = "of " + accuracy;
  document.facts = {{"accuracy", "accuracy", accuracy}, {"records", "records", std::string("60")}};
  document.tables = {criteria_table(figures)};
  document.provenance = {{"model", std::string("net")}, {"data_hash", accuracy}};
  return document;
}

TEST(Difference, HasFiguresFactsGatesAndProvenanceThatDiffer) {
  Document first = run_with({figure("nc", 0.5), figure("loss", 0.25, false), figure("gone", 1)}, "90 %"),
           second = run_with({figure("nc", 0.75), figure("loss", 0.5, false), figure("new", 1)}, "91 %");
  Gate gate;
  gate.text = "nc=0.6";
  first.gates = {gate};
  gate.passed = true;
  second.gates = {gate};
  second.warnings = {{"same-data", Message("x"), Message("")}};
  const Document found = difference_of(first, second);
  EXPECT_EQ(found.headline,
            "cover: of 4 figures 1 better, 1 worse, 0 the same in the second; most lost: loss, 0.5 "
            "after 0.25");
  std::map<std::string, std::string> outcomes;
  for (const auto& row : found.tables.at(0).rows)
    outcomes[std::get<std::string>(row[0])] = std::get<std::string>(row[7]);
  EXPECT_EQ(outcomes,
            (std::map<std::string, std::string>{
                {"nc", "better"}, {"loss", "worse"}, {"gone", "only first"}, {"new", "only second"}}));
  const std::vector<std::string> ids{"figures", "differing_facts", "differing_gates", "differing_warnings",
                                     "differing_provenance"};
  ASSERT_EQ(found.tables.size(), ids.size());
  for (std::size_t i = 0; i < ids.size(); ++i) EXPECT_EQ(found.tables[i].id, ids[i]);
  for (std::size_t i = 1; i < ids.size(); ++i) EXPECT_EQ(found.tables[i].rows.size(), 1U) << ids[i];
  EXPECT_EQ(found.tables[1].rows[0],
            (std::vector<Cell>{std::string("accuracy"), std::string("90 %"), std::string("91 %")}));
  EXPECT_EQ(std::get<std::string>(found.tables[3].rows[0][1]), "");
  EXPECT_EQ(std::get<std::string>(found.tables[4].rows[0][0]), "data hash");
}

TEST(Difference, RanksLossesByTheSizeOfTheFigure) {
  const std::vector<Measurement> first{figure("mse", 5000, false), figure("accuracy", 0.9)},
      second{figure("mse", 5100, false), figure("accuracy", 0.45)};
  EXPECT_NE(difference_of(run_with(first, "a"), run_with(second, "b"))
                .headline.find("most lost: accuracy, 0.45 after 0.9"),
            std::string::npos);
}

TEST(Difference, OfOneResultWithItselfIsNothing) {
  const Document one = run_with({}, "90 %");
  const Document found = difference_of(one, one);
  EXPECT_TRUE(found.tables.empty());
  EXPECT_EQ(found.notices.size(), 1U);
}

TEST(Difference, IsOfOneCommand) {
  Document first = run_with({}, "a"), second = first;
  second.command = "mutate";
  EXPECT_THROW(difference_of(first, second), Error);
}

}  // namespace
}  // namespace assay::report
