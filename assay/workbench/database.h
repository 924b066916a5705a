#pragma once

// SQLite, as the workbench uses it: values are cells of result documents, errors are assay::Error, and SQL
// that users wrote runs under separate rules.

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <assay/report.h>
#include "assay/workbench/database_files.h"
#include "assay/workbench/time_limit.h"

struct sqlite3;
struct sqlite3_stmt;

namespace assay::workbench {

using report::Cell;

class Database;

// A prepared statement. Not thread-safe, as all of this.
class Statement {
 public:
  Statement(Database& database, std::string_view sql);
  ~Statement();
  Statement(Statement&& other) noexcept;
  Statement(const Statement&) = delete;

  // Values for the parameters, in order; starts over. Text is taken by reference until the next step.
  Statement& bind(const std::vector<Cell>& values);
  // The next row; false at the end.
  bool step();
  // Binds, and runs to the end.
  void run(const std::vector<Cell>& values) {
    bind(values);
    while (step()) {
    }
  }

  int columns() const;
  std::string name(int column) const;
  Cell value(int column) const;  // blobs are shown as x'hex'
  std::string text(int column) const;
  std::int64_t integer(int column) const;
  // End of the prepared statement; the rest of the text was not looked at.
  bool has_more() const { return has_more_; }

 private:
  int bind_one(int at, const Cell& value);

  Database* database_;
  sqlite3_stmt* statement_ = nullptr;
  bool has_more_ = false, of_user_;  // it was prepared under the rules for users, which hold while it runs
};

class Database {
 public:
  // Opens or makes the file; an empty path is a database in memory. Throws Error{data} for a file that is not
  // a database of Assay's, is damaged, or holds what Assay does not make, and for a journal next to it that
  // Assay did not write; Error{mismatch} for one of a newer version, Error{io} when the file system refuses.
  explicit Database(const std::filesystem::path& path, int version);
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  sqlite3* handle() const { return handle_; }
  const std::filesystem::path& path() const { return path_; }
  // When statements end with Error{resources}; nothing: when they are done.
  void set_time_limit(const TimeLimit* limit) { time_limit_ = limit; }
  // One or more statements of our own, without results.
  void run(const std::string& sql);
  // Of the columns of a query that was written by a user; nothing is run.
  std::vector<std::string> columns_of(const std::string& query);
  bool exists(std::string_view relation) const;
  std::vector<std::string> relations() const;  // that a query can name, in the order of their making

  // Relations that only the workbench itself writes.
  void keep_from_users(std::set<std::string> relations) { own_ = std::move(relations); }
  const std::set<std::string>& own() const { return own_; }
  // While one lives, statements are those of users: they read everything, write separate relations, and reach
  // nothing outside of this database.
  class UserRules {
   public:
    explicit UserRules(Database& database);
    ~UserRules();

   private:
    Database& database_;
    bool before_;
  };
  bool under_user_rules() const { return user_rules_; }
  void forget_refusal() { refusal_.clear(); }

  [[noreturn]] void fail_with(int code, std::string_view doing);

 private:
  static int authorise(void* self, int action, const char* a, const char* b, const char*, const char* inside);
  int judge(int action, std::string_view a, std::string_view b);
  int refuse(std::string why);
  void set_up();
  void identify(int version);
  [[noreturn]] void fail_for_room(std::string_view name);

  std::filesystem::path path_;
  DatabaseFiles files_;
  sqlite3* handle_ = nullptr;
  const TimeLimit* time_limit_ = nullptr;
  bool user_rules_ = false;
  std::set<std::string> own_;
  std::string refusal_;  // why the last statement was refused by the rules; empty where it was not
};

// A transaction: rolled back unless commit() was called. The outermost keeps other writers out from its
// beginning; others may be nested in it.
class Transaction {
 public:
  explicit Transaction(Database& database);
  ~Transaction();
  void commit();

 private:
  Database& database_;
  bool outermost_, open_ = true;
};

}  // namespace assay::workbench
