#include "assay/engine/reduce.h"

#include <ATen/ATen.h>

#include <algorithm>

#include <assay/session.h>

namespace assay {

Tensor arranged(const Tensor& value, const Layer& layer) {
  std::vector<std::int64_t> order{layer.batch_axis};
  for (const int axis : layer.neuron_axes) order.push_back(axis);
  std::int64_t neurons = 1, positions = 1;
  for (const int axis : layer.neuron_axes) neurons *= value.size(axis);
  for (int axis = 0; axis < value.dim(); ++axis) {
    if (std::ranges::find(order, axis) != order.end()) continue;
    order.push_back(axis);
    positions *= value.size(axis);
  }
  const std::int64_t records = value.size(layer.batch_axis) / layer.batch_multiple;
  return value.permute(order).reshape({records, layer.batch_multiple, neurons, positions});
}

Tensor reduce_to_neurons(const Tensor& value, const Layer& layer, Reduction reduction) {
  const Tensor all = arranged(value.to(at::kFloat), layer);
  const bool single = all.size(1) == 1 && all.size(3) == 1;
  if (single || all.numel() == 0) return all.reshape({all.size(0), all.size(1) * all.size(2) * all.size(3)});
  switch (reduction) {
    case Reduction::mean:
      return all.mean(at::IntArrayRef{1, 3});
    case Reduction::max:
      return all.amax(at::IntArrayRef{1, 3});
    case Reduction::min:
      return all.amin(at::IntArrayRef{1, 3});
    case Reduction::every_position:
      break;
  }
  return all.permute({0, 2, 1, 3}).reshape({all.size(0), all.size(1) * all.size(2) * all.size(3)});
}

}  // namespace assay
