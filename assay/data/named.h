#pragma once

// Data sets in memory, as specs name them.

#include <assay/dataset.h>
#include <assay/extend/data_format.h>

namespace assay {

// What "@test" or "@test[:100]" means. Throws Error{usage} for names that there are not, and for options.
DatasetPtr open_named(const DataSpec& spec);

}  // namespace assay
