#pragma once

// The sliding window that convolutions and pools share: sizes, steps, padding, and how many places it has.

#include "assay/engine/operators/parts/support.h"

namespace assay::operators {

// One entry per spatial axis.
struct Window {
  Ints kernel, stride, dilation, begin, end;  // begin, end: padding
  bool ceil = false;                          // a last, partial window counts

  std::size_t rank() const { return kernel.size(); }
  // Padding is the same at both ends of every axis.
  bool symmetric() const { return begin == end; }
  // Input positions from the first to the last that the window touches.
  std::int64_t extent(std::size_t axis) const { return (kernel[axis] - 1) * dilation[axis] + 1; }
  // Number of places on an axis of `size` positions. In ceil mode a window that would start in the padding at
  // the end does not count. Throws Error{model} when there are none.
  std::int64_t places(std::size_t axis, std::int64_t size) const;
};

// Sizes of the axes after batch and channels. Throws Error{model} unless there are 1 to 3 of them.
Ints spatial_sizes(const Array& input);
// An attribute with one entry per spatial axis, each in [minimum, largest_extent].
Ints per_axis(const Call& call, std::string_view attribute, std::size_t rank, std::int64_t fallback,
              std::int64_t minimum);
// Attributes strides, dilations, pads, auto_pad and ceil_mode, for a kernel over axes of these sizes.
Window read_window(const Call& call, Ints kernel, const Ints& sizes);
// `tensor` with its last axes padded (or cropped, where negative) by `value`.
Array pad_spatial(const Array& tensor, const Ints& begin, const Ints& end, double value);

}  // namespace assay::operators
