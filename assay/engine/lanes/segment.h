#pragma once

// The back end that computes one record per SIMD lane (docs/engine.md). It is for networks with few channels,
// for which kernels for many channels waste most of the processor.

#include "assay/engine/backend.h"

namespace assay::lanes {

const Backend& backend();

}  // namespace assay::lanes
