#include "assay/results/networks/model.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include <assay/extend/operator_traits.h>
#include "assay/engine/arithmetic.h"
#include "assay/relevance/reach.h"
#include "assay/results/document.h"
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
    for (const int reader : graph.consumers(id)) {
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
  report::Table table{"layers",
                      "Layers",
                      {{"index", "#", Kind::count},
                       {"name", "layer"},
                       {"operator", "operator"},
                       {"output_shape", "output shape"},
                       {"neurons", "neurons", Kind::count},
                       {"parameters", "parameters", Kind::count},
                       {"carries_relevance", "relevance"},
                       {"can_mutate", "mutable"}},
                      {}};
  if (dead) table.columns.push_back({"dead", "dead", Kind::count});
  const std::vector<Layer>& layers = session.layers();
  const std::vector<bool> carrying = relevance::values_with_relevance(session);
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const Layer& layer = layers[i];
    std::vector<report::Cell> row{static_cast<std::int64_t>(i),
                                  layer.name,
                                  layer.op,
                                  to_string(layer.shape),
                                  layer.neurons,
                                  layer.parameters,
                                  static_cast<bool>(carrying[static_cast<std::size_t>(layer.value)]),
                                  mutable_layer(session.graph(), layer)};
    if (dead) row.emplace_back(static_cast<std::int64_t>((*dead)[i].size()));
    table.rows.push_back(std::move(row));
  }
  return table;
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
  document.notices.assign(session.graph().notices().begin(), session.graph().notices().end());
  document.notices.insert(document.notices.end(), session.notices().begin(), session.notices().end());
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
  document.headline =
      fmt::format("{}: {} layers, {} parameters", graph.name(), layers.size(), graph.parameter_count());
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
  report::Table table{"plan",
                      "Plan of a forward pass",
                      {{"engine", "engine"},
                       {"first", "first node"},
                       {"last", "last node"},
                       {"nodes", "nodes", Kind::count},
                       {"expected", "expected us a record", Kind::number}},
                      {}};
  double peak = 0;
  if (measured) {
    table.columns.push_back({"measured", "measured us a record", Kind::number});
    table.columns.push_back({"of_peak", "of the peak", Kind::percent});
    const auto threads = session.options().threads;
    peak = peak_multiply_adds() * static_cast<double>(threads > 0 ? threads : available_threads());
  }
  for (const PlannedSegment& part : session.plan(measured)) {
    const auto name = [&](int n) { return session.graph().node(n).name; };
    std::vector<report::Cell> row{part.engine, name(part.nodes.front()), name(part.nodes.back()),
                                  static_cast<std::int64_t>(part.nodes.size())};
    constexpr double microseconds = 1e-3;
    row.emplace_back(part.nanoseconds > 0 ? report::Cell(microseconds * part.nanoseconds) : report::Cell());
    if (measured) {
      row.emplace_back(microseconds * part.measured);
      row.emplace_back(part.multiply_adds > 0 ? report::Cell(part.multiply_adds / part.measured / peak)
                                              : report::Cell());
    }
    table.rows.push_back(std::move(row));
  }
  document.tables.push_back(std::move(table));
}

}  // namespace assay::results
