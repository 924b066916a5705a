#pragma once

// Which neurons decide, as a result document.

#include <assay/relevance.h>
#include <assay/report.h>

namespace assay::results {

// Neurons by relevance, at most `top` per layer, and how many hold `share` of it. REQUIRES at least one
// layer.
report::Document document_of(const relevance::Importance& importance, const Session& session,
                             const relevance::ImportanceOptions& options, double share, std::size_t top);

}  // namespace assay::results
