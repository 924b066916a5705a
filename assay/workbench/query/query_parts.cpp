#include "assay/workbench/query/query_parts.h"

#include <algorithm>
#include <numeric>

#include "assay/support/text/text.h"

namespace assay::workbench {

using Mentioned = Names::Mentioned;

std::string all_of(const std::vector<std::string>& conditions) {
  std::string text;
  for (const std::string& condition : conditions)
    text += (text.empty() ? " WHERE (" : " AND (") + condition + ")";
  return text;
}

bool overlap(const Mentioned& a, const Mentioned& b) {
  return std::ranges::any_of(a, [&](std::size_t item) { return b.contains(item); });
}

QueryParts::QueryParts(Database& database, const SqlText& text, const InspectSelect& parsed)
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

std::vector<std::size_t> QueryParts::items_of(std::size_t wanted) const {
  std::vector<std::size_t> items;
  for (std::size_t i = 0; i < component_.size(); ++i)
    if (component_[i] == wanted && !skipped(i)) items.push_back(i);
  return items;
}

std::string QueryParts::from_where(const std::vector<std::size_t>& items) const {
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

std::string QueryParts::column(std::size_t item, std::string_view name) const {
  return names.alias(item) + "." + quoted_name(name);
}

std::string QueryParts::label(const std::vector<TokenRange>& groups) const {
  if (groups.empty()) return {};
  if (groups.size() == 1) return names.text_of(groups.front());
  std::vector<std::string> quoted;
  for (const TokenRange& range : groups) quoted.push_back("quote(" + names.text_of(range) + ")");
  return joined(quoted, " || ', ' || ");
}

void QueryParts::require(std::size_t item, std::string_view column_name, TokenRange at,
                         std::string_view relation) const {
  if (!names.has_column(item, column_name))
    sql.fail_at(sql.token(at.first).begin,
                fmt::format("{} has no column '{}', which says what they belong to; take it from {}",
                            select.from[item].alias, column_name, relation));
}

void QueryParts::check_group(TokenRange range) const {
  if (range.last - range.first == 1 && sql.token(range.first).kind == Token::Kind::number)
    sql.fail_at(sql.token(range.first).begin,
                "INSPECT groups by what is written here; write the column itself");
  const Mentioned mentioned = names.mentioned(range);
  if (mentioned.contains(names.scores()))
    sql.fail_at(
        sql.token(range.first).begin,
        fmt::format("GROUP BY says which units are inspected together, before there is any {0}; to group the "
                    "scores write SELECT ... FROM (SELECT ... INSPECT ...) AS {0} GROUP BY ...",
                    select.alias));
  if (mentioned.contains(input))
    sql.fail_at(sql.token(range.first).begin,
                fmt::format("{} cannot be grouped by: all groups are inspected over the same records",
                            select.from[input].alias));
}

void QueryParts::split_conditions() {
  for (const TokenRange& range : select.conditions) {
    Condition condition{range, names.mentioned(range)};
    const bool scored = condition.mentioned.contains(names.scores());
    (scored ? after : before).push_back(std::move(condition));
  }
}

// Relations that conditions tie to each other make one component.
void QueryParts::connect() {
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

void QueryParts::use(const Mentioned& mentioned) {
  for (const std::size_t item : mentioned)
    if (item < used_.size()) used_[item] = true;
}

void QueryParts::tie(const Mentioned& mentioned, TokenRange range) {
  if (mentioned.empty()) return;
  const std::size_t target = component_[*mentioned.begin()];
  for (const std::size_t item : mentioned) {
    if (item == names.scores()) continue;
    const std::size_t source = component_[item];
    for (std::size_t& each : component_)
      if (each == source) each = target;
  }
  if (component_[input] == component_[unit] || component_[input] == component_[hypothesis])
    sql.fail_at(sql.token(range.first).begin,
                fmt::format("this condition ties {} to other relations, but all units and hypotheses are "
                            "inspected over the same records; choose records by conditions on {} alone",
                            select.from[input].alias, select.from[input].alias));
}

}  // namespace assay::workbench
