// Networks: reading, writing, editing and running them.

#include "python/src/bindings.h"

#include <assay/array_math.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <assay/adapt.h>
#include <assay/error.h>
#include <assay/evaluate.h>
#include <assay/model.h>
#include <assay/relevance.h>
#include <assay/session.h>
#include <assay/token_decision.h>
#include <assay/unit_views.h>
#include "assay/engine/preparation/folder_notices.h"
#include "assay/model/folder.h"
#include "assay/results/warnings.h"

namespace assay::python {
namespace {

// A network, with the sessions that ran it last.
struct Network {
  using Held = std::shared_ptr<const Session>;
  // Each session has prepared weights of its own, and texts come in many lengths.
  static constexpr std::size_t most_sessions = 4;

  Graph graph;
  std::vector<std::pair<std::string, Held>> sessions = {};  // by what they run, the last one first

  Held session(const DatasetFacts* facts, int threads, const std::string& device) {
    SessionOptions options;
    options.threads = threads;
    options.device = device;
    if (facts != nullptr) set_record_shapes(options, *facts);
    std::string key = fmt::format("{} {} {}", threads, device, to_string(options.record_shape));
    for (const auto& [name, shape] : options.record_shapes) key += " " + name + to_string(shape);
    const auto known = std::ranges::find(sessions, key, &std::pair<std::string, Held>::first);
    if (known != sessions.end()) {
      std::rotate(sessions.begin(), known, known + 1);
      return sessions.front().second;
    }
    const Held made = unlocked([&] { return std::make_shared<const Session>(graph, options); });
    sessions.insert(sessions.begin(), {key, made});
    if (sessions.size() > most_sessions) sessions.pop_back();
    return made;
  }
};

struct RunOptions {
  int threads = 0;
  std::string device = "cpu";
  std::size_t batch = 0;
};

std::vector<nb::dict> layers_of(const Session& session) {
  std::vector<nb::dict> all;
  for (const Layer& layer : session.layers()) {
    nb::dict entry;
    entry["name"] = layer.name;
    entry["op"] = layer.op;
    entry["neurons"] = layer.neurons;
    entry["parameters"] = layer.parameters;
    entry["shape"] = layer.shape;
    entry["activation"] = layer.activation;
    entry["carries_weights"] = layer.carries_weights;
    all.push_back(std::move(entry));
  }
  return all;
}

// Rows of records along the first axis, for any layout of the network.
Array by_record(const Session& session, ValueId value, const Array& tensor, std::int64_t records) {
  const Session::RecordAxis axis = session.record_axis(value);
  if (axis.axis < 0)
    fail(Fault::unsupported, "value '{}' does not hold its records along an axis",
         session.graph().value(value).name);
  const Array first = tensor.movedim(axis.axis, 0).contiguous();
  if (axis.rows == 1) return first;
  std::vector<std::int64_t> shape = first.shape();
  shape[0] = axis.rows;
  shape.insert(shape.begin(), records);
  return first.reshape(shape);
}

// Walks the data; `compute` gives the arrays of a batch, records along the first axis. All of them.
using Compute = std::function<std::vector<Array>(const Batch&, const Tensors&)>;
std::vector<nb::object> collected(const Session& session, const Records& data, std::size_t batch,
                                  const nb::object& listener, const std::string& stage,
                                  const Compute& compute) {
  const std::unique_ptr<Progress> progress = make_progress(listener);
  const std::vector<Array> all = unlocked([&] {
    std::vector<std::vector<Array>> parts;
    WalkOptions options;
    options.batch = batch;
    options.stage = stage;
    walk(session, data.set, options, *progress, [&](const Batch& records, const Tensors& given) {
      const std::vector<Array> found = compute(records, given);
      parts.resize(found.size());
      for (std::size_t i = 0; i < found.size(); ++i) parts[i].push_back(found[i].detach());
    });
    finish(*progress);
    std::vector<Array> joined;
    for (const std::vector<Array>& part : parts)
      joined.push_back(part.size() == 1 ? part[0].clone() : array::cat(part));  // Python's own, to be changed
    return joined;
  });
  std::vector<nb::object> arrays;
  for (const Array& tensor : all) arrays.push_back(numpy_of(tensor));
  return arrays;
}

std::optional<Reduction> reduction_of(const std::string& name) {
  static const std::map<std::string, Reduction> names{{"mean", Reduction::mean},
                                                      {"max", Reduction::max},
                                                      {"min", Reduction::min},
                                                      {"every-position", Reduction::every_position}};
  if (name.empty()) return std::nullopt;
  const auto it = names.find(name);
  if (it == names.end())
    fail(Fault::usage, "a reduction is mean, max, min or every-position, not '{}'", name);
  return it->second;
}

// A layer, a value of the graph by name, or the input of the records.
struct Place {
  ValueId value = no_value;
  const Layer* layer = nullptr;
};
Place place_of(const Session& session, const Records& data, const std::string& name) {
  if (name == "input") return {session.first_input(data.set->facts()), nullptr};
  if (const auto id = session.graph().find_value(name); id && !session.graph().is_constant(*id)) {
    for (const Layer& layer : session.layers())
      if (layer.name == name) return {layer.value, &layer};
    return {*id, nullptr};
  }
  const Layer& layer = session.layer(name);
  return {layer.value, &layer};
}
std::vector<Place> places_of(const Session& session, const Records& data,
                             const std::vector<std::string>& names) {
  std::vector<Place> places;
  for (const std::string& name : names) places.push_back(place_of(session, data, name));
  return places;
}

std::vector<Array> shown(const Session& session, const std::vector<Place>& places, const Tensors& values,
                         const std::optional<Reduction>& reduction, std::size_t records) {
  std::vector<Array> all;
  for (const Place& place : places) {
    const Array& value = values.at(place.value);
    if (!reduction)
      all.push_back(by_record(session, place.value, value, static_cast<std::int64_t>(records)));
    else if (place.layer != nullptr)
      all.push_back(reduce_to_neurons(value, *place.layer, *reduction));
    else
      fail(Fault::usage, "value '{}' is not a layer, so it has no neurons to reduce to; give no reduction",
           session.graph().value(place.value).name);
  }
  return all;
}

std::vector<ValueId> values_of(const std::vector<Place>& places) {
  std::vector<ValueId> values;
  for (const Place& place : places) values.push_back(place.value);
  return values;
}

std::vector<nb::object> activations(Network& network, const Records& data,
                                    const std::vector<std::string>& layers, const std::string& reduction,
                                    const RunOptions& run, const nb::object& progress) {
  const Network::Held held = network.session(&data.set->facts(), run.threads, run.device);
  const Session& session = *held;
  const std::vector<Place> places = places_of(session, data, layers);
  const std::vector<ValueId> wanted = values_of(places);
  const auto reduce = reduction_of(reduction);
  return collected(session, data, run.batch, progress, "activations",
                   [&](const Batch& batch, const Tensors& given) {
                     return shown(session, places, session.run(given, wanted), reduce, batch.indices.size());
                   });
}

// Labels may stand in front of scores.
ValueId first_of_reals(const Graph& graph) {
  const auto real = [&](ValueId id) { return graph.value(id).dtype == DType::float32; };
  const auto found = std::ranges::find_if(graph.outputs(), real);
  return found == graph.outputs().end() ? graph.outputs()[0] : *found;
}

// How the network is to be run on these data: one record at a time where records change each other's results
// and no size of batches is given.
RunOptions run_alone(Network& network, const Records& data, RunOptions run) {
  if (run.batch > 0) return run;
  const Network::Held held = network.session(&data.set->facts(), run.threads, run.device);
  const Session& session = *held;
  if (unlocked([&] { return !results::influence_warnings(session, data.set.get()).empty(); })) run.batch = 1;
  return run;
}

// The classes that scores name; nothing where they are not one row of scores for each record.
std::optional<std::vector<std::int64_t>> classes_of(const Session& session, const Array& logits,
                                                    std::size_t records) {
  try {
    return predicted_classes(session, logits, records);
  } catch (const Error& error) {
    if (error.fault() != Fault::unsupported && error.fault() != Fault::mismatch) throw;
    return std::nullopt;
  }
}

// Values of the output that decides, [n, ...], and classes [n] where that is one row of scores for each
// record.
std::vector<nb::object> predictions(Network& network, const Records& data, const RunOptions& run,
                                    const nb::object& progress) {
  const Network::Held held = network.session(&data.set->facts(), run.threads, run.device);
  const Session& session = *held;
  const ValueId logits = session.logits(), output = first_of_reals(session.graph());
  bool names = data.set->target_width() == 0;
  const std::vector<ValueId> wanted{logits, output};
  return collected(session, data, run.batch, progress, "predictions",
                   [&](const Batch& batch, const Tensors& given) {
                     const Tensors values = session.run(given, wanted);
                     const auto n = static_cast<std::int64_t>(batch.indices.size());
                     std::vector<Array> found{by_record(session, output, values.at(output), n)};
                     const auto classes =
                         names ? classes_of(session, values.at(logits), batch.indices.size()) : std::nullopt;
                     names = classes.has_value();
                     if (names) found.push_back(array::tensor(*classes));
                     return found;
                   });
}

// The class to be explained of each record of a batch: one for all, one each, or the greatest score.
std::vector<std::int64_t> given_targets(const nb::object& target, std::size_t records) {
  if (target.is_none()) return {};
  if (nb::isinstance<nb::int_>(target))
    return std::vector<std::int64_t>(records, taken<std::int64_t>(target));
  const Array given = tensor_of(target).to(DType::int64).contiguous();
  if (given.rank() != 1 || static_cast<std::size_t>(given.size(0)) != records)
    fail(Fault::usage, "the target is one class for all {} records, or one each; got {}", records,
         to_string(given.shape()));
  return {given.elements<std::int64_t>(), given.elements<std::int64_t>() + records};
}
// One class a record; empty where none is given.
std::vector<std::int64_t> targets_of(const nb::object& target, std::size_t records) {
  std::vector<std::int64_t> targets = given_targets(target, records);
  for (const std::int64_t one : targets)
    if (one < 0) fail(Fault::usage, "target {} is not a class; classes are counted from 0", one);
  return targets;
}

std::vector<std::int64_t> targets_at(const std::vector<std::int64_t>& all, const Batch& batch) {
  std::vector<std::int64_t> some;
  for (const std::size_t i : batch.indices) {
    if (!all.empty()) some.push_back(all[i]);
  }
  return some;
}

std::vector<nb::object> gradients(Network& network, const Records& data,
                                  const std::vector<std::string>& layers, const nb::object& target,
                                  bool outputs, const std::string& reduction, const RunOptions& run,
                                  const nb::object& progress) {
  const Network::Held held = network.session(&data.set->facts(), run.threads, run.device);
  const Session& session = *held;
  const std::vector<Place> places = places_of(session, data, layers);
  const std::vector<ValueId> wanted = values_of(places);
  const bool of_outputs = outputs || data.set->target_width() > 0;
  const std::vector<std::int64_t> targets = targets_of(target, data.set->size());
  const auto reduce = reduction_of(reduction);
  return collected(session, data, run.batch, progress, "gradients",
                   [&](const Batch& batch, const Tensors& given) {
                     const relevance::Target some{targets_at(targets, batch)};
                     const Tensors found = relevance::gradients_of(session, given, some, wanted, of_outputs);
                     return shown(session, places, found, reduce, batch.indices.size());
                   });
}

std::vector<nb::object> relevance_of(Network& network, const Records& data,
                                     const std::vector<std::string>& layers, const std::string& method,
                                     const nb::object& target, bool outputs, const std::string& reduction,
                                     const RunOptions& run, const nb::object& progress) {
  const Network::Held held = network.session(&data.set->facts(), run.threads, run.device);
  const Session& session = *held;
  const std::vector<Place> places = places_of(session, data, layers);
  relevance::AttributionOptions options;
  options.wanted = values_of(places);
  options.range = data.set->valid_range();
  options.outputs = outputs || data.set->target_width() > 0;
  const auto attribution = relevance::make_attribution(method, session, options);
  const std::vector<std::int64_t> targets = targets_of(target, data.set->size());
  const auto reduce = reduction_of(reduction);
  return collected(session, data, run.batch, progress, "relevance",
                   [&](const Batch& batch, const Tensors& given) {
                     relevance::Target some;
                     some.classes = targets_at(targets, batch);
                     const relevance::Relevance found = attribution->attribute(given, some, options.wanted);
                     return shown(session, places, found.values, reduce, batch.indices.size());
                   });
}

using Port = std::tuple<std::string, std::string, Shape>;  // name, element type, shape
std::vector<Port> ports(const Graph& graph, std::span<const ValueId> ids) {
  std::vector<Port> all;
  for (const ValueId id : ids) {
    const Value& value = graph.value(id);
    all.emplace_back(value.name, to_string(value.dtype), value.shape);
  }
  return all;
}

ValueId value_named(const Graph& graph, const std::string& name) {
  if (const auto id = graph.find_value(name)) return *id;
  fail(Fault::usage, "the network has no value '{}'", name);
}

Network with_constants(const Network& network, const std::map<std::string, nb::object>& arrays) {
  GraphBuilder edit(network.graph);
  for (const auto& [name, given] : arrays) {
    const ValueId id = value_named(network.graph, name);
    if (!network.graph.is_constant(id)) fail(Fault::usage, "'{}' is not a constant of the network", name);
    const Array& before = network.graph.constant(id);
    const Array array = array_of(given).to(before.dtype());
    if (array.shape() != before.shape())
      fail(Fault::mismatch, "'{}' has the shape {}, not {}", name, to_string(before.shape()),
           to_string(array.shape()));
    edit.replace_constant(id, array);
  }
  return {edit.build()};
}

Network without_node(const Network& network, const std::string& name) {
  const auto node = network.graph.find_node(name);
  if (!node) fail(Fault::usage, "the network has no node '{}'", name);
  GraphBuilder edit(network.graph);
  edit.remove_node(*node);
  return {edit.build()};
}

Network with_outputs(const Network& network, const std::vector<std::string>& names) {
  GraphBuilder edit(network.graph);
  std::vector<ValueId> ids;
  for (const std::string& name : names) ids.push_back(value_named(network.graph, name));
  edit.set_outputs(ids);
  return {edit.build()};
}

std::vector<nb::dict> nodes_of(const Network& network) {
  const auto names = [&](const std::vector<ValueId>& ids) {
    std::vector<std::string> all;
    for (const ValueId id : ids) all.push_back(id == no_value ? "" : network.graph.value(id).name);
    return all;
  };
  std::vector<nb::dict> all;
  for (const Node& node : network.graph.nodes()) {
    nb::dict entry;
    entry["name"] = node.name;
    entry["op"] = node.op;
    entry["inputs"] = names(node.inputs);
    entry["outputs"] = names(node.outputs);
    all.push_back(std::move(entry));
  }
  return all;
}

std::vector<std::string> constants_of(const Network& network) {
  std::vector<std::string> names;
  for (const Value& value : network.graph.values()) {
    if (value.constant) names.push_back(value.name);
  }
  return names;
}

void bind_running(nb::class_<Network>& network) {
  network
      .def(
          "layers",
          [](Network& n, const Records* data, const RunOptions& run) {
            return layers_of(
                *n.session(data == nullptr ? nullptr : &data->set->facts(), run.threads, run.device));
          },
          nb::arg("data").none(), nb::arg("run"))
      .def(
          "penultimate",
          [](Network& n, const Records* data, const RunOptions& run) {
            return n.session(data == nullptr ? nullptr : &data->set->facts(), run.threads, run.device)
                ->penultimate_layer()
                .name;
          },
          nb::arg("data").none(), nb::arg("run"))
      .def("activations", &activations, nb::arg("data"), nb::arg("layers"), nb::arg("reduction"),
           nb::arg("run"), nb::arg("progress").none())
      .def("run_alone", &run_alone, nb::arg("data"), nb::arg("run"))
      .def("predictions", &predictions, nb::arg("data"), nb::arg("run"), nb::arg("progress").none())
      .def("gradients", &gradients, nb::arg("data"), nb::arg("layers"), nb::arg("target").none(),
           nb::arg("outputs"), nb::arg("reduction"), nb::arg("run"), nb::arg("progress").none())
      .def("relevance", &relevance_of, nb::arg("data"), nb::arg("layers"), nb::arg("method"),
           nb::arg("target").none(), nb::arg("outputs"), nb::arg("reduction"), nb::arg("run"),
           nb::arg("progress").none());
}

}  // namespace

void bind_network(nb::module_& module) {
  nb::class_<RunOptions>(module, "RunOptions")
      .def(nb::init<int, std::string, std::size_t>(), nb::arg("threads"), nb::arg("device"), nb::arg("batch"))
      .def_ro("threads", &RunOptions::threads)
      .def_ro("device", &RunOptions::device)
      .def_ro("batch", &RunOptions::batch);
  nb::class_<Network> network(module, "Network");
  network.def_prop_ro("name", [](const Network& n) { return n.graph.name(); })
      .def_prop_ro("hash", [](const Network& n) { return n.graph.hash(); })
      .def_prop_ro("parameters", [](const Network& n) { return n.graph.parameter_count(); })
      .def_prop_ro("notices", [](const Network& n) { return n.graph.notices(); })
      .def_prop_ro("inputs", [](const Network& n) { return ports(n.graph, n.graph.inputs()); })
      .def_prop_ro("outputs", [](const Network& n) { return ports(n.graph, n.graph.outputs()); })
      .def_prop_ro("nodes", &nodes_of)
      .def_prop_ro("constants", &constants_of)
      .def("constant",
           [](const Network& n, const std::string& name) {
             const ValueId id = value_named(n.graph, name);
             if (!n.graph.is_constant(id)) fail(Fault::usage, "'{}' is not a constant of the network", name);
             return read_only_numpy_of(n.graph.constant(id));
           })
      .def("with_constants", &with_constants)
      .def("with_weights_of",
           [](const Network& n, const std::string& file) {
             return Network{unlocked([&] { return with_weights(n.graph, file); })};
           })
      .def("with_fixed_input",
           [](const Network& n, const std::string& input, double value) {
             return Network{unlocked([&] { return with_fixed_input(n.graph, input, value); })};
           })
      .def("with_decision",
           [](const Network& n, const std::string& output, const std::string& folder) {
             return Network{unlocked([&] {
               return is_token_decision(output)
                          ? with_token_decision(n.graph, output, folder, nullptr, silence())
                          : with_decision(n.graph, output);
             })};
           })
      .def(
          "with_views",
          [](Network& n, const std::vector<std::string>& views, const std::string& folder,
             const Records* data, const RunOptions& run) {
            const Network::Held session =
                n.session(data == nullptr ? nullptr : &data->set->facts(), run.threads, run.device);
            return Network{unlocked([&] { return with_unit_views(*session, views, folder).graph(); })};
          },
          nb::arg("views"), nb::arg("folder"), nb::arg("data").none(), nb::arg("run"))
      .def("require_fitting_tokens",
           [](const Network& n, const std::string& folder, const Records& data, const nb::object& listener) {
             const std::unique_ptr<Progress> progress = make_progress(listener);
             unlocked([&] {
               require_fitting_tokens(n.graph, folder, *data.set, *progress);
               finish(*progress);
               return 0;
             });
           })
      .def("numbering_notice", [](const Network&, const std::vector<std::string>& names,
                                  const Records& data) { return numbering_notice(names, *data.set); })
      .def("without_node", &without_node)
      .def("with_outputs", &with_outputs)
      .def("write", [](const Network& n, const std::string& path) {
        unlocked([&] {
          write_onnx(n.graph, path);
          return 0;
        });
      });
  bind_running(network);
  module.def("folder_of_network", [](const std::string& path) {
    const auto folder = folder_of_network(path);
    return folder ? folder->string() : std::string();
  });
  module.def("read_model",
             [](const std::string& path) { return Network{unlocked([&] { return read_model(path); })}; });
  module.def("read_onnx", [](const nb::bytes& bytes, const std::string& folder, const std::string& name) {
    const std::string_view view(bytes.c_str(), bytes.size());
    return Network{unlocked([&] { return read_onnx(view, folder, name); })};
  });
}

const Graph& graph_of(const nb::handle& network) { return nb::cast<const Network&>(network).graph; }

}  // namespace assay::python
