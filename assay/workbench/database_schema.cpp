#include "assay/workbench/database_schema.h"

#include <algorithm>
#include <array>

#include <assay/error.h>
#include "assay/workbench/query/sql_text.h"

namespace assay::workbench {
namespace {

struct SchemaEntry {
  std::string name, sql;
};

// Tables first: indices are of them.
std::vector<SchemaEntry> definitions_in(Database& database) {
  Statement find(database,
                 "SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY type <> 'table', rowid");
  std::vector<SchemaEntry> found;
  while (find.step()) found.push_back({find.text(0), find.text(1)});
  return found;
}

// SQLite's internal relations, whose names a user cannot give.
bool is_own_of_sqlite(const std::string& name) {
  constexpr std::array<std::string_view, 3> known{"sqlite_sequence", "sqlite_stat1", "sqlite_stat4"};
  return std::ranges::find(known, name) != known.end();
}

}  // namespace

void judge_schema(Database& database) {
  Database twin({}, 0);  // is made anew, where everything is judged that is written
  const Database::UserRules rules(twin);
  for (const SchemaEntry& definition : definitions_in(database)) {
    if (is_own_of_sqlite(definition.name)) continue;
    try {
      Statement(twin, definition.sql).run({});
    } catch (const Error& error) {
      if (error.fault() == Fault::interrupted || error.fault() == Fault::resources) throw;
      fail(Fault::data, "{}: holds '{}', which Assay does not make: {}", database.path().string(),
           definition.name, error.message());
    }
  }
}

}  // namespace assay::workbench
