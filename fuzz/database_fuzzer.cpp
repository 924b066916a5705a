// A database with what lies beside it, and SQL. The first byte says what the input is: 'q': SQL, asked of an
// empty workbench; else the bytes of a file, with SQL behind the mark: 'd': the database, 'j': its journal,
// 'l': its write-ahead log, beside a sound database. An answer, or an Error that is not a defect; a foreign
// journal or log stays as it is, and so does the victim that seeds name.

#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <iostream>

#include <assay/error.h>
#include "assay/support/memory.h"
#include "assay/workbench/database.h"
#include "assay/workbench/query/sql_text.h"
#include "seeds.h"

namespace {

namespace fs = std::filesystem;
using namespace assay;
using workbench::Database;

constexpr int version = 1;
constexpr const char* mark = "\nSQL:";
constexpr const char* relations =
    "CREATE TABLE units(mid TEXT, uid TEXT, unit INTEGER, PRIMARY KEY(mid, uid)); INSERT INTO units VALUES "
    "('m', "
    "'fc:0', 0), ('m', 'fc:1', 1); CREATE VIEW best AS SELECT uid FROM units; CREATE INDEX by_unit ON "
    "units(unit)";

void require(bool holds, const char* what) {
  if (holds) return;
  std::cerr << what << "\n";
  std::abort();
}

const fs::path& scratch() {
  static const fs::path folder = [] {
    const fs::path memory = "/dev/shm", parent = fs::exists(memory) ? memory : fs::temp_directory_path();
    fs::path made = parent / ("assay_fuzz_database_" + std::to_string(::getpid()));
    fs::create_directories(made);
    std::atexit([] { fs::remove_all(scratch()); });
    return made;
  }();
  return folder;
}
fs::path file() { return scratch() / "study.db"; }

const std::string& sound() {
  static const std::string bytes = [] {
    fs::remove(file());
    { Database(file(), version).run(relations); }
    return read_file(file());
  }();
  return bytes;
}

std::vector<std::string> seeds() {
  const std::string start("\xd9\xd5\x05\xf9\x20\xa1\x63\xd7", 8), page = sound().substr(0, 4096);
  std::string journal = start + std::string("\0\0\0\1\0\0\0\1\0\0\0\3\0\0\2\0\0\0\x10\0", 20);
  journal.resize(512);
  const std::string victim = (scratch() / "victim").string();
  journal += std::string("\0\0\0\1", 4) + page + std::string(4, '\0') + victim + start;
  return {
      "qSELECT uid, count(*) FROM units GROUP BY uid HAVING count(*) > 0 ORDER BY 1 LIMIT 3",
      "qWITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 9) SELECT hex(zeroblob(i)) FROM "
      "n",
      "qSELECT fts3_tokenizer('simple', x'41'), load_extension('x'); CREATE VIRTUAL TABLE f USING fts4(a)",
      "qCREATE TABLE t(a, b AS (a + 1)); INSERT INTO t VALUES (json('[1]')); UPDATE t SET a = 2; DROP TABLE "
      "t",
      "d" + sound() + mark + "SELECT * FROM units JOIN best",
      "j" + journal + mark + "SELECT * FROM units",
      std::string("l") + "\x37\x7f\x06\x82" + std::string(60, '\0') + mark + "SELECT 1"};
}

// Time is bounded: to be slow is not a defect.
void ask(Database& database, const std::string& text) {
  const workbench::SqlText sql(text);
  const workbench::TimeLimit limit(2);
  database.set_time_limit(&limit);
  const Database::UserRules rules(database);
  std::size_t first = 0;
  for (std::size_t i = 0; i < sql.tokens().size(); ++i) {
    const bool ends =
        i + 1 == sql.tokens().size() || (sql.token(i).is_symbol(";") && sql.token(i).depth == 0);
    if (!ends) continue;
    if (i > first) {
      workbench::Statement statement(database, sql.text_of({first, i}));
      for (int rows = 0; rows < 1000 && statement.step(); ++rows)
        for (int column = 0; column < statement.columns(); ++column) statement.value(column);
    }
    first = i + 1;
  }
}

void open_and_ask(const std::string& sql) {
  Database database(file(), version);
  ask(database, sql);
}

void read_file_of(char kind, const std::string& bytes, const std::string& sql) {
  const fs::path beside = file().string() + (kind == 'j' ? "-journal" : "-wal"),
                 victim = scratch() / "victim";
  for (const char* ending : {"-journal", "-wal"}) fs::remove(file().string() + ending);
  write_file(victim, "precious");
  write_file(file(), kind == 'd' ? bytes : sound());
  if (kind != 'd') write_file(beside, bytes);
  try {
    open_and_ask(sql);
  } catch (const Error& error) {
    require(error.fault() != Fault::internal, error.what());
  }
  require(read_file(victim) == "precious", "another file was changed");
  const bool foreign = kind == 'l' || (kind == 'j' && !bytes.empty());
  require(!foreign || read_file(beside) == bytes, "a foreign journal was changed");
  require(!foreign || read_file(file()) == sound(), "a foreign journal was played back");
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  set_memory_limit(std::uint64_t{64} << 20);
  fuzz::write_seeds_if_asked(seeds());
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const char kind = static_cast<char>(data[0]);
  const std::string input(reinterpret_cast<const char*>(data) + 1, size - 1);
  try {
    if (kind == 'q') {
      Database database({}, version);
      database.run(relations);
      ask(database, input);
    } else if (kind == 'd' || kind == 'j' || kind == 'l') {
      const std::size_t end = std::min(input.rfind(mark), input.size());
      read_file_of(kind, input.substr(0, end), end < input.size() ? input.substr(end + 5) : "");
    }
  } catch (const Error& error) {
    require(error.fault() != Fault::internal, error.what());
  }
  return 0;
}
