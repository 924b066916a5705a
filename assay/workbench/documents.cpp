#include "assay/workbench/documents.h"

#include <algorithm>

#include <assay/error.h>
#include "assay/support/ascii.h"
#include "assay/workbench/query/sql_text.h"

namespace assay::workbench {
namespace {

constexpr std::size_t most_columns = 500;

// Letters, digits and _ in lower case; "-" and blanks become _.
std::string identifier(std::string_view text) {
  std::string name;
  for (const char c : text) name += is_alphanumeric(c) ? lower_case(c) : '_';
  return name;
}

std::size_t column_called(const report::Table& table, std::string_view id) {
  const auto found = std::ranges::find(table.columns, id, &report::Column::id);
  return found - table.columns.begin();
}

// Unit ids as the relation `units` has them, for tables that name a layer and a neuron of it.
class UnitIds {
 public:
  explicit UnitIds(const report::Table& table)
      : layer_(column_called(table, "layer")), count_(table.columns.size()) {
    for (const std::string_view id : {"neuron", "unit", "channel"}) {
      if (const std::size_t found = column_called(table, id); number_ >= count_ && found < count_)
        number_ = found;
    }
    if (column_called(table, "uid") < count_) number_ = count_;
  }
  bool any() const { return layer_ < count_ && number_ < count_; }
  Cell of(const std::vector<Cell>& row) const {
    const auto* layer = std::get_if<std::string>(&row[layer_]);
    const auto* number = std::get_if<std::int64_t>(&row[number_]);
    return layer != nullptr && number != nullptr ? Cell{fmt::format("{}:{}", *layer, *number)} : Cell{};
  }

 private:
  std::size_t layer_, count_, number_ = -1;
};

// Makes the relation, or gives it the columns that it lacks.
void prepare_relation(Database& database, const std::string& relation,
                      const std::vector<std::string>& columns) {
  if (!database.exists(relation)) {
    std::string text = "document TEXT";
    for (const std::string& column : columns) text += ", " + quoted_name(column);
    database.run("CREATE TABLE " + quoted_name(relation) + "(" + text + ")");
    return;
  }
  Statement owner(database, "SELECT 1 FROM document_tables WHERE relation = ?1 COLLATE NOCASE");
  owner.bind({relation});
  if (!owner.step())
    fail(Fault::data, "the database has a relation '{}' of another kind already; drop or rename it",
         relation);
  const std::vector<std::string> known = database.columns_of("SELECT * FROM " + quoted_name(relation));
  for (const std::string& column : columns) {
    if (std::ranges::any_of(known, [&](const std::string& name) { return same_name(name, column); }))
      continue;
    database.run("ALTER TABLE " + quoted_name(relation) + " ADD COLUMN " + quoted_name(column));
  }
}

std::string put_table(Database& database, const std::string& name, const std::string& command,
                      const report::Table& table) {
  const std::string relation = identifier(command) + "_" + identifier(table.id);
  std::vector<std::string> columns;
  for (const report::Column& column : table.columns) {
    std::string id = identifier(column.id);
    while (same_name(id, "document") || std::ranges::find(columns, id) != columns.end()) id += "_";
    columns.push_back(id);
  }
  if (columns.size() > most_columns)
    fail(Fault::data, "table '{}' of the document has {} columns; at most {} can be kept", table.id,
         columns.size(), most_columns);
  const UnitIds units(table);
  if (units.any()) columns.emplace_back("uid");
  prepare_relation(database, relation, columns);
  std::string list = "document", places = "?";
  for (const std::string& column : columns) list += ", " + quoted_name(column), places += ", ?";
  Statement insert(database,
                   fmt::format("INSERT INTO {}({}) VALUES ({})", quoted_name(relation), list, places));
  for (const std::vector<Cell>& row : table.rows) {
    std::vector<Cell> cells{name};
    cells.insert(cells.end(), row.begin(), row.end());
    if (units.any()) cells.push_back(units.of(row));
    insert.run(cells);
  }
  Statement(database, "INSERT INTO document_tables VALUES (?,?,?,?)")
      .run({name, relation, table.title, report::count_cell(table.rows.size())});
  return relation;
}

void remove_document(Database& database, const std::string& name) {
  Statement tables(database, "SELECT relation FROM document_tables WHERE document = ?1");
  tables.bind({name});
  std::vector<std::string> own;
  while (tables.step()) own.push_back(tables.text(0));
  std::vector<std::string> relations{"documents", "document_tables", "facts",     "gates",
                                     "notices",   "definitions",     "provenance"};
  relations.insert(relations.end(), own.begin(), own.end());
  for (const std::string& relation : relations)
    Statement(database, "DELETE FROM " + quoted_name(relation) + " WHERE document = ?").run({name});
  // Those that no other document is in make room, so that their names are free.
  for (const std::string& relation : own) {
    Statement others(database, "SELECT 1 FROM document_tables WHERE relation = ?1");
    others.bind({relation});
    if (!others.step()) database.run("DROP TABLE IF EXISTS " + quoted_name(relation));
  }
}

void put_rest(Database& database, const std::string& name, const report::Document& document) {
  Statement(database, "INSERT INTO documents VALUES (?,?,?)")
      .run({name, document.command, document.headline});
  Statement fact(database, "INSERT INTO facts VALUES (?,?,?,?)");
  for (const report::Fact& each : document.facts) fact.run({name, each.id, each.title, each.value});
  Statement gate(database, "INSERT INTO gates VALUES (?,?,?,?,?,?,?)");
  for (const report::Gate& each : document.gates)
    gate.run({name, each.text, each.value ? Cell{*each.value} : Cell{}, each.covered, each.coverable,
              each.passed, each.reason});
  Statement notice(database, "INSERT INTO notices VALUES (?,?)");
  for (const std::string& each : document.notices) notice.run({name, each});
  Statement definition(database, "INSERT INTO definitions VALUES (?,?,?,?)");
  for (const report::Definition& each : document.definitions)
    definition.run({name, each.term, each.text, each.source});
  Statement provenance(database, "INSERT INTO provenance VALUES (?,?,?)");
  for (const auto& [key, value] : document.provenance) provenance.run({name, key, value});
}

}  // namespace

std::vector<std::string> put_document(Database& database, const std::string& name,
                                      const report::Document& document) {
  if (name.empty()) fail(Fault::usage, "a document needs a name: NAME=FILE");
  if (document.command.empty()) fail(Fault::data, "document '{}' does not say which command made it", name);
  Transaction transaction(database);
  remove_document(database, name);
  put_rest(database, name, document);
  std::vector<std::string> relations;
  for (const report::Table& table : document.tables) {
    if (!table.columns.empty()) relations.push_back(put_table(database, name, document.command, table));
  }
  transaction.commit();
  return relations;
}

}  // namespace assay::workbench
