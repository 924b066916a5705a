// Results of analyses in the database.

#include "assay/workbench/documents.h"

#include <gmock/gmock.h>

#include "tests/workbench/open_world.h"

namespace assay::workbench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Kind = report::Column::Kind;

report::Document importance() {
  report::Document document;
  document.command = "importance";
  document.headline = "neurons";
  document.facts = {{"records", "records", std::int64_t{5}, Kind::count}};
  document.tables = {{"neurons",
                      "Neurons",
                      {{"layer", "layer"},
                       {"rank", "rank", Kind::count},
                       {"neuron", "neuron", Kind::count},
                       {"relevance", "relevance"}},
                      {{std::string("lstm"), std::int64_t{1}, std::int64_t{2}, 7.5},
                       {std::string("lstm"), std::int64_t{2}, std::int64_t{0}, 3.0}}}};
  document.notices = {"it's a notice"};
  document.provenance = {{"seed", std::int64_t{1}}};
  return document;
}

class Documents : public AskTest {};

TEST_F(Documents, TablesAreRelationsAndNeuronsAreUnits) {
  EXPECT_THAT(put_document(database, "first", importance()), ElementsAre("importance_neurons"));
  make_relations(database);
  EXPECT_THAT(rows("SELECT document, uid, rank, relevance FROM importance_neurons ORDER BY rank"),
              ElementsAre("first|lstm:2|1|7.500", "first|lstm:0|2|3.000"));
  EXPECT_THAT(rows("SELECT value FROM facts WHERE id = 'records'"), ElementsAre("5"));
  EXPECT_THAT(rows("SELECT notice FROM notices"), ElementsAre("it's a notice"));
  EXPECT_THAT(error_of("DELETE FROM importance_neurons"), HasSubstr("written by Assay alone"));
}

TEST_F(Documents, SeveralOfOneCommandLieSideBySideAndASecondOfANameReplacesIt) {
  put_document(database, "first", importance());
  report::Document more = importance();
  more.tables[0].columns.push_back({"share", "share"});
  for (auto& row : more.tables[0].rows) row.emplace_back(0.5);
  put_document(database, "second", more);
  put_document(database, "second", more);
  EXPECT_THAT(rows("SELECT document, count(*), count(share) FROM importance_neurons GROUP BY document"),
              ElementsAre("first|2|0", "second|2|2"));
  EXPECT_THAT(rows("SELECT count(*) FROM facts"), ElementsAre("2"));
}

TEST_F(Documents, TheOnlyOneOfACommandIsReplacedAsWell) {
  put_document(database, "only", importance());
  report::Document other = importance();
  other.tables[0].rows.pop_back();
  other.tables[0].columns.pop_back();
  other.tables[0].rows[0].pop_back();
  put_document(database, "only", other);
  EXPECT_THAT(rows("SELECT * FROM importance_neurons"), ElementsAre("only|lstm|1|2|lstm:2"));
  // What the last document of a name had and this one has not is gone, and free for others.
  other.tables[0].id = "elsewhere";
  put_document(database, "only", other);
  EXPECT_THAT(error_of("SELECT * FROM importance_neurons"), HasSubstr("importance_neurons"));
  EXPECT_THAT(rows("SELECT relation FROM document_tables"), ElementsAre("importance_elsewhere"));
}

TEST_F(Documents, NamesThatCouldBreakOutStayNames) {
  report::Document document = importance();
  document.command = "x\"; DROP TABLE units; --";
  document.tables[0].columns[0].id = "a\"b";
  document.tables[0].columns[1].id = "document";
  put_document(database, "it's", document);
  EXPECT_THAT(rows("SELECT count(*) FROM units"), ElementsAre("21"));
  report::Document taken = importance();
  taken.command = "gate";
  taken.tables[0].id = "units";
  EXPECT_THAT(message_of([&] { put_document(database, "x", taken); }),
              HasSubstr("a relation 'gate_units' of another kind"));
  EXPECT_THAT(rows("SELECT count(*) FROM documents WHERE document = 'x'"), ElementsAre("0"));
}

TEST_F(Documents, AQueryJoinsThemWithScores) {
  put_document(database, "first", importance());
  const auto joined = rows(
      "SELECT S.uid, I.relevance INSPECT U.uid AND H.h USING corr OVER D.seq AS S FROM units U, hypotheses "
      "H, inputs D JOIN "
      "importance_neurons I ON I.uid = S.uid WHERE U.mid = 'sqlparser1' AND H.h = 'keywords' ORDER BY "
      "I.relevance DESC");
  EXPECT_THAT(joined, ElementsAre("lstm:2|7.500", "lstm:0|3.000"));
}

}  // namespace
}  // namespace assay::workbench
