#pragma once

// Data sets in memory, as specs name them.

#include <assay/dataset.h>
#include <assay/extend/data_format.h>

namespace assay::inline data {

// The data set named "@test" or "@test[:100]". Throws Error{usage} for unknown names, and for options.
DatasetPtr open_named(const DataSpec& spec);

}  // namespace assay::inline data
