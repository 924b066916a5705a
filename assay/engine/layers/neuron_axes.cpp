#include "assay/engine/layers/neuron_axes.h"

#include <assay/array_math.h>

#include <algorithm>
#include <numeric>

#include <assay/extend/operator_traits.h>

namespace assay::inline engine {
namespace {

using Axes = std::vector<int>;

// Where nothing else is known: features of a table, vectors of a sequence, channels of an image; the only
// axis of more than one element where that one has a single element (a column [n, 50, 1], features [n, 1, 1,
// 50]).
Axes usual_axes(const ValueInfo& info) {
  const std::size_t rank = info.shape.size();
  if (rank < 2) return {};
  const std::size_t usual = rank == 3 ? 2 : 1;
  if (info.shape[usual] != 1) return {static_cast<int>(usual)};
  Axes longer;
  for (std::size_t i = 0; i < rank; ++i) {
    if (info.shape[i] != 1 && static_cast<int>(i) != info.batch_axis) longer.push_back(static_cast<int>(i));
  }
  return longer.size() == 1 ? longer : Axes{static_cast<int>(usual)};
}

Axes recurrent_axes(const Node& node, std::size_t output) {
  const bool batch_first = node.integer("layout", 0) == 1;  // directions after time or batch
  if (output == 0) return batch_first ? Axes{2, 3} : Axes{1, 3};
  return batch_first ? Axes{1, 2} : Axes{0, 2};
}

Axes permuted(const Axes& axes, const std::vector<std::int64_t>& permutation) {
  Axes result;
  for (std::size_t to = 0; to < permutation.size(); ++to) {
    if (std::ranges::find(axes, static_cast<int>(permutation[to])) != axes.end())
      result.push_back(static_cast<int>(to));
  }
  return result;
}

// Axes named by the second input or the attribute, in [0, rank); empty when they are computed by the network.
Axes named_axes(const Node& node, const Constants& constants, std::size_t rank) {
  std::vector<std::int64_t> axes = node.integers("axes", {});
  if (node.inputs.size() > 1 && node.inputs[1] != no_value) {
    if (!constants.has(node.inputs[1])) return {};
    const Array given = constants.values()[index_of(node.inputs[1])].to(DType::int64).contiguous();
    axes.assign(given.elements<std::int64_t>(), given.elements<std::int64_t>() + given.count());
  }
  Axes result;
  for (const std::int64_t axis : axes) {
    result.push_back(static_cast<int>(axis < 0 ? axis + static_cast<std::int64_t>(rank) : axis));
  }
  std::ranges::sort(result);
  return result;
}

Axes without(const Axes& axes, const Axes& removed) {
  Axes result;
  for (const int axis : axes) {
    if (std::ranges::find(removed, axis) != removed.end()) continue;
    result.push_back(axis -
                     static_cast<int>(std::ranges::count_if(removed, [&](int r) { return r < axis; })));
  }
  return result;
}

Axes with(Axes axes, const Axes& inserted) {
  for (const int at : inserted) {
    for (int& axis : axes) axis += axis >= at;
  }
  return axes;
}

class Finder {
 public:
  Finder(const Graph& graph, const Constants& constants, std::span<const ValueInfo> infos)
      : graph_(graph), constants_(constants), infos_(infos), axes_(infos.size()) {}

  std::vector<Axes> find() {
    for (const ValueId id : graph_.inputs()) set(id, usual_axes(info(id)));
    for (const Node& node : graph_.nodes()) {
      for (std::size_t o = 0; o < node.outputs.size(); ++o) {
        if (node.outputs[o] != no_value) set(node.outputs[o], of_output(node, o));
      }
    }
    return std::move(axes_);
  }

 private:
  const ValueInfo& info(ValueId id) const { return infos_[index_of(id)]; }
  std::size_t rank(ValueId id) const { return info(id).shape.size(); }

  void set(ValueId id, Axes axes) {
    if (info(id).batch_axis < 0) return;
    std::erase(axes, info(id).batch_axis);
    axes_[index_of(id)] = std::move(axes);
  }

  // The first input that depends on the batch.
  ValueId data(const Node& node) const {
    const auto found = std::ranges::find_if(
        node.inputs, [&](ValueId id) { return id != no_value && info(id).batch_axis >= 0; });
    return found == node.inputs.end() ? no_value : *found;
  }

  Axes of_output(const Node& node, std::size_t output) const {
    const std::size_t out_rank = rank(node.outputs[output]);
    if (is_recurrent(node.op)) return recurrent_axes(node, output);
    if (is_convolution(node.op)) return {1};
    if (is_dense(node.op)) return {static_cast<int>(out_rank) - (has_weights_in_front(node) ? 2 : 1)};
    const ValueId source = data(node);
    if (source == no_value) return usual_axes(info(node.outputs[output]));
    const Axes& before = axes_[index_of(source)];
    const std::size_t in_rank = rank(source);
    if (node.op == "Transpose") {
      std::vector<std::int64_t> reversed(in_rank);
      std::iota(reversed.rbegin(), reversed.rend(), 0);
      return permuted(before, node.integers("perm", reversed));
    }
    if (node.op == "Squeeze") return squeezed(node, before, source);
    if (node.op == "Unsqueeze") return with(before, named_axes(node, constants_, out_rank));
    if (is_reduction(node.op) && out_rank < in_rank)
      return without(before, named_axes(node, constants_, in_rank));
    if (node.op == "Gather" && constants_.has(node.inputs[0])) return {static_cast<int>(out_rank) - 1};
    const bool reshapes = has_trait(node.op, Trait::reshapes);
    const bool same = info(source).shape == info(node.outputs[output]).shape;
    if (in_rank == out_rank && (same || !reshapes)) return before;
    return usual_axes(info(node.outputs[output]));
  }

  // A matrix of weights times columns of activations.
  bool has_weights_in_front(const Node& node) const {
    return node.op != "Einsum" && constants_.has(node.inputs[0]) && rank(node.inputs[0]) > 1 &&
           rank(node.inputs[1]) > 1;
  }

  Axes squeezed(const Node& node, const Axes& before, ValueId source) const {
    Axes removed = named_axes(node, constants_, rank(source));
    if (removed.empty()) {
      const ValueInfo& from = info(source);
      for (std::size_t i = 0; i < from.shape.size(); ++i) {
        if (from.shape[i] == 1 && static_cast<int>(i) != from.batch_axis)
          removed.push_back(static_cast<int>(i));
      }
    }
    return without(before, removed);
  }

  const Graph& graph_;
  const Constants& constants_;
  std::span<const ValueInfo> infos_;
  std::vector<Axes> axes_;
};

}  // namespace

std::vector<std::vector<int>> find_neuron_axes(const Graph& graph, const Constants& constants,
                                               std::span<const ValueInfo> infos) {
  return Finder(graph, constants, infos).find();
}

}  // namespace assay::inline engine
