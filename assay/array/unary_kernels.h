#pragma once

// Functions of one number that take vectors of many at a time.

#include <cstddef>

namespace assay::array {

enum class UnaryKernel { none, exp, expm1, log, tanh, sigmoid, softplus, sqrt };

// to[i] = f(from[i]) within a few units in the last place; the same for an element wherever it stands. The
// kernel is not `none`.
void run(UnaryKernel kernel, const float* from, float* to, std::size_t count);

}  // namespace assay::array
