// Expressions of tokenizers for PCRE2. They are written for Oniguruma, whose words of the same spelling mean
// other characters here and there.

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <array>
#include <map>
#include <memory>

#include <assay/error.h>
#include "assay/text/pattern.h"
#include "assay/text/unicode.h"

namespace assay::text {
namespace {

using Code = std::shared_ptr<pcre2_code>;

// Nothing where it is not an expression; then `error` says why.
Code compiled(const std::string& expression, std::string& error) {
  const std::unique_ptr<pcre2_compile_context, void (*)(pcre2_compile_context*)> context(
      pcre2_compile_context_create(nullptr), pcre2_compile_context_free);
  // Only \n ends a line; ^ and $ are about lines, as in Ruby.
  pcre2_set_newline(context.get(), PCRE2_NEWLINE_LF);
  pcre2_set_max_pattern_length(context.get(), 1 << 16);
  int code = 0;
  PCRE2_SIZE offset = 0;
  Code result(pcre2_compile(reinterpret_cast<PCRE2_SPTR>(expression.data()), expression.size(),
                            PCRE2_UTF | PCRE2_UCP | PCRE2_MULTILINE | PCRE2_NEVER_BACKSLASH_C, &code, &offset,
                            context.get()),
              pcre2_code_free);
  if (result) return result;
  std::array<PCRE2_UCHAR, 256> message{};
  pcre2_get_error_message(code, message.data(), message.size());
  error = fmt::format("{} at byte {}", reinterpret_cast<const char*>(message.data()), offset);
  return nullptr;
}

// Steps of one attempt to match; hostile expressions would take for ever.
constexpr std::uint32_t most_steps = 200'000, most_kibibytes = 64 << 10;

pcre2_match_context* match_context() {
  thread_local const std::unique_ptr<pcre2_match_context, void (*)(pcre2_match_context*)> context = [] {
    pcre2_match_context* made = pcre2_match_context_create(nullptr);
    pcre2_set_match_limit(made, most_steps);
    pcre2_set_heap_limit(made, most_kibibytes);
    return std::unique_ptr<pcre2_match_context, void (*)(pcre2_match_context*)>(made,
                                                                                pcre2_match_context_free);
  }();
  return context.get();
}

pcre2_match_data* match_data() {
  thread_local const std::unique_ptr<pcre2_match_data, void (*)(pcre2_match_data*)> data(
      pcre2_match_data_create(1, nullptr), pcre2_match_data_free);
  return data.get();
}

std::optional<Range> found(const pcre2_code* code, const std::string& where, std::string_view text,
                           std::size_t from) {
  const int result = pcre2_match(code, reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(), from,
                                 PCRE2_NO_UTF_CHECK, match_data(), match_context());
  if (result == PCRE2_ERROR_NOMATCH) return std::nullopt;
  if (result < 0)
    fail(Fault::resources,
         "{}: the expression takes more than {} steps on a text; write it without nested repetitions", where,
         most_steps);
  const PCRE2_SIZE* const pair = pcre2_get_ovector_pointer(match_data());
  // \K can put the beginning after the end.
  return Range{std::min(pair[0], pair[1]), pair[1]};
}

// Scripts are what PCRE2 calls script extensions, unless it is said.
bool is_script(const std::string& name) {
  std::string ignored;
  return name.size() > 2 && name.find_first_of("=:") == std::string::npos &&
         compiled("\\p{sc:" + name + "}", ignored) != nullptr;
}

// Rewrites an expression from left to right.
class Translation {
 public:
  Translation(const std::string& expression, const std::string& where)
      : expression_(expression), where_(where) {}

  std::string all() {
    while (at_ < expression_.size()) step();
    return std::move(result_);
  }

 private:
  // Oniguruma's characters of words in a set, and outside of sets, where it has a few numbers of Latin-1 as
  // well.
  static constexpr const char* word = "\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}";
  static constexpr const char* numbers = "\\x{B2}\\x{B3}\\x{B9}\\x{BC}-\\x{BE}";

  void step() {
    const char c = expression_[at_];
    if (c == '\\')
      escape();
    else if (in_class_)
      class_member();
    else if (c == '[')
      begin_class();
    else if (expression_.compare(at_, 2, "(?") == 0)
      group();
    else
      copy(1);
  }

  void copy(std::size_t count) {
    result_.append(expression_, at_, count);
    at_ += count;
  }
  void replace(std::size_t count, const std::string& with) {
    result_ += with;
    at_ += count;
  }
  [[noreturn]] void refuse(const std::string& what) const {
    fail(Fault::unsupported, "{}: the expression '{}' uses {}, which Assay does not read; write it without",
         where_, expression_, what);
  }

  void begin_class() {
    in_class_ = true;
    copy(1);
    if (at_ < expression_.size() && expression_[at_] == '^') copy(1);
    // A bracket that comes first is a member.
    if (at_ < expression_.size() && expression_[at_] == ']') replace(1, "\\]");
  }

  void class_member() {
    if (expression_[at_] == ']') in_class_ = false;
    if (expression_.compare(at_, 2, "&&") == 0) refuse("the intersection of sets (&&)");
    if (expression_[at_] != '[') return copy(1);
    const std::size_t end =
        expression_.compare(at_, 2, "[:") == 0 ? expression_.find(":]", at_) : std::string::npos;
    if (end == std::string::npos) refuse("a set within a set");
    named_set(expression_.substr(at_ + 2, end - at_ - 2));
  }

  // [[:punct:]]
  void named_set(const std::string& name) {
    static const std::map<std::string, std::string> all = {{"alnum", "\\p{Alphabetic}\\p{Nd}"},
                                                           {"alpha", "\\p{Alphabetic}"},
                                                           {"digit", "\\p{Nd}"},
                                                           {"lower", "\\p{Lowercase}"},
                                                           {"punct", "\\p{P}\\p{S}"},
                                                           {"space", "\\p{White_Space}"},
                                                           {"upper", "\\p{Uppercase}"},
                                                           {"word", word}};
    const auto it = all.find(name);
    if (it == all.end()) refuse("the set [:" + name + ":]");
    replace(name.size() + 4, it->second);
  }

  void escape() {
    if (at_ + 1 == expression_.size()) return copy(1);  // PCRE2 says what is wrong
    const char c = expression_[at_ + 1];
    const std::string words = in_class_ ? word : std::string(word) + numbers;
    if (c == 's' || c == 'S') return replace(2, c == 's' ? "\\p{White_Space}" : "\\P{White_Space}");
    if (c == 'h') return replace(2, in_class_ ? "0-9A-Fa-f" : "[0-9A-Fa-f]");
    if (c == 'w') return replace(2, in_class_ ? words : "[" + words + "]");
    if (in_class_ && (c == 'W' || c == 'H')) refuse(fmt::format("\\{} in a set", c));
    if (c == 'W') return replace(2, "[^" + words + "]");
    if (c == 'H') return replace(2, "[^0-9A-Fa-f]");
    if (!in_class_ && (c == 'b' || c == 'B')) return boundary(c == 'b');
    if (c == 'p' || c == 'P') return property();
    copy(2);
  }

  void boundary(bool is_one) {
    const std::string w = "[" + std::string(word) + numbers + "]";
    replace(2, is_one ? fmt::format("(?:(?<={0})(?!{0})|(?<!{0})(?={0}))", w)
                      : fmt::format("(?:(?<={0})(?={0})|(?<!{0})(?!{0}))", w));
  }

  // \p{Han}, \p{^Han}, \P{Han}
  void property() {
    const std::size_t end = expression_.find('}', at_);
    if (at_ + 2 >= expression_.size() || expression_[at_ + 2] != '{' || end == std::string::npos)
      return copy(2);
    const bool negated = expression_[at_ + 3] == '^';
    const std::size_t begin = at_ + (negated ? 4 : 3);
    const std::string name = expression_.substr(begin, end - begin);
    replace(end + 1 - at_, fmt::format("\\{}{{{}{}{}}}", expression_[at_ + 1], negated ? "^" : "",
                                       is_script(name) ? "sc:" : "", name));
  }

  // (?m) lets a point be the end of a line, which is s elsewhere.
  void group() {
    copy(2);
    const std::size_t end = expression_.find_first_not_of("imx-", at_);
    if (end == std::string::npos || (expression_[end] != ':' && expression_[end] != ')')) return;
    for (; at_ < end; ++at_) result_ += expression_[at_] == 'm' ? 's' : expression_[at_];
  }

  const std::string& expression_;
  const std::string& where_;
  std::string result_;
  std::size_t at_ = 0;
  bool in_class_ = false;
};

Pattern compiled_pattern(const std::string& translated, const std::string& expression,
                         const std::string& where) {
  std::string error;
  const Code code = compiled(translated, error);
  if (!code)
    fail(Fault::data, "{}: '{}' is not a regular expression that Assay reads: {}", where, expression, error);
  return
      [code, where](std::string_view text, std::size_t from) { return found(code.get(), where, text, from); };
}

}  // namespace

Pattern regex_pattern(const std::string& expression, const std::string& where) {
  return compiled_pattern(Translation(expression, where).all(), expression, where);
}

Pattern pcre_pattern(const std::string& expression, const std::string& where) {
  return compiled_pattern(expression, expression, where);
}

}  // namespace assay::text
