#include <assay/groups.h>

#include <algorithm>
#include <map>

#include "assay/groups/values.h"

namespace assay::groups {
namespace {

using Column = std::map<std::string, std::vector<std::size_t>, ValueOrder>;

Column column_of(const Dataset& data, std::size_t which) {
  Column column;
  for (std::size_t i = 0; i < data.size(); ++i) column[value_of(data, which, i)].push_back(i);
  return column;
}

void add_pairs(const Dataset& data, const std::vector<std::size_t>& columns, std::vector<Group>& groups) {
  for (std::size_t a = 0; a < columns.size(); ++a) {
    for (std::size_t b = a + 1; b < columns.size(); ++b) {
      const std::string &first = data.characteristics()[columns[a]],
                        &second = data.characteristics()[columns[b]];
      for (const auto& [value, records] : column_of(data, columns[a])) {
        std::map<std::string, Group, ValueOrder> cells;
        for (const std::size_t record : records) {
          const std::string other = value_of(data, columns[b], record);
          Group& cell = cells[other];
          if (cell.is.empty()) cell.is = {{first, value}, {second, other}};
          cell.records.push_back(record);
        }
        for (auto& [other, cell] : cells) groups.push_back(std::move(cell));
      }
    }
  }
}

}  // namespace

std::string Group::name() const { return name_of(is); }

std::vector<Group> groups_among(const Dataset& data, const std::vector<std::size_t>& columns) {
  std::vector<Group> groups;
  for (const std::size_t c : columns) {
    for (const auto& [value, records] : column_of(data, c))
      groups.push_back({{{data.characteristics()[c], value}}, records});
  }
  add_pairs(data, columns, groups);
  return groups;
}

std::vector<Group> groups_of(const Dataset& data) {
  std::vector<std::size_t> columns;
  for (std::size_t c = 0; c < data.characteristics().size(); ++c)
    if (column_of(data, c).size() > 1) columns.push_back(c);
  return groups_among(data, columns);
}

std::vector<std::string> constant_characteristics(const Dataset& data) {
  std::vector<std::string> names;
  for (std::size_t c = 0; c < data.characteristics().size(); ++c) {
    if (column_of(data, c).size() < 2) names.push_back(data.characteristics()[c]);
  }
  return names;
}

std::vector<std::vector<std::size_t>> records_of(std::span<const Group> groups) {
  std::vector<std::vector<std::size_t>> records;
  for (const Group& group : groups) records.push_back(group.records);
  return records;
}

}  // namespace assay::groups
