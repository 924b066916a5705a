#pragma once

// Which instruction sets the loops are compiled for: the oldest of x86-64, SSE4, AVX2 and AVX-512, or NEON of
// ARM. Vectors whose length is known only at run time (SVE, RVV) are left out: loops hold arrays of vectors.
// To be read before hwy/foreach_target.h.

#include <hwy/detect_targets.h>

#undef HWY_DISABLED_TARGETS
#define HWY_DISABLED_TARGETS \
  (HWY_SSSE3 | HWY_AVX3_DL | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
