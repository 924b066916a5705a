// Convolutions over one to three spatial axes, and their gradients.
//
// There are three computations: from an image to positions of the filter, from positions back to an image,
// and from both to the filter. A convolution is the first and a transposed one the second; each one's
// gradients are the others. They are products of matrices over columns, in which the window of every position
// lies side by side, made a block at a time so that memory stays bounded; filters that look at one channel
// each are applied without columns.

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include <assay/array_math.h>
#include <assay/error.h>
#include "assay/array/gemm.h"
#include "assay/array/tape.h"
#include "assay/array/types.h"
#include "assay/support/memory.h"
#include "assay/support/thread_pool.h"

namespace assay::array {
namespace {

using Axes3 = std::array<std::int64_t, 3>;

std::int64_t volume_of(const Axes3& sizes) { return sizes[0] * sizes[1] * sizes[2]; }

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

// Work is shared by threads where there is a piece for each, and otherwise they share the loops of each
// piece.
void share_pieces(std::int64_t pieces, const std::function<void(std::int64_t, std::int64_t)>& body) {
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

// Positions of one line that a tap meets: [first, last), of which [low, high) are inside of the image;
// position p of them meets element from + p * stride. `column` is where the line begins among the columns.
struct TapLine {
  std::int64_t column, first, last, low, high, from;
};

Axes3 tap_at(const ConvolutionPlan& plan, std::int64_t tap) {
  return {tap / (plan.kernel[1] * plan.kernel[2]), tap / plan.kernel[2] % plan.kernel[1],
          tap % plan.kernel[2]};
}

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

template <typename T>
struct Workspaces {
  Workspace<T> columns, positions;
};

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

// Filters that look at one channel. The padded image is laid out in phases, one for each place of a tap
// within a stride, so that every tap meets the positions of all lines in one run of memory, for any stride:
// `positions` are laid out with lines as long as those of a phase, and what is between them does not count.
class DepthwisePlan {
 public:
  explicit DepthwisePlan(const ConvolutionPlan& plan) : plan_(plan) {
    for (std::size_t axis = 0; axis < 3; ++axis) {
      std::vector<std::int64_t>& phases = phases_[axis];
      std::int64_t most = 0;
      for (std::int64_t k = 0; k < plan.kernel[axis]; ++k) {
        const std::int64_t at = k * plan.dilation[axis], phase = at % plan.stride[axis];
        if (std::find(phases.begin(), phases.end(), phase) == phases.end()) phases.push_back(phase);
        most = std::max(most, at / plan.stride[axis]);
      }
      lines_[axis] = plan.positions[axis] + most;
    }
    run_ = ((plan.positions[0] - 1) * lines_[1] + plan.positions[1] - 1) * lines_[2] + plan.positions[2];
    for (std::int64_t tap = 0; tap < plan.taps(); ++tap) offsets_.push_back(offset_of(tap));
    reach_ = *std::max_element(offsets_.begin(), offsets_.end());
  }

  // Whether it is worth it: one image channel, few filters for it, and a padded image that is not much
  // larger.
  static bool suits(const ConvolutionPlan& plan) {
    if (plan.image_channels != 1 || plan.position_channels > 4) return false;
    double elements = 1, within = 1;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      if (plan.kernel[axis] > 64) return false;
      const auto kernel = static_cast<double>(plan.kernel[axis]),
                 stride = static_cast<double>(plan.stride[axis]);
      const double reach = (kernel - 1) * plan.dilation[axis];
      elements *= std::min(stride, kernel) * (plan.positions[axis] + reach / stride);
      within *= plan.image[axis] + reach;
    }
    constexpr double most = 1 << 19;
    return elements < most && elements < 4 * within + 1024;
  }

  std::int64_t run() const { return run_; }      // from the first position to the last
  std::int64_t reach() const { return reach_; }  // of the offsets of taps
  const std::vector<std::int64_t>& offsets() const { return offsets_; }
  std::int64_t image_elements() const { return phase_size() * phase_count(); }

  template <typename T>
  void lay_out_image(const T* plane, T* to) const {
    std::fill_n(to, image_elements(), T{});
    each_line([&](std::int64_t laid, std::int64_t from, std::int64_t low, std::int64_t high) {
      const std::int64_t step = plan_.stride[2];
      for (std::int64_t x = low; x < high; ++x) to[laid + x] = plane[from + x * step];
    });
  }

  // Elements that no tap meets stay as they are.
  template <typename T>
  void add_to_image(const T* laid_out, T* plane) const {
    each_line([&](std::int64_t laid, std::int64_t from, std::int64_t low, std::int64_t high) {
      const std::int64_t step = plan_.stride[2];
      for (std::int64_t x = low; x < high; ++x) plane[from + x * step] += laid_out[laid + x];
    });
  }

  template <typename T>
  void lay_out_positions(const T* positions, T* to) const {
    std::fill_n(to, run_, T{});
    each_position_line([&](std::int64_t laid, std::int64_t line) {
      std::copy_n(positions + line, plan_.positions[2], to + laid);
    });
  }

  template <typename T>
  void take_positions(const T* laid_out, T* positions) const {
    each_position_line([&](std::int64_t laid, std::int64_t line) {
      std::copy_n(laid_out + laid, plan_.positions[2], positions + line);
    });
  }

 private:
  std::int64_t phase_size() const { return volume_of(lines_); }
  std::int64_t phase_count() const { return phases_[0].size() * phases_[1].size() * phases_[2].size(); }

  std::int64_t offset_of(std::int64_t tap) const {
    const Axes3 k = tap_at(plan_, tap);
    std::int64_t phase = 0, shift = 0;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const std::int64_t at = k[axis] * plan_.dilation[axis];
      const auto& phases = phases_[axis];
      const auto found = std::find(phases.begin(), phases.end(), at % plan_.stride[axis]);
      phase = phase * static_cast<std::int64_t>(phases.size()) + (found - phases.begin());
      shift = shift * lines_[axis] + at / plan_.stride[axis];
    }
    return phase * phase_size() + shift;
  }

  // body(where a line of a phase is laid, its first element in the image, which of it are in the image).
  template <typename Body>
  void each_line(const Body& body) const {
    std::int64_t laid = 0;
    for (const std::int64_t pz : phases_[0]) {
      for (const std::int64_t py : phases_[1]) {
        for (const std::int64_t px : phases_[2]) {
          const Axes3 first{pz - plan_.padding[0], py - plan_.padding[1], px - plan_.padding[2]};
          const auto [zs, ze] = inside(0, first[0]);
          const auto [ys, ye] = inside(1, first[1]);
          const auto [xs, xe] = inside(2, first[2]);
          for (std::int64_t z = zs; z < ze; ++z) {
            for (std::int64_t y = ys; y < ye; ++y) {
              const std::int64_t iz = z * plan_.stride[0] + first[0], iy = y * plan_.stride[1] + first[1];
              body(laid + (z * lines_[1] + y) * lines_[2],
                   (iz * plan_.image[1] + iy) * plan_.image[2] + first[2], xs, xe);
            }
          }
          laid += phase_size();
        }
      }
    }
  }

  // Which of a phase's places along an axis are in the image.
  std::pair<std::int64_t, std::int64_t> inside(std::size_t axis, std::int64_t first) const {
    const auto reaching = [&](std::int64_t place) {
      const std::int64_t step = plan_.stride[axis];
      return place <= first ? 0 : std::min(lines_[axis], (place - first + step - 1) / step);
    };
    return {reaching(0), reaching(plan_.image[axis])};
  }

  template <typename Body>
  void each_position_line(const Body& body) const {
    std::int64_t line = 0;
    for (std::int64_t z = 0; z < plan_.positions[0]; ++z) {
      for (std::int64_t y = 0; y < plan_.positions[1]; ++y, line += plan_.positions[2])
        body((z * lines_[1] + y) * lines_[2], line);
    }
  }

  const ConvolutionPlan& plan_;
  std::array<std::vector<std::int64_t>, 3> phases_;
  Axes3 lines_{1, 1, 1};
  std::vector<std::int64_t> offsets_;
  std::int64_t run_ = 0, reach_ = 0;
};

constexpr std::int64_t tap_lanes = 16;  // elements past the end that sum_of_taps may read and write

template <typename T>
struct WeightedTap {
  T weight;
  std::int64_t offset;
};

// to[i] = start + the sum of weight * from[i + offset]; a block of sums stays in registers while the taps
// pass by.
template <typename T>
void sum_of_taps(const std::vector<WeightedTap<T>>& taps, T start, const T* from, std::int64_t count, T* to) {
  for (std::int64_t i = 0; i < count; i += tap_lanes) {
    T sums[tap_lanes];
    for (std::int64_t lane = 0; lane < tap_lanes; ++lane) sums[lane] = start;
    for (const WeightedTap<T>& tap : taps) {
      const T* const at = from + i + tap.offset;
      for (std::int64_t lane = 0; lane < tap_lanes; ++lane) sums[lane] += tap.weight * at[lane];
    }
    for (std::int64_t lane = 0; lane < tap_lanes; ++lane) to[i + lane] = sums[lane];
  }
}

// Sum of a[i] * b[i]: short ranges in lanes of T, those in double.
template <typename T>
double product_of_runs(const T* a, const T* b, std::int64_t count) {
  constexpr std::int64_t range = 1024;
  double sum = 0;
  for (std::int64_t begin = 0; begin < count; begin += range) {
    const std::int64_t end = std::min(count, begin + range);
    T sums[tap_lanes] = {};
    std::int64_t i = begin;
    for (; i + tap_lanes <= end; i += tap_lanes) {
      for (std::int64_t lane = 0; lane < tap_lanes; ++lane) sums[lane] += a[i + lane] * b[i + lane];
    }
    for (; i < end; ++i) sums[0] += a[i] * b[i];
    for (const T part : sums) sum += part;
  }
  return sum;
}

template <typename T>
void positions_by_taps(const ConvolutionPlan& plan, const T* image, const T* filter, const T* bias, T* out) {
  const DepthwisePlan depthwise(plan);
  const std::int64_t count = plan.position_count(), several = plan.position_channels, taps = plan.taps();
  share_pieces(plan.records * plan.groups, [&](std::int64_t begin, std::int64_t end) {
    Workspaces<T> workspaces;
    T* const laid_out = workspaces.columns.take(depthwise.image_elements() + tap_lanes);
    T* const sums = workspaces.positions.take(depthwise.run() + tap_lanes);
    std::fill_n(laid_out + depthwise.image_elements(), tap_lanes, T{});
    std::vector<WeightedTap<T>> weights(taps);
    for (std::int64_t piece = begin; piece < end; ++piece) {
      depthwise.lay_out_image(image + piece * plan.image_size(), laid_out);
      for (std::int64_t channel = piece % plan.groups * several, k = 0; k < several; ++k, ++channel) {
        for (std::size_t tap = 0; tap < weights.size(); ++tap)
          weights[tap] = {filter[channel * taps + static_cast<std::int64_t>(tap)], depthwise.offsets()[tap]};
        sum_of_taps(weights, bias != nullptr ? bias[channel] : T{}, laid_out, depthwise.run(), sums);
        depthwise.take_positions(sums, out + (piece * several + k) * count);
      }
    }
  });
}

// Each place of the laid out image gathers from the positions that meet it, which zeros surround.
template <typename T>
void image_by_taps(const ConvolutionPlan& plan, const T* positions, const T* filter, T* out) {
  const DepthwisePlan depthwise(plan);
  const std::int64_t count = plan.position_count(), several = plan.position_channels, taps = plan.taps();
  const std::int64_t reach = depthwise.reach(), size = depthwise.image_elements();
  const std::int64_t each = reach + std::max(depthwise.run(), size) + tap_lanes;
  share_pieces(plan.records * plan.groups, [&](std::int64_t begin, std::int64_t end) {
    Workspaces<T> workspaces;
    T* const laid_out = workspaces.positions.take(several * each);
    T* const sums = workspaces.columns.take(size + tap_lanes);
    std::fill_n(laid_out, several * each, T{});
    std::vector<WeightedTap<T>> weights(several * taps);
    for (std::int64_t piece = begin; piece < end; ++piece) {
      for (std::int64_t k = 0; k < several; ++k) {
        depthwise.lay_out_positions(positions + (piece * several + k) * count, laid_out + k * each + reach);
        for (std::int64_t tap = 0; tap < taps; ++tap)
          weights[k * taps + tap] = {filter[(piece % plan.groups * several + k) * taps + tap],
                                     k * each + reach - depthwise.offsets()[tap]};
      }
      sum_of_taps(weights, T{}, laid_out, size, sums);
      depthwise.add_to_image(sums, out + piece * plan.image_size());
    }
  });
}

template <typename T>
void filter_by_taps(const ConvolutionPlan& plan, const T* image, const T* positions, T* out) {
  const DepthwisePlan depthwise(plan);
  const std::int64_t count = plan.position_count(), several = plan.position_channels;
  const std::size_t taps = plan.taps();
  share_pieces(plan.groups, [&](std::int64_t begin, std::int64_t end) {
    Workspaces<T> workspaces;
    T* const laid_out = workspaces.columns.take(depthwise.image_elements());
    T* const run = workspaces.positions.take(depthwise.run());
    std::vector<double> sums(several * taps);
    for (std::int64_t group = begin; group < end; ++group) {
      std::fill(sums.begin(), sums.end(), 0);
      for (std::int64_t piece = group; piece < plan.records * plan.groups; piece += plan.groups) {
        depthwise.lay_out_image(image + piece * plan.image_size(), laid_out);
        for (std::int64_t k = 0; k < several; ++k) {
          depthwise.lay_out_positions(positions + (piece * several + k) * count, run);
          for (std::size_t tap = 0; tap < taps; ++tap)
            sums[k * taps + tap] +=
                product_of_runs(run, laid_out + depthwise.offsets()[tap], depthwise.run());
        }
      }
      std::transform(sums.begin(), sums.end(), out + group * several * plan.taps(),
                     [](double sum) { return static_cast<T>(sum); });
    }
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
    const auto compute = DepthwisePlan::suits(plan) ? positions_by_taps<T> : positions_by_products<T>;
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
    const auto compute = DepthwisePlan::suits(plan) ? image_by_taps<T> : image_by_products<T>;
    compute(plan, elements<T>(positions), elements<T>(filter), elements<T>(out));
  });
  return out;
}

Array to_filter(const ConvolutionPlan& plan, const Array& image, const Array& positions, const Shape& shape) {
  if (image.count() == 0 || positions.count() == 0) return Array::zeros(image.dtype(), shape);
  Array out = Array::uninitialised(image.dtype(), shape);
  with_real(image.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const auto compute = DepthwisePlan::suits(plan) ? filter_by_taps<T> : filter_by_products<T>;
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
