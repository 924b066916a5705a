#include <fmt/format.h>

#include <algorithm>

#include <assay/gate.h>
#include <assay/report.h>
#include "assay/support/text/visible.h"

namespace assay::report {
namespace {

std::string plain_text(const Cell& cell) {
  struct Visit {
    std::string operator()(std::monostate) const { return ""; }
    std::string operator()(const std::string& v) const { return v; }
    std::string operator()(bool v) const { return v ? "true" : "false"; }
    std::string operator()(std::int64_t v) const { return std::to_string(v); }
    std::string operator()(double v) const { return fmt::format("{}", v); }
  };
  return std::visit(Visit{}, cell);
}

std::string cell_text(const Cell& cell) {
  const bool is_text = std::holds_alternative<std::string>(cell);
  return is_text ? csv_field(std::get<std::string>(cell)) : plain_text(cell);
}

Table gate_table(const std::vector<Gate>& gates) {
  Table table{
      "gates",
      "Gates",
      {{"gate", ""}, {"passed", ""}, {"covered", ""}, {"coverable", ""}, {"value", ""}, {"reason", ""}},
      {}};
  for (const Gate& g : gates) {
    table.rows.push_back(
        {g.text, g.passed, g.covered, g.coverable, g.value ? Cell(*g.value) : Cell(), g.reason});
  }
  return table;
}

Table fact_table(const std::vector<Fact>& facts) {
  Table table{"facts", "Facts", {{"fact", ""}, {"value", ""}}, {}};
  for (const Fact& fact : facts) table.rows.push_back({fact.id, fact.value});
  return table;
}

Table warning_table(const std::vector<Warning>& warnings) {
  Table table{"warnings", "Warnings", {{"id", ""}, {"text", ""}, {"cause", ""}}, {}};
  for (const Warning& w : warnings) table.rows.push_back({w.id, w.text, w.cause});
  return table;
}

}  // namespace

std::string to_csv(const Table& table) {
  std::string text;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    if (i > 0) text += ',';
    text += csv_field(table.columns[i].id);
  }
  text += "\r\n";
  for (const auto& row : table.rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (i > 0) text += ',';
      text += cell_text(row[i]);
    }
    text += "\r\n";
  }
  return text;
}

std::vector<std::pair<std::string, std::string>> to_csv_files(const Document& document) {
  std::vector<Table> tables = document.tables;
  const auto add = [&](Table table) {
    if (!table.rows.empty()) tables.push_back(std::move(table));
  };
  add(fact_table(document.facts));
  add(gate_table(document.gates));
  add(warning_table(document.warnings));
  std::vector<std::pair<std::string, std::string>> files;
  for (const Table& table : tables) files.emplace_back(table.id + ".csv", to_csv(table));
  return files;
}

}  // namespace assay::report
