// Queries with INSPECT, from text to answer.

#include <gmock/gmock.h>

#include <fstream>
#include <random>

#include "tests/workbench/open_world.h"

namespace assay::workbench {
namespace {

using testing::AnyOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAreArray;

const std::string from = "FROM models M, units U, hypotheses H, inputs D ";
const std::string clause = "INSPECT U.uid AND H.h USING corr OVER D.seq AS S " + from;

class Query : public AskTest {};

// ALGORITHMS A5, for the three epochs of this world.
TEST_F(Query, ThePublishedOneEqualsTheInspectionFiltered) {
  const std::string a5 = R"(SELECT M.epoch, S.uid
INSPECT U.uid AND H.h USING corr OVER D.seq AS S
FROM   models M, units U, hypotheses H, inputs D
WHERE  M.mid = U.mid AND M.mid LIKE 'sqlparser%' AND U.layer = 0 AND H.name = 'keywords'
GROUP BY M.epoch
HAVING S.unit_score > 0.1)";
  std::vector<std::string> expected;
  for (int epoch = 1; epoch <= 3; ++epoch) {
    for (std::size_t unit = 0; unit < 4; ++unit) {
      if (made_up_score("sqlparser" + std::to_string(epoch), "lstm", "", unit, "keywords") > 0.1)
        expected.push_back(fmt::format("{}|lstm:{}", epoch, unit));
    }
  }
  ASSERT_GT(expected.size(), 1U);
  EXPECT_EQ(rows(a5), expected);
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(last_groups.size(), 3U);
  EXPECT_THAT(asked, ElementsAre("keywords", "keywords", "keywords"));
}

// ALGORITHMS A6.4, oracle 6.
TEST_F(Query, GroupingByLayerIsTheUnionOfRunsByLayer) {
  const std::string select = "SELECT S.mid, S.uid, S.hid, S.unit_score " + clause + "WHERE M.mid = U.mid ";
  const auto together = rows(select + "GROUP BY U.layer");
  std::vector<std::string> apart = rows(select + "AND U.layer = 'lstm'");
  for (const std::string& row : rows(select + "AND U.layer = 'dense'")) apart.push_back(row);
  EXPECT_THAT(together, UnorderedElementsAreArray(apart));
  EXPECT_EQ(together.size(), 3U * 7U * 3U);
}

TEST_F(Query, HeadsAndPositionsAreColumnsOfUnits) {
  put_model(database,
            {.name = "texts",
             .path = "",
             .hash = "of texts",
             .layers = {{.name = "heads/last", .op = "view", .neurons = 2, .heads = true, .position = -1},
                        {.name = "dense/first", .op = "view", .neurons = 1, .position = 0},
                        {.name = "lstm", .op = "LSTM", .neurons = 1, .gates = {"input"}}}});
  const auto shown = [&](const std::string& relation) {
    return rows("SELECT uid, ifnull(head, 'none'), ifnull(position, 'none') FROM " + relation +
                " WHERE mid = 'texts' ORDER BY layer_index, unit");
  };
  EXPECT_EQ(shown("units"), (std::vector<std::string>{"heads/last:0|0|-1", "heads/last:1|1|-1",
                                                      "dense/first:0|none|0", "lstm:0|none|none"}));
  EXPECT_EQ(shown("gate_units"), std::vector<std::string>{"lstm/input:0|none|none"});
}

TEST_F(Query, LayersAreNamedOrNumbered) {
  const std::string count = "SELECT count(*) " + clause + "WHERE M.mid = U.mid AND ";
  for (const std::string condition :
       {"U.layer = 1", "1 = U.layer", "U.layer IN (1, 5)", "U.layer BETWEEN 1 AND 4", "U.layer > 0",
        "(U.layer = 1 OR U.layer = 7)", "U.layer = 'dense'", "U.layer_index = 1", "U.layer IS 1"})
    EXPECT_THAT(rows(count + condition), ElementsAre("27")) << condition;
  EXPECT_THAT(rows("SELECT count(*) FROM units WHERE layer = 0"), ElementsAre("12"));
  EXPECT_THAT(rows("SELECT count(*) FROM (SELECT * FROM units) AS u WHERE u.layer = 0"), ElementsAre("12"));
  EXPECT_THAT(
      rows("WITH few AS (SELECT * FROM units WHERE unit = 0) SELECT count(*) FROM few f WHERE f.layer = 0"),
      ElementsAre("3"));
  EXPECT_THAT(rows("CREATE TABLE mine(layer); INSERT INTO mine VALUES (0), (1); SELECT count(*) FROM mine "
                   "WHERE layer = 0"),
              ElementsAre("1"));
}

TEST_F(Query, OnePassServesAllGroupsAndSameUnitsAreInspectedOnce) {
  rows("SELECT S.uid " + clause + "WHERE M.mid = U.mid AND M.epoch = 1 GROUP BY H.h");
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(last_groups.size(), 2U);
  EXPECT_THAT(last_groups[0].units, IsEmpty());  // all of the layer
}

TEST_F(Query, OnlyTheRecordsChosenAreRead) {
  rows("SELECT S.uid " + clause + "WHERE M.mid = U.mid AND D.label = 1 AND D.seq LIKE 'b%'");
  EXPECT_EQ(last_records, 2U);
}

TEST_F(Query, NothingChosenIsAnEmptyAnswerWithoutAnInspection) {
  EXPECT_THAT(rows("SELECT S.uid " + clause + "WHERE U.layer = 'conv'"), IsEmpty());
  EXPECT_EQ(ask("SELECT S.uid " + clause + "WHERE H.h = 'x'").tables.at(0).columns.size(), 1U);
  EXPECT_EQ(calls, 0);
}

TEST_F(Query, StandsInSubQueriesDefinitionsAndViews) {
  const std::string best = "SELECT S.mid AS mid, S.uid AS uid, S.unit_score AS score " + clause +
                           "WHERE M.mid = U.mid AND H.h = 'keywords' HAVING S.unit_score > 0";
  const auto expected = rows("SELECT count(*) FROM (" + best + ")");
  EXPECT_EQ(rows("WITH best AS (" + best + ") SELECT count(*) FROM best"), expected);
  EXPECT_EQ(rows("CREATE VIEW best AS " + best + "; SELECT count(*) FROM best"), expected);
  EXPECT_EQ(rows("SELECT count(b.uid) FROM units u JOIN best AS b ON b.uid = u.uid AND b.mid = u.mid"),
            expected);
  EXPECT_THAT(error_of("CREATE VIEW best AS " + best),
              HasSubstr("there is a relation called 'best' already"));
  rows("CREATE VIEW IF NOT EXISTS best AS " + best + "; DROP VIEW best");
  EXPECT_THAT(error_of("SELECT * FROM best"), HasSubstr("no such table: best"));
  rows("CREATE TABLE kept AS " + best);
  EXPECT_EQ(rows("SELECT count(*) FROM kept"), expected);
}

TEST_F(Query, AnInspectionCanChooseTheUnitsOfAnother) {
  const std::string inner = "SELECT S.mid, S.uid " + clause +
                            "WHERE M.mid = U.mid AND H.h = 'keywords' ORDER BY S.unit_score DESC LIMIT 2";
  EXPECT_EQ(rows("SELECT S.uid, S.hid INSPECT B.uid AND H.h USING corr OVER D.seq AS S FROM (" + inner +
                 ") B, hypotheses H, inputs D WHERE H.h <> 'keywords'")
                .size(),
            4U);
  EXPECT_EQ(calls, 2);
}

TEST_F(Query, AViewThatNamesItselfIsAnError) {
  ask("CREATE VIEW v AS SELECT * INSPECT U.uid AND H.h USING corr OVER D.seq AS S FROM units U, v, "
      "hypotheses H, inputs D");
  EXPECT_THAT(error_of("SELECT * FROM v"), HasSubstr("a view that names itself cannot be asked"));
}

TEST_F(Query, EqualScoresComeInTheOrderOfModelsLayersAndUnits) {
  const auto ordered = rows("SELECT S.mid, S.uid " + clause +
                            "WHERE M.mid = U.mid AND H.h = 'keywords' ORDER BY S.n_rows LIMIT 9");
  EXPECT_THAT(ordered, ElementsAre("sqlparser1|lstm:0", "sqlparser1|lstm:1", "sqlparser1|lstm:2",
                                   "sqlparser1|lstm:3", "sqlparser1|dense:0", "sqlparser1|dense:1",
                                   "sqlparser1|dense:2", "sqlparser2|lstm:0", "sqlparser2|lstm:1"));
}

TEST_F(Query, NamesWithQuotesAreNames) {
  EXPECT_EQ(
      rows("SELECT S.uid " + clause + "WHERE M.mid = U.mid AND H.h = 'it''s \"quoted\"' AND M.epoch = 1")
          .size(),
      7U);
  EXPECT_THAT(rows("SELECT S.uid " + clause + "WHERE H.h = 'x'' OR 1=1 --'"), IsEmpty());
  EXPECT_EQ(rows("SELECT \"S \"\"1\".uid AS \"a;b\" INSPECT \"U\"\"\".uid AND [H x].h USING corr OVER D.seq "
                 "AS \"S \"\"1\" FROM units \"U\"\"\", "
                 "hypotheses [H x], inputs D WHERE \"U\"\"\".mid = 'sqlparser1'")
                .size(),
            21U);
}

TEST_F(Query, MeasuresAreCalledAsTheQueryCallsThem) {
  EXPECT_THAT(rows("SELECT DISTINCT S.measure INSPECT U.uid AND H.h USING corr, pearson OVER D.seq AS S " +
                   from + "WHERE M.mid = U.mid"),
              ElementsAre("corr"));
}

TEST_F(Query, ExplainRunsNothingAndSaysWhatWouldBe) {
  for (const std::string explain : {"EXPLAIN INSPECT ", "EXPLAIN "}) {
    const report::Document document =
        ask(explain + "SELECT M.epoch " + clause + "WHERE M.mid = U.mid AND U.layer = 0 GROUP BY M.epoch");
    EXPECT_EQ(calls, 0);
    ASSERT_EQ(document.tables.size(), 4U);
    EXPECT_EQ(document.tables[0].rows.size(), 3U);
    EXPECT_EQ(document.tables[1].rows.size(), 3U);
    const auto fact = std::ranges::find(document.facts, "passes", &report::Fact::id);
    ASSERT_NE(fact, document.facts.end());
    EXPECT_EQ(fact->value, report::Cell{std::int64_t{15}});
  }
  EXPECT_FALSE(ask("EXPLAIN QUERY PLAN SELECT * FROM units").tables.empty());
  EXPECT_THAT(error_of("EXPLAIN INSPECT SELECT 1"),
              HasSubstr("EXPLAIN INSPECT is followed by a query with INSPECT"));
}

TEST_F(Query, ErrorsHaveAPlaceAndASuggestion) {
  EXPECT_EQ(error_of("SELECT 1;\nSELECT * FROM unit"),
            "query, line 2, column 1: no such table: unit; did you mean 'units'?");
  EXPECT_THAT(error_of("SELECT uid,\n nit FROM units"), HasSubstr("line 2, column 2: no such column: nit"));
  EXPECT_THAT(error_of("SELECT U.uid INSPCT U.uid AND H.h USING corr OVER D.seq AS S FROM units U"),
              HasSubstr("did you mean 'INSPECT' where it says 'INSPCT'?"));
  EXPECT_THAT(error_of("SELECT S.uid INSPECT U.uid AND H.h USING logreg1 OVER D.seq AS S " + from),
              HasSubstr("no measure is named 'logreg1'"));
  EXPECT_EQ(calls, 0);
  EXPECT_THAT(error_of("  ;; -- nothing\n"), HasSubstr("the query is empty"));
  world.models.erase("sqlparser2");
  EXPECT_THAT(error_of("SELECT S.uid " + clause + "WHERE M.mid = U.mid"),
              HasSubstr("model 'sqlparser2' is known from before and not open now"));
}

TEST_F(Query, RunsUnderRulesThatKeepTheDatabaseWhole) {
  for (const std::string sql : {"ATTACH 'x.db' AS x",
                                "DETACH main",
                                "VACUUM",
                                "VACUUM INTO 'x.db'",
                                "PRAGMA journal_mode = off",
                                "PRAGMA writable_schema = 1",
                                "DELETE FROM units",
                                "UPDATE scores SET unit_score = 1",
                                "DROP TABLE models",
                                "INSERT INTO hypotheses(h) VALUES ('x')",
                                "ALTER TABLE models RENAME TO m",
                                "BEGIN",
                                "COMMIT",
                                "SAVEPOINT a",
                                "SELECT load_extension('x')",
                                "CREATE INDEX i ON units(uid)",
                                "CREATE TRIGGER t AFTER INSERT ON units BEGIN SELECT 1; END",
                                "CREATE VIRTUAL TABLE f USING fts5(a)",
                                "DROP VIEW records",
                                "CREATE TABLE sqlite_x(a)",
                                "INSERT INTO sqlite_master VALUES (1,2,3,4,5)",
                                "DELETE FROM assay_views"})
    EXPECT_NE(error_of(sql), "") << sql;
  EXPECT_FALSE(std::filesystem::exists("x.db"));
  EXPECT_THAT(error_of("DELETE FROM units"), HasSubstr("'units' is written by Assay alone"));
  EXPECT_THAT(error_of("VACUUM"), HasSubstr("ATTACH, DETACH and VACUUM"));
  EXPECT_THAT(rows("CREATE TABLE mine(a); INSERT INTO mine VALUES (1), (2); DELETE FROM mine WHERE a = 1; "
                   "SELECT * FROM mine"),
              ElementsAre("2"));
  EXPECT_FALSE(rows("PRAGMA table_info(units)").empty());
}

// Whatever the text, the answer is a document or an Error, and the database stays as it is.
TEST_F(Query, HostileTextIsAnErrorOrAnAnswer) {
  const std::vector<std::string> seeds{
      "SELECT M.epoch, S.uid " + clause +
          "WHERE M.mid = U.mid AND U.layer = 0 GROUP BY M.epoch HAVING S.unit_score > 0.8 ORDER BY 1 LIMIT 3",
      "WITH a AS (SELECT S.uid " + clause +
          ") SELECT * FROM a UNION SELECT 'x' FROM (SELECT 1) LEFT JOIN units U ON (U.layer = 1)",
      "EXPLAIN INSPECT SELECT DISTINCT count(*) " + clause +
          "LEFT JOIN layers L ON L.mid = M.mid WHERE CASE WHEN H.h THEN 1 END",
      "CREATE VIEW v AS SELECT * " + clause + "; SELECT count(*) FROM v, v AS w; DROP VIEW v"};
  const std::string pieces[] = {"INSPECT",  "AND",     "(",         ")",         ",",       "'",      "\"",
                                "[",        "]",       ";",         "--",        "/*",      "*",      ".",
                                "S.uid",    "USING",   "OVER",      "AS",        "FROM",    "SELECT", "WHERE",
                                "GROUP BY", "HAVING",  "LEFT JOIN", "UNION",     "corr",    "1",      "0x",
                                "WITH",     "EXPLAIN", "\xff",      "layer = 0", "BETWEEN", "CASE",   "END",
                                "U",        "D.seq",   "ORDER BY",  "LIMIT",     "||",      "\n"};
  std::mt19937 random(7);
  const auto below = [&](std::size_t n) { return random() % n; };
  std::size_t answers = 0, errors = 0;
  for (int round = 0; round < 1000; ++round) {
    std::string sql = seeds[below(seeds.size())];
    for (std::size_t edits = 1 + below(4); edits > 0; --edits) {
      const std::size_t at = below(sql.size() + 1), length = below(12);
      if (below(2) == 0) sql.erase(std::min(at, sql.size()), length);
      if (below(2) == 0) sql.insert(std::min(at, sql.size()), " " + pieces[below(std::size(pieces))] + " ");
    }
    try {
      ask(sql);
      ++answers;
    } catch (const Error& error) {
      ++errors;
      EXPECT_TRUE(error.fault() == Fault::usage || error.fault() == Fault::resources) << sql << "\n"
                                                                                      << error.what();
    }
    try {
      ask("DROP VIEW IF EXISTS v");
    } catch (const Error&) {
    }
  }
  EXPECT_GT(answers, 30U);
  EXPECT_GT(errors, 300U);
  EXPECT_THAT(rows("SELECT count(*) FROM units"), ElementsAre("21"));
}

TEST_F(Query, TextWithoutEndAndDeepNestingAreErrors) {
  EXPECT_THAT(error_of(std::string(2 << 20, 'x')), HasSubstr("at most"));
  const auto nested = [&](const std::string& opening) {
    std::string sql = "SELECT ";
    for (int i = 0; i < 20000; ++i) sql += opening;
    return error_of(sql + "1" + std::string(20000, ')'));
  };
  EXPECT_NE(nested("-("), "");
  // SQLite's parser has taken brackets of any depth since 3.46.
  EXPECT_THAT(nested("("), AnyOf(IsEmpty(), HasSubstr("stack overflow")));
  EXPECT_NE(error_of(std::string(3000, ';') + "SELECT 1" +
                     [] {
                       std::string s;
                       for (int i = 0; i < 2000; ++i) s += ";SELECT 1";
                       return s;
                     }()),
            "");
  EXPECT_NE(error_of(std::string("SELECT 1\0, 2", 12)), "");
}

// A file, closed and opened again.
class StudyFile : public testing::Test {
 protected:
  StudyFile() : path(std::filesystem::path(testing::TempDir()) / "assay_study_test.db") {
    std::filesystem::remove(path);
  }
  ~StudyFile() override { std::filesystem::remove(path); }
  class OpenedStudy final : public AskTest {
   public:
    explicit OpenedStudy(const std::filesystem::path& file) : AskTest(file) {}
    void TestBody() override {}
    using AskTest::ask;
    using AskTest::calls;
    using AskTest::rows;
  };
  std::filesystem::path path;
};

TEST_F(StudyFile, KeepsScoresAndTakesThemAgain) {
  const std::string query =
      "SELECT S.uid, S.unit_score " + clause + "WHERE M.mid = U.mid AND H.h = 'keywords' GROUP BY U.layer";
  std::vector<std::string> first;
  {
    OpenedStudy opened(path);
    first = opened.rows(query);
    EXPECT_EQ(opened.calls, 1);
  }
  OpenedStudy opened(path);
  EXPECT_EQ(opened.rows(query), first);
  EXPECT_EQ(opened.calls, 0);
  EXPECT_EQ(opened.rows("SELECT count(*) FROM scores"),
            std::vector<std::string>{std::to_string(first.size())});
  opened.rows("SELECT S.uid " + clause + "WHERE M.mid = U.mid AND H.h = 'inside WHERE'");
  EXPECT_EQ(opened.calls, 1);
}

TEST_F(StudyFile, OfAnotherProgramOrVersionIsRefusedAndLeftAlone) {
  const auto open = [&] { return message_of([&] { Database database(path, database_version); }); };
  std::ofstream(path) << "no database at all, and long enough to be taken for one";
  EXPECT_THAT(open(), HasSubstr("not a database; name another file"));
  std::filesystem::remove(path);
  { Database(path, database_version + 1).run("CREATE TABLE t(a)"); }
  EXPECT_THAT(open(), HasSubstr("a database of version 3, where this Assay reads and writes version 2"));
  {
    Database other(path, database_version + 1);
    other.run("PRAGMA application_id = 7");
  }
  EXPECT_THAT(open(), HasSubstr("a database of another program"));
}

TEST_F(StudyFile, AnotherNetworkOrDataUnderAKnownNameIsRefused) {
  OpenedStudy opened(path);
  Database database(path, database_version);
  ModelFacts model = world_models()[0];
  model.hash = "another";
  EXPECT_THAT(message_of([&] { put_model(database, model); }),
              HasSubstr("model 'sqlparser1' is another one in"));
}

}  // namespace
}  // namespace assay::workbench
