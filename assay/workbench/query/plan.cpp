#include "assay/workbench/query/plan.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include <assay/error.h>
#include "assay/support/text/text.h"
#include "assay/workbench/query/planned_members.h"
#include "assay/workbench/query/query_parts.h"

namespace assay::workbench {
namespace {

using Mentioned = Names::Mentioned;

class Planner {
 public:
  Planner(Database& database, const QueryParts& parts)
      : database_(database), parts_(parts), collector_(database) {}

  Plan plan(const std::string& data) {
    Plan plan;
    plan.measures = measures();
    check_final_clauses();
    records(plan, data);
    if (others_exist()) groups(plan);
    check_joint_measures(plan);
    return plan;
  }

 private:
  std::vector<PlannedMeasure> measures() const {
    std::vector<PlannedMeasure> all;
    for (const MeasureText& written : parts_.select.measures) {
      try {
        PlannedMeasure measure{written.text, inspection::measure_choice(written.text)};
        const inspection::MeasureInfo& info = inspection::info_of(measure.choice);
        const SpecOptions options("measure", measure.choice.spec(), info.options);
        if (std::ranges::none_of(all, [&](const PlannedMeasure& other) {
              return other.choice.spec() == measure.choice.spec();
            }))
          all.push_back(std::move(measure));
      } catch (const Error& error) {
        parts_.sql.fail_at(written.byte, error.message());
      }
    }
    return all;
  }

  // Names in clauses that SQLite sees later are checked before anything long is done.
  void check_final_clauses() const {
    const InspectSelect& select = parts_.select;
    Mentioned all = parts_.names.mentioned(select.having);
    all.merge(parts_.names.mentioned(select.order));
    for (const QueryParts::Condition& condition : parts_.after) {
      Mentioned mentioned = condition.mentioned;
      all.merge(mentioned);
    }
    all.merge(parts_.names.mentioned(select.columns));
    if (all.contains(parts_.input))
      parts_.sql.fail_at(
          parts_.sql.token(select.keyword).begin,
          fmt::format("scores are over all records, so {} can be used in OVER and in WHERE only",
                      select.from[parts_.input].alias));
  }

  Statement ask(const std::string& query) const {
    const Database::UserRules rules(database_);
    return Statement(database_, parts_.select.with + query);
  }

  void records(Plan& plan, const std::string& data) const {
    const std::vector<std::size_t> items = parts_.items_of(parts_.component(parts_.input));
    const TokenRange source = parts_.select.from[parts_.input].source;
    const std::string relation = parts_.sql.text_of(source);
    const bool conditions = std::ranges::any_of(parts_.before, [&](const QueryParts::Condition& condition) {
      return condition.mentioned.contains(parts_.input);
    });
    if (!data.empty() && items.size() == 1 && !conditions &&
        (same_name(relation, "inputs") || same_name(relation, "records"))) {
      plan.data = data;
      plan.every_record = true;
      return;
    }
    std::set<std::int64_t> wanted;
    Statement chosen =
        ask("SELECT DISTINCT " + parts_.column(parts_.input, "did") + parts_.from_where(items));
    while (chosen.step()) wanted.insert(chosen.integer(0));
    Statement find(database_, "SELECT data, record FROM inputs WHERE did = ?1");
    for (const std::int64_t did : wanted) {
      find.bind({did});
      if (!find.step())
        fail(Fault::usage, "query: there is no record {}; take did from the relation inputs", did);
      if (!plan.data.empty() && plan.data != find.text(0))
        parts_.sql.fail_at(
            parts_.sql.token(parts_.select.sequence.first).begin,
            fmt::format(
                "{0} has records of several data sets ('{1}', '{2}'); choose one with WHERE {0}.data = '{1}'",
                parts_.select.from[parts_.input].alias, plan.data, find.text(0)));
      plan.data = find.text(0);
      plan.records.push_back(find.integer(1));
    }
    std::ranges::sort(plan.records);
  }

  // A measure that fits one model over a group needs units that have the same rows: those of one layer.
  void check_joint_measures(const Plan& plan) const {
    for (std::size_t m = 0; m < plan.measures.size(); ++m) {
      if (!inspection::info_of(plan.measures[m].choice).joint) continue;
      for (const PlannedGroup& group : plan.groups) {
        const PlannedUnit &first = plan.units[group.units.front()], &last = plan.units[group.units.back()];
        const auto place = [](const PlannedUnit& unit) {
          return std::tie(unit.model, unit.layer, unit.gate);
        };
        if (place(first) == place(last)) continue;
        parts_.sql.fail_at(
            parts_.sql.token(parts_.select.keyword).begin,
            fmt::format("{} fits one model over all units of a group, and a group has units of '{}' of {} "
                        "and of '{}' of {}; GROUP BY model, layer and gate, or choose one layer",
                        plan.measures[m].written, first.layer, first.model, last.layer, last.model));
      }
    }
  }

  // Relations tied to neither units, hypotheses nor records only have to have a row.
  bool others_exist() const {
    std::set<std::size_t> done{parts_.component(parts_.unit), parts_.component(parts_.hypothesis),
                               parts_.component(parts_.input)};
    for (std::size_t i = 0; i < parts_.select.from.size(); ++i) {
      if (parts_.skipped(i) || !done.insert(parts_.component(i)).second) continue;
      Statement some = ask("SELECT 1" + parts_.from_where(parts_.items_of(parts_.component(i))) + " LIMIT 1");
      if (!some.step()) return false;
    }
    return true;
  }

  void groups(Plan& plan) {
    const std::size_t unit = parts_.component(parts_.unit), hypothesis = parts_.component(parts_.hypothesis);
    std::map<std::string, Members> all;
    if (unit == hypothesis)
      together(all);
    else
      apart(all);
    number(plan, all);
  }

  // Units and hypotheses that conditions tie to each other.
  void together(std::map<std::string, Members>& all) {
    const std::string label = parts_.label(parts_.select.groups);
    Statement rows = ask("SELECT DISTINCT " + unit_columns() + ", " + hypothesis_column() +
                         (label.empty() ? ", NULL" : ", " + label) +
                         parts_.from_where(parts_.items_of(parts_.component(parts_.unit))));
    while (rows.step()) {
      if (is_null(rows, 0) || is_null(rows, 1) || is_null(rows, 2)) continue;
      Members& members = all[text_of(rows.value(3))];
      members.label = rows.value(3);
      const auto& unit = collector_.unit(rows.text(0), rows.text(1));
      const auto& hypothesis = collector_.hypothesis(rows.text(2));
      members.units.insert(unit);
      members.hypotheses.insert(hypothesis);
      members.pairs.emplace(unit, hypothesis);
    }
    for (auto& [key, members] : all) {
      if (members.pairs.size() == members.units.size() * members.hypotheses.size()) members.pairs.clear();
    }
  }

  // Units and hypotheses by themselves: all pairs of a group are meant, and never listed.
  void apart(std::map<std::string, Members>& all) {
    std::map<std::string, std::pair<std::vector<Cell>, std::set<Collector::UnitKey>>> units;
    std::map<std::string, std::pair<std::vector<Cell>, std::set<Collector::HypothesisKey>>> hypotheses;
    const std::vector<bool> of_units = groups_of_units();
    Statement unit_rows = ask("SELECT DISTINCT " + unit_columns() + group_columns(of_units, true) +
                              parts_.from_where(parts_.items_of(parts_.component(parts_.unit))));
    while (unit_rows.step()) {
      if (is_null(unit_rows, 0) || is_null(unit_rows, 1)) continue;
      auto& [values, members] = units[values_text(unit_rows, 2)];
      values = values_of(unit_rows, 2);
      members.insert(collector_.unit(unit_rows.text(0), unit_rows.text(1)));
    }
    Statement hypothesis_rows =
        ask("SELECT DISTINCT " + hypothesis_column() + group_columns(of_units, false) +
            parts_.from_where(parts_.items_of(parts_.component(parts_.hypothesis))));
    while (hypothesis_rows.step()) {
      if (is_null(hypothesis_rows, 0)) continue;
      auto& [values, members] = hypotheses[values_text(hypothesis_rows, 1)];
      values = values_of(hypothesis_rows, 1);
      members.insert(collector_.hypothesis(hypothesis_rows.text(0)));
    }
    for (const auto& [unit_key, unit_group] : units) {
      for (const auto& [hypothesis_key, hypothesis_group] : hypotheses) {
        Members& members = all[unit_key + "\n" + hypothesis_key];
        members.label = label_of(of_units, unit_group.first, hypothesis_group.first);
        members.units = unit_group.second;
        members.hypotheses = hypothesis_group.second;
      }
    }
  }

  // Which of GROUP BY's expressions are of the units' relations; the others are of the hypotheses'.
  std::vector<bool> groups_of_units() const {
    std::vector<bool> of_units;
    for (const TokenRange& range : parts_.select.groups) {
      const Mentioned mentioned = parts_.names.mentioned(range);
      of_units.push_back(mentioned.empty() ||
                         parts_.component(*mentioned.begin()) == parts_.component(parts_.unit));
    }
    return of_units;
  }

  std::string group_columns(const std::vector<bool>& of_units, bool wanted) const {
    std::string text;
    const bool single = of_units.size() == 1;
    for (std::size_t i = 0; i < of_units.size(); ++i) {
      if (of_units[i] != wanted) continue;
      const std::string expression = parts_.names.text_of(parts_.select.groups[i]);
      text += single ? ", " + expression : ", quote(" + expression + ")";
    }
    return text;
  }

  static Cell label_of(const std::vector<bool>& of_units, const std::vector<Cell>& units,
                       const std::vector<Cell>& hypotheses) {
    if (of_units.empty()) return {};
    if (of_units.size() == 1) return of_units.front() ? units.front() : hypotheses.front();
    std::size_t u = 0, h = 0;
    std::vector<std::string> quoted;
    for (const bool of_unit : of_units)
      quoted.push_back(std::get<std::string>(of_unit ? units[u++] : hypotheses[h++]));
    return joined(quoted);
  }

  std::string unit_columns() const {
    return parts_.column(parts_.unit, "mid") + ", " + parts_.names.text_of(parts_.select.unit);
  }
  std::string hypothesis_column() const { return parts_.names.text_of(parts_.select.hypothesis); }

  static bool is_null(const Statement& row, int column) {
    return std::holds_alternative<std::monostate>(row.value(column));
  }
  static std::vector<Cell> values_of(const Statement& row, int first) {
    std::vector<Cell> values;
    for (int i = first; i < row.columns(); ++i) values.push_back(row.value(i));
    return values;
  }
  // Tells values apart, and sorts numbers as numbers.
  static std::string text_of(const Cell& cell) {
    if (const auto* text = std::get_if<std::string>(&cell)) return "t" + *text;
    if (const auto* whole = std::get_if<std::int64_t>(&cell))
      return fmt::format("n{:020}", static_cast<std::uint64_t>(*whole) + (std::uint64_t{1} << 63));
    if (const auto* real = std::get_if<double>(&cell)) return fmt::format("r{:a}", *real);
    return "";
  }
  static std::string values_text(const Statement& row, int first) {
    std::string text;
    for (const Cell& cell : values_of(row, first)) text += text_of(cell) + "\n";
    return text;
  }

  void number(Plan& plan, const std::map<std::string, Members>& all) const {
    const auto units = collector_.number_units(plan);
    const auto hypotheses = collector_.number_hypotheses(plan);
    for (const auto& [key, members] : all) {
      if (members.units.empty() || members.hypotheses.empty()) continue;
      PlannedGroup group{.label = members.label, .units = {}, .hypotheses = {}, .pairs = {}};
      for (const auto& unit : members.units) group.units.push_back(units.at(unit));
      for (const auto& hypothesis : members.hypotheses) group.hypotheses.push_back(hypotheses.at(hypothesis));
      for (const auto& [unit, hypothesis] : members.pairs)
        group.pairs.emplace_back(units.at(unit), hypotheses.at(hypothesis));
      std::ranges::sort(group.pairs);
      plan.groups.push_back(std::move(group));
    }
  }

  Database& database_;
  const QueryParts& parts_;
  Collector collector_;
};

}  // namespace

Plan plan_inspect(Database& database, const SqlText& sql, const InspectSelect& select,
                  const std::string& data) {
  const QueryParts parts(database, sql, select);
  try {
    return Planner(database, parts).plan(data);
  } catch (const Error& error) {
    if (error.fault() != Fault::usage || std::string_view(error.what()).starts_with("query")) throw;
    sql.fail_at(sql.token(select.keyword).begin, error.message());
  }
}

}  // namespace assay::workbench
