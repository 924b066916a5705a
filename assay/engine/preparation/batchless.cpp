#include "assay/engine/preparation/batchless.h"

#include <assay/array_math.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <string_view>

#include <assay/error.h>
#include <assay/extend/operator_traits.h>
#include <assay/model.h>
#include "assay/engine/operators/memory.h"
#include "assay/engine/preparation/free_batch.h"

namespace assay::inline engine {
namespace {

constexpr std::int64_t tried_records = 3;

// The node only puts an axis of 1 in front of what it is given, or takes it away again.
bool moves_leading_one(const Graph& graph, const Node& node, const SampleShapes& seen) {
  const bool reshapes =
      node.op == "Unsqueeze" || node.op == "Squeeze" || node.op == "Reshape" || node.op == "Flatten";
  if (!reshapes || node.inputs.empty() || graph.is_constant(node.inputs[0])) return false;
  Shape before = seen.shapes[index_of(node.inputs[0])], after = seen.shapes[index_of(node.outputs[0])];
  if (before.size() > after.size()) std::swap(before, after);
  before.insert(before.begin(), 1);
  return before == after;
}

// `records` of those of `original`, which has the same inputs.
Graph declared_with_batch(const Graph& graph, const Graph& original, std::int64_t records) {
  GraphBuilder edit(graph);
  for (const ValueId id : original.inputs()) {
    Shape shape = original.value(id).shape;
    shape.insert(shape.begin(), records);
    edit.set_type(id, original.value(id).dtype, shape);
  }
  return edit.build();
}

// Without the nodes that bring the first axis of 1 to the inputs and take it from the outputs.
std::optional<Graph> without_leading_ones(const Graph& graph, const SampleShapes& seen) {
  GraphBuilder edit(graph);
  bool changed = false;
  for (const NodeId n : graph.node_ids()) {
    const Node& node = graph.node(n);
    const bool at_edge =
        std::ranges::any_of(
            node.inputs,
            [&](ValueId id) { return std::ranges::find(graph.inputs(), id) != graph.inputs().end(); }) ||
        std::ranges::find(graph.outputs(), node.outputs[0]) != graph.outputs().end();
    if (!at_edge || !moves_leading_one(graph, node, seen)) continue;
    edit.replace_node(n, {.name = node.name,
                          .op = "Identity",
                          .inputs = {node.inputs[0]},
                          .outputs = node.outputs,
                          .attributes = {}});
    changed = true;
  }
  return changed ? std::optional(edit.build()) : std::nullopt;
}

using Ints = std::vector<std::int64_t>;

std::size_t nth(std::int64_t i) { return i; }

std::int64_t shifted(std::int64_t axis) { return axis < 0 ? axis : axis + 1; }

// Operators whose attribute `axis` names one of their first operand, with what holds without it.
const std::map<std::string_view, std::int64_t>& axis_operators() {
  static const std::map<std::string_view, std::int64_t> all{
      {"ArgMax", 0},           {"ArgMin", 0},   {"Concat", 0},      {"Gather", 0},
      {"GatherElements", 0},   {"Hardmax", -1}, {"LogSoftmax", -1}, {"LayerNormalization", -1},
      {"LpNormalization", -1}, {"Softmax", -1}, {"Split", 0},       {"TopK", -1}};
  return all;
}

// The graph with every axis that its nodes name one further back, and operands aligned after the new first
// one; matrices that multiply a vector from the left multiply rows from the right. A proposal: it is compared
// before use.
class Shift {
 public:
  Shift(const Graph& graph, const SampleShapes& seen)
      : graph_(graph), seen_(seen), builder_(graph), of_record_(graph.values().size()) {}

  std::optional<Graph> run() {
    for (const ValueId id : graph_.inputs()) of_record_[index_of(id)] = true;
    for (const NodeId n : graph_.node_ids()) {
      const Node& node = graph_.node(n);
      if (std::ranges::none_of(node.inputs, [&](ValueId id) { return is_of_record(id); })) continue;
      Node other = node;
      if (!rewrite(other)) return std::nullopt;
      builder_.replace_node(n, std::move(other));
      for (const ValueId id : node.outputs) {
        if (id != no_value) of_record_[index_of(id)] = true;
      }
    }
    return builder_.build();
  }

 private:
  bool is_of_record(ValueId id) const { return id != no_value && of_record_[index_of(id)]; }
  const Shape& shape(ValueId id) const { return seen_.shapes[index_of(id)]; }
  std::int64_t rank(ValueId id) const { return std::ssize(shape(id)); }

  std::optional<Ints> integers(const Node& node, std::size_t input) const {
    if (input >= node.inputs.size() || !graph_.is_constant(node.inputs[input])) return std::nullopt;
    const Array numbers = graph_.constant(node.inputs[input]).to(DType::int64);
    return Ints(numbers.as<std::int64_t>().begin(), numbers.as<std::int64_t>().end());
  }
  ValueId constant(const Ints& numbers) {
    return builder_.constant({}, Array::of<std::int64_t>({std::ssize(numbers)}, numbers));
  }
  ValueId add(const std::string& op, const Node& node, std::vector<ValueId> inputs,
              std::map<std::string, Attribute> attributes = {}) {
    return builder_.add(op, builder_.unused_name(node.name + "/" + op), std::move(inputs),
                        std::move(attributes));
  }

  // The node writes a value of the seen shape, after the records.
  bool as_view(Node& node) {
    Ints target = shape(node.outputs[0]);
    target.insert(target.begin(), -1);
    node = {node.name, "Reshape", {node.inputs[0], constant(target)}, {node.outputs[0]}, {}};
    return true;
  }

  // Operands that follow from records get as many axes as the result has.
  void align(Node& node, std::int64_t axes) {
    for (ValueId& id : node.inputs) {
      if (!is_of_record(id) || rank(id) >= axes) continue;
      Ints fresh(nth(axes - rank(id)));
      std::iota(fresh.begin(), fresh.end(), std::int64_t{1});
      id = add("Unsqueeze", node, {id, constant(fresh)});
    }
  }

  bool shift_axes_input(Node& node, std::size_t input, Ints fallback) {
    const bool given = input < node.inputs.size() && node.inputs[input] != no_value;
    std::optional<Ints> axes = given ? integers(node, input) : std::optional(std::move(fallback));
    if (!axes) return false;
    for (std::int64_t& axis : *axes) axis = shifted(axis);
    if (node.inputs.size() <= input) node.inputs.resize(input + 1, no_value);
    node.inputs[input] = constant(*axes);
    return true;
  }

  Ints all_axes(const Node& node) const {
    Ints axes(nth(rank(node.inputs[0])));
    std::iota(axes.begin(), axes.end(), std::int64_t{0});
    return axes;
  }

  // The last two axes of a matrix swapped.
  ValueId transposed(const Node& node, ValueId id) {
    if (graph_.is_constant(id))
      return builder_.constant({}, graph_.constant(id).transpose(-1, -2).contiguous());
    return add("Transpose", node, {id}, {{"perm", is_of_record(id) ? Ints{0, 2, 1} : Ints{1, 0}}});
  }

  bool multiply(Node& node) {
    const ValueId left = node.inputs[0], right = node.inputs[1];
    if (is_of_record(left) && is_of_record(right)) return rank(left) == rank(right) && rank(left) >= 2;
    if (is_of_record(left)) return true;
    if (rank(right) > 1) return true;
    if (rank(left) != 2) return false;
    node.inputs = {right, transposed(node, left)};
    return true;
  }

  bool multiply_and_add(Node& node) {
    const auto side = [&](std::size_t i, const char* attribute) {
      const ValueId id = node.inputs[i];
      return node.integer(attribute, 0) != 0 ? transposed(node, id) : id;
    };
    const auto number = [&](float value) {
      return builder_.constant({}, Array::of<float>({}, std::vector{value}));
    };
    const float alpha = node.real("alpha", 1), beta = node.real("beta", 1);
    ValueId result = add("MatMul", node, {side(0, "transA"), side(1, "transB")});
    if (alpha != 1) result = add("Mul", node, {result, number(alpha)});
    ValueId addend = node.inputs.size() > 2 ? node.inputs[2] : no_value;
    if (addend != no_value && beta != 1) addend = add("Mul", node, {addend, number(beta)});
    const bool adds = addend != no_value;
    node = {node.name, adds ? "Add" : "Identity", {result}, node.outputs, {}};
    if (adds) node.inputs.push_back(addend);
    return true;
  }

  bool pad(Node& node) {
    if (node.inputs.size() > 3 && node.inputs[3] != no_value) return shift_axes_input(node, 3, {});
    std::optional<Ints> amounts = integers(node, 1);
    if (!amounts || std::ssize(*amounts) != 2 * rank(node.inputs[0])) return false;
    amounts->insert(amounts->begin() + std::ssize(*amounts) / 2, 0);
    amounts->insert(amounts->begin(), 0);
    node.inputs[1] = constant(*amounts);
    return true;
  }

  bool repeat(Node& node) {
    std::optional<Ints> counts = integers(node, 1);
    if (!counts) return false;
    if (node.op == "Expand") align(node, std::max(rank(node.inputs[0]), std::ssize(*counts)));
    counts->insert(counts->begin(), 1);
    node.inputs[1] = constant(*counts);
    return true;
  }

  bool rewrite(Node& node) {
    const std::string& op = node.op;
    if (op == "MatMul") return multiply(node);
    if (op == "Gemm") return multiply_and_add(node);
    if (has_trait(op, Trait::reshapes)) return has_fixed_form(node) && as_view(node);
    if (op == "Transpose") return transpose(node);
    if (op == "Pad") return pad(node);
    if (op == "Expand" || op == "Tile") return repeat(node);
    if (is_reduction(op)) {
      const bool noop = node.integer("noop_with_empty_axes", 0) != 0;
      return !noop && shift_axes_input(node, 1, all_axes(node));
    }
    if (op == "Slice") return shift_axes_input(node, 3, slice_axes(node));
    if (const auto found = axis_operators().find(op); found != axis_operators().end()) {
      if (!std::ranges::all_of(node.inputs,
                               [&](ValueId id) { return id == node.inputs[0] || moves_along(node, id); }))
        return false;
      node.attributes["axis"] = shifted(node.integer("axis", found->second));
      return true;
    }
    if (!is_elementwise(op) && !has_trait(op, Trait::broadcasts) && op != "Where") return false;
    align(node, rank(node.outputs[0]));
    return true;
  }

  // The record is what changes its form, and no record says which form it gets.
  bool has_fixed_form(const Node& node) const {
    return is_of_record(node.inputs[0]) && std::none_of(node.inputs.begin() + 1, node.inputs.end(),
                                                        [&](ValueId id) { return is_of_record(id); });
  }

  // Operands after the first: parts of a Concat that all follow from records, constants of others.
  bool moves_along(const Node& node, ValueId id) const {
    if (id == no_value) return true;
    return node.op == "Concat" || node.op == "GatherElements" ? is_of_record(id) : graph_.is_constant(id);
  }

  Ints slice_axes(const Node& node) const {
    Ints axes(nth(element_count(shape(node.inputs[1]))));
    std::iota(axes.begin(), axes.end(), std::int64_t{0});
    return axes;
  }

  bool transpose(Node& node) {
    Ints order = all_axes(node);
    std::ranges::reverse(order);
    order = node.integers("perm", order);
    for (std::int64_t& axis : order) ++axis;
    order.insert(order.begin(), 0);
    node.attributes["perm"] = order;
    return true;
  }

  const Graph& graph_;
  const SampleShapes& seen_;
  GraphBuilder builder_;
  std::vector<bool> of_record_;
};

class Trial {
 public:
  explicit Trial(const Graph& graph) {
    const Graph several = declared_with_batch(graph, graph, tried_records);
    inputs_ = tiny_batch(several, {}, tried_records);
    const Constants constants(graph, memory_limit());
    std::vector<Tensors> alone;
    for (std::int64_t i = 0; i < tried_records; ++i) {
      Tensors one;
      for (const auto& [id, tensor] : inputs_) one.emplace(id, tensor.select(0, i));
      alone.push_back(run_all(graph, constants, one));
    }
    for (const ValueId id : graph.outputs()) {
      std::vector<Array> rows;
      for (const Tensors& outputs : alone) rows.push_back(outputs.at(id).reshape({-1}));
      wanted_.emplace(id, array::stack(rows).to(DType::float64));
    }
    Tensors first;
    for (const auto& [id, tensor] : inputs_) first.emplace(id, tensor.select(0, 0));
    seen_ = sample_shapes(graph, constants, first);
  }

  const SampleShapes& seen() const { return seen_; }

  bool holds_for(const Graph& candidate) const {
    try {
      const Constants constants(candidate, memory_limit());
      for (const auto& [id, tensor] : run_all(candidate, constants, inputs_)) {
        const Array& wanted = wanted_.at(id);
        if (tensor.rank() == 0 || tensor.size(0) != tried_records || tensor.count() != wanted.count())
          return false;
        if (!array::allclose(tensor.reshape(wanted.shape()).to(DType::float64), wanted, 1e-4, 1e-6,
                             /*equal_nan=*/true))
          return false;
      }
      return true;
    } catch (const Error& error) {
      if (error.fault() == Fault::interrupted || error.fault() == Fault::resources) throw;
      return false;
    }
  }

 private:
  Tensors inputs_, wanted_;  // [tried_records, ...]
  SampleShapes seen_;
};

// Targets of Reshape that were made for one record.
std::optional<Graph> freed(const Graph& graph, const Graph& original) {
  const Graph one = declared_with_batch(graph, original, 1);
  try {
    const Constants constants(one, memory_limit());
    return free_batch(one, constants, sample_shapes(one, constants, tiny_batch(one, {}, 1)), 1);
  } catch (const Error& error) {
    if (error.fault() == Fault::interrupted || error.fault() == Fault::resources) throw;
    return std::nullopt;
  }
}

// Declared for any number of records; outputs as they come.
Graph opened(const Graph& graph, const Graph& original) {
  const Graph open = declared_with_batch(graph, original, -1);
  GraphBuilder edit(open);
  for (const ValueId id : graph.outputs()) {
    if (graph.producer(id) != no_node) edit.set_type(id, graph.value(id).dtype, {});
  }
  return edit.build();
}

}  // namespace

bool takes_single_record(const Graph& graph, const RecordShapes& known) {
  if (graph.inputs().empty()) return false;
  return std::ranges::all_of(graph.inputs(), [&](ValueId id) {
    const Shape &declared = graph.value(id).shape, &told = known.of(graph, id);
    if (declared.empty() || std::ranges::count(declared, -1) > 0) return false;
    if (declared[0] == 1) return false;  // a batch of one, which records with one channel fit as well
    if (!told.empty()) return told == declared;
    return (declared.size() == 1 || declared.size() == 3) && input_form(graph, id, {}).batch_axis == 0;
  });
}

bool leads_with_records(const Graph& graph) {
  const std::int64_t batch = graph.value(graph.inputs()[0]).shape[0];
  const auto of_that_size = [&](ValueId id) { return graph.value(id).shape[0] == batch; };
  if (!std::ranges::all_of(graph.inputs(), of_that_size)) return false;
  const array::Recording unrecorded(false);
  const Constants constants(graph, memory_limit());
  const auto found = find_records(graph, constants, {}, batch);
  return std::ranges::any_of(graph.outputs(), [&](ValueId id) {
    const ValueInfo& info = found[index_of(id)];
    return info.of_records && info.batch_axis >= 0;
  });
}

std::optional<Graph> with_batch_axis(const Graph& graph) {
  const array::Recording unrecorded(false);
  const Trial trial(graph);
  std::vector<Graph> candidates{graph};
  if (auto bare = without_leading_ones(graph, trial.seen())) candidates.push_back(std::move(*bare));
  for (std::size_t i = candidates.size(); i-- > 0;) {
    if (auto free = freed(candidates[i], graph)) candidates.push_back(std::move(*free));
  }
  for (const Graph& candidate : candidates) {
    if (trial.holds_for(candidate)) return opened(candidate, graph);
  }
  const std::optional<Graph> shifted = Shift(graph, trial.seen()).run();
  return shifted && trial.holds_for(*shifted) ? std::optional(opened(*shifted, graph)) : std::nullopt;
}

std::optional<Graph> with_axis_of_one(const Graph& graph) {
  GraphBuilder edit(graph);
  const ValueId front = edit.constant({}, Array::of<std::int64_t>({1}, std::vector<std::int64_t>{0}));
  for (const ValueId id : graph.outputs()) {
    if (graph.producer(id) == no_node) return std::nullopt;
    const std::string name = edit.unused_name(graph.value(id).name + " (with records)");
    const ValueId inner = edit.wrap(
        id, {.name = name, .op = "Unsqueeze", .inputs = {id, front}, .outputs = {id}, .attributes = {}});
    for (const NodeId n : graph.consumers(id)) {
      Node reader = edit.node(n);
      std::ranges::replace(reader.inputs, id, inner);
      edit.replace_node(n, std::move(reader));
    }
    edit.set_type(id, graph.value(id).dtype, {});
  }
  for (const ValueId id : graph.inputs()) {
    Shape shape = graph.value(id).shape;
    shape.insert(shape.begin(), 1);
    edit.set_type(id, graph.value(id).dtype, shape);
    edit.insert_after(id, "Squeeze", edit.unused_name(graph.value(id).name + " (one record)"), {front});
  }
  return edit.build();
}

}  // namespace assay::inline engine
