#include "assay/selftest/run.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include <assay/error.h>
#include "assay/support/files/file.h"

namespace assay::selftest {
namespace {

namespace fs = std::filesystem;
using report::Cell;

std::string text_of(const Cell& cell) {
  if (const auto* text = std::get_if<std::string>(&cell)) return *text;
  if (const auto* count = std::get_if<std::int64_t>(&cell)) return std::to_string(*count);
  if (const auto* number = std::get_if<double>(&cell)) return fmt::format("{}", *number);
  if (const auto* truth = std::get_if<bool>(&cell)) return *truth ? "true" : "false";
  return "";
}

std::optional<double> number_in(const Cell& cell) {
  if (const auto* count = std::get_if<std::int64_t>(&cell)) return static_cast<double>(*count);
  if (const auto* number = std::get_if<double>(&cell)) return *number;
  return {};
}

std::size_t column_of(const report::Table& table, const std::string& id) {
  const auto found = std::ranges::find(table.columns, id, &report::Column::id);
  if (found == table.columns.end())
    fail(Fault::mismatch, "table '{}' of the answer has no column '{}'", table.id, id);
  return found - table.columns.begin();
}

bool is_selected(const report::Table& table, const std::vector<Cell>& row, const Position& position) {
  return std::ranges::all_of(position.row, [&](const auto& wanted) {
    return text_of(row[column_of(table, wanted.first)]) == wanted.second;
  });
}

Cell in_table(const report::Document& answer, const Position& position) {
  const auto table = std::ranges::find(answer.tables, position.table, &report::Table::id);
  if (table == answer.tables.end()) fail(Fault::mismatch, "the answer has no table '{}'", position.table);
  std::vector<const std::vector<Cell>*> rows;
  for (const std::vector<Cell>& row : table->rows) {
    if (is_selected(*table, row, position)) rows.push_back(&row);
  }
  if (position.column.empty()) return report::count_cell(rows.size());
  if (rows.size() != 1)
    fail(Fault::mismatch, "{} rows of table '{}' are what the check is about, where one should be",
         rows.size(), position.table);
  return (*rows[0])[column_of(*table, position.column)];
}

Cell at(const report::Document& answer, const Position& position) {
  if (!position.table.empty()) return in_table(answer, position);
  const auto fact = std::ranges::find(answer.facts, position.column, &report::Fact::id);
  if (fact == answer.facts.end()) fail(Fault::mismatch, "the answer has no fact '{}'", position.column);
  return fact->value;
}

// Not-a-number agrees with nothing.
bool agree(const Cell& found, const Check& check) {
  const std::optional<double> wanted = number_in(check.expected), number = number_in(found);
  if (wanted && number) return std::abs(*number - *wanted) <= check.tolerance;
  return found == check.expected;
}

std::vector<std::pair<std::string, std::vector<std::string>>> in_folder(const Case& question,
                                                                        const fs::path& folder) {
  auto flags = question.flags;
  for (auto& [flag, values] : flags) {
    for (std::string& value : values) {
      for (std::size_t at = value.find("$/"); at != std::string::npos; at = value.find("$/", at))
        value.replace(at, 1, folder.string());
    }
  }
  return flags;
}

// Of a question that had to be refused and was, or that had to be answered and was not.
Finding judged_refusal(const Case& question, const Check& check, const std::string& message) {
  Finding finding{&question, &check, message, false, ""};
  const auto* wanted = std::get_if<std::string>(&check.expected);
  finding.passed = question.refused && wanted != nullptr && message.find(*wanted) != std::string::npos;
  if (!finding.passed)
    finding.reason =
        question.refused ? "refused with another message: " + message : "not answered: " + message;
  return finding;
}

void ask_one(const Case& question, const Ask& ask, const fs::path& folder, std::vector<Finding>& findings) {
  std::optional<report::Document> answer;
  std::string message;
  try {
    answer = ask(question.command, in_folder(question, folder));
  } catch (const Error& error) {
    if (error.fault() == Fault::interrupted) throw;
    message = error.what();
  } catch (const std::exception& error) {
    message = error.what();
  }
  for (const Check& check : question.checks) {
    if (!answer)
      findings.push_back(judged_refusal(question, check, message));
    else if (question.refused)
      findings.push_back({&question, &check, {}, false, "answered, where it should have been refused"});
    else
      findings.push_back(judged(question, check, *answer));
  }
}

}  // namespace

Finding judged(const Case& question, const Check& check, const report::Document& answer) {
  Finding finding{&question, &check, {}, false, ""};
  try {
    finding.found = at(answer, check.position);
    finding.passed = agree(finding.found, check);
    if (!finding.passed)
      finding.reason = fmt::format("found {}, expected {} (tolerance {})", text_of(finding.found),
                                   text_of(check.expected), check.tolerance);
  } catch (const Error& error) {
    finding.reason = error.what();
  }
  return finding;
}

std::vector<Finding> run(const Suite& suite, const Ask& ask, const fs::path& folder, Progress& progress) {
  for (const auto& [name, bytes] : suite.files) write_file(folder / name, bytes);
  std::vector<Finding> findings;
  Stage stage(progress, "checking", suite.cases.size(), "questions");
  for (const Case& question : suite.cases) {
    ask_one(question, ask, folder, findings);
    stage.advance(1, question.command);
  }
  return findings;
}

}  // namespace assay::selftest
