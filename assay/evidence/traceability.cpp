#include "assay/evidence/traceability.h"

#include <fmt/format.h>

#include <algorithm>

#include <assay/gate.h>
#include "assay/evidence/samples.h"
#include "assay/report/gate_members.h"
#include "assay/report/table_of.h"
#include "assay/support/text/text.h"

namespace assay::evidence {
namespace {

using report::Cell;
using report::Table;

// Cells of a table by column.
class Rows {
 public:
  explicit Rows(const Table& table) : table_(table) {}
  bool has(std::string_view column) const { return at(column) < table_.columns.size(); }
  std::string text(const std::vector<Cell>& row, std::string_view column) const {
    if (!has(column)) return {};
    const Cell& cell = row[at(column)];
    if (const auto* text = std::get_if<std::string>(&cell)) return *text;
    if (const auto* number = std::get_if<std::int64_t>(&cell)) return std::to_string(*number);
    if (const auto* real = std::get_if<double>(&cell)) return fmt::format("{}", *real);
    if (const auto* truth = std::get_if<bool>(&cell)) return *truth ? "yes" : "no";
    return {};
  }

 private:
  std::size_t at(std::string_view column) const {
    return std::ranges::find(table_.columns, column, &report::Column::id) - table_.columns.begin();
  }
  const Table& table_;
};

const Table* table_of(const report::Document& document, std::string_view id) {
  const auto found = std::ranges::find(document.tables, id, &Table::id);
  return found == document.tables.end() ? nullptr : &*found;
}

// Tables of a result in which the items behind a criterion's figure are listed.
std::vector<std::string> item_tables(const report::Document& document, std::string_view criterion) {
  std::vector<std::string> wanted{"neurons", "layers"};
  if (criterion == "idc") wanted = {"idc", "clusters", "uncovered", "combinations"};
  if (criterion.starts_with("mutation") || criterion == "killed-mutants")
    wanted = {"mutants", "survivors", "killers"};
  if (criterion == "accuracy") wanted = {"classes", "confusions"};
  std::vector<std::string> there;
  for (const std::string& id : wanted) {
    if (table_of(document, id) != nullptr) there.push_back(id);
  }
  return there;
}

// Open items, with the record that comes nearest.
std::vector<std::string> open_items(const report::Document& document, std::string_view criterion) {
  constexpr std::size_t most = 5;
  std::vector<std::string> items;
  if (const Table* table = table_of(document, "uncovered"); table != nullptr && criterion == "idc") {
    const Rows rows(*table);
    for (const auto& row : table->rows)
      items.push_back(fmt::format("{} {} (nearest record {})", rows.text(row, "layer"),
                                  rows.text(row, "combination"), rows.text(row, "record")));
  }
  if (const Table* table = table_of(document, "survivors");
      table != nullptr && (criterion.starts_with("mutation") || criterion == "killed-mutants")) {
    const Rows rows(*table);
    for (const auto& row : table->rows)
      items.push_back(
          fmt::format("{} (nearest record {})", rows.text(row, "mutant"), rows.text(row, "record")));
  }
  if (items.size() > most) items.resize(most);
  return items;
}

// Of a gate of an outcome; empty for what is not a sample.
std::string interval_in(const Outcome& outcome, const report::Gate& gate,
                        std::span<const StepResult> results) {
  for (const StepResult& result : results) {
    if (result.step.name == outcome.step) return interval_of(gate, result).value_or("");
  }
  return "";
}

}  // namespace

Table requirement_table(const Study& study, std::span<const Outcome> outcomes,
                        std::span<const StepResult> results) {
  using Lists = std::vector<std::string>;
  const auto listed = [&](const Outcome& outcome, const auto& lists_of) {
    const auto result = std::ranges::find_if(
        results, [&](const StepResult& r) { return r.step.name == outcome.step && !outcome.step.empty(); });
    return result == results.end() ? Lists{}
                                   : lists_of(result->document, report::base_name(outcome.gate.criterion));
  };
  return report::table_of(
      "requirements", "Requirements", outcomes,
      {{"requirement", [&](auto& outcome) { return study.requirements[outcome.requirement].id; }},
       {"gate", [](auto& outcome) { return outcome.gate.text; }},
       {"holds", [](auto& outcome) { return outcome.gate.passed; }},
       {"step", &Outcome::step},
       {"file", "result", &Outcome::file},
       {"figure", [](auto& outcome) { return report::figure_name(outcome.gate); }},
       {"measured", [](auto& outcome) { return report::outcome_of(outcome.gate); }},
       {"interval", "95 % interval",
        [&](auto& outcome) { return interval_in(outcome, outcome.gate, results); }},
       {"items", "items are listed in", [&](auto& outcome) { return joined(listed(outcome, item_tables)); }},
       {"open", "open items", [&](auto& outcome) { return joined(listed(outcome, open_items), "; "); }}});
}

Table member_table(const Study& study, std::span<const Outcome> outcomes,
                   std::span<const StepResult> results) {
  struct Row {
    const Outcome& outcome;
    const report::Gate& member;
  };
  std::vector<Row> rows;
  for (const Outcome& outcome : outcomes)
    for (const report::Gate& member : outcome.members) rows.push_back({outcome, member});
  return report::table_of(
      "members", "Figures of each gate", rows,
      {{"requirement", [&](auto& row) { return study.requirements[row.outcome.requirement].id; }},
       {"gate", [](auto& row) { return row.outcome.gate.text; }},
       {"figure", [](auto& row) { return report::figure_name(row.member); }},
       {"holds", [](auto& row) { return row.member.passed; }},
       {"measured", [](auto& row) { return report::outcome_of(row.member); }},
       {"interval", "95 % interval",
        [&](auto& row) { return interval_in(row.outcome, row.member, results); }}});
}

Table record_table(std::span<const StepResult> results) {
  struct Relation {
    std::string record, step, relation, what;
  };
  std::vector<Relation> relations;
  for (const StepResult& result : results) {
    const auto add = [&](const char* id, const char* record, const char* relation, const auto& what) {
      const Table* source = table_of(result.document, id);
      if (source == nullptr) return;
      const Rows rows(*source);
      if (!rows.has(record)) return;
      for (const auto& row : source->rows) {
        const std::string name = rows.text(row, record);
        if (!name.empty()) relations.push_back({name, result.step.name, relation, what(rows, row)});
      }
    };
    using Row = std::vector<Cell>;
    const auto neuron = [](const Rows& rows, const Row& row) {
      return rows.text(row, "layer") + ":" + rows.text(row, "neuron");
    };
    const auto combination = [](const Rows& rows, const Row& row) {
      return rows.text(row, "layer") + " m=" + rows.text(row, "m") + " " + rows.text(row, "combination");
    };
    add("neurons", "first_record", "first to cover", neuron);
    add("combinations", "first", "first to cover", combination);
    add("uncovered", "record", "nearest to uncovered", combination);
    add("killers", "record", "kills",
        [](const Rows& rows, const Row& row) { return rows.text(row, "mutants") + " mutants"; });
    add("survivors", "record", "nearest to killing",
        [](const Rows& rows, const Row& row) { return rows.text(row, "mutant"); });
    add("confusions", "first", "first to be confused", [](const Rows& rows, const Row& row) {
      return rows.text(row, "expected") + " taken for " + rows.text(row, "predicted");
    });
    add("records", "record", "noted", [](const Rows& rows, const Row& row) {
      return "label " + rows.text(row, "label") + ", answer " + rows.text(row, "prediction");
    });
  }
  std::ranges::stable_sort(relations, {}, &Relation::record);
  return report::table_of("records", "What records do", relations,
                          {{"record", &Relation::record},
                           {"step", &Relation::step},
                           {"relation", &Relation::relation},
                           {"what", &Relation::what}});
}

}  // namespace assay::evidence
