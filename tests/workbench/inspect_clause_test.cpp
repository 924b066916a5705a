// Finding INSPECT in SQL text, and its parts.

#include "assay/workbench/query/inspect_clause.h"

#include <gmock/gmock.h>

#include "tests/workbench/world.h"

namespace assay::workbench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const std::string a5 = R"(SELECT M.epoch, S.uid
INSPECT U.uid AND H.h USING corr OVER D.seq AS S
FROM   models M, units U, hypotheses H, inputs D
WHERE  M.mid = U.mid AND M.mid = 'sqlparser' AND U.layer = 0 AND H.name = 'keywords'
GROUP BY M.epoch
HAVING S.unit_score > 0.8)";

std::vector<std::string> texts(const SqlText& sql, const std::vector<TokenRange>& ranges) {
  std::vector<std::string> all;
  for (const TokenRange& range : ranges) all.push_back(sql.text_of(range));
  return all;
}

std::string error_of(const std::string& query) {
  return message_of([&] { first_inspect(SqlText(query)); });
}

TEST(InspectClause, HasThePartsOfThePublishedQuery) {
  const SqlText sql(a5);
  const auto select = first_inspect(sql);
  ASSERT_TRUE(select);
  EXPECT_EQ(sql.text_of(select->columns), "M.epoch, S.uid");
  EXPECT_EQ(sql.text_of(select->unit), "U.uid");
  EXPECT_EQ(sql.text_of(select->hypothesis), "H.h");
  ASSERT_EQ(select->measures.size(), 1U);
  EXPECT_EQ(select->measures[0].text, "corr");
  EXPECT_EQ(sql.text_of(select->sequence), "D.seq");
  EXPECT_EQ(select->alias, "S");
  ASSERT_EQ(select->from.size(), 4U);
  EXPECT_EQ(select->from[2].alias, "H");
  EXPECT_THAT(texts(sql, select->conditions),
              ElementsAre("M.mid = U.mid", "M.mid = 'sqlparser'", "U.layer = 0", "H.name = 'keywords'"));
  EXPECT_THAT(texts(sql, select->groups), ElementsAre("M.epoch"));
  EXPECT_THAT(texts(sql, select->having), ElementsAre("S.unit_score > 0.8"));
}

TEST(InspectClause, MeasuresHaveOptionsInBracketsAndStandInAList) {
  const auto select = first_inspect(SqlText(
      "SELECT 1 INSPECT U.uid AND H.h USING pearson, logistic_l1[score=accuracy], 'x[a=b,c=d]' OVER D.seq "
      "AS S FROM units U, hypotheses H, inputs D"));
  ASSERT_TRUE(select);
  std::vector<std::string> names;
  for (const MeasureText& measure : select->measures) names.push_back(measure.text);
  EXPECT_THAT(names, ElementsAre("pearson", "logistic_l1[score=accuracy]", "x[a=b,c=d]"));
}

TEST(InspectClause, ConditionsEndAtTheirOwnAnd) {
  const SqlText sql("a BETWEEN 1 AND 2 AND CASE WHEN b AND c THEN 1 END AND (d AND e) AND f");
  EXPECT_THAT(texts(sql, conjuncts(sql, {0, sql.tokens().size() - 1})),
              ElementsAre("a BETWEEN 1 AND 2", "CASE WHEN b AND c THEN 1 END", "(d AND e)", "f"));
  const SqlText either("a AND b OR c");
  EXPECT_THAT(texts(either, conjuncts(either, {0, 5})), ElementsAre("a AND b OR c"));
}

TEST(InspectClause, InnerJoinsAreConditionsAndLeftJoinsStay) {
  const SqlText sql(
      "SELECT * INSPECT U.uid AND H.h USING pearson OVER D.seq AS S FROM models M JOIN units AS U ON M.mid = "
      "U.mid "
      "AND U.layer = 'x' LEFT OUTER JOIN layers L ON L.mid = M.mid CROSS JOIN hypotheses H, inputs D");
  const auto select = first_inspect(sql);
  ASSERT_TRUE(select);
  EXPECT_THAT(texts(sql, select->conditions), ElementsAre("M.mid = U.mid", "U.layer = 'x'"));
  ASSERT_EQ(select->from.size(), 5U);
  EXPECT_TRUE(select->from[2].optional);
  EXPECT_EQ(sql.text_of(select->from[2].on), "L.mid = M.mid");
}

TEST(InspectClause, IsNotTakenFromStringsCommentsAndNames) {
  for (const std::string query :
       {"SELECT 'a INSPECT b AND c'", "SELECT 1 -- INSPECT x\n", "SELECT /* a INSPECT b */ 1",
        "SELECT inspect FROM t", "SELECT a inspect FROM t", "SELECT a AS inspect, b FROM t",
        "SELECT t.inspect + 1 FROM t", "SELECT \"INSPECT\" x", "INSPECT", "SELECT 1; INSPECT 2",
        "SELECT count(inspect) FROM t", ""})
    EXPECT_FALSE(first_inspect(SqlText(query))) << query;
}

TEST(InspectClause, TheInnermostComesFirstAndSeesTheDefinitionsBeforeIt) {
  const std::string inner =
      "SELECT S.uid INSPECT U.uid AND H.h USING pearson OVER D.seq AS S FROM units U, "
      "hypotheses H, inputs D";
  const SqlText sql("WITH one AS (SELECT 1), two(x) AS (" + inner +
                    "), three AS (SELECT 3) SELECT * FROM two");
  const auto select = first_inspect(sql);
  ASSERT_TRUE(select);
  EXPECT_EQ(sql.text_of(select->whole), inner);
  EXPECT_EQ(select->with, "WITH one AS (SELECT 1) ");
  const SqlText nested("SELECT * INSPECT U.uid AND H.h USING pearson OVER D.seq AS S FROM (" + inner +
                       ") U, hypotheses H, inputs D ORDER BY 1");
  EXPECT_EQ(nested.text_of(first_inspect(nested)->whole), inner);
}

TEST(InspectClause, ErrorsSayWhereAndWhatWasExpected) {
  EXPECT_EQ(
      error_of("SELECT 1\nINSPECT U.uid USING pearson OVER D.seq AS S FROM units U"),
      "query, line 2, column 15: expected AND and the hypotheses (INSPECT U.uid AND H.h), found 'USING'");
  EXPECT_THAT(error_of("SELECT 1 INSPECT U.uid AND H.h USNIG pearson OVER D.seq AS S FROM units U"),
              HasSubstr("line 1, column 32: expected USING"));
  EXPECT_THAT(error_of("SELECT 1 INSPECT U.uid AND H.h USING pearson OVER D.seq FROM units U"),
              HasSubstr("column 57: expected AS and a name for the scores (AS S), found 'FROM'"));
  EXPECT_THAT(
      error_of("SELECT 1 INSPECT U.uid AND H.h USING pearson OVER D.seq AS S"),
      HasSubstr("expected FROM and the relations that hold the units, hypotheses and inputs, found the end"));
  EXPECT_THAT(error_of("SELECT 1 INSPECT U.uid AND H.h USING pearson, OVER D.seq AS S FROM x"),
              HasSubstr("expected a measure"));
  EXPECT_THAT(
      error_of("SELECT 1 INSPECT U.uid AND H.h USING pearson OVER D.seq AS S FROM units U HAVNG S.p < 1"),
      HasSubstr("found 'HAVNG'; did you mean 'HAVING'?"));
  EXPECT_THAT(error_of("SELECT 1 FROM x INSPECT U.uid AND H.h USING pearson OVER D.seq AS S"),
              HasSubstr("INSPECT comes before FROM"));
  EXPECT_THAT(
      error_of(
          "SELECT 1 INSPECT U.uid AND H.h USING pearson OVER D.seq AS S FROM units U NATURAL JOIN models"),
      HasSubstr("NATURAL JOIN cannot be used with INSPECT"));
  EXPECT_THAT(error_of("SELECT 1 INSPECT U.uid AND H.h USING p OVER D.seq AS S FROM units U, models U"),
              HasSubstr("two relations of FROM are called 'U'"));
  EXPECT_THAT(error_of("SELECT 'abc"), HasSubstr("line 1, column 8: this string does not end"));
  EXPECT_THAT(error_of("SELECT (1"), HasSubstr("column 8: this parenthesis is not closed"));
  EXPECT_THAT(error_of("SELECT 1)"), HasSubstr("this parenthesis closes nothing"));
  EXPECT_THAT(error_of("SELECT ?1"), HasSubstr("parameters have no values"));
  // Columns count characters: two bytes before the fault are one letter.
  EXPECT_THAT(error_of("SELECT '\xC3\xA9', (1"), HasSubstr("line 1, column 13"));
}

}  // namespace
}  // namespace assay::workbench
