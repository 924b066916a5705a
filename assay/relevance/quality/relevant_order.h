#pragma once

// Curves of a probability while positions are taken away, or come, from the most relevant one on.

#include <assay/faithfulness.h>

namespace assay::relevance {

// `kept_first`: whether the first positions in the order are those that are kept, so that they come; else
// they go. The value of a record is the area under its curve over the share of positions, by trapezoids.
QualityValues curve_by_relevance(const ExplainedBatch& batch, std::size_t steps, bool kept_first);

}  // namespace assay::relevance
