// Inputs and conditions that become constants: the network is read anew, so that what follows from them is
// folded.

#include <algorithm>

#include <assay/adapt.h>
#include <assay/error.h>
#include <assay/model.h>

#include "assay/model/bodies.h"
#include "assay/model/onnx/filled_input.h"
#include "assay/model/onnx/reader.h"
#include "assay/model/onnx/write.h"

namespace assay::inline model {
namespace {

using onnx_format::write_tensor;

Array filled_with(const Value& input, double number) {
  const std::vector<double> values(element_count(input.shape), number);
  return Array::of<double>(input.shape, values).to(input.dtype);
}

// The number as often as there are records along the first open axis: as many as along that of another input.
// Further open axes have one position.
onnx_format::FilledInput repeated(const Value& input, const Value& other, double number) {
  const auto open = [](const Value& value) {
    return std::ranges::find(value.shape, -1) - value.shape.begin();
  };
  onnx_format::FilledInput filled{.name = input.name,
                                  .dtype = input.dtype,
                                  .shape = input.shape,
                                  .number = number,
                                  .other = other.name,
                                  .other_axis = open(other)};
  for (std::ptrdiff_t axis = 0; axis < std::ssize(filled.shape); ++axis) {
    std::int64_t& size = filled.shape[axis];
    if (axis != open(input)) size = std::max<std::int64_t>(size, 1);
  }
  return filled;
}

// Inputs with an open axis, except this one.
const Value* open_input(const Graph& graph, ValueId but) {
  for (const ValueId id : graph.inputs()) {
    if (id != but && std::ranges::find(graph.value(id).shape, -1) != graph.value(id).shape.end())
      return &graph.value(id);
  }
  return nullptr;
}

}  // namespace

Graph with_fixed_input(const Graph& graph, std::string_view input, double number) {
  onnx::ModelProto model = onnx_format::body_model(graph);
  onnx::GraphProto& proto = *model.mutable_graph();
  auto& inputs = *proto.mutable_input();
  const auto id = graph.find_value(input);
  int place = -1;
  for (int i = 0; i < inputs.size(); ++i) {
    if (inputs[i].name() == input) place = i;
  }
  if (place < 0 || !id) fail(Fault::usage, "network '{}' has no input '{}'", graph.name(), input);
  if (inputs.size() == 1)
    fail(Fault::usage, "input '{}' is the only one of network '{}' and cannot be fixed", input, graph.name());
  const Value& value = graph.value(*id);
  const bool open = std::ranges::find(value.shape, -1) != value.shape.end();
  const Value* const other = open ? open_input(graph, *id) : nullptr;
  if (other != nullptr) {
    const GraphBuilder names(graph);
    onnx_format::add_filled(proto, repeated(value, *other, number),
                            [&](const std::string& name) { return names.unused_name(name); });
  } else {
    Value whole = value;
    for (std::int64_t& size : whole.shape) size = std::max<std::int64_t>(size, 1);
    write_tensor(filled_with(whole, number), std::string(input), *proto.add_initializer());
  }
  inputs.DeleteSubrange(place, 1);
  return onnx_format::Reader(std::move(model), {}, graph.name()).body();
}

Graph with_conditions(const Graph& graph, const std::map<std::string, bool>& conditions) {
  onnx::ModelProto model = onnx_format::body_model(graph);
  onnx::GraphProto& proto = *model.mutable_graph();
  const GraphBuilder names(graph);
  for (onnx::NodeProto& node : *proto.mutable_node()) {
    const auto condition = conditions.find(node.name());
    if (condition == conditions.end()) continue;
    const std::string name = names.unused_name(node.name() + "/condition");
    const std::vector<std::int64_t> truth{condition->second ? 1 : 0};
    write_tensor(Array::of<std::int64_t>({}, truth).to(DType::boolean), name, *proto.add_initializer());
    node.set_input(0, name);
  }
  return onnx_format::Reader(std::move(model), {}, graph.name()).body();
}

Graph with_rounds(const Graph& graph, const std::map<std::string, std::int64_t>& rounds) {
  if (rounds.empty()) return graph;
  onnx::ModelProto model = onnx_format::body_model(graph);
  onnx::GraphProto& proto = *model.mutable_graph();
  const GraphBuilder names(graph);
  for (onnx::NodeProto& node : *proto.mutable_node()) {
    const auto count = rounds.find(node.name());
    if (count == rounds.end() || node.op_type() != "Loop") continue;
    const std::string name = names.unused_name(node.name() + "/rounds");
    write_tensor(Array::of<std::int64_t>({}, std::vector{count->second}), name, *proto.add_initializer());
    node.set_input(0, name);
    node.set_input(1, "");
    for (onnx::AttributeProto& attribute : *node.mutable_attribute()) {
      if (attribute.name() != "body") continue;
      onnx::GraphProto& body = *attribute.mutable_g();
      body.mutable_output(0)->set_name(names.unused_name(node.name() + "/goes_on"));
      write_tensor(Array::of<std::int64_t>({}, std::vector<std::int64_t>{1}).to(DType::boolean),
                   body.output(0).name(), *body.add_initializer());
    }
  }
  onnx_format::Reader reader(std::move(model), {}, graph.name());
  reader.tell_scanned(rounds);
  return reader.body();
}

}  // namespace assay::inline model
