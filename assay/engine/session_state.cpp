#include "assay/engine/session_state.h"

#include <assay/array_math.h>
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include <assay/error.h>
#include <assay/model.h>
#include "assay/engine/backend.h"
#include "assay/engine/layers/layer_table.h"
#include "assay/engine/operators/memory.h"
#include "assay/engine/preparation/batchless.h"
#include "assay/engine/preparation/free_batch.h"
#include "assay/engine/preparation/input_form.h"
#include "assay/engine/preparation/record_axes.h"
#include "assay/engine/preparation/settled_branches.h"
#include "assay/support/threads.h"

namespace assay::inline engine {
namespace {

void require_kernels(const Graph& graph) {
  for (const Node& node : graph.nodes()) {
    if (find_kernel(node.op)) continue;
    fail(Fault::unsupported,
         "{}: operator '{}' is not supported; docs/operators.md lists those that are, and "
         "docs/howto/add-an-operator.md says how "
         "to add one",
         node.describe(), node.op);
  }
}

std::vector<ValueId> keys(const Tensors& tensors) {
  std::vector<ValueId> ids;
  for (const auto& [id, tensor] : tensors) ids.push_back(id);
  return ids;
}

// Whether the network could not compute with what it was given, as opposed to a lack of memory, say.
bool about_inputs(const Error& error) {
  return error.fault() == Fault::model || error.fault() == Fault::unsupported ||
         error.fault() == Fault::mismatch;
}

// Results of groups of as many records must have one shape.
void require_joinable(const Graph& graph, ValueId id, std::span<const Array> groups) {
  for (const Array& one : groups) {
    if (one.shape() == groups[0].shape()) continue;
    fail(Fault::unsupported,
         "network '{}': value '{}' has the shape {} for some records and {} for others, which cannot form "
         "one array",
         graph.name(), graph.value(id).name, to_string(groups[0].shape()), to_string(one.shape()));
  }
}

// A batch of the size that a file fixes is tried up to so many numbers.
constexpr std::int64_t most_probed_elements = std::int64_t{1} << 26;

// Plans are small; more than this many different requests means that nothing is gained by keeping them.
constexpr std::size_t most_plans = 256;

bool is_empty(const Layer& layer) { return layer.neurons == 0 || element_count(layer.shape) == 0; }

// Of those that are left out.
std::string describe_left_out(const Layer& layer) {
  if (!is_empty(layer))
    return fmt::format("layer '{}' may have another number of rows for each record", layer.name);
  return fmt::format("layer '{}' has no neurons (its activations of a record have shape {})", layer.name,
                     to_string(layer.shape));
}

}  // namespace

Session::State::State(Graph graph_, SessionOptions options_)
    : graph(std::move(graph_)),
      options(std::move(options_)),
      shapes{options.record_shape, options.record_shapes} {
  engines = engine_choice(options.engine, options.device);
  if (graph.outputs().empty())
    fail(Fault::model, "network '{}' has no outputs; read_model() and GraphBuilder make networks",
         graph.name());
  set_engine_threads(options.threads);
  set_memory_limit(options.memory_limit);
  require_kernels(graph);
  settle_open_axes();
  give_batch_axis();
  constants = Constants(graph, memory_limit());
  settle_batch();
  settle_squeezes();
  settle_branches();
}

bool Session::State::nothing_folded_from(std::span<const ValueId> trainable) const {
  if (trainable.empty()) return true;
  const std::vector<bool> valid = constants.valid_without(graph, trainable);
  return std::ranges::none_of(graph.value_ids(), [&](ValueId id) {
    return constants.has(id) && !valid[index_of(id)] && !graph.is_constant(id);
  });
}

void Session::State::give_batch_axis() {
  if (!takes_single_record(graph, shapes)) return;
  const bool told = !shapes.first.empty() || !shapes.named.empty();
  std::optional<Graph> several;
  try {
    if (!told && leads_with_records(graph)) return;  // a batch of that size
    several = with_batch_axis(graph);
  } catch (const Error& error) {
    if (!about_inputs(error)) throw;  // sample inputs do not suit every network
    if (!told) return;
  }
  if (!several) return take_records_alone(told);
  graph = std::move(*several);
  notices.emplace_back(
      "the network is exported for a single record; a batch axis was added in front, and outputs are "
      "unchanged");
}

// Where several records do not pass through the network side by side.
void Session::State::take_records_alone(bool told) {
  std::optional<Graph> one = with_axis_of_one(graph);
  if (!one && !told) return;  // as it is
  if (!one)
    fail(Fault::unsupported,
         "network '{}' is exported for a single record, without an axis for batches ({}), and gives an input "
         "or a constant; export it with a dynamic batch axis",
         graph.name(), to_string(graph.value(graph.inputs()[0]).shape));
  graph = std::move(*one);
}

// The only open axis of an input may be a width instead of that of the records: what is told of records says
// so.
void Session::State::settle_open_axes() {
  GraphBuilder edit(graph);
  bool changed = false;
  for (const ValueId id : graph.inputs()) {
    const Shape &declared = graph.value(id).shape, &told = shapes.of(graph, id);
    if (told.empty() || declared.empty() || declared[0] != 1 || std::ranges::count(declared, -1) != 1)
      continue;
    Shape by_open_axis = declared;
    by_open_axis.erase(std::ranges::find(by_open_axis, -1));
    if (fit_record(told, by_open_axis) || !fit_record(told, {declared.begin() + 1, declared.end()})) continue;
    Shape whole = told;
    whole.insert(whole.begin(), 1);
    edit.set_type(id, graph.value(id).dtype, whole);
    changed = true;
  }
  if (changed) graph = edit.build();
}

// The batch size of a file whose inputs have it along the axes that records tell; 0: no such file.
std::int64_t Session::State::settle_record_axes() {
  std::optional<RecordAxes> told = with_record_axes(graph, shapes);
  if (!told) return 0;
  graph = std::move(told->graph);
  constants = Constants(graph, memory_limit());
  return told->batch;
}

// The batch size that the file fixes; 0: none.
std::int64_t Session::State::declared_batch() {
  std::int64_t batch = 0;
  for (const ValueId id : graph.inputs()) {
    const std::int64_t fixed = input_form(graph, id, {}).fixed_batch;
    together |= batch > 0 && fixed > 0 && fixed != batch;
    batch = std::max(batch, fixed);
  }
  return batch;
}

// A network exported for one batch size is made to take any, if that can be done without changing a result;
// otherwise it runs in groups of that many records.
void Session::State::settle_batch() {
  std::int64_t batch = settle_record_axes();
  if (batch == 0) batch = declared_batch();
  if (batch == 0) return;
  group = batch;
  if (together) return;
  if (probable() && elements_of(batch) > most_probed_elements) return free_large_batch();
  notices.push_back(
      fmt::format("the file fixes the batch size to {}, so records run {} at a time; export the network "
                  "with a dynamic batch axis to run it faster",
                  batch, batch));
  if (!probable()) return;
  try {
    free_the_batch();
  } catch (const Error& error) {
    // Sample inputs do not suit every network: shapes and indices among them, say. It runs as the file says.
    if (!about_inputs(error)) throw;
  }
}

// Squeeze without axes takes the records' axis away as well, where a batch is of one record.
void Session::State::settle_squeezes() {
  if (group > 0 || !probable() || std::ranges::none_of(graph.nodes(), squeezes_all)) return;
  try {
    const SampleShapes seen = sample_shapes(graph, constants, tiny_batch(graph, shapes, 2));
    graph = with_squeezed_axes(graph, seen);
    constants = Constants(graph, memory_limit());
  } catch (const Error& error) {
    if (!about_inputs(error)) throw;
  }
}

// Conditions that only ask for shapes are settled as soon as those are known.
void Session::State::settle_branches() {
  if (!probable()) return;
  const std::vector<std::int64_t> rows = group > 0 ? std::vector{group} : std::vector<std::int64_t>{1, 2, 3};
  try {
    auto settled = with_settled_branches(graph, shapes, rows, memory_limit());
    if (!settled) return;
    graph = std::move(settled->graph);
    constants = Constants(graph, memory_limit());
    notices.push_back(
        fmt::format("the shape of a record tells the branch that node '{}' (If){} takes; what is inside is "
                    "part of the network",
                    settled->nodes[0],
                    settled->nodes.size() > 1 ? fmt::format(" and {} more", settled->nodes.size() - 1) : ""));
  } catch (const Error& error) {
    if (!about_inputs(error)) throw;
  }
}

// Elements of all inputs for so many records; the greatest number where there are more.
std::int64_t Session::State::elements_of(std::int64_t records) const {
  std::int64_t sum = 0;
  for (const ValueId id : graph.inputs()) {
    std::int64_t count = 0;
    const std::int64_t one = element_count(input_form(graph, id, shapes).record);
    if (__builtin_mul_overflow(one, records, &count) || __builtin_add_overflow(sum, count, &sum))
      return std::numeric_limits<std::int64_t>::max();
  }
  return sum;
}

// A batch that is too large to be tried: the network must take a few records as they are.
void Session::State::free_large_batch() {
  if (!batch_is_free(graph, constants, graph, constants, shapes, 1)) {
    fail(Fault::resources,
         "network '{}': the file fixes the batch size to {}, which is too large to be run, and the network "
         "does not "
         "take fewer; export it with a dynamic batch axis",
         graph.name(), group);
  }
  notices.push_back(fmt::format("the batch size that the file fixes to {} was made free", group));
  group = 0;
}

void Session::State::free_the_batch() {
  const std::int64_t batch = group;
  if (batch_is_free(graph, constants, graph, constants, shapes, batch)) {
    if (has_outputs_shaped_by_content(graph, constants, shapes)) return;
    group = 0;
    notices.clear();
    return;
  }
  const SampleShapes seen = sample_shapes(graph, constants, tiny_batch(graph, shapes, batch));
  std::optional<Graph> freed = free_batch(graph, constants, seen, batch);
  if (!freed) return;
  Constants freed_constants(*freed, memory_limit());
  if (!batch_is_free(*freed, freed_constants, graph, constants, shapes, batch) ||
      has_outputs_shaped_by_content(*freed, freed_constants, shapes))
    return;
  graph = std::move(*freed);
  constants = std::move(freed_constants);
  group = 0;
  notices = {
      fmt::format("the batch size that the file fixes to {} was made free; outputs are unchanged", batch)};
}

std::vector<ValueInfo> Session::State::probe() const {
  if (together) {
    fail(Fault::unsupported,
         "network '{}': its inputs have fixed shapes with different leading sizes, so no axis of records is "
         "known, by which layers are found; export it with a dynamic batch axis",
         graph.name());
  }
  const auto seen = [&](std::int64_t rows) {
    return sample_shapes(graph, constants, tiny_batch(graph, shapes, rows));
  };
  try {
    if (group > 0) return find_records(graph, constants, shapes, group);
    std::vector<ValueInfo> found = compare_sample_shapes(graph, seen(2), seen(3));
    discard_reordered(graph, constants, shapes, found);
    return found;
  } catch (const Error& error) {
    if (!about_inputs(error)) throw;
    fail(error.fault(),
         "{}; layers are found by running the network on sample inputs, which do not suit this network",
         error.message());
  }
}

const std::vector<ValueInfo>& Session::State::infos() const {
  if (infos_.empty()) infos_ = probe();
  return infos_;
}

const std::vector<Layer>& Session::State::layers() const {
  if (layers_) return *layers_;
  layers_ = find_layers(graph, constants, infos());
  const auto left_out = std::ranges::stable_partition(*layers_, [&](const Layer& layer) {
    const bool varies = group == 1 && infos()[index_of(layer.value)].shaped_by_content;
    return !is_empty(layer) && !varies;
  });
  left_out_.assign(left_out.begin(), left_out.end());
  layers_->erase(left_out.begin(), left_out.end());
  for (const Layer& layer : left_out_) notices.push_back(describe_left_out(layer) + ", so it is left out");
  return *layers_;
}

void Session::State::refuse_layer_left_out(std::string_view selector) const {
  for (const Layer& layer : left_out_) {
    if (layer.name == selector || graph.value(layer.value).name == selector)
      fail(Fault::usage, "network '{}': {}; name another layer{}", graph.name(), describe_left_out(layer),
           is_empty(layer) ? ", or export the network with a width here" : "");
  }
}

const Decision& Session::State::decision() const {
  if (decision_) return *decision_;
  const Decision found = find_decision(graph, infos());
  const ValueInfo& info = infos()[static_cast<std::size_t>(found.logits)];
  if (info.batch_axis >= 0 && std::ranges::count(info.shape, 0) > 0)
    fail(Fault::unsupported,
         "network '{}': its output '{}' holds nothing (shape {} for a record), so it decides nothing; export "
         "the network with its last layer",
         graph.name(), graph.value(found.logits).name, to_string(info.shape));
  decision_ = found;
  return *decision_;
}

bool Session::State::may_use_back_ends() const { return !engines.backends.empty() && group == 0; }

void Session::State::settle_back_ends() const {
  if (std::exchange(fast_settled_, true) || !probable() || !constants.all_finite()) return;
  const int threads = options.threads > 0 ? options.threads : static_cast<int>(available_threads());
  try {
    fast_ = std::make_unique<FastPath>(graph, constants, infos(), threads, engines);
    in_front_ = fast_->as_batch_major();
    picked_ = (in_front_ ? *in_front_ : *fast_).with_early_picks();
  } catch (const Error& error) {
    if (!about_inputs(error)) throw;  // otherwise its shapes stay unknown
  }
}

const FastPath* Session::State::fast(const Tensors& given, const FastPath::Request& request) const {
  if (!may_use_back_ends() || !nothing_folded_from(request.trainable)) return nullptr;
  settle_back_ends();
  if (picked_ && picked_->can_run(given, request)) return picked_.get();
  if (in_front_ && in_front_->can_run(given, request)) return in_front_.get();
  return fast_ && fast_->can_run(given, request) ? fast_.get() : nullptr;
}

bool Session::State::reduces_batch_major(const Layer& layer) const {
  if (!may_use_back_ends() || layer.neuron_axes.size() != 1) return false;
  settle_back_ends();
  return in_front_ && in_front_->reduces_batch_major(layer.value, layer.neuron_axes[0]);
}

// Whether the shapes of all inputs are known.
bool Session::State::probable() const {
  return std::ranges::all_of(graph.inputs(), [&](ValueId id) {
    const Shape record = input_form(graph, id, shapes).record;
    return std::ranges::none_of(record, [](auto dim) { return dim < 0; });
  });
}

std::shared_ptr<const Plan> Session::State::plan(const Tensors& given, const Wanted& wanted) const {
  PlanKey key{keys(given),
              {wanted.values.begin(), wanted.values.end()},
              {wanted.visited.begin(), wanted.visited.end()}};
  const auto known = plans_.find(key);
  if (known != plans_.end()) return known->second;
  std::vector<bool> available = constants.valid_without(graph, key[0]);
  for (const ValueId id : key[0]) available[index_of(id)] = true;
  auto made = std::make_shared<const Plan>(make_plan(graph, available, wanted.values, wanted.visited));
  if (plans_.size() >= most_plans) plans_.clear();
  plans_.emplace(std::move(key), made);
  return made;
}

Tensors Session::State::forward(const Tensors& given, const Wanted& wanted, KernelContext& context,
                                const OnValue& on_value) const {
  const auto steps = plan(given, wanted);
  std::vector<Array> values(graph.values().size());
  for (const auto& [id, tensor] : given) values.at(index_of(id)) = tensor;
  Executor{graph, constants.values(), context, on_value}.run(*steps, values);
  Tensors results;
  for (const ValueId id : wanted.values) {
    const auto index = index_of(id);
    results.emplace(id, values[index].defined() ? values[index] : constants.values()[index]);
  }
  return results;
}

Tensors Session::State::forward_grouped(const Tensors& given, const Wanted& wanted, KernelContext& context,
                                        const OnValue& on_value) const {
  const auto axis_of = [&](ValueId id) { return infos()[index_of(id)].batch_axis; };
  const auto multiple_of = [&](ValueId id) { return infos()[index_of(id)].batch_multiple; };
  const auto require_records = [&](ValueId id) {
    if (!infos()[index_of(id)].of_records || axis_of(id) >= 0) return;
    fail(Fault::unsupported,
         "network '{}': the file fixes the batch size to {}, and which numbers of value '{}' belong to which "
         "record cannot be told; export it with a dynamic batch axis",
         graph.name(), group, graph.value(id).name);
  };
  std::ranges::for_each(wanted.values, require_records);
  std::int64_t records = 0;
  for (const auto& [id, tensor] : given) {
    require_records(id);
    if (axis_of(id) >= 0) records = std::max(records, tensor.size(axis_of(id)) / multiple_of(id));
  }
  std::map<ValueId, std::vector<Array>> pieces;
  for (std::int64_t begin = 0; begin == 0 || begin < records; begin += group) {
    const std::int64_t rows = std::min(group, records - begin);
    std::vector<std::int64_t> picked;  // the last record fills up the last group
    for (std::int64_t i = 0; i < group; ++i) picked.push_back(begin + std::min(i, rows - 1));
    Tensors part;
    for (const auto& [id, tensor] : given) {
      if (axis_of(id) < 0 || records == 0) {
        part.emplace(id, tensor);
        continue;
      }
      const std::int64_t multiple = multiple_of(id);
      const Array index =
          (array::tensor(picked).unsqueeze(1) * multiple + array::arange(multiple)).reshape({-1});
      part.emplace(id, tensor.index_select(axis_of(id), index));
    }
    for (auto& [id, tensor] : forward(part, wanted, context, on_value))
      pieces[id].push_back(std::move(tensor));
  }
  Tensors results;
  for (auto& [id, list] : pieces) {
    const int axis = axis_of(id);
    if (axis >= 0) require_joinable(graph, id, list);
    results.emplace(id,
                    axis < 0 ? list[0] : array::cat(list, axis).narrow(axis, 0, records * multiple_of(id)));
  }
  return results;
}

// Whether the graph's inputs are given, each in a shape that the file declares, for one group of records.
bool Session::State::as_declared(const Tensors& given) const {
  return std::ranges::all_of(graph.inputs(), [&](ValueId id) {
    const Shape& declared = graph.value(id).shape;
    const auto found = given.find(id);
    if (found == given.end() || found->second.rank() != std::ssize(declared)) return false;
    const int batch_axis = input_form(graph, id, {}).batch_axis;
    for (std::size_t i = 0; i < declared.size(); ++i) {
      const std::int64_t size = found->second.size(i);
      const bool any = declared[i] < 0 && (static_cast<int>(i) != batch_axis || size == group || size == 0);
      if (declared[i] != size && !any) return false;
    }
    return true;
  });
}

Tensors Session::State::compute(const Tensors& given, const Wanted& wanted, KernelContext& context,
                                const OnValue& on_value) const {
  for (const auto& [id, tensor] : given) {
    if (!tensor.defined()) fail(Fault::usage, "value '{}' was given without a tensor", graph.value(id).name);
  }
  if (group == 0 || as_declared(given)) return forward(given, wanted, context, on_value);
  if (together) {
    fail(Fault::mismatch,
         "network '{}': its inputs are fixed to shapes that differ in the leading size; it runs for exactly "
         "those",
         graph.name());
  }
  return forward_grouped(given, wanted, context, on_value);
}

}  // namespace assay::inline engine
