#include "assay/support/text/shell.h"

#include <algorithm>

#include <assay/error.h>
#include "assay/support/ascii.h"

namespace assay::inline support {

std::string shell_word(std::string_view text) {
  const auto plain = [](char c) {
    return is_alphanumeric(c) || std::string_view("_-./,:=@%+").find(c) != std::string_view::npos;
  };
  if (!text.empty() && std::all_of(text.begin(), text.end(), plain)) return std::string(text);
  std::string word = "'";
  for (const char c : text) word += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return word + "'";
}

std::vector<std::string> shell_words(std::string_view text) {
  std::vector<std::string> words;
  bool inside = false, quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (!quoted && c == ' ') {
      inside = false;
      continue;
    }
    if (!inside) words.emplace_back();
    inside = true;
    if (c == '\'')
      quoted = !quoted;
    else if (c == '\\' && !quoted && i + 1 < text.size())
      words.back() += text[++i];
    else
      words.back() += c;
  }
  if (quoted) fail(Fault::usage, "'{}': a quotation mark is missing", text);
  return words;
}

}  // namespace assay::inline support
