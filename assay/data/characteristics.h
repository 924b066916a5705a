#pragma once

// Metadata columns of records (docs/characteristics.md): names, ranges of numbers, checks.

#include <cstddef>
#include <string>
#include <vector>

#include <assay/records.h>

namespace assay::inline data {

// A column beyond that is not a characteristic but an id or a number.
inline constexpr std::size_t most_characteristic_values = 64;

// "age" of "age:0|18|65".
std::string column_name(const std::string& characteristic);

// The columns of meta=weather+age:quartiles, without ranges.
std::vector<std::string> column_names(const std::vector<std::string>& characteristics);

// The range of numbers from `low` on and below `high`: "18 to 65".
std::string range_between(double low, double high);

// Names its ranges in place of numbers, or groups in place of values (age:quartiles, article:groups), where
// its name says how. Throws Error{usage} for a range that is not one, Error{data} for a value that is not a
// number; `data` stands in messages.
Characteristic in_ranges(Characteristic column, const std::string& data);

// Throws as characterised().
void check_characteristics(const std::vector<Characteristic>& columns, std::size_t records,
                           const std::string& data);

}  // namespace assay::inline data
