#include "assay/engine/preparation/batch_major.h"

#include <assay/array_math.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>

#include <assay/extend/operator_traits.h>
#include <assay/model.h>

namespace assay::inline engine {
namespace {

using Ints = std::vector<std::int64_t>;

std::size_t index(std::int64_t i) { return i; }

std::int64_t product(const Shape& shape, std::int64_t begin, std::int64_t end) {
  return std::accumulate(shape.begin() + begin, shape.begin() + end, std::int64_t{1}, std::multiplies<>());
}

// What a shape becomes: [1, before..., rows before, rows behind, behind...], without rows of one.
Shape front_shape(const Shape& shape, const RecordPlace& place) {
  Shape front{1};
  front.insert(front.end(), shape.begin(), shape.begin() + place.axis);
  if (place.rows_before > 1) front.push_back(place.rows_before);
  if (place.rows_after > 1) front.push_back(place.rows_after);
  front.insert(front.end(), shape.begin() + place.axis + 1, shape.end());
  return front;
}

// The new number of an axis that is not that of the records.
std::int64_t front_axis(const RecordPlace& place, std::int64_t axis) {
  if (axis < place.axis) return axis + 1;
  return axis + (place.rows_before > 1 ? 1 : 0) + (place.rows_after > 1 ? 1 : 0);
}

// The axes of a value in its other form, in the order that `order` has of it as it was; the records in front.
Ints front_order(const RecordPlace& place, const Ints& order) {
  Ints front{0};
  for (const std::int64_t axis : order) {
    if (axis != place.axis) {
      front.push_back(front_axis(place, axis));
      continue;
    }
    std::int64_t next = axis + 1;
    if (place.rows_before > 1) front.push_back(next++);
    if (place.rows_after > 1) front.push_back(next);
  }
  return front;
}

bool in_order(const Ints& order) { return std::ranges::is_sorted(order); }

// How a value comes back to what it was: its axes in this order, then, where rows are to become one axis,
// this shape.
struct WayBack {
  Ints order;
  std::optional<Shape> shape;
};
WayBack way_back(const RecordPlace& place, const Shape& shape) {
  WayBack back;
  const std::int64_t in_front = place.axis + (place.rows_before > 1 ? 1 : 0),
                     rank = std::ssize(front_shape(shape, place));
  for (std::int64_t i = 1; i <= in_front; ++i) back.order.push_back(i);
  back.order.push_back(0);
  for (std::int64_t i = in_front + 1; i < rank; ++i) back.order.push_back(i);
  if (place.rows_before > 1 || place.rows_after > 1) {
    back.shape = shape;
    (*back.shape)[index(place.axis)] = -1;
  }
  return back;
}

bool same(const RecordPlace& a, const RecordPlace& b) {
  return a.axis == b.axis && a.rows_before == b.rows_before && a.rows_after == b.rows_after;
}

class Mover {
 public:
  Mover(const Graph& graph, std::span<const ValueInfo> infos)
      : graph_(graph), builder_(graph), infos_(infos.begin(), infos.end()) {}

  std::optional<BatchMajor> move() {
    for (const NodeId n : graph_.node_ids()) visit(n);
    if (!gains_) return std::nullopt;
    BatchMajor found{builder_.build(), {}, std::move(moved_), std::move(extra_)};
    infos_.resize(found.graph.values().size());
    found.infos = std::move(infos_);
    return found;
  }

 private:
  const Shape& shape(ValueId id) const { return infos_[index_of(id)].shape; }
  std::int64_t rank(ValueId id) const { return std::ssize(shape(id)); }

  // Where a value of the given graph has its records, if that is known.
  std::optional<RecordPlace> place_of(ValueId id) const {
    const auto known = moved_.find(id);
    if (known != moved_.end()) return known->second.place;
    const ValueInfo& info = infos_[index_of(id)];
    if (info.computed && info.single && !info.shaped_by_content && info.batch_axis == 0 &&
        info.batch_multiple == 1)
      return RecordPlace{};
    return std::nullopt;
  }
  ValueId front_of(ValueId id) const {
    const auto known = moved_.find(id);
    return known == moved_.end() ? id : known->second.front;
  }

  bool is_constant(const Node& node, std::size_t input) const {
    return input < node.inputs.size() && graph_.is_constant(node.inputs[input]);
  }
  std::optional<Ints> integers(const Node& node, std::size_t input) const {
    if (!is_constant(node, input)) return std::nullopt;
    const Array numbers = graph_.constant(node.inputs[input]).to(DType::int64);
    const auto all = numbers.as<std::int64_t>();
    return Ints(all.begin(), all.end());
  }
  ValueId integers(const Ints& numbers) {
    return builder_.constant({}, Array::of<std::int64_t>({std::ssize(numbers)}, numbers));
  }

  // The new form of a node, and the position of records in its results.
  struct Made {
    Node node;
    std::vector<RecordPlace> places;  // by output
    bool only_named = false;          // nothing is left to do
    ValueId bias = no_value;          // still to be added
  };

  bool reads_moved(const Node& node) const {
    return std::ranges::any_of(node.inputs, [&](ValueId id) { return moved_.contains(id); });
  }

  void visit(NodeId n) {
    const Node& node = graph_.node(n);
    const bool moved = reads_moved(node);
    const bool moves = node.op == "Transpose" || has_trait(node.op, Trait::reshapes);
    if (!moved && !moves) return;
    std::optional<Made> made = made_of(node);
    // Other nodes read values as they were.
    if (!made || !fits(node, *made)) return;
    if (moved || std::ranges::any_of(made->places, [](const auto& place) { return !place.in_front(); }))
      put(n, *std::move(made));
  }

  // Whether what follows from the operator is what was seen.
  bool fits(const Node& node, const Made& made) const {
    for (std::size_t o = 0; o < node.outputs.size(); ++o) {
      const ValueId id = node.outputs[o];
      if (id == no_value) continue;
      const ValueInfo& info = infos_[index_of(id)];
      const RecordPlace& place = made.places[std::min(o, made.places.size() - 1)];
      if (!info.computed || !info.single || info.varying_axis != place.axis) return false;
      if (info.shape[index(place.axis)] != place.rows_before * place.rows_after) return false;
      if (element_count(info.shape) == 0) return false;
    }
    return true;
  }

  std::optional<Made> made_of(const Node& node) {
    std::optional<RecordPlace> first;
    for (const ValueId id : node.inputs) {
      if (id == no_value || graph_.is_constant(id)) continue;
      // What a Reshape is told may follow from sizes that were written out where records are in front.
      if (has_trait(node.op, Trait::reshapes) && id != node.inputs[0] && !infos_[index_of(id)].of_records)
        continue;
      const std::optional<RecordPlace> place = place_of(id);
      if (!place || (first && !same(*first, *place))) return std::nullopt;
      if (!first) first = place;
    }
    if (!first || node.inputs.empty() || node.inputs[0] == no_value) return std::nullopt;
    Made made{node, {*first}};
    for (ValueId& id : made.node.inputs) {
      if (id != no_value) id = front_of(id);
    }
    if (!make(node, *first, made)) return std::nullopt;
    return made;
  }

  bool make(const Node& node, const RecordPlace& place, Made& made) {
    const std::string& op = node.op;
    if (has_trait(op, Trait::reshapes)) return make_reshape(node, place, made);
    if (op == "Transpose") return make_transpose(node, place, made);
    if (op == "MatMul") return multiplies(node, place);
    if (op == "Gemm") return make_dense(node, place, made);
    if (is_softmax(op)) return make_axis(node, place, made, "axis", -1);
    if (op == "LayerNormalization") return make_layer_normalisation(node, place, made);
    if (is_reduction(op)) return make_reduction(node, place, made);
    if (op == "Slice") return make_slice(node, place, made);
    if (op == "Gather") return make_gather(node, place, made);
    if (op == "Split") return make_axis(node, place, made, "axis", 0);
    if (op == "Concat") return make_concatenation(node, place, made);
    return is_elementwise(op) && make_elementwise(node, place, made);
  }

  // Counted from the front; nothing where it is that of the records.
  std::optional<std::int64_t> other_axis(ValueId id, const RecordPlace& place, std::int64_t axis) const {
    if (axis < 0) axis += rank(id);
    if (axis < 0 || axis >= rank(id) || axis == place.axis) return std::nullopt;
    return axis;
  }
  std::optional<Ints> other_axes(ValueId id, const RecordPlace& place,
                                 const std::optional<Ints>& axes) const {
    if (!axes) return std::nullopt;
    Ints others;
    for (const std::int64_t axis : *axes) {
      const auto other = other_axis(id, place, axis);
      if (!other) return std::nullopt;
      others.push_back(*other);
    }
    return others;
  }
  Ints front_axes(const RecordPlace& place, const Ints& axes) const {
    Ints front;
    for (const std::int64_t axis : axes) front.push_back(front_axis(place, axis));
    return front;
  }

  // [before, N, behind] stays; axes begin and end elsewhere.
  bool make_reshape(const Node& node, const RecordPlace& place, Made& made) {
    const Shape &in = shape(node.inputs[0]), &out = shape(node.outputs[0]);
    const int axis = infos_[index_of(node.outputs[0])].varying_axis;
    if (axis < 0 || element_count(out) != element_count(in) || element_count(in) == 0) return false;
    const std::int64_t before = product(in, 0, place.axis) * place.rows_before,
                       others = product(out, 0, axis);
    if (before % others != 0 || out[index(axis)] % (before / others) != 0) return false;
    RecordPlace to{axis, before / others, out[index(axis)] / (before / others)};
    made.places = {to};
    Shape target = front_shape(out, to);
    made.only_named = target == front_shape(in, place);
    target[0] = -1;
    made.node = {node.name, "Reshape", {made.node.inputs[0], no_value}, node.outputs, {}};
    if (!made.only_named) made.node.inputs[1] = integers(target);
    return true;
  }

  bool make_transpose(const Node& node, const RecordPlace& place, Made& made) {
    Ints order(index(rank(node.inputs[0])));
    std::iota(order.rbegin(), order.rend(), std::int64_t{0});
    order = node.integers("perm", order);
    const Ints front = front_order(place, order);
    const auto axis = std::ranges::find(order, place.axis) - order.begin();
    made.places = {{static_cast<int>(axis), place.rows_before, place.rows_after}};
    made.only_named = in_order(front);
    made.node.attributes["perm"] = front;
    return true;
  }

  // The last two axes are those of matrices.
  bool multiplies(const Node& node, const RecordPlace& place) const {
    const ValueId a = node.inputs[0], b = node.inputs[1];
    if (graph_.is_constant(a)) return false;
    if (graph_.is_constant(b)) return graph_.constant(b).shape().size() == 2 && place.axis + 1 < rank(a);
    return rank(a) == rank(b) && place.axis + 2 < rank(a);
  }

  // As a product of matrices and a sum.
  bool make_dense(const Node& node, const RecordPlace& place, Made& made) {
    if (place.axis != 0 || node.integer("transA", 0) != 0 || node.real("alpha", 1) != 1 ||
        node.real("beta", 1) != 1 || !is_constant(node, 1))
      return false;
    const bool has_bias = node.inputs.size() > 2 && node.inputs[2] != no_value;
    const std::int64_t units = shape(node.outputs[0])[1];
    if (has_bias && (!is_constant(node, 2) || graph_.constant(node.inputs[2]).count() != units)) return false;
    made.node.op = "MatMul";
    made.node.attributes.clear();
    made.node.inputs.resize(2);
    if (node.integer("transB", 0) != 0)
      made.node.inputs[1] = builder_.constant({}, graph_.constant(node.inputs[1]).t().contiguous());
    if (has_bias) made.bias = builder_.constant({}, graph_.constant(node.inputs[2]).reshape({units}));
    return true;
  }

  bool make_axis(const Node& node, const RecordPlace& place, Made& made, const char* name,
                 std::int64_t usual) {
    const auto axis = other_axis(node.inputs[0], place, node.integer(name, usual));
    if (!axis || !std::all_of(node.inputs.begin() + 1, node.inputs.end(),
                              [&](ValueId id) { return id == no_value || graph_.is_constant(id); }))
      return false;
    made.node.attributes[name] = front_axis(place, *axis);
    return true;
  }

  bool make_layer_normalisation(const Node& node, const RecordPlace& place, Made& made) {
    const auto axis = other_axis(node.inputs[0], place, node.integer("axis", -1));
    return axis && *axis > place.axis && node.outputs.size() == 1 && make_axis(node, place, made, "axis", -1);
  }

  bool make_reduction(const Node& node, const RecordPlace& place, Made& made) {
    const auto axes = other_axes(node.inputs[0], place, integers(node, 1));
    if (!axes || axes->empty()) return false;
    made.node.inputs[1] = integers(front_axes(place, *axes));
    if (node.integer("keepdims", 1) == 0)
      made.places[0].axis -= static_cast<int>(
          std::ranges::count_if(*axes, [&](std::int64_t axis) { return axis < place.axis; }));
    return true;
  }

  bool make_slice(const Node& node, const RecordPlace& place, Made& made) {
    const auto axes = other_axes(node.inputs[0], place, integers(node, 3));
    if (!axes || !is_constant(node, 1) || !is_constant(node, 2)) return false;
    made.node.inputs[3] = integers(front_axes(place, *axes));
    return true;
  }

  bool make_gather(const Node& node, const RecordPlace& place, Made& made) {
    const auto axis = other_axis(node.inputs[0], place, node.integer("axis", 0));
    if (!axis || !is_constant(node, 1)) return false;
    const auto more = static_cast<int>(graph_.constant(node.inputs[1]).shape().size()) - 1;
    made.node.attributes["axis"] = front_axis(place, *axis);
    if (*axis < place.axis) made.places[0].axis += more;
    return true;
  }

  bool make_concatenation(const Node& node, const RecordPlace& place, Made& made) {
    const auto axis = other_axis(node.inputs[0], place, node.integer("axis", 0));
    if (!axis || std::ranges::any_of(node.inputs, [&](ValueId id) { return graph_.is_constant(id); }))
      return false;
    made.node.attributes["axis"] = front_axis(place, *axis);
    return true;
  }

  bool make_elementwise(const Node& node, const RecordPlace& place, Made& made) {
    const std::int64_t axes = rank(node.outputs[0]);
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      const ValueId id = node.inputs[i];
      if (id == no_value) continue;
      if (!graph_.is_constant(id)) {
        if (rank(id) != axes) return false;
        continue;
      }
      const auto aligned = beside(graph_.constant(id), place, axes);
      if (!aligned) return false;
      if (*aligned != graph_.constant(id).shape())
        made.node.inputs[i] = builder_.constant({}, graph_.constant(id).reshape(*aligned));
    }
    return true;
  }

  // The shape of a constant that meets values of so many axes; nothing where it tells records apart.
  std::optional<Shape> beside(const Array& constant, const RecordPlace& place, std::int64_t axes) const {
    const Shape& own = constant.shape();
    const std::int64_t rank = std::ssize(own);
    if (rank > axes) return std::nullopt;
    if (rank < axes - place.axis) return own;
    Shape whole(index(axes - rank), 1);
    whole.insert(whole.end(), own.begin(), own.end());
    if (whole[index(place.axis)] != 1) return std::nullopt;
    Shape front{1};
    front.insert(front.end(), whole.begin(), whole.begin() + place.axis);
    if (place.rows_before > 1) front.push_back(1);
    if (place.rows_after > 1) front.push_back(1);
    front.insert(front.end(), whole.begin() + place.axis + 1, whole.end());
    return front;
  }

  std::string extra(const Node& node) {
    std::string name = builder_.unused_name(node.name + " (batch-major)");
    extra_.emplace(name, node.name);
    return name;
  }
  ValueId value_like(ValueId id, Shape front) {
    const ValueId made = builder_.value(builder_.unused_name(graph_.value(id).name + " (batch-major)"));
    infos_.resize(index_of(made) + 1);
    infos_[index_of(made)] = info_of_records(std::move(front));
    return made;
  }

  void put(NodeId n, Made made) {
    const Node& node = graph_.node(n);
    const bool comes_to_front = std::ranges::all_of(made.places, &RecordPlace::in_front);
    gains_ |= is_dense(made.node.op) || is_softmax(made.node.op) || (comes_to_front && reads_moved(node));
    // Values that are as they were, but for their form, have their own node, which is used where they are
    // requested as they were.
    if (made.only_named && !made.places[0].in_front()) {
      move(node.outputs[0], made.places[0], made.node.inputs[0]);
      come_back(node, node.outputs[0], n);
      return;
    }
    if (made.only_named) made.node = {node.name, "Identity", {made.node.inputs[0]}, node.outputs, {}};
    std::vector<ValueId> away;
    for (std::size_t o = 0; o < made.node.outputs.size(); ++o) {
      ValueId& id = made.node.outputs[o];
      if (id == no_value) continue;
      const RecordPlace place = made.places[std::min(o, made.places.size() - 1)];
      if (place.in_front()) {
        ValueInfo& info = infos_[index_of(id)];
        info.batch_axis = 0;
        info.batch_multiple = 1;
        continue;
      }
      away.push_back(id);
      const ValueId front = value_like(id, front_shape(shape(id), place));
      move(id, place, front);
      id = front;
    }
    if (made.bias != no_value) {
      const ValueId result = made.node.outputs[0];
      const ValueId sum = value_like(node.outputs[0], shape(result));
      made.node.outputs[0] = sum;
      builder_.node({extra(node), "Add", {sum, made.bias}, {result}, {}});
    }
    builder_.replace_node(n, std::move(made.node));
    for (const ValueId id : away) come_back(node, id, std::nullopt);
  }

  void move(ValueId id, const RecordPlace& place, ValueId front) {
    moved_.emplace(id, BatchMajor::Moved{front, place, shape(id)});
  }

  // Computes a value as it was from its other form, by nodes that are dropped if unused.
  void come_back(const Node& node, ValueId id, std::optional<NodeId> in_the_place) {
    const BatchMajor::Moved& moved = moved_.at(id);
    const WayBack back = way_back(moved.place, moved.shape);
    const auto add = [&](Node made) {
      if (in_the_place) {
        made.name = node.name;
        builder_.replace_node(*std::exchange(in_the_place, std::nullopt), std::move(made));
      } else {
        made.name = extra(node);
        builder_.node(std::move(made));
      }
    };
    ValueId at = moved.front;
    if (!in_order(back.order)) {
      const ValueId to =
          back.shape ? builder_.value(builder_.unused_name(graph_.value(id).name + " (in order)")) : id;
      add({{}, "Transpose", {at}, {to}, {{"perm", back.order}}});
      at = to;
    }
    if (back.shape) add({{}, "Reshape", {at, integers(*back.shape)}, {id}, {}});
  }

  const Graph& graph_;
  GraphBuilder builder_;
  std::vector<ValueInfo> infos_;
  std::map<ValueId, BatchMajor::Moved> moved_;
  std::map<std::string, std::string> extra_;
  bool gains_ = false;
};

}  // namespace

std::optional<BatchMajor> make_batch_major(const Graph& graph, std::span<const ValueInfo> infos) {
  const bool elsewhere = std::ranges::any_of(infos, [](const ValueInfo& info) {
    return info.single && (info.varying_axis > 0 || (info.varying_axis == 0 && info.batch_multiple != 1));
  });
  if (!elsewhere) return std::nullopt;
  return Mover(graph, infos).move();
}

Array as_it_was(const Array& front, const BatchMajor::Moved& moved) {
  const WayBack back = way_back(moved.place, moved.shape);
  const Array ordered = front.permute(back.order);
  return back.shape ? ordered.reshape(*back.shape) : ordered;
}

}  // namespace assay::inline engine
