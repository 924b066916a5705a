#include "assay/engine/preparation/token_tail.h"

#include <algorithm>
#include <map>
#include <set>
#include <span>
#include <utility>

#include <assay/array_math.h>
#include <assay/extend/operator_traits.h>
#include <assay/model.h>
#include "assay/engine/operators/memory.h"
#include "assay/engine/preparation/static_graph.h"
#include "assay/model/element_type.h"

namespace assay::inline engine {
namespace {

constexpr int no_axis = -1;

struct UnknownTail {};  // thrown: no rule says how the tail of a value is computed

bool asks_for_shape(const Node& node) { return node.op == "Shape" || node.op == "Size"; }

// Every whole number equals itself, whatever token it is.
bool is_always_true(const Graph& graph, const Node& node) {
  return node.op == "Equal" && node.inputs[0] == node.inputs[1] &&
         !is_real(element_types(graph)[index_of(node.inputs[0])]);
}

// One entry per value: whether it depends on what the tokens are.
std::vector<bool> depends_on(const Graph& graph, ValueId tokens) {
  std::vector<bool> depends(graph.values().size());
  depends[index_of(tokens)] = true;
  for (const Node& node : graph.nodes()) {
    if (asks_for_shape(node) || is_always_true(graph, node)) continue;
    if (std::ranges::none_of(node.inputs,
                             [&](ValueId id) { return id != no_value && depends[index_of(id)]; }))
      continue;
    for (const ValueId id : node.outputs)
      if (id != no_value) depends[index_of(id)] = true;
  }
  return depends;
}

// Scales of quantisation lie along an axis of their own.
bool is_of_elements(std::string_view op) {
  if (op.ends_with("QuantizeLinear") || op == "DequantizeLinear") return false;
  return is_elementwise(op) || is_kind(op, OperatorKind::truth) || op == "Where" || op == "IsNaN";
}

class TailMaker {
 public:
  // `whole`: static (static_graph.h), with the shapes of a record.
  TailMaker(const Graph& whole, std::span<const ValueInfo> infos, ValueId tokens, std::int64_t first)
      : whole_(whole),
        infos_(infos),
        types_(element_types(whole)),
        depends_(depends_on(whole, tokens)),
        builder_(whole.name()),
        first_(first),
        length_(infos[index_of(tokens)].shape.at(1)) {
    tail_.tokens = builder_.input(whole.value(tokens).name, types_[index_of(tokens)], {-1, rest()});
    made_[tokens] = {tail_.tokens, 1};
  }

  // REQUIRES that make() is called once. Throws UnknownTail.
  TokenTail make() {
    const ValueId output = whole_.outputs()[0];
    const std::set<NodeId> needed = needed_for(output);
    for (const NodeId n : needed) put(whole_.node(n));
    const auto result = made_.find(output);
    if (result == made_.end() || result->second.axis != no_axis) throw UnknownTail();
    builder_.output(result->second.id);
    tail_.graph = builder_.build();
    return std::move(tail_);
  }

 private:
  // A value of the tail, and which of its axes has the positions from the first one on; no_axis: none, it is
  // the same as in the whole network.
  struct Made {
    ValueId id = no_value;
    int axis = no_axis;
  };

  std::int64_t rest() const { return length_ - first_; }
  bool is_dependent(ValueId id) const { return id != no_value && depends_[index_of(id)]; }
  const ValueInfo& info(ValueId id) const { return infos_[index_of(id)]; }
  // For one record.
  Shape shape(ValueId id) const {
    if (whole_.is_constant(id)) return whole_.constant(id).shape();
    if (!info(id).computed || info(id).shaped_by_content) throw UnknownTail();
    return info(id).shape;
  }
  int rank(ValueId id) const { return static_cast<int>(shape(id).size()); }
  static void require(bool known) {
    if (!known) throw UnknownTail();
  }

  // Nodes whose results depend on tokens and that the output needs, in order.
  std::set<NodeId> needed_for(ValueId output) const {
    std::set<NodeId> found;
    std::vector<ValueId> open{output};
    while (!open.empty()) {
      const ValueId id = open.back();
      open.pop_back();
      if (!is_dependent(id) || made_.contains(id) || !found.insert(whole_.producer(id)).second) continue;
      const Node& node = whole_.node(whole_.producer(id));
      open.insert(open.end(), node.inputs.begin(), node.inputs.end());
    }
    return found;
  }

  // Constants and what does not depend on tokens: all of it, or the positions of the tail along an axis.
  ValueId side(ValueId id, int axis = no_axis) {
    if (id == no_value) return no_value;
    const auto [entry, fresh] = sides_.try_emplace({id, axis}, no_value);
    if (!fresh) return entry->second;
    if (whole_.is_constant(id)) {
      const Array& all = whole_.constant(id);
      entry->second =
          builder_.constant({}, axis == no_axis ? all : all.narrow(axis, first_, rest()).contiguous());
    } else {
      entry->second = given(id, axis, axis == no_axis ? 0 : first_, axis == no_axis ? 0 : rest());
    }
    return entry->second;
  }

  ValueId given(ValueId id, int axis, std::int64_t begin, std::int64_t length) {
    Shape of_part = shape(id);
    require(info(id).batch_axis == 0 && info(id).batch_multiple == 1 && axis != 0);
    of_part[0] = -1;
    if (axis != no_axis) of_part[axis] = length;
    const std::string name = builder_.unused_name(whole_.value(id).name);
    const ValueId here = builder_.input(name, types_[index_of(id)], of_part);
    tail_.given.push_back({here, id, axis, begin, length});
    return here;
  }

  // All positions of a value: those of the tail after the given ones.
  ValueId completed(ValueId id) {
    const Made& part = made_.at(id);
    const auto [entry, fresh] = completed_.try_emplace(id, no_value);
    if (!fresh) return entry->second;
    const ValueId before = given(id, part.axis, 0, first_);
    entry->second = builder_.add("Concat", {}, {before, part.id}, {{"axis", std::int64_t{part.axis}}});
    return entry->second;
  }

  ValueId integers(const Shape& numbers) {
    return builder_.constant({}, Array::of<std::int64_t>({std::ssize(numbers)}, numbers));
  }
  Shape numbers_of(const Node& node, std::size_t input) const {
    require(input < node.inputs.size() && whole_.is_constant(node.inputs[input]));
    const Array numbers = whole_.constant(node.inputs[input]).to(DType::int64).contiguous();
    return {numbers.elements<std::int64_t>(), numbers.elements<std::int64_t>() + numbers.count()};
  }
  static int counted_from_front(std::int64_t axis, int rank) {
    return static_cast<int>(axis < 0 ? axis + rank : axis);
  }

  // The node with these inputs; its results have positions along the axis.
  void copy(const Node& node, std::vector<ValueId> inputs, int axis) {
    Node here{builder_.unused_name(node.name), node.op, std::move(inputs), {}, node.attributes};
    for (const ValueId id : node.outputs) {
      here.outputs.push_back(id == no_value ? no_value
                                            : builder_.value(builder_.unused_name(whole_.value(id).name)));
      if (id != no_value) made_[id] = {here.outputs.back(), axis};
    }
    builder_.node(std::move(here));
  }

  void put(const Node& node) {
    if (has_trait(node.op, Trait::reshapes)) return put_reshaped(node);
    if (node.op == "Expand") return put_expanded(node);
    const bool whole = std::ranges::all_of(
        node.inputs, [&](ValueId id) { return !is_dependent(id) || made_.at(id).axis == no_axis; });
    if (whole) return copy(node, sides_from(node, 0), no_axis);
    if (is_of_elements(node.op)) return put_elements(node);
    if (node.op == "MatMul") return put_product(node);
    if (node.op == "Gather" || node.op == "GatherND") return put_picked(node);
    if (node.op == "Concat") return put_joined(node);
    put_along_others(node);
  }

  // The inputs from one on, which have no axis of positions.
  std::vector<ValueId> sides_from(const Node& node, std::size_t begin) {
    std::vector<ValueId> inputs;
    for (std::size_t i = begin; i < node.inputs.size(); ++i) {
      const ValueId id = node.inputs[i];
      require(!is_dependent(id) || made_.at(id).axis == no_axis);
      inputs.push_back(is_dependent(id) ? made_.at(id).id : side(id));
    }
    return inputs;
  }
  // The first input, which has the positions along an axis, and the others.
  std::vector<ValueId> first_and_sides(const Node& node) {
    std::vector<ValueId> inputs = sides_from(node, 1);
    inputs.insert(inputs.begin(), made_.at(node.inputs[0]).id);
    return inputs;
  }

  // The same elements in the same order. The axis of positions is where as many elements lie before it.
  void put_reshaped(const Node& node) {
    if (!is_dependent(node.inputs[0])) throw UnknownTail();
    const Made from = made_.at(node.inputs[0]);
    const Shape before = shape(node.inputs[0]);
    Shape target = shape(node.outputs[0]);
    const auto elements_before = [](const Shape& shape, std::size_t axis) {
      std::int64_t count = 1;
      for (std::size_t d = 0; d < axis; ++d) count *= shape[d];
      return count;
    };
    int axis = no_axis;
    for (std::size_t d = 0; from.axis != no_axis && d < target.size(); ++d) {
      if (target[d] == length_ && elements_before(target, d) == elements_before(before, from.axis))
        axis = static_cast<int>(d);
    }
    require(from.axis == no_axis || axis != no_axis);
    const int records = info(node.outputs[0]).batch_axis;
    require(records >= 0);
    if (axis != no_axis) target[axis] = rest();
    target[records] = -1;
    Node reshape{node.name, "Reshape", {}, node.outputs, {}};
    copy(reshape, {from.id, integers(target)}, axis);
  }

  void put_expanded(const Node& node) {
    require(is_dependent(node.inputs[0]));
    const Made from = made_.at(node.inputs[0]);
    const Shape before = shape(node.inputs[0]);
    Shape target = shape(node.outputs[0]);
    const std::size_t more = target.size() - before.size();
    require(info(node.inputs[0]).batch_axis == 0 && more == 0);
    for (std::size_t d = 0; d < before.size(); ++d)
      if (target[d] == before[d]) target[d] = 1;
    copy(node, {from.id, integers(target)}, from.axis);
  }

  // Operands are broadcast: their axes are counted from the end.
  void put_elements(const Node& node) {
    const int of_result = rank(node.outputs[0]);
    int axis = no_axis;
    for (const ValueId id : node.inputs) {
      if (!is_dependent(id) || made_.at(id).axis == no_axis) continue;
      const int here = made_.at(id).axis + of_result - rank(id);
      require(axis == no_axis || axis == here);
      axis = here;
    }
    std::vector<ValueId> inputs;
    for (const ValueId id : node.inputs) inputs.push_back(id == no_value ? id : aligned(id, axis, of_result));
    copy(node, std::move(inputs), axis);
  }
  // An operand of a value of the rank with positions along the axis.
  ValueId aligned(ValueId id, int axis, int rank_of_result) {
    if (is_dependent(id)) {
      require(made_.at(id).axis != no_axis);
      return made_.at(id).id;
    }
    const Shape all = shape(id);
    const int here = axis - (rank_of_result - static_cast<int>(all.size()));
    if (here < 0 || all[here] == 1) return side(id);
    require(all[here] == length_);
    return side(id, here);
  }

  // Rows are positions. What is multiplied from the right has positions along one of the last two axes (keys,
  // values), of which all are needed.
  void put_product(const Node& node) {
    const ValueId left = node.inputs[0], right = node.inputs[1];
    require(is_dependent(left) && made_.at(left).axis != no_axis);
    const int axis = made_.at(left).axis, of_left = rank(left), of_right = rank(right);
    const bool spread = !is_dependent(right) && of_right == 2;
    require(spread ? axis + 1 < of_left : axis + 2 == of_left && of_left == of_right);
    require(!is_dependent(right) || made_.at(right).axis + 2 >= of_right);
    copy(node, {made_.at(left).id, is_dependent(right) ? completed(right) : side(right)}, axis);
  }

  void put_picked(const Node& node) {
    const ValueId from = node.inputs[0], places = node.inputs[1];
    if (node.op == "GatherND") return put_picked_by_record(node);
    const int along = counted_from_front(node.integer("axis", 0), rank(from));
    if (!is_dependent(from)) {  // rows of a table
      require(whole_.is_constant(from) && made_.at(places).axis != no_axis);
      return copy(node, {side(from), made_.at(places).id}, along + made_.at(places).axis);
    }
    const int axis = made_.at(from).axis;
    Shape picked = numbers_of(node, 1);
    const int of_places = rank(places);
    if (along != axis) return copy(node, first_and_sides(node), axis < along ? axis : axis + of_places - 1);
    for (std::int64_t& place : picked) {
      place = (place < 0 ? place + length_ : place) - first_;
      require(place >= 0);
    }
    const Array here = Array::of<std::int64_t>(shape(places), picked);
    copy(node, {made_.at(from).id, builder_.constant({}, here)}, no_axis);
  }
  // A position of each record, which the record says.
  void put_picked_by_record(const Node& node) {
    const ValueId from = node.inputs[0], places = node.inputs[1];
    require(is_dependent(from) && !is_dependent(places) && node.integer("batch_dims", 0) == 1);
    require(made_.at(from).axis == 1 && shape(places) == Shape{1, 1});
    require(!whole_.is_constant(places));
    const ValueId here = given(places, no_axis, 0, 0);
    tail_.given.back().is_place = true;
    copy(node, {made_.at(from).id, here}, no_axis);
  }

  void put_joined(const Node& node) {
    const int along = counted_from_front(node.integer("axis", 0), rank(node.outputs[0]));
    std::vector<ValueId> full;  // an empty cache adds nothing
    for (const ValueId id : node.inputs)
      if (element_count(shape(id)) > 0) full.push_back(id);
    const auto dependent = std::ranges::find_if(full, [&](ValueId id) { return is_dependent(id); });
    require(dependent != full.end());
    const int axis = made_.at(*dependent).axis;
    require(axis != no_axis && (along != axis || full.size() == 1));
    std::vector<ValueId> inputs;
    for (const ValueId id : full) {
      require(!is_dependent(id) || made_.at(id).axis == axis);
      inputs.push_back(aligned(id, axis, rank(node.outputs[0])));
    }
    copy(node, std::move(inputs), axis);
  }

  // Operators that work along other axes than that of positions.
  void put_along_others(const Node& node) {
    require(is_dependent(node.inputs[0]));
    const int axis = made_.at(node.inputs[0]).axis, of_first = rank(node.inputs[0]);
    const auto along = [&](std::int64_t given) { return counted_from_front(given, of_first); };
    int result = axis;
    if (node.op == "Transpose") {
      Shape order(of_first);
      for (int d = 0; d < of_first; ++d) order[d] = of_first - 1 - d;
      order = node.integers("perm", order);
      result = static_cast<int>(std::ranges::find(order, axis) - order.begin());
    } else if (node.op == "LayerNormalization") {
      require(axis < along(node.integer("axis", -1)) && node.outputs.size() == 1);
    } else if (is_softmax(node.op)) {
      require(axis != along(node.integer("axis", -1)));
    } else if (node.op == "Split") {
      require(axis != along(node.integer("axis", 0)));
    } else if (node.op == "Gemm") {
      require(axis == 0 && node.integer("transA", 0) == 0 && whole_.is_constant(node.inputs[1]));
      require(node.inputs.size() < 3 || rank(node.inputs[2]) < 2);
    } else if (node.op == "Slice") {
      for (const std::int64_t other : numbers_of(node, 3)) require(axis != along(other));
    } else if (is_reduction(node.op)) {
      result = without_reduced(node, axis, of_first);
    } else {
      throw UnknownTail();
    }
    copy(node, first_and_sides(node), result);
  }
  int without_reduced(const Node& node, int axis, int of_first) const {
    int before = 0;
    for (const std::int64_t given : numbers_of(node, 1)) {
      const int other = counted_from_front(given, of_first);
      require(other != axis);
      before += other < axis ? 1 : 0;
    }
    return node.integer("keepdims", 1) != 0 ? axis : axis - before;
  }

  const Graph& whole_;
  std::span<const ValueInfo> infos_;
  std::vector<DType> types_;
  std::vector<bool> depends_;
  GraphBuilder builder_;
  std::int64_t first_, length_;
  TokenTail tail_;
  std::map<ValueId, Made> made_;
  std::map<ValueId, ValueId> completed_;
  std::map<std::pair<ValueId, int>, ValueId> sides_;
};

SessionOptions options_for(SessionOptions options, const Graph& tail) {
  options.record_shape.clear();
  options.record_shapes.clear();
  for (const ValueId id : tail.inputs()) {
    const Shape& all = tail.value(id).shape;
    options.record_shapes[tail.value(id).name] = {all.begin() + 1, all.end()};
  }
  return options;
}

}  // namespace

std::optional<TokenTail> tail_of(const Session& session, ValueId tokens, std::int64_t first) {
  const Graph& graph = session.graph();
  const RecordShapes shapes{session.options().record_shape, session.options().record_shapes};
  const Constants constants(graph, memory_limit());
  const auto seen = [&](std::int64_t rows) {
    return sample_shapes(graph, constants, tiny_batch(graph, shapes, rows));
  };
  std::vector<ValueInfo> infos = compare_sample_shapes(graph, seen(2), seen(3));
  const Graph whole = make_static(graph, constants, infos);
  infos.resize(whole.values().size());
  const Shape& of_tokens = infos[index_of(tokens)].shape;
  if (of_tokens.size() != 2 || first <= 0 || first + 1 >= of_tokens[1]) return std::nullopt;
  try {
    TokenTail tail = TailMaker(whole, infos, tokens, first).make();
    tail.options = options_for(session.options(), tail.graph);
    return tail;
  } catch (const UnknownTail&) {
    return std::nullopt;
  }
}

}  // namespace assay::inline engine
