#pragma once

// Which records of a source a data set has, and in which order: the options ids, classes, per_class, sample
// and the slices.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include <assay/extend/data_format.h>

namespace assay::inline data {

// What records are chosen by.
struct ChoosableRecords {
  std::size_t size;
  std::function<std::string(std::size_t record)> id;
  std::span<const std::int64_t> labels;  // empty without classes
  const std::vector<std::string>& class_names;
};

// Positions in the source. Records that a file names, class subsets and samples first, then slices in the
// order written. Throws Error{usage} for classes and counts that there are not, Error{data} for ids that do
// not fit.
std::vector<std::size_t> chosen_records(const DataSpec& spec, const std::string& text,
                                        const ChoosableRecords& records);

}  // namespace assay::inline data
