#include "assay/inspection/units/unit_source.h"

#include <assay/array_math.h>

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <set>

#include <assay/error.h>
#include <assay/extend/operator_traits.h>
#include <assay/model.h>
#include "assay/engine/layers/unit_views.h"
#include "assay/inspection/units/gates.h"
#include "assay/inspection/units/unrolled.h"
#include "assay/support/text/text.h"

namespace assay::inspection {
namespace {

Shape positions_of(const Layer& layer) {
  Shape positions;
  if (layer.batch_multiple > 1) positions.push_back(layer.batch_multiple);
  for (int axis = 0, own = 0; own < static_cast<int>(layer.shape.size()); ++axis) {
    if (axis == layer.batch_axis) continue;
    if (std::ranges::find(layer.neuron_axes, axis) == layer.neuron_axes.end())
      positions.push_back(layer.shape[own]);
    ++own;
  }
  // An axis of one position is none: the directions of a pooled map, the step of a vector.
  std::erase(positions, 1);
  return positions;
}

// [records, positions, neurons] of a layer's tensor.
Array arranged(const Array& value, const Layer& layer) {
  std::vector<std::int64_t> order{layer.batch_axis};
  std::int64_t neurons = 1;
  for (int axis = 0; axis < value.rank(); ++axis) {
    const bool position =
        axis != layer.batch_axis && std::ranges::find(layer.neuron_axes, axis) == layer.neuron_axes.end();
    if (position) order.push_back(axis);
  }
  for (const int axis : layer.neuron_axes) order.push_back(axis), neurons *= value.size(axis);
  return value.permute(order).reshape({value.size(layer.batch_axis) / layer.batch_multiple, -1, neurons});
}

// A group and how its behaviours are computed.
struct Part {
  UnitGroup group;
  Layer layer;
  UnitMap map;
  Node node;       // the recurrent node
  Array selected;  // unit numbers, undefined for all
  // To differentiate the decision by the states of a recurrent layer.
  std::shared_ptr<const Session> cells;
  std::vector<std::vector<ValueId>> states = {};  // [directions][steps]

  bool gradient() const { return group.behaviour == UnitBehaviour::gradient; }
};

void require_units(const UnitGroup& group, const Layer& layer, std::size_t count) {
  if (group.units.empty() || group.units.back() < count) return;
  fail(Fault::usage, "unit {} of group '{}' does not exist: layer '{}' has the units 0 to {}",
       group.units.back(), group.name, layer.name, count - 1);
}

void require_gate(const UnitGroup& group, const Layer& layer, const std::string& op) {
  if (group.gate.empty()) return;
  const std::vector<std::string> gates = gate_names(op);
  if (gates.empty())
    fail(Fault::usage, "layer '{}' ({}) has no gates; only LSTM and GRU layers have", layer.name, op);
  if (std::ranges::find(gates, group.gate) == gates.end())
    fail(Fault::usage, "layer '{}' ({}) has no gate '{}'; its gates are {}", layer.name, op, group.gate,
         joined(gates));
  if (group.behaviour == UnitBehaviour::gradient)
    fail(Fault::usage, "group '{}': the gradient is that of activations; name the layer without its gate",
         group.name);
}

// What is computed beside the decision does not change it.
void require_dependence(const UnitGroup& group, const Session& session) {
  if (group.behaviour != UnitBehaviour::gradient) return;
  for (const Layer& view : unit_view_layers(session))
    if (view.name == session.layer(group.layer).name)
      fail(Fault::usage,
           "group '{}': view '{}' is computed beside the decision, which has no gradient there; look at the "
           "layer that it is of",
           group.name, view.name);
}

}  // namespace

struct UnitSource::Network {
  std::shared_ptr<const Session> session;
  std::vector<Part> parts;

  Part prepare(UnitGroup group) const {
    Part part;
    part.layer = session->layer(group.layer);
    part.node = session->graph().node(part.layer.node);
    part.map.recurrent = is_recurrent(part.node.op);
    require_gate(group, part.layer, part.node.op);
    require_dependence(group, *session);
    std::ranges::sort(group.units);
    group.units.erase(std::unique(group.units.begin(), group.units.end()), group.units.end());
    part.map.layer = part.layer.name;
    part.map.value = part.layer.value;
    part.map.positions = positions_of(part.layer);
    part.group = std::move(group);
    return part;
  }

  // Recurrent layers whose hidden states are not values of the graph, except for the last, are given one.
  void name_sequences(const InspectedModel& model) {
    GraphBuilder edit(model.session->graph());
    bool edited = false;
    for (Part& part : parts) {
      if (!part.map.recurrent) continue;
      const auto index = model.session->graph().find_node(part.node.name).value();
      part.node = edit.node(index);
      if (part.node.outputs[0] != no_value) continue;
      part.node.outputs[0] = edit.value(edit.unused_name(part.node.name + "_sequence"));
      edit.replace_node(index, part.node);
      edited = true;
    }
    session = model.session;
    if (edited) session = std::make_shared<const Session>(edit.build(), model.session->options());
    for (Part& part : parts) {
      if (part.map.recurrent) find_sequence(part);
    }
  }

  void find_sequence(Part& part) const {
    part.map.value = part.node.outputs[0];
    const Shape& shape = session->shape(part.map.value);
    const bool batch_first = part.node.integer("layout", 0) != 0;
    part.map.positions = {shape.at(batch_first ? 1 : 0)};
    part.layer.neurons = shape.at(batch_first ? 2 : 1) * shape.at(3);
    if (!part.gradient()) return;
    Unrolled cells = unrolled(session->graph(), part.node.name, part.map.positions[0]);
    part.cells = std::make_shared<const Session>(std::move(cells.graph), session->options());
    part.states = std::move(cells.states);
  }

  // [records, steps, directions * hidden]
  static Array state_gradients(const Part& part, const Tensors& given, bool outputs) {
    std::vector<ValueId> values;
    for (const auto& steps : part.states) values.insert(values.end(), steps.begin(), steps.end());
    const Tensors gradients = decision_gradients(*part.cells, given, values, outputs);
    std::vector<Array> directions;
    for (const auto& steps : part.states) {
      std::vector<Array> by_step;
      for (const ValueId id : steps) by_step.push_back(gradients.at(id));
      directions.push_back(array::cat(by_step).transpose(0, 1));
    }
    return array::cat(directions, 2);
  }

  void select_units(Part& part) const {
    const std::size_t count = part.layer.neurons;
    require_units(part.group, part.layer, count);
    if (part.group.units.empty()) {
      part.map.units.resize(count);
      std::iota(part.map.units.begin(), part.map.units.end(), std::size_t{0});
      return;
    }
    part.map.units = part.group.units;
    part.selected = array::tensor(std::vector<std::int64_t>(part.map.units.begin(), part.map.units.end()));
  }

  // `outputs`: as decision_gradients() has it.
  Array behaviour(const Part& part, const Tensors& given, const Tensors& values, const Tensors& gradients,
                  bool outputs) const {
    Array all;
    if (part.cells) {
      all = state_gradients(part, given, outputs);
    } else if (!part.group.gate.empty()) {
      std::vector<Array> inputs;
      for (const ValueId id : part.node.inputs) inputs.push_back(id == no_value ? Array() : values.at(id));
      all = gates_of(part.node, inputs, values.at(part.map.value)).at(part.group.gate);
    } else {
      const Array& value = (part.gradient() ? gradients : values).at(part.map.value);
      all = part.map.recurrent ? by_record(part.node, value) : arranged(value.to(DType::float32), part.layer);
    }
    if (part.selected.defined()) all = all.index_select(2, part.selected);
    if (part.group.behaviour == UnitBehaviour::change)
      all = array::cat({array::zeros_like(all.slice(1, 0, 1)), all.slice(1, 1) - all.slice(1, 0, -1)}, 1);
    return all.to(DType::float32).contiguous();
  }
};

UnitSource::UnitSource(const InspectedModel& model, std::vector<UnitGroup> groups)
    : network_(std::make_unique<Network>()) {
  Network& network = *network_;
  network.session = model.session;
  for (UnitGroup& group : groups) network.parts.push_back(network.prepare(std::move(group)));
  network.name_sequences(model);
  for (Part& part : network.parts) {
    network.select_units(part);
    if (part.group.behaviour == UnitBehaviour::change && part.map.positions.size() != 1)
      fail(Fault::usage,
           "group '{}': the change since the symbol before needs symbols, and the units of layer '{}' have "
           "{}",
           part.group.name, part.layer.name,
           part.map.positions.empty() ? "one value a record" : "positions " + to_string(part.map.positions));
  }
}
UnitSource::~UnitSource() = default;
UnitSource::UnitSource(UnitSource&&) noexcept = default;

std::size_t UnitSource::groups() const { return network_->parts.size(); }
const UnitMap& UnitSource::map(std::size_t group) const { return network_->parts.at(group).map; }

const Session& UnitSource::session() const { return *network_->session; }
Array UnitSource::activations(std::size_t group, const Tensors& values) const {
  return network_->behaviour(network_->parts.at(group), {}, values, {}, /*outputs=*/false);
}

std::vector<Array> UnitSource::behaviours(const Batch& batch, std::span<const std::size_t> groups) const {
  const Session& session = *network_->session;
  std::set<ValueId> wanted;
  std::vector<ValueId> by;
  for (const std::size_t g : groups) {
    const Part& part = network_->parts[g];
    if (part.gradient()) {
      if (!part.cells && std::ranges::find(by, part.map.value) == by.end()) by.push_back(part.map.value);
      continue;
    }
    wanted.insert(part.map.value);
    if (part.group.gate.empty()) continue;
    for (const ValueId id : part.node.inputs) {
      if (id != no_value) wanted.insert(id);
    }
  }
  const Tensors given = session.bind(batch);
  const bool outputs = batch.targets.count() > 0;
  Tensors values, gradients;
  if (!wanted.empty()) values = session.run(given, std::vector<ValueId>(wanted.begin(), wanted.end()));
  if (!by.empty()) gradients = decision_gradients(session, given, by, outputs);
  std::vector<Array> behaviours;
  for (const std::size_t g : groups)
    behaviours.push_back(network_->behaviour(network_->parts[g], given, values, gradients, outputs));
  return behaviours;
}

}  // namespace assay::inspection
