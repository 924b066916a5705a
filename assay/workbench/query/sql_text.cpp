#include "assay/workbench/query/sql_text.h"

#include <algorithm>
#include <cctype>
#include <numeric>

#include <assay/error.h>
#include "assay/support/ascii.h"

namespace assay::workbench {
namespace {

constexpr std::size_t most_bytes = 1 << 20;

bool begins_word(char c) { return is_letter(c) || c == '_' || byte_of(c) >= 0x80; }
bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f'; }

// Reads one token after another.
class Scanner {
 public:
  explicit Scanner(const SqlText& sql) : sql_(sql), text_(sql.text()) {}

  Token next() {
    skip_blanks();
    Token token;
    token.begin = at_;
    if (at_ < text_.size()) read(token);
    token.end = at_;
    if (token.text.empty() && token.kind != Token::Kind::quoted_name)
      token.text = text_.substr(token.begin, at_ - token.begin);
    return token;
  }

 private:
  char peek(std::size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }

  void skip_blanks() {
    while (at_ < text_.size()) {
      if (is_space(peek())) {
        ++at_;
      } else if (peek() == '-' && peek(1) == '-') {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else if (peek() == '/' && peek(1) == '*') {
        const std::size_t end = text_.find("*/", at_ + 2);
        if (end == std::string::npos) sql_.fail_at(at_, "this comment does not end; close it with */");
        at_ = end + 2;
      } else {
        return;
      }
    }
  }

  void read(Token& token) {
    const char c = peek();
    if (c == '\'') {
      token.kind = Token::Kind::string;
      quoted('\'', "string");
    } else if (c == '"' || c == '`') {
      token.kind = Token::Kind::quoted_name;
      token.text = quoted(c, "name");
    } else if (c == '[') {
      token.kind = Token::Kind::quoted_name;
      const std::size_t end = text_.find(']', at_);
      if (end == std::string::npos) sql_.fail_at(at_, "this name does not end; close it with ]");
      token.text = text_.substr(at_ + 1, end - at_ - 1);
      at_ = end + 1;
    } else if (is_digit(c) || (c == '.' && is_digit(peek(1)))) {
      token.kind = Token::Kind::number;
      number();
    } else if (begins_word(c)) {
      token.kind = Token::Kind::word;
      while (begins_word(peek()) || is_digit(peek()) || peek() == '$') ++at_;
    } else if (c == '?' || c == '@' || c == '#' || c == '$' || (c == ':' && begins_word(peek(1)))) {
      sql_.fail_at(at_, "parameters have no values here; write the value itself");
    } else {
      token.kind = Token::Kind::symbol;
      symbol();
    }
  }

  std::string quoted(char quote, std::string_view what) {
    const std::size_t begin = at_++;
    std::string content;
    while (at_ < text_.size()) {
      const char c = text_[at_++];
      if (c != quote) {
        content += c;
      } else if (peek() == quote) {
        content += quote;
        ++at_;
      } else {
        return content;
      }
    }
    sql_.fail_at(begin, fmt::format("this {} does not end; close it with {}", what, quote));
  }

  void number() {
    if (peek() == '0' && upper_case(peek(1)) == 'X') {
      at_ += 2;
      while (std::isxdigit(byte_of(peek())) != 0) ++at_;
      return;
    }
    while (is_digit(peek()) || peek() == '.') ++at_;
    const bool sign = peek(1) == '+' || peek(1) == '-';
    if (upper_case(peek()) == 'E' && is_digit(peek(sign ? 2 : 1))) {
      at_ += sign ? 2 : 1;
      while (is_digit(peek())) ++at_;
    }
  }

  void symbol() {
    for (const std::string_view known : {"->>", "||", "<<", ">>", "<=", ">=", "==", "!=", "<>", "->"}) {
      if (text_.compare(at_, known.size(), known) == 0) {
        at_ += known.size();
        return;
      }
    }
    ++at_;
  }

  const SqlText& sql_;
  const std::string& text_;
  std::size_t at_ = 0;
};

}  // namespace

bool Token::is_word(std::string_view upper_case) const {
  return kind == Kind::word && same_name(text, upper_case);
}

SqlText::SqlText(std::string text) : text_(std::move(text)), written_(text_), origin_(text_.size() + 1) {
  if (text_.size() > most_bytes)
    fail(Fault::usage, "the query has {} bytes; at most {} are read", text_.size(), most_bytes);
  std::iota(origin_.begin(), origin_.end(), std::size_t{0});
  const std::size_t zero = text_.find('\0');
  if (zero != std::string::npos) fail_at(zero, "a zero byte; queries are text");
  tokenise();
}

SqlText::SqlText(const std::string& whole, std::size_t begin, std::size_t end)
    : text_(whole.substr(begin, end - begin)), written_(whole), origin_(text_.size() + 1) {
  std::iota(origin_.begin(), origin_.end(), begin);
  tokenise();
}

void SqlText::tokenise() {
  tokens_.clear();
  Scanner scanner(*this);
  std::vector<std::size_t> open;
  do {
    Token token = scanner.next();
    if (token.is_symbol(")")) {
      if (open.empty()) fail_at(token.begin, "this parenthesis closes nothing");
      open.pop_back();
    }
    token.depth = static_cast<int>(open.size());
    if (token.is_symbol("(")) open.push_back(token.begin);
    tokens_.push_back(std::move(token));
  } while (tokens_.back().kind != Token::Kind::end);
  if (!open.empty()) fail_at(open.back(), "this parenthesis is not closed");
}

std::string SqlText::text_of(TokenRange range) const {
  if (range.empty()) return {};
  const std::size_t begin = tokens_[range.first].begin;
  return text_.substr(begin, tokens_[range.last - 1].end - begin);
}

std::size_t SqlText::closing(std::size_t open) const {
  std::size_t i = open + 1;
  while (i + 1 < tokens_.size() && !(tokens_[i].is_symbol(")") && tokens_[i].depth == tokens_[open].depth))
    ++i;
  return i;
}

void SqlText::replace(TokenRange range, std::string_view replacement, std::size_t blamed) {
  const std::size_t begin = token(range.first).begin;
  const std::size_t end = range.empty() ? begin : tokens_[range.last - 1].end;
  const std::vector<std::size_t> origins(replacement.size(), origin_[blamed]);
  text_.replace(begin, end - begin, replacement);
  const auto at = [&](std::size_t i) { return origin_.begin() + i; };
  origin_.erase(at(begin), at(end));
  origin_.insert(at(begin), origins.begin(), origins.end());
  tokenise();
}

std::string SqlText::place(std::size_t byte) const {
  const std::string_view before(written_.data(), origin_[std::min(byte, text_.size())]);
  const auto line = std::count(before.begin(), before.end(), '\n') + 1;
  const std::size_t start = before.rfind('\n') == std::string_view::npos ? 0 : before.rfind('\n') + 1;
  // Columns are characters, not bytes: bytes that continue a character of UTF-8 do not count.
  const auto column =
      std::count_if(before.begin() + start, before.end(), [](char c) { return !continues_character(c); });
  return fmt::format("line {}, column {}", line, column + 1);
}

void SqlText::fail_at(std::size_t byte, const Message& message) const {
  fail(Fault::usage, "query, {}: {}", place(byte), message);
}

bool same_name(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, [](char x, char y) { return upper_case(x) == upper_case(y); });
}

std::string quoted_name(std::string_view name) {
  std::string text = "\"";
  for (const char c : name) text += c == '"' ? std::string("\"\"") : std::string(1, c);
  return text + "\"";
}

}  // namespace assay::workbench
