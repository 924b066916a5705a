#pragma once

// Values of characteristics as texts.

#include <string>
#include <utility>
#include <vector>

#include <assay/groups.h>

namespace assay::groups {

// Numbers by size, also those that texts begin with ("18 to 65" before "65 and above", "below 18" before
// both); other texts in the order of the alphabet, empty cells last.
struct ValueOrder {
  bool operator()(const std::string& a, const std::string& b) const;
};

// Of a record; `missing` where its cell is empty.
std::string value_of(const Dataset& data, std::size_t which, std::size_t record);

// Of these characteristics, also where one has a single value; then of their pairs.
std::vector<Group> groups_among(const Dataset& data, const std::vector<std::size_t>& columns);

// "weather=fog,sex=f"; values that gates could not read are in quotes.
std::string name_of(const std::vector<std::pair<std::string, std::string>>& is);

}  // namespace assay::groups
