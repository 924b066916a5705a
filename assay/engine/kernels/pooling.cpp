// Pools over 1, 2 or 3 spatial axes, and global ones.

#include <algorithm>
#include <limits>

#include "assay/engine/kernels/parts/tiled_pool.h"
#include "assay/engine/kernels/parts/window.h"

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
  // libtorch can do the padding itself.
  bool direct() const {
    bool fits = window.symmetric();
    for (std::size_t i = 0; i < sizes.size(); ++i) fits = fits && 2 * window.begin[i] <= window.kernel[i];
    return fits;
  }
  // Two axes, and every window whole within the input.
  bool tiled() const {
    const Ints none(2, 0);
    return window.rank() == 2 && window.begin == none && window.end == none && !window.ceil && !dilated();
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
  check_size(shape, call.input(0).element_size());
  return pool;
}

// Every window's elements in a last axis of their own: [n, c, places..., window elements].
Tensor windows(const Tensor& padded, const Pool& pool) {
  Tensor view = padded;
  const auto rank = static_cast<std::int64_t>(pool.sizes.size());
  for (std::int64_t i = 0; i < rank; ++i) {
    const auto k = static_cast<std::size_t>(i);
    view = view.unfold(2 + i, pool.window.extent(k), pool.window.stride[k]);
    view = at::slice(view, -1, c10::nullopt, c10::nullopt, pool.window.dilation[k]);
  }
  return view.flatten(2 + rank);
}

// Sum over every window. A pool of one axis is one of two axes, the second of size 1.
Tensor window_sum(const Tensor& input, const Pool& pool) {
  const Tensor padded = pad_spatial(input, pool.window.begin, pool.whole_end(), 0);
  if (pool.dilated()) return windows(padded, pool).sum(-1);
  const Ints& kernel = pool.window.kernel;
  const Ints& stride = pool.window.stride;
  if (kernel.size() == 3) return at::avg_pool3d(padded, kernel, stride, 0, false, true, 1);
  if (kernel.size() == 2) return at::avg_pool2d(padded, kernel, stride, 0, false, true, 1);
  return at::avg_pool2d(padded.unsqueeze(-1), {kernel[0], 1}, {stride[0], 1}, 0, false, true, 1).squeeze(-1);
}

// How many positions each window averages over: those in the input, and with `padding` those in the declared
// padding (never those that ceil mode adds beyond it).
Tensor window_counts(const Pool& pool, bool padding, const Tensor& like) {
  Tensor counts = at::ones({1}, like.options());
  for (std::size_t axis = 0; axis < pool.sizes.size(); ++axis) {
    const Window& w = pool.window;
    const std::int64_t low = padding ? -w.begin[axis] : 0;
    const std::int64_t high = pool.sizes[axis] + (padding ? w.end[axis] : 0);
    const std::int64_t d = w.dilation[axis];
    const Tensor first =
        at::arange(pool.places[axis], like.options().dtype(at::kLong)) * w.stride[axis] - w.begin[axis];
    // Taps t in [0, kernel) with low <= first + t * dilation < high.
    const auto taps_below = [&](std::int64_t bound) {
      return at::clamp(at::div(bound - first + (d - 1), d, "floor"), 0, w.kernel[axis]);
    };
    const Tensor along = at::clamp_min(taps_below(high) - taps_below(low), 1);
    counts = counts.unsqueeze(-1) * along.to(like.scalar_type());
  }
  return counts.squeeze(0);
}

// sum^(1/p) whose gradient at 0 is 0.
Tensor root(const Tensor& sum, std::int64_t p) {
  const Tensor zero = sum == 0;
  const Tensor safe = at::where(zero, at::ones_like(sum), sum);
  return at::where(zero, at::zeros_like(sum), at::pow(safe, 1.0 / static_cast<double>(p)));
}

std::tuple<Tensor, Tensor> max_with_indices(const Tensor& x, const Window& w, const Ints& pads, bool ceil) {
  if (w.rank() == 3) return at::max_pool3d_with_indices(x, w.kernel, w.stride, pads, w.dilation, ceil);
  if (w.rank() == 2) return at::max_pool2d_with_indices(x, w.kernel, w.stride, pads, w.dilation, ceil);
  auto [values, indices] = at::max_pool2d_with_indices(x.unsqueeze(-1), {w.kernel[0], 1}, {w.stride[0], 1},
                                                       {pads[0], 0}, {w.dilation[0], 1}, ceil);
  return {values.squeeze(-1), indices.squeeze(-1)};
}

// From an index into a plane of `padded` positions to the index into the whole tensor that ONNX asks for.
Tensor tensor_indices(const Tensor& indices, const Tensor& x, const Ints& padded, const Ints& begin,
                      bool columns) {
  const std::size_t rank = padded.size();
  const Ints sizes = x.sizes().slice(2).vec();
  std::vector<Tensor> coordinate(rank);
  Tensor rest = indices;
  for (std::size_t i = rank; i-- > 0;) {
    coordinate[i] = at::remainder(rest, padded[i]) - begin[i];
    rest = at::div(rest, padded[i], "trunc");
  }
  Tensor inside = at::zeros_like(indices);
  std::int64_t plane = 1;
  for (std::size_t i = 0; i < rank; ++i) {
    const std::size_t axis = columns ? i : rank - 1 - i;
    inside = inside + coordinate[axis] * plane;
    plane *= sizes[axis];
  }
  Ints shape(static_cast<std::size_t>(x.dim()), 1);
  shape[0] = x.size(0), shape[1] = x.size(1);
  return inside + at::arange(x.size(0) * x.size(1), indices.options()).reshape(shape) * plane;
}

}  // namespace

Outputs max_pool(const Call& call) {
  const Tensor& input = call.input(0);
  const Pool pool = read_pool(call);
  const Tensor x = is_integral(input) ? input.to(at::kFloat) : input;  // 8-bit integers, exact
  if (!call.wants(1) && pool.tiled() && is_tiled_pool(x)) {
    return {tiled_max_pool(x, pool.window.kernel, pool.window.stride, pool.places).to(input.scalar_type())};
  }
  const bool direct = pool.direct();
  const Ints none(pool.sizes.size(), 0), begin = direct ? none : pool.window.begin;
  const Tensor padded =
      direct ? x : pad_spatial(x, begin, pool.whole_end(), -std::numeric_limits<double>::infinity());
  const auto [values, indices] =
      max_with_indices(padded, pool.window, direct ? pool.window.begin : none, direct && pool.window.ceil);
  if (!call.wants(1)) return {values.to(input.scalar_type())};
  const bool columns = call.node.integer("storage_order", 0) != 0;
  return {values.to(input.scalar_type()),
          tensor_indices(indices, x, padded.sizes().slice(2).vec(), begin, columns)};
}

Outputs average_pool(const Call& call) {
  const Tensor& x = call.input(0);
  const Pool pool = read_pool(call);
  const bool padding = call.node.integer("count_include_pad", 0) != 0;
  const Window& w = pool.window;
  if (pool.direct() && !pool.dilated() && w.rank() > 1) {
    if (w.rank() == 3) return {at::avg_pool3d(x, w.kernel, w.stride, w.begin, w.ceil, padding)};
    return {at::avg_pool2d(x, w.kernel, w.stride, w.begin, w.ceil, padding)};
  }
  return {window_sum(x, pool) / window_counts(pool, padding, x)};
}

Outputs lp_pool(const Call& call) {
  const Tensor& x = call.input(0);
  const std::int64_t p = call.node.integer("p", 2);
  require_in("p", p, 1, 1000);
  return {root(window_sum(at::pow(at::abs(x), p), read_pool(call)), p)};
}

Outputs global_average_pool(const Call& call) {
  const Tensor& x = call.input(0);
  require_rank_at_least(x, 3);
  const Ints axes = all_axes(x.dim());
  return {at::mean(x, at::IntArrayRef(axes).slice(2), /*keepdim=*/true)};
}

Outputs global_max_pool(const Call& call) {
  const Tensor& x = call.input(0);
  require_rank_at_least(x, 3);
  const Ints axes = all_axes(x.dim());
  return {at::amax(x, at::IntArrayRef(axes).slice(2), /*keepdim=*/true)};
}

Outputs global_lp_pool(const Call& call) {
  const Tensor& x = call.input(0);
  require_rank_at_least(x, 3);
  const std::int64_t p = call.node.integer("p", 2);
  require_in("p", p, 1, 1000);
  const Ints axes = all_axes(x.dim());
  return {root(at::sum(at::pow(at::abs(x), p), at::IntArrayRef(axes).slice(2), /*keepdim=*/true), p)};
}

}  // namespace assay::operators
