#pragma once

// A record before and after a change, as one picture.

#include <span>

#include <assay/dataset.h>
#include "assay/data/files/image.h"

namespace assay::inline data {

struct Triple {
  Image image;               // before, after, difference: side by side
  int zoom = 1, step = 0;    // how often pixels are repeated, and from one part to the next
  double amplification = 1;  // by how much the difference is brightened: its greatest element reaches black
                             // or white; 1 without any
};

// Three pictures from the elements [channels, height, width] of a record: as it was, as it is now, and the
// difference, grey where nothing changed, lighter where the record became lighter. Values are mapped from
// `range` to black and white, channel by channel. Small records are enlarged by a whole factor. REQUIRES as
// many elements as `shape` has, both times, and one bound or one per channel.
Triple triple_of(std::span<const float> before, std::span<const float> after, const Shape& shape,
                 const ValidRange& range);

}  // namespace assay::inline data
