#include "assay/engine/shape_inference.h"

#include <assay/array_math.h>

#include <algorithm>
#include <functional>
#include <set>
#include <span>
#include <string_view>

#include <assay/error.h>
#include <assay/extend/operator_traits.h>
#include <assay/extend/random.h>
#include "assay/engine/elements.h"
#include "assay/engine/execute.h"
#include "assay/engine/operators/memory.h"
#include "assay/engine/preparation/input_form.h"
#include "assay/engine/preparation/shape_arithmetic.h"
#include "assay/engine/preparation/shape_rules.h"

namespace assay::inline engine {
namespace {

// True when a dimension of two batches, of two and of three records, is proportional to the number of
// records.
bool scales(std::int64_t two, std::int64_t three) { return three > two && two == 2 * (three - two); }

ValueInfo compare(const Shape& two, const Shape& three) {
  ValueInfo info;
  info.computed = true;
  info.shape = two;
  info.varying_axis = -2;
  if (two.size() != three.size()) return info;
  int axis = -1;
  for (std::size_t i = 0; i < two.size(); ++i) {
    if (two[i] == three[i]) continue;
    if (axis >= 0 || !scales(two[i], three[i])) return info;
    axis = static_cast<int>(i);
  }
  info.varying_axis = axis;
  if (axis < 0) return info;
  info.batch_axis = axis;
  info.batch_multiple = two[axis] / 2;
  info.shape[axis] = info.batch_multiple;
  return info;
}

Array numbers(const Shape& shape, DType type, std::uint64_t stream, const SampleInput& made_up) {
  const Array tensor = array::empty(shape);
  const bool real = is_real(type);
  // One number a record, a length say: no two alike, if there is room.
  const bool counts = !real && (shape.empty() || tensor.count() == shape[0]);
  Rng rng(made_up.seed, {stream});
  float* const out = tensor.elements<float>();
  for (std::int64_t i = 0; i < tensor.count(); ++i) {
    const auto whole = [&](std::int64_t number) { return static_cast<float>(number % made_up.integers); };
    const double uniform = rng.uniform();
    out[i] = real     ? static_cast<float>(uniform)
             : counts ? whole(i + static_cast<std::int64_t>(made_up.seed) - 1)
                      : whole(static_cast<std::int64_t>(uniform * static_cast<double>(made_up.integers)));
  }
  return in_memory(tensor, type);
}

// Where recurrent operators put the batch, by the number of the output: Y, Y_h, Y_c.
int recurrent_batch_axis(const Node& node, std::size_t output) {
  const bool batch_first = node.integer("layout", 0) == 1;
  if (batch_first) return 0;
  return output == 0 ? 2 : 1;
}

// A Reshape that merges [time, batch, ...] into rows interleaves the records: rows of one record are not
// adjacent. Such values, and what is computed from them row by row, are marked as not understood.
void discard_interleaved(const Graph& graph, std::vector<ValueInfo>& infos) {
  std::vector<bool> interleaved(infos.size(), false);
  const auto info = [&](ValueId id) -> ValueInfo& { return infos[index_of(id)]; };
  for (const Node& node : graph.nodes()) {
    const bool merges = node.op == "Reshape" || node.op == "Flatten";
    const bool affected = std::ranges::any_of(node.inputs, [&](ValueId id) {
      return id != no_value && (interleaved[index_of(id)] || (merges && info(id).batch_axis > 0));
    });
    for (const ValueId id : node.outputs) {
      if (!affected || id == no_value || info(id).batch_multiple == 1) continue;
      interleaved[index_of(id)] = true;
      info(id).batch_axis = -1;
    }
  }
}

// Values that depend on the inputs, not only on their sizes.
void mark_of_records(const Graph& graph, std::vector<ValueInfo>& infos) {
  const auto info = [&](ValueId id) -> ValueInfo& { return infos[index_of(id)]; };
  for (const ValueId id : graph.inputs()) info(id).of_records = input_form(graph, id, {}).batch_axis >= 0;
  for (const Node& node : graph.nodes()) {
    if (node.op == "Shape" || node.op == "Size") continue;
    const bool reads =
        std::ranges::any_of(node.inputs, [&](ValueId id) { return id != no_value && info(id).of_records; });
    for (const ValueId id : node.outputs) {
      if (reads && id != no_value) info(id).of_records = true;
    }
  }
}

// Whether an operand tells how large the result is, rather than what is in it.
bool tells_size(const Node& node, std::size_t input) {
  if (is_kind(node.op, OperatorKind::generator) || node.op == "If" || node.op == "Loop") return true;
  const bool by_element = is_elementwise(node.op) || is_kind(node.op, OperatorKind::truth) ||
                          node.op.starts_with("Gather") || node.op.starts_with("Scatter") ||
                          node.op == "Where" || node.op == "Concat" || node.op == "ReverseSequence" ||
                          node.op.ends_with("quantizeLinear") || node.op.ends_with("QuantizeLinear") ||
                          is_recurrent(node.op);
  return input > 0 && !by_element;
}

void mark_shaped_by_content(const Graph& graph, std::vector<ValueInfo>& infos) {
  const std::set<std::string_view> choosers{"Compress", "Loop", "NonMaxSuppression", "NonZero", "Unique"};
  for (const Node& node : graph.nodes()) {
    bool depends = choosers.contains(node.op);
    for (std::size_t i = 0; i < node.inputs.size() && !depends; ++i) {
      if (node.inputs[i] == no_value) continue;
      const ValueInfo& input = infos[index_of(node.inputs[i])];
      depends = input.shaped_by_content || (input.of_records && !input.floating && tells_size(node, i));
    }
    for (const ValueId id : node.outputs) {
      if (id != no_value) infos[index_of(id)].shaped_by_content = depends;
    }
  }
}

// Whether what records hold says where records, or parts of them, are put.
bool may_reorder(const Graph& graph, const std::vector<ValueInfo>& infos) {
  const auto of_records = [&](ValueId id) { return id != no_value && infos[index_of(id)].of_records; };
  const auto stay = [&](const Node& node) {  // each record's part is looked up in the same record
    return node.op == "GatherND" && node.integer("batch_dims", 0) > 0 &&
           infos[index_of(node.inputs[0])].batch_axis == 0 && infos[index_of(node.inputs[1])].batch_axis == 0;
  };
  return std::ranges::any_of(graph.nodes(), [&](const Node& node) {
    const bool moves =
        node.op.starts_with("Gather") || node.op.starts_with("Scatter") || node.op == "Compress";
    return moves && !stay(node) && node.inputs.size() > 1 && of_records(node.inputs[1]) &&
           (of_records(node.inputs[0]) || (node.inputs.size() > 2 && of_records(node.inputs[2])));
  });
}

// Sees what the runs give for a value, before it is released.
using OnRuns = std::function<void(ValueId, std::span<const Array>)>;

void see(SampleShapes& seen, ValueId id, const Array& tensor) {
  const auto index = index_of(id);
  seen.shapes[index] = tensor.shape();
  seen.types[index] = tensor.dtype();
  seen.computed[index] = true;
}

// Before any node: constants and inputs.
SampleShapes given_values(const Constants& constants, const Tensors& inputs) {
  const std::size_t count = constants.values().size();
  SampleShapes seen{std::vector<Shape>(count), std::vector<DType>(count), std::vector<bool>(count)};
  for (const ValueId id : IdRange<ValueId>(count)) {
    if (constants.has(id)) see(seen, id, constants.values()[index_of(id)]);
  }
  for (const auto& [id, tensor] : inputs) see(seen, id, tensor);
  return seen;
}

constexpr std::size_t most_held_bytes = std::size_t{256} << 20;

// Shapes, and numbers that are computed of them. A node without a rule runs on zeros where shapes alone tell
// the sizes of its results. Otherwise it runs as it is, and so does what it reads: most often masks and
// positions, which cost little.
class ByRules {
 public:
  ByRules(const Graph& graph, const Constants& constants, const Tensors& inputs)
      : graph_(graph),
        constants_(constants),
        executor_{graph, constants.values(), context_, no_observer_},
        seen_(given_values(constants, inputs)),
        given_(seen_.computed),
        values_(graph.values().size()) {
    const array::Recording unrecorded(false);
    for (const auto& [id, tensor] : inputs) values_[index_of(id)] = tensor;
    for (const NodeId n : make_plan(graph, given_, graph.outputs()).nodes) {
      const Node& node = graph.node(n);
      const bool found = numbers(node) || forms(node) || forms_by_contents(node) || contents_of_results(n);
      if (!found) {
        complete_ = false;
        return;
      }
    }
  }

  // Unless so much had to run that its results are not to be held together.
  std::optional<SampleShapes> found() && {
    return complete_ ? std::optional(std::move(seen_)) : std::nullopt;
  }

 private:
  // The elements of the value, if it is constant, given, known from shapes or computed.
  const Array* known(ValueId id) const {
    const Array& value = values_[index_of(id)];
    if (value.defined()) return &value;
    return constants_.has(id) ? &constants_.values()[index_of(id)] : nullptr;
  }

  bool numbers(const Node& node) {
    std::optional<Array> result;
    if (node.op == "Shape") {
      result = dimensions(node, seen_.shapes[index_of(node.inputs[0])]);
    } else {
      std::vector<Array> operands;
      for (const ValueId id : node.inputs) {
        const Array* const held = id == no_value ? nullptr : known(id);
        if (held == nullptr) return false;
        operands.push_back(*held);
      }
      result = integer_result(node, operands);
    }
    if (!result) return false;
    see(seen_, node.outputs[0], *result);
    values_[index_of(node.outputs[0])] = *std::move(result);
    return true;
  }

  bool forms(const Node& node) {
    std::vector<OperandShape> operands;
    for (const ValueId id : node.inputs) {
      if (id == no_value) {
        operands.emplace_back();
        continue;
      }
      const auto index = index_of(id);
      if (!seen_.computed[index]) return false;
      operands.push_back({&seen_.shapes[index], seen_.types[index], known(id)});
    }
    std::vector<ResultForm> results = result_forms(node, operands);
    if (results.empty()) results = forms_on_zeros(node, operands);
    for (std::size_t i = 0; i < std::min(results.size(), node.outputs.size()); ++i) {
      if (node.outputs[i] == no_value) continue;
      const auto index = index_of(node.outputs[i]);
      seen_.shapes[index] = std::move(results[i].shape);
      seen_.types[index] = results[i].type;
      seen_.computed[index] = true;
    }
    return !results.empty();
  }

  // Where integers that the rule asks for are computed from more than shapes.
  bool forms_by_contents(const Node& node) {
    bool more = false;
    for (std::size_t i = 1; i < node.inputs.size(); ++i) {
      const ValueId id = node.inputs[i];
      if (id == no_value || known(id) != nullptr || seen_.types[index_of(id)] != DType::int64) continue;
      if (!contents(id)) return false;
      more = true;
    }
    return more && forms(node);
  }

  bool contents_of_results(NodeId n) {
    const auto& outputs = graph_.node(n).outputs;
    const auto first = std::ranges::find_if(outputs, [](ValueId id) { return id != no_value; });
    return first == outputs.end() || values_[index_of(*first)].defined() || contents(*first);
  }

  // Runs the value's node, and before it what that reads.
  bool contents(ValueId wanted) {
    const NodeId producer = graph_.producer(wanted);
    const bool ready = std::ranges::all_of(
        graph_.node(producer).inputs, [&](ValueId id) { return id == no_value || known(id) != nullptr; });
    if (ready) return run(producer);
    std::vector<bool> there = given_;
    for (std::size_t i = 0; i < values_.size(); ++i) there[i] = there[i] || values_[i].defined();
    return std::ranges::all_of(make_plan(graph_, there, std::span(&wanted, 1)).nodes,
                               [&](NodeId n) { return run(n); });
  }

  bool run(NodeId n) {
    executor_.run(n, values_);
    for (const ValueId id : graph_.node(n).outputs) {
      if (id == no_value || !values_[index_of(id)].defined()) continue;
      see(seen_, id, values_[index_of(id)]);
      held_bytes_ += values_[index_of(id)].byte_size();
    }
    return held_bytes_ <= most_held_bytes;
  }

  const Graph& graph_;
  const Constants& constants_;
  KernelContext context_;
  OnValue no_observer_;
  Executor executor_;
  SampleShapes seen_;
  std::vector<bool> given_;    // before any node
  std::vector<Array> values_;  // elements that are known, but those of constants
  std::size_t held_bytes_ = 0;
  bool complete_ = true;
};

// Runs the whole graph on several batches, node by node; what is returned is of the first.
SampleShapes look(const Graph& graph, const Constants& constants, std::span<const Tensors> batches,
                  const OnRuns& on_runs) {
  const array::Recording unrecorded(false);
  const std::size_t count = graph.values().size();
  SampleShapes seen = given_values(constants, batches[0]);
  std::vector<std::vector<Array>> runs(batches.size(), std::vector<Array>(count));
  for (std::size_t r = 0; r < runs.size(); ++r) {
    for (const auto& [id, tensor] : batches[r]) runs[r][index_of(id)] = tensor;
  }
  KernelContext context;
  const OnValue no_observer;
  const Executor executor{graph, constants.values(), context, no_observer};
  const Plan plan = make_plan(graph, seen.computed, graph.outputs());
  for (std::size_t step = 0; step < plan.nodes.size(); ++step) {
    for (auto& values : runs) executor.run(plan.nodes[step], values);
    for (const ValueId id : graph.node(plan.nodes[step]).outputs) {
      const auto index = index_of(id);
      if (id == no_value || !runs[0][index].defined()) continue;
      see(seen, id, runs[0][index]);
      std::vector<Array> results;
      for (const auto& values : runs) results.push_back(values[index]);
      if (on_runs) on_runs(id, results);
    }
    for (auto& values : runs) release(plan.release[step], values);
  }
  return seen;
}

// A batch, the same with the last record in front, and the same with another first record.
std::vector<Tensors> batches_to_compare(const Graph& graph, const RecordShapes& known, std::int64_t records,
                                        std::int64_t integers) {
  std::vector<Tensors> batches{tiny_batch(graph, known, records, {.integers = integers})};
  if (records == 1) return batches;
  const Tensors others = tiny_batch(graph, known, records, {.integers = integers, .seed = 2});
  batches.resize(3, batches[0]);
  for (const ValueId id : graph.inputs()) {
    const std::int64_t axis = input_form(graph, id, known).batch_axis, one = 1;
    if (axis < 0) continue;
    const Array& given = batches[0].at(id);
    batches[1][id] = array::roll(given, one, axis);
    batches[2][id] = array::cat({others.at(id).narrow(axis, 0, 1), given.narrow(axis, 1, records - 1)}, axis);
  }
  return batches;
}

// The axes along which a value may hold its records, given what these batches make of it.
std::vector<int> possible_axes(std::span<const Array> results, std::int64_t records) {
  std::vector<int> axes;
  const Array& first = results[0];
  const bool alike = std::ranges::all_of(
      results, [&](const Array& other) { return other.defined() && other.shape() == first.shape(); });
  if (!alike || first.count() == 0) return axes;
  std::vector<Array> values;
  const auto type = first.dtype() == DType::float64 ? DType::float64 : DType::float32;
  for (const Array& result : results) values.push_back(array::nan_to_num(result.to(type), 0, 0, 0));
  const auto most = [](const Array& difference) { return difference.abs().max().item<double>(); };
  const Array &here = values[0], &rolled = values[values.size() > 1 ? 1 : 0];
  const Array change = (values.back() - here).abs();
  // Rounding moves a value less than another record does.
  const double rounding = 1e-6 * most(here), allowed = std::max(0.1 * most(rolled - here), rounding);
  const double greatest = most(change);
  for (int axis = 0; axis < here.rank(); ++axis) {
    if (here.size(axis) % records != 0) continue;
    const std::int64_t rows = here.size(axis) / records, along = axis;
    if (most(array::roll(here, rows, along) - rolled) > allowed) continue;
    if (greatest > rounding && most(change.narrow(axis, 0, rows)) < 0.01 * greatest) continue;
    axes.push_back(axis);
  }
  return axes;
}

struct Experiment {
  SampleShapes seen;
  std::vector<std::vector<int>> axes;  // that may hold the records, for each value that a node computes
};

// With integers that differ, where the network takes them.
Experiment experiment_with(const Graph& graph, const Constants& constants, const RecordShapes& known,
                           std::int64_t records) {
  Experiment result;
  const auto run = [&](std::int64_t integers) {
    result.axes.assign(graph.values().size(), {});
    result.seen = look(graph, constants, batches_to_compare(graph, known, records, integers),
                       [&](ValueId id, std::span<const Array> results) {
                         result.axes[index_of(id)] = possible_axes(results, records);
                       });
  };
  const bool differ =
      std::ranges::any_of(graph.inputs(), [&](ValueId id) { return !is_real(graph.value(id).dtype); });
  for (const std::int64_t integers : {8, 2}) {
    if (!differ) break;  // there an index that does not exist ends the process
    try {
      run(integers);
      return result;
    } catch (const Error& error) {
      if (error.fault() == Fault::interrupted || error.fault() == Fault::resources) throw;
    }
  }
  run(1);
  return result;
}

// Of several possible axes, where all records look alike: that of an operand of the same shape, or the first
// with as many elements as there are records.
int choose_axis(const Node& node, std::size_t output, const Experiment& experiment,
                const std::vector<ValueInfo>& infos, std::int64_t batch) {
  const std::vector<int>& axes = experiment.axes[index_of(node.outputs[output])];
  if (axes.size() < 2) return axes.empty() ? -1 : axes[0];
  const auto possible = [&](int axis) { return std::ranges::find(axes, axis) != axes.end(); };
  if (is_recurrent(node.op) && possible(recurrent_batch_axis(node, output)))
    return recurrent_batch_axis(node, output);
  const auto& shapes = experiment.seen.shapes;
  const Shape& shape = shapes[index_of(node.outputs[output])];
  for (const ValueId id : node.inputs) {
    const bool same = id != no_value && node.op != "Transpose" && shapes[index_of(id)] == shape;
    if (same && possible(infos[index_of(id)].batch_axis)) return infos[index_of(id)].batch_axis;
  }
  const auto exact = std::ranges::find_if(axes, [&](int a) { return shape[a] == batch; });
  return exact == axes.end() ? axes[0] : *exact;
}

// Whether sizes of results follow from sizes of operands, and from the elements of those that tell sizes.
bool is_sized_by_shapes(const Node& node) {
  using enum OperatorKind;
  constexpr std::array kinds{activation,   arithmetic, convolution, dense,     function, normalisation,
                             pass_through, pooling,    recurrent,   reduction, softmax,  truth};
  return std::ranges::any_of(kinds, [&](OperatorKind kind) { return is_kind(node.op, kind); });
}

}  // namespace

std::vector<ResultForm> forms_on_zeros(const Node& node, std::span<const OperandShape> operands) {
  if (!is_sized_by_shapes(node)) return {};
  try {
    std::vector<Array> inputs(operands.size());
    std::size_t bytes = 0;
    for (std::size_t i = 0; i < operands.size(); ++i) {
      const auto& [shape, type, constant] = operands[i];
      if (shape == nullptr) continue;
      if (constant != nullptr) {
        inputs[i] = *constant;
        continue;
      }
      if (!is_real(type) && tells_size(node, i)) return {};
      check_size(*shape, size_of(type));
      bytes += static_cast<std::size_t>(element_count(*shape)) * size_of(type);
      if (bytes > most_held_bytes) return {};
      inputs[i] = array::zeros(*shape, type);
    }
    const array::Recording unrecorded(false);
    KernelContext context;
    std::vector<ResultForm> forms;
    for (const Array& result : run_node(node, inputs, context)) {
      if (!result.defined()) return {};  // which ones there are is seen when it runs
      forms.push_back({result.shape(), result.dtype()});
    }
    return forms;
  } catch (const Error& error) {  // zeros may not suit it
    if (error.fault() == Fault::interrupted) throw;
    return {};
  }
}

Tensors tiny_batch(const Graph& graph, const RecordShapes& known, std::int64_t rows,
                   const SampleInput& made_up) {
  Tensors inputs;
  for (const ValueId id : graph.inputs()) {
    const Value& value = graph.value(id);
    const InputForm form = input_form(graph, id, known);
    Shape shape = form.record;
    for (std::size_t i = 0; i < shape.size(); ++i) {
      if (shape[i] < 0) {
        fail(Fault::usage,
             "dimension {} of input '{}' of network '{}', which takes {}, is known neither from the file nor "
             "from the data; give {}",
             i + 1, value.name, graph.name(), to_string(value.shape),
             About{"the shape of one record", "data, or the shape of one record with {input-shape=SHAPE}"});
      }
    }
    if (form.batch_axis >= 0) shape.insert(shape.begin() + form.batch_axis, rows);
    check_size(shape, size_of(value.dtype));
    const auto stream = static_cast<std::uint64_t>(id);
    const SampleInput& own = form.batch_axis >= 0 ? made_up : SampleInput();
    inputs.emplace(id, numbers(shape, value.dtype, stream, own));
  }
  return inputs;
}

SampleShapes sample_shapes(const Graph& graph, const Constants& constants, const Tensors& inputs) {
  if (std::optional<SampleShapes> known = ByRules(graph, constants, inputs).found()) return *std::move(known);
  return look(graph, constants, std::span(&inputs, 1), {});
}

BatchBytes batch_bytes(const Graph& graph, std::span<const ValueInfo> infos) {
  const auto bytes = [&](ValueId id) {
    const ValueInfo& info = infos[index_of(id)];
    return info.batch_axis < 0 ? 0.0 : static_cast<double>(sizeof(float)) * element_count(info.shape);
  };
  std::vector<NodeId> last_reader(graph.values().size(), no_node);
  for (const NodeId n : graph.node_ids()) {
    for (const ValueId id : graph.node(n).inputs)
      if (id != no_value) last_reader[index_of(id)] = n;
  }
  BatchBytes found;
  double now = 0;
  const auto comes = [&](ValueId id) {
    found.all += bytes(id);
    found.at_a_time = std::max(found.at_a_time, now += bytes(id));
  };
  for (const ValueId id : graph.inputs()) comes(id);
  for (const NodeId n : graph.node_ids()) {
    std::set<ValueId> read;
    for (const ValueId id : graph.node(n).inputs)
      if (id != no_value) read.insert(id);
    for (const ValueId id : graph.node(n).outputs)
      if (id != no_value) comes(id);
    for (const ValueId id : read)
      if (last_reader[index_of(id)] == n) now -= bytes(id);
  }
  return found;
}

std::vector<ValueInfo> compare_sample_shapes(const Graph& graph, const SampleShapes& two,
                                             const SampleShapes& three) {
  std::vector<ValueInfo> infos(two.shapes.size());
  for (std::size_t i = 0; i < infos.size(); ++i) {
    if (!two.computed[i] || !three.computed[i]) continue;
    infos[i] = compare(two.shapes[i], three.shapes[i]);
    infos[i].floating = is_real(two.types[i]);
    infos[i].single = two.types[i] == DType::float32;
  }
  mark_of_records(graph, infos);
  mark_shaped_by_content(graph, infos);
  discard_interleaved(graph, infos);
  return infos;
}

void discard_reordered(const Graph& graph, const Constants& constants, const RecordShapes& known,
                       std::vector<ValueInfo>& infos) {
  if (!may_reorder(graph, infos)) return;
  constexpr std::int64_t records = 3;
  const Experiment experiment = experiment_with(graph, constants, known, records);
  for (const Node& node : graph.nodes()) {
    for (const ValueId id : node.outputs) {
      if (id == no_value) continue;
      ValueInfo& info = infos[index_of(id)];
      const auto& axes = experiment.axes[index_of(id)];
      if (info.of_records && std::ranges::find(axes, info.batch_axis) == axes.end()) info.batch_axis = -1;
    }
  }
}

std::vector<ValueInfo> find_records(const Graph& graph, const Constants& constants, const RecordShapes& known,
                                    std::int64_t batch) {
  const Experiment experiment = experiment_with(graph, constants, known, batch);
  const SampleShapes& seen = experiment.seen;
  std::vector<ValueInfo> infos(seen.shapes.size());
  for (std::size_t i = 0; i < infos.size(); ++i) {
    infos[i].shape = seen.shapes[i];
    infos[i].computed = seen.computed[i];
    infos[i].floating = seen.computed[i] && is_real(seen.types[i]);
    infos[i].single = seen.computed[i] && seen.types[i] == DType::float32;
  }
  mark_of_records(graph, infos);
  mark_shaped_by_content(graph, infos);
  const auto place = [&](ValueId id, int axis) {
    ValueInfo& info = infos[index_of(id)];
    if (axis < 0 || !info.computed) return;
    std::int64_t& dimension = info.shape[axis];
    dimension /= batch;
    info.batch_axis = axis;
    info.batch_multiple = dimension;
  };
  for (const ValueId id : graph.inputs()) place(id, input_form(graph, id, {}).batch_axis);
  for (const Node& node : graph.nodes()) {
    for (std::size_t o = 0; o < node.outputs.size(); ++o) {
      const ValueId id = node.outputs[o];
      if (id == no_value || !infos[index_of(id)].of_records) continue;
      place(id, choose_axis(node, o, experiment, infos, batch));
    }
  }
  return infos;
}

}  // namespace assay::inline engine
