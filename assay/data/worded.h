#pragma once

// Records of a table whose texts a network takes as words.

#include <memory>
#include <string>
#include <vector>

#include <assay/extend/data_format.h>
#include "assay/data/files/csv.h"

namespace assay::inline data {

// The records of `rest` (ids, labels, targets) with the inputs of the network of words=NETWORK: numbers of
// words of texts, and other columns as they are. `columns`: positions in the table. Columns are found by the
// names of inputs, or are in the order of inputs. length=N: to how many words texts are cut and filled up;
// without it the longest decides. Throws Error{usage} for columns that do not fit, Error{data} for cells.
std::unique_ptr<Source> worded(std::unique_ptr<Source> rest, const CsvTable& table,
                               const std::vector<std::size_t>& columns, const DataSpec& spec);

}  // namespace assay::inline data
