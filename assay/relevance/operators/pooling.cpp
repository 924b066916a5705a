// Winner takes all: relevance goes to the largest element of each window, equally among those that tie or to
// the first of them.

#include <assay/array_math.h>

#include <algorithm>
#include <array>
#include <span>
#include <vector>

#include <assay/extend/rule.h>
#include "assay/engine/operators/parts/window.h"
#include "assay/relevance/operators/families.h"
#include "assay/support/thread_pool.h"

namespace assay::relevance::passing {
namespace {

using operators::Ints;
using operators::Window;

// A window over a plane of up to three axes; axes that are missing have one position.
struct Plane {
  std::array<std::int64_t, 3> sizes{1, 1, 1}, places{1, 1, 1}, kernel{1, 1, 1}, stride{1, 1, 1},
      dilation{1, 1, 1}, begin{0, 0, 0};

  Plane(const Window& window, const Shape& input, const Shape& output) {
    const std::size_t missing = 3 - window.rank();
    for (std::size_t a = 0; a < window.rank(); ++a) {
      sizes[missing + a] = input[a + 2];
      places[missing + a] = output[a + 2];
      kernel[missing + a] = window.kernel[a];
      stride[missing + a] = window.stride[a];
      dilation[missing + a] = window.dilation[a];
      begin[missing + a] = window.begin[a];
    }
  }

  // Calls visit(index of an element) for the elements inside the plane that the window at a place touches.
  template <typename Visit>
  void for_each(std::int64_t d, std::int64_t h, std::int64_t w, const Visit& visit) const {
    for (std::int64_t i = 0, z = d * stride[0] - begin[0]; i < kernel[0]; ++i, z += dilation[0]) {
      if (z < 0 || z >= sizes[0]) continue;
      for (std::int64_t j = 0, y = h * stride[1] - begin[1]; j < kernel[1]; ++j, y += dilation[1]) {
        if (y < 0 || y >= sizes[1]) continue;
        for (std::int64_t k = 0, x = w * stride[2] - begin[2]; k < kernel[2]; ++k, x += dilation[2]) {
          if (x >= 0 && x < sizes[2]) visit((z * sizes[1] + y) * sizes[2] + x);
        }
      }
    }
  }

  // Whether the window at a place lies inside the plane whole; `first`: its first element.
  bool inside(std::int64_t d, std::int64_t h, std::int64_t w, std::int64_t& first) const {
    const std::array<std::int64_t, 3> at{d, h, w};
    first = 0;
    for (std::size_t a = 0; a < at.size(); ++a) {
      const std::int64_t from = at[a] * stride[a] - begin[a];
      if (from < 0 || from + (kernel[a] - 1) * dilation[a] >= sizes[a]) return false;
      first = first * sizes[a] + from;
    }
    return true;
  }

  // Where the elements of a whole window lie from its first one.
  std::vector<std::int64_t> offsets() const {
    std::vector<std::int64_t> found;
    for (std::int64_t i = 0; i < kernel[0]; ++i) {
      for (std::int64_t j = 0; j < kernel[1]; ++j) {
        for (std::int64_t k = 0; k < kernel[2]; ++k)
          found.push_back(((i * dilation[0]) * sizes[1] + j * dilation[1]) * sizes[2] + k * dilation[2]);
      }
    }
    return found;
  }

  void pass(std::span<const std::int64_t> near, bool shared, const float* input, const float* output,
            const float* arriving, float* result) const {
    const auto give = shared ? share : give_first;
    std::int64_t place = 0;
    for (std::int64_t d = 0; d < places[0]; ++d) {
      for (std::int64_t h = 0; h < places[1]; ++h) {
        for (std::int64_t w = 0; w < places[2]; ++w, ++place) {
          if (arriving[place] == 0) continue;
          std::int64_t first = 0;
          if (inside(d, h, w, first)) {
            give(near, input + first, output[place], arriving[place], result + first);
            continue;
          }
          std::vector<std::int64_t> some;
          for_each(d, h, w, [&](std::int64_t at) { some.push_back(at); });
          give(some, input, output[place], arriving[place], result);
        }
      }
    }
  }

 private:
  static void share(std::span<const std::int64_t> window, const float* input, float most, float arriving,
                    float* result) {
    int winners = 0;
    for (const std::int64_t at : window) winners += input[at] == most ? 1 : 0;
    if (winners > 1) arriving /= static_cast<float>(winners);
    for (const std::int64_t at : window) result[at] += input[at] == most ? arriving : 0.0F;
  }
  static void give_first(std::span<const std::int64_t> window, const float* input, float most, float arriving,
                         float* result) {
    const auto winner = std::ranges::find_if(window, [&](std::int64_t at) { return input[at] == most; });
    if (winner != window.end()) result[*winner] += arriving;
  }
};

// Keeps the first 1 along these axes of zeros and ones.
Array first_of(const Array& ones, const Ints& axes) {
  const Array order = array::arange(ones.count(), DType::float64).reshape(ones.shape());
  const Array open = array::where(ones.ne(0), order, array::full({}, ones.count(), DType::float64));
  return ones * open.eq(open.amin(axes, /*keep=*/true)).to(ones.dtype());
}

Array floats_in_order(const Array& array) { return array.to(DType::float32).contiguous(); }

}  // namespace

Relevances max_pool(const Passage& p) {
  const Array x = floats_in_order(p.input(0)), y = floats_in_order(p.outputs[0]),
              arriving = floats_in_order(p.arriving());
  KernelContext context;
  const Window window = operators::read_window(
      {p.node, p.inputs, context}, p.node.integers("kernel_shape", {}), operators::spatial_sizes(x));
  const Plane plane(window, x.shape(), y.shape());
  const std::vector<std::int64_t> near = plane.offsets();
  const Array result = array::zeros_like(x);
  const std::int64_t planes = x.size(0) * x.size(1);
  if (planes > 0 && y.count() > 0) {
    const std::int64_t in = x.count() / planes, out = y.count() / planes;
    split_loop(planes, 16, [&](std::size_t from, std::size_t to) {
      for (auto n = static_cast<std::int64_t>(from); n < static_cast<std::int64_t>(to); ++n) {
        plane.pass(near, p.maxima_share, x.elements<float>() + n * in, y.elements<float>() + n * out,
                   arriving.elements<float>() + n * out, result.elements<float>() + n * in);
      }
    });
  }
  return {result};
}

Relevances reduced_extreme(const Passage& p) {
  const Array& x = p.input(0);
  // Kept axes of size 1 let the output broadcast over the input; without them the sizes tell which axes are
  // gone.
  Array y = p.outputs[0], arriving = p.arriving();
  if (y.rank() != x.rank()) {
    Ints axes = p.node.integers("axes", {});
    if (p.has(1)) {
      const Array given = p.input(1).to(DType::int64).contiguous();
      axes.assign(given.elements<std::int64_t>(), given.elements<std::int64_t>() + given.count());
    }
    Ints kept = x.shape();
    if (axes.empty()) kept.assign(kept.size(), 1);
    for (const std::int64_t axis : axes) kept[axis < 0 ? axis + x.rank() : axis] = 1;
    y = y.reshape(kept);
    arriving = arriving.reshape(kept);
  }
  Ints reduced;
  for (std::int64_t a = 0; a < x.rank(); ++a) {
    if (y.size(a) != x.size(a)) reduced.push_back(a);
  }
  Array wins = x.eq(y).to(x.dtype());
  if (!p.maxima_share && !reduced.empty()) wins = first_of(wins, reduced);
  const Array count = reduced.empty() ? wins : wins.sum(reduced, /*keep=*/true);
  return {wins * share_of(arriving, count)};
}

}  // namespace assay::relevance::passing
