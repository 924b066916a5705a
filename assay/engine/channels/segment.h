#pragma once

// The back end whose vectors hold channels: large pictures, long sequences and wide layers.

#include "assay/engine/backend.h"

namespace assay::channels {

const Backend& backend();

}  // namespace assay::channels
