// Convolutions over one to three spatial axes, and their gradients.
//
// There are three computations: from an image to positions of the filter, from positions back to an image,
// and from both to the filter. A convolution is the first and a transposed one the second; each one's
// gradients are the others. They are products of matrices over columns, in which the window of every position
// lies side by side, made a block at a time so that memory stays bounded; filters that look at one channel
// each are applied without columns.

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include <assay/array_math.h>
#include <assay/error.h>
#include "assay/array/convolution_plan.h"
#include "assay/array/convolution_taps.h"
#include "assay/array/gemm.h"
#include "assay/array/tape.h"
#include "assay/array/types.h"

namespace assay::array {
namespace {

// Part of the work: positions [begin, end) of one record, or all of those of several.
struct ColumnBlock {
  std::int64_t record = 0, records = 1, begin = 0, end = 0;
  std::int64_t length() const { return end - begin; }
  std::int64_t columns() const { return records * length(); }
};

// Blocks follow from the shapes alone, not from the number of threads or, but for the last one, of records.
class ColumnBlocks {
 public:
  explicit ColumnBlocks(const ConvolutionPlan& plan)
      : records_(plan.records), positions_(plan.position_count()) {
    constexpr std::int64_t most_elements = std::int64_t{1} << 20, widest = 4096, few = 256, joined = 512;
    const std::int64_t most =
        std::clamp(most_elements / std::max<std::int64_t>(1, plan.rows()), std::int64_t{16}, widest);
    if (positions_ < few) together_ = std::max<std::int64_t>(1, std::min(most, joined) / positions_);
    const std::int64_t parts = (positions_ + most - 1) / most, even = (positions_ + parts - 1) / parts;
    width_ = together_ > 1 ? positions_ : std::min(positions_, (even + 15) / 16 * 16);
    parts_ = (positions_ + width_ - 1) / width_;
  }

  bool joins_records() const { return together_ > 1; }
  std::int64_t parts() const { return parts_; }  // of a record
  std::int64_t runs() const { return (records_ + together_ - 1) / together_; }
  std::int64_t count() const { return runs() * parts_; }
  ColumnBlock operator[](std::int64_t index) const {
    const std::int64_t record = index / parts_ * together_, begin = index % parts_ * width_;
    return {record, std::min(together_, records_ - record), begin, std::min(positions_, begin + width_)};
  }

 private:
  std::int64_t records_, positions_, together_ = 1, width_ = 1, parts_ = 1;
};

// Positions of one line that a tap meets: [first, last), of which [low, high) are inside of the image;
// position p of them meets element from + p * stride. `column` is where the line begins among the columns.
struct TapLine {
  std::int64_t column, first, last, low, high, from;
};

// body(line) of the lines in positions [begin, end).
template <typename Body>
void each_tap_line(const ConvolutionPlan& plan, std::int64_t tap, std::int64_t begin, std::int64_t end,
                   const Body& body) {
  const Axes3 k = tap_at(plan, tap);
  Axes3 shift;
  for (std::size_t axis = 0; axis < 3; ++axis)
    shift[axis] = k[axis] * plan.dilation[axis] - plan.padding[axis];
  const std::int64_t width = plan.positions[2], height = plan.positions[1], step = plan.stride[2];
  const auto reaching = [&](std::int64_t place) {  // the first position that meets it or a later one
    return place <= shift[2] ? 0 : std::min(width, (place - shift[2] + step - 1) / step);
  };
  const std::int64_t inside_from = reaching(0), inside_to = reaching(plan.image[2]);
  std::int64_t x = begin % width, y = begin / width % height, z = begin / width / height;
  for (std::int64_t at = begin; at < end;) {
    const std::int64_t last = std::min(width, x + end - at);
    const std::int64_t iz = z * plan.stride[0] + shift[0], iy = y * plan.stride[1] + shift[1];
    const bool outside = iz < 0 || iz >= plan.image[0] || iy < 0 || iy >= plan.image[1];
    const std::int64_t low = outside ? last : std::clamp(inside_from, x, last);
    const std::int64_t high = outside ? last : std::clamp(inside_to, low, last);
    body(TapLine{at - begin, x, last, low, high, (iz * plan.image[1] + iy) * plan.image[2] + shift[2]});
    at += last - x;
    x = 0;
    if (++y == height) y = 0, ++z;
  }
}

// The elements of a plane of the image under one tap, zeros outside of it.
template <typename T>
void fill_columns(const ConvolutionPlan& plan, const T* plane, std::int64_t tap, std::int64_t begin,
                  std::int64_t end, T* to) {
  const std::int64_t step = plan.stride[2];
  each_tap_line(plan, tap, begin, end, [&](const TapLine& line) {
    T* const out = to + line.column - line.first;
    std::fill(out + line.first, out + line.low, T{});
    if (step == 1) {
      if (line.low < line.high)
        std::copy(plane + line.from + line.low, plane + line.from + line.high, out + line.low);
    } else {
      for (std::int64_t p = line.low; p < line.high; ++p) out[p] = plane[line.from + p * step];
    }
    std::fill(out + line.high, out + line.last, T{});
  });
}

// The other way: adds to the plane.
template <typename T>
void add_columns(const ConvolutionPlan& plan, const T* from, std::int64_t tap, std::int64_t begin,
                 std::int64_t end, T* plane) {
  const std::int64_t step = plan.stride[2];
  each_tap_line(plan, tap, begin, end, [&](const TapLine& line) {
    const T* const in = from + line.column - line.first;
    if (step == 1) {
      for (std::int64_t p = line.low; p < line.high; ++p) plane[line.from + p] += in[p];
    } else {
      for (std::int64_t p = line.low; p < line.high; ++p) plane[line.from + p * step] += in[p];
    }
  });
}

// The windows of a block's positions, [rows, columns]: the image itself where that is what they are.
template <typename T>
Matrix<const T> columns_of(const ConvolutionPlan& plan, const ColumnBlock& block, std::int64_t group,
                           const T* image, Workspace<T>& workspace) {
  const std::int64_t size = plan.image_size(), taps = plan.taps(), columns = block.columns();
  const auto channels = [&](std::int64_t record) {
    return image + (record * plan.groups + group) * plan.image_channels * size;
  };
  if (block.records == 1 && plan.is_pointwise()) return {channels(block.record) + block.begin, size, 1};
  T* const to = workspace.take(plan.rows() * columns);
  share_rows(plan.rows(), columns, [&](std::int64_t row) {
    for (std::int64_t r = 0; r < block.records; ++r)
      fill_columns(plan, channels(block.record + r) + row / taps * size, row % taps, block.begin, block.end,
                   to + row * columns + r * block.length());
  });
  return {to, columns, 1};
}

// A block of [records, groups, channels, positions]; one row a channel, records side by side.
template <typename T>
Matrix<const T> positions_of(const ConvolutionPlan& plan, const ColumnBlock& block, std::int64_t group,
                             const T* values, Workspace<T>& workspace) {
  const std::int64_t count = plan.position_count(), channels = plan.position_channels,
                     columns = block.columns();
  const auto row_of = [&](std::int64_t record, std::int64_t channel) {
    return values + ((record * plan.groups + group) * channels + channel) * count + block.begin;
  };
  if (block.records == 1) return {row_of(block.record, 0), count, 1};
  T* const to = workspace.take(channels * columns);
  share_rows(channels, columns, [&](std::int64_t channel) {
    for (std::int64_t r = 0; r < block.records; ++r)
      std::copy_n(row_of(block.record + r, channel), count, to + channel * columns + r * count);
  });
  return {to, columns, 1};
}

// From an image to positions, one block and group. Sums begin with the bias.
template <typename T>
void positions_block(const ConvolutionPlan& plan, const ColumnBlock& block, std::int64_t group,
                     const T* image, const T* filter, const T* bias, T* out, Workspaces<T>& workspaces) {
  const std::int64_t count = plan.position_count(), channels = plan.position_channels, rows = plan.rows();
  const std::int64_t columns = block.columns();
  const auto row_of = [&](std::int64_t record, std::int64_t channel) {
    return out + ((record * plan.groups + group) * channels + channel) * count + block.begin;
  };
  const Matrix<const T> windows = columns_of(plan, block, group, image, workspaces.columns);
  const bool joined = block.records > 1;
  const Matrix<T> sums = joined ? Matrix<T>{workspaces.positions.take(channels * columns), columns, 1}
                                : Matrix<T>{row_of(block.record, 0), count, 1};
  const bool begun = bias != nullptr;
  for (std::int64_t channel = 0; begun && channel < channels; ++channel)
    std::fill_n(sums.data + channel * sums.row, columns, bias[group * channels + channel]);
  gemm(channels, columns, rows, {filter + group * channels * rows, rows, 1}, windows, sums, begun);
  for (std::int64_t r = 0; joined && r < block.records; ++r) {
    for (std::int64_t channel = 0; channel < channels; ++channel)
      std::copy_n(sums.data + channel * columns + r * count, count, row_of(block.record + r, channel));
  }
}

template <typename T>
void positions_by_products(const ConvolutionPlan& plan, const T* image, const T* filter, const T* bias,
                           T* out) {
  const ColumnBlocks blocks(plan);
  share_pieces(blocks.count() * plan.groups, [&](std::int64_t begin, std::int64_t end) {
    Workspaces<T> workspaces;
    for (std::int64_t piece = begin; piece < end; ++piece)
      positions_block(plan, blocks[piece / plan.groups], piece % plan.groups, image, filter, bias, out,
                      workspaces);
  });
}

// From positions to the image, one block and group: adds to the image.
template <typename T>
void image_block(const ConvolutionPlan& plan, const ColumnBlock& block, std::int64_t group,
                 const T* positions, const T* filter, T* out, Workspaces<T>& workspaces) {
  const std::int64_t rows = plan.rows(), taps = plan.taps(), size = plan.image_size(),
                     columns = block.columns();
  T* const to = workspaces.columns.take(rows * columns);
  const Matrix<const T> across{filter + group * plan.position_channels * rows, 1, rows};
  gemm(rows, columns, plan.position_channels, across,
       positions_of(plan, block, group, positions, workspaces.positions), {to, columns, 1}, false);
  share_rows(plan.image_channels, taps * columns, [&](std::int64_t channel) {
    for (std::int64_t r = 0; r < block.records; ++r) {
      T* const plane =
          out + (((block.record + r) * plan.groups + group) * plan.image_channels + channel) * size;
      for (std::int64_t tap = 0; tap < taps; ++tap)
        add_columns(plan, to + (channel * taps + tap) * columns + r * block.length(), tap, block.begin,
                    block.end, plane);
    }
  });
}

// Blocks of a record follow one another: their windows overlap.
template <typename T>
void image_by_products(const ConvolutionPlan& plan, const T* positions, const T* filter, T* out) {
  const ColumnBlocks blocks(plan);
  const bool direct = plan.is_pointwise() && !blocks.joins_records();
  share_pieces(blocks.runs() * plan.groups, [&](std::int64_t begin, std::int64_t end) {
    Workspaces<T> workspaces;
    for (std::int64_t piece = begin; piece < end; ++piece) {
      const std::int64_t run = piece / plan.groups, group = piece % plan.groups;
      for (std::int64_t part = 0; part < blocks.parts(); ++part) {
        const ColumnBlock block = blocks[run * blocks.parts() + part];
        if (!direct) {
          image_block(plan, block, group, positions, filter, out, workspaces);
          continue;
        }
        const std::int64_t first =
            (block.record * plan.groups + group) * plan.image_channels * plan.image_size();
        gemm(plan.image_channels, block.columns(), plan.position_channels,
             {filter + group * plan.position_channels * plan.rows(), 1, plan.rows()},
             positions_of(plan, block, group, positions, workspaces.positions),
             {out + first + block.begin, plan.image_size(), 1}, true);
      }
    }
  });
}

// From both to the filter. Blocks are summed in slices, and those in order: as many as the shapes say.
template <typename T>
void filter_by_products(const ConvolutionPlan& plan, const T* image, const T* positions, T* out) {
  constexpr std::int64_t most_elements = std::int64_t{1} << 21;
  const ColumnBlocks blocks(plan);
  const std::int64_t size = plan.filter_size(), of_group = size / plan.groups;
  const std::int64_t slices =
      std::min(blocks.count(), std::clamp(most_elements / size, std::int64_t{1}, std::int64_t{16}));
  std::vector<T> sums(slices * size);
  share_pieces(slices * plan.groups, [&](std::int64_t begin, std::int64_t end) {
    Workspaces<T> workspaces;
    for (std::int64_t piece = begin; piece < end; ++piece) {
      const std::int64_t slice = piece / plan.groups, group = piece % plan.groups;
      T* const to = sums.data() + slice * size + group * of_group;
      const std::int64_t last = blocks.count() * (slice + 1) / slices;
      for (std::int64_t index = blocks.count() * slice / slices; index < last; ++index) {
        const ColumnBlock block = blocks[index];
        const Matrix<const T> windows = columns_of(plan, block, group, image, workspaces.columns);
        gemm(plan.position_channels, plan.rows(), block.columns(),
             positions_of(plan, block, group, positions, workspaces.positions),
             {windows.data, windows.column, windows.row}, {to, plan.rows(), 1}, true);
      }
    }
  });
  share_rows(size, slices, [&](std::int64_t i) {
    double sum = 0;
    for (std::int64_t slice = 0; slice < slices; ++slice) sum += sums[slice * size + i];
    out[i] = static_cast<T>(sum);
  });
}

Shape shape_of_positions(const ConvolutionPlan& plan, std::size_t axes) {
  Shape shape{plan.records, plan.groups * plan.position_channels};
  shape.insert(shape.end(), plan.positions.end() - axes, plan.positions.end());
  return shape;
}

Shape shape_of_image(const ConvolutionPlan& plan, std::size_t axes) {
  Shape shape{plan.records, plan.groups * plan.image_channels};
  shape.insert(shape.end(), plan.image.end() - axes, plan.image.end());
  return shape;
}

// The three computations with arrays, which are contiguous.
Array to_positions(const ConvolutionPlan& plan, const Array& image, const Array& filter, const Array& bias) {
  Array out = Array::uninitialised(image.dtype(), shape_of_positions(plan, image.rank() - 2));
  if (out.count() == 0) return out;
  with_real(image.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const T* const start = bias.defined() ? elements<T>(bias) : nullptr;
    const auto compute = suits_taps(plan) ? positions_by_taps<T> : positions_by_products<T>;
    compute(plan, elements<T>(image), elements<T>(filter), start, elements<T>(out));
  });
  return out;
}

Array to_image(const ConvolutionPlan& plan, const Array& positions, const Array& filter, const Array& bias) {
  Array out = Array::uninitialised(positions.dtype(), shape_of_image(plan, positions.rank() - 2));
  if (out.count() == 0) return out;
  with_real(positions.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const std::int64_t size = plan.image_size();
    const auto channels = plan.groups * plan.image_channels;
    share_rows(plan.records * channels, size, [&](std::int64_t plane) {
      std::fill_n(elements<T>(out) + plane * size, size,
                  bias.defined() ? elements<T>(bias)[plane % channels] : T{});
    });
    if (positions.count() == 0) return;
    const auto compute = suits_taps(plan) ? image_by_taps<T> : image_by_products<T>;
    compute(plan, elements<T>(positions), elements<T>(filter), elements<T>(out));
  });
  return out;
}

Array to_filter(const ConvolutionPlan& plan, const Array& image, const Array& positions, const Shape& shape) {
  if (image.count() == 0 || positions.count() == 0) return Array::zeros(image.dtype(), shape);
  Array out = Array::uninitialised(image.dtype(), shape);
  with_real(image.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const auto compute = suits_taps(plan) ? filter_by_taps<T> : filter_by_products<T>;
    compute(plan, elements<T>(image), elements<T>(positions), elements<T>(out));
  });
  return out;
}

// Shapes and settings, checked.

constexpr std::int64_t longest =
    std::numeric_limits<std::int32_t>::max();  // so that no product below overflows

void require_entries(const char* name, const Shape& entries, std::size_t axes, std::int64_t least) {
  if (entries.size() != axes && !entries.empty())
    fail(Fault::model, "a convolution over {} axes was given {} {}: one an axis is needed", axes, name,
         to_string(entries));
  for (const std::int64_t entry : entries) {
    if (entry < least || entry > longest)
      fail(Fault::model, "a convolution was given {} {}, which is outside of [{}, {}]", name, entry, least,
           longest);
  }
}

void require_convolved_channels(const Array& a, const Array& filter, const Array& bias,
                                const Convolution& how) {
  const std::int64_t given = a.size(1), first = filter.size(0), second = filter.size(1);
  if (how.groups < 1 || first % how.groups != 0 || first == 0)
    fail(Fault::model, "a filter of shape {} cannot be taken apart into {} groups along its first axis",
         to_string(filter.shape()), how.groups);
  const std::int64_t wanted = how.transposed ? first : second * how.groups;
  if (given != wanted)
    fail(Fault::model,
         "a convolution of shape {} with a filter of shape {} in {} groups: the input has {} channels where "
         "{} are needed",
         to_string(a.shape()), to_string(filter.shape()), how.groups, given, wanted);
  const std::int64_t results = how.transposed ? second * how.groups : first;
  if (bias.defined() && bias.shape() != Shape{results})
    fail(Fault::model, "the bias of a convolution has shape {}; one number for each of {} channels is needed",
         to_string(bias.shape()), results);
}

void require_convolution(const Array& a, const Array& filter, const Array& bias, const Convolution& how) {
  if (a.rank() < 3 || a.rank() > 5 || filter.rank() != a.rank())
    fail(Fault::model,
         "a convolution of shape {} with a filter of shape {}: both need a batch, channels and the same one "
         "to three axes",
         to_string(a.shape()), to_string(filter.shape()));
  if (!is_real(a.dtype()) || filter.dtype() != a.dtype() || (bias.defined() && bias.dtype() != a.dtype()))
    fail(Fault::model, "a convolution of {} with a filter of {}{}: all need the same real numbers",
         to_string(a.dtype()), to_string(filter.dtype()),
         bias.defined() ? " and a bias of " + to_string(bias.dtype()) : "");
  const std::size_t axes = a.rank() - 2;
  require_entries("strides", how.stride, axes, 1);
  require_entries("padding", how.padding, axes, 0);
  require_entries("dilations", how.dilation, axes, 1);
  require_entries("output padding", how.output_padding, axes, 0);
  require_convolved_channels(a, filter, bias, how);
}

// Along one axis of the plan: how many positions, or how long an image.
void measure_axis(ConvolutionPlan& plan, std::size_t axis, std::int64_t given, std::int64_t extra,
                  bool transposed) {
  const std::int64_t stride = plan.stride[axis], padding = plan.padding[axis], kernel = plan.kernel[axis];
  if (given > longest || kernel > longest)
    fail(Fault::model, "a convolution with a filter of {} over {} elements: more than {} along one axis",
         kernel, given, longest);
  const std::int64_t reach = plan.dilation[axis] * (kernel - 1) + 1;
  if (kernel < 1 || (transposed ? given < 1 : given + 2 * padding < reach))
    fail(Fault::model,
         "a filter of {} elements that reaches over {} does not fit into {} with padding {} at both ends",
         kernel, reach, given, padding);
  plan.image[axis] = given, plan.positions[axis] = (given + 2 * padding - reach) / stride + 1;
  if (!transposed) return;
  if (extra >= std::max(stride, plan.dilation[axis]))
    fail(Fault::model, "output padding {} is as large as the stride {} and the dilation {}", extra, stride,
         plan.dilation[axis]);
  plan.positions[axis] = given, plan.image[axis] = (given - 1) * stride - 2 * padding + reach + extra;
  if (plan.image[axis] < 1)
    fail(Fault::model,
         "padding {} at both ends leaves nothing of the output of a transposed convolution of {} elements",
         padding, given);
}

ConvolutionPlan plan_of(const Array& a, const Array& filter, const Array& bias, const Convolution& how) {
  require_convolution(a, filter, bias, how);
  ConvolutionPlan plan;
  plan.records = a.size(0), plan.groups = how.groups;
  plan.position_channels = filter.size(0) / how.groups, plan.image_channels = filter.size(1);
  const std::size_t axes = a.rank() - 2;
  for (std::size_t i = 0; i < axes; ++i) {
    const std::size_t axis = 3 - axes + i;
    const auto entry = [i](const Shape& entries, std::int64_t otherwise) {
      return entries.empty() ? otherwise : entries[i];
    };
    plan.stride[axis] = entry(how.stride, 1), plan.padding[axis] = entry(how.padding, 0);
    plan.dilation[axis] = entry(how.dilation, 1), plan.kernel[axis] = filter.shape()[i + 2];
    measure_axis(plan, axis, a.shape()[i + 2], entry(how.output_padding, 0), how.transposed);
  }
  return plan;
}

// Over all axes but the second.
Array sum_of_channels(const Array& gradient) {
  Shape axes(gradient.rank() - 1);
  std::iota(axes.begin(), axes.end(), 1);
  axes[0] = 0;
  return sum(gradient, axes);
}

}  // namespace

Array convolution(const Array& a, const Array& filter, const Array& bias, const Convolution& how) {
  const ConvolutionPlan plan = plan_of(a, filter, bias, how);
  if (is_narrow(a.dtype()))
    return computed_wide(
        a, [&](const Array& wide) { return convolution(wide, widened(filter), widened(bias), how); });
  const Array x = a.detach().contiguous(), w = filter.detach().contiguous();
  const Array start = bias.defined() ? bias.detach().contiguous() : Array();
  Array out = how.transposed ? to_image(plan, x, w, start) : to_positions(plan, x, w, start);
  if (!records(a, filter, bias)) return out;
  const auto back = [plan, x, w, transposed = how.transposed](const Array& gradient,
                                                              const std::vector<bool>& wanted) {
    const Array g = gradient.contiguous();
    Arrays found(3);
    if (wanted[0]) found[0] = transposed ? to_positions(plan, g, w, {}) : to_image(plan, g, w, {});
    if (wanted[1])
      found[1] = transposed ? to_filter(plan, g, x, w.shape()) : to_filter(plan, x, g, w.shape());
    if (wanted[2]) found[2] = sum_of_channels(g);
    return found;
  };
  return recorded_one(std::move(out), {a, filter, bias}, back);
}

}  // namespace assay::array
