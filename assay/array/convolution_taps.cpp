#include "assay/array/convolution_taps.h"

#include <algorithm>
#include <vector>

namespace assay::array {
namespace {

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
      const double kernel = plan.kernel[axis], stride = plan.stride[axis];
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

}  // namespace

bool suits_taps(const ConvolutionPlan& plan) { return DepthwisePlan::suits(plan); }

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

template void positions_by_taps(const ConvolutionPlan&, const float*, const float*, const float*, float*);
template void image_by_taps(const ConvolutionPlan&, const float*, const float*, float*);
template void filter_by_taps(const ConvolutionPlan&, const float*, const float*, float*);
template void positions_by_taps(const ConvolutionPlan&, const double*, const double*, const double*, double*);
template void image_by_taps(const ConvolutionPlan&, const double*, const double*, double*);
template void filter_by_taps(const ConvolutionPlan&, const double*, const double*, double*);

}  // namespace assay::array
