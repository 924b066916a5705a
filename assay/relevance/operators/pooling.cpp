// Winner takes all: relevance goes to the largest element of each window, equally among those that tie.

#include <ATen/ATen.h>

#include <limits>

#include "assay/engine/kernels/window.h"
#include "assay/relevance/operators/families.h"
#include "assay/relevance/stabilise.h"

namespace assay::passing {
namespace {

using operators::Ints;
using operators::Window;

// Slices of `padded`, one per element of the window: the elements with that offset in every place, shaped as the output.
class Offsets {
 public:
  Offsets(const Window& window, at::IntArrayRef places) : window_(window), places_(places.vec()), at_(window.rank(), 0) {}

  Tensor of(const Tensor& padded) const {
    Tensor view = padded;
    for (std::size_t a = 0; a < at_.size(); ++a) {
      const std::int64_t first = at_[a] * window_.dilation[a];
      view = at::slice(view, static_cast<std::int64_t>(a) + 2, first, first + (places_[a] - 1) * window_.stride[a] + 1,
                       window_.stride[a]);
    }
    return view;
  }
  // False after the last offset, when it starts again.
  bool next() {
    for (std::size_t a = at_.size(); a-- > 0;) {
      if (++at_[a] < window_.kernel[a]) return true;
      at_[a] = 0;
    }
    return false;
  }

 private:
  const Window& window_;
  Ints places_, at_;
};

// Padding at the end that makes the last window whole.
Ints whole_end(const Window& window, at::IntArrayRef sizes, at::IntArrayRef places) {
  Ints end(window.rank());
  for (std::size_t a = 0; a < end.size(); ++a) {
    end[a] = std::max<std::int64_t>(0, (places[a] - 1) * window.stride[a] + window.extent(a) - sizes[a] - window.begin[a]);
  }
  return end;
}

Ints negated(Ints values) {
  for (auto& value : values) value = -value;
  return values;
}

bool all_zero(const Ints& values) {
  return std::ranges::all_of(values, [](std::int64_t v) { return v == 0; });
}

}  // namespace

Relevances max_pool(const Passage& p) {
  const Tensor &x = p.input(0), &y = p.outputs[0];
  KernelContext context;
  const Window window = operators::read_window({p.node, p.inputs, context}, p.node.integers("kernel_shape", {}),
                                               operators::spatial_sizes(x));
  const Ints end = whole_end(window, x.sizes().slice(2), y.sizes().slice(2));
  const bool whole = all_zero(window.begin) && all_zero(end);
  const Tensor padded = whole ? x : operators::pad_spatial(x, window.begin, end, -std::numeric_limits<double>::infinity());
  Offsets offsets(window, y.sizes().slice(2));
  std::vector<Tensor> wins;
  Tensor count = at::zeros_like(y);
  do {
    wins.push_back((offsets.of(padded) == y).to(y.scalar_type()));
    count.add_(wins.back());
  } while (offsets.next());
  const Tensor share = share_of(p.arriving(), count);
  Tensor result = at::zeros_like(padded);
  for (const Tensor& win : wins) {
    offsets.of(result).add_(win.mul_(share));
    offsets.next();
  }
  return {whole ? result : operators::pad_spatial(result, negated(window.begin), negated(end), 0)};
}

Relevances reduced_extreme(const Passage& p) {
  const Tensor& x = p.input(0);
  // Kept axes of size 1 let the output broadcast over the input; without them the sizes tell which axes are gone.
  Tensor y = p.outputs[0], arriving = p.arriving();
  if (y.dim() != x.dim()) {
    Ints axes = p.node.integers("axes", {});
    if (p.has(1)) {
      const Tensor given = p.input(1).to(at::kCPU, at::kLong).contiguous();
      axes.assign(given.data_ptr<std::int64_t>(), given.data_ptr<std::int64_t>() + given.numel());
    }
    Ints kept = x.sizes().vec();
    if (axes.empty()) kept.assign(kept.size(), 1);
    for (const std::int64_t axis : axes) kept[static_cast<std::size_t>(axis < 0 ? axis + x.dim() : axis)] = 1;
    y = y.reshape(kept);
    arriving = arriving.reshape(kept);
  }
  const Tensor wins = (x == y).to(x.scalar_type());
  Ints reduced;
  for (std::int64_t a = 0; a < x.dim(); ++a) {
    if (y.size(a) != x.size(a)) reduced.push_back(a);
  }
  const Tensor count = reduced.empty() ? wins : wins.sum(reduced, /*keepdim=*/true);
  return {wins * share_of(arriving, count)};
}

}  // namespace assay::passing
