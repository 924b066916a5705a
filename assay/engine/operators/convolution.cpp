// Conv and ConvTranspose over 1, 2 or 3 spatial axes.

#include <algorithm>

#include "assay/engine/operators/parts/support.h"
#include "assay/engine/operators/parts/window.h"

namespace assay::operators {
namespace {

// The filter must fit the input's channels and its own declared size; returns its spatial sizes.
Ints filter_sizes(const Call& call, const Array& input, const Array& filter, std::int64_t channels,
                  std::int64_t group) {
  if (filter.rank() != input.rank()) {
    fail(Fault::model, "the filter has {} axes, the input {}", filter.rank(), input.rank());
  }
  if (group < 1 || group > filter.size(0) || filter.size(0) % group != 0) {
    fail(Fault::model, "group {} does not divide the filter's first axis of {}", group, filter.size(0));
  }
  if (input.size(1) != channels || channels < 1) {
    fail(Fault::model, "the input has {} channels, the filter expects {}", input.size(1), channels);
  }
  Ints kernel = part_of(filter.shape(), 2);
  const Ints declared = call.node.integers("kernel_shape", kernel);
  if (!declared.empty() && declared != kernel) {
    fail(Fault::model, "kernel_shape is {} but the filter is {}", to_string(declared), to_string(kernel));
  }
  return kernel;
}

// What ConvTranspose adds to a Window: positions appended to the output, and the padding that gives a wished
// size.
struct TransposedWindow : Window {
  Ints output_padding;
  // Size of the output before padding is taken away.
  std::int64_t full(std::size_t axis, std::int64_t size) const {
    return (size - 1) * stride[axis] + extent(axis) + output_padding[axis];
  }
};

TransposedWindow read_transposed(const Call& call, Ints kernel, const Ints& sizes) {
  TransposedWindow window{read_window(call, std::move(kernel), sizes), {}};
  window.output_padding = per_axis(call, "output_padding", sizes.size(), 0, 0);
  const std::string mode = call.node.text("auto_pad", "NOTSET");
  const bool same = mode == "SAME_UPPER" || mode == "SAME_LOWER";
  const bool wished = !call.node.integers("output_shape", {}).empty();
  if (!wished && !same) return window;
  Ints output(sizes.size());
  for (std::size_t i = 0; i < sizes.size(); ++i) output[i] = sizes[i] * window.stride[i];
  if (wished) output = per_axis(call, "output_shape", sizes.size(), 0, 1);
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const std::int64_t total = std::max<std::int64_t>(0, window.full(i, sizes[i]) - output[i]);
    window.begin[i] = mode == "SAME_UPPER" ? total / 2 : total - total / 2;
    window.end[i] = total - window.begin[i];
    // A size beyond what the window reaches is filled up at the end.
    window.output_padding[i] += std::max<std::int64_t>(0, output[i] - window.full(i, sizes[i]));
  }
  return window;
}

Array add_channels(const Array& tensor, const Array& bias) {
  if (!bias.defined()) return tensor;
  Ints shape(tensor.shape().size(), 1);
  shape[1] = -1;
  return tensor + bias.reshape(shape);
}

void require_bias(const Array& bias, std::int64_t channels) {
  if (bias.defined() && (bias.rank() != 1 || bias.size(0) != channels)) {
    fail(Fault::model, "the bias is {}; one number for each of {} channels is needed",
         to_string(bias.shape()), channels);
  }
}

}  // namespace

Outputs conv(const Call& call) {
  const Array &input = call.input(0), &filter = call.input(1);
  const Array bias = call.optional(2);
  const std::int64_t group = call.node.integer("group", 1);
  const Ints sizes = spatial_sizes(input);
  require_rank_at_least(filter, 2);
  require_in("group", group, 1, std::max<std::int64_t>(1, filter.size(0)));
  const Window window =
      read_window(call, filter_sizes(call, input, filter, filter.size(1) * group, group), sizes);
  for (std::size_t i = 0; i < sizes.size(); ++i) window.places(i, sizes[i]);
  require_bias(bias, filter.size(0));
  const Ints none(sizes.size(), 0);
  const bool direct = window.symmetric();
  const Array x = direct ? input : pad_spatial(input, window.begin, window.end, 0);
  return {array::convolution(x, filter, bias,
                             {.stride = window.stride,
                              .padding = direct ? window.begin : none,
                              .dilation = window.dilation,
                              .output_padding = none,
                              .groups = group})};
}

Outputs conv_transpose(const Call& call) {
  const Array &input = call.input(0), &filter = call.input(1);
  const Array bias = call.optional(2);
  const std::int64_t group = call.node.integer("group", 1);
  const Ints sizes = spatial_sizes(input);
  require_rank_at_least(filter, 2);
  const Ints kernel = filter_sizes(call, input, filter, filter.size(0), group);
  const TransposedWindow window = read_transposed(call, kernel, sizes);
  require_bias(bias, filter.size(1) * group);
  const std::size_t rank = sizes.size();
  bool direct = window.symmetric();
  Ints end_crop(rank), begin_crop(rank);
  for (std::size_t i = 0; i < rank; ++i) {
    if (window.full(i, sizes[i]) - window.begin[i] - window.end[i] < 1) {
      fail(Fault::model, "the padding {} and {} leaves nothing of the output", window.begin[i],
           window.end[i]);
    }
    direct = direct && window.output_padding[i] < window.stride[i];
    begin_crop[i] = -window.begin[i];
    end_crop[i] = window.output_padding[i] - window.end[i];
  }
  if (direct) {
    return {array::convolution(input, filter, bias,
                               {.stride = window.stride,
                                .padding = window.begin,
                                .dilation = window.dilation,
                                .output_padding = window.output_padding,
                                .transposed = true,
                                .groups = group})};
  }
  const Ints none(rank, 0);
  const Array full = array::convolution(input, filter, {},
                                        {.stride = window.stride,
                                         .padding = none,
                                         .dilation = window.dilation,
                                         .output_padding = none,
                                         .transposed = true,
                                         .groups = group});
  return {add_channels(pad_spatial(full, begin_crop, end_crop, 0), bias)};
}

}  // namespace assay::operators
