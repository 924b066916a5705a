#include <assay/extend/rule.h>

#include <assay/error.h>
#include "assay/support/text/parse.h"

// One line for each, defined in the file of that name.
#define ASSAY_RULES(X) \
  X(lrp_0)             \
  X(epsilon)           \
  X(alpha_beta)        \
  X(z_plus)            \
  X(gamma)             \
  X(gamma_original)    \
  X(box)               \
  X(w_square)          \
  X(flat)              \
  X(pass)

namespace assay::relevance::redistribution {
#define DECLARE(name) RuleInfo name();
ASSAY_RULES(DECLARE)
#undef DECLARE
#define LIST(name) redistribution::name(),
}  // namespace assay::relevance::redistribution

namespace assay::relevance {
namespace {

std::vector<double> parse_numbers(std::string_view text, const std::string& whole) {
  std::vector<double> numbers;
  while (true) {
    const std::size_t comma = std::min(text.find(','), text.size());
    const auto number = number_of<double>(text.substr(0, comma));
    if (!number)
      fail(Fault::usage, "rule '{}': what follows the colon must be numbers separated by commas", whole);
    numbers.push_back(*number);
    if (comma == text.size()) return numbers;
    text.remove_prefix(comma + 1);
  }
}

}  // namespace

Catalogue<RuleInfo>& rules() {
  static Catalogue<RuleInfo> all({"rule"}, {ASSAY_RULES(LIST)});
  return all;
}
#undef LIST

RuleChoice parse_rule(const std::string& text) {
  const std::string name = text.substr(0, text.find(':'));
  const RuleInfo& info = rules().find(name);
  if (name.size() == text.size()) return {&info, {}};
  std::vector<double> numbers = parse_numbers(std::string_view(text).substr(name.size() + 1), text);
  if (numbers.size() != info.defaults.size()) {
    fail(Fault::usage, "rule '{}': '{}' takes {} number(s)", text, name, info.defaults.size());
  }
  return {&info, std::move(numbers)};
}

}  // namespace assay::relevance
