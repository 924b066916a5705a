// The greatest and the mean of windows over one to three spatial axes. A line of results is computed at a
// time, one element of the windows after the other, so that the innermost loops run along lines.

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include <assay/array_math.h>
#include <assay/error.h>
#include "assay/array/tape.h"
#include "assay/array/types.h"
#include "assay/support/thread_pool.h"

namespace assay::array {
namespace {

constexpr std::int64_t most_pooled =
    std::numeric_limits<std::int32_t>::max();  // so that no product overflows

// Windows along one axis: that of result o holds begin + o * stride + k * dilation for k in [0, kernel).
struct PoolingAxis {
  std::int64_t input = 1, output = 1, kernel = 1, stride = 1, padding = 0, dilation = 1;

  // The place of window o's element k; it may be outside of the input.
  std::int64_t place(std::int64_t o, std::int64_t k) const { return o * stride - padding + k * dilation; }
  bool holds(std::int64_t at) const { return at >= 0 && at < input; }
  // Results [low, high) whose element k is in the input.
  std::int64_t low(std::int64_t k) const { return reaching(0, k); }
  std::int64_t high(std::int64_t k) const { return reaching(input, k); }
  // How many elements the window has: in the input, or in its padding too.
  std::int64_t count(std::int64_t o, bool padded) const {
    const std::int64_t begin = place(o, 0), end = std::min(begin + kernel, input + padding);
    return padded ? end - begin : std::min(end, input) - std::max<std::int64_t>(begin, 0);
  }
  // The place of the window's first element in the input.
  std::int64_t first(std::int64_t o) const {
    const std::int64_t begin = place(o, 0), skipped = begin < 0 ? (dilation - 1 - begin) / dilation : 0;
    return std::min(begin + skipped * dilation, input - 1);
  }

 private:
  std::int64_t reaching(std::int64_t at, std::int64_t k) const {
    const std::int64_t shift = place(0, k);
    return at <= shift ? 0 : std::min(output, (at - shift + stride - 1) / stride);
  }
};

struct PoolingPlan {
  std::array<PoolingAxis, 3> axes;  // fewer come after axes of size 1
  std::int64_t planes = 1;
  Shape shape;  // of the result

  std::int64_t input() const { return axes[0].input * axes[1].input * axes[2].input; }
  std::int64_t output() const { return axes[0].output * axes[1].output * axes[2].output; }
  std::int64_t window() const { return axes[0].kernel * axes[1].kernel * axes[2].kernel; }
};

void measure_pooling(PoolingAxis& axis, bool ceil) {
  if (axis.kernel < 1 || axis.stride < 1 || axis.dilation < 1)
    fail(Fault::model, "a pooling with windows of {}, stride {} and dilation {}: all are at least 1",
         axis.kernel, axis.stride, axis.dilation);
  if (std::max({axis.input, axis.kernel, axis.stride, axis.dilation}) > most_pooled)
    fail(Fault::model,
         "a pooling over {} elements with windows of {}, stride {} and dilation {}: one is above {}",
         axis.input, axis.kernel, axis.stride, axis.dilation, most_pooled);
  if (axis.padding < 0 || axis.padding > axis.kernel / 2)
    fail(Fault::model, "a pooling with windows of {} and padding {}; padding is at most half of a window",
         axis.kernel, axis.padding);
  const std::int64_t reach = axis.dilation * (axis.kernel - 1) + 1,
                     span = axis.input + 2 * axis.padding - reach;
  const std::int64_t last = ceil ? span + axis.stride - 1 : span;
  axis.output = last < 0 ? 0 : last / axis.stride + 1;
  // A window that begins in the padding at the end does not count.
  if (ceil && axis.output > 0 && (axis.output - 1) * axis.stride >= axis.input + axis.padding) --axis.output;
  if (axis.input < 1 || axis.output < 1)
    fail(Fault::model,
         "a pooling of {} elements with padding {} at both ends leaves nothing: its windows reach over {}",
         axis.input, axis.padding, reach);
}

PoolingPlan pooling_plan(const Array& a, const Pooling& how) {
  const std::size_t axes = how.kernel.size();
  const auto fits = [&](const Shape& entries) { return entries.empty() || entries.size() == axes; };
  if (axes < 1 || axes > 3 || !fits(how.stride) || !fits(how.padding) || !fits(how.dilation))
    fail(Fault::model,
         "a pooling with windows {}, strides {}, padding {} and dilations {}: one entry for each of one to "
         "three axes is needed",
         to_string(how.kernel), to_string(how.stride), to_string(how.padding), to_string(how.dilation));
  const std::size_t rank = a.rank();
  if (rank != axes + 1 && rank != axes + 2)
    fail(Fault::model,
         "a pooling with windows {} of shape {}: channels, with or without a batch, and as many axes are "
         "needed",
         to_string(how.kernel), to_string(a.shape()));
  PoolingPlan plan;
  plan.shape = a.shape();
  for (std::size_t i = 0; i < axes; ++i) {
    PoolingAxis& axis = plan.axes[3 - axes + i];
    const std::size_t at = rank - axes + i;
    axis.input = a.shape()[at], axis.kernel = how.kernel[i];
    axis.stride = how.stride.empty() ? axis.kernel : how.stride[i];
    axis.padding = how.padding.empty() ? 0 : how.padding[i];
    axis.dilation = how.dilation.empty() ? 1 : how.dilation[i];
    measure_pooling(axis, how.ceil);
    plan.shape[at] = axis.output;
  }
  for (std::size_t i = 0; i < rank - axes; ++i) plan.planes *= a.shape()[i];
  return plan;
}

// One element of the windows of a line: where it begins in the input, and which of the results it belongs to.
struct PooledRun {
  std::int64_t from, low, high;
};

// run(element) of every element of the windows of a line of results, in their order.
template <typename Run>
void each_pooled_run(const PoolingPlan& plan, std::int64_t z, std::int64_t y,
                     const std::vector<PooledRun>& along, const Run& run) {
  const auto& [depth, height, width] = plan.axes;
  for (std::int64_t kz = 0; kz < depth.kernel; ++kz) {
    const std::int64_t iz = depth.place(z, kz);
    if (!depth.holds(iz)) continue;
    for (std::int64_t ky = 0; ky < height.kernel; ++ky) {
      const std::int64_t iy = height.place(y, ky);
      if (!height.holds(iy)) continue;
      const std::int64_t line = (iz * height.input + iy) * width.input;
      for (const PooledRun& x : along) run(PooledRun{line + x.from, x.low, x.high});
    }
  }
}

// The elements of windows along the last axis that are in the input for some result.
std::vector<PooledRun> runs_along(const PoolingAxis& axis) {
  std::vector<PooledRun> runs;
  for (std::int64_t k = 0; k < axis.kernel; ++k) {
    const PooledRun run{axis.place(0, k), axis.low(k), axis.high(k)};
    if (run.low < run.high) runs.push_back(run);
  }
  return runs;
}

// body(plane, z, y, index of the line's first result) of every line of results of planes [begin, end), on
// threads.
template <typename Body>
void each_pooled_plane(const PoolingPlan& plan, const Body& body) {
  constexpr std::int64_t work = 32768;
  const std::int64_t of_plane = std::max(plan.input(), plan.output());
  split_loop(plan.planes, std::max<std::int64_t>(1, work / of_plane), body);
}

template <typename Line>
void each_pooled_line(const PoolingPlan& plan, const Line& line) {
  std::int64_t at = 0;
  for (std::int64_t z = 0; z < plan.axes[0].output; ++z) {
    for (std::int64_t y = 0; y < plan.axes[1].output; ++y, at += plan.axes[2].output) line(z, y, at);
  }
}

// Keeps the greater of what is there and values[i * step], which lies at place + i * step; NaN is the
// greatest.
template <typename T, typename Place>
void keep_greater(const T* values, std::int64_t step, Place place, std::int64_t count, T* best,
                  Place* places) {
  const auto keep = [&](std::int64_t stride) {
    for (std::int64_t i = 0; i < count; ++i) {
      const T value = values[i * stride];
      const bool greater = (value > best[i]) | (value != value);
      best[i] = greater ? value : best[i];
      places[i] = greater ? static_cast<Place>(place + static_cast<Place>(i * stride)) : places[i];
    }
  };
  if (step == 1) return keep(1);
  if (step == 2) return keep(2);
  keep(step);
}

// Places are counted in a type of the elements' size where it is enough: both are then selected in one go.
template <typename T, typename Place>
void greatest_of_planes(const PoolingPlan& plan, const T* input, T* output, std::int64_t* positions,
                        std::size_t begin, std::size_t end) {
  const auto& [depth, height, width] = plan.axes;
  const T least =
      std::is_floating_point_v<T> ? -std::numeric_limits<T>::infinity() : std::numeric_limits<T>::lowest();
  const std::vector<PooledRun> along = runs_along(width);
  std::vector<Place> firsts, places(width.output);
  for (std::int64_t x = 0; x < width.output; ++x) firsts.push_back(static_cast<Place>(width.first(x)));
  for (std::int64_t plane = begin; plane < static_cast<std::int64_t>(end); ++plane) {
    const T* const from = input + plane * plan.input();
    each_pooled_line(plan, [&, &depth = depth, &height = height, &width = width](
                               std::int64_t z, std::int64_t y, std::int64_t at) {
      T* const best = output + plane * plan.output() + at;
      const auto line = static_cast<Place>((depth.first(z) * height.input + height.first(y)) * width.input);
      std::fill_n(best, width.output, least);
      std::transform(firsts.begin(), firsts.end(), places.begin(),
                     [line](Place x) { return static_cast<Place>(line + x); });
      each_pooled_run(plan, z, y, along, [&](const PooledRun& run) {
        const std::int64_t place = run.from + run.low * width.stride;
        keep_greater(from + place, width.stride, static_cast<Place>(place), run.high - run.low,
                     best + run.low, places.data() + run.low);
      });
      std::copy(places.begin(), places.end(), positions + plane * plan.output() + at);
    });
  }
}

// How many elements the windows of a line are the means of.
std::vector<std::int64_t> pooled_counts(const PoolingPlan& plan, bool padded, std::int64_t z,
                                        std::int64_t y) {
  const std::int64_t others = plan.axes[0].count(z, padded) * plan.axes[1].count(y, padded);
  std::vector<std::int64_t> counts;
  for (std::int64_t x = 0; x < plan.axes[2].output; ++x)
    counts.push_back(std::max<std::int64_t>(1, others * plan.axes[2].count(x, padded)));
  return counts;
}

template <typename T>
void means_of_planes(const PoolingPlan& plan, bool padded, const T* input, T* output, std::size_t begin,
                     std::size_t end) {
  const PoolingAxis& width = plan.axes[2];
  const std::vector<PooledRun> along = runs_along(width);
  std::vector<double> sums(width.output);
  for (std::int64_t plane = begin; plane < static_cast<std::int64_t>(end); ++plane) {
    const T* const from = input + plane * plan.input();
    each_pooled_line(plan, [&](std::int64_t z, std::int64_t y, std::int64_t at) {
      std::fill(sums.begin(), sums.end(), 0.0);
      each_pooled_run(plan, z, y, along, [&](const PooledRun& run) {
        const T* const first = from + run.from;
        for (std::int64_t x = run.low; x < run.high; ++x)
          sums[x] += static_cast<double>(first[x * width.stride]);
      });
      const std::vector<std::int64_t> counts = pooled_counts(plan, padded, z, y);
      T* const to = output + plane * plan.output() + at;
      for (std::size_t x = 0; x < sums.size(); ++x) to[x] = static_cast<T>(sums[x] / counts[x]);
    });
  }
}

template <typename T>
void shares_of_planes(const PoolingPlan& plan, bool padded, const T* slopes, T* of_input, std::size_t begin,
                      std::size_t end) {
  const PoolingAxis& width = plan.axes[2];
  const std::vector<PooledRun> along = runs_along(width);
  std::vector<T> shares(width.output);
  for (std::int64_t plane = begin; plane < static_cast<std::int64_t>(end); ++plane) {
    T* const to = of_input + plane * plan.input();
    each_pooled_line(plan, [&](std::int64_t z, std::int64_t y, std::int64_t at) {
      const std::vector<std::int64_t> counts = pooled_counts(plan, padded, z, y);
      const T* const from = slopes + plane * plan.output() + at;
      for (std::size_t x = 0; x < shares.size(); ++x) shares[x] = from[x] / static_cast<T>(counts[x]);
      each_pooled_run(plan, z, y, along, [&](const PooledRun& run) {
        T* const first = to + run.from;
        for (std::int64_t x = run.low; x < run.high; ++x) first[x * width.stride] += shares[x];
      });
    });
  }
}

// The gradient of the greatest: all of it to where that was.
Array to_the_greatest(const PoolingPlan& plan, const Array& positions, const Shape& shape,
                      const Array& slopes) {
  const Array g = slopes.contiguous();
  Array of_input = Array::zeros(g.dtype(), shape);
  with_real(g.dtype(), [&](auto zero) {
    using T = decltype(zero);
    each_pooled_plane(plan, [&](std::size_t begin, std::size_t end) {
      for (std::int64_t plane = begin; plane < static_cast<std::int64_t>(end); ++plane) {
        const std::int64_t* const at = positions.elements<std::int64_t>() + plane * plan.output();
        const T* const from = elements<T>(g) + plane * plan.output();
        T* const to = elements<T>(of_input) + plane * plan.input();
        for (std::int64_t i = 0; i < plan.output(); ++i) to[at[i]] += from[i];
      }
    });
  });
  return of_input;
}

}  // namespace

Sorted max_pool(const Array& given, const Pooling& how) {
  if (is_narrow(given.dtype())) {
    Sorted wide = max_pool(widened(given), how);
    return {wide.values.to(given.dtype()), std::move(wide.positions)};
  }
  const PoolingPlan plan = pooling_plan(given, how);
  const Array a = given.detach().contiguous();
  Array values = Array::uninitialised(a.dtype(), plan.shape),
        positions = Array::uninitialised(DType::int64, plan.shape);
  with_number(a.dtype(), [&](auto zero) {
    using T = decltype(zero);
    each_pooled_plane(plan, [&](std::size_t begin, std::size_t end) {
      if (plan.input() <= most_pooled)
        greatest_of_planes<T, std::int32_t>(plan, elements<T>(a), elements<T>(values),
                                            positions.elements<std::int64_t>(), begin, end);
      else
        greatest_of_planes<T, std::int64_t>(plan, elements<T>(a), elements<T>(values),
                                            positions.elements<std::int64_t>(), begin, end);
    });
  });
  if (!records(given)) return {values, positions};
  values = recorded_map(std::move(values), given, [plan, positions, shape = a.shape()](const Array& g) {
    return to_the_greatest(plan, positions, shape, g);
  });
  return {values, positions};
}

Array avg_pool(const Array& given, const Pooling& how) {
  if (!is_real(given.dtype())) return avg_pool(given.to(DType::float32), how);
  if (is_narrow(given.dtype()))
    return computed_wide(given, [&](const Array& wide) { return avg_pool(wide, how); });
  const PoolingPlan plan = pooling_plan(given, how);
  if (plan.axes[0].dilation * plan.axes[1].dilation * plan.axes[2].dilation != 1)
    fail(Fault::model, "a mean of windows cannot have dilation {}", to_string(how.dilation));
  const Array a = given.detach().contiguous();
  Array out = Array::uninitialised(a.dtype(), plan.shape);
  with_real(a.dtype(), [&](auto zero) {
    using T = decltype(zero);
    each_pooled_plane(plan, [&](std::size_t begin, std::size_t end) {
      means_of_planes<T>(plan, how.count_padding, elements<T>(a), elements<T>(out), begin, end);
    });
  });
  if (!records(given)) return out;
  return recorded_map(
      std::move(out), given, [plan, padded = how.count_padding, shape = a.shape()](const Array& slopes) {
        const Array g = slopes.contiguous();
        Array of_input = Array::zeros(g.dtype(), shape);
        with_real(g.dtype(), [&](auto zero) {
          using T = decltype(zero);
          each_pooled_plane(plan, [&](std::size_t begin, std::size_t end) {
            shares_of_planes<T>(plan, padded, elements<T>(g), elements<T>(of_input), begin, end);
          });
        });
        return of_input;
      });
}

}  // namespace assay::array
