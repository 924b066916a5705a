#pragma once

// Data sets made of others, beyond <assay/records.h>.

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include <assay/dataset.h>
#include <assay/records.h>

namespace assay::inline data {

// The same records, read once and then taken from memory, where they take at most `most` bytes; else the data
// set itself. Its hash is that of the data set.
DatasetPtr held_in_memory(DatasetPtr whole, std::uint64_t most);

// The same records, of which those marked have another first input: `change(position, values)` gets its
// elements and may be called by several threads at once. `mark` tells the change from all others, for the
// hash. Throws Error{usage} unless there is one mark a record and inputs are float32.
DatasetPtr altered(DatasetPtr whole, std::vector<bool> marked,
                   std::function<void(std::size_t position, std::span<float> values)> change,
                   std::string mark);

// Numbers of the classes that "9+1" names, in that order. Throws Error{usage} for a class that there is not.
std::vector<std::int64_t> classes_named(const std::string& names, const Dataset& data);

// The records labelled as one of the classes that "9+1" names. Throws Error{usage} without labels,
// Error{data} when there is no such record.
DatasetPtr labelled_as(const DatasetPtr& whole, const std::string& names);

}  // namespace assay::inline data
