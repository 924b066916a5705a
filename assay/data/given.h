#pragma once

// What programs that use the library hand over for data, made sure of.

#include <span>

#include <assay/dataset.h>

namespace assay {

// The data set itself. Throws Error{usage} where it is null.
const DatasetPtr& given_data(const DatasetPtr& dataset);

// What read() gives of these records. Throws Error{data} naming the data set where that is not what its facts
// promise: a record too few, labels that are missing.
Batch read_as_promised(const Dataset& dataset, std::span<const std::size_t> indices);

}  // namespace assay
