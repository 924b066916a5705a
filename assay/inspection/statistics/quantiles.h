#pragma once

// Values of calibration records in ascending order, and quantiles of them.

#include <cstddef>
#include <span>
#include <vector>

namespace assay::inspection {

// Columns of a row-major matrix, ascending, without NaN.
std::vector<std::vector<float>> sorted_columns(std::span<const float> matrix, std::size_t columns);

// At most `most` of ascending values, evenly spread over their ranks.
std::vector<float> thinned(const std::vector<float>& ascending, std::size_t most);

// Upper ends of `bins` bins with equally many values each, without repetitions: bin k holds the values in
// (edge k-1, edge k], the last one what is above all edges. Fewer where values repeat; a bin for each value
// where there are no more of them than bins.
std::vector<float> bin_edges(const std::vector<float>& ascending, std::size_t bins);

// How many edges are below `value`.
std::size_t bin_of(std::span<const float> edges, float value);

}  // namespace assay::inspection
