#include "assay/workbench/inspect_views.h"

#include <sqlite3.h>

#include <algorithm>
#include <array>
#include <optional>

#include <assay/error.h>
#include "assay/workbench/query/inspect_clause.h"

namespace assay::workbench {
namespace {

constexpr int most_expansions = 100;

std::optional<std::string> view_called(Database& database, const std::string& name) {
  Statement find(database, "SELECT query FROM assay_views WHERE name = ?1 COLLATE NOCASE");
  find.bind({name});
  if (!find.step()) return std::nullopt;
  return find.text(0);
}

// After CREATE [TEMP] or DROP: VIEW [IF [NOT] EXISTS], the view's name.
struct Head {
  std::size_t name = 0;
  bool whatever = false;  // IF EXISTS, IF NOT EXISTS
};
std::optional<Head> head_of(const SqlText& sql, std::size_t at) {
  if (sql.token(at).is_word("TEMP") || sql.token(at).is_word("TEMPORARY")) ++at;
  if (!sql.token(at).is_word("VIEW")) return std::nullopt;
  Head head{.name = at + 1};
  if (sql.token(head.name).is_word("IF")) {
    head.whatever = true;
    while (sql.token(head.name).is_word("IF") || sql.token(head.name).is_word("NOT") ||
           sql.token(head.name).is_word("EXISTS"))
      ++head.name;
  }
  if (!sql.token(head.name).is_name()) return std::nullopt;
  return head;
}

bool create_view(Database& database, const SqlText& sql) {
  const auto head = head_of(sql, 1);
  if (!head || !first_inspect(sql)) return false;
  const std::string& name = sql.token(head->name).text;
  const std::size_t as = head->name + 1;
  if (!sql.token(as).is_word("AS"))
    sql.fail_at(sql.token(as).begin,
                "expected AS and a query; views with INSPECT name their columns in the query");
  if (database.exists(name) || view_called(database, name)) {
    if (head->whatever) return true;
    sql.fail_at(sql.token(head->name).begin, fmt::format("there is a relation called '{}' already", name));
  }
  std::size_t last = sql.tokens().size() - 1;
  if (last > 0 && sql.token(last - 1).is_symbol(";")) --last;
  Statement(database, "INSERT INTO assay_views VALUES (?, ?)").run({name, sql.text_of({as + 1, last})});
  return true;
}

bool drop_view(Database& database, const SqlText& sql) {
  const auto head = head_of(sql, 1);
  if (!head || !view_called(database, sql.token(head->name).text)) return false;
  Statement(database, "DELETE FROM assay_views WHERE name = ?1 COLLATE NOCASE")
      .run({sql.token(head->name).text});
  return true;
}

// Whether a name at token `i` is that of a relation: after FROM, a comma or JOIN.
bool in_from(const SqlText& sql, std::size_t i) {
  constexpr std::array<std::string_view, 8> elsewhere{"SELECT", "WHERE", "ON",     "GROUP",
                                                      "HAVING", "ORDER", "VALUES", "SET"};
  if (i == 0) return false;
  const Token& before = sql.token(i - 1);
  if (before.is_word("FROM") || before.is_word("JOIN")) return true;
  if (!before.is_symbol(",")) return false;
  for (std::size_t k = i; k-- > 0;) {
    if (sql.token(k).depth < sql.token(i).depth) return false;
    if (sql.token(k).depth > sql.token(i).depth) continue;
    if (sql.token(k).is_word("FROM")) return true;
    if (std::ranges::any_of(elsewhere, [&](std::string_view word) { return sql.token(k).is_word(word); }))
      return false;
  }
  return false;
}

bool is_alias(const Token& token) {
  return token.is_word("AS") || token.kind == Token::Kind::quoted_name ||
         (token.kind == Token::Kind::word &&
          sqlite3_keyword_check(token.text.data(), static_cast<int>(token.text.size())) == 0);
}

bool expand_one(Database& database, SqlText& sql) {
  for (std::size_t i = 0; i + 1 < sql.tokens().size(); ++i) {
    const Token& token = sql.token(i);
    const Token& next = sql.token(i + 1);
    if (!token.is_name() || next.is_symbol(".") || next.is_symbol("(") || !in_from(sql, i)) continue;
    const auto query = view_called(database, token.text);
    if (!query) continue;
    const std::string alias = is_alias(next) ? "" : " AS " + quoted_name(token.text);
    sql.replace({i, i + 1}, "(" + *query + ")" + alias, token.begin);
    return true;
  }
  return false;
}

}  // namespace

bool change_views(Database& database, const SqlText& sql) {
  if (sql.token(0).is_word("CREATE")) return create_view(database, sql);
  return sql.token(0).is_word("DROP") && drop_view(database, sql);
}

void expand_views(Database& database, SqlText& sql) {
  for (int count = 0; expand_one(database, sql); ++count) {
    if (count == most_expansions)
      sql.fail_at(0, fmt::format("more than {} views are named; a view that names itself cannot be asked",
                                 most_expansions));
  }
}

}  // namespace assay::workbench
