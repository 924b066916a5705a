#include "assay/evidence/cards.h"

#include <fmt/format.h>

#include <algorithm>

#include "assay/report/percent.h"

namespace assay::evidence {
namespace {

constexpr std::size_t most_rows = 200;

void add_document(Text& text, const report::Document& document) {
  add_facts(text, document);
  for (const report::Table& table : document.tables) {
    if (table.detail || table.rows.empty()) continue;
    add_table(text, table, most_rows);
  }
  if (!document.notices.empty()) text.list({document.notices.begin(), document.notices.end()});
}

}  // namespace

void add_facts(Text& text, const report::Document& document) {
  if (document.facts.empty()) return;
  std::vector<std::vector<std::string>> rows{{"figure", "value"}};
  for (const report::Fact& fact : document.facts) rows.push_back({fact.title, report::shown(fact)});
  text.table(std::move(rows));
}

void add_table(Text& text, const report::Table& table, std::size_t most) {
  if (!table.title.empty()) text.paragraph(table.title + ":");
  std::vector<std::vector<std::string>> rows(1);
  for (const report::Column& column : table.columns) rows[0].push_back(column.title);
  for (std::size_t r = 0; r < std::min(most, table.rows.size()); ++r) {
    std::vector<std::string>& cells = rows.emplace_back();
    for (std::size_t c = 0; c < table.columns.size(); ++c)
      cells.push_back(report::shown(table.columns[c], table.rows[r][c]));
  }
  text.table(std::move(rows));
  if (table.rows.size() > most)
    text.paragraph(fmt::format("{} more rows are in the result document.", table.rows.size() - most));
}

void add_network_card(Text& text, std::span<const StepResult> results) {
  text.heading(2, "Network card");
  bool any = false;
  for (const StepResult& result : results) {
    if (result.step.command != "model") continue;
    any = true;
    text.paragraph(result.document.headline);
    add_document(text, result.document);
  }
  if (!any) text.paragraph("No step `model` was run: layers, parameters and dead neurons are not told.");
}

void add_data_cards(Text& text, std::span<const StepResult> results) {
  text.heading(2, "Data cards");
  bool any = false;
  for (const StepResult& result : results) {
    if (result.step.command != "data") continue;
    any = true;
    text.heading(3, result.step.name);
    text.paragraph(result.document.headline);
    add_document(text, result.document);
  }
  if (!any) text.paragraph("No step `data` was run: counts, ranges and duplicates are not told.");
  for (const StepResult& result : results) {
    for (const report::Warning& warning : result.document.warnings) {
      if (warning.id == "overlap" || warning.id == "same-data" || warning.id == "scale")
        text.paragraph(fmt::format("Found by {}: {}.", result.step.name, warning.text.text()));
    }
  }
}

}  // namespace assay::evidence
