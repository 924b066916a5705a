#pragma once

// Functions of single elements over values of this back end.

#include <cstdint>

#include "assay/engine/lanes/kernels.h"

namespace assay::channels {

// Of `count` numbers of a buffer, aligned as buffers are. Rounds up to whole vectors.
void apply_in_place(const lanes::UnaryFunction& function, std::int64_t count, float* numbers);

}  // namespace assay::channels
