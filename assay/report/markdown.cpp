#include <fmt/format.h>

#include <algorithm>

#include <assay/gate.h>
#include <assay/report.h>
#include "assay/report/escape.h"
#include "assay/report/percent.h"

namespace assay::report {
namespace {

constexpr std::size_t most_rows = 50;

std::string line(const std::vector<std::string>& cells) {
  std::string text = "|";
  for (const std::string& cell : cells) text += " " + cell + " |";
  return text + "\n";
}

std::string folded(const Table& table) {
  const std::string& title = table.title.empty() ? table.id : table.title;
  std::string text =
      fmt::format("<details><summary>{} ({})</summary>\n\n", xml_escaped(title), table.rows.size());
  std::vector<std::string> titles, rule;
  for (const Column& column : table.columns) {
    titles.push_back(markdown_escaped(column.title));
    rule.emplace_back(column.kind == Column::Kind::text ? "---" : "---:");
  }
  text += line(titles) + line(rule);
  for (std::size_t r = 0; r < std::min(table.rows.size(), most_rows); ++r) {
    std::vector<std::string> cells;
    for (std::size_t i = 0; i < table.rows[r].size(); ++i) {
      cells.push_back(markdown_escaped(shown(table.columns[i], table.rows[r][i])));
    }
    text += line(cells);
  }
  if (table.rows.size() > most_rows)
    text += fmt::format("\n... and {} more\n", table.rows.size() - most_rows);
  return text + "\n</details>\n\n";
}

std::string gates(const std::vector<Gate>& all) {
  const auto passed = std::count_if(all.begin(), all.end(), [](const Gate& gate) { return gate.passed; });
  std::string text = fmt::format("**gates: {} of {} passed**\n\n", passed, all.size()) +
                     line({"", "gate", "outcome"}) + line({"---", "---", "---"});
  for (const Gate& gate : all) {
    text += line({gate.passed ? "passed" : "**FAILED**", markdown_escaped(gate.text),
                  markdown_escaped(outcome_of(gate))});
  }
  return text + "\n";
}

}  // namespace

std::string to_markdown(const Document& document) {
  std::string text = fmt::format("## Assay {}: {}\n\n", markdown_escaped(document.command),
                                 markdown_escaped(document.headline));
  if (!document.gates.empty()) text += gates(document.gates);
  for (const Warning& warning : document.warnings) {
    text += "> **Warning:** " + markdown_escaped(warning.text.text()) +
            (warning.cause.empty() ? "" : " *Likely cause:* " + markdown_escaped(warning.cause.text())) +
            "\n\n";
  }
  for (const Fact& fact : document.facts) {
    text += fmt::format("- {}: {}\n", markdown_escaped(fact.title), markdown_escaped(shown(fact)));
  }
  if (!document.facts.empty()) text += "\n";
  for (const std::string& notice : document.notices) text += "> " + markdown_escaped(notice) + "\n\n";
  for (const Table& table : document.tables) {
    if (table.detail) continue;
    if (!table.columns.empty()) text += folded(table);
  }
  return text;
}

}  // namespace assay::report
