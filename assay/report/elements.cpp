#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include <assay/report.h>
#include "assay/report/mutant_labels.h"
#include "assay/report/percent.h"

namespace assay::report {
namespace {

using Json = nlohmann::ordered_json;

// Cells of a row by column id; empty where there is no such column.
class MutantRow {
 public:
  MutantRow(const Table& table, const std::vector<Cell>& cells) : table_(table), cells_(cells) {}
  std::string text(std::string_view id) const {
    for (std::size_t c = 0; c < table_.columns.size(); ++c) {
      if (table_.columns[c].id != id) continue;
      return std::holds_alternative<std::monostate>(cells_[c]) ? "" : shown(table_.columns[c], cells_[c]);
    }
    return {};
  }

 private:
  const Table& table_;
  const std::vector<Cell>& cells_;
};

std::string status_of(const std::string& status) {
  if (status == "killed") return "Killed";
  if (status == "survived") return "Survived";
  return status == "excluded" ? "Ignored" : "Pending";
}

std::string reason_of(const MutantRow& row) {
  const std::string label = row.text("label"), suffix = label.empty() ? "" : " (" + label + ")";
  if (label.find(not_killable) != std::string::npos) return label;
  if (row.text("status") == "excluded") return "beyond the quality bound" + suffix;
  if (row.text("status") == "incomplete") return "not run on all records";
  return fmt::format("killed by {} records{}", row.text("killers"), suffix);
}

// A layer as a file: a line for each of its mutants, under the layer's name.
struct File {
  std::string source;
  std::int64_t lines = 1;
  Json mutants = Json::array();
};

}  // namespace

std::string to_elements(const Document& document) {
  std::vector<std::pair<std::string, File>> files;
  const auto file_of = [&](const std::string& name) -> File& {
    for (auto& [known, file] : files) {
      if (known == name) return file;
    }
    return files.emplace_back(name, File{name + "\n"}).second;
  };
  for (const Table& table : document.tables) {
    if (table.id != "mutants") continue;
    for (const auto& cells : table.rows) {
      const MutantRow row(table, cells);
      const std::string layer = row.text("layer"),
                        line = fmt::format("  {}: {}", row.text("mutant"), row.text("summary"));
      File& file = file_of(layer.empty() ? "whole network" : layer);
      file.source += line + "\n";
      ++file.lines;
      file.mutants.push_back({{"id", row.text("mutant")},
                              {"mutatorName", row.text("operator")},
                              {"replacement", row.text("summary")},
                              {"description", row.text("summary")},
                              {"location",
                               {{"start", {{"line", file.lines}, {"column", 3}}},
                                {"end", {{"line", file.lines}, {"column", line.size() + 1}}}}},
                              {"status", status_of(row.text("status"))},
                              {"statusReason", reason_of(row)}});
    }
  }
  Json json = {{"schemaVersion", "2"},
               {"thresholds", {{"high", 80}, {"low", 60}}},
               {"framework", {{"name", "Assay"}}},
               {"files", Json::object()}};
  for (auto& [name, file] : files)
    json["files"][name] = {
        {"language", "text"}, {"source", file.source}, {"mutants", std::move(file.mutants)}};
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace assay::report
