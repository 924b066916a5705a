#pragma once

// What convolutions by products and by taps share: where windows lie, memory, and the division of work.

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <memory>

#include "assay/support/memory.h"
#include "assay/support/thread_pool.h"

namespace assay::array {

using Axes3 = std::array<std::int64_t, 3>;

inline std::int64_t volume_of(const Axes3& sizes) { return sizes[0] * sizes[1] * sizes[2]; }

// Where the windows lie: that of position p and tap k begins at p * stride + k * dilation - padding of the
// image. Fewer than three axes come after axes of size 1. Channels are those in one group.
struct ConvolutionPlan {
  std::int64_t records = 0, groups = 1, image_channels = 0, position_channels = 0;
  Axes3 image{1, 1, 1}, positions{1, 1, 1}, kernel{1, 1, 1}, stride{1, 1, 1}, padding{0, 0, 0},
      dilation{1, 1, 1};

  std::int64_t image_size() const { return volume_of(image); }
  std::int64_t position_count() const { return volume_of(positions); }
  std::int64_t taps() const { return volume_of(kernel); }
  std::int64_t rows() const { return image_channels * taps(); }  // of columns
  std::int64_t filter_size() const { return groups * position_channels * rows(); }
  // Whether the columns are the image itself.
  bool is_pointwise() const {
    return taps() == 1 && stride == Axes3{1, 1, 1} && padding == Axes3{0, 0, 0} && image == positions;
  }
};

// The first so many elements of memory that grows when more are requested.
template <typename T>
class Workspace {
 public:
  T* take(std::int64_t count) {
    if (count > size_) {
      block_.reset(static_cast<T*>(allocate_block(count * sizeof(T))));
      size_ = count;
    }
    return block_.get();
  }

 private:
  std::unique_ptr<T[], FreeBlock> block_;
  std::int64_t size_ = 0;
};

inline Axes3 tap_at(const ConvolutionPlan& plan, std::int64_t tap) {
  return {tap / (plan.kernel[1] * plan.kernel[2]), tap / plan.kernel[2] % plan.kernel[1],
          tap % plan.kernel[2]};
}

template <typename T>
struct Workspaces {
  Workspace<T> columns, positions;
};

// Work is shared by threads where there is a piece for each, and otherwise they share the loops of each
// piece.
inline void share_pieces(std::int64_t pieces, const std::function<void(std::int64_t, std::int64_t)>& body) {
  if (pieces < static_cast<std::int64_t>(loop_threads())) return body(0, pieces);
  split_loop(pieces, 1, [&](std::size_t begin, std::size_t end) { body(begin, end); });
}

// body(row) of so many rows of `length` elements.
template <typename Body>
void share_rows(std::int64_t rows, std::int64_t length, const Body& body) {
  constexpr std::int64_t grain = 32768;
  split_loop(rows, std::max<std::int64_t>(1, grain / std::max<std::int64_t>(1, length)),
             [&](std::size_t begin, std::size_t end) {
               for (std::size_t row = begin; row < end; ++row) body(row);
             });
}

}  // namespace assay::array
