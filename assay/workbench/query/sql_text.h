#pragma once

// SQL as text in tokens, for finding and replacing clauses that SQLite does not know. Strings, quoted names
// and comments are those of SQLite; nothing else of its grammar is known here.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <assay/message.h>

namespace assay::workbench {

struct Token {
  enum class Kind { word, quoted_name, string, number, symbol, end } kind = Kind::end;
  std::size_t begin = 0, end = 0;  // bytes
  std::string text;                // a quoted name without its quotes; else as written
  int depth = 0;                   // of parentheses around it; those themselves are outside

  bool is_word(std::string_view upper_case) const;
  bool is_symbol(std::string_view symbol) const { return kind == Kind::symbol && text == symbol; }
  bool is_name() const { return kind == Kind::word || kind == Kind::quoted_name; }
};

// Tokens [first, last) of one text.
struct TokenRange {
  std::size_t first = 0, last = 0;
  bool empty() const { return first >= last; }
};

// Text that remembers the original position of its bytes through replacements.
class SqlText {
 public:
  // Throws Error{usage} with line and column for strings and names that do not end, parentheses that do not
  // match, parameters (nothing could be bound to them), and text above a megabyte.
  explicit SqlText(std::string text);
  // Bytes [begin, end) of it, which keep their places in the whole.
  SqlText(const std::string& whole, std::size_t begin, std::size_t end);

  const std::string& text() const { return text_; }
  // Ends in a token of kind `end`.
  const std::vector<Token>& tokens() const { return tokens_; }
  const Token& token(std::size_t i) const { return tokens_[i < tokens_.size() ? i : tokens_.size() - 1]; }
  std::string text_of(TokenRange range) const;
  // Where the parenthesis opened by token `open` closes.
  std::size_t closing(std::size_t open) const;

  // Replaces the tokens by `replacement`, which then counts as written where `blamed` stands.
  void replace(TokenRange range, std::string_view replacement, std::size_t blamed);

  // "line 2, column 5", of the user's text.
  std::string place(std::size_t byte) const;
  // Throws Error{usage}: "query, line 2, column 5: " and the message.
  [[noreturn]] void fail_at(std::size_t byte, const Message& message) const;

 private:
  void tokenise();

  std::string text_, written_;
  std::vector<std::size_t> origin_;  // per byte of text_, and one for its end: byte of written_
  std::vector<Token> tokens_;
};

// Whether names are the same to SQLite: ASCII letters of either case.
bool same_name(std::string_view a, std::string_view b);
// "name" with quotes, those inside doubled.
std::string quoted_name(std::string_view name);

}  // namespace assay::workbench
