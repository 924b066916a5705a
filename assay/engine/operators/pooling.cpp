// Pools over 1, 2 or 3 spatial axes, and global ones.

#include <algorithm>
#include <limits>

#include "assay/engine/operators/parts/window.h"

namespace assay::operators {
namespace {

struct Pool {
  Window window;
  Ints sizes, places;

  // Padding at the end that makes the last window whole (negative where the windows end before the input
  // does).
  Ints whole_end() const {
    Ints end(sizes.size());
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      end[i] = (places[i] - 1) * window.stride[i] + window.extent(i) - sizes[i] - window.begin[i];
    }
    return end;
  }
  // Windows that the pools of arrays know.
  bool direct() const {
    bool fits = window.symmetric();
    for (std::size_t i = 0; i < sizes.size(); ++i) fits = fits && 2 * window.begin[i] <= window.kernel[i];
    return fits;
  }
  bool dilated() const {
    return std::ranges::any_of(window.dilation, [](auto d) { return d != 1; });
  }
};

Pool read_pool(const Call& call) {
  Pool pool;
  pool.sizes = spatial_sizes(call.input(0));
  pool.window = read_window(call, call.node.integers("kernel_shape", {}), pool.sizes);
  Ints shape{call.input(0).size(0), call.input(0).size(1)};
  for (std::size_t i = 0; i < pool.sizes.size(); ++i) {
    pool.places.push_back(pool.window.places(i, pool.sizes[i]));
    shape.push_back(pool.places[i]);
  }
  check_size(shape, size_of(call.input(0).dtype()));
  return pool;
}

// Every window's elements in a separate last axis: [n, c, places..., window elements].
Array windows(const Array& padded, const Pool& pool) {
  Array view = padded;
  const auto rank = std::ssize(pool.sizes);
  for (std::int64_t i = 0; i < rank; ++i) {
    const std::size_t k = i;
    view = view.unfold(2 + i, pool.window.extent(k), pool.window.stride[k]);
    view = view.slice(-1, 0, Array::from_end, pool.window.dilation[k]);
  }
  return view.flatten(2 + rank);
}

// Sum over every window. A pool of one axis is one of two axes, the second of size 1.
Array window_sum(const Array& input, const Pool& pool) {
  const Array padded = pad_spatial(input, pool.window.begin, pool.whole_end(), 0);
  if (pool.dilated()) return windows(padded, pool).sum(-1);
  const Ints none(pool.sizes.size(), 0);
  const Array means = array::avg_pool(padded, {.kernel = pool.window.kernel,
                                               .stride = pool.window.stride,
                                               .padding = none,
                                               .dilation = Ints(pool.sizes.size(), 1)});
  return means * element_count(pool.window.kernel);
}

// How many positions each window averages over: those in the input, and with `padding` those in the declared
// padding (never those that ceil mode adds beyond it).
Array window_counts(const Pool& pool, bool padding, const Array& like) {
  Array counts = array::ones({1}, like.dtype());
  for (std::size_t axis = 0; axis < pool.sizes.size(); ++axis) {
    const Window& w = pool.window;
    const std::int64_t low = padding ? -w.begin[axis] : 0;
    const std::int64_t high = pool.sizes[axis] + (padding ? w.end[axis] : 0);
    const std::int64_t d = w.dilation[axis];
    const Array first = array::arange(pool.places[axis], DType::int64) * w.stride[axis] - w.begin[axis];
    // Taps t in [0, kernel) with low <= first + t * dilation < high.
    const auto taps_below = [&](std::int64_t bound) {
      return array::clamp(array::div(bound - first + (d - 1), d, array::Rounding::floor), 0, w.kernel[axis]);
    };
    const Array along = array::clamp_min(taps_below(high) - taps_below(low), 1);
    counts = counts.unsqueeze(-1) * along.to(like.dtype());
  }
  return counts.squeeze(0);
}

// sum^(1/p) whose gradient at 0 is 0.
Array root(const Array& sum, std::int64_t p) {
  const Array zero = sum == 0;
  const Array safe = array::where(zero, array::ones_like(sum), sum);
  return array::where(zero, array::zeros_like(sum), array::pow(safe, 1.0 / p));
}

// From an index into a plane of `padded` positions to the index into the whole tensor that ONNX asks for.
Array tensor_indices(const Array& indices, const Array& x, const Ints& padded, const Ints& begin,
                     bool columns) {
  const std::size_t rank = padded.size();
  const Ints sizes = part_of(x.shape(), 2);
  std::vector<Array> coordinate(rank);
  Array rest = indices;
  for (std::size_t i = rank; i-- > 0;) {
    coordinate[i] = array::remainder(rest, padded[i]) - begin[i];
    rest = array::div(rest, padded[i], array::Rounding::truncate);
  }
  Array inside = array::zeros_like(indices);
  std::int64_t plane = 1;
  for (std::size_t i = 0; i < rank; ++i) {
    const std::size_t axis = columns ? i : rank - 1 - i;
    inside = inside + coordinate[axis] * plane;
    plane *= sizes[axis];
  }
  Ints shape(x.shape().size(), 1);
  shape[0] = x.size(0), shape[1] = x.size(1);
  return inside + array::arange(x.size(0) * x.size(1), indices.dtype()).reshape(shape) * plane;
}

}  // namespace

Outputs max_pool(const Call& call) {
  const Array& input = call.input(0);
  const Pool pool = read_pool(call);
  const Array x = is_integral(input) ? input.to(DType::float32) : input;  // 8-bit integers, exact
  const bool direct = pool.direct();
  const Ints none(pool.sizes.size(), 0), begin = direct ? none : pool.window.begin;
  const Array padded =
      direct ? x : pad_spatial(x, begin, pool.whole_end(), -std::numeric_limits<double>::infinity());
  const auto [values, indices] = array::max_pool(padded, {.kernel = pool.window.kernel,
                                                          .stride = pool.window.stride,
                                                          .padding = direct ? pool.window.begin : none,
                                                          .dilation = pool.window.dilation,
                                                          .ceil = direct && pool.window.ceil});
  if (!call.wants(1)) return {values.to(input.dtype())};
  const bool columns = call.node.integer("storage_order", 0) != 0;
  return {values.to(input.dtype()), tensor_indices(indices, x, part_of(padded.shape(), 2), begin, columns)};
}

Outputs average_pool(const Call& call) {
  const Array& x = call.input(0);
  const Pool pool = read_pool(call);
  const bool padding = call.node.integer("count_include_pad", 0) != 0;
  const Window& w = pool.window;
  if (pool.direct() && !pool.dilated()) {
    return {array::avg_pool(x, {.kernel = w.kernel,
                                .stride = w.stride,
                                .padding = w.begin,
                                .dilation = w.dilation,
                                .ceil = w.ceil,
                                .count_padding = padding})};
  }
  return {window_sum(x, pool) / window_counts(pool, padding, x)};
}

Outputs lp_pool(const Call& call) {
  const Array& x = call.input(0);
  const std::int64_t p = call.node.integer("p", 2);
  require_in("p", p, 1, 1000);
  return {root(window_sum(array::pow(array::abs(x), p), read_pool(call)), p)};
}

Outputs global_average_pool(const Call& call) {
  const Array& x = call.input(0);
  require_rank_at_least(x, 3);
  const Ints axes = all_axes(x.rank());
  return {array::mean(x, part_of(axes, 2), true)};
}

Outputs global_max_pool(const Call& call) {
  const Array& x = call.input(0);
  require_rank_at_least(x, 3);
  const Ints axes = all_axes(x.rank());
  return {array::amax(x, part_of(axes, 2), true)};
}

Outputs global_lp_pool(const Call& call) {
  const Array& x = call.input(0);
  require_rank_at_least(x, 3);
  const std::int64_t p = call.node.integer("p", 2);
  require_in("p", p, 1, 1000);
  const Ints axes = all_axes(x.rank());
  return {root(array::sum(array::pow(array::abs(x), p), part_of(axes, 2), true), p)};
}

}  // namespace assay::operators
