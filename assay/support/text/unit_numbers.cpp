#include "assay/support/text/unit_numbers.h"

#include <algorithm>

#include <assay/error.h>
#include "assay/support/text/parse.h"

namespace assay::inline support {
namespace {

constexpr std::size_t most_units = std::size_t{1} << 24;

std::size_t unit_number(const std::string& text, const std::string& whole) {
  const auto number = number_of<std::size_t>(text);
  if (!number || *number >= most_units) fail(Fault::usage, "'{}' does not name units as 0-15+20 does", whole);
  return *number;
}

}  // namespace

std::vector<std::size_t> parse_unit_numbers(const std::string& text) {
  std::vector<std::size_t> numbers;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find('+', begin), text.size());
    const std::string part = text.substr(begin, end - begin);
    const std::size_t dash = part.find('-');
    const std::size_t first = unit_number(part.substr(0, dash), text),
                      last = dash == std::string::npos ? first : unit_number(part.substr(dash + 1), text);
    if (last < first) fail(Fault::usage, "'{}': {} is not a range of units", text, part);
    for (std::size_t n = first; n <= last; ++n) numbers.push_back(n);
    begin = end + 1;
  }
  std::ranges::sort(numbers);
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  return numbers;
}

std::string unit_numbers_text(const std::vector<std::size_t>& numbers) {
  std::string text;
  for (std::size_t i = 0; i < numbers.size();) {
    std::size_t last = i;
    while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1) ++last;
    if (!text.empty()) text += '+';
    text += std::to_string(numbers[i]);
    if (last > i) text += (last == i + 1 ? '+' : '-') + std::to_string(numbers[last]);
    i = last + 1;
  }
  return text;
}

}  // namespace assay::inline support
