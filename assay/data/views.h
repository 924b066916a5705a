#pragma once

// Data sets made of others, by names of classes.

#include <cstdint>
#include <string>
#include <vector>

#include <assay/dataset.h>
#include <assay/views.h>

namespace assay {

// Numbers of the classes that "9+1" names, in that order. Throws Error{usage} for a class that there is not.
std::vector<std::int64_t> classes_named(const std::string& names, const Dataset& data);

// The records labelled as one of the classes that "9+1" names. Throws Error{usage} without labels,
// Error{data} when there is no such record.
DatasetPtr labelled_as(const DatasetPtr& whole, const std::string& names);

}  // namespace assay
