// Pad: constants, reflections, repeated edges or wrapped content around a tensor; negative amounts crop.

#include <algorithm>

#include "assay/engine/operators/parts/support.h"

namespace assay::operators {
namespace {

struct Padding {
  Ints begin, end;  // per axis of the input
};

Padding read_padding(const Call& call, std::int64_t rank) {
  const Ints amounts = call.integers(1), axes = call.axes(3, rank, all_axes(rank));
  if (amounts.size() != 2 * axes.size()) {
    fail(Fault::model, "{} amounts are given to pad {} axes; {} are needed", amounts.size(), axes.size(),
         2 * axes.size());
  }
  for (const auto amount : amounts)
    require_in("a padding", amount, -(std::int64_t{1} << 40), std::int64_t{1} << 40);
  Padding padding{Ints(rank, 0), Ints(rank, 0)};
  for (std::size_t i = 0; i < axes.size(); ++i) {
    padding.begin[axes[i]] = amounts[i];
    padding.end[axes[i]] = amounts[axes.size() + i];
  }
  return padding;
}

// Where along an axis of `size` positions the elements of the padded axis come from.
Array sources(const std::string& mode, std::int64_t size, std::int64_t begin, std::int64_t end) {
  const Array position = array::arange(-begin, size + end, DType::int64);
  if (mode == "edge") return array::clamp(position, 0, size - 1);
  if (mode == "wrap") return array::remainder(position, size);
  const std::int64_t period = std::max<std::int64_t>(1, 2 * (size - 1));
  const Array phase = array::remainder(position, period);
  return array::where(phase >= size, period - phase, phase);
}

Array pad_constant(const Call& call, const Array& x, const Padding& padding) {
  Ints pads;  // from the last axis
  for (std::size_t i = padding.begin.size(); i-- > 0;)
    pads.insert(pads.end(), {padding.begin[i], padding.end[i]});
  if (is_integral(x)) return array::pad(x, pads, call.integer(2, 0));
  return array::pad(x, pads, call.number(2, 0));
}

// Number of elements removed at an end.
Ints cropped(Ints amounts) {
  for (std::int64_t& amount : amounts) amount = std::min<std::int64_t>(amount, 0);
  return amounts;
}

}  // namespace

Outputs pad(const Call& call) {
  Array x = call.input(0);
  const Padding padding = read_padding(call, x.rank());
  Ints shape = x.shape();
  for (std::size_t i = 0; i < shape.size(); ++i) {
    shape[i] += padding.begin[i] + padding.end[i];
    if (shape[i] < 0) fail(Fault::model, "axis {} is cropped to {} positions", i, shape[i]);
  }
  check_size(shape, size_of(x.dtype()));
  const std::string mode = call.node.text("mode", "constant");
  if (mode == "constant") return {pad_constant(call, x, padding)};
  if (mode != "reflect" && mode != "edge" && mode != "wrap") {
    fail(Fault::model, "mode '{}' is not constant, reflect, edge or wrap", mode);
  }
  // Removed elements are not continued or wrapped.
  x = pad_constant(call, x, {cropped(padding.begin), cropped(padding.end)});
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const std::int64_t begin = std::max<std::int64_t>(padding.begin[i], 0),
                       end = std::max<std::int64_t>(padding.end[i], 0);
    if (begin == 0 && end == 0) continue;
    const std::int64_t axis = i;
    if (x.size(axis) == 0) fail(Fault::model, "axis {} is empty and cannot be continued", i);
    x = array::index_select(x, axis, sources(mode, x.size(axis), begin, end));
  }
  return {x};
}

}  // namespace assay::operators
