#include "assay/engine/shape_inference.h"

#include <assay/array_math.h>

#include <algorithm>
#include <set>
#include <span>
#include <string_view>

#include <assay/error.h>
#include <assay/extend/operator_traits.h>
#include <assay/extend/random.h>
#include "assay/engine/elements.h"
#include "assay/engine/operators/memory.h"
#include "assay/engine/preparation/input_form.h"
#include "assay/engine/sample_shapes.h"

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
                      : whole(static_cast<std::int64_t>(uniform * made_up.integers));
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

}  // namespace

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
