#pragma once

// Segments of back ends that differentiate, as one step of recorded gradients.

#include <memory>

#include "assay/engine/backend.h"

namespace assay::inline engine {

// As Segment::run() without taps; gradients go back through the outputs. Only the inputs are kept for that.
Tensors run_differentiably(const std::shared_ptr<const Segment>& segment, const Tensors& inputs);

}  // namespace assay::inline engine
