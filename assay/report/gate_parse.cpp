#include <algorithm>
#include <map>

#include <assay/error.h>
#include <assay/gate.h>
#include "assay/support/ascii.h"
#include "assay/support/text/text.h"

namespace assay::report {
namespace {

constexpr std::size_t longest_threshold = 64;

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text), rest_(trimmed(text)) {}

  Gate parse() {
    Gate gate;
    gate.text = std::string(trimmed(text_));
    gate.criterion = name();
    if (take('[')) {
      do selector(gate);
      while (take(','));
      if (!take(']')) refuse("']' is missing");
    }
    gate.relation = relation();
    gate.threshold = threshold();
    return gate;
  }

 private:
  [[noreturn]] void refuse(const std::string& fault) const {
    fail(Fault::usage, "gate '{}': {}; write it like idc=0.35 or \"kmnc[layer=conv2]=60%\"", text_, fault);
  }

  void skip_space() { rest_ = rest_.substr(std::min(rest_.find_first_not_of(" \t"), rest_.size())); }

  bool take(char c) {
    skip_space();
    if (!rest_.starts_with(c)) return false;
    rest_.remove_prefix(1);
    return true;
  }

  std::string_view until(std::string_view stops) {
    const std::size_t end = std::min(rest_.find_first_of(stops), rest_.size());
    const std::string_view part = rest_.substr(0, end);
    rest_.remove_prefix(end);
    return trimmed(part);
  }

  std::string name() {
    const std::string_view found = until("[]=<>,");
    if (found.empty()) refuse("the criterion's name is missing");
    return std::string(found);
  }

  // layer=conv2 or layer="any name, with \" in it"
  void selector(Gate& gate) {
    skip_space();
    const std::string key(until("=,]"));
    std::string* target = key == "layer"     ? &gate.layer
                          : key == "class"   ? &gate.class_name
                          : key == "context" ? &gate.context
                                             : nullptr;
    if (target == nullptr) return option(gate, key);
    if (!target->empty()) refuse(fmt::format("'{}' is given twice", key));
    if (!take('=')) refuse(fmt::format("'{}' has no value", key));
    *target = take('"') ? quoted() : std::string(until(",]"));
    if (target->empty()) refuse(fmt::format("'{}' has no value", key));
  }

  // m=6 of idc[m=6]: part of the criterion's name.
  void option(Gate& gate, const std::string& key) {
    if (key.empty() || !take('=')) refuse(fmt::format("'{}' has no value", key));
    const std::string value = nested();
    if (value.empty()) refuse(fmt::format("'{}' has no value", key));
    options_.emplace(key, value);
    std::string all;
    for (const auto& [name, text] : options_) all += (all.empty() ? "" : ",") + name + "=" + text;
    gate.criterion = gate.criterion.substr(0, gate.criterion.find('[')) + "[" + all + "]";
  }

  // gf[ratio=0.01,seed=1] of mutation[operator=gf[ratio=0.01,seed=1]], "fog, dense" with its quotes
  std::string nested() {
    std::string value;
    bool quoted = false, escaped = false;
    for (int depth = 0; !rest_.empty(); rest_.remove_prefix(1)) {
      const char c = rest_.front();
      if (depth == 0 && !quoted && (c == ',' || c == ']')) break;
      quoted ^= c == '"' && !escaped;
      escaped = quoted && c == '\\' && !escaped;
      depth += quoted ? 0 : c == '[' ? 1 : c == ']' ? -1 : 0;
      value += c;
    }
    if (quoted) refuse("a quotation mark is missing");
    return std::string(trimmed(value));
  }

  std::string quoted() {
    std::string value;
    while (!rest_.empty() && rest_.front() != '"') {
      if (rest_.front() == '\\') rest_.remove_prefix(1);
      if (rest_.empty()) break;
      value += rest_.front();
      rest_.remove_prefix(1);
    }
    if (!take('"')) refuse("a quotation mark is missing");
    return value;
  }

  std::string relation() {
    if (take('=')) return "=";
    for (const char* two : {">=", "<="}) {
      skip_space();
      if (!rest_.starts_with(two)) continue;
      rest_.remove_prefix(2);
      return two;
    }
    refuse("the threshold is missing");
  }

  // "35.5%" -> "0.355"; "0.35" as it is.
  std::string threshold() {
    std::string_view number = trimmed(rest_);
    const bool percent = number.ends_with('%');
    if (percent) number = trimmed(number.substr(0, number.size() - 1));
    const bool negative = number.starts_with('-');
    if (negative) number.remove_prefix(1);
    const std::size_t point = std::min(number.find('.'), number.size());
    std::string whole(number.substr(0, point)), fraction(number.substr(std::min(point + 1, number.size())));
    const std::string digits = whole + fraction;
    const bool fits = !digits.empty() && digits.size() <= longest_threshold &&
                      std::all_of(digits.begin(), digits.end(), is_digit);
    if (!fits) refuse(fmt::format("the threshold '{}' is not a decimal number", trimmed(rest_)));
    if (percent) {
      whole.insert(0, whole.size() < 2 ? 2 - whole.size() : 0, '0');
      fraction.insert(0, whole.substr(whole.size() - 2));
      whole.resize(whole.size() - 2);
    }
    whole.erase(0, std::min(whole.find_first_not_of('0'), whole.size()));
    fraction.erase(fraction.find_last_not_of('0') + 1);
    return fmt::format("{}{}{}{}", negative ? "-" : "", whole.empty() ? "0" : whole,
                       fraction.empty() ? "" : ".", fraction);
  }

  std::string_view text_, rest_;
  std::map<std::string, std::string> options_;
};

}  // namespace

Gate parse_gate(std::string_view text) { return Parser(text).parse(); }

}  // namespace assay::report
