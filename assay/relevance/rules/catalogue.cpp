#include "assay/relevance/rules/catalogue.h"

#include <charconv>

#include "assay/support/error.h"
#include "assay/support/text.h"

namespace assay {
namespace {

std::vector<double> parse_numbers(std::string_view text, const std::string& whole) {
  std::vector<double> numbers;
  while (true) {
    const std::size_t comma = std::min(text.find(','), text.size());
    double number = 0;
    const auto [end, fault] = std::from_chars(text.data(), text.data() + comma, number);
    if (fault != std::errc() || end != text.data() + comma) {
      fail(Fault::usage, "rule '{}': what follows the colon must be numbers separated by commas", whole);
    }
    numbers.push_back(number);
    if (comma == text.size()) return numbers;
    text.remove_prefix(comma + 1);
  }
}

}  // namespace

std::span<const RuleInfo> rules() {
  static const std::vector<RuleInfo> all{
      redistribution::lrp_0(), redistribution::epsilon(), redistribution::alpha_beta(), redistribution::z_plus(), redistribution::gamma(), redistribution::gamma_original(),
      redistribution::box(), redistribution::w_square(), redistribution::flat(), redistribution::pass(),
  };
  return all;
}

RuleChoice parse_rule(const std::string& text) {
  const std::string name = text.substr(0, text.find(':'));
  std::vector<std::string> names;
  for (const RuleInfo& info : rules()) {
    names.emplace_back(info.name);
    if (info.name != name) continue;
    if (name.size() == text.size()) return {&info, {}};
    std::vector<double> numbers = parse_numbers(std::string_view(text).substr(name.size() + 1), text);
    if (numbers.size() != info.defaults.size()) {
      fail(Fault::usage, "rule '{}': '{}' takes {} number(s)", text, name, info.defaults.size());
    }
    return {&info, std::move(numbers)};
  }
  fail(Fault::usage, "no rule is named '{}'{}; there are {}", name, did_you_mean(name, names), joined(names));
}

}  // namespace assay
