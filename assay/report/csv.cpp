#include <fmt/format.h>

#include <algorithm>

#include <assay/gate.h>
#include <assay/report.h>

namespace assay::report {
namespace {

std::string field(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

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

}  // namespace

std::string to_csv(const Table& table) {
  std::string text;
  const auto add = [&](std::size_t i, const std::string& cell) {
    if (i > 0) text += ',';
    text += field(cell);
  };
  for (std::size_t i = 0; i < table.columns.size(); ++i) add(i, table.columns[i].id);
  text += "\r\n";
  for (const auto& row : table.rows) {
    for (std::size_t i = 0; i < row.size(); ++i) add(i, plain_text(row[i]));
    text += "\r\n";
  }
  return text;
}

std::string to_csv(const Document& document) {
  std::vector<Table> tables = document.tables;
  if (!document.gates.empty()) tables.push_back(gate_table(document.gates));
  if (tables.size() == 1) return to_csv(tables[0]);
  std::string text;
  for (const Table& table : tables)
    text += (text.empty() ? "" : "\r\n") + field(table.id) + "\r\n" + to_csv(table);
  return text;
}

}  // namespace assay::report
