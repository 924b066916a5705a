#include "tests/structure/cpp_source.h"

#include <algorithm>
#include <cctype>
#include <filesystem>

#include "assay/support/files/file.h"

namespace assay::structure {
namespace {

namespace fs = std::filesystem;

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// Past the end of what begins at `at` and ends with `end`, or the end of the text.
std::size_t past(const std::string& text, std::size_t at, const std::string& end) {
  const std::size_t found = text.find(end, at);
  return found == std::string::npos ? text.size() : found + end.size();
}

std::size_t past_line(const std::string& text, std::size_t at) {
  std::size_t end = past(text, at, "\n");
  while (end >= 2 && end < text.size() && text[end - 2] == '\\') end = past(text, end, "\n");
  return end;
}

// `at` is the opening quote.
std::size_t past_literal(const std::string& text, std::size_t at) {
  const char quote = text[at];
  for (++at; at < text.size() && text[at] != quote; ++at)
    if (text[at] == '\\') ++at;
  return std::min(at + 1, text.size());
}

// `at` is the quote of R"delimiter(...)delimiter".
std::size_t past_raw_literal(const std::string& text, std::size_t at) {
  const std::size_t open = text.find('(', at);
  return past(text, open, ")" + text.substr(at + 1, open - at - 1) + "\"");
}

// Words and single characters, "::" in one piece; comments, literals and preprocessor lines are dropped.
std::vector<std::string> tokens_of(const std::string& text) {
  std::vector<std::string> tokens;
  bool line_begins = true;
  for (std::size_t at = 0; at < text.size();) {
    const char c = text[at];
    if (std::isspace(static_cast<unsigned char>(c)) != 0) {
      line_begins = line_begins || c == '\n';
      ++at;
      continue;
    }
    if (c == '#' && line_begins) {
      at = past_line(text, at);
      continue;
    }
    line_begins = false;
    if (text.compare(at, 2, "//") == 0) {
      at = past(text, at, "\n");
      line_begins = true;
    } else if (text.compare(at, 2, "/*") == 0) {
      at = past(text, at + 2, "*/");
    } else if (c == '"' || c == '\'') {
      const bool raw = c == '"' && !tokens.empty() && at > 0 && text[at - 1] == 'R';
      at = raw ? past_raw_literal(text, at) : past_literal(text, at);
    } else if (is_word(c)) {
      const std::size_t begin = at;
      // A quote between digits separates them: 1'000.
      while (at < text.size() &&
             (is_word(text[at]) || (text[at] == '\'' && std::isdigit(static_cast<unsigned char>(c)) != 0)))
        ++at;
      tokens.push_back(text.substr(begin, at - begin));
    } else {
      const std::size_t length = text.compare(at, 2, "::") == 0 ? 2 : 1;
      tokens.push_back(text.substr(at, length));
      at += length;
    }
  }
  return tokens;
}

// Reads declarations one after the other, into named namespaces but into no other braces.
class Reader {
 public:
  explicit Reader(const std::string& text) : tokens_(tokens_of(text)) {}

  std::vector<std::string> types() {
    read_scope("");
    return std::move(types_);
  }

 private:
  using Tokens = std::vector<std::string>;

  bool ended() const { return at_ >= tokens_.size(); }

  // Up to the scope's closing brace, or the end.
  void read_scope(const std::string& scope) {
    while (!ended() && tokens_[at_] != "}") read_declaration(scope);
    ++at_;
  }

  // Up to the semicolon or past the braces, whichever comes first.
  void read_declaration(const std::string& scope) {
    Tokens head;
    while (!ended() && tokens_[at_] != ";" && tokens_[at_] != "{" && tokens_[at_] != "}") {
      head.push_back(tokens_[at_]);
      if (tokens_[at_] == "(")
        skip("(", ")");
      else
        ++at_;
    }
    if (ended() || tokens_[at_] == "}") return;
    if (tokens_[at_] == ";") {
      ++at_;
      return;
    }
    if (const auto space = std::ranges::find(head, "namespace"); space != head.end()) {
      std::string name;
      for (auto word = space + 1; word != head.end(); ++word)
        if (*word != "inline") name += *word;
      if (name.empty()) return skip("{", "}");
      ++at_;
      return read_scope(scope + name + "::");
    }
    if (head == Tokens{"extern"}) {  // extern "C" {
      ++at_;
      return read_scope(scope);
    }
    if (const std::string name = type_named(head); !name.empty()) types_.push_back(scope + name);
    skip("{", "}");
  }

  // Past the bracket that closes the one at the present place.
  void skip(const std::string& open, const std::string& close) {
    int depth = 0;
    do {
      if (tokens_[at_] == open) ++depth;
      if (tokens_[at_] == close) --depth;
      ++at_;
    } while (!ended() && depth > 0);
  }

  // The name of the type whose definition begins with `head`, or nothing.
  static std::string type_named(const Tokens& head) {
    static const Tokens keywords{"class", "struct", "union", "enum"};
    std::size_t at = past_templates(head);
    while (at < head.size() && std::ranges::find(keywords, head[at]) == keywords.end()) ++at;
    std::string name;
    int depth = 0;  // of a specialisation's arguments
    for (; at < head.size(); ++at) {
      const std::string& word = head[at];
      if (word == "(" && head[at - 1] != "alignas") return {};  // a function that returns one
      if (depth == 0 && (word == ":" || word == "final" || word == "=")) break;
      if (depth == 0 && word == "[") {
        while (at < head.size() && head[at] != "]") ++at;
        continue;
      }
      if (word == "<") ++depth;
      if (word == ">") --depth;
      if (depth == 0 && (std::ranges::find(keywords, word) != keywords.end() || word == "]" || word == "(" ||
                         word == "alignas"))
        continue;
      name += word;
    }
    return name;
  }

  // template <class T> also names classes.
  static std::size_t past_templates(const Tokens& head) {
    std::size_t past = 0;
    for (std::size_t at = 0; at + 1 < head.size(); ++at) {
      if (head[at] != "template" || head[at + 1] != "<") continue;
      int depth = 0;
      for (++at; at < head.size(); ++at) {
        if (head[at] == "<") ++depth;
        if (head[at] == ">" && --depth == 0) break;
      }
      past = at + 1;
    }
    return past;
  }

  Tokens tokens_;
  std::size_t at_ = 0;
  std::vector<std::string> types_;
};

}  // namespace

std::vector<Source> sources_below(const std::vector<std::string>& folders) {
  const fs::path repository = ASSAY_SOURCE_DIR;
  std::vector<Source> sources;
  for (const std::string& folder : folders) {
    if (!fs::is_directory(repository / folder)) continue;
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(repository / folder)) {
      const fs::path& path = entry.path();
      if (path.extension() == ".h" || path.extension() == ".cpp")
        sources.push_back({path.lexically_relative(repository).generic_string(), read_file(path)});
    }
  }
  std::ranges::sort(sources, {}, &Source::path);
  return sources;
}

std::vector<std::string> includes_of(const std::string& text) {
  std::vector<std::string> includes;
  for (std::size_t at = 0; at < text.size(); at = past(text, at, "\n")) {
    if (text.compare(at, 9, "#include ") != 0) continue;
    const std::size_t open = text.find_first_of("\"<", at), close = text.find_first_of("\">", open + 1);
    includes.push_back(text.substr(open + 1, close - open - 1));
  }
  return includes;
}

std::vector<std::string> types_defined_in(const std::string& text) { return Reader(text).types(); }

}  // namespace assay::structure
