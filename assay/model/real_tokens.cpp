#include "assay/model/real_tokens.h"

#include <algorithm>

namespace assay::inline model {
namespace {

bool is_whole(DType type) { return type == DType::int64 || type == DType::int32; }

bool is_input(const Graph& graph, ValueId id) {
  return std::ranges::find(graph.inputs(), id) != graph.inputs().end();
}

}  // namespace

ValueId tokens_input(const Graph& graph) {
  if (const auto named = graph.find_value("input_ids"); named && is_input(graph, *named)) return *named;
  ValueId only = no_value;
  for (const ValueId id : graph.inputs()) {
    if (!is_whole(graph.value(id).dtype)) continue;
    if (only != no_value) return no_value;
    only = id;
  }
  return only;
}

ValueId real_tokens(const Graph& graph, NamedNodes& nodes, std::int64_t padding) {
  if (const auto mask = graph.find_value("attention_mask");
      mask && is_input(graph, *mask) && graph.value(*mask).shape.size() == 2)
    return nodes.as_float(*mask, "attention");
  const ValueId ids = tokens_input(graph);
  if (ids == no_value || padding < 0) return no_value;
  const Array token = Array::of<std::int64_t>({}, std::vector{padding}).to(graph.value(ids).dtype);
  const ValueId fills =
      nodes.add("Equal", "is_padding", {ids, nodes.edit().constant(nodes.name("padding"), token)});
  return nodes.as_float(nodes.add("Not", "is_token", {fills}), "attention");
}

ValueId counted_tokens(NamedNodes& nodes, ValueId real) {
  const ValueId axis =
      nodes.edit().constant(nodes.name("axis"), Array::of<std::int64_t>({}, std::vector<std::int64_t>{1}));
  return nodes.add("Mul", "places", {nodes.add("CumSum", "counted", {real, axis}), real});
}

}  // namespace assay::inline model
