// Databases of others and questions without an end, asked by the program.

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <algorithm>
#include <csignal>

#include "tests/hardness/little_memory.h"
#include "tests/program/program.h"

namespace assay {
namespace {

namespace fs = std::filesystem;

class Databases : public Program {
 protected:
  void make() const {
    for (const char* ending : {"", "-journal", "-wal"})
      fs::remove(folder / (std::string("study.db") + ending));
    ASSERT_EQ(
        assay("inspect --quiet --model net.onnx --data images-idx3-ubyte --hypotheses label --db study.db")
            .code,
        0);
  }
  void change(const std::string& sql) const {
    sqlite3* handle = nullptr;
    ASSERT_EQ(sqlite3_open((folder / "study.db").c_str(), &handle), SQLITE_OK);
    ASSERT_EQ(sqlite3_exec(handle, sql.c_str(), nullptr, nullptr, nullptr), SQLITE_OK)
        << sqlite3_errmsg(handle);
    sqlite3_close(handle);
  }
  void expect_code(const std::string& arguments, int code) const {
    const std::string memory = arguments.find("--memory") == std::string::npos ? "--memory 0.5 " : "";
    const Outcome outcome =
        shell(little_memory(4) + "$assay inspect --quiet --threads 1 " + memory + arguments);
    EXPECT_EQ(outcome.code, code) << arguments << ": " << outcome.err;
    EXPECT_TRUE(outcome.err.starts_with("assay: ")) << outcome.err;
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
  }
  // Stopped by SIGTERM once it writes to the database.
  Outcome stopped(const std::string& question) const {
    return shell(
        "$assay inspect --quiet --db study.db \"" + question +
        "\" & while kill -0 $! 2>/dev/null && ! [ -e study.db-journal ]; do sleep 0.02; done; kill -TERM $!; "
        "wait $!");
  }
};

TEST_F(Databases, AFullTextTableOfOthersIsNeverAsked) {
  make();
  change("CREATE VIRTUAL TABLE f USING fts4(a); INSERT INTO f VALUES ('a b c')");
  expect_code(
      "--db study.db --sql \"SELECT fts3_tokenizer('simple', x'4141414141414141'); SELECT * FROM f WHERE f "
      "MATCH 'a'\"",
      5);
  make();
  expect_code("--db study.db \"SELECT fts3_tokenizer('simple', x'4141414141414141')\"", 1);
}

TEST_F(Databases, AJournalDeletesNothing) {
  make();
  const std::string sound = read_file(folder / "study.db"), start("\xd9\xd5\x05\xf9\x20\xa1\x63\xd7", 8);
  const std::string victim = (folder / "victim.txt").string();
  unsigned total = 0;
  for (const char c : victim) total += static_cast<unsigned char>(c);
  std::string header = start + std::string("\0\0\0\0\0\0\0\1\0\0\0\1\0\0\2\0\0\0\x10\0", 20);
  header.resize(512);
  const std::string tail = std::string("\0\4\0\1", 4) + victim + std::string(3, '\0') +
                           static_cast<char>(victim.size()) + std::string(2, '\0') +
                           static_cast<char>(total >> 8U) + static_cast<char>(total) + start;
  write_file(victim, "precious");
  for (const std::string& database :
       {sound, std::string("SQLite format 3") + std::string(200, '\0'), std::string()}) {
    write_file(folder / "study.db", database);
    write_file(folder / "study.db-journal", header + tail);
    expect_code("--db study.db 'SELECT 1'", 5);
    EXPECT_EQ(read_file(victim), "precious");
    EXPECT_EQ(read_file(folder / "study.db"), database);
    EXPECT_EQ(read_file(folder / "study.db-journal"), header + tail);
  }
}

TEST_F(Databases, QuestionsHoldToTheLimits) {
  make();
  const std::uintmax_t size = fs::file_size(folder / "study.db");
  expect_code("'SELECT zeroblob(100000000)'", 8);
  expect_code(
      "--time 0.1 'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n'",
      8);
  expect_code(
      "--memory 0.03 --db study.db 'CREATE TABLE t AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + "
      "1 "
      "FROM n) SELECT randomblob(900) FROM n'",
      8);
  EXPECT_EQ(fs::file_size(folder / "study.db"), size);
  EXPECT_FALSE(fs::exists(folder / "study.db-journal"));
}

TEST_F(Databases, QuestionsHearSignals) {
  make();
  const std::uintmax_t size = fs::file_size(folder / "study.db");
  // The second is one call of a function, which looks at no signal.
  for (const char* question :
       {"CREATE TABLE t AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) "
        "FROM n",
        "CREATE TABLE t AS SELECT instr(zeroblob(8000000), CAST(zeroblob(4000000) || 'x' AS BLOB))"}) {
    const Outcome outcome = stopped(question);
    EXPECT_EQ(outcome.code, 128 + SIGTERM) << question << outcome.err;
    ASSERT_EQ(assay("inspect --quiet --db study.db 'SELECT count(*) FROM scores'").code, 0);
    EXPECT_EQ(fs::file_size(folder / "study.db"), size);
  }
}

}  // namespace
}  // namespace assay
