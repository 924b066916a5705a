// What FROM, WHERE and GROUP BY choose, and the SELECT that is left.

#include "assay/workbench/query/plan.h"

#include <gmock/gmock.h>

#include "assay/workbench/query/names.h"
#include "assay/workbench/query/sql_text.h"
#include "tests/workbench/world.h"

namespace assay::workbench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class PlanTest : public testing::Test {
 protected:
  PlanTest() : database("", database_version) { fill(database); }

  Plan plan(const std::string& query) {
    const SqlText sql(query);
    return plan_inspect(database, sql, *first_inspect(sql), "test");
  }
  // `rest` behind "FROM models M, units U, hypotheses H, inputs D".
  Plan plan_where(const std::string& rest) { return plan(head + rest); }
  std::string error_where(const std::string& rest) {
    return message_of([&] { plan_where(rest); });
  }
  static std::vector<std::string> units(const Plan& plan, const PlannedGroup& group) {
    std::vector<std::string> names;
    for (const std::size_t i : group.units) names.push_back(plan.units[i].model + " " + plan.units[i].uid);
    return names;
  }

  Database database;
  const std::string head =
      "SELECT S.uid INSPECT U.uid AND H.h USING pearson OVER D.seq AS S FROM models M, units U, hypotheses "
      "H, inputs D ";
};

TEST_F(PlanTest, GroupsAreWhatGroupBySays) {
  const Plan plan = plan_where(
      "WHERE M.mid = U.mid AND M.epoch > 1 AND U.layer_index = 1 AND H.name = 'keywords' GROUP BY M.epoch");
  ASSERT_EQ(plan.groups.size(), 2U);
  EXPECT_EQ(plan.groups[0].label, Cell{std::int64_t{2}});
  EXPECT_THAT(units(plan, plan.groups[0]),
              ElementsAre("sqlparser2 dense:0", "sqlparser2 dense:1", "sqlparser2 dense:2"));
  EXPECT_THAT(units(plan, plan.groups[1]),
              ElementsAre("sqlparser3 dense:0", "sqlparser3 dense:1", "sqlparser3 dense:2"));
  EXPECT_THAT(plan.hypotheses, ElementsAre("keywords"));
  EXPECT_EQ(plan.data, "test");
  EXPECT_TRUE(plan.every_record);
}

TEST_F(PlanTest, WithoutGroupByAllUnitsAreOneGroup) {
  const Plan plan = plan_where("WHERE M.mid = U.mid AND U.layer = 'lstm'");
  ASSERT_EQ(plan.groups.size(), 1U);
  EXPECT_EQ(plan.groups[0].label, Cell{});
  EXPECT_EQ(plan.groups[0].units.size(), 12U);
  EXPECT_THAT(plan.groups[0].hypotheses, ElementsAre(0U, 1U, 2U));
  EXPECT_THAT(plan.groups[0].pairs, IsEmpty());
}

TEST_F(PlanTest, SeveralKeysAndKeysOfHypothesesMakeGroups) {
  const Plan plan = plan_where("WHERE M.mid = U.mid AND M.epoch = 1 GROUP BY U.layer, H.h");
  ASSERT_EQ(plan.groups.size(), 6U);
  EXPECT_EQ(plan.groups[0].label, Cell{std::string("'dense', 'inside WHERE'")});
  EXPECT_EQ(plan.groups[0].units.size(), 3U);
  EXPECT_EQ(plan.groups[0].hypotheses.size(), 1U);
}

TEST_F(PlanTest, ConditionsOnUnitsAndHypothesesTogetherChoosePairs) {
  const Plan plan =
      plan_where("WHERE M.mid = U.mid AND M.epoch = 1 AND (U.layer = 'dense' OR H.h = 'keywords')");
  ASSERT_EQ(plan.groups.size(), 1U);
  EXPECT_EQ(plan.groups[0].units.size(), 7U);
  EXPECT_EQ(plan.groups[0].pairs.size(), 3U * 3U + 4U);
}

TEST_F(PlanTest, APairIsInAGroupOnce) {
  const Plan plan = this->plan(
      "SELECT S.uid INSPECT U.uid AND H.h USING pearson, corr OVER D.seq AS S FROM models M, units U, units "
      "V, "
      "hypotheses H, hypotheses G, inputs D WHERE M.mid = U.mid AND V.mid = U.mid AND M.epoch = 1");
  ASSERT_EQ(plan.groups.size(), 1U);
  EXPECT_EQ(plan.groups[0].units.size(), 7U);
  EXPECT_EQ(plan.groups[0].hypotheses.size(), 3U);
  EXPECT_EQ(plan.measures.size(), 1U);
}

TEST_F(PlanTest, RecordsAreChosenByConditionsOnThem) {
  const Plan plan = plan_where("WHERE M.mid = U.mid AND D.label = 1");
  EXPECT_FALSE(plan.every_record);
  EXPECT_THAT(plan.records, ElementsAre(1U, 3U));
  EXPECT_THAT(error_where("WHERE M.mid = U.mid AND D.label = U.unit"),
              HasSubstr("this condition ties D to other relations"));
}

TEST_F(PlanTest, NothingChosenIsEmptyAndNoError) {
  EXPECT_TRUE(plan_where("WHERE M.mid = U.mid AND U.layer = 'conv'").empty());
  EXPECT_TRUE(plan_where("WHERE H.h = 'none'").empty());
  EXPECT_TRUE(plan_where("WHERE D.did > 99").empty());
  EXPECT_TRUE(plan_where("WHERE M.mid = 'none'").empty());
}

TEST_F(PlanTest, SubQueriesViewsAndDefinitionsCanHoldTheRelations) {
  database.run("CREATE VIEW best AS SELECT * FROM units WHERE unit < 2");
  EXPECT_EQ(
      plan("SELECT * INSPECT U.uid AND H.h USING pearson OVER D.seq AS S FROM best U, hypotheses H, inputs D")
          .units.size(),
      12U);
  EXPECT_EQ(
      plan(
          "WITH few AS (SELECT * FROM best WHERE unit = 0) SELECT * INSPECT U.uid AND H.h USING pearson OVER "
          "D.seq AS S FROM few U, (SELECT h, name AS n FROM hypotheses LIMIT 1) H, inputs D WHERE H.n IS NOT "
          "NULL")
          .units.size(),
      6U);
}

TEST_F(PlanTest, GatesAreUnitsOfTheirOwn) {
  const Plan plan = this->plan(
      "SELECT * INSPECT U.uid AND H.h USING pearson OVER D.seq AS S FROM gate_units U, hypotheses H, inputs "
      "D "
      "WHERE U.mid = 'sqlparser1' GROUP BY U.gate");
  ASSERT_EQ(plan.groups.size(), 2U);
  EXPECT_THAT(units(plan, plan.groups[0]).front(), "sqlparser1 lstm/forget:0");
}

TEST_F(PlanTest, FaultsAreNamedBeforeAnythingLongIsDone) {
  EXPECT_THAT(message_of([&] {
                plan(
                    "SELECT S.uid INSPECT U.uid AND H.h USING pearsn OVER D.seq AS S FROM units U, "
                    "hypotheses H, inputs D");
              }),
              HasSubstr("query, line 1, column 42: no measure is named 'pearsn'; did you mean 'pearson'?"));
  EXPECT_THAT(error_where("WHERE U.layr = 'x'"), HasSubstr("U has no column 'layr'; did you mean 'layer'?"));
  EXPECT_THAT(error_where("WHERE X.layer = 'x'"),
              HasSubstr("no relation of this query is called 'X'; there are S, M, U, H, D"));
  EXPECT_THAT(error_where("WHERE layer = 'x' AND mid = 'sqlparser1'"),
              HasSubstr("'mid' could be any of M.mid, U.mid, S.mid; say which"));
  EXPECT_THAT(error_where("HAVING S.unit_scor > 1"),
              HasSubstr("S has no column 'unit_scor'; did you mean 'unit_score'?"));
  EXPECT_THAT(error_where("GROUP BY 1"), HasSubstr("write the column itself"));
  EXPECT_THAT(error_where("GROUP BY S.hid"), HasSubstr("GROUP BY says which units are inspected together"));
  EXPECT_THAT(error_where("GROUP BY D.label"), HasSubstr("D cannot be grouped by"));
  EXPECT_THAT(error_where("HAVING D.label = 1"), HasSubstr("D can be used in OVER and in WHERE only"));
  EXPECT_THAT(error_where("WHERE nonsense(U.uid) = 1"), HasSubstr("no such function: nonsense"));
  EXPECT_THAT(message_of([&] {
                plan(
                    "SELECT 1 INSPECT U.uid AND H.h USING pearson OVER D.seq AS S FROM unitz U, hypotheses "
                    "H, inputs D");
              }),
              HasSubstr("column 67: no such table: unitz; did you mean 'units'?"));
  EXPECT_THAT(message_of([&] {
                plan(
                    "SELECT 1 INSPECT 1 + 1 AND H.h USING pearson OVER D.seq AS S FROM units U, hypotheses "
                    "H, inputs D");
              }),
              HasSubstr("column 18: expected the units, such as U.uid, found '1'"));
}

// Scores as INSPECT would leave them: for each unit of the models, of hypothesis `keywords`.
class FinalSelectTest : public PlanTest {
 protected:
  FinalSelectTest() {
    std::string columns;
    for (const std::string& name : score_columns()) columns += (columns.empty() ? "" : ", ") + name;
    database.run("CREATE TEMP TABLE made(" + columns + ")");
    database.run(
        "INSERT INTO made(mid, uid, hid, measure, unit_score, layer, layer_index, unit_group) SELECT u.mid, "
        "uid, "
        "'keywords', 'corr', unit / 4.0, layer, layer_index, epoch FROM units u JOIN models m ON m.mid = "
        "u.mid");
  }
  std::vector<std::string> rows(const std::string& query) {
    SqlText sql(query);
    replace_inspect(database, sql, *first_inspect(sql), "temp.made");
    const Database::UserRules rules(database);
    Statement statement(database, sql.text());
    std::vector<std::string> all;
    while (statement.step()) {
      std::string row;
      for (int i = 0; i < statement.columns(); ++i) row += (i > 0 ? "|" : "") + statement.text(i);
      all.push_back(row);
    }
    return all;
  }
};

TEST_F(FinalSelectTest, HavingKeepsRowsOfTheScores) {
  EXPECT_THAT(rows("SELECT M.epoch, S.uid INSPECT U.uid AND H.h USING corr OVER D.seq AS S FROM models M, "
                   "units U, hypotheses H, "
                   "inputs D WHERE M.mid = U.mid AND U.layer_index = 0 AND H.name = 'keywords' GROUP BY "
                   "M.epoch HAVING "
                   "S.unit_score > 0.7"),
              ElementsAre("1|lstm:3", "2|lstm:3", "3|lstm:3"));
}

TEST_F(FinalSelectTest, AggregatesAreOverTheGroups) {
  EXPECT_THAT(
      rows("SELECT M.epoch, count(*), max(S.unit_score) INSPECT U.uid AND H.h USING corr OVER D.seq AS S "
           "FROM models M, "
           "units U, hypotheses H, inputs D WHERE M.mid = U.mid GROUP BY M.epoch HAVING S.unit_score > 0 AND "
           "M.epoch < 3 AND count(*) > 1 ORDER BY M.epoch DESC LIMIT 5"),
      ElementsAre("2|5|0.75", "1|5|0.75"));
}

TEST_F(FinalSelectTest, ColumnsWithoutARelationAreThoseOfFrom) {
  EXPECT_THAT(
      rows("SELECT uid, unit_score AS score INSPECT uid AND h USING corr OVER seq AS S FROM units, "
           "hypotheses, inputs "
           "WHERE layer = 'dense' AND units.mid = 'sqlparser1' ORDER BY score DESC LIMIT 2 -- the two best"),
      ElementsAre("dense:2|0.5", "dense:1|0.25"));
}

TEST_F(FinalSelectTest, RelationsThatAreOnlyConditionsDoNotMultiplyRows) {
  EXPECT_THAT(rows("SELECT S.uid INSPECT U.uid AND H.h USING corr OVER D.seq AS S FROM models M, units U, "
                   "units V, hypotheses H, "
                   "inputs D WHERE M.mid = U.mid AND V.mid = U.mid AND V.unit > U.unit AND V.layer = 'dense' "
                   "AND M.epoch = 1 "
                   "AND U.layer = 'dense'"),
              ElementsAre("dense:0", "dense:1"));
}

TEST_F(FinalSelectTest, JoinsOnScoresFindOtherRelations) {
  database.run(
      "CREATE TABLE importance(uid, relevance); INSERT INTO importance VALUES ('dense:1', 7), ('lstm:2', 9)");
  const std::string query =
      "SELECT S.uid, I.relevance INSPECT U.uid AND H.h USING corr OVER D.seq AS S FROM models M, units U, "
      "hypotheses H, inputs D "
      "JOIN importance I ON I.uid = S.uid WHERE M.mid = 'sqlparser1' AND U.mid = M.mid ORDER BY I.relevance "
      "DESC";
  EXPECT_THAT(rows(query), ElementsAre("lstm:2|9", "dense:1|7"));
  std::string left = query;
  left.replace(left.find("JOIN"), 4, "LEFT JOIN");
  EXPECT_EQ(rows(left).size(), 7U);
}

TEST_F(FinalSelectTest, StandsWhereAnySelectCan) {
  const std::string one =
      "SELECT S.uid INSPECT U.uid AND H.h USING corr OVER D.seq AS S FROM units U, hypotheses H, inputs D "
      "WHERE U.mid = 'sqlparser1' AND U.unit = ";
  EXPECT_THAT(rows("SELECT count(*) FROM (" + one + "0)"), ElementsAre("2"));
  EXPECT_THAT(rows(one + "3 UNION SELECT 'x' ORDER BY 1"), ElementsAre("lstm:3", "x"));
  EXPECT_THAT(rows("SELECT 'x' UNION ALL " + one + "3"), ElementsAre("x", "lstm:3"));
  EXPECT_THAT(
      rows("SELECT * FROM layers WHERE layer || ':3' IN (" + one + "3) AND mid = 'sqlparser2'").size(), 1U);
  EXPECT_THAT(rows("SELECT DISTINCT S.hid, S.measure INSPECT U.uid AND H.h USING corr OVER D.seq AS S FROM "
                   "units U, hypotheses H, inputs D"),
              ElementsAre("keywords|corr"));
}

TEST_F(FinalSelectTest, AStarIsEverythingButTheRecords) {
  const auto all = rows(
      "SELECT * INSPECT U.uid AND H.h USING corr OVER D.seq AS S FROM units U, hypotheses H, inputs D WHERE "
      "U.mid = 'sqlparser1'");
  ASSERT_EQ(all.size(), 7U);
  EXPECT_EQ(std::count(all[0].begin(), all[0].end(), '|') + 1,
            8 + 6 + static_cast<int>(score_columns().size()));
}

}  // namespace
}  // namespace assay::workbench
