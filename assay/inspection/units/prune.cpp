#include "assay/inspection/units/prune.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include <assay/error.h>
#include <assay/extend/operator_traits.h>
#include <assay/extend/random.h>
#include <assay/model.h>

namespace assay::inspection {
namespace {

using Ints = std::vector<std::int64_t>;

constexpr std::uint64_t prune_stream = 0x7072756e65;

// The entries of an array at `kept` along an axis.
Array sliced(const Array& array, std::size_t axis, const std::vector<std::size_t>& kept) {
  Shape shape = array.shape();
  std::size_t outer = 1, inner = size_of(array.dtype());
  for (std::size_t i = 0; i < axis; ++i) outer *= static_cast<std::size_t>(shape[i]);
  for (std::size_t i = axis + 1; i < shape.size(); ++i) inner *= static_cast<std::size_t>(shape[i]);
  const std::size_t row = static_cast<std::size_t>(shape[axis]) * inner;
  std::vector<std::byte> bytes;
  for (std::size_t o = 0; o < outer; ++o) {
    for (const std::size_t k : kept) {
      const std::byte* const from = array.data() + o * row + k * inner;
      bytes.insert(bytes.end(), from, from + inner);
    }
  }
  shape[axis] = kept.size();
  return Array(array.dtype(), std::move(shape), std::move(bytes));
}

void require_some_units(const Layer& layer, const std::vector<std::size_t>& units) {
  if (units.empty()) fail(Fault::usage, "which units of layer '{}'?", layer.name);
  const std::size_t most = *std::ranges::max_element(units);
  if (static_cast<std::int64_t>(most) >= layer.neurons)
    fail(Fault::usage, "layer '{}' has no unit {}; its units are 0 to {}", layer.name, most,
         layer.neurons - 1);
}

// Takes units out of a layer and follows them to all that read them, in the order of computation.
class Remover {
 public:
  Remover(const Session& session, const Layer& layer, const std::vector<std::size_t>& units)
      : session_(session), graph_(session.graph()), layer_(layer), edit_(graph_) {
    const std::set<std::size_t> gone(units.begin(), units.end());
    for (std::size_t u = 0; u < static_cast<std::size_t>(layer.neurons); ++u) {
      if (!gone.contains(u)) kept_.push_back(u);
    }
    if (kept_.empty())
      fail(Fault::usage, "layer '{}' would have no unit left; leave at least one", layer.name);
  }

  Graph remove() {
    take_out();
    for (const NodeId node_id : graph_.node_ids()) {
      if (std::ranges::any_of(node(node_id).inputs, [&](ValueId id) { return cuts_.contains(id); }))
        follow(node_id);
    }
    for (const auto& [value, cut] : cuts_) require_followed(value);
    return edit_.build();
  }

 private:
  // How a value is smaller: the entries of an axis that are left, of `size`.
  struct Cut {
    std::size_t axis = 1, size = 0;
    std::vector<std::size_t> kept = {};
    friend bool operator==(const Cut&, const Cut&) = default;
  };

  const Node& node(NodeId node_id) const { return graph_.node(node_id); }
  std::size_t rank_of(ValueId id) const { return session_.shape(id).size(); }
  const Cut* cut_of(ValueId id) const {
    const auto found = cuts_.find(id);
    return found == cuts_.end() ? nullptr : &found->second;
  }

  [[noreturn]] void cannot(const Node& at, std::string_view why) const {
    fail(Fault::unsupported, "the units of layer '{}' cannot be taken out: {} {}; mask them instead",
         layer_.name, at.describe(), why);
  }

  // Outputs keep their shape, and bodies of loops and branches are not followed.
  void require_followed(ValueId value) const {
    if (std::ranges::find(graph_.outputs(), value) != graph_.outputs().end())
      fail(Fault::unsupported,
           "the units of layer '{}' are an output of the network ('{}'), which must keep its shape",
           layer_.name, graph_.value(value).name);
    for (const NodeId reader : graph_.consumers(value)) {
      if (std::ranges::find(node(reader).inputs, value) == node(reader).inputs.end())
        cannot(node(reader), "reads them in its body");
    }
  }

  // Weights that a node reads, cut along an axis; other readers keep theirs.
  void cut_weights(NodeId node_id, std::size_t i, std::size_t axis, const Cut& cut) {
    Node changed = edit_.node(node_id);
    const ValueId id = changed.inputs.at(i);
    if (!graph_.is_constant(id)) cannot(node(node_id), "has weights that are computed");
    const Array& array = graph_.constant(id);
    if (axis >= array.shape().size() || array.shape()[axis] != static_cast<std::int64_t>(cut.size))
      cannot(node(node_id), "has weights of another shape");
    const std::string name = edit_.unused_name(graph_.value(id).name + "_pruned");
    changed.inputs[i] = edit_.constant(name, sliced(array, axis, cut.kept));
    edit_.replace_node(node_id, std::move(changed));
  }

  void take_out() {
    const NodeId node_id = layer_.node;
    const Node& at = node(node_id);
    Cut cut{1, static_cast<std::size_t>(layer_.neurons), kept_};
    if (at.op == "Conv") {
      if (at.integer("group", 1) != 1) cannot(at, "keeps groups of channels apart");
      cut_weights(node_id, 1, 0, cut);
      if (has_input(at, 2)) cut_weights(node_id, 2, 0, cut);
    } else if (at.op == "Gemm" && graph_.is_constant(at.inputs[1])) {
      cut_weights(node_id, 1, at.integer("transB", 0) != 0 ? 0 : 1, cut);
      if (has_input(at, 2)) cut_broadcast(node_id, 2, at.outputs[0], cut);
    } else if (at.op == "MatMul" && is_matrix(at.inputs[1])) {
      cut_weights(node_id, 1, 1, cut);
      cut.axis = rank_of(at.outputs[0]) - 1;
    } else if (at.op == "MatMul" && is_matrix(at.inputs[0])) {  // weights times columns of activations
      cut_weights(node_id, 0, 0, cut);
      cut.axis = rank_of(at.outputs[0]) - 2;
    } else {
      cannot(at, "is neither a convolution nor a dense layer");
    }
    cuts_[at.outputs[0]] = std::move(cut);
  }

  static bool has_input(const Node& at, std::size_t i) {
    return at.inputs.size() > i && at.inputs[i] != no_value;
  }

  bool is_matrix(ValueId id) const {
    return graph_.is_constant(id) && graph_.constant(id).shape().size() == 2;
  }

  // A constant that is broadcast to the value's shape: cut where it has an entry for each of the value's.
  void cut_broadcast(NodeId node_id, std::size_t i, ValueId value, const Cut& cut) {
    const ValueId id = node(node_id).inputs.at(i);
    if (!graph_.is_constant(id)) cannot(node(node_id), "has weights that are computed");
    const Shape& shape = graph_.constant(id).shape();
    const std::size_t rank = rank_of(value);
    if (shape.size() + cut.axis < rank) return;
    const std::size_t axis = cut.axis + shape.size() - rank;
    if (shape[axis] != 1) cut_weights(node_id, i, axis, cut);
  }

  // An elementwise operator: all that is computed is cut alike, such as x and sigmoid(x), or has one entry
  // for all units.
  void join(NodeId node_id) {
    const Node& at = node(node_id);
    const ValueId made = at.outputs[0];
    const std::size_t rank = rank_of(made);
    std::optional<Cut> joined;
    for (const ValueId id : at.inputs) {
      const Cut* const cut = id == no_value ? nullptr : cut_of(id);
      if (cut == nullptr) continue;
      Cut aligned = *cut;
      aligned.axis += rank - rank_of(id);
      if (joined && aligned != *joined) cannot(at, "joins units that are not the same");
      joined = std::move(aligned);
    }
    for (std::size_t i = 0; i < at.inputs.size(); ++i) {
      const ValueId id = at.inputs[i];
      if (id == no_value || cut_of(id) != nullptr) continue;
      if (graph_.is_constant(id))
        cut_broadcast(node_id, i, made, *joined);
      else if (has_entries_along(id, joined->axis, rank))
        cannot(at, "joins them with units of other layers");
    }
    go_on(at, *joined);
  }

  // Whether a value that is broadcast to `rank` axes has more than one entry along one of them.
  bool has_entries_along(ValueId id, std::size_t axis, std::size_t rank) const {
    const Shape& shape = session_.shape(id);
    return axis + shape.size() >= rank && shape[axis + shape.size() - rank] != 1;
  }

  void follow(NodeId node_id) {
    const Node& at = node(node_id);
    if (rank_of(at.outputs[0]) == 0) cannot(at, "gives values whose shape is not known");
    if (at.op == "Concat") return concatenate(node_id);
    if (is_elementwise(at.op)) return join(node_id);
    const auto is_cut = [&](ValueId id) { return cut_of(id) != nullptr; };
    if (std::ranges::count_if(at.inputs, is_cut) > 1) cannot(at, "reads them twice");
    const Cut* const cut = cut_of(at.inputs[0]);
    if (cut == nullptr) return follow_second(node_id);
    if (at.op == "Conv" && cut->axis == 1) return follow_convolution(node_id, *cut);
    if (at.op == "Gemm" && at.integer("transA", 0) == 0 && cut->axis == 1)
      return cut_weights(node_id, 1, at.integer("transB", 0) != 0 ? 1 : 0, *cut);
    if (at.op == "MatMul" && cut->axis + 1 == rank_of(at.inputs[0]))
      return cut_weights(node_id, 1, std::max<std::size_t>(rank_of(at.inputs[1]), 2) - 2, *cut);
    if (at.op == "BatchNormalization" && cut->axis == 1) {
      for (std::size_t i = 1; i <= 4; ++i) cut_weights(node_id, i, 0, *cut);
      return go_on(at, *cut);
    }
    if (at.op == "Split") return split(node_id, *cut);
    if (at.op == "Transpose") return transpose(at, *cut);
    if (at.op == "Flatten" || at.op == "Reshape") return flatten(node_id, *cut);
    if (at.op.starts_with("Reduce")) return reduce(at, *cut);
    if (at.op == "Resize" && resizes_by_scales(at, *cut)) return go_on(at, *cut);
    if (is_pooling(at.op) && cut->axis == 1 && rank_of(at.inputs[0]) > 2) return go_on(at, *cut);
    cannot(at, "reads them in a way that ties them together");
  }

  // Of a node whose first input is as it was.
  void follow_second(NodeId node_id) {
    const Node& at = node(node_id);
    const Cut* const cut = at.inputs.size() > 1 ? cut_of(at.inputs[1]) : nullptr;
    if (at.op != "MatMul" || cut == nullptr || cut->axis + 2 != rank_of(at.inputs[1]))
      cannot(at, "reads them in a way that ties them together");
    const bool constant = graph_.is_constant(at.inputs[0]);
    cut_weights(node_id, 0, constant ? graph_.constant(at.inputs[0]).shape().size() - 1 : 0, *cut);
  }

  void go_on(const Node& at, const Cut& cut) {
    for (std::size_t i = 1; i < at.outputs.size(); ++i) {
      if (at.outputs[i] != no_value && !graph_.consumers(at.outputs[i]).empty())
        cannot(at, "has several outputs");
    }
    cuts_[at.outputs[0]] = cut;
  }

  void follow_convolution(NodeId node_id, const Cut& cut) {
    const Node& at = node(node_id);
    const std::int64_t groups = at.integer("group", 1);
    if (groups == 1) return cut_weights(node_id, 1, 1, cut);
    if (groups != static_cast<std::int64_t>(cut.size) || session_.shape(at.inputs[1])[0] != groups)
      cannot(at, "keeps groups of channels apart");
    cut_weights(node_id, 1, 0, cut);
    if (has_input(at, 2)) cut_weights(node_id, 2, 0, cut);
    Node changed = edit_.node(node_id);
    changed.attributes["group"] = static_cast<std::int64_t>(cut.kept.size());
    edit_.replace_node(node_id, std::move(changed));
    go_on(at, cut);
  }

  static std::size_t counted_axis(std::int64_t axis, std::size_t rank) {
    return axis < 0 ? axis + static_cast<std::int64_t>(rank) : axis;
  }

  // Parts one after the other along the axis of the units, some of them with fewer; or parts along another
  // axis, all of the same units.
  void concatenate(NodeId node_id) {
    const Node& at = node(node_id);
    const std::size_t axis = counted_axis(at.integer("axis", 0), rank_of(at.outputs[0]));
    const auto first = std::ranges::find_if(at.inputs, [&](ValueId id) { return cut_of(id) != nullptr; });
    if (cut_of(*first)->axis != axis) {
      const bool alike = std::ranges::all_of(
          at.inputs, [&](ValueId id) { return cut_of(id) != nullptr && *cut_of(id) == *cut_of(*first); });
      if (!alike) cannot(at, "puts them beside units that are not the same");
      return go_on(at, *cut_of(*first));
    }
    Cut joined{axis, 0, {}};
    for (const ValueId id : at.inputs) {
      const Cut* const part = cut_of(id);
      if (part != nullptr && part->axis != axis) cannot(at, "puts them beside units along another axis");
      const std::size_t size = session_.shape(id).at(axis);
      for (std::size_t k = 0; k < size; ++k) {
        if (part == nullptr || std::ranges::binary_search(part->kept, k))
          joined.kept.push_back(joined.size + k);
      }
      joined.size += size;
    }
    go_on(at, joined);
  }

  // Parts that have their own units left; or parts along another axis, all of the same units.
  void split(NodeId node_id, const Cut& cut) {
    const Node& at = node(node_id);
    if (std::ranges::find(at.outputs, no_value) != at.outputs.end())
      cannot(at, "has an output without a name");
    if (counted_axis(at.integer("axis", 0), rank_of(at.inputs[0])) != cut.axis) {
      for (const ValueId id : at.outputs) cuts_[id] = cut;
      return;
    }
    std::size_t begin = 0;
    Ints sizes;
    for (const ValueId id : at.outputs) {
      Cut part{cut.axis, static_cast<std::size_t>(session_.shape(id).at(cut.axis)), {}};
      for (const std::size_t k : cut.kept) {
        if (k >= begin && k < begin + part.size) part.kept.push_back(k - begin);
      }
      if (part.kept.empty())
        cannot(at, fmt::format("would have nothing left in its output '{}'", graph_.value(id).name));
      begin += part.size;
      sizes.push_back(static_cast<std::int64_t>(part.kept.size()));
      if (part.kept.size() < part.size) cuts_[id] = std::move(part);
    }
    Node changed = edit_.node(node_id);
    changed.attributes.erase("num_outputs");
    changed.inputs.resize(1);
    changed.inputs.push_back(edit_.constant(edit_.unused_name(at.name + "_sizes_pruned"),
                                            Array::of<std::int64_t>({std::ssize(sizes)}, sizes)));
    edit_.replace_node(node_id, std::move(changed));
  }

  void transpose(const Node& at, Cut cut) {
    const std::size_t rank = rank_of(at.inputs[0]);
    const Ints order = at.integers("perm", {});
    if (order.empty())
      cut.axis = rank - 1 - cut.axis;
    else
      cut.axis = std::ranges::find(order, static_cast<std::int64_t>(cut.axis)) - order.begin();
    go_on(at, cut);
  }

  // Over other axes.
  void reduce(const Node& at, Cut cut) {
    if (!has_input(at, 1) || !graph_.is_constant(at.inputs[1]))
      cannot(at, "puts all of them into one number");
    const bool keeps = at.integer("keepdims", 1) != 0;
    std::size_t before = 0;
    for (const std::int64_t number : graph_.constant(at.inputs[1]).as<std::int64_t>()) {
      const std::size_t axis = counted_axis(number, rank_of(at.inputs[0]));
      if (axis == cut.axis) cannot(at, "puts all of them into one number");
      before += axis < cut.axis ? 1 : 0;
    }
    if (graph_.constant(at.inputs[1]).count() == 0) cannot(at, "puts all of them into one number");
    if (!keeps) cut.axis -= before;
    go_on(at, cut);
  }

  // Sizes would name the channels that there were.
  bool resizes_by_scales(const Node& at, const Cut& cut) const {
    const std::string places = at.text("coordinate_transformation_mode", "half_pixel");
    if (at.inputs.size() != 3 || !graph_.is_constant(at.inputs[2]) || !at.integers("axes", {}).empty() ||
        places.starts_with("tf_"))  // these move channels by a scale of 1 as well
      return false;
    return graph_.constant(at.inputs[2]).as<float>()[cut.axis] == 1;
  }

  // Channels and their positions become one axis.
  void flatten(NodeId node_id, const Cut& cut) {
    const Node& at = node(node_id);
    const Shape &from = session_.shape(at.inputs[0]), &to = session_.shape(at.outputs[0]);
    const std::int64_t elements = element_count(from) / std::max<std::int64_t>(from[0], 1);
    if (cut.axis != 1 || to.size() != 2 || to[1] != elements) cannot(at, "moves them elsewhere");
    const std::size_t block = static_cast<std::size_t>(elements) / cut.size;
    Cut flat{1, cut.size * block, {}};
    for (const std::size_t k : cut.kept) {
      for (std::size_t i = 0; i < block; ++i) flat.kept.push_back(k * block + i);
    }
    if (at.op == "Reshape") {
      Node changed = edit_.node(node_id);
      const std::int64_t width = std::ssize(flat.kept);
      changed.inputs[1] = edit_.constant(edit_.unused_name(at.name + "_shape_pruned"),
                                         Array::of<std::int64_t>({2}, Ints{-1, width}));
      edit_.replace_node(node_id, std::move(changed));
    }
    go_on(at, flat);
  }

  const Session& session_;
  const Graph& graph_;
  const Layer& layer_;
  GraphBuilder edit_;
  std::vector<std::size_t> kept_;
  std::map<ValueId, Cut> cuts_;  // by value that is smaller
};

}  // namespace

Graph without_units(const Session& session, const Layer& layer, const std::vector<std::size_t>& units) {
  require_some_units(layer, units);
  return Remover(session, layer, units).remove();
}

Graph with_units_masked(const Session& session, const Layer& layer, const std::vector<std::size_t>& units) {
  require_some_units(layer, units);
  GraphBuilder edit(session.graph());
  const Shape& value = session.shape(layer.value);
  // Neurons lie along one axis or, for directions of recurrent layers, several.
  Shape shape(value.size(), 1);
  for (const int axis : layer.neuron_axes) shape[axis] = value[axis];
  std::vector<float> mask(element_count(shape), 1.0F);
  for (const std::size_t unit : units) mask[unit] = 0.0F;
  const ValueId constant =
      edit.constant(edit.unused_name(layer.name + "_mask"), Array::of<float>(shape, mask));
  const std::string name = edit.unused_name(layer.name + "_masked");
  edit.insert_after(layer.value, "Mul", name, {constant});
  return edit.build();
}

Graph pruned(const Session& session, const UnitsByLayer& units, bool mask) {
  Graph graph = session.graph();
  for (const auto& [name, numbers] : units) {
    const Session now(graph, session.options());
    const Layer& layer = now.layer(name);
    graph = mask ? with_units_masked(now, layer, numbers) : without_units(now, layer, numbers);
  }
  return graph;
}

double score_of(const Evaluation& evaluation) {
  return evaluation.accuracy ? *evaluation.accuracy : evaluation.mean_squared_error.value_or(0);
}

Pruning prune(const Session& session, const UnitsByLayer& units, const DatasetPtr& test,
              const PruneOptions& options, Progress& progress) {
  const auto judged = [&](const Session& one, const char* stage, Progress& told) {
    return task::evaluate_decisions(one, test, options.task.get(), {.batch = options.batch, .stage = stage},
                                    told);
  };
  Pruning result{pruned(session, units, options.mask), judged(session, "before", progress), {}, {}};
  result.after = judged(Session(result.graph, session.options()), "after", progress);
  if (options.random_groups == 0) return result;
  Stage stage(progress, "random choices", options.random_groups, "networks");
  for (std::size_t i = 0; i < options.random_groups; ++i) {
    UnitsByLayer random;
    std::uint64_t number = 0;
    for (const auto& [layer, numbers] : units)
      random[layer] =
          Rng(options.seed, {prune_stream, i, number++}).sample(session.layer(layer).neurons, numbers.size());
    const Session other(pruned(session, random, options.mask), session.options());
    result.random.push_back(score_of(judged(other, "random choice", silence())));
    stage.advance(1);
  }
  return result;
}

}  // namespace assay::inspection
