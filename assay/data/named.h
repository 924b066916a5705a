#pragma once

// Data sets in memory, as specs name them.

#include <assay/data_format.h>
#include <assay/dataset.h>

namespace assay {

// What "@test" or "@test[:100]" means. Throws Error{usage} for names that there are not, and for options.
DatasetPtr open_named(const DataSpec& spec);

}  // namespace assay
