#include "assay/engine/operators/parts/window.h"

#include <algorithm>

namespace assay::operators {
namespace {

// Padding so that there are ceil(size / stride) places; an odd one out goes to the end for SAME_UPPER.
void pad_same(Window& window, const Ints& sizes, bool upper) {
  for (std::size_t i = 0; i < window.rank(); ++i) {
    const std::int64_t places = (sizes[i] + window.stride[i] - 1) / window.stride[i];
    const std::int64_t total =
        std::max<std::int64_t>(0, (places - 1) * window.stride[i] + window.extent(i) - sizes[i]);
    window.begin[i] = upper ? total / 2 : total - total / 2;
    window.end[i] = total - window.begin[i];
  }
}

}  // namespace

std::int64_t Window::places(std::size_t axis, std::int64_t size) const {
  const std::int64_t span = size + begin[axis] + end[axis] - extent(axis);
  if (size < 1 || span < 0) {
    fail(Fault::model, "a window of {} does not fit into {} positions with padding {} and {}", extent(axis),
         size, begin[axis], end[axis]);
  }
  if (!ceil) return span / stride[axis] + 1;
  const std::int64_t places = (span + stride[axis] - 1) / stride[axis] + 1;
  return (places - 1) * stride[axis] >= size + begin[axis] ? places - 1 : places;
}

Ints spatial_sizes(const Array& input) {
  if (input.rank() < 3 || input.rank() > 5) {
    fail(Fault::model, "the input has {} axes; batch, channels and 1 to 3 spatial ones are needed",
         input.rank());
  }
  return part_of(input.shape(), 2);
}

Ints per_axis(const Call& call, std::string_view attribute, std::size_t rank, std::int64_t fallback,
              std::int64_t minimum) {
  Ints values = call.node.integers(attribute, Ints(rank, fallback));
  if (values.empty()) values.assign(rank, fallback);
  if (values.size() != rank) {
    fail(Fault::model, "attribute '{}' has {} entries; {} are needed", attribute, values.size(), rank);
  }
  for (const auto value : values) require_in(attribute, value, minimum, largest_extent);
  return values;
}

Window read_window(const Call& call, Ints kernel, const Ints& sizes) {
  const std::size_t rank = sizes.size();
  if (kernel.size() != rank)
    fail(Fault::model, "a kernel over {} axes meets {} spatial axes", kernel.size(), rank);
  for (const auto size : kernel) require_in("kernel size", size, 1, largest_extent);
  Window window;
  window.kernel = std::move(kernel);
  window.stride = per_axis(call, "strides", rank, 1, 1);
  window.dilation = per_axis(call, "dilations", rank, 1, 1);
  window.ceil = call.node.integer("ceil_mode", 0) != 0;
  const Ints pads = per_axis(call, "pads", 2 * rank, 0, 0);
  window.begin.assign(pads.data(), pads.data() + rank);
  window.end.assign(pads.data() + rank, pads.data() + pads.size());
  const std::string mode = call.node.text("auto_pad", "NOTSET");
  if (mode == "SAME_UPPER" || mode == "SAME_LOWER") {
    pad_same(window, sizes, mode == "SAME_UPPER");
  } else if (mode == "VALID") {
    window.begin.assign(rank, 0), window.end.assign(rank, 0);
  } else if (!mode.empty() && mode != "NOTSET") {
    fail(Fault::model, "auto_pad '{}' is not NOTSET, SAME_UPPER, SAME_LOWER or VALID", mode);
  }
  return window;
}

Array pad_spatial(const Array& tensor, const Ints& begin, const Ints& end, double value) {
  Ints pads;  // from the last axis
  for (std::size_t i = begin.size(); i-- > 0;) pads.insert(pads.end(), {begin[i], end[i]});
  if (std::ranges::all_of(pads, [](auto pad) { return pad == 0; })) return tensor;
  return array::pad(tensor, pads, value);
}

}  // namespace assay::operators
