#include "assay/inspection/units/prune.h"

#include <algorithm>
#include <deque>
#include <set>

#include <assay/error.h>
#include <assay/extend/operator_traits.h>
#include <assay/extend/random.h>
#include <assay/model.h>

namespace assay::inspection {
namespace {

using Ints = std::vector<std::int64_t>;

constexpr std::uint64_t prune_stream = 0x7072756e65;

// The slices of an array at `kept` along an axis, each of `block` entries.
Array sliced(const Array& array, std::size_t axis, const std::vector<std::size_t>& kept, std::size_t block) {
  Shape shape = array.shape();
  std::size_t outer = 1, inner = size_of(array.dtype());
  for (std::size_t i = 0; i < axis; ++i) outer *= static_cast<std::size_t>(shape[i]);
  for (std::size_t i = axis + 1; i < shape.size(); ++i) inner *= static_cast<std::size_t>(shape[i]);
  const std::size_t row = static_cast<std::size_t>(shape[axis]) * inner, piece = block * inner;
  std::vector<std::byte> bytes;
  for (std::size_t o = 0; o < outer; ++o) {
    for (const std::size_t k : kept) {
      const std::byte* const from = array.data() + o * row + k * piece;
      bytes.insert(bytes.end(), from, from + piece);
    }
  }
  shape[axis] = kept.size() * block;
  return Array(array.dtype(), std::move(shape), std::move(bytes));
}

void require_some_units(const Layer& layer, const std::vector<std::size_t>& units) {
  if (units.empty()) fail(Fault::usage, "which units of layer '{}'?", layer.name);
  const std::size_t most = *std::ranges::max_element(units);
  if (static_cast<std::int64_t>(most) >= layer.neurons)
    fail(Fault::usage, "layer '{}' has no unit {}; its units are 0 to {}", layer.name, most,
         layer.neurons - 1);
}

// Takes units out of a layer and follows them to all that read them.
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
    while (!open_.empty()) {
      const Place place = open_.front();
      open_.pop_front();
      if (std::ranges::find(graph_.outputs(), place.value) != graph_.outputs().end())
        fail(Fault::unsupported,
             "the units of layer '{}' are an output of the network ('{}'), which must keep its shape",
             layer_.name, graph_.value(place.value).name);
      for (const NodeId reader : graph_.consumers(place.value)) follow(reader, place);
    }
    for (const NodeId reader : waiting_) cannot(node(reader), "joins them with units of other layers");
    return edit_.build();
  }

 private:
  // A value whose `axis` holds the units, each in `block` entries.
  struct Place {
    ValueId value;
    std::size_t axis = 1, block = 1;
  };

  const Node& node(NodeId node_id) const { return graph_.node(node_id); }

  [[noreturn]] void cannot(const Node& at, std::string_view why) const {
    fail(Fault::unsupported, "the units of layer '{}' cannot be taken out: {} {}; mask them instead",
         layer_.name, at.describe(), why);
  }

  // Input `i` of a node, cut along an axis; other readers keep theirs.
  void cut(NodeId node_id, std::size_t i, std::size_t axis, std::size_t block) {
    Node changed = edit_.node(node_id);
    const ValueId id = changed.inputs.at(i);
    if (!graph_.is_constant(id)) cannot(node(node_id), "has weights that are computed");
    const Array& array = graph_.constant(id);
    const auto units = static_cast<std::int64_t>(layer_.neurons) * static_cast<std::int64_t>(block);
    if (axis >= array.shape().size() || array.shape()[axis] != units)
      cannot(node(node_id), "has weights of another shape");
    const std::string name = edit_.unused_name(graph_.value(id).name + "_pruned");
    changed.inputs[i] = edit_.constant(name, sliced(array, axis, kept_, block));
    edit_.replace_node(node_id, std::move(changed));
  }

  void take_out() {
    const NodeId node_id = layer_.node;
    const Node& at = node(node_id);
    if (at.op == "Conv") {
      if (at.integer("group", 1) != 1) cannot(at, "keeps groups of channels apart");
      cut(node_id, 1, 0, 1);
      if (at.inputs.size() > 2 && at.inputs[2] != no_value) cut(node_id, 2, 0, 1);
      begin_at({at.outputs[0], 1, 1});
    } else if (at.op == "Gemm" && graph_.is_constant(at.inputs[1])) {
      cut(node_id, 1, at.integer("transB", 0) != 0 ? 0 : 1, 1);
      if (at.inputs.size() > 2 && at.inputs[2] != no_value) cut_broadcast(node_id, 2, {at.outputs[0], 1, 1});
      begin_at({at.outputs[0], 1, 1});
    } else if (at.op == "MatMul" && is_matrix(at.inputs[1])) {
      cut(node_id, 1, 1, 1);
      begin_at({at.outputs[0], session_.shape(at.outputs[0]).size() - 1, 1});
    } else if (at.op == "MatMul" && is_matrix(at.inputs[0])) {  // weights times columns of activations
      cut(node_id, 0, 0, 1);
      begin_at({at.outputs[0], session_.shape(at.outputs[0]).size() - 2, 1});
    } else {
      cannot(at, "is neither a convolution nor a dense layer");
    }
  }

  bool is_matrix(ValueId id) const {
    return graph_.is_constant(id) && graph_.constant(id).shape().size() == 2;
  }

  // A constant that is broadcast to the value's shape: cut where it has one entry for each unit.
  void cut_broadcast(NodeId node_id, std::size_t i, const Place& place) {
    const ValueId id = node(node_id).inputs.at(i);
    if (!graph_.is_constant(id)) cannot(node(node_id), "has weights that are computed");
    const Shape& shape = graph_.constant(id).shape();
    const std::size_t rank = session_.shape(place.value).size();
    if (shape.size() + place.axis < rank) return;
    const std::size_t axis = place.axis + shape.size() - rank;
    if (shape[axis] != 1) cut(node_id, i, axis, place.block);
  }

  void go_on(const Node& at, Place place) {
    place.value = at.outputs[0];
    if (std::ranges::find(found_, place.value, &Place::value) == found_.end()) begin_at(place);
  }

  void begin_at(const Place& place) {
    open_.push_back(place);
    found_.push_back(place);
  }

  // Whether a value is computed of the units as the place is, so that both are cut alike.
  bool is_cut_like(const Place& place, ValueId value) const {
    const auto other = std::ranges::find(found_, value, &Place::value);
    return other != found_.end() && other->axis == place.axis && other->block == place.block &&
           session_.shape(value).size() == session_.shape(place.value).size();
  }

  // Arithmetic of the units with constants and with what else is computed of them, such as x sigmoid(x). It
  // waits until all that it reads is found.
  void join(NodeId node_id, const Place& place) {
    const Node& at = node(node_id);
    const bool complete = std::ranges::all_of(
        at.inputs, [&](ValueId id) { return graph_.is_constant(id) || is_cut_like(place, id); });
    if (!complete) {
      waiting_.insert(node_id);
      return;
    }
    waiting_.erase(node_id);
    if (!joined_.insert(node_id).second) return;
    for (std::size_t i = 0; i < at.inputs.size(); ++i) {
      if (graph_.is_constant(at.inputs[i])) cut_broadcast(node_id, i, place);
    }
    go_on(at, place);
  }

  void follow(NodeId node_id, const Place& place) {
    const Node& at = node(node_id);
    const bool is_data = at.inputs[0] == place.value;
    if (at.op == "Conv" && is_data && place.axis == 1 && place.block == 1) {
      follow_convolution(node_id, place);
    } else if (at.op == "Gemm" && is_data && at.integer("transA", 0) == 0 && place.axis == 1) {
      cut(node_id, 1, at.integer("transB", 0) != 0 ? 1 : 0, place.block);
    } else if (at.op == "MatMul" && is_data && place.axis + 1 == session_.shape(place.value).size()) {
      cut(node_id, 1, 0, place.block);
    } else if (at.op == "MatMul" && !is_data && place.axis + 2 == session_.shape(place.value).size()) {
      cut(node_id, 0, graph_.is_constant(at.inputs[0]) ? graph_.constant(at.inputs[0]).shape().size() - 1 : 0,
          place.block);
    } else if (at.op == "BatchNormalization" && is_data && place.axis == 1) {
      for (std::size_t i = 1; i <= 4; ++i) cut(node_id, i, 0, place.block);
      go_on(at, place);
    } else if (at.op == "Flatten" || at.op == "Reshape") {
      flatten(node_id, place);
    } else if (is_arithmetic(at.op) || at.op == "PRelu") {
      join(node_id, place);
    } else if (at.op == "ReduceMean" && place.axis == 1 && place.block == 1 &&
               session_.shape(at.outputs[0]).size() >= 2 &&
               session_.shape(at.outputs[0])[1] == session_.shape(place.value)[1]) {
      go_on(at, place);
    } else if ((is_elementwise(at.op) || is_pass_through(at.op) ||
                (is_pooling(at.op) && place.axis == 1 && place.block == 1)) &&
               !is_softmax(at.op)) {
      go_on(at, place);
    } else {
      cannot(at, "reads them in a way that ties them together");
    }
  }

  void follow_convolution(NodeId node_id, const Place& place) {
    const Node& at = node(node_id);
    const std::int64_t groups = at.integer("group", 1);
    if (groups == 1) {
      cut(node_id, 1, 1, 1);
      return;
    }
    const Shape& weights = session_.shape(at.inputs[1]);
    if (groups != layer_.neurons || weights[0] != groups) cannot(at, "keeps groups of channels apart");
    cut(node_id, 1, 0, 1);
    if (at.inputs.size() > 2 && at.inputs[2] != no_value) cut(node_id, 2, 0, 1);
    Node changed = edit_.node(node_id);
    changed.attributes["group"] = static_cast<std::int64_t>(kept_.size());
    edit_.replace_node(node_id, std::move(changed));
    go_on(at, place);
  }

  // Channels and their positions become one axis.
  void flatten(NodeId node_id, const Place& place) {
    const Node& at = node(node_id);
    const Shape &from = session_.shape(place.value), &to = session_.shape(at.outputs[0]);
    const std::int64_t elements = element_count(from) / std::max<std::int64_t>(from[0], 1);
    if (place.axis != 1 || to.size() != 2 || to[1] != elements) cannot(at, "moves them elsewhere");
    const std::size_t block = elements / layer_.neurons;
    if (at.op == "Reshape") {
      Node changed = edit_.node(node_id);
      const std::int64_t width = kept_.size() * block;
      changed.inputs[1] = edit_.constant(edit_.unused_name(at.name + "_shape_pruned"),
                                         Array::of<std::int64_t>({2}, Ints{-1, width}));
      edit_.replace_node(node_id, std::move(changed));
    }
    go_on(at, {at.outputs[0], 1, block});
  }

  const Session& session_;
  const Graph& graph_;
  const Layer& layer_;
  GraphBuilder edit_;
  std::vector<std::size_t> kept_;
  std::deque<Place> open_;
  std::vector<Place> found_;  // all that were ever open
  std::set<NodeId> waiting_, joined_;
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
