// Databases, journals and logs that somebody else has written, and what queries may use.

#include <gmock/gmock.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>

#include "assay/support/files/file.h"
#include "assay/support/memory.h"
#include "assay/workbench/foreign_files.h"
#include "tests/workbench/open_world.h"

namespace assay::workbench {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

class QueryRules : public AskTest {
 protected:
  Fault fault_of(const std::string& sql) {
    try {
      ask(sql);
    } catch (const Error& error) {
      return error.fault();
    }
    return Fault::internal;
  }
};

TEST_F(QueryRules, FunctionsAreThoseOfAList) {
  for (const std::string call :
       {"fts3_tokenizer('simple')", "fts3_tokenizer('simple', x'4141414141414141')",
        "FTS3_Tokenizer('simple')", "fts5(NULL)", "fts5_source_id()", "load_extension('x')",
        "load_extension('x', 'y')", "sqlite_compileoption_get(1)", "sqlite_log(1, 'x')",
        "rtreecheck('units')", "matchinfo(uid)", "snippet(uid)", "offsets(uid)", "optimize(uid)",
        "match('a', uid)", "readfile('/etc/passwd')", "writefile('x', 'y')",
        "sqlite_rename_table(1,2,3,4,5,6,7)"})
    EXPECT_EQ(fault_of("SELECT " + call + " FROM units"), Fault::usage) << call;
  EXPECT_THAT(error_of("SELECT sqlite_log(1, 'x')"),
              HasSubstr("the function 'sqlite_log' is not for queries"));
  EXPECT_THAT(error_of("CREATE TABLE t(a, b AS (sqlite_log(1, a)))"), HasSubstr("sqlite_log"));
  EXPECT_THAT(error_of("CREATE TABLE t(a CHECK (sqlite_log(1, a)))"), HasSubstr("sqlite_log"));
  ask("CREATE VIEW reads AS SELECT sqlite_log(1, uid) FROM units");
  EXPECT_THAT(error_of("SELECT * FROM reads"), HasSubstr("'reads': the function 'sqlite_log'"));
}

TEST_F(QueryRules, OrdinaryFunctionsAreThere) {
  EXPECT_THAT(rows("SELECT abs(-1), round(1.5), upper('a'), length('abc'), substr('abc', 2), hex('a'), "
                   "printf('%d', 7), coalesce(NULL, 2), json_extract('[4]', '$[0]'), sqrt(16), "
                   "strftime('%Y', 0, 'unixepoch'), 'abc' LIKE 'A%', iif(1, 2, 3), '[5]' ->> 0"),
              ElementsAre("1|2.000|A|3|bc|61|7|2|4|4.000|1970|1|2|5"));
  EXPECT_THAT(rows("SELECT value FROM json_each('[1, 2]')"), ElementsAre("1", "2"));
  EXPECT_THAT(rows("SELECT count(*), row_number() OVER (), group_concat(uid) IS NULL FROM units WHERE 0"),
              ElementsAre("0|1|1"));
  EXPECT_THAT(
      rows("CREATE TABLE mine(a, b); ALTER TABLE mine RENAME COLUMN b TO c; ALTER TABLE mine DROP COLUMN a; "
           "INSERT INTO mine VALUES (1); SELECT c FROM mine"),
      ElementsAre("1"));
}

TEST_F(QueryRules, TablesOfModulesAreThoseOfAList) {
  for (const std::string sql :
       {"SELECT * FROM dbstat", "SELECT * FROM sqlite_stmt", "SELECT * FROM fts3tokenize",
        "SELECT * FROM sqlite_dbpage", "CREATE VIRTUAL TABLE f USING fts4(a)",
        "CREATE VIRTUAL TABLE f USING fts5(a)", "CREATE VIRTUAL TABLE f USING rtree(a, b, c)",
        "CREATE VIRTUAL TABLE temp.f USING dbstat", "SELECT * FROM pragma_writable_schema",
        "SELECT * FROM pragma_module_list"})
    EXPECT_EQ(fault_of(sql), Fault::usage) << sql;
  EXPECT_FALSE(rows("SELECT name FROM pragma_table_info('units')").empty());
}

TEST_F(QueryRules, EveryPragmaThatChangesIsRefused) {
  for (const std::string pragma :
       {"temp_store_directory = '/tmp'", "data_store_directory = '/tmp'", "mmap_size = 1",
        "hard_heap_limit = 0", "soft_heap_limit = 0", "cell_size_check = 0", "trusted_schema = 1",
        "max_page_count = 1", "journal_mode", "wal_checkpoint", "synchronous = 0", "locking_mode = exclusive",
        "case_sensitive_like = 1", "ignore_check_constraints = 1", "user_version = 2", "application_id = 2"})
    EXPECT_THAT(error_of("PRAGMA " + pragma), HasSubstr("is not for queries")) << pragma;
}

TEST_F(QueryRules, ThePlanOfSqliteIsShownAndItsProgramIsNot) {
  EXPECT_THAT(error_of("EXPLAIN SELECT * FROM units"), HasSubstr("write EXPLAIN QUERY PLAN"));
  EXPECT_FALSE(rows("EXPLAIN QUERY PLAN SELECT * FROM units").empty());
}

class LittleMemory {
 public:
  explicit LittleMemory(std::uint64_t bytes) { set_memory_limit(bytes); }
  ~LittleMemory() { set_memory_limit(0); }
};

TEST(QueryLimits, AValueTakesASmallPartOfTheMemory) {
  const LittleMemory little(std::uint64_t{512} << 20);
  class Asked final : public AskTest {
   public:
    void TestBody() override {}
    using AskTest::error_of;
    using AskTest::rows;
  } asked;
  EXPECT_EQ(asked.rows("SELECT length(zeroblob(8000000)) / 1000000"), std::vector<std::string>{"8"});
  for (const std::string value : {"zeroblob(100000000)", "randomblob(100000000)", "hex(zeroblob(8000000))",
                                  "replace(hex(zeroblob(2000000)), '00', 'abcdefgh')"})
    EXPECT_THAT(asked.error_of("SELECT " + value), HasSubstr("too big")) << value;
  EXPECT_THAT(asked.error_of("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 40) "
                             "SELECT zeroblob(4000000) FROM n"),
              HasSubstr("the answer"));
}

TEST_F(QueryRules, AQuestionEndsWhenItsTimeIsOver) {
  const std::string endless =
      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n";
  world.seconds = 1e-9;
  EXPECT_EQ(fault_of(endless), Fault::resources);
  EXPECT_EQ(fault_of("SELECT 1"), Fault::resources);
  world.seconds = 0.05;
  EXPECT_EQ(fault_of(endless), Fault::resources);
  EXPECT_THAT(error_of(endless), HasSubstr("the question takes more than 0.05 seconds"));
  world.seconds = 0;
  EXPECT_THAT(rows("SELECT 1"), ElementsAre("1"));
}

// A folder with a database of Assay's.
class ForeignFile : public testing::Test {
 protected:
  ForeignFile() : folder(fs::path(testing::TempDir()) / "assay_foreign_database") {
    fs::remove_all(folder);
    fs::create_directories(folder);
    path = folder / "study.db";
    make();
  }
  ~ForeignFile() override { fs::remove_all(folder); }

  void make() const {
    fs::remove(path);
    Database database(path, database_version);
    fill(database);
  }
  // By SQLite itself.
  void change(const std::string& sql) const {
    sqlite3* handle = nullptr;
    ASSERT_EQ(sqlite3_open(path.c_str(), &handle), SQLITE_OK);
    ASSERT_EQ(sqlite3_exec(handle, sql.c_str(), nullptr, nullptr, nullptr), SQLITE_OK)
        << sqlite3_errmsg(handle);
    sqlite3_close(handle);
  }
  // Of opening it and asking for what it holds.
  std::string fault(Fault expected = Fault::data) const {
    try {
      Database database(path, database_version);
      make_relations(database);
      Statement(database, "SELECT count(*) FROM units").run({});
    } catch (const Error& error) {
      EXPECT_EQ(error.fault(), expected) << error.what();
      return error.what();
    }
    return {};
  }
  std::size_t units() const {
    Database database(path, database_version);
    Statement count(database, "SELECT count(*) FROM units");
    count.step();
    return static_cast<std::size_t>(count.integer(0));
  }

  fs::path folder, path;
};

TEST_F(ForeignFile, HoldsNothingThatAssayDoesNotMake) {
  for (const std::string sql :
       {"CREATE VIRTUAL TABLE f USING fts4(a); INSERT INTO f VALUES ('a b')",
        "CREATE VIRTUAL TABLE f USING fts5(a)", "CREATE VIRTUAL TABLE f USING rtree(a, b, c)",
        "CREATE TRIGGER t AFTER INSERT ON units BEGIN DELETE FROM units; END",
        "CREATE TABLE t(a CHECK (sqlite_log(1, a) IS NULL))"}) {
    make();
    change(sql);
    EXPECT_THAT(fault(), HasSubstr("which Assay does not make")) << sql;
  }
}

TEST_F(ForeignFile, ViewsInPlaceOfItsRelationsAreRefused) {
  change("ALTER TABLE units RENAME TO u; CREATE VIEW units AS SELECT * FROM u");
  EXPECT_THAT(fault(), HasSubstr("'units' is a view"));
}

TEST_F(ForeignFile, WithoutItsRelationsIsDamaged) {
  change("DROP TABLE document_tables");
  EXPECT_THAT(fault(), HasSubstr("the database is damaged"));
}

TEST_F(ForeignFile, RelationsOfUsersComeBack) {
  {
    Database database(path, database_version);
    make_relations(database);
    const Database::UserRules rules(database);
    for (const std::string sql :
         {"CREATE TABLE a(x INTEGER PRIMARY KEY AUTOINCREMENT, y TEXT DEFAULT (upper('b')) CHECK (length(y) "
          "> 0), z AS "
          "(x + 1))",
          "INSERT INTO a(y) VALUES ('c')", "CREATE INDEX b ON a(lower(y)) WHERE x > 0",
          "CREATE VIEW c AS SELECT z FROM a", "CREATE TABLE d AS SELECT * FROM units", "ANALYZE",
          "ALTER TABLE a ADD COLUMN w REAL"})
      Statement(database, sql).run({});
  }
  EXPECT_EQ(fault(), "");
}

// Whatever is in it, it is not opened.
TEST_F(ForeignFile, JournalsOfOthersAreNeitherPlayedBackNorRemoved) {
  const std::string sound = read_file(path);
  const std::string start("\xd9\xd5\x05\xf9\x20\xa1\x63\xd7", 8);
  const fs::path victim = folder / "victim.txt", journal = journal_beside(path);
  write_file(victim, "precious");
  std::string name = victim.string(), sum(4, '\0');
  std::uint32_t total = 0;
  for (const char c : name) total += static_cast<unsigned char>(c);
  for (int i = 0; i < 4; ++i) sum[static_cast<std::size_t>(i)] = static_cast<char>(total >> (24 - 8 * i));
  std::string header = start + std::string("\0\0\0\0\0\0\0\1\0\0\0\1\0\0\2\0\0\0\x10\0", 20);
  header.resize(512);
  const std::string super = std::string("\0\4\0\1", 4) + name + std::string(3, '\0') +
                            std::string(1, static_cast<char>(name.size())) + sum + start;
  for (const std::string& bytes : {header + super, header, std::string(512, '\0'),
                                   std::string("the only copy of a thesis"), std::string(1, '\0')}) {
    write_file(journal, bytes);
    EXPECT_THAT(fault(), HasSubstr("a journal that Assay did not write here"));
    EXPECT_EQ(read_file(journal), bytes);
    EXPECT_EQ(read_file(path), sound);
    EXPECT_EQ(read_file(victim), "precious");
  }
  // A database of another program, and none at all: refused, or new, with the journal left where it is.
  change("PRAGMA application_id = 7");
  write_file(journal, header + super);
  EXPECT_THAT(fault(), HasSubstr("of another program"));
  fs::remove(path);
  EXPECT_THAT(fault(), HasSubstr("a journal that Assay did not write here"));
  EXPECT_EQ(read_file(journal), header + super);
  EXPECT_EQ(read_file(victim), "precious");
}

TEST_F(ForeignFile, LinksAndFoldersInPlaceOfTheJournalAreRefused) {
  const fs::path journal = journal_beside(path), other = folder / "other";
  write_file(other, "");
  fs::create_symlink(other, journal);
  EXPECT_THAT(fault(), HasSubstr("a link"));
  fs::remove(journal);
  fs::create_hard_link(other, journal);
  EXPECT_THAT(fault(), HasSubstr("a file of several names"));
  fs::remove(journal);
  fs::create_directory(journal);
  EXPECT_THAT(fault(), HasSubstr("not a file"));
  fs::remove(journal);
  ASSERT_EQ(::mkfifo(journal.c_str(), 0600), 0);
  EXPECT_THAT(fault(), HasSubstr("not a file"));
}

// What a run of SQLite itself leaves when it is killed.
TEST_F(ForeignFile, AJournalThatSqliteWroteElsewhereIsRefused) {
  sqlite3* handle = nullptr;
  ASSERT_EQ(sqlite3_open(path.c_str(), &handle), SQLITE_OK);
  ASSERT_EQ(
      sqlite3_exec(handle,
                   "PRAGMA cache_size = 1; BEGIN; CREATE TABLE t(a); INSERT INTO t SELECT zeroblob(9000) "
                   "FROM units; UPDATE units SET layer = hex(zeroblob(5000))",
                   nullptr, nullptr, nullptr),
      SQLITE_OK);
  fs::copy_file(journal_beside(path), folder / "copy.db-journal");
  fs::copy_file(path, folder / "copy.db");
  sqlite3_close(handle);
  path = folder / "copy.db";
  const std::string held = read_file(path);
  EXPECT_THAT(fault(), HasSubstr("a journal that Assay did not write here"));
  EXPECT_EQ(read_file(path), held);
}

TEST_F(ForeignFile, LogsAreNotPlayedBack) {
  write_file(path.string() + "-wal", "x");
  EXPECT_THAT(fault(), HasSubstr("the write-ahead log of another program"));
  EXPECT_EQ(read_file(path.string() + "-wal"), "x");
  fs::remove(path.string() + "-wal");
  change("PRAGMA journal_mode = wal");
  EXPECT_THAT(fault(), HasSubstr("has given this database a write-ahead log"));
}

TEST_F(ForeignFile, WhatIsNotAFileIsNotOpened) {
  fs::remove(path);
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  EXPECT_THAT(fault(Fault::io), HasSubstr("not a file"));
  fs::remove(path);
  fs::create_directory(path);
  EXPECT_THAT(fault(Fault::io), HasSubstr("not a file"));
}

TEST_F(ForeignFile, NamesAreNeverUris) {
  const fs::path before = fs::current_path();
  fs::current_path(folder);
  for (const std::string name : {"file:memory?mode=memory", "file:study.db?immutable=1", ":memory:"}) {
    { Database(name, database_version).run("CREATE TABLE t(a)"); }
    EXPECT_TRUE(fs::exists(folder / name)) << name;
  }
  fs::current_path(before);
}

// Writes a journal and more pages than the cache holds, and is gone.
void begin_and_die(const fs::path& path) {
  Database database(path, database_version);
  database.run(
      "PRAGMA cache_size = 1; BEGIN; UPDATE units SET layer = hex(zeroblob(5000)); CREATE TABLE t(a)");
  database.run("INSERT INTO t SELECT zeroblob(9000) FROM units");
  ::_exit(0);
}

TEST_F(ForeignFile, WhatAssayWroteBeforeAKillIsTakenBack) {
  const std::size_t before = units();
  const std::string sound = read_file(path);
  const pid_t child = ::fork();
  if (child == 0) begin_and_die(path);
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_GT(fs::file_size(journal_beside(path)), 512U);
  ASSERT_NE(read_file(path), sound);
  EXPECT_EQ(units(), before);
  EXPECT_FALSE(fs::exists(journal_beside(path)));
  EXPECT_EQ(fs::file_size(path), sound.size());
}

// The same journal with the name of another file at its end.
TEST_F(ForeignFile, AJournalOfAssayThatNamesAnotherFileIsRefused) {
  const pid_t child = ::fork();
  if (child == 0) begin_and_die(path);
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  std::ofstream(journal_beside(path), std::ios::binary | std::ios::app) << "\xd9\xd5\x05\xf9\x20\xa1\x63\xd7";
  EXPECT_THAT(fault(), HasSubstr("a journal that names other files"));
}

TEST_F(ForeignFile, AnEndlessStatementIsTakenBack) {
  const LittleMemory little(std::uint64_t{20} << 20);
  const std::uintmax_t before = fs::file_size(path);
  const std::string endless =
      " WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i, randomblob(900) "
      "AS r FROM n";
  for (const std::string& sql :
       {"CREATE TABLE t AS" + endless, "CREATE TEMP TABLE t AS" + endless, endless + " ORDER BY 2"}) {
    Database database(path, database_version);
    make_relations(database);
    const Database::UserRules rules(database);
    try {
      Statement(database, sql).run({});
      ADD_FAILURE() << sql << " came to an end";
    } catch (const Error& error) {
      EXPECT_EQ(error.fault(), Fault::resources) << sql << error.what();
    }
    EXPECT_EQ(fs::file_size(path), before) << sql;
    EXPECT_FALSE(fs::exists(journal_beside(path))) << sql;
  }
}

}  // namespace
}  // namespace assay::workbench
