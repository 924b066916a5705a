#pragma once

#include <oneapi/dnnl/dnnl.hpp>

#include <assay/layer.h>

namespace assay::onednn {

// Reduces [rows, channels, positions...] in any layout that blocks at most the channel axis to [rows,
// channels], or with `whole` to one number a row: the mean, maximum or minimum over positions, summed in
// float. `out` is row-major.
void reduce_positions(const float* data, const dnnl::memory::desc& desc, std::int64_t rows,
                      Reduction reduction, bool whole, float* out);

// Whether the layout is one that reduce_positions() reads.
bool reducible(const dnnl::memory::desc& desc);

}  // namespace assay::onednn
