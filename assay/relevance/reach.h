#pragma once

#include <vector>

#include <assay/session.h>

namespace assay::relevance {

// carries_relevance() for all values at once, one mark each. O(nodes).
std::vector<bool> values_with_relevance(const Session& session);

}  // namespace assay::relevance
