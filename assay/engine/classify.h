#pragma once

#include <vector>

#include "assay/engine/session.h"

namespace assay {

// The class that a classifier's decision value [N, classes] names for each record: the largest score (the first among
// equals), or with a single column whether it says yes (a probability above one half, a logit above zero). Throws
// Error{unsupported} for other shapes.
std::vector<std::int64_t> predicted_classes(const Session& session, const Tensor& logits);

}  // namespace assay
