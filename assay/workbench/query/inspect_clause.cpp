#include "assay/workbench/query/inspect_clause.h"

#include <algorithm>
#include <array>
#include <map>

#include <assay/error.h>
#include "assay/support/text/text.h"

namespace assay::workbench {
namespace {

template <std::size_t n>
bool is_one_of(const Token& token, const std::array<std::string_view, n>& words) {
  return std::ranges::any_of(words, [&](std::string_view word) { return token.is_word(word); });
}

constexpr std::array<std::string_view, 6> after_select{"UNION", "INTERSECT", "EXCEPT",
                                                       "ORDER", "LIMIT",     "WINDOW"};
constexpr std::array<std::string_view, 3> between_selects{"UNION", "INTERSECT", "EXCEPT"};
constexpr std::array<std::string_view, 9> joins{"JOIN", "INNER",   "CROSS", "LEFT", "RIGHT",
                                                "FULL", "NATURAL", "OUTER", "ON"};
// Words after which no expression is complete.
constexpr std::array<std::string_view, 21> expects_more{
    "SELECT", "DISTINCT", "ALL",     "AS",   "AND",  "OR",   "NOT",     "IN",   "IS",   "LIKE", "GLOB",
    "REGEXP", "MATCH",    "BETWEEN", "CASE", "WHEN", "THEN", "COLLATE", "ELSE", "FROM", "BY"};

// Whether INSPECT at `i` begins a clause and is not a name: an expression ends before it and one begins
// after.
bool is_clause(const SqlText& sql, std::size_t i) {
  if (i == 0 || !sql.token(i).is_word("INSPECT")) return false;
  const Token &before = sql.token(i - 1), &after = sql.token(i + 1);
  const bool ends = before.kind == Token::Kind::symbol ? before.text == ")" || before.text == "*"
                                                       : !is_one_of(before, expects_more);
  const bool begins = after.is_name() ? !after.is_word("FROM") && !after.is_word("AS")
                                      : after.kind == Token::Kind::string ||
                                            after.kind == Token::Kind::number || after.is_symbol("(");
  return ends && begins;
}

// The SELECT at the level of token `i`, before it; nothing where there is none.
std::optional<std::size_t> select_before(const SqlText& sql, std::size_t i) {
  const int depth = sql.token(i).depth;
  while (i-- > 0) {
    const Token& token = sql.token(i);
    if (token.depth < depth || (token.depth == depth && token.is_symbol(";"))) return std::nullopt;
    if (token.depth == depth && token.is_word("SELECT")) return i;
  }
  return std::nullopt;
}

// Reads the tokens of one level from left to right; what is in parentheses is passed over.
class Reader {
 public:
  Reader(const SqlText& sql, std::size_t at) : sql_(sql), at_(at), depth_(sql.token(at).depth) {}

  const Token& now() const { return sql_.token(at_); }
  std::size_t at() const { return at_; }
  bool done() const { return now().kind == Token::Kind::end || now().depth < depth_ || now().is_symbol(";"); }
  void step() { at_ = now().is_symbol("(") ? sql_.closing(at_) + 1 : at_ + 1; }
  bool take(std::string_view word) {
    if (done() || !now().is_word(word)) return false;
    ++at_;
    return true;
  }
  // Everything before the first token that `ends` says so of.
  template <typename Ends>
  TokenRange until(const Ends& ends) {
    const std::size_t first = at_;
    while (!done() && !ends(now())) step();
    return {first, at_};
  }
  [[noreturn]] void expected(std::string_view what, const std::vector<std::string>& words = {}) const {
    const bool at_end = done();
    sql_.fail_at(
        now().begin,
        fmt::format("expected {}, found {}{}", what, at_end ? std::string("the end") : "'" + now().text + "'",
                    at_end || now().kind != Token::Kind::word ? "" : suggestion(now().text, words)));
  }
  void expect(std::string_view word, std::string_view what) {
    if (!take(word)) expected(what, {std::string(word)});
  }

 private:
  static std::string suggestion(std::string text, const std::vector<std::string>& words) {
    std::ranges::transform(text, text.begin(), [](unsigned char c) { return std::toupper(c); });
    return did_you_mean(text, words);
  }

  const SqlText& sql_;
  std::size_t at_;
  int depth_;
};

// Parts of a list, which must not be empty.
std::vector<TokenRange> listed(const SqlText& sql, TokenRange range, std::string_view what) {
  std::vector<TokenRange> parts;
  Reader reader(sql, range.first);
  while (true) {
    const TokenRange part =
        reader.until([&](const Token& token) { return token.is_symbol(",") || reader.at() >= range.last; });
    const TokenRange cut{part.first, std::min(part.last, range.last)};
    if (cut.empty()) sql.fail_at(sql.token(cut.first).begin, fmt::format("expected {}", what));
    parts.push_back(cut);
    if (reader.at() >= range.last || reader.done()) return parts;
    reader.step();
  }
}

class SelectParser {
 public:
  SelectParser(const SqlText& sql, std::size_t select, std::size_t keyword)
      : sql_(sql), reader_(sql, select) {
    result_.keyword = keyword;
    result_.whole.first = select;
  }

  InspectSelect parse() {
    columns();
    inspect();
    reader_.expect("FROM", "FROM and the relations that hold the units, hypotheses and inputs");
    from();
    if (reader_.take("WHERE")) add_conditions(clause("a condition after WHERE"));
    if (reader_.take("GROUP")) {
      reader_.expect("BY", "BY after GROUP");
      result_.groups = listed(sql_, clause("what to group by"), "what to group by");
    }
    if (reader_.take("HAVING")) result_.having = conjuncts(sql_, clause("a condition after HAVING"));
    if (!reader_.done() && !is_one_of(reader_.now(), after_select))
      reader_.expected("WHERE, GROUP BY, HAVING, ORDER BY, LIMIT or the end",
                       {"WHERE", "GROUP", "HAVING", "ORDER", "LIMIT"});
    if (reader_.now().is_word("WINDOW"))
      sql_.fail_at(reader_.now().begin, "WINDOW cannot follow INSPECT; write the window in OVER (...)");
    result_.whole.last = reader_.at();
    order();
    return std::move(result_);
  }

 private:
  void columns() {
    reader_.step();
    result_.distinct = reader_.take("DISTINCT");
    reader_.take("ALL");
    result_.columns = {reader_.at(), result_.keyword};
    while (reader_.at() < result_.keyword) {
      if (reader_.now().is_word("FROM"))
        sql_.fail_at(sql_.token(result_.keyword).begin, "INSPECT comes before FROM, after the columns");
      reader_.step();
    }
    if (result_.columns.empty()) reader_.expected("columns between SELECT and INSPECT");
  }

  void inspect() {
    reader_.step();
    result_.unit = column("the units, such as U.uid");
    reader_.expect("AND", "AND and the hypotheses (INSPECT U.uid AND H.h)");
    result_.hypothesis = column("the hypotheses, such as H.h");
    reader_.expect("USING", "USING and measures (USING pearson)");
    const TokenRange names = part([](const Token& t) { return t.is_word("OVER") || t.is_word("FROM"); },
                                  "a measure, such as pearson");
    for (const TokenRange& name : listed(sql_, names, "a measure")) {
      const Token& first = sql_.token(name.first);
      const bool is_string = name.last - name.first == 1 && first.kind == Token::Kind::string;
      const std::string text = sql_.text_of(name);
      result_.measures.push_back({is_string ? text.substr(1, text.size() - 2) : text, first.begin});
    }
    reader_.expect("OVER", "OVER and what the records are read from (OVER D.seq)");
    result_.sequence = column("what the records are read from, such as D.seq");
    reader_.expect("AS", "AS and a name for the scores (AS S)");
    if (reader_.done() || !reader_.now().is_name() || reader_.now().is_word("FROM"))
      reader_.expected("a name for the scores, such as S");
    result_.alias = reader_.now().text;
    reader_.step();
  }

  // A column, with its relation or without.
  TokenRange column(std::string_view what) {
    const std::size_t first = reader_.at();
    for (bool dot = true; dot; dot = !reader_.done() && reader_.now().is_symbol(".")) {
      if (reader_.at() > first) reader_.step();
      if (reader_.done() || !reader_.now().is_name()) reader_.expected(what);
      reader_.step();
    }
    return {first, reader_.at()};
  }

  template <typename Ends>
  TokenRange part(const Ends& ends, std::string_view what) {
    const TokenRange range = reader_.until(ends);
    if (range.empty()) reader_.expected(what);
    return range;
  }

  TokenRange clause(std::string_view what) {
    return part(
        [](const Token& t) {
          return t.is_word("WHERE") || t.is_word("GROUP") || t.is_word("HAVING") ||
                 is_one_of(t, after_select);
        },
        what);
  }

  void add_conditions(TokenRange condition) {
    for (const TokenRange& each : conjuncts(sql_, condition)) result_.conditions.push_back(each);
  }

  void from() {
    from_item(false);
    while (!reader_.done()) {
      if (reader_.now().is_symbol(",")) {
        reader_.step();
        from_item(false);
      } else if (is_one_of(reader_.now(), joins)) {
        join();
      } else {
        return;
      }
    }
  }

  void join() {
    for (const std::string_view kind : {"NATURAL", "RIGHT", "FULL"}) {
      if (reader_.now().is_word(kind))
        sql_.fail_at(
            reader_.now().begin,
            fmt::format("{} JOIN cannot be used with INSPECT; write JOIN ... ON or LEFT JOIN ... ON", kind));
    }
    const bool optional = reader_.take("LEFT");
    if (optional)
      reader_.take("OUTER");
    else if (!reader_.take("INNER"))
      reader_.take("CROSS");
    reader_.expect("JOIN", "JOIN");
    from_item(optional);
    if (reader_.now().is_word("USING") && !reader_.done())
      sql_.fail_at(reader_.now().begin, "JOIN ... USING cannot be used with INSPECT; write JOIN ... ON");
    if (!reader_.take("ON")) {
      if (optional) reader_.expected("ON and the condition of the LEFT JOIN", {"ON"});
      return;
    }
    const TokenRange on = part(
        [](const Token& t) {
          return t.is_symbol(",") || (is_one_of(t, joins) && !t.is_word("ON")) || t.is_word("WHERE") ||
                 t.is_word("GROUP") || t.is_word("HAVING") || is_one_of(t, after_select);
        },
        "a condition after ON");
    if (optional)
      result_.from.back().on = on;
    else
      add_conditions(on);
  }

  void from_item(bool optional) {
    FromItem item{.source = {reader_.at(), reader_.at()}, .alias = {}, .optional = optional};
    if (!reader_.done() && reader_.now().is_symbol("(")) {
      if (!opens_query(sql_, reader_.at()))
        sql_.fail_at(reader_.now().begin, "joins in parentheses cannot be used with INSPECT; leave them out");
      reader_.step();
    } else {
      relation_name(item);
    }
    item.source.last = reader_.at();
    if (reader_.take("AS")) {
      if (reader_.done() || !reader_.now().is_name()) reader_.expected("a name after AS");
      item.alias = reader_.now().text;
      reader_.step();
    } else if (!reader_.done() && reader_.now().is_name() && !ends_item(reader_.now())) {
      item.alias = reader_.now().text;
      reader_.step();
    }
    if (item.alias.empty())
      sql_.fail_at(sql_.token(item.source.first).begin, "this query needs a name: (...) AS name");
    for (const FromItem& other : result_.from) {
      if (same_name(other.alias, item.alias))
        sql_.fail_at(sql_.token(item.source.first).begin,
                     fmt::format("two relations of FROM are called '{}'; give one another name", item.alias));
    }
    if (same_name(result_.alias, item.alias))
      sql_.fail_at(sql_.token(item.source.first).begin,
                   fmt::format("the scores are called '{}' already (AS {}); give this relation another name",
                               item.alias, result_.alias));
    result_.from.push_back(std::move(item));
  }

  void relation_name(FromItem& item) {
    while (true) {
      if (reader_.done() || !reader_.now().is_name() || ends_item(reader_.now()))
        reader_.expected("the name of a relation");
      item.alias = reader_.now().text;
      reader_.step();
      if (reader_.done() || !reader_.now().is_symbol(".")) break;
      reader_.step();
    }
    if (!reader_.done() && reader_.now().is_symbol("(")) reader_.step();  // arguments of a table function
  }

  static bool ends_item(const Token& token) {
    return is_one_of(token, joins) || is_one_of(token, after_select) || token.is_word("WHERE") ||
           token.is_word("GROUP") || token.is_word("HAVING") || token.is_word("USING");
  }

  // ORDER BY belongs to the SELECT unless it is one of several that are put together.
  void order() {
    const std::size_t first = result_.whole.first;
    const bool has_before = first > 0 && (is_one_of(sql_.token(first - 1), between_selects) ||
                                          sql_.token(first - 1).is_word("ALL"));
    if (has_before || !reader_.take("ORDER")) return;
    reader_.expect("BY", "BY after ORDER");
    result_.order = part([](const Token& t) { return t.is_word("LIMIT"); }, "what to order by");
  }

  const SqlText& sql_;
  Reader reader_;
  InspectSelect result_;
};

// Definitions of a WITH at token `with` that end before token `user`; by lower-case name, later ones win.
void add_definitions(const SqlText& sql, std::size_t with, std::size_t user, bool& recursive,
                     std::vector<std::pair<std::string, std::string>>& definitions) {
  std::size_t at = with + 1;
  if (sql.token(at).is_word("RECURSIVE")) {
    recursive = true;
    ++at;
  }
  while (sql.token(at).is_name()) {
    const std::size_t first = at;
    if (sql.token(++at).is_symbol("(")) at = sql.closing(at) + 1;
    if (!sql.token(at).is_word("AS")) return;
    ++at;
    if (sql.token(at).is_word("NOT")) ++at;
    if (sql.token(at).is_word("MATERIALIZED")) ++at;
    if (!sql.token(at).is_symbol("(")) return;
    const std::size_t last = sql.closing(at);
    if (last >= user) return;
    const std::string name = sql.token(first).text;
    std::erase_if(definitions, [&](const auto& known) { return same_name(known.first, name); });
    definitions.emplace_back(name, sql.text_of({first, last + 1}));
    at = last + 1;
    if (!sql.token(at).is_symbol(",")) return;
    ++at;
  }
}

std::string visible_definitions(const SqlText& sql, std::size_t user) {
  std::vector<std::size_t> withs{sql.tokens().size()};  // by level, of those around token `i`
  for (std::size_t i = 0; i < user; ++i) {
    const Token& token = sql.token(i);
    withs.resize(static_cast<std::size_t>(token.depth) + 1, sql.tokens().size());
    if (token.is_symbol(";")) withs.back() = sql.tokens().size();
    if (token.is_word("WITH")) withs.back() = i;
    if (token.is_symbol("(")) withs.push_back(sql.tokens().size());
  }
  bool recursive = false;
  std::vector<std::pair<std::string, std::string>> definitions;
  for (const std::size_t with : withs) {
    if (with < user) add_definitions(sql, with, user, recursive, definitions);
  }
  std::string text;
  for (const auto& [name, definition] : definitions) text += (text.empty() ? "" : ", ") + definition;
  return text.empty() ? text : fmt::format("WITH {}{} ", recursive ? "RECURSIVE " : "", text);
}

}  // namespace

bool opens_query(const SqlText& sql, std::size_t open) {
  const Token& inside = sql.token(open + 1);
  return inside.is_word("SELECT") || inside.is_word("WITH") || inside.is_word("VALUES");
}

std::vector<TokenRange> conjuncts(const SqlText& sql, TokenRange condition) {
  std::vector<TokenRange> parts{{condition.first, condition.last}};
  int cases = 0, betweens = 0;
  const int depth = sql.token(condition.first).depth;
  for (std::size_t i = condition.first; i < condition.last; ++i) {
    const Token& token = sql.token(i);
    if (token.depth != depth) continue;
    cases += token.is_word("CASE") ? 1 : token.is_word("END") ? -1 : 0;
    if (cases > 0) continue;
    if (token.is_word("OR")) return {condition};
    betweens += token.is_word("BETWEEN") ? 1 : 0;
    if (!token.is_word("AND")) continue;
    if (betweens > 0) {
      --betweens;
      continue;
    }
    parts.back().last = i;
    parts.push_back({i + 1, condition.last});
  }
  for (const TokenRange& part : parts) {
    if (part.empty()) sql.fail_at(sql.token(part.first).begin, "expected a condition");
  }
  return parts;
}

std::optional<InspectSelect> first_inspect(const SqlText& sql) {
  std::map<std::size_t, std::size_t> selects;  // of clauses: SELECT by INSPECT
  for (std::size_t i = 0; i + 1 < sql.tokens().size(); ++i) {
    if (!is_clause(sql, i)) continue;
    if (const auto select = select_before(sql, i)) selects.emplace(i, *select);
  }
  for (const auto& [keyword, select] : selects) {
    const int depth = sql.token(select).depth;
    std::size_t end = keyword;
    while (sql.token(end).kind != Token::Kind::end && sql.token(end).depth >= depth &&
           !(sql.token(end).depth == depth &&
             (sql.token(end).is_symbol(";") || is_one_of(sql.token(end), between_selects))))
      ++end;
    const bool innermost =
        std::ranges::none_of(selects, [&, own = keyword, begin = select](const auto& other) {
          return other.first != own && other.first > begin && other.first < end &&
                 sql.token(other.first).depth > depth;
        });
    if (!innermost) continue;
    InspectSelect result = SelectParser(sql, select, keyword).parse();
    result.with = visible_definitions(sql, select);
    return result;
  }
  return std::nullopt;
}

}  // namespace assay::workbench
