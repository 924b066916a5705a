#include "assay/workbench/query/plan.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <optional>
#include <set>
#include <tuple>

#include <assay/error.h>
#include "assay/support/text/text.h"
#include "assay/workbench/query/names.h"

namespace assay::workbench {
namespace {

using Mentioned = Names::Mentioned;

bool overlap(const Mentioned& a, const Mentioned& b) {
  return std::ranges::any_of(a, [&](std::size_t item) { return b.contains(item); });
}
bool within(const Mentioned& a, const Mentioned& b) { return std::ranges::includes(b, a); }

std::string all_of(const std::vector<std::string>& conditions) {
  std::string text;
  for (const std::string& condition : conditions)
    text += (text.empty() ? " WHERE (" : " AND (") + condition + ")";
  return text;
}

// Functions that make one row of many, unless they are windows: min and max of one operand only.
bool is_aggregate(const SqlText& sql, std::size_t i) {
  constexpr std::array<std::string_view, 7> always{
      "COUNT", "SUM", "TOTAL", "AVG", "GROUP_CONCAT", "JSON_GROUP_ARRAY", "JSON_GROUP_OBJECT"};
  const Token& token = sql.token(i);
  if (token.kind != Token::Kind::word || !sql.token(i + 1).is_symbol("(")) return false;
  const std::size_t close = sql.closing(i + 1);
  std::size_t after = close + 1;
  if (sql.token(after).is_word("FILTER")) after = sql.closing(after + 1) + 1;
  if (sql.token(after).is_word("OVER")) return false;
  if (std::ranges::any_of(always, [&](std::string_view name) { return token.is_word(name); })) return true;
  if (!token.is_word("MIN") && !token.is_word("MAX")) return false;
  for (std::size_t k = i + 2; k < close; ++k) {
    if (sql.token(k).is_symbol(",") && sql.token(k).depth == token.depth + 1) return false;
  }
  return true;
}

bool has_aggregate(const SqlText& sql, TokenRange range) {
  for (std::size_t i = range.first; i < range.last; ++i) {
    if (sql.token(i).is_symbol("(") && opens_query(sql, i)) i = sql.closing(i);
    if (is_aggregate(sql, i)) return true;
  }
  return false;
}

// The parts of one INSPECT query by what they speak of.
class Parts {
 public:
  Parts(Database& database, const SqlText& text, const InspectSelect& parsed)
      : sql(text), select(parsed), names(database, text, parsed) {
    unit = names.relation_of(select.unit, "a column that tells units apart, such as U.uid");
    hypothesis = names.relation_of(select.hypothesis, "a column that names hypotheses, such as H.h");
    input = names.relation_of(select.sequence, "a column of the records, such as D.seq");
    require(unit, "mid", select.unit, "units");
    require(input, "did", select.sequence, "inputs");
    for (const std::size_t item : {unit, hypothesis, input}) {
      if (select.from[item].optional)
        sql.fail_at(sql.token(select.from[item].source.first).begin,
                    fmt::format("{} is inspected and cannot be the right side of a LEFT JOIN",
                                select.from[item].alias));
    }
    if (input == unit || input == hypothesis)
      sql.fail_at(sql.token(select.sequence.first).begin, "the records need a separate relation: inputs D");
    for (const TokenRange& range : select.groups) check_group(range);
    split_conditions();
    connect();
  }

  const SqlText& sql;
  const InspectSelect& select;
  Names names;
  std::size_t unit = 0, hypothesis = 0, input = 0;
  struct Condition {
    TokenRange range;
    Mentioned mentioned;
  };
  std::vector<Condition> before;  // of WHERE: what is known before scores are
  std::vector<Condition> after;   // of WHERE: what speaks of scores

  std::size_t component(std::size_t item) const { return component_[item]; }
  std::vector<std::size_t> items_of(std::size_t wanted) const {
    std::vector<std::size_t> items;
    for (std::size_t i = 0; i < component_.size(); ++i)
      if (component_[i] == wanted && !skipped(i)) items.push_back(i);
    return items;
  }
  // A LEFT JOIN that nothing before the scores speaks of neither adds nor removes anything.
  bool skipped(std::size_t item) const { return select.from[item].optional && !used_[item]; }

  // "FROM ... WHERE ..." over these relations.
  std::string from_where(const std::vector<std::size_t>& items) const {
    std::string from, optional;
    const Mentioned set(items.begin(), items.end());
    for (const std::size_t i : items) {
      if (select.from[i].optional)
        optional += " LEFT JOIN " + names.declared(i) + " ON " + names.text_of(select.from[i].on);
      else
        from += (from.empty() ? "" : ", ") + names.declared(i);
    }
    std::vector<std::string> conditions;
    for (const Condition& condition : before) {
      if (overlap(condition.mentioned, set) || (condition.mentioned.empty() && set.contains(unit)))
        conditions.push_back(names.text_of(condition.range));
    }
    return " FROM " + from + optional + all_of(conditions);
  }

  std::string column(std::size_t item, std::string_view name) const {
    return names.alias(item) + "." + quoted_name(name);
  }
  // The group's key, as one SQL expression; empty without GROUP BY.
  std::string label(const std::vector<TokenRange>& groups) const {
    if (groups.empty()) return {};
    if (groups.size() == 1) return names.text_of(groups.front());
    std::vector<std::string> quoted;
    for (const TokenRange& range : groups) quoted.push_back("quote(" + names.text_of(range) + ")");
    return joined(quoted, " || ', ' || ");
  }

 private:
  void require(std::size_t item, std::string_view column_name, TokenRange at,
               std::string_view relation) const {
    if (!names.has_column(item, column_name))
      sql.fail_at(sql.token(at.first).begin,
                  fmt::format("{} has no column '{}', which says what they belong to; take it from {}",
                              select.from[item].alias, column_name, relation));
  }

  void check_group(TokenRange range) {
    if (range.last - range.first == 1 && sql.token(range.first).kind == Token::Kind::number)
      sql.fail_at(sql.token(range.first).begin,
                  "INSPECT groups by what is written here; write the column itself");
    const Mentioned mentioned = names.mentioned(range);
    if (mentioned.contains(names.scores()))
      sql.fail_at(
          sql.token(range.first).begin,
          fmt::format("GROUP BY says which units are inspected together, before there is any {0}; to group "
                      "the scores write SELECT ... FROM (SELECT ... INSPECT ...) AS {0} GROUP BY ...",
                      select.alias));
    if (mentioned.contains(input))
      sql.fail_at(sql.token(range.first).begin,
                  fmt::format("{} cannot be grouped by: all groups are inspected over the same records",
                              select.from[input].alias));
  }

  void split_conditions() {
    for (const TokenRange& range : select.conditions) {
      Condition condition{range, names.mentioned(range)};
      const bool scored = condition.mentioned.contains(names.scores());
      (scored ? after : before).push_back(std::move(condition));
    }
  }

  // Relations that conditions tie to each other make one component.
  void connect() {
    component_.resize(select.from.size());
    std::iota(component_.begin(), component_.end(), std::size_t{0});
    used_.assign(select.from.size(), false);
    for (const Condition& condition : before) use(condition.mentioned);
    for (const TokenRange& range : select.groups) use(names.mentioned(range));
    for (std::size_t i = 0; i < select.from.size(); ++i) {
      if (skipped(i) || !select.from[i].optional) continue;
      Mentioned tied = names.mentioned(select.from[i].on);
      tied.insert(i);
      tie(tied, select.from[i].on);
    }
    for (const Condition& condition : before) tie(condition.mentioned, condition.range);
    for (const TokenRange& range : select.groups) {
      Mentioned tied = names.mentioned(range);
      // What neither units nor hypotheses are tied to still makes groups of units.
      if (std::ranges::none_of(tied, [&](std::size_t item) {
            return component_[item] == component_[unit] || component_[item] == component_[hypothesis];
          }))
        tied.insert(unit);
      tie(tied, range);
    }
  }

  void use(const Mentioned& mentioned) {
    for (const std::size_t item : mentioned)
      if (item < used_.size()) used_[item] = true;
  }

  void tie(const Mentioned& mentioned, TokenRange range) {
    if (mentioned.empty()) return;
    const std::size_t target = component_[*mentioned.begin()];
    for (const std::size_t item : mentioned) {
      if (item == names.scores()) continue;
      const std::size_t source = component_[item];
      for (std::size_t& each : component_)
        if (each == source) each = target;
    }
    if (component_[input] == component_[unit] || component_[input] == component_[hypothesis])
      sql.fail_at(
          sql.token(range.first).begin,
          fmt::format("this condition ties {} to other relations, but all units and hypotheses are inspected "
                      "over the same records; choose records by conditions on {} alone",
                      select.from[input].alias, select.from[input].alias));
  }

  std::vector<std::size_t> component_;  // by item
  std::vector<bool> used_;
};

// Numbers units and hypotheses as they are met, then in their order.
class Collector {
 public:
  explicit Collector(Database& database)
      : find_unit_(database,
                   "SELECT layer, gate, layer_index, unit, m.rowid FROM (SELECT * FROM units UNION ALL "
                   "SELECT * FROM "
                   "gate_units) u JOIN models m ON m.mid = u.mid WHERE u.mid = ?1 AND uid = ?2"),
        find_hypothesis_(database, "SELECT rowid FROM hypotheses WHERE h = ?1") {}

  using UnitKey = std::tuple<std::int64_t, std::int64_t, std::string, std::int64_t>;  // in Plan's order
  using HypothesisKey = std::pair<std::int64_t, std::string>;

  const UnitKey& unit(const std::string& model, const std::string& uid) {
    const auto known = units_.find({model, uid});
    if (known != units_.end()) return known->second;
    find_unit_.bind({model, uid});
    if (!find_unit_.step())
      fail(Fault::usage,
           "query: model '{}' has no unit '{}'; take units from the relations units or gate_units", model,
           uid);
    const PlannedUnit found{
        model, uid, find_unit_.text(0), find_unit_.text(1), find_unit_.integer(2), find_unit_.integer(3)};
    const UnitKey key{find_unit_.integer(4), found.layer_index, found.gate, found.unit};
    planned_.emplace(key, found);
    return units_.emplace(std::pair{model, uid}, key).first->second;
  }
  const HypothesisKey& hypothesis(const std::string& h) {
    const auto known = hypotheses_.find(h);
    if (known != hypotheses_.end()) return known->second;
    find_hypothesis_.bind({h});
    if (!find_hypothesis_.step())
      fail(Fault::usage, "query: no hypothesis is called '{}'; take them from the relation hypotheses", h);
    return hypotheses_.emplace(h, HypothesisKey{find_hypothesis_.integer(0), h}).first->second;
  }

  // Positions in `plan`, which is given all that was met.
  std::map<UnitKey, std::size_t> number_units(Plan& plan) const {
    std::map<UnitKey, std::size_t> positions;
    for (const auto& [key, unit] : planned_) {
      positions.emplace(key, plan.units.size());
      plan.units.push_back(unit);
    }
    return positions;
  }
  std::map<HypothesisKey, std::size_t> number_hypotheses(Plan& plan) const {
    std::map<HypothesisKey, std::size_t> positions;
    for (const auto& [h, key] : hypotheses_) positions.emplace(key, 0);
    for (auto& [key, position] : positions) {
      position = plan.hypotheses.size();
      plan.hypotheses.push_back(key.second);
    }
    return positions;
  }

 private:
  Statement find_unit_, find_hypothesis_;
  std::map<std::pair<std::string, std::string>, UnitKey> units_;
  std::map<UnitKey, PlannedUnit> planned_;
  std::map<std::string, HypothesisKey> hypotheses_;
};

using Label = std::pair<Cell, std::string>;  // value, and as text that tells all values apart

struct Members {
  Cell label;
  std::set<Collector::UnitKey> units;
  std::set<Collector::HypothesisKey> hypotheses;
  std::set<std::pair<Collector::UnitKey, Collector::HypothesisKey>> pairs;
};

class Planner {
 public:
  Planner(Database& database, const Parts& parts)
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
    for (const Parts::Condition& condition : parts_.after) {
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
    const bool conditions = std::ranges::any_of(parts_.before, [&](const Parts::Condition& condition) {
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
      plan.records.push_back(static_cast<std::size_t>(find.integer(1)));
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
  const Parts& parts_;
  Collector collector_;
};

// Writes the SELECT that is left when the scores are there.
class FinalSelect {
 public:
  explicit FinalSelect(const Parts& parts) : parts_(parts) {
    const InspectSelect& select = parts.select;
    aggregates_ =
        has_aggregate(parts.sql, select.columns) || has_aggregate(parts.sql, select.order) ||
        std::ranges::any_of(select.having, [&](TokenRange range) { return has_aggregate(parts.sql, range); });
    keep();
  }

  bool keeps_order() const { return !aggregates_ && !parts_.select.distinct; }

  std::string text(const std::string& scores) const {
    const InspectSelect& select = parts_.select;
    std::string text = select.distinct ? "SELECT DISTINCT " : "SELECT ";
    text += parts_.names.text_of(select.columns) + " FROM ";
    std::string optional;
    for (const std::size_t i : kept_) {
      if (select.from[i].optional)
        optional +=
            " LEFT JOIN " + parts_.names.declared(i) + " ON " + parts_.names.text_of(select.from[i].on);
      else
        text += parts_.names.declared(i) + ", ";
    }
    text += scores + " AS " + quoted_name(select.alias) + optional + all_of(conditions());
    if (aggregates_) text += grouping();
    return text;
  }

 private:
  // Units and hypotheses, to find scores by; and everything that the rest of the query speaks of.
  void keep() {
    const InspectSelect& select = parts_.select;
    kept_ = parts_.names.mentioned(select.columns);
    for (std::size_t i = 0; parts_.names.has_star(select.columns) && i < select.from.size(); ++i)
      kept_.insert(i);
    kept_.merge(parts_.names.mentioned(select.having));
    kept_.merge(parts_.names.mentioned(select.order));
    kept_.merge(parts_.names.mentioned(select.groups));
    for (const Parts::Condition& condition : parts_.after)
      kept_.insert(condition.mentioned.begin(), condition.mentioned.end());
    kept_.insert({parts_.unit, parts_.hypothesis});
    for (std::size_t i = select.from.size(); i-- > 0;) {
      if (kept_.contains(i) && select.from[i].optional)
        kept_.merge(parts_.names.mentioned(select.from[i].on));
    }
    kept_.erase(parts_.input);
    kept_.erase(parts_.names.scores());
  }

  std::string score(std::string_view column) const {
    return quoted_name(parts_.select.alias) + "." + quoted_name(column);
  }

  std::vector<std::string> conditions() const {
    const InspectSelect& select = parts_.select;
    std::vector<std::string> all{score("mid") + " = " + parts_.column(parts_.unit, "mid"),
                                 score("uid") + " = " + parts_.names.text_of(select.unit),
                                 score("hid") + " = " + parts_.names.text_of(select.hypothesis)};
    if (!select.groups.empty())
      all.push_back(score("unit_group") + " IS (" + parts_.label(select.groups) + ")");
    for (const Parts::Condition& condition : parts_.before) {
      if (within(condition.mentioned, kept_)) all.push_back(parts_.names.text_of(condition.range));
    }
    for (const Parts::Condition& condition : parts_.after)
      all.push_back(parts_.names.text_of(condition.range));
    for (const TokenRange& range : select.having) {
      if (!has_aggregate(parts_.sql, range)) all.push_back(parts_.names.text_of(range));
    }
    if (const std::string others = existing(); !others.empty()) all.push_back(others);
    return all;
  }

  // Relations that are not spoken of any more do not multiply rows.
  std::string existing() const {
    std::string from;
    Mentioned dropped;
    for (std::size_t i = 0; i < parts_.select.from.size(); ++i) {
      if (kept_.contains(i) || i == parts_.input || parts_.skipped(i) ||
          parts_.component(i) == parts_.component(parts_.input))
        continue;
      dropped.insert(i);
    }
    std::string optional;
    for (const std::size_t i : dropped) {
      const FromItem& item = parts_.select.from[i];
      if (item.optional)
        optional += " LEFT JOIN " + parts_.names.declared(i) + " ON " + parts_.names.text_of(item.on);
      else
        from += (from.empty() ? "" : ", ") + parts_.names.declared(i);
    }
    if (dropped.empty()) return {};
    if (from.empty()) from = "(SELECT 1)";
    std::vector<std::string> conditions;
    for (const Parts::Condition& condition : parts_.before) {
      if (overlap(condition.mentioned, dropped)) conditions.push_back(parts_.names.text_of(condition.range));
    }
    return "EXISTS (SELECT 1 FROM " + from + optional + all_of(conditions) + ")";
  }

  std::string grouping() const {
    std::vector<std::string> by, having;
    for (const TokenRange& range : parts_.select.groups) by.push_back(parts_.names.text_of(range));
    for (const TokenRange& range : parts_.select.having) {
      if (has_aggregate(parts_.sql, range)) having.push_back("(" + parts_.names.text_of(range) + ")");
    }
    return (by.empty() ? "" : " GROUP BY " + joined(by)) +
           (having.empty() ? "" : " HAVING " + joined(having, " AND "));
  }

  const Parts& parts_;
  bool aggregates_ = false;
  Mentioned kept_;
};

}  // namespace

Plan plan_inspect(Database& database, const SqlText& sql, const InspectSelect& select,
                  const std::string& data) {
  const Parts parts(database, sql, select);
  try {
    return Planner(database, parts).plan(data);
  } catch (const Error& error) {
    if (error.fault() != Fault::usage || std::string_view(error.what()).starts_with("query")) throw;
    sql.fail_at(sql.token(select.keyword).begin, error.message());
  }
}

void replace_inspect(Database& database, SqlText& sql, const InspectSelect& select,
                     const std::string& scores) {
  const Parts parts(database, sql, select);
  const FinalSelect final_select(parts);
  std::string text = final_select.text(scores);
  const std::size_t blamed = sql.token(select.keyword).begin;
  const bool follows = select.whole.first > 0 && (sql.token(select.whole.first - 1).is_word("UNION") ||
                                                  sql.token(select.whole.first - 1).is_word("ALL") ||
                                                  sql.token(select.whole.first - 1).is_word("INTERSECT") ||
                                                  sql.token(select.whole.first - 1).is_word("EXCEPT"));
  const Token& next = sql.token(select.whole.last);
  const bool followed = next.is_word("UNION") || next.is_word("INTERSECT") || next.is_word("EXCEPT");
  if (final_select.keeps_order() && !follows && !followed) {
    // Equal scores come by model, layer, unit and hypothesis.
    const std::string ties = quoted_name(select.alias) + ".rowid";
    if (select.order.empty())
      text += " ORDER BY " + ties;
    else
      sql.replace({select.order.last - 1, select.order.last},
                  sql.text_of({select.order.last - 1, select.order.last}) + ", " + ties, blamed);
  }
  sql.replace(select.whole, text + " ", blamed);
}

}  // namespace assay::workbench
