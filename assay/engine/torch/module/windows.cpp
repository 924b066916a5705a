// What looks through windows: convolutions and pools. The program has resolved automatic padding and the
// last, partial window into attributes of its own: `left` and `right` (module.h).

#include <algorithm>
#include <limits>

#include "assay/engine/torch/module/operators.h"

namespace assay::torch_module {
namespace {

struct Windows {
  Ints kernel, strides, dilations, left, right;
  std::size_t axes() const { return kernel.size(); }
  std::int64_t extent(std::size_t axis) const { return (kernel[axis] - 1) * dilations[axis] + 1; }
};

Windows windows_of(const Form& form) {
  return {form.integers("kernel", {}), form.integers("steps", {}), form.integers("dilated", {}),
          form.integers("left", {}), form.integers("right", {})};
}

// Whether libtorch, which pads both ends alike, finds as many windows without more being padded or taken
// away.
bool pads_alike(const Windows& windows, const Form& form) {
  for (std::size_t i = 0; i < windows.axes(); ++i) {
    const std::int64_t span = form.shape(0)[i + 2] + 2 * windows.left[i] - windows.extent(i);
    if (windows.left[i] < 0 || span < 0 || span / windows.strides[i] + 1 != form.result()[i + 2])
      return false;
  }
  return true;
}

// Pools of one axis are those of two axes, the second of one position.
struct Flat {
  Tensor x;
  Windows windows;
  bool widened = false;
  Tensor back(const Tensor& result) const { return widened ? result.squeeze(-1) : result; }
};
Flat flat(const Tensor& x, Windows windows) {
  if (windows.axes() > 1) return {x, std::move(windows), false};
  for (Ints* const ones : {&windows.kernel, &windows.strides, &windows.dilations}) ones->push_back(1);
  for (Ints* const zeros : {&windows.left, &windows.right}) zeros->push_back(0);
  return {x.unsqueeze(-1), std::move(windows), true};
}

// Sums of all windows of what has been padded.
Tensor window_sums(const Tensor& padded, const Windows& windows) {
  if (windows.axes() == 3) return at::avg_pool3d(padded, windows.kernel, windows.strides, 0, false, true, 1);
  return at::avg_pool2d(padded, windows.kernel, windows.strides, 0, false, true, 1);
}

Ints negative(Ints values) {
  for (std::int64_t& value : values) value = -value;
  return values;
}

}  // namespace

bool takes_convolution(const Form& form) { return form.rank() >= 3 && form.rank() <= 5; }

Outputs convolution(const Call& call) {
  const Windows windows = windows_of(call);
  const std::int64_t group = call.integer("group", 1);
  const Ints zeros(windows.axes(), 0);
  const bool alike = pads_alike(windows, call);
  const Tensor x = alike ? call.x() : pad_ends(call.x(), windows.left, windows.right, 0);
  return {at::convolution(x, call.x(1), call.optional(2), windows.strides, alike ? windows.left : zeros,
                          windows.dilations, false, zeros, group)};
}

Outputs transposed_convolution(const Call& call) {
  const Windows windows = windows_of(call);
  const Ints zeros(windows.axes(), 0);
  Ints end;  // taken away; negative: filled up
  for (std::size_t i = 0; i < windows.axes(); ++i) {
    const std::int64_t all = (call.shape(0)[i + 2] - 1) * windows.strides[i] + windows.extent(i);
    end.push_back(all - windows.left[i] - call.result()[i + 2]);
  }
  Tensor full = at::convolution(call.x(), call.x(1), {}, windows.strides, zeros, windows.dilations, true,
                                zeros, call.integer("group", 1));
  full = pad_ends(full, negative(windows.left), negative(end), 0);
  if (!call.has(2)) return {full};
  Ints channels(static_cast<std::size_t>(full.dim()), 1);
  channels[1] = -1;
  return {full + call.x(2).reshape(channels)};
}

Outputs max_pool(const Call& call) {
  const Windows own = windows_of(call);
  constexpr double least = -std::numeric_limits<double>::infinity();
  const auto [x, windows, widened] = flat(pad_ends(call.x(), own.left, own.right, least), own);
  const auto& [kernel, strides, dilations, left, right] = windows;
  if (windows.axes() == 3) return {at::max_pool3d(x, kernel, strides, 0, dilations, false)};
  const Tensor pooled = at::max_pool2d(x, kernel, strides, 0, dilations, false);
  return {widened ? pooled.squeeze(-1) : pooled};
}

// What is averaged over where a partial window and padding both count is left to others.
bool takes_average_pool(const Form& form) {
  const Ints dilations = form.integers("dilated", {});
  return std::ranges::all_of(dilations, [](std::int64_t d) { return d == 1; }) &&
         !(form.integer("ceil_mode", 0) != 0 && form.integer("count_include_pad", 0) != 0);
}

Outputs average_pool(const Call& call) {
  const Windows own = windows_of(call);
  const bool with_padding = call.integer("count_include_pad", 0) != 0;
  const Flat padded = flat(pad_ends(call.x(), own.left, own.right, 0), own);
  const Tensor sums = window_sums(padded.x, padded.windows);
  Ints one(call.shape(0).begin(), call.shape(0).end());
  one[0] = one[1] = 1;
  const Tensor counted =
      flat(pad_ends(at::ones(one, call.x().options()), own.left, own.right, with_padding ? 1 : 0), own).x;
  return {padded.back(sums / at::clamp_min(window_sums(counted, padded.windows), 1))};
}

Outputs global_average_pool(const Call& call) {
  return {at::mean(call.x().flatten(2), -1).reshape(call.whole_result())};
}

// Of equal elements the first has the gradient.
Outputs global_max_pool(const Call& call) {
  return {std::get<0>(at::max(call.x().flatten(2), -1)).reshape(call.whole_result())};
}

}  // namespace assay::torch_module
