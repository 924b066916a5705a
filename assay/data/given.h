#pragma once

// Checks of data that programs pass to the library.

#include <span>

#include <assay/dataset.h>

namespace assay::inline data {

// The data set itself. Throws Error{usage} where it is null.
const DatasetPtr& given_data(const DatasetPtr& dataset);

// The result of read() for these records. Throws Error{data} naming the data set if it is not what its facts
// promise: missing records or labels.
Batch read_as_promised(const Dataset& dataset, std::span<const std::size_t> indices);

}  // namespace assay::inline data
