#include "assay/data/characteristics.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <string_view>

#include <assay/error.h>
#include "assay/support/files/hash.h"
#include "assay/support/text/parse.h"

namespace assay::inline data {
namespace {

std::string_view ranges_text(const std::string& characteristic) {
  const std::size_t colon = characteristic.find(':');
  return colon == std::string::npos ? std::string_view() : std::string_view(characteristic).substr(colon + 1);
}

// Nothing of empty cells.
std::vector<std::optional<double>> numbers_of(const Characteristic& column, const std::string& data) {
  std::vector<std::optional<double>> numbers;
  for (std::size_t i = 0; i < column.values.size(); ++i) {
    numbers.push_back(number_of<double>(column.values[i]));
    if (!numbers.back() && !column.values[i].empty())
      fail(Fault::data,
           "{}: '{}' in column '{}' of the record at position {} is not a number; leave out ':{}'", data,
           column.values[i], column_name(column.name), i, ranges_text(column.name));
  }
  return numbers;
}

// Linear between neighbours, as NumPy's default.
std::vector<double> quartiles_of(const std::vector<std::optional<double>>& numbers,
                                 const std::string& where) {
  std::vector<double> known;
  for (const auto& number : numbers)
    if (number) known.push_back(*number);
  if (known.empty()) fail(Fault::data, "{}: no record has a number, so there are no quartiles", where);
  std::ranges::sort(known);
  std::vector<double> ends;
  for (const double share : {0.25, 0.5, 0.75}) {
    const double place = share * static_cast<double>(known.size() - 1);
    const auto low = static_cast<std::size_t>(place);
    const std::size_t high = std::min(low + 1, known.size() - 1);
    ends.push_back(known[low] + (place - low) * (known[high] - known[low]));
  }
  ends.erase(std::unique(ends.begin(), ends.end()), ends.end());
  return ends;
}

std::vector<double> written_ends(std::string_view text, const std::string& where) {
  std::vector<double> ends;
  for (const std::string& part : parts_of(text, "|")) {
    const auto number = number_of<double>(part);
    if (!number || (!ends.empty() && *number <= ends.back()))
      fail(Fault::usage,
           "{}: ':{}' is neither 'quartiles' nor 'groups' nor ascending numbers such as 0|18|65", where,
           text);
    ends.push_back(*number);
  }
  return ends;
}

// The range of [ends[i], ends[i + 1]) that a number is in.
std::string range_name(const std::vector<double>& ends, double number) {
  const auto next = std::ranges::upper_bound(ends, number);
  if (next == ends.begin()) return fmt::format("below {}", *next);
  if (next == ends.end()) return fmt::format("{} and above", ends.back());
  return range_between(*(next - 1), *next);
}

// Values by their hash into as many groups as a characteristic may have values, one of which may be missing,
// so that records of one value stay together, also those of other files: documents that are held out.
void put_in_groups(Characteristic& column) {
  constexpr std::size_t groups = most_characteristic_values - 1;
  for (std::string& value : column.values)
    if (!value.empty()) value = fmt::format("group {}", hash_128(value.data(), value.size())[0] % groups);
}

void check_name(const std::string& name, const std::string& data) {
  static const std::set<std::string> selectors = {"layer", "class", "context"};
  if (selectors.contains(name))
    fail(Fault::usage, "{}: gates use '{}' otherwise; give the column of characteristics another name", data,
         name);
  if (name.empty() || name.find_first_of("[]=,\"<>:|+") != std::string::npos)
    fail(Fault::usage,
         "{}: '{}' cannot name a characteristic, as gates could not write it; use a name without []=,\"<>:|+",
         data, name);
}

// Of too many values.
std::string remedy_for(const std::string& name, const std::set<std::string>& values) {
  const auto is_number = [](const std::string& value) { return value.empty() || number_of<double>(value); };
  if (!std::ranges::all_of(values, is_number))
    return fmt::format(
        "name a column with fewer values, or put these together into as many groups ({}:groups)", name);
  return fmt::format("make ranges of the numbers ({0}:quartiles, or {0}:0|18|65)", name);
}

}  // namespace

std::string column_name(const std::string& characteristic) {
  return characteristic.substr(0, characteristic.find(':'));
}

std::vector<std::string> column_names(const std::vector<std::string>& characteristics) {
  std::vector<std::string> names;
  for (const std::string& one : characteristics) names.push_back(column_name(one));
  return names;
}

std::string range_between(double low, double high) { return fmt::format("{} to {}", low, high); }

Characteristic in_ranges(Characteristic column, const std::string& data) {
  const std::string text(ranges_text(column.name)), name = column_name(column.name),
                                                    where = fmt::format("{}: column '{}'", data, name);
  if (name.size() == column.name.size()) return column;
  if (text == "groups") {
    column.name = name;
    put_in_groups(column);
    return column;
  }
  const std::vector<std::optional<double>> numbers = numbers_of(column, data);
  const std::vector<double> ends =
      text == "quartiles" ? quartiles_of(numbers, where) : written_ends(text, where);
  column.name = name;
  for (std::size_t i = 0; i < numbers.size(); ++i)
    if (numbers[i]) column.values[i] = range_name(ends, *numbers[i]);
  return column;
}

void check_characteristics(const std::vector<Characteristic>& columns, std::size_t records,
                           const std::string& data) {
  std::set<std::string> names;
  for (const Characteristic& column : columns) {
    check_name(column.name, data);
    if (!names.insert(column.name).second)
      fail(Fault::usage, "{}: two characteristics have the name '{}'", data, column.name);
    if (column.values.size() != records)
      fail(Fault::usage, "{}: characteristic '{}' has {} values for {} records", data, column.name,
           column.values.size(), records);
    const std::set<std::string> different(column.values.begin(), column.values.end());
    if (different.size() > most_characteristic_values)
      fail(Fault::data, "{}: column '{}' has {} different values, and a characteristic has at most {}; {}",
           data, column.name, different.size(), most_characteristic_values,
           remedy_for(column.name, different));
  }
}

}  // namespace assay::inline data
