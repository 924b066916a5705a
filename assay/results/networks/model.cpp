#include "assay/results/networks/model.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include <assay/extend/operator_traits.h>
#include "assay/engine/arithmetic.h"
#include "assay/relevance/reach.h"
#include "assay/results/document.h"
#include "assay/support/text/so_many.h"
#include "assay/support/threads.h"

namespace assay::results {
namespace {

// Operators that hand neurons on to the next layer.
bool hands_on(std::string_view op) {
  static const std::set<std::string_view> movement{"Flatten", "Reshape", "Transpose", "Squeeze", "Unsqueeze",
                                                   "Concat",  "Pad",     "Slice",     "Gather"};
  return movement.contains(op) || is_pooling(op) || is_pass_through(op);
}

// True when the layer's neurons reach a linear operator, where switching one off or disturbing it is felt.
bool feeds_linear(const Graph& graph, const Layer& layer) {
  std::set<ValueId> seen{layer.value};
  std::vector<ValueId> open{layer.value};
  while (!open.empty()) {
    const ValueId id = open.back();
    open.pop_back();
    for (const NodeId reader : graph.consumers(id)) {
      const Node& node = graph.node(reader);
      if (is_convolution(node.op) || is_dense(node.op) || is_recurrent(node.op)) return true;
      if (!hands_on(node.op)) continue;
      for (const ValueId out : node.outputs) {
        if (out != no_value && seen.insert(out).second) open.push_back(out);
      }
    }
  }
  return false;
}

bool mutable_layer(const Graph& graph, const Layer& layer) {
  return layer.parameters > 0 || feeds_linear(graph, layer);
}

report::Table network_layer_table(const Session& session, const std::vector<std::vector<std::size_t>>* dead) {
  const std::vector<bool> carrying = relevance::values_with_relevance(session);
  const auto layer = [&](std::size_t i) -> const Layer& { return session.layers()[i]; };
  const auto carries = [&](std::size_t i) -> bool {
    return carrying[static_cast<std::size_t>(layer(i).value)];
  };
  return table_of(
      "layers", "Layers", positions(session.layers().size()),
      {{"index", "#", std::identity()},
       {"name", "layer", [&](auto i) { return layer(i).name; }},
       {"operator", [&](auto i) { return layer(i).op; }},
       {"output_shape", "output shape", [&](auto i) { return to_string(layer(i).shape); }},
       {"neurons", [&](auto i) { return layer(i).neurons; }},
       {"parameters", [&](auto i) { return layer(i).parameters; }},
       {"carries_relevance", "relevance", carries},
       {"can_mutate", "mutable", [&](auto i) { return mutable_layer(session.graph(), layer(i)); }},
       {when(dead != nullptr), "dead", [&](auto i) { return (*dead)[i].size(); }}});
}

std::string shapes(const Graph& graph, std::span<const ValueId> ids, const Session& session) {
  std::string text;
  for (const ValueId id : ids) {
    Shape shape = graph.value(id).shape;
    if (shape.empty()) {
      shape = session.shape(id);  // of a batch of one
      if (!shape.empty() && shape[0] == 1) shape[0] = -1;
    }
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", graph.value(id).name, to_string(shape));
  }
  return text;
}

void add_notices(report::Document& document, const Session& session,
                 const std::vector<std::vector<std::size_t>>& dead) {
  add_network_notices(document, session);
  if (session.ends_in_softmax())
    document.notices.push_back(
        fmt::format("the network ends in a softmax; analyses use '{}', the value before it",
                    session.graph().value(session.logits()).name));
  for (std::size_t i = 0; i < dead.size(); ++i) {
    if (dead[i].empty()) continue;
    const Layer& layer = session.layers()[i];
    document.notices.push_back(
        fmt::format("layer '{}': {} of {} neurons are zero on all records (the first is {})", layer.name,
                    dead[i].size(), layer.neurons, dead[i][0]));
  }
}

}  // namespace

report::Document document_of(const Session& session,
                             const std::optional<std::vector<std::vector<std::size_t>>>& dead) {
  const Graph& graph = session.graph();
  const std::vector<Layer>& layers = session.layers();
  std::int64_t neurons = 0;
  for (const Layer& layer : layers) neurons += layer.neurons;
  report::Document document;
  document.headline = fmt::format("{}: {}, {}", graph.name(), so_many(layers.size(), "layer"),
                                  so_many(static_cast<std::size_t>(graph.parameter_count()), "parameter"));
  document.facts = {count_fact("nodes", "nodes", graph.nodes().size()),
                    count_fact("layers", "layers", layers.size()),
                    {"neurons", "neurons", neurons, Kind::count},
                    {"parameters", "parameters", graph.parameter_count(), Kind::count},
                    {"inputs", "inputs", shapes(graph, graph.inputs(), session)},
                    {"outputs", "outputs", shapes(graph, graph.outputs(), session)}};
  document.tables = {network_layer_table(session, dead ? &*dead : nullptr)};
  add_notices(document, session, dead.value_or(std::vector<std::vector<std::size_t>>{}));
  add_provenance(document, graph, {});
  return document;
}

void add_plan(report::Document& document, const Session& session, bool measured) {
  using Segment = PlannedSegment;
  constexpr double microseconds = 1e-3;
  const auto threads = session.options().threads;
  const double peak =
      measured ? peak_multiply_adds() * static_cast<double>(threads > 0 ? threads : available_threads()) : 0;
  const auto name = [&](NodeId node) { return session.graph().node(node).name; };
  const auto some = [](double value) { return value > 0 ? std::optional(value) : std::nullopt; };
  document.tables.push_back(
      table_of("plan", "Plan of a forward pass", session.plan(measured),
               {{"engine", &Segment::engine},
                {"first", "first node", [&](auto& part) { return name(part.nodes.front()); }},
                {"last", "last node", [&](auto& part) { return name(part.nodes.back()); }},
                {"nodes", [](auto& part) { return part.nodes.size(); }},
                {"expected", "expected us a record",
                 [&](auto& part) { return some(microseconds * part.nanoseconds); }},
                {when(measured), "measured", "measured us a record",
                 [](auto& part) { return microseconds * part.measured; }},
                {when(measured), "of_peak", "of the peak", Kind::percent,
                 [&](auto& part) { return some(part.multiply_adds / part.measured / peak); }}}));
}

}  // namespace assay::results
