#pragma once

// Data sets made of others. Records are read from where they are; nothing is copied.

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include <assay/dataset.h>

namespace assay {

// All records of all parts, in order. Ids and labels are those of the parts (an id may then occur in two
// parts), classes and valid range those of the first part. Throws Error{usage} for no parts and
// Error{mismatch} when a part has another record shape, element type or target width than the first, lacks
// labels that the first has, or has a label that is no class of it.
DatasetPtr joined(std::vector<DatasetPtr> parts);

// The records at `positions`, in that order; a position may occur twice. Ids, labels and classes stay the
// same. Throws Error{usage} for no positions or one that does not exist.
DatasetPtr selected(DatasetPtr whole, std::vector<std::size_t> positions);

// The same records with other labels and no targets. Class names stay as far as there are any. Throws
// Error{usage} unless there is one label, 0 to 1,000,000, per record.
DatasetPtr relabelled(DatasetPtr whole, std::vector<std::int64_t> labels);

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

}  // namespace assay
