// Col2Im, and convolutions that look at shifted places (DeformConv): products over columns of windows.

#include <algorithm>

#include "assay/engine/operators/parts/support.h"
#include "assay/engine/operators/parts/window.h"

namespace assay::operators {
namespace {

std::int64_t product_of(const Ints& sizes) {
  std::int64_t product = 1;
  for (const std::int64_t size : sizes) {
    if (__builtin_mul_overflow(product, size, &product)) fail(Fault::resources, "sizes {}", to_string(sizes));
  }
  return product;
}

// Values of x [N, C, H, W] at real places [N, P] in units of positions, interpolated linearly and 0 outside:
// [N, C, P].
Array values_at(const Array& x, const Array& row, const Array& column) {
  const std::int64_t height = x.size(2), width = x.size(3);
  const Array flat = x.reshape({x.size(0), x.size(1), height * width});
  const Array top = array::floor(row.detach()), left = array::floor(column.detach());
  Array sum;
  for (const int down : {0, 1}) {
    for (const int right : {0, 1}) {
      const Array r = top + down, c = left + right;
      const Array weight = (1 - array::abs(row - r)) * (1 - array::abs(column - c));
      const Array inside = (r >= 0).logical_and(r < height).logical_and(c >= 0).logical_and(c < width);
      const Array index = (r.clamp(0, height - 1) * width + c.clamp(0, width - 1)).to(DType::int64);
      const Array picked = flat.gather(2, index.unsqueeze(1).expand({-1, x.size(1), -1}));
      const Array part = picked * array::where(inside, weight, array::zeros_like(weight)).unsqueeze(1);
      sum = sum.defined() ? sum + part : part;
    }
  }
  return sum;
}

}  // namespace

// (columns [N, C * block, positions], image sizes, block sizes) -> [N, C, image...], what overlaps added up.
Outputs col2im(const Call& call) {
  const Array& x = call.input(0);
  const Ints image = call.integers(1), block = call.integers(2);
  const std::size_t axes = image.size();
  if (x.rank() != 3 || axes == 0 || block.size() != axes)
    fail(Fault::model, "image_shape and block_shape do not fit");
  for (std::size_t i = 0; i < axes; ++i) {
    require_in("image_shape", image[i], 1, largest_extent);
    require_in("block_shape", block[i], 1, largest_extent);
  }
  const Ints stride = per_axis(call, "strides", axes, 1, 1),
             dilation = per_axis(call, "dilations", axes, 1, 1);
  const Ints pads = call.node.integers("pads", Ints(2 * axes, 0));
  if (pads.size() != 2 * axes) fail(Fault::model, "{} pads for {} axes", pads.size(), axes);
  const std::int64_t offsets = product_of(block);
  if (x.size(1) % offsets != 0) fail(Fault::model, "{} rows are not a multiple of {}", x.size(1), offsets);
  Ints padded{x.size(0), x.size(1) / offsets}, windows = padded;
  for (std::size_t i = 0; i < axes; ++i) {
    require_in("pads", pads[i], 0, largest_extent);
    require_in("pads", pads[axes + i], 0, largest_extent);
    const std::int64_t extent = (block[i] - 1) * dilation[i] + 1;
    padded.push_back(image[i] + pads[i] + pads[axes + i]);
    if (padded.back() < extent) fail(Fault::model, "a block of {} does not fit {}", extent, padded.back());
    windows.push_back((padded.back() - extent) / stride[i] + 1);
  }
  if (product_of(Ints(windows.begin() + 2, windows.end())) != x.size(2))
    fail(Fault::model, "{} columns for windows {}", x.size(2), to_string(windows));
  check_size(padded, size_of(x.dtype()));
  const Array columns = x.reshape({padded[0], padded[1], offsets, x.size(2)});
  Array result = array::zeros(padded, x.dtype());
  for (std::int64_t offset = 0; offset < offsets; ++offset) {
    Array place = result;
    std::int64_t rest = offset;
    for (std::size_t i = axes; i-- > 0; rest /= block[i]) {
      const auto axis = static_cast<std::int64_t>(i) + 2;
      const std::int64_t begin = rest % block[i] * dilation[i];
      place = place.slice(axis, begin, begin + (windows[i + 2] - 1) * stride[i] + 1, stride[i]);
    }
    place.add_(columns.select(2, offset).reshape(windows));
  }
  for (std::size_t i = 0; i < axes; ++i)
    result = result.narrow(static_cast<std::int64_t>(i) + 2, pads[i], image[i]);
  return {result};
}

// (X [N, C, H, W], W, offsets [N, groups * kernel * 2, oh, ow], bias, mask [N, groups * kernel, oh, ow]); Dai
// et al., "Deformable convolutional networks", 2017.
Outputs deform_conv(const Call& call) {
  const Array &x = call.input(0), &filter = call.input(1), &offsets = call.input(2);
  if (x.rank() != 4 || filter.rank() != 4 || offsets.rank() != 4)
    fail(Fault::unsupported, "deformable convolutions have two spatial axes");
  const std::int64_t group = call.node.integer("group", 1), shifts = call.node.integer("offset_group", 1);
  require_in("group", group, 1, std::max<std::int64_t>(1, filter.size(0)));
  require_in("offset_group", shifts, 1, std::max<std::int64_t>(1, x.size(1)));
  const Ints kernel = part_of(filter.shape(), 2), sizes = part_of(x.shape(), 2);
  const std::int64_t taps = product_of(kernel), records = x.size(0), channels = x.size(1);
  if (channels % shifts != 0 || filter.size(0) % group != 0 || filter.size(1) * group != channels)
    fail(Fault::model, "{} channels do not fit the filter {}", channels, to_string(filter.shape()));
  const Window window = read_window(call, kernel, sizes);
  const std::int64_t height = offsets.size(2), width = offsets.size(3), places = height * width;
  const bool fits = offsets.size(0) == records && offsets.size(1) == shifts * taps * 2 &&
                    (!call.has(4) || call.input(4).shape() == Ints{records, shifts * taps, height, width});
  for (std::size_t i = 0; i < 2; ++i) {
    const std::int64_t span = sizes[i] + window.begin[i] + window.end[i] - window.extent(i);
    if (!fits || span < 0 || span / window.stride[i] + 1 != offsets.size(static_cast<std::int64_t>(i) + 2))
      fail(Fault::model, "offsets {} or the mask do not fit", to_string(offsets.shape()));
  }
  check_size({records, channels * taps, places}, size_of(x.dtype()));
  const Array rows = (array::arange(height, x.dtype()) * window.stride[0])
                         .unsqueeze(1)
                         .expand({height, width})
                         .flatten(),
              columns =
                  (array::arange(width, x.dtype()) * window.stride[1]).expand({height, width}).flatten();
  const Array shift = offsets.reshape({records, shifts, taps, 2, places});
  Outputs parts;  // [N, channels of the shift's group, taps, places]
  for (std::int64_t g = 0; g < shifts; ++g) {
    const Array part = x.narrow(1, g * (channels / shifts), channels / shifts);
    Outputs seen;
    for (std::int64_t tap = 0; tap < taps; ++tap) {
      const auto base = [&](std::size_t i, std::int64_t at) {
        return static_cast<double>(at * window.dilation[i] - window.begin[i]);
      };
      Array values =
          values_at(part, shift.select(1, g).select(1, tap).select(1, 0) + rows + base(0, tap / kernel[1]),
                    shift.select(1, g).select(1, tap).select(1, 1) + columns + base(1, tap % kernel[1]));
      if (call.has(4))
        values = values * call.input(4).select(1, g * taps + tap).reshape({records, 1, places});
      seen.push_back(values);
    }
    parts.push_back(array::stack(seen, 2));
  }
  const Array unfolded = array::cat(parts, 1).reshape({records, group, channels / group * taps, places});
  const Array weights = filter.reshape({1, group, filter.size(0) / group, channels / group * taps});
  Array result = array::matmul(weights, unfolded).reshape({records, filter.size(0), height, width});
  if (call.has(3)) result = result + call.input(3).reshape({1, -1, 1, 1});
  return {result};
}

}  // namespace assay::operators
