#include "assay/engine/onednn/reduce.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "assay/engine/onednn/primitives.h"
#include "assay/support/numbers/vectorised.h"

namespace assay::onednn {
namespace {

struct Layout {
  std::int64_t channels = 0, positions = 1;
  std::int64_t block = 1;  // channels that lie side by side
  std::int64_t row_stride = 0, block_stride = 0;
  std::int64_t position_stride = 0;  // positions are one arithmetic sequence
};

Layout layout_of(const Blocking& blocking) {
  const Dims& dims = blocking.dims;
  Layout layout;
  layout.channels = dims.size() > 1 ? dims[1] : 1;
  for (std::size_t d = 2; d < dims.size(); ++d) layout.positions *= dims[d];
  layout.row_stride = blocking.strides[0];
  layout.block_stride = dims.size() > 1 ? blocking.strides[1] : 1;
  layout.position_stride = dims.size() > 2 ? blocking.strides.back() : 1;
  if (blocking.inner_blocks.size() == 1) {
    layout.block = blocking.inner_blocks[0];
  } else if (layout.block_stride == 1) {  // channels last: one block of all channels
    layout.block = layout.channels;
    layout.block_stride = 0;
  }
  return layout;
}

// out[c] += data[r][c] over `rows` rows of `width` values.
ASSAY_VECTORISED void add_rows(const float* __restrict data, std::int64_t rows, std::int64_t stride,
                               std::int64_t width, float* __restrict out) {
  for (std::int64_t r = 0; r < rows; ++r) {
    for (std::int64_t c = 0; c < width; ++c) out[c] += data[r * stride + c];
  }
}

// The greater and the lesser of out[c] and data[r][c]; a NaN wins. Without branches, which would keep vectors
// away.
ASSAY_VECTORISED void keep_larger(const float* __restrict data, std::int64_t rows, std::int64_t stride,
                                  std::int64_t width, float* __restrict out) {
  for (std::int64_t r = 0; r < rows; ++r) {
    for (std::int64_t c = 0; c < width; ++c) {
      const float value = data[r * stride + c];
      out[c] = static_cast<int>(value > out[c]) | static_cast<int>(value != value) ? value : out[c];
    }
  }
}
ASSAY_VECTORISED void keep_smaller(const float* __restrict data, std::int64_t rows, std::int64_t stride,
                                   std::int64_t width, float* __restrict out) {
  for (std::int64_t r = 0; r < rows; ++r) {
    for (std::int64_t c = 0; c < width; ++c) {
      const float value = data[r * stride + c];
      out[c] = static_cast<int>(value < out[c]) | static_cast<int>(value != value) ? value : out[c];
    }
  }
}

// How many positions are taken as one row: enough to fill whole vectors where positions lie side by side,
// else one.
std::int64_t positions_together(const Layout& layout) {
  constexpr std::int64_t vector = 16, enough = 64;  // floats
  if (layout.position_stride != layout.block) return 1;
  std::int64_t count = vector / std::gcd(layout.block, vector);
  while (count * layout.block < enough) count *= 2;
  return std::min(count, layout.positions);
}

// A NaN wins.
struct Larger {
  float operator()(float a, float b) const { return b > a || std::isnan(b) ? b : a; }
};
struct Smaller {
  float operator()(float a, float b) const { return b < a || std::isnan(b) ? b : a; }
};

template <typename Choose>
float extreme_plane(const float* data, std::int64_t positions, std::int64_t stride) {
  float result = data[0];
  for (std::int64_t p = 1; p < positions; ++p) result = Choose()(result, data[p * stride]);
  return result;
}

// Channels side by side.
void reduce_block(const float* data, const Layout& layout, std::int64_t count, Reduction reduction,
                  float* out) {
  thread_local std::vector<float> scratch;
  const auto combine = reduction == Reduction::mean  ? add_rows
                       : reduction == Reduction::max ? keep_larger
                                                     : keep_smaller;
  const std::int64_t together = positions_together(layout), width = together * layout.block,
                     stride = together * layout.position_stride;
  const std::int64_t rows = layout.positions / together, left = layout.positions % together;
  scratch.assign(data, data + width);
  float* const values = scratch.data();
  combine(data + stride, rows - 1, stride, width, values);
  combine(values + layout.block, together - 1, layout.block, layout.block, values);
  combine(data + rows * stride, left, layout.position_stride, layout.block, values);
  const float scale = reduction == Reduction::mean ? 1.0F / static_cast<float>(layout.positions) : 1.0F;
  for (std::int64_t c = 0; c < count; ++c) out[c] = values[c] * scale;
}

// Positions side by side.
ASSAY_VECTORISED float sum_plane(const float* data, std::int64_t positions) {
  float sums[16] = {};
  std::int64_t p = 0;
  for (; p + 16 <= positions; p += 16) {
    for (int l = 0; l < 16; ++l) sums[l] += data[p + l];
  }
  for (; p < positions; ++p) sums[0] += data[p];
  for (int l = 1; l < 16; ++l) sums[0] += sums[l];
  return sums[0];
}

float reduce_plane(const float* data, const Layout& layout, Reduction reduction) {
  const std::int64_t stride = layout.position_stride;
  if (reduction == Reduction::max) return extreme_plane<Larger>(data, layout.positions, stride);
  if (reduction == Reduction::min) return extreme_plane<Smaller>(data, layout.positions, stride);
  if (stride == 1) return sum_plane(data, layout.positions) / static_cast<float>(layout.positions);
  float sum = data[0];
  for (std::int64_t p = 1; p < layout.positions; ++p) sum += data[p * stride];
  return sum / static_cast<float>(layout.positions);
}

}  // namespace

bool reducible(const dnnl::memory::desc& desc) {
  const Blocking blocking = blocking_of(desc);
  if (!blocking.blocked || blocking.inner_blocks.size() > 1) return false;
  if (blocking.inner_blocks.size() == 1 && blocking.inner_axes[0] != 1) return false;
  // Positions must be one arithmetic sequence.
  for (std::size_t d = 2; d + 1 < blocking.dims.size(); ++d) {
    if (blocking.strides[d] != blocking.strides[d + 1] * blocking.dims[d + 1]) return false;
  }
  return true;
}

void reduce_positions(const float* data, const dnnl::memory::desc& desc, std::int64_t rows,
                      Reduction reduction, bool whole, float* out) {
  const Blocking blocking = blocking_of(desc);
  const Layout layout = layout_of(blocking);
  if (whole) {
    thread_local std::vector<float> channels;
    channels.resize(static_cast<std::size_t>(rows * layout.channels));
    reduce_positions(data, desc, rows, reduction, false, channels.data());
    const Layout all{.positions = layout.channels, .position_stride = 1};
    for (std::int64_t n = 0; n < rows; ++n)
      out[n] = reduce_plane(channels.data() + n * layout.channels, all, reduction);
    return;
  }
  data += blocking.offset;
  for (std::int64_t n = 0; n < rows; ++n) {
    const float* const row = data + n * layout.row_stride;
    float* const result = out + n * layout.channels;
    if (layout.positions == 1 && layout.block == layout.channels) {
      std::copy_n(row, layout.channels, result);
    } else if (layout.block > 1) {
      for (std::int64_t c = 0; c < layout.channels; c += layout.block) {
        reduce_block(row + c / layout.block * layout.block_stride, layout,
                     std::min(layout.block, layout.channels - c), reduction, result + c);
      }
    } else {
      for (std::int64_t c = 0; c < layout.channels; ++c) {
        result[c] = reduce_plane(row + c * layout.block_stride, layout, reduction);
      }
    }
  }
}

}  // namespace assay::onednn
