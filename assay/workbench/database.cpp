#include "assay/workbench/database.h"

#include <sqlite3.h>

#include <algorithm>
#include <utility>

#include <assay/error.h>
#include <assay/progress.h>
#include "assay/support/deaf_work.h"
#include "assay/support/memory.h"
#include "assay/workbench/database_schema.h"
#include "assay/workbench/query/sql_text.h"
#include "assay/workbench/query_rules.h"

namespace assay::workbench {
namespace {

constexpr int own_application = 0x41535359;  // "ASSY", in the file's header
constexpr int patience = 10000;              // milliseconds that another program may hold the file

// Bytes by which a statement of a user may grow the database and temporary files.
std::uint64_t room_for_users() { return std::min(std::uint64_t{1} << 30, memory_limit()); }

bool interrupted() {
  try {
    check_interrupt();
    return false;
  } catch (const Error&) {
    return true;
  }
}

std::string hexadecimal(const void* bytes, int size) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text = "x'";
  text.reserve(2 * static_cast<std::size_t>(size) + 3);
  for (int i = 0; i < size; ++i) {
    const unsigned char byte = static_cast<const unsigned char*>(bytes)[i];
    text += digits[byte >> 4U];
    text += digits[byte & 15U];
  }
  return text + "'";
}

}  // namespace

Statement::Statement(Database& database, std::string_view sql)
    : database_(&database), of_user_(database.under_user_rules()) {
  const char* rest = nullptr;
  database.forget_refusal();
  const int code =
      sqlite3_prepare_v2(database.handle(), sql.data(), static_cast<int>(sql.size()), &statement_, &rest);
  if (code != SQLITE_OK) database.fail_with(code, "");
  has_more_ = rest < sql.data() + sql.size();
  if (!of_user_ || sqlite3_stmt_isexplain(statement_) != 1) return;
  sqlite3_finalize(statement_);
  fail(Fault::usage,
       "EXPLAIN alone lists SQLite's inner program; write EXPLAIN QUERY PLAN, or EXPLAIN INSPECT");
}

Statement::Statement(Statement&& other) noexcept
    : database_(other.database_),
      statement_(std::exchange(other.statement_, nullptr)),
      has_more_(other.has_more_),
      of_user_(other.of_user_) {}

Statement::~Statement() { sqlite3_finalize(statement_); }

int Statement::bind_one(int at, const Cell& value) {
  if (const auto* text = std::get_if<std::string>(&value))
    return sqlite3_bind_text64(statement_, at, text->data(), text->size(), SQLITE_TRANSIENT, SQLITE_UTF8);
  if (const auto* whole = std::get_if<std::int64_t>(&value))
    return sqlite3_bind_int64(statement_, at, *whole);
  if (const auto* real = std::get_if<double>(&value))
    return sqlite3_bind_double(statement_, at, *real);  // NaN becomes NULL
  if (const auto* truth = std::get_if<bool>(&value))
    return sqlite3_bind_int64(statement_, at, *truth ? 1 : 0);
  return sqlite3_bind_null(statement_, at);
}

Statement& Statement::bind(const std::vector<Cell>& values) {
  sqlite3_reset(statement_);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const int code = bind_one(static_cast<int>(i) + 1, values[i]);
    if (code != SQLITE_OK) database_->fail_with(code, "");
  }
  return *this;
}

bool Statement::step() {
  if (statement_ == nullptr) return false;  // blanks and comments only
  std::optional<Database::UserRules> rules;
  if (of_user_) rules.emplace(*database_);
  const int code = sqlite3_step(statement_);
  if (code == SQLITE_ROW) return true;
  if (code != SQLITE_DONE) database_->fail_with(code, "");
  return false;
}

int Statement::columns() const { return sqlite3_column_count(statement_); }

std::string Statement::name(int column) const {
  const char* name = sqlite3_column_name(statement_, column);
  return name == nullptr ? "" : name;
}

Cell Statement::value(int column) const {
  switch (sqlite3_column_type(statement_, column)) {
    case SQLITE_INTEGER:
      return static_cast<std::int64_t>(sqlite3_column_int64(statement_, column));
    case SQLITE_FLOAT:
      return sqlite3_column_double(statement_, column);
    case SQLITE_TEXT:
      return text(column);
    case SQLITE_BLOB:
      return hexadecimal(sqlite3_column_blob(statement_, column), sqlite3_column_bytes(statement_, column));
    default:
      return {};
  }
}

std::string Statement::text(int column) const {
  const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement_, column));
  if (text == nullptr) return {};
  return {text, static_cast<std::size_t>(sqlite3_column_bytes(statement_, column))};
}

std::int64_t Statement::integer(int column) const { return sqlite3_column_int64(statement_, column); }

Database::Database(const std::filesystem::path& path, int version)
    : path_(path), files_(path, own_application) {
  const int code = sqlite3_open_v2(files_.name().c_str(), &handle_,
                                   SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, files_.system());
  try {
    if (code != SQLITE_OK) fail_with(code, "");
    set_up();
    identify(version);
  } catch (...) {
    sqlite3_close_v2(handle_);
    throw;
  }
}

void Database::set_up() {
  sqlite3_extended_result_codes(handle_, 0);
  sqlite3_busy_timeout(handle_, patience);
  sqlite3_hard_heap_limit64(memory_limit());
  sqlite3_progress_handler(
      handle_, 10000,
      [](void* self) {
        const TimeLimit* const limit = static_cast<Database*>(self)->time_limit_;
        return interrupted() || (limit != nullptr && limit->is_over()) ? 1 : 0;
      },
      this);
  sqlite3_set_authorizer(handle_, authorise, this);
  harden(handle_);
  run("PRAGMA cell_size_check = 1");
}

Database::~Database() { sqlite3_close_v2(handle_); }

void Database::identify(int version) {
  const auto number = [&](const char* sql) {
    Statement statement(*this, sql);
    return statement.step() ? statement.integer(0) : 0;
  };
  if (number("SELECT count(*) FROM sqlite_master") == 0) {
    // Both in one transaction, with which the file begins.
    run(fmt::format("BEGIN IMMEDIATE; PRAGMA application_id = {}; PRAGMA user_version = {}; COMMIT",
                    own_application, version));
    return;
  }
  if (number("PRAGMA application_id") != own_application)
    fail(Fault::data, "{}: a database of another program, which stays as it is; name another file",
         path_.string());
  if (!path_.empty()) judge_schema(*this);
  const std::int64_t found = number("PRAGMA user_version");
  if (found != version)
    fail(Fault::mismatch,
         "{}: a database of version {}, where this Assay reads and writes version {}; name another file",
         path_.string(), found, version);
}

void Database::run(const std::string& sql) {
  std::string_view rest = sql;
  refusal_.clear();
  while (!rest.empty()) {
    const char* end = nullptr;
    sqlite3_stmt* statement = nullptr;
    int code = sqlite3_prepare_v2(handle_, rest.data(), static_cast<int>(rest.size()), &statement, &end);
    while (code == SQLITE_OK && statement != nullptr && (code = sqlite3_step(statement)) == SQLITE_ROW)
      code = SQLITE_OK;
    sqlite3_finalize(statement);
    if (code != SQLITE_OK && code != SQLITE_DONE) fail_with(code, "");
    rest.remove_prefix(end - rest.data());
  }
}

std::vector<std::string> Database::columns_of(const std::string& query) {
  const UserRules rules(*this);
  const Statement statement(*this, query);
  std::vector<std::string> names;
  for (int i = 0; i < statement.columns(); ++i) names.push_back(statement.name(i));
  return names;
}

bool Database::exists(std::string_view relation) const {
  const std::vector<std::string> all = relations();
  return std::ranges::any_of(all, [&](const std::string& name) { return same_name(name, relation); });
}

std::vector<std::string> Database::relations() const {
  Statement statement(const_cast<Database&>(*this),
                      "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') UNION ALL "
                      "SELECT name FROM sqlite_temp_master WHERE type IN ('table', 'view')");
  std::vector<std::string> names;
  while (statement.step()) names.push_back(statement.text(0));
  return names;
}

Database::UserRules::UserRules(Database& database)
    : database_(database), before_(std::exchange(database.user_rules_, true)) {
  if (!before_) database_.files_.limit_growth(room_for_users());
}

Database::UserRules::~UserRules() {
  database_.user_rules_ = before_;
  if (!before_) database_.files_.limit_growth(std::nullopt);
}

// Functions are judged in Assay's own statements as well: a view or an index may have brought them.
int Database::authorise(void* self, int action, const char* a, const char* b, const char*,
                        const char* inside) {
  auto& database = *static_cast<Database*>(self);
  try {
    if (action == SQLITE_FUNCTION && !allowed_function(b == nullptr ? "" : b))
      return database.refuse(fmt::format("{}the function '{}' is not for queries",
                                         inside == nullptr ? "" : fmt::format("'{}': ", inside), b));
    if (!database.user_rules_) return SQLITE_OK;
    return database.judge(action, a == nullptr ? "" : a, b == nullptr ? "" : b);
  } catch (...) {
    return SQLITE_DENY;
  }
}

int Database::refuse(std::string why) {
  refusal_ = std::move(why);
  return SQLITE_DENY;
}

int Database::judge(int action, std::string_view a, std::string_view b) {
  const auto is_own = [&](std::string_view relation) {
    return std::ranges::any_of(own_, [&](const std::string& name) { return same_name(name, relation); });
  };
  switch (action) {
    case SQLITE_SELECT:
    case SQLITE_READ:
    case SQLITE_RECURSIVE:
    case SQLITE_ANALYZE:
    case SQLITE_REINDEX:
    case SQLITE_FUNCTION:  // it is on the list
      return SQLITE_OK;
    case SQLITE_PRAGMA:
      return allowed_pragma(a)
                 ? SQLITE_OK
                 : refuse(fmt::format("PRAGMA {} is not for queries; those that list columns are, "
                                      "such as table_info",
                                      a));
    case SQLITE_INSERT:
    case SQLITE_UPDATE:
    case SQLITE_DELETE:
    case SQLITE_CREATE_TABLE:
    case SQLITE_CREATE_TEMP_TABLE:
    case SQLITE_CREATE_VIEW:
    case SQLITE_CREATE_TEMP_VIEW:
    case SQLITE_DROP_TABLE:
    case SQLITE_DROP_TEMP_TABLE:
    case SQLITE_DROP_VIEW:
    case SQLITE_DROP_TEMP_VIEW:
      return is_own(a) ? refuse(fmt::format("'{}' is written by Assay alone; make your own relation with "
                                            "CREATE TABLE name AS SELECT ...",
                                            a))
                       : SQLITE_OK;
    case SQLITE_CREATE_INDEX:
    case SQLITE_CREATE_TEMP_INDEX:
    case SQLITE_DROP_INDEX:
    case SQLITE_DROP_TEMP_INDEX:
    case SQLITE_ALTER_TABLE:
      return is_own(b) ? refuse(fmt::format("'{}' is written by Assay alone", b)) : SQLITE_OK;
    case SQLITE_ATTACH:
    case SQLITE_DETACH:
      return refuse("queries stay in one database, without ATTACH, DETACH and VACUUM");
    case SQLITE_TRANSACTION:
    case SQLITE_SAVEPOINT:
      return refuse("every statement is a separate transaction, without BEGIN, COMMIT and SAVEPOINT");
    case SQLITE_CREATE_TRIGGER:
    case SQLITE_CREATE_TEMP_TRIGGER:
    case SQLITE_DROP_TRIGGER:
    case SQLITE_DROP_TEMP_TRIGGER:
      return refuse("triggers are not allowed here");
    case SQLITE_CREATE_VTABLE:
    case SQLITE_DROP_VTABLE:
      return refuse("virtual tables are not allowed here");
    default:
      return refuse("this statement is not for queries");
  }
}

void Database::fail_for_room(std::string_view name) {
  const std::string said = sqlite3_errmsg(handle_);
  const bool outgrown = files_.outgrown();
  // SQLite leaves its journal to who reads next: then what was written is taken back.
  sqlite3_exec(handle_, "SELECT count(*) FROM sqlite_master", nullptr, nullptr, nullptr);
  if (outgrown)
    fail(Fault::resources, "the statement writes more than {} MiB, which are not kept; ask for less",
         room_for_users() >> 20U);
  fail(Fault::io, "{}: {}", name, said);
}

void Database::fail_with(int code, std::string_view doing) {
  const std::string name = path_.empty() ? "database" : path_.string();
  const std::string said = handle_ == nullptr ? "out of memory" : sqlite3_errmsg(handle_);
  const std::string context = doing.empty() ? name : fmt::format("{}: {}", name, doing);
  if (!files_.refusal().empty())
    fail(Fault::data, "{}, and is neither played back nor removed", files_.refusal());
  switch (code & 0xFF) {
    case SQLITE_NOTADB:
      fail(Fault::data, "{}: not a database; name another file, or one that does not exist yet", context);
    case SQLITE_CORRUPT:
    case SQLITE_FORMAT:
      fail(Fault::data, "{}: the database is damaged: {}", context, said);
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      fail(Fault::io, "{}: another program is using the database; try again when it has ended", context);
    case SQLITE_FULL:
      fail_for_room(context);
    case SQLITE_CANTOPEN:
    case SQLITE_IOERR:
    case SQLITE_READONLY:
    case SQLITE_PERM:
      fail(Fault::io, "{}: {}", context, said);
    case SQLITE_NOMEM:
      fail(Fault::resources, "{}: a question or the file needs more memory than allowed{}", context,
           About{"", " ({memory})"});
    case SQLITE_TOOBIG:
      fail(Fault::resources, "{}: {}; one value has {} MiB at most, by the limit on memory", context, said,
           largest_value() >> 20U);
    case SQLITE_INTERRUPT:
      if (time_limit_ != nullptr) time_limit_->check();
      fail(Fault::interrupted, "interrupted");
    default:
      if (!refusal_.empty()) fail(user_rules_ ? Fault::usage : Fault::data, "{}", refusal_);
      // Assay's own statements are sound: then the relations are not those that it made.
      if (!user_rules_ && !path_.empty()) fail(Fault::data, "{}: the database is damaged: {}", context, said);
      fail(Fault::usage, "{}", said);
  }
}

// The outermost takes the lock before anything is read that it writes back changed.
Transaction::Transaction(Database& database)
    : database_(database), outermost_(sqlite3_get_autocommit(database.handle()) != 0) {
  database_.run(outermost_ ? "BEGIN IMMEDIATE" : "SAVEPOINT assay");
}

Transaction::~Transaction() {
  if (!open_) return;
  try {
    database_.run(outermost_ ? "ROLLBACK" : "ROLLBACK TO assay; RELEASE assay");
  } catch (const std::exception&) {
    // SQLite has rolled back by itself.
  }
}

void Transaction::commit() {
  database_.run(outermost_ ? "COMMIT" : "RELEASE assay");
  open_ = false;
}

}  // namespace assay::workbench
