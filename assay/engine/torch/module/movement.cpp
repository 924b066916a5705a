// What moves elements, repeats them or leaves some out.

#include <algorithm>
#include <array>
#include <string>

#include "assay/engine/torch/module/operators.h"

namespace assay::torch_module {
namespace {

// One axis of a Slice. Bounds out of range are moved to the nearest end, as in Python.
Tensor slice_axis(const Tensor& x, std::int64_t axis, std::int64_t start, std::int64_t end,
                  std::int64_t step) {
  const std::int64_t size = x.size(axis);
  step = std::clamp(step, -size, size);
  const auto bound = [&](std::int64_t position, std::int64_t low, std::int64_t high) {
    return std::clamp(position < 0 ? position + size : position, low, high);
  };
  if (step > 0) {
    const std::int64_t first = bound(start, 0, size);
    return at::slice(x, axis, first, std::max(first, bound(end, 0, size)), step);
  }
  const std::int64_t first = bound(start, 0, size - 1), last = bound(end, -1, size - 1);
  return at::index_select(x, axis,
                          at::arange(first, std::min(first, last), step, x.options().dtype(at::kLong)));
}

Tensor positions(const Ints& values, const Tensor& like) {
  return at::tensor(values, at::kLong).to(like.device());
}

// Amounts for both ends of every axis.
std::array<Ints, 2> amounts(const Form& form) {
  const auto rank = static_cast<std::size_t>(form.rank());
  const Ints given = form.parameter(1, {});
  Ints all(rank);
  for (std::size_t i = 0; i < rank; ++i) all[i] = static_cast<std::int64_t>(i);
  const Ints axes = form.axes(3, all);
  std::array<Ints, 2> ends{Ints(rank, 0), Ints(rank, 0)};
  for (std::size_t i = 0; i < axes.size(); ++i) {
    for (const std::size_t end : {0, 1})
      ends[end][static_cast<std::size_t>(axes[i])] = given.at(end * axes.size() + i);
  }
  return ends;
}

// Where the elements of a continued axis come from.
Ints sources(std::string_view mode, std::int64_t size, std::int64_t begin, std::int64_t end) {
  const std::int64_t period = mode == "wrap" ? size : std::max<std::int64_t>(1, 2 * (size - 1));
  Ints from;
  for (std::int64_t at = -begin; at < size + end; ++at) {
    const std::int64_t phase = ((at % period) + period) % period;
    from.push_back(mode == "edge"  ? std::clamp<std::int64_t>(at, 0, size - 1)
                   : phase >= size ? period - phase
                                   : phase);
  }
  return from;
}

struct Blocks {
  std::int64_t records, channels, height, width, block;
};
Blocks blocks_of(const Call& call) {
  const Tensor& x = call.x();
  return {x.size(0), x.size(1), x.size(2), x.size(3), call.integer("blocksize", 1)};
}

}  // namespace

// Elements in the order they have. The shape is known.
Outputs view(const Call& call) { return {call.x().reshape(call.whole_result())}; }

bool takes_cast(const Form& form) { return form.integer("to", 0) == 1; }

Outputs transpose(const Call& call) {
  Ints reversed;
  for (std::int64_t axis = call.rank(); axis-- > 0;) reversed.push_back(axis);
  return {call.x().permute(call.integers("perm", reversed))};
}

// All with records in front.
bool takes_several(const Form& form) {
  for (std::size_t i = 0; i < form.operands(); ++i)
    if (form.is_constant(i)) return false;
  return form.axis(0) != 0;
}

Outputs concatenation(const Call& call) {
  return {at::cat(at::TensorList(call.all().data(), call.all().size()), call.axis(0))};
}

Outputs split(const Call& call) {
  const std::int64_t axis = call.axis(0), size = call.x().size(axis);
  Ints sizes = call.parameter(1, {});
  if (sizes.empty()) {
    const auto parts = static_cast<std::int64_t>(call.results());
    const std::int64_t chunk = (size + parts - 1) / parts;
    for (std::int64_t done = 0; std::ssize(sizes) < parts; done += sizes.back())
      sizes.push_back(std::min(chunk, size - done));
  }
  return at::split_with_sizes(call.x(), sizes, axis);
}

bool takes_slice(const Form& form) {
  const Ints axes = form.axes(3, {0});
  return form.parameter(1, {}).size() == axes.size() && std::ranges::find(axes, 0) == axes.end();
}

Outputs slice(const Call& call) {
  const Ints starts = call.parameter(1, {}), ends = call.parameter(2, {}), axes = call.axes(3, {});
  const Ints steps = call.parameter(4, Ints(starts.size(), 1));
  Tensor x = call.x();
  for (std::size_t i = 0; i < starts.size(); ++i)
    x = slice_axis(x, axes[i], starts[i], ends.at(i), steps.at(i));
  return {x};
}

Outputs gather(const Call& call) {
  const std::int64_t axis = call.axis(0);
  Ints from = call.parameter(1, {});
  for (std::int64_t& position : from) position = Form::from_front(position, call.x().size(axis));
  return {at::index_select(call.x(), axis, positions(from, call.x())).reshape(call.whole_result())};
}

bool takes_pad(const Form& form) {
  const auto [begin, end] = amounts(form);
  if (begin[0] != 0 || end[0] != 0) return false;
  const auto negative = [](std::int64_t amount) { return amount < 0; };
  return form.text("mode", "constant") == "constant" ||
         (std::ranges::none_of(begin, negative) && std::ranges::none_of(end, negative));
}

Outputs pad(const Call& call) {
  const auto [begin, end] = amounts(call);
  const std::string mode = call.text("mode", "constant");
  if (mode == "constant") return {pad_ends(call.x(), begin, end, call.number(2, 0))};
  Tensor x = call.x();
  for (std::size_t i = 1; i < begin.size(); ++i) {
    if (begin[i] == 0 && end[i] == 0) continue;
    const auto axis = static_cast<std::int64_t>(i);
    x = at::index_select(x, axis, positions(sources(mode, x.size(axis), begin[i], end[i]), x));
  }
  return {x};
}

// A constant for every record.
Outputs repetition(const Call& call) { return {call.x().expand(call.whole_result())}; }

Outputs tile(const Call& call) { return {call.x().repeat(call.parameter(1, {}))}; }

// [n, c, h, w] to [n, c / b^2, h * b, w * b].
Outputs depth_to_space(const Call& call) {
  const auto [n, c, h, w, b] = blocks_of(call);
  const std::int64_t depth = c / (b * b);
  const Tensor blocks = call.text("mode", "DCR") == "DCR"
                            ? call.x().reshape({n, b, b, depth, h, w}).permute({0, 3, 4, 1, 5, 2})
                            : call.x().reshape({n, depth, b, b, h, w}).permute({0, 1, 4, 2, 5, 3});
  return {blocks.reshape({n, depth, h * b, w * b})};
}

Outputs space_to_depth(const Call& call) {
  const auto [n, c, h, w, b] = blocks_of(call);
  const Tensor apart = call.x().reshape({n, c, h / b, b, w / b, b});
  const Tensor blocks = call.text("mode", "DCR") == "DCR" ? apart.permute({0, 3, 5, 1, 2, 4})
                                                          : apart.permute({0, 1, 3, 5, 2, 4});
  return {blocks.reshape({n, c * b * b, h / b, w / b})};
}

Outputs triangle(const Call& call) {
  const auto k = call.parameter(1, {0}).at(0);
  return {call.integer("upper", 1) != 0 ? at::triu(call.x(), k) : at::tril(call.x(), k)};
}

}  // namespace assay::torch_module
