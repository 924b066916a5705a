#pragma once

// The back end that keeps records in the lanes of vectors (docs/engine.md): for networks with few channels,
// for which kernels made for many channels waste most of the processor.

#include "assay/engine/backend.h"

namespace assay::lanes {

const Backend& backend();

}  // namespace assay::lanes
