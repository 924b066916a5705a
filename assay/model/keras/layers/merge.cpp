// Layers of several inputs.

#include <algorithm>
#include <numeric>

#include "assay/model/keras/arrays.h"
#include "assay/model/keras/layers/layers.h"

namespace assay::keras {
namespace {

// A dimension of two tensors that broadcast; -1 when unknown.
std::int64_t broadcast(const LayerBuilder& layer, std::int64_t a, std::int64_t b) {
  if (a == b || b == 1) return a;
  if (a == 1) return b;
  if (a < 0 || b < 0) return std::max(a, b);
  layer.invalid(fmt::format("its inputs have sizes {} and {} along one axis", a, b));
}

// Inserts axes of size 1 after the batch, as Keras does for inputs of lower rank.
KerasTensor raise_rank(LayerBuilder& layer, const KerasTensor& x, std::size_t rank) {
  if (x.rank() == rank) return x;
  KerasTensor result = layer.as_keras(x);
  std::vector<std::int64_t> axes(rank - x.rank());
  std::iota(axes.begin(), axes.end(), 1);
  result.value = layer.add("Unsqueeze", "_raise",
                           {result.value, layer.constant("raise_axes", integers(axes))}, {}, "_raise");
  result.shape.insert(result.shape.begin() + 1, axes.size(), 1);
  return result;
}

// The inputs, all stored alike and of one rank.
KerasTensors aligned(LayerBuilder& layer, std::span<const KerasTensor> inputs, bool keep_flattened) {
  if (inputs.empty()) layer.invalid("is called without tensors");
  std::size_t rank = 0;
  for (const KerasTensor& x : inputs) rank = std::max(rank, x.rank());
  const auto flat_alike = [&](const KerasTensor& x) {
    return x.layout == Layout::flattened && x.block == inputs.front().block;
  };
  const bool all_flat = std::all_of(inputs.begin(), inputs.end(), flat_alike);
  const bool any_channels_first = std::any_of(
      inputs.begin(), inputs.end(), [](const auto& x) { return x.layout == Layout::channels_first; });
  KerasTensors result;
  for (const KerasTensor& x : inputs) {
    if (all_flat && keep_flattened) {
      result.push_back(x);
    } else if (any_channels_first) {
      result.push_back(layer.as_channels_first(raise_rank(layer, x, rank)));
    } else {
      result.push_back(raise_rank(layer, layer.as_keras(x), rank));
    }
  }
  return result;
}

// Which steps count is known where all tensors have one mask: of several, or of some without one, versions of
// Keras make different things.
void join_masks(KerasTensor& result, const KerasTensor& other) {
  if (result.masked_by.empty()) result.masked_by = other.masked_by;
  if (result.mask != other.mask) result.mask = no_value;
}

KerasTensor merged_like(const LayerBuilder& layer, const KerasTensors& inputs) {
  KerasTensor result = inputs.front();
  for (const KerasTensor& x : inputs) {
    for (std::size_t axis = 0; axis < x.rank(); ++axis) {
      result.shape[axis] = broadcast(layer, result.shape[axis], x.shape[axis]);
    }
    join_masks(result, x);
  }
  return result;
}

// A chain of two-input operators; the last one takes the layer's name.
KerasTensors fold(LayerBuilder& layer, std::span<const KerasTensor> inputs, const char* op,
                  bool averaged = false) {
  const KerasTensors parts = aligned(layer, inputs, true);
  KerasTensor result = merged_like(layer, parts);
  result.value = parts.front().value;
  if (parts.size() == 1 && !averaged) {
    result.value = layer.add("Identity", "", {result.value}, {}, "");
    return {result};
  }
  for (std::size_t i = 1; i < parts.size(); ++i) {
    const bool last = i + 1 == parts.size() && !averaged;
    const std::string suffix = last ? "" : fmt::format("_part{}", i);
    result.value = layer.add(op, suffix, {result.value, parts[i].value}, {}, suffix);
  }
  if (averaged) {
    const ValueId share = layer.constant("share", scalar(1.0F / static_cast<float>(parts.size())));
    result.value = layer.add("Mul", "", {result.value, share}, {}, "");
  }
  return {result};
}

// x / |x| along an axis, with a length of at least 1e-6.
ValueId normalised(LayerBuilder& layer, ValueId x, std::int64_t axis, const std::string& name) {
  const auto step = [&](const char* op, const std::string& suffix, std::vector<ValueId> operands) {
    return layer.add(op, name + suffix, std::move(operands), {}, name + suffix);
  };
  const ValueId axes = layer.constant(name.substr(1) + "_axes", integers({axis}));
  const ValueId sum = step("ReduceSum", "_sum", {step("Mul", "_square", {x, x}), axes});
  const ValueId above = step("Max", "_above", {sum, layer.constant("least", scalar(1e-12F))});
  return step("Div", "_normal", {x, step("Sqrt", "_length", {above})});
}

}  // namespace

KerasTensors add(LayerBuilder& layer, std::span<const KerasTensor> inputs) {
  return fold(layer, inputs, "Add");
}
KerasTensors multiply(LayerBuilder& layer, std::span<const KerasTensor> inputs) {
  return fold(layer, inputs, "Mul");
}
KerasTensors maximum(LayerBuilder& layer, std::span<const KerasTensor> inputs) {
  return fold(layer, inputs, "Max");
}
KerasTensors minimum(LayerBuilder& layer, std::span<const KerasTensor> inputs) {
  return fold(layer, inputs, "Min");
}
KerasTensors average(LayerBuilder& layer, std::span<const KerasTensor> inputs) {
  return fold(layer, inputs, "Add", true);
}
KerasTensors subtract(LayerBuilder& layer, std::span<const KerasTensor> inputs) {
  if (inputs.size() != 2)
    layer.invalid(fmt::format("is called with {} tensors instead of two", inputs.size()));
  return fold(layer, inputs, "Sub");
}

KerasTensors concatenate(LayerBuilder& layer, std::span<const KerasTensor> inputs) {
  const KerasTensors parts = aligned(layer, inputs, false);
  const std::size_t axis = layer.keras_axis(layer.config().integer("axis", -1), parts.front().rank());
  KerasTensor result = parts.front();
  std::vector<ValueId> values;
  std::int64_t total = 0;
  for (std::size_t p = 0; p < parts.size(); ++p) {
    const KerasTensor& x = parts[p];
    if (inputs[p].rank() != inputs.front().rank()) layer.invalid("its inputs have different ranks");
    for (std::size_t i = 0; i < x.rank(); ++i) {
      const bool fits = i == axis || x.shape[i] < 0 || result.shape[i] < 0 || x.shape[i] == result.shape[i];
      if (!fits) {
        layer.invalid(fmt::format("shapes {} and {} differ outside axis {}", to_string(result.shape),
                                  to_string(x.shape), axis));
      }
      if (i != axis) result.shape[i] = std::max(result.shape[i], x.shape[i]);
    }
    total = total < 0 || x.shape[axis] < 0 ? -1 : total + x.shape[axis];
    values.push_back(x.value);
    join_masks(result, x);
  }
  if (axis + 1 != result.rank()) result.mask = no_value;  // steps of several tensors
  result.shape[axis] = total;
  result.value = layer.add("Concat", "", values, {{"axis", stored_axis(result, axis)}}, "");
  return {result};
}

// Contracts one axis of each of two tensors.
KerasTensors dot(LayerBuilder& layer, std::span<const KerasTensor> inputs) {
  if (inputs.size() != 2)
    layer.invalid(fmt::format("is called with {} tensors instead of two", inputs.size()));
  KerasTensor a = layer.as_keras(inputs[0]), b = layer.as_keras(inputs[1]);
  auto axes = layer.config().integers("axes");
  if (axes.size() == 1) axes.push_back(axes[0]);
  if (axes.size() != 2) layer.invalid("'axes' names neither one axis nor two");
  const std::size_t left = layer.keras_axis(axes[0], a.rank()), right = layer.keras_axis(axes[1], b.rank());
  if (left == 0 || right == 0) layer.invalid("contracts the batch axis");
  if (broadcast(layer, a.shape[left], b.shape[right]) < 0) layer.invalid("the contracted axis must be known");
  if (layer.config().flag("normalize", false)) {
    a.value = normalised(layer, a.value, left, "_left");
    b.value = normalised(layer, b.value, right, "_right");
  }
  if (a.rank() == 2 && b.rank() == 2) {
    const ValueId product = layer.add("Mul", "_product", {a.value, b.value}, {}, "_product");
    KerasTensor result = a.with(layer.add("ReduceSum", "", {product, layer.constant("axes", integers({1}))},
                                          {{"keepdims", std::int64_t{1}}}, ""));
    result.shape = {a.shape[0], 1};
    return {result};
  }
  if (a.rank() > 3 || b.rank() > 3 || a.rank() < 2 || b.rank() < 2)
    layer.unsupported("ranks beyond 3", "reshape before");
  const auto swap = [&](KerasTensor& x, const char* name) {
    x.value = layer.add("Transpose", name, {x.value}, {{"perm", std::vector<std::int64_t>{0, 2, 1}}}, name);
    std::swap(x.shape[1], x.shape[2]);
  };
  // A vector is a matrix of one row (on the left) or one column; that axis goes again after the product.
  const auto raise = [&](KerasTensor& x, std::int64_t axis, const char* name) {
    x.value = layer.add("Unsqueeze", name,
                        {x.value, layer.constant(std::string(name).substr(1) + "_axis", integers({axis}))},
                        {}, name);
    x.shape.insert(x.shape.begin() + axis, 1);
  };
  const bool row = a.rank() == 2, column = b.rank() == 2;
  if (row) raise(a, 1, "_row");
  if (column) raise(b, 2, "_column");
  if (!row && left == 1) swap(a, "_turned_left");
  if (!column && right == 2) swap(b, "_turned_right");
  const std::string_view suffix = row || column ? "_product" : "";
  KerasTensor result = a.with(layer.add("MatMul", suffix, {a.value, b.value}, {}, suffix)).without_mask();
  result.shape = {a.shape[0], a.shape[1], b.shape[2]};
  if (row || column) {
    const std::int64_t axis = row ? 1 : 2;
    result.value =
        layer.add("Squeeze", "", {result.value, layer.constant("vector_axis", integers({axis}))}, {}, "");
    result.shape.erase(result.shape.begin() + axis);
  }
  return {result};
}

// x + scale * y, the end of a block of Inception-ResNet
KerasTensors scaled_sum(LayerBuilder& layer, std::span<const KerasTensor> inputs) {
  if (inputs.size() != 2)
    layer.invalid(fmt::format("is called with {} tensors instead of two", inputs.size()));
  KerasTensors parts = aligned(layer, inputs, true);
  const auto scale = layer.config().single("scale", 1);
  parts[1].value =
      layer.add("Mul", "_scaled", {parts[1].value, layer.constant("scale", scalar(scale))}, {}, "_scaled");
  KerasTensor result = merged_like(layer, parts);
  result.value = layer.add("Add", "", {parts[0].value, parts[1].value}, {}, "");
  return {result};
}

}  // namespace assay::keras
