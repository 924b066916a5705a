// Layers that move elements around, and those that do nothing when a network is used.

#include <algorithm>
#include <limits>

#include "assay/model/keras/arrays.h"
#include "assay/model/keras/layers/layers.h"

namespace assay::keras {
namespace {

// Pairs (before, after) of a padding or cropping layer, one for each position axis: 1, [1, 2] or [[1, 1], [2,
// 2]].
std::vector<std::pair<std::int64_t, std::int64_t>> margins(const LayerBuilder& layer, const char* key,
                                                           std::size_t rank) {
  auto list = layer.config().integers(key);
  if (list.empty()) list = {1};
  for (const auto value : list) {
    if (value < 0) layer.invalid(fmt::format("'{}' is negative", key));
  }
  std::vector<std::pair<std::int64_t, std::int64_t>> result;
  for (std::size_t i = 0; i < rank; ++i) {
    if (list.size() == 1) {
      result.emplace_back(list[0], list[0]);
    } else if (list.size() == 2 * rank) {
      result.emplace_back(list[2 * i], list[2 * i + 1]);
    } else if (list.size() == rank) {
      result.emplace_back(list[i], list[i]);
    } else {
      layer.invalid(fmt::format("'{}' has {} numbers for {} axes", key, list.size(), rank));
    }
  }
  return result;
}

// The Keras axis of the first position.
std::size_t first_position(const LayerBuilder& layer) { return layer.channels_first_config() ? 2 : 1; }

// Positions times channels, in the order Keras would count them; -1 when unknown.
std::int64_t flat_size(const KerasTensor& x) {
  if (std::any_of(x.shape.begin() + 1, x.shape.end(), [](auto d) { return d < 0; })) return -1;
  return element_count(Shape(x.shape.begin() + 1, x.shape.end()));
}

}  // namespace

KerasTensors identity(LayerBuilder& layer, std::span<const KerasTensor> inputs) {
  const KerasTensor& x = layer.single(inputs);
  return {x.with(layer.add("Identity", "", {x.value}, {}, ""))};
}

KerasTensors dropout(LayerBuilder& layer, std::span<const KerasTensor> inputs) {
  const KerasTensor& x = layer.single(inputs);
  const double rate = layer.config().real("rate", 0.5);
  if (!(rate >= 0 && rate < 1)) layer.invalid(fmt::format("'rate' is {}", rate));
  const ValueId ratio = layer.constant("ratio", scalar(rate));
  return {x.with(layer.add("Dropout", "", {x.value, ratio}, {}, ""))};
}

KerasTensors flatten(LayerBuilder& layer, std::span<const KerasTensor> inputs) {
  KerasTensor x = layer.single(inputs);
  if (x.rank() == 1) {
    x.value = layer.add("Unsqueeze", "", {x.value, layer.constant("features", integers({1}))}, {}, "");
    x.shape.push_back(1);
    return {x};
  }
  const std::int64_t size = flat_size(x);
  // Keras counts position by position, also when data_format puts the channels first. Stored channel by
  // channel, the numbering differs unless there is one channel or one position.
  const bool first = x.rank() > 2 && layer.channels_first_config();
  if (first) x = layer.as_keras(x);
  if ((x.layout == Layout::channels_first && size < 0) || (first && size < 0)) {
    layer.invalid("the shape of its input must be known; give the model's Input a full shape");
  }
  KerasTensor result =
      x.with(layer.add("Flatten", "", {x.value}, {{"axis", std::int64_t{1}}}, "")).without_mask();
  result.shape = {x.shape[0], size};
  if (x.layout == Layout::flattened) return {result};
  result.layout = Layout::keras;
  if (x.layout != Layout::channels_first && !first) return {result};
  Shape block(x.shape.begin() + 1, x.shape.end());
  if (first) std::rotate(block.begin(), block.begin() + 1, block.end());
  if (block.back() == 1 || block.back() == size) return {result};
  result.layout = Layout::flattened;
  result.block = block;
  return {result};
}

KerasTensors reshape(LayerBuilder& layer, std::span<const KerasTensor> inputs) {
  const KerasTensor x = layer.as_keras(layer.single(inputs));
  Shape target = layer.config().integers("target_shape");
  if (target.size() > 7) layer.invalid("'target_shape' has more than 7 axes");
  const std::int64_t size = flat_size(x);
  std::int64_t known = 1;
  auto free = target.end();
  for (auto it = target.begin(); it != target.end(); ++it) {
    if (*it == -1 && free == target.end()) {
      free = it;
    } else if (*it < 1 || __builtin_mul_overflow(known, *it, &known)) {
      layer.invalid("'target_shape' is not a shape");
    }
  }
  if (size >= 0 && (free == target.end() ? known != size : size % known != 0)) {
    layer.invalid(fmt::format("{} elements cannot take shape {}", size, to_string(target)));
  }
  if (size >= 0 && free != target.end()) *free = size / known;
  KerasTensor result = x;
  result.shape = target;
  result.shape.insert(result.shape.begin(), x.shape[0]);
  target.insert(target.begin(), 0);
  result.value = layer.add("Reshape", "", {x.value, layer.constant("shape", integers(target))}, {}, "");
  return {result};
}

KerasTensors permute(LayerBuilder& layer, std::span<const KerasTensor> inputs) {
  const KerasTensor x = layer.as_keras(layer.single(inputs));
  auto order = layer.config().integers("dims");
  order.insert(order.begin(), 0);
  auto sorted = order;
  std::sort(sorted.begin(), sorted.end());
  bool good = order.size() == x.rank();
  for (std::size_t i = 0; good && i < sorted.size(); ++i) good = sorted[i] == static_cast<std::int64_t>(i);
  if (!good) layer.invalid(fmt::format("'dims' does not permute the axes of {}", to_string(x.shape)));
  KerasTensor result = x.with(layer.add("Transpose", "", {x.value}, {{"perm", order}}, ""));
  for (std::size_t i = 0; i < order.size(); ++i) result.shape[i] = x.shape[order[i]];
  return {result};
}

KerasTensors repeat_vector(LayerBuilder& layer, std::span<const KerasTensor> inputs) {
  const KerasTensor x = layer.as_keras(layer.single(inputs));
  layer.require_rank(x, 2);
  const std::int64_t count = layer.config().size("n", 0);
  const ValueId row =
      layer.add("Unsqueeze", "_row", {x.value, layer.constant("axis", integers({1}))}, {}, "_row");
  const ValueId shape = layer.constant("shape", integers({1, count, 1}));
  KerasTensor result = x.with(layer.add("Expand", "", {row, shape}, {}, ""));
  result.shape = {x.shape[0], count, x.shape[1]};
  return {result};
}

KerasTensors zero_padding(LayerBuilder& layer, std::span<const KerasTensor> inputs) {
  const std::size_t rank = spatial_rank(layer.class_name());
  const KerasTensor& x = layer.single(inputs);
  layer.require_rank(x, rank + 2);
  const auto pairs = margins(layer, "padding", rank);
  KerasTensor result = x;
  std::vector<std::int64_t> pads(2 * x.rank(), 0);
  for (std::size_t i = 0; i < rank; ++i) {
    const std::size_t axis = first_position(layer) + i;
    const std::size_t stored = stored_axis(x, axis);
    pads[stored] = pairs[i].first;
    pads[x.rank() + stored] = pairs[i].second;
    if (x.shape[axis] >= 0) result.shape[axis] = x.shape[axis] + pairs[i].first + pairs[i].second;
  }
  result.value = layer.add(
      "Pad", "", {x.value, layer.constant("pads", integers(pads)), layer.constant("zero", scalar(0))},
      {{"mode", std::string("constant")}}, "");
  return {result};
}

KerasTensors cropping(LayerBuilder& layer, std::span<const KerasTensor> inputs) {
  const std::size_t rank = spatial_rank(layer.class_name());
  const KerasTensor& x = layer.single(inputs);
  layer.require_rank(x, rank + 2);
  const auto pairs = margins(layer, "cropping", rank);
  KerasTensor result = x;
  std::vector<std::int64_t> starts, ends, axes;
  for (std::size_t i = 0; i < rank; ++i) {
    const std::size_t axis = first_position(layer) + i;
    const auto [before, after] = pairs[i];
    if (x.shape[axis] >= 0) {
      result.shape[axis] = x.shape[axis] - before - after;
      if (result.shape[axis] < 1)
        layer.invalid(fmt::format("crops all {} positions of axis {}", x.shape[axis], axis));
    }
    starts.push_back(before);
    ends.push_back(after == 0 ? std::numeric_limits<std::int64_t>::max() : -after);
    axes.push_back(stored_axis(x, axis));
  }
  result.value = layer.add("Slice", "",
                           {x.value, layer.constant("starts", integers(starts)),
                            layer.constant("ends", integers(ends)), layer.constant("axes", integers(axes))},
                           {}, "");
  return {result};
}

// Zeros where all features of a step have the mask's value.
KerasTensors masking(LayerBuilder& layer, std::span<const KerasTensor> inputs) {
  const KerasTensor x = layer.as_keras(layer.single(inputs));
  const auto masked = layer.config().single("mask_value", 0);
  const auto step = [&](const char* op, const char* suffix, std::vector<ValueId> operands) {
    return layer.add(op, suffix, std::move(operands), {}, suffix);
  };
  const ValueId equal = step("Equal", "_equal", {x.value, layer.constant("mask_value", scalar(masked))});
  const ValueId zero = layer.constant("zero", scalar(0)), one = layer.constant("one", scalar(1));
  const ValueId differs = step("Where", "_differs", {equal, zero, one});
  const ValueId seen = step("ReduceMax", "_seen", {differs, layer.constant("axes", integers({-1}))});
  KerasTensor result = x.with(step("Mul", "", {x.value, seen}));
  result.masked_by = layer.name();
  if (x.rank() == 3) {
    const ValueId flat =
        layer.add("Squeeze", "_flat", {seen, layer.constant("last", integers({-1}))}, {}, "_flat");
    result.mask = layer.add("Cast", "_mask", {flat}, {{"to", std::int64_t{7}}}, "_mask");  // 7: int64
  }
  return {result};
}

}  // namespace assay::keras
