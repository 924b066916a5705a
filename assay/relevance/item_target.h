#pragma once

// Explanations of records with many items start from the scores of items.

#include <cstdint>
#include <span>
#include <vector>

#include <assay/array.h>
#include <assay/extend/task.h>
#include <assay/relevance.h>

namespace assay::relevance {

// The sum of the scores of each record's items (task::item_scores()), for AttributionOptions::outputs.
// `outputs`: decision values [n, ...], records along axis 0; `items`: by record, with no_class for
// items that are left out. A record without items is left out. O(n * items * classes).
Target target_of_items(const task::Task& task, const Array& outputs, std::span<const task::Items> items);

}  // namespace assay::relevance
