#include <assay/extend/spec.h>

#include <algorithm>
#include <cmath>

#include <assay/error.h>
#include "assay/support/text/parse.h"
#include "assay/support/text/text.h"

namespace assay::inline support {
namespace {

std::string trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return {};
  return std::string(text.substr(begin, text.find_last_not_of(" \t") - begin + 1));
}

// After the quoted part, or value of an option, that begins at `open`; npos where none does.
std::size_t end_of_quoted(const std::string& text, std::size_t open) {
  const auto is_any = [&](std::size_t at, std::string_view of) { return of.find(text[at]) != of.npos; };
  if (text[open] != '"' || (open > 0 && !is_any(open - 1, ",="))) return std::string::npos;
  for (std::size_t i = open + 1; i < text.size(); ++i) {
    if (text[i] != '"') continue;
    if (i + 1 == text.size() || is_any(i + 1, ",]")) return i + 1;
    if (text[i + 1] != '"') return std::string::npos;
    ++i;
  }
  return std::string::npos;
}

// a"b of "a""b".
std::string without_quotes(const std::string& quoted) {
  std::string text;
  for (std::size_t i = 1; i + 1 < quoted.size(); ++i) {
    text += quoted[i];
    if (quoted[i] == '"') ++i;
  }
  return text;
}

}  // namespace

std::string Spec::text() const {
  std::string inside;
  for (const auto& [key, value] : options) inside += (inside.empty() ? "" : ",") + key + "=" + value;
  return inside.empty() ? name : name + "[" + inside + "]";
}

Spec parse_spec(const std::string& kind, const std::string& text) {
  const std::size_t open = text.find('[');
  Spec spec{trimmed(text.substr(0, open)), {}};
  if (spec.name.empty())
    fail(Fault::usage, "{} '{}': a name is needed, then options where wanted: NAME[option=value,...]", kind,
         text);
  if (open == std::string::npos) return spec;
  const std::string rest = trimmed(text.substr(open + 1));
  if (rest.empty() || rest.back() != ']') fail(Fault::usage, "{} '{}': the closing ] is missing", kind, text);
  const std::string inside = rest.substr(0, rest.size() - 1);
  for (std::size_t at = 0; at <= inside.size();) {
    const std::size_t comma = std::min(inside.find(',', at), inside.size());
    const std::string part = inside.substr(at, comma - at);
    const std::size_t equals = part.find('=');
    const std::string key = trimmed(part.substr(0, equals));
    if (equals == std::string::npos || key.empty()) {
      fail(Fault::usage, "{} '{}': '{}' is not of the form option=value", kind, text, trimmed(part));
    }
    std::string value = trimmed(part.substr(equals + 1));
    if (value.empty()) fail(Fault::usage, "{} '{}': option '{}' has no value", kind, text, key);
    if (!spec.options.emplace(key, std::move(value)).second) {
      fail(Fault::usage, "{} '{}': option '{}' is given twice", kind, text, key);
    }
    at = comma + 1;
  }
  return spec;
}

std::vector<std::string> split_specs(const std::string& text) {
  std::vector<std::string> parts(1);
  int depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (const std::size_t end = end_of_quoted(text, i); end != std::string::npos) {
      const std::string quoted = text.substr(i, end - i);
      parts.back() += depth == 0 ? without_quotes(quoted) : quoted;
      i = end - 1;
      continue;
    }
    depth += c == '[' ? 1 : c == ']' ? -1 : 0;
    if (c == ',' && depth == 0)
      parts.emplace_back();
    else
      parts.back() += c;
  }
  return parts;
}

std::string quoted_spec(const std::string& text) {
  if (split_specs(text) == std::vector{text}) return text;
  std::string quoted;
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return '"' + quoted + '"';
}

SpecOptions::SpecOptions(const std::string& kind, const Spec& spec, std::span<const SpecOption> declared)
    : owner_(kind + " '" + spec.name + "'") {
  std::vector<std::string> names;
  for (const SpecOption& option : declared) {
    values_.emplace(option.name, option.fallback);
    names.push_back(option.name);
  }
  for (const auto& [name, value] : spec.options) {
    const auto found = values_.find(name);
    if (found == values_.end()) {
      fail(Fault::usage, "{} has no option '{}'{}; it has {}", owner_, name, did_you_mean(name, names),
           names.empty() ? "none" : joined(names));
    }
    found->second = value;
  }
}

double SpecOptions::number(const std::string& name) const {
  const std::string& value = text(name);
  const auto number = number_of<double>(value);
  if (!number) fail(Fault::usage, "{}: option {}={} is not a number", owner_, name, value);
  if (!fits_networks(*number))
    fail(Fault::usage, "{}: option {}={} is beyond the numbers that networks compute with", owner_, name,
         value);
  return *number;
}

double SpecOptions::number(const std::string& name, double least) const {
  const double value = number(name);
  if (value < least)
    fail(Fault::usage, "{}: option {}={} must be at least {}", owner_, name, text(name), least);
  return value;
}

std::size_t SpecOptions::count(const std::string& name, std::size_t least) const {
  constexpr double most = 1 << 24;
  const double value = number(name, static_cast<double>(least));
  if (value != std::floor(value) || value > most) {
    fail(Fault::usage, "{}: option {}={} must be a whole number up to {}", owner_, name, text(name), most);
  }
  return static_cast<std::size_t>(value);
}

const std::string& SpecOptions::word(const std::string& name, std::span<const std::string> words) const {
  const std::string& value = text(name);
  if (std::ranges::find(words, value) == words.end()) {
    fail(Fault::usage, "{}: option {}={} must be one of {}", owner_, name, value,
         joined({words.begin(), words.end()}));
  }
  return value;
}

std::vector<std::string> SpecOptions::words(const std::string& name) const {
  std::vector<std::string> words;
  const std::string& value = text(name);
  for (std::size_t at = 0; at < value.size();) {
    const std::size_t plus = std::min(value.find('+', at), value.size());
    words.push_back(value.substr(at, plus - at));
    at = plus + 1;
  }
  return words;
}

}  // namespace assay::inline support
