#pragma once

#include "assay/data/image.h"
#include "assay/model/array.h"

namespace assay::app {

// A record beside the relevance of its elements: red speaks for the decision, blue against it, white is silent. Relevance is
// summed over channels and scaled to its largest absolute value. REQUIRES shape [channels, height, width].
Image heat_map(std::span<const float> record, std::span<const float> relevance, const Shape& shape, float low, float high);

}  // namespace assay::app
