#include "assay/groups/values.h"

#include <charconv>
#include <cmath>
#include <limits>
#include <tuple>

namespace assay::groups {
namespace {

// What a text is ordered by first: numbers before texts, empty cells last.
std::pair<int, double> rank_of(const std::string& text) {
  if (text == missing) return {2, 0};
  const bool below = text.starts_with("below ");
  const std::string_view number = std::string_view(text).substr(below ? 6 : 0);
  double value = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), value);
  if (error != std::errc()) return {1, 0};
  const bool whole = end == number.data() + number.size() || *end == ' ';
  if (!whole) return {1, 0};
  return {0, below ? std::nextafter(value, -std::numeric_limits<double>::infinity()) : value};
}

}  // namespace

bool ValueOrder::operator()(const std::string& a, const std::string& b) const {
  return std::tuple(rank_of(a), a) < std::tuple(rank_of(b), b);
}

std::string value_of(const Dataset& data, std::size_t which, std::size_t record) {
  std::string value = data.characteristic(which, record);
  return value.empty() ? missing : value;
}

std::string name_of(const std::vector<std::pair<std::string, std::string>>& is) {
  std::string name;
  for (const auto& [characteristic, value] : is) {
    const bool plain = value.find_first_of(",[]\"\\") == std::string::npos;
    std::string written;
    for (const char c : value) {
      if (!plain && (c == '"' || c == '\\')) written += '\\';
      written += c;
    }
    name += (name.empty() ? "" : ",") + characteristic + "=" + (plain ? value : "\"" + written + "\"");
  }
  return name;
}

}  // namespace assay::groups
