#pragma once

// The faster CPU back end: runs segments of a graph with oneDNN primitives in blocked layouts, with batch
// normalisation folded, activations fused, and a batch cut into chunks that stay in cache, one chunk a
// thread. Same results as the reference within float rounding, and the same for every number of
// threads.

#include "assay/engine/backend.h"

namespace assay::onednn {

// nullptr where Assay is built without oneDNN.
const Backend* backend();

}  // namespace assay::onednn
