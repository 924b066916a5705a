#include "assay/workbench/query_rules.h"

#include <sqlite3.h>

#include <algorithm>
#include <array>
#include <utility>

#include "assay/support/memory.h"
#include "assay/workbench/query/sql_text.h"

namespace assay::workbench {
namespace {

constexpr std::array functions_of_values = std::to_array<std::string_view>(
    {// of values
     "->", "->>", "abs", "changes", "char", "coalesce", "concat", "concat_ws", "current_date", "current_time",
     "current_timestamp", "date", "datetime", "format", "glob", "hex", "if", "ifnull", "iif", "instr",
     "julianday", "last_insert_rowid", "length", "like", "likelihood", "likely", "lower", "ltrim", "max",
     "min", "nullif", "octet_length", "printf", "quote", "random", "randomblob", "replace", "round", "rtrim",
     "sign", "soundex", "sqlite_version", "strftime", "substr", "substring", "time", "timediff",
     "total_changes", "trim", "typeof", "unhex", "unicode", "unistr", "unistr_quote", "unixepoch", "unlikely",
     "upper", "zeroblob",
     // of numbers
     "acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "ceil", "ceiling", "cos", "cosh", "degrees",
     "exp", "floor", "ln", "log", "log10", "log2", "mod", "pi", "pow", "power", "radians", "sin", "sinh",
     "sqrt", "tan", "tanh", "trunc",
     // of rows
     "avg", "count", "cume_dist", "dense_rank", "first_value", "group_concat", "lag", "last_value", "lead",
     "median", "nth_value", "ntile", "percent_rank", "percentile", "percentile_cont", "percentile_disc",
     "rank", "row_number", "string_agg", "sum", "total",
     // of JSON
     "json", "json_array", "json_array_insert", "json_array_length", "json_error_position", "json_extract",
     "json_group_array", "json_group_object", "json_insert", "json_object", "json_patch", "json_pretty",
     "json_quote", "json_remove", "json_replace", "json_set", "json_type", "json_valid", "jsonb",
     "jsonb_array", "jsonb_array_insert", "jsonb_extract", "jsonb_group_array", "jsonb_group_object",
     "jsonb_insert", "jsonb_object", "jsonb_patch", "jsonb_remove", "jsonb_replace", "jsonb_set",
     // SQLite's own, by which ALTER TABLE works; a query cannot name them
     "sqlite_drop_column", "sqlite_rename_column", "sqlite_rename_quotefix", "sqlite_rename_table",
     "sqlite_rename_test"});

constexpr std::array pragmas_that_tell =
    std::to_array<std::string_view>({"table_info", "table_xinfo", "table_list", "index_list", "index_info",
                                     "index_xinfo", "database_list", "function_list", "compile_options"});

// What modules leave behind that goes on pointing into them; the modules are dropped.
constexpr std::array functions_of_modules =
    std::to_array<std::pair<const char*, int>>({{"fts3_tokenizer", 1},
                                                {"fts3_tokenizer", 2},
                                                {"fts5", 1},
                                                {"fts5_source_id", 0},
                                                {"load_extension", 1},
                                                {"load_extension", 2}});

template <std::size_t n>
bool is_among(std::string_view name, const std::array<std::string_view, n>& names) {
  return std::ranges::any_of(names, [&](std::string_view known) { return same_name(known, name); });
}

void set_limits(sqlite3* handle) {
  constexpr int longest_pattern = 1000;
  sqlite3_limit(handle, SQLITE_LIMIT_ATTACHED, 0);
  sqlite3_limit(handle, SQLITE_LIMIT_LENGTH, static_cast<int>(largest_value()));
  sqlite3_limit(handle, SQLITE_LIMIT_LIKE_PATTERN_LENGTH, longest_pattern);
  sqlite3_limit(handle, SQLITE_LIMIT_WORKER_THREADS, 0);
}

}  // namespace

bool allowed_function(std::string_view name) { return is_among(name, functions_of_values); }

bool allowed_pragma(std::string_view name) { return is_among(name, pragmas_that_tell); }

std::uint64_t largest_value() {
  constexpr std::uint64_t least = std::uint64_t{1} << 20, most = std::uint64_t{64} << 20;
  return std::clamp(memory_limit() / 64, least, most);
}

void harden(sqlite3* handle) {
  for (const int forbidden :
       {SQLITE_DBCONFIG_TRUSTED_SCHEMA, SQLITE_DBCONFIG_ENABLE_TRIGGER, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION,
        SQLITE_DBCONFIG_ENABLE_FTS3_TOKENIZER, SQLITE_DBCONFIG_WRITABLE_SCHEMA,
        // "x" that is not a name is an error, and not the text x.
        SQLITE_DBCONFIG_DQS_DML, SQLITE_DBCONFIG_DQS_DDL})
    sqlite3_db_config(handle, forbidden, 0, nullptr);
  sqlite3_db_config(handle, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  set_limits(handle);
  for (const auto& [name, arguments] : functions_of_modules)
    sqlite3_create_function_v2(handle, name, arguments, SQLITE_UTF8, nullptr, nullptr, nullptr, nullptr,
                               nullptr);
  std::array<const char*, 3> modules{"json_each", "json_tree", nullptr};
  sqlite3_drop_modules(handle, modules.data());
}

}  // namespace assay::workbench
