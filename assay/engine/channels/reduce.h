#pragma once

// Values reduced to neurons where they lie.

#include "assay/engine/channels/program.h"

namespace assay::channels {

// To out[records][columns of the tap]. `data` is the first record of the value, which lies plainly or with
// channels last. A NaN wins.
void reduce_positions(const Value& value, const float* data, std::int64_t records, const ReducedValue& tap,
                      float* out);

}  // namespace assay::channels
