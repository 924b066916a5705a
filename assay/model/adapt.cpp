#include <assay/adapt.h>

#include <assay/array_math.h>
#include <assay/error.h>
#include <assay/extend/operator_traits.h>
#include <assay/model.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <numeric>
#include <span>

#include "assay/model/element_type.h"
#include "assay/support/text/parse.h"

namespace assay::inline model {
namespace {

constexpr std::array<std::string_view, 4> step_operators = {"Ceil", "Floor", "Round", "Sign"};
constexpr std::array<std::string_view, 3> precisions = {"float32", "float16", "bfloat16"};
// ONNX element types.
constexpr std::int64_t float32_type = 1, float16_type = 10, bfloat16_type = 16;

bool is_step(std::string_view op) { return std::ranges::find(step_operators, op) != step_operators.end(); }

bool is_flat(const Node& node) {
  return is_step(node.op) || is_kind(node.op, OperatorKind::truth) || is_kind(node.op, OperatorKind::index) ||
         node.op == "Hardmax" || node.op == "TreeEnsemble";
}

std::optional<std::size_t> numbered(std::string_view text, std::size_t count) {
  std::int64_t number = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (code != std::errc() || end != text.data() + text.size()) return std::nullopt;
  if (number < 0) number += static_cast<std::int64_t>(count);
  if (number < 0 || number >= static_cast<std::int64_t>(count)) return std::nullopt;
  return static_cast<std::size_t>(number);
}

using Order = std::vector<std::int64_t>;
const Order to_first{0, 3, 1, 2}, to_last{0, 2, 3, 1};

// The same network whose input has its axes in that order: a Transpose back is put in front, or those of the
// file that made this order are taken away.
Graph transposed(const Graph& graph, ValueId input, const Order& order, const std::string& role) {
  const Shape& shape = graph.value(input).shape;
  if (shape.size() != 4)
    fail(Fault::usage, "input '{}' has {} axes; pictures with channels have 4", graph.value(input).name,
         shape.size());
  GraphBuilder edit(graph);
  const auto readers = graph.consumers(input);
  const bool there = std::ranges::all_of(readers, [&](NodeId n) {
    const Node& node = graph.node(n);
    return node.op == "Transpose" && node.integers("perm", {}) == order;
  });
  const bool is_output = std::ranges::find(graph.outputs(), input) != graph.outputs().end();
  if (there && !is_output) {
    for (const NodeId n : readers) edit.remove_node(n);
  } else {
    edit.insert_after(input, "Transpose", edit.unused_name(graph.value(input).name + role), {},
                      {{"perm", order == to_first ? to_last : to_first}});
  }
  Shape after;
  for (const std::int64_t axis : order) after.push_back(shape[axis]);
  edit.set_type(input, graph.value(input).dtype, std::move(after));
  return edit.build();
}

Graph with_first_output_at(const Graph& graph, std::size_t position) {
  if (position == 0) return graph;
  std::vector<ValueId> ids(graph.outputs().begin(), graph.outputs().end());
  std::rotate(ids.begin(), ids.begin() + 1, ids.begin() + position + 1);
  GraphBuilder edit(graph);
  edit.set_outputs(std::move(ids));
  return edit.build();
}

// Of each record the numbers of these outputs, one after the other.
Graph with_joined_outputs(const Graph& graph, std::string_view names) {
  const std::vector<DType> types = element_types(graph);
  GraphBuilder edit(graph);
  std::vector<ValueId> rows, ids;
  for (const std::string& name : parts_of(names, "+")) {
    const ValueId id = graph.outputs()[output_position(graph, name).value()];
    ValueId numbers = id;
    if (types[index_of(id)] != DType::float32)
      numbers = edit.add("Cast", edit.unused_name(name + "/numbers"), {id}, {{"to", float32_type}});
    rows.push_back(
        edit.add("Flatten", edit.unused_name(name + "/rows"), {numbers}, {{"axis", std::int64_t{1}}}));
  }
  ids.push_back(edit.add("Concat", edit.unused_name(std::string(names)), rows, {{"axis", std::int64_t{1}}}));
  ids.insert(ids.end(), graph.outputs().begin(), graph.outputs().end());
  edit.set_outputs(std::move(ids));
  return edit.build();
}

// Without so many outputs at the front and at the end, which are made of others.
Graph without_outputs(const Graph& graph, std::size_t front, std::size_t end) {
  if (front + end == 0) return graph;
  const auto kept = graph.outputs().subspan(front, graph.outputs().size() - front - end);
  GraphBuilder edit(graph);
  edit.set_outputs({kept.begin(), kept.end()});
  return edit.build();
}

// With the score that decides as it is in the file.
Graph unshifted(const Graph& graph, const FileForm& form) {
  if (form.shifted.empty() && form.shifting.empty()) return graph;
  GraphBuilder edit(graph);
  if (const auto node = graph.find_node(form.shifting); node && !form.shifting.empty()) {
    edit.remove_node(*node);
    return edit.build();
  }
  const auto constant = graph.find_value(form.shifted);
  if (form.shifted.empty() || !constant || graph.consumers(*constant).empty())
    fail(Fault::unsupported,
         "network '{}' has lost '{}', by which its score is shifted to another threshold, and cannot be "
         "written with its own; leave out the threshold",
         graph.name(), form.shifted.empty() ? form.shifting : form.shifted);
  const Array& now = graph.constant(*constant);
  edit.replace_constant(*constant,
                        array::equal(now, form.running) ? form.there : now + (form.there - form.running));
  return edit.build();
}

}  // namespace

std::optional<std::size_t> output_position(const Graph& graph, std::string_view output) {
  const std::span<const ValueId> ids = graph.outputs();
  const auto found = std::ranges::find_if(ids, [&](ValueId id) { return graph.value(id).name == output; });
  if (found != ids.end()) return found - ids.begin();
  if (const std::vector<std::string> parts = parts_of(output, "+"); parts.size() > 1) {
    for (const std::string& part : parts) output_position(graph, part);
    return std::nullopt;
  }
  if (const auto number = numbered(output, ids.size())) return *number;
  std::string names;
  for (const ValueId id : ids)
    names += fmt::format("{}'{}'", names.empty() ? "" : ", ", graph.value(id).name);
  fail(Fault::usage, "network '{}' has no output '{}'; it has {}", graph.name(), output, names);
}

Graph with_decision(const Graph& graph, std::string_view output) {
  const std::optional<std::size_t> position = output_position(graph, output);
  if (!position) return with_joined_outputs(graph, output);
  std::vector<ValueId> ids(graph.outputs().begin(), graph.outputs().end());
  const auto found = ids.begin() + *position;
  const std::vector<DType> types = element_types(graph);
  if (const DType type = types[index_of(*found)]; !is_real(type))
    fail(Fault::usage, "output '{}' holds {} numbers; what decides are scores in floating point",
         graph.value(*found).name, to_string(type));
  std::rotate(ids.begin(), found, found + 1);
  GraphBuilder edit(graph);
  edit.set_outputs(std::move(ids));
  return edit.build();
}

Graph with_records_first(const Graph& graph, int axis, std::size_t axes) {
  const ValueId first = graph.outputs()[0];
  Order order(axes);
  std::iota(order.begin(), order.end(), std::int64_t{0});
  std::rotate(order.begin(), order.begin() + axis, order.begin() + axis + 1);
  GraphBuilder edit(graph);
  std::vector<ValueId> ids{edit.add("Transpose", edit.unused_name(graph.value(first).name + "/records_first"),
                                    {first}, {{"perm", order}})};
  ids.insert(ids.end(), graph.outputs().begin(), graph.outputs().end());
  edit.set_outputs(std::move(ids));
  return edit.build();
}

Precision parse_precision(std::string_view text) {
  const auto found = std::ranges::find(precisions, text);
  if (found == precisions.end())
    fail(Fault::usage, "there is no precision '{}'; there are {}", text, fmt::join(precisions, ", "));
  return static_cast<Precision>(found - precisions.begin());
}

std::string_view to_string(Precision precision) { return precisions[static_cast<std::size_t>(precision)]; }

Graph in_precision(const Graph& graph, Precision precision) {
  if (precision == Precision::float32) return graph;
  const std::int64_t type = precision == Precision::float16 ? float16_type : bfloat16_type;
  const std::vector<DType> types = element_types(graph);
  GraphBuilder edit(graph);
  const auto name_of = [&](ValueId id, std::string_view form) {
    return edit.unused_name(fmt::format("{}/{}", graph.value(id).name, form));
  };
  const auto cast = [&](ValueId from, const std::string& name, std::int64_t to) {
    return Node{.name = name, .op = "Cast", .inputs = {from}, .outputs = {}, .attributes = {{"to", to}}};
  };
  const auto is_output = [&](ValueId id) {
    return std::ranges::find(graph.outputs(), id) != graph.outputs().end();
  };
  // What readers take instead of a value.
  std::vector<ValueId> rounded(graph.value_ids().begin(), graph.value_ids().end());
  for (const ValueId id : graph.value_ids()) {
    const DType held = graph.is_constant(id) ? graph.constant(id).dtype() : types[index_of(id)];
    if (held != DType::float32) continue;
    if (is_output(id) && graph.producer(id) != no_node) {
      const ValueId wide = edit.wrap(id, cast(id, name_of(id, "float32"), float32_type));
      edit.wrap(wide, cast(wide, name_of(id, to_string(precision)), type));
    } else if (!graph.consumers(id).empty()) {
      const ValueId narrow = edit.add("Cast", name_of(id, to_string(precision)), {id}, {{"to", type}});
      rounded[index_of(id)] = edit.add("Cast", name_of(id, "float32"), {narrow}, {{"to", float32_type}});
    }
  }
  for (const NodeId n : graph.node_ids()) {
    Node node = edit.node(n);
    for (ValueId& id : node.inputs) {
      if (id != no_value) id = rounded[index_of(id)];
    }
    edit.replace_node(n, std::move(node));
  }
  return edit.build();
}

bool takes_channels_last(const Graph& graph, ValueId input, const Shape& record) {
  const Shape& declared = graph.value(input).shape;
  if (record.size() != 3 || declared.size() != 4) return false;
  const auto fits = [&](const Shape& one) {
    return std::ranges::equal(one, std::span(declared).subspan(1),
                              [](auto have, auto want) { return want < 0 || have == want; });
  };
  return !fits(record) && fits({record[1], record[2], record[0]});
}

Graph with_channels_first(const Graph& graph, ValueId input) {
  return transposed(graph, input, to_first, "/channels_last");
}

Graph in_form_of_file(const Graph& graph, const FileForm& form) {
  const Graph ordered = with_first_output_at(
      without_outputs(unshifted(graph, form), form.added ? 1 : 0, form.views), form.decision);
  return form.channels_last ? transposed(ordered, ordered.inputs()[0], to_last, "/channels_first") : ordered;
}

Graph straight_through(const Graph& graph) {
  GraphBuilder edit(graph);
  for (const NodeId n : graph.node_ids()) {
    Node node = graph.node(n);
    if (!is_step(node.op)) continue;
    node.attributes["step"] = node.op;
    node.op = "StraightThrough";
    edit.replace_node(n, std::move(node));
  }
  return edit.build();
}

const Node* first_step(const Graph& graph, ValueId from, ValueId to) {
  const Node* first = nullptr;
  std::vector<bool> reached(graph.values().size(), false);
  reached[index_of(from)] = true;
  for (const Node& node : graph.nodes()) {
    const bool reads =
        std::ranges::any_of(node.inputs, [&](ValueId id) { return id != no_value && reached[index_of(id)]; });
    if (!reads || node.op == "Shape" || node.op == "Size") continue;  // extents, not values
    if (is_flat(node)) {
      if (first == nullptr) first = &node;
      continue;
    }
    for (const ValueId id : node.outputs) {
      if (id != no_value) reached[index_of(id)] = true;
    }
  }
  return reached[index_of(to)] ? nullptr : first;
}

}  // namespace assay::inline model
