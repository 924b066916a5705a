#pragma once

// Distributions that fresh weights are drawn from.

#include <cstddef>
#include <span>

#include <assay/extend/random.h>

namespace assay::training {

// Within -limit and limit.
void fill_uniform(std::span<float> values, Rng& rng, double limit);

// A row-major matrix of so many columns with orthonormal columns, or rows where these are fewer, uniformly
// among all such. O(size * fewer).
void fill_orthogonal(std::span<float> matrix, std::size_t columns, Rng& rng);

}  // namespace assay::training
