#include "assay/workbench/query/names.h"

#include <sqlite3.h>

#include <algorithm>

#include <assay/error.h>
#include "assay/support/text/text.h"

namespace assay::workbench {
namespace {

bool holds(const std::vector<std::string>& names, std::string_view name) {
  return std::ranges::any_of(names, [&](const std::string& known) { return same_name(known, name); });
}

}  // namespace

const std::vector<std::string>& score_columns() {
  static const std::vector<std::string> columns{"mid",
                                                "uid",
                                                "hid",
                                                "measure",
                                                "unit_score",
                                                "group_score",
                                                "ci_low",
                                                "ci_high",
                                                "p",
                                                "q",
                                                "n_rows",
                                                "converged",
                                                "status",
                                                "unit_group",
                                                "layer",
                                                "layer_index",
                                                "gate",
                                                "unit",
                                                "group_ci_low",
                                                "group_ci_high",
                                                "group_p",
                                                "group_n_rows",
                                                "group_converged",
                                                "group_status"};
  return columns;
}

Names::Names(Database& database, const SqlText& sql, const InspectSelect& select)
    : sql_(sql), select_(select), columns_(select.from.size()) {
  for (std::size_t i = 0; i < select.from.size(); ++i) read_columns(database, i);
  columns_.push_back(score_columns());
}

void Names::read_columns(Database& database, std::size_t item) {
  const TokenRange source = select_.from[item].source;
  try {
    columns_[item] = database.columns_of(select_.with + "SELECT * FROM " + sql_.text_of(source));
  } catch (const Error& error) {
    if (error.fault() != Fault::usage) throw;
    std::string hint;
    if (std::string_view(error.what()).starts_with("no such table"))
      hint = did_you_mean(select_.from[item].alias, database.relations());
    if (!hint.empty() || source.last - source.first == 1)
      hint = did_you_mean(sql_.token(source.last - 1).text, database.relations());
    sql_.fail_at(sql_.token(source.first).begin, message("{}{}", error.message(), hint));
  }
}

std::size_t Names::item_called(std::string_view alias) const {
  for (std::size_t i = 0; i < select_.from.size(); ++i) {
    if (same_name(select_.from[i].alias, alias)) return i;
  }
  return scores() + (same_name(select_.alias, alias) ? 0 : 1);
}

bool Names::has_column(std::size_t item, std::string_view column) const {
  return holds(columns_[item], column) || (item < scores() && same_name(column, "rowid"));
}

void Names::require_column(std::size_t item, std::size_t token) const {
  const std::string& column = sql_.token(token).text;
  if (has_column(item, column)) return;
  const std::string& alias = item == scores() ? select_.alias : select_.from[item].alias;
  sql_.fail_at(sql_.token(token).begin,
               fmt::format("{} has no column '{}'{}; it has {}", alias, column,
                           did_you_mean(column, columns_[item]), joined(columns_[item])));
}

std::optional<std::size_t> Names::owner(const Token& token) const {
  if (token.kind == Token::Kind::word &&
      sqlite3_keyword_check(token.text.data(), static_cast<int>(token.text.size())) != 0)
    return std::nullopt;
  std::vector<std::size_t> owners;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    if (holds(columns_[i], token.text)) owners.push_back(i);
  }
  if (owners.empty()) return std::nullopt;
  // `uid` and `layer` are columns of the scores as well; those of FROM are meant, which were there before.
  if (owners.size() == 2 && owners.back() == scores()) owners.pop_back();
  if (owners.size() > 1) {
    std::vector<std::string> written;
    for (const std::size_t i : owners)
      written.push_back((i == scores() ? select_.alias : select_.from[i].alias) + "." + token.text);
    sql_.fail_at(token.begin, fmt::format("'{}' could be any of {}; say which", token.text, joined(written)));
  }
  return owners.front();
}

std::vector<Names::Reference> Names::references(TokenRange range) const {
  constexpr int nowhere = 1 << 20;
  std::vector<Reference> found;
  int query_depth = nowhere;  // of what is inside the outermost sub-query
  for (std::size_t i = range.first; i < range.last; ++i) {
    const Token& token = sql_.token(i);
    if (token.depth < query_depth) query_depth = nowhere;
    const bool inside_query = query_depth != nowhere;
    if (token.is_symbol("(") && !inside_query && opens_query(sql_, i)) query_depth = token.depth + 1;
    const bool follows_dot = i > range.first && sql_.token(i - 1).is_symbol(".");
    if (!token.is_name() || follows_dot) continue;
    const Token& next = sql_.token(i + 1);
    if (next.is_symbol(".")) {
      const std::size_t item = item_called(token.text);
      if (item <= scores()) {
        found.push_back({i, item, true});
        if (!inside_query && !sql_.token(i + 2).is_symbol("*")) require_column(item, i + 2);
      } else if (!inside_query && !same_name(token.text, "main") && !same_name(token.text, "temp")) {
        std::vector<std::string> names{select_.alias};
        for (const FromItem& each : select_.from) names.push_back(each.alias);
        sql_.fail_at(token.begin, fmt::format("no relation of this query is called '{}'; there are {}",
                                              token.text, joined(names)));
      }
    } else if (!inside_query && !next.is_symbol("(") &&
               !(i > range.first && sql_.token(i - 1).is_word("AS"))) {
      if (const auto item = owner(token)) found.push_back({i, *item, false});
    }
  }
  return found;
}

Names::Mentioned Names::mentioned(TokenRange range) const {
  Mentioned found;
  for (const Reference& reference : references(range)) found.insert(reference.item);
  return found;
}

std::string Names::text_of(TokenRange range) const {
  std::string text;
  std::size_t at = sql_.token(range.first).begin;
  for (const Reference& reference : references(range)) {
    if (reference.qualified) continue;
    const std::size_t begin = sql_.token(reference.token).begin;
    text += sql_.text().substr(at, begin - at) +
            quoted_name(reference.item == scores() ? select_.alias : select_.from[reference.item].alias) +
            ".";
    at = begin;
  }
  return text + sql_.text().substr(at, sql_.token(range.last - 1).end - at);
}

bool Names::has_star(TokenRange columns) const {
  for (std::size_t i = columns.first; i < columns.last; ++i) {
    const bool first = i == columns.first || sql_.token(i - 1).is_symbol(",");
    const bool last = i + 1 == columns.last || sql_.token(i + 1).is_symbol(",");
    if (sql_.token(i).is_symbol("*") && first && last) return true;
  }
  return false;
}

Names::Mentioned Names::mentioned(const std::vector<TokenRange>& ranges) const {
  Mentioned all;
  for (const TokenRange& range : ranges) all.merge(mentioned(range));
  return all;
}

std::size_t Names::relation_of(TokenRange reference, std::string_view what) const {
  const std::size_t size = reference.last - reference.first;
  const bool qualified = size == 3 && sql_.token(reference.first).is_name() &&
                         sql_.token(reference.first + 1).is_symbol(".") &&
                         sql_.token(reference.first + 2).is_name();
  const bool plain = size == 1 && sql_.token(reference.first).is_name();
  const Mentioned items = qualified || plain ? mentioned(reference) : Mentioned{};
  if (items.size() != 1 || *items.begin() == scores())
    sql_.fail_at(sql_.token(reference.first).begin,
                 fmt::format("expected {}, found '{}'", what, sql_.text_of(reference)));
  return *items.begin();
}

std::string Names::declared(std::size_t item) const {
  return sql_.text_of(select_.from[item].source) + " AS " + alias(item);
}

std::string Names::alias(std::size_t item) const { return quoted_name(select_.from[item].alias); }

}  // namespace assay::workbench
