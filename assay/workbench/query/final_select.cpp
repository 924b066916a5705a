// The SELECT that SQLite answers when the scores of an INSPECT query are there.

#include <algorithm>
#include <array>

#include "assay/support/text/text.h"
#include "assay/workbench/query/plan.h"
#include "assay/workbench/query/query_parts.h"

namespace assay::workbench {
namespace {

using Mentioned = Names::Mentioned;

bool within(const Mentioned& a, const Mentioned& b) { return std::ranges::includes(b, a); }

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

// Writes the SELECT that is left when the scores are there.
class FinalSelect {
 public:
  explicit FinalSelect(const QueryParts& parts) : parts_(parts) {
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
    for (const QueryParts::Condition& condition : parts_.after)
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
    for (const QueryParts::Condition& condition : parts_.before) {
      if (within(condition.mentioned, kept_)) all.push_back(parts_.names.text_of(condition.range));
    }
    for (const QueryParts::Condition& condition : parts_.after)
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
    for (const QueryParts::Condition& condition : parts_.before) {
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

  const QueryParts& parts_;
  bool aggregates_ = false;
  Mentioned kept_;
};

}  // namespace

void replace_inspect(Database& database, SqlText& sql, const InspectSelect& select,
                     const std::string& scores) {
  const QueryParts parts(database, sql, select);
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
