#include <cmath>

#include <assay/report.h>
#include "assay/report/json_tree.h"

namespace assay::report {
namespace {

using Json = nlohmann::ordered_json;

// Infinities and NaN have no JSON number; they are written as strings so that nothing is lost.
Json number(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "Infinity" : "-Infinity";
  return value;
}

Json to_json_cell(const Cell& cell) {
  struct Visit {
    Json operator()(std::monostate) const { return nullptr; }
    Json operator()(double v) const { return number(v); }
    Json operator()(const std::string& v) const { return v; }
    Json operator()(std::int64_t v) const { return v; }
    Json operator()(bool v) const { return v; }
  };
  return std::visit(Visit{}, cell);
}

std::string kind_name(Column::Kind kind) {
  switch (kind) {
    case Column::Kind::text:
      return "text";
    case Column::Kind::count:
      return "count";
    case Column::Kind::number:
      return "number";
    case Column::Kind::percent:
      return "fraction";
  }
  return "text";
}

Json row_of(const Table& table, const std::vector<Cell>& row, Rows rows) {
  Json cells = rows == Rows::objects ? Json::object() : Json::array();
  for (std::size_t i = 0; i < row.size(); ++i) {
    if (rows == Rows::objects)
      cells[table.columns[i].id] = to_json_cell(row[i]);
    else
      cells.push_back(to_json_cell(row[i]));
  }
  return cells;
}

Json to_json_table(const Table& table, Rows kind) {
  Json columns = Json::array();
  for (const Column& column : table.columns) {
    columns.push_back({{"id", column.id},
                       {"title", column.title},
                       {"kind", kind_name(column.kind)},
                       {"decimals", column.decimals}});
  }
  Json rows = Json::array();
  for (const auto& row : table.rows) rows.push_back(row_of(table, row, kind));
  return {{"title", table.title},
          {"detail", table.detail},
          {"columns", std::move(columns)},
          {"rows", std::move(rows)}};
}

Json to_json_gate(const Gate& gate) {
  return {{"text", gate.text},           {"passed", gate.passed},
          {"reason", gate.reason},       {"criterion", gate.criterion},
          {"layer", gate.layer},         {"class", gate.class_name},
          {"context", gate.context},     {"relation", gate.relation},
          {"threshold", gate.threshold}, {"covered", gate.covered},
          {"coverable", gate.coverable}, {"value", gate.value ? number(*gate.value) : Json()}};
}

}  // namespace

Json json_tree(const Document& document, Rows rows) {
  Json json = {{"schema", "assay/result"},
               {"version", document_schema_version},
               {"command", document.command},
               {"headline", document.headline}};
  json["facts"] = Json::object();
  for (const Fact& fact : document.facts) json["facts"][fact.id] = to_json_cell(fact.value);
  json["fact_columns"] = Json::object();
  for (const Fact& fact : document.facts) {
    json["fact_columns"][fact.id] = {
        {"title", fact.title}, {"kind", kind_name(fact.kind)}, {"decimals", fact.decimals}};
  }
  json["tables"] = Json::object();
  for (const Table& table : document.tables) json["tables"][table.id] = to_json_table(table, rows);
  json["gates"] = Json::array();
  for (const Gate& gate : document.gates) json["gates"].push_back(to_json_gate(gate));
  json["warnings"] = Json::array();
  for (const Warning& w : document.warnings)
    json["warnings"].push_back({{"id", w.id}, {"text", w.text}, {"cause", w.cause}});
  json["pictures"] = Json::array();
  for (const Picture& picture : document.pictures) {
    json["pictures"].push_back({{"title", picture.title}, {"path", picture.path.string()}});
  }
  json["notices"] = document.notices;
  json["definitions"] = Json::array();
  for (const Definition& d : document.definitions) {
    json["definitions"].push_back({{"term", d.term}, {"text", d.text}, {"source", d.source}});
  }
  json["provenance"] = Json::object();
  for (const auto& [key, value] : document.provenance) json["provenance"][key] = to_json_cell(value);
  return json;
}

std::string to_json(const Document& document) {
  // Text from files (names of nodes, records) may not be UTF-8; what is not is replaced, never fatal.
  return json_tree(document, Rows::objects).dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace assay::report
