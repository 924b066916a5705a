#include "assay/workbench/layer_numbers.h"

#include <algorithm>
#include <array>
#include <set>

#include <assay/error.h>
#include "assay/support/ascii.h"
#include "assay/workbench/query/inspect_clause.h"
#include "assay/workbench/query/names.h"

namespace assay::workbench {
namespace {

std::string lower(std::string text) {
  for (char& c : text)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return text;
}

bool compares(const Token& token) {
  constexpr std::array<std::string_view, 8> symbols{"=", "==", "<>", "!=", "<", "<=", ">", ">="};
  return token.is_word("IS") ||
         std::ranges::any_of(symbols, [&](std::string_view symbol) { return token.is_symbol(symbol); });
}

bool is_whole(const Token& token) {
  return token.kind == Token::Kind::number && std::ranges::all_of(token.text, is_digit);
}

// Relations of a statement that have both columns, by the names they go by in it.
class Numbered {
 public:
  Numbered(Database& database, const SqlText& sql) : database_(database), sql_(sql) {
    for (std::size_t i = 0; i + 1 < sql.tokens().size(); ++i) {
      const Token& before = sql.token(i == 0 ? sql.tokens().size() : i - 1);
      const bool source =
          i > 0 && (before.is_word("FROM") || before.is_word("JOIN") || before.is_symbol(","));
      if (source && sql.token(i).is_name() && has_number(sql.token(i).text)) add(i, i + 1);
      if (sql.token(i).is_symbol("(") && opens_query(sql, i)) queries_.push_back(i);
      if (sql.token(i).is_word("OVER") && i + 4 < sql.tokens().size()) scores(i);
    }
    // The innermost queries first.
    for (std::size_t k = queries_.size(); k-- > 0;) query(queries_[k]);
  }

  bool contains(const std::string& name) const { return names_.contains(lower(name)); }
  bool empty() const { return names_.empty(); }

 private:
  bool has_number(const std::string& relation) {
    if (names_.contains(lower(relation))) return true;
    if (!database_.exists(relation)) return same_name(relation, "behaviours");
    const auto columns = database_.columns_of("SELECT * FROM " + quoted_name(relation));
    return std::ranges::any_of(columns,
                               [](const std::string& name) { return same_name(name, "layer_index"); });
  }

  // The name at token `i`, and the one that stands at `next`, with AS or without.
  void add(std::size_t i, std::size_t next) {
    if (sql_.token(i).is_name()) names_.insert(lower(sql_.token(i).text));
    if (sql_.token(next).is_word("AS")) ++next;
    if (sql_.token(next).is_name()) names_.insert(lower(sql_.token(next).text));
  }

  // Scores: OVER column AS name.
  void scores(std::size_t over) {
    for (std::size_t i = over + 1; i < over + 5; ++i) {
      if (sql_.token(i).is_word("AS") && sql_.token(i + 1).is_name())
        names_.insert(lower(sql_.token(i + 1).text));
    }
  }

  // A query over such relations is one; it has the name that follows it, or before "AS (".
  void query(std::size_t open) {
    const std::size_t close = sql_.closing(open);
    bool over = false;
    for (std::size_t i = open; i < close && !over; ++i)
      over = sql_.token(i).is_name() && contains(sql_.token(i).text);
    if (!over) return;
    add(close, close + 1);
    if (open >= 2 && sql_.token(open - 1).is_word("AS")) {
      const std::string name = sql_.token(open - 2).text;
      names_.insert(lower(name));
      for (std::size_t i = close; i + 1 < sql_.tokens().size(); ++i) {
        if (sql_.token(i).is_name() && same_name(sql_.token(i).text, name)) add(i, i + 1);
      }
    }
  }

  Database& database_;
  const SqlText& sql_;
  std::set<std::string> names_;
  std::vector<std::size_t> queries_;
};

// Whether the column at token `i` is compared with integers.
bool compared_with_numbers(const SqlText& sql, std::size_t i, std::size_t first) {
  if (first >= 2 && compares(sql.token(first - 1)) && is_whole(sql.token(first - 2))) return true;
  std::size_t at = i + 1;
  if (compares(sql.token(at))) {
    ++at;
    if (sql.token(at).is_word("NOT")) ++at;
    return is_whole(sql.token(at));
  }
  if (sql.token(at).is_word("NOT")) ++at;
  if (sql.token(at).is_word("BETWEEN")) return is_whole(sql.token(at + 1));
  return sql.token(at).is_word("IN") && sql.token(at + 1).is_symbol("(") && is_whole(sql.token(at + 2));
}

}  // namespace

void number_layers(Database& database, SqlText& sql) {
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i + 1 < sql.tokens().size(); ++i) {
    if (!sql.token(i).is_name() || !same_name(sql.token(i).text, "layer")) continue;
    const bool qualified = i >= 2 && sql.token(i - 1).is_symbol(".");
    if (compared_with_numbers(sql, i, qualified ? i - 2 : i)) found.push_back(i);
  }
  if (found.empty()) return;
  const Numbered relations(database, sql);
  for (const std::size_t i : found) {
    const bool qualified = i >= 2 && sql.token(i - 1).is_symbol(".");
    if (qualified ? relations.contains(sql.token(i - 2).text) : !relations.empty())
      sql.replace({i, i + 1}, "layer_index", sql.token(i).begin);
  }
}

}  // namespace assay::workbench
