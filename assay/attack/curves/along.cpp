#include <assay/robustness.h>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include <assay/error.h>
#include "assay/support/text/parse.h"
#include "assay/support/text/text.h"

namespace assay::attack {
namespace {

constexpr std::size_t most_severities = 1000;
constexpr std::string_view range_forms =
    "severities are FROM:TO:STEP, as in 0:0.3:0.02, or a list, as in 0/0.1/0.3";

// Digits after the point: 2 of "0.02", 3 of "2e-3".
int decimals_of(const std::string& number) {
  const std::size_t e = std::min(number.find_first_of("eE"), number.size());
  const std::size_t point = std::min(number.find('.'), e);
  const auto written = static_cast<int>(e - std::min(point + 1, e));
  const int exponent = e < number.size() ? number_of<int>(number.substr(e + 1)).value_or(0) : 0;
  return std::clamp(written - exponent, 0, 60);
}

// "0.3" of 0.30 and two decimals.
std::string decimal(double value, int decimals) {
  std::string text = fmt::format("{:.{}f}", value, decimals);
  if (decimals > 0) text.erase(text.find_last_not_of('0') + 1);
  if (text.ends_with('.')) text.pop_back();
  return text == "-0" ? "0" : text;
}

// One option of an attack whose value is a range.
class SeverityRange {
 public:
  SeverityRange(const std::string& along, const std::string& option, const std::string& value)
      : along_(along), option_(option), value_(value) {}

  std::vector<std::string> severities() const {
    const std::vector<std::string> parts = parts_of(value_, value_.find(':') == value_.npos ? "/" : ":");
    std::vector<double> numbers;
    for (const std::string& part : parts) numbers.push_back(number(part));
    if (value_.find(':') == value_.npos) return list(parts, numbers);
    if (numbers.size() != 3) refuse(fmt::format("{}={} has not three parts", option_, value_));
    return steps(parts, numbers);
  }

 private:
  [[noreturn]] void refuse(const std::string& fault) const {
    fail(Fault::usage, "curve '{}': {}; {}", along_, fault, range_forms);
  }

  double number(const std::string& part) const {
    const auto found = number_of<double>(part);
    if (!found || !fits_networks(*found))
      refuse(fmt::format("'{}' in {}={} is not a number that networks compute with", part, option_, value_));
    return *found;
  }

  std::vector<std::string> list(const std::vector<std::string>& parts,
                                const std::vector<double>& numbers) const {
    require_number_of(numbers.size());
    const bool up = numbers[1] > numbers[0];
    for (std::size_t i = 1; i < numbers.size(); ++i) {
      if (numbers[i] == numbers[i - 1] || (numbers[i] > numbers[i - 1]) != up)
        refuse(fmt::format("{} after {} in {}={} is out of order", parts[i], parts[i - 1], option_, value_));
    }
    std::vector<std::string> all;
    for (std::size_t i = 0; i < parts.size(); ++i) all.push_back(decimal(numbers[i], decimals_of(parts[i])));
    return all;
  }

  std::vector<std::string> steps(const std::vector<std::string>& parts,
                                 const std::vector<double>& numbers) const {
    const double from = numbers[0], to = numbers[1], step = numbers[2];
    if (step == 0) refuse(fmt::format("the step of {}={} is 0 and never arrives", option_, value_));
    if ((to - from) * step < 0)
      refuse(fmt::format("the step of {}={} leads away from {}", option_, value_, parts[1]));
    const double count = std::floor((to - from) / step + 1e-9) + 1;
    require_number_of(count);
    const int decimals = std::max(decimals_of(parts[0]), decimals_of(parts[2]));
    std::vector<std::string> all;
    for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i)
      all.push_back(decimal(from + static_cast<double>(i) * step, decimals));
    return all;
  }

  void require_number_of(double count) const {
    if (count > most_severities)
      refuse(fmt::format("{}={} are {} severities, more than {}", option_, value_, count, most_severities));
    if (count < 2) refuse(fmt::format("{}={} is one severity and no curve", option_, value_));
  }

  const std::string &along_, &option_, &value_;
};

// Numbers with : or / between them, and what was meant as such.
bool is_range(const std::string& value) {
  const std::vector<std::string> parts = parts_of(value, ":/");
  return parts.size() > 1 && std::ranges::any_of(parts, [](const std::string& part) {
           return number_of<double>(part).has_value();
         });
}

std::vector<std::string> option_names(const std::vector<SpecOption>& options) {
  std::vector<std::string> names;
  for (const SpecOption& option : options) names.push_back(option.name);
  return names;
}

const Severity* severity_of(const Along& along) {
  const std::vector<Severity>& all = attacks().find(along.attack.name).severities;
  const auto found = std::ranges::find(all, along.option, &Severity::option);
  return found == all.end() ? nullptr : &*found;
}

// Of a corruption without a range: all its severities.
std::string whole_range(const Along& along) {
  const std::vector<Severity>& all = attacks().find(along.attack.name).severities;
  const bool corruption = std::ranges::find(all, "severity", &Severity::option) != all.end();
  const auto& given = along.attack.options;
  return corruption && !given.contains("severity") && !given.contains("amount") ? "0:5:1" : "";
}

}  // namespace

Along parse_along(const std::string& text) {
  Along along{.text = text, .attack = parse_spec("curve", text), .option = {}, .severities = {}};
  const std::vector<SpecOption>& options = attacks().find(along.attack.name).options;
  std::string value;
  for (const auto& [name, given] : along.attack.options) {
    if (!is_range(given)) continue;
    if (!along.option.empty())
      fail(Fault::usage,
           "curve '{}': both {} and {} are ranges, and a curve goes along one option; give one of them one "
           "value",
           text, along.option, name);
    along.option = name;
    value = given;
  }
  if (along.option.empty() && !whole_range(along).empty()) {
    along.option = "severity";
    value = whole_range(along);
  }
  if (along.option.empty())
    fail(Fault::usage, "curve '{}': no option has a range of severities; {} (options: {})", text, range_forms,
         joined(option_names(options)));
  along.attack.options.erase(along.option);
  along.severities = SeverityRange(text, along.option, value).severities();
  return along;
}

double Along::severity(std::size_t i) const { return number_of<double>(severities.at(i)).value(); }

Spec Along::at(std::size_t i) const {
  Spec spec = attack;
  spec.options[option] = severities.at(i);
  return spec;
}

bool Along::changes_nothing(std::size_t i) const {
  const Severity* const known = severity_of(*this);
  return known != nullptr && severity(i) == known->nothing;
}

bool Along::nested() const {
  const Severity* const known = severity_of(*this);
  return known != nullptr && known->nested;
}

}  // namespace assay::attack
