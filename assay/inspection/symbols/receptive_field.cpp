#include "assay/inspection/symbols/receptive_field.h"

#include <algorithm>

#include <assay/extend/operator_traits.h>
#include "assay/engine/operators/parts/window.h"

namespace assay::inspection {
namespace {

using operators::Ints;

Ints last_axes(const Shape& shape, std::size_t axes) {
  return shape.size() < axes + 2 ? Ints() : Ints(shape.end() - axes, shape.end());
}

// Sizes of a node's windows; empty where it has none.
Ints kernel_of(const Session& session, const Node& node, std::size_t axes) {
  if (node.has("kernel_shape")) return node.integers("kernel_shape", {});
  return node.op == "Conv" ? last_axes(session.shape(node.inputs.at(1)), axes) : Ints();
}

// Centres of the windows of one node, in positions of its input.
std::optional<std::vector<Centres>> window_centres(const Session& session, const Node& node,
                                                   const Ints& sizes) {
  const Ints kernel = kernel_of(session, node, sizes.size());
  if (kernel.size() != sizes.size()) return std::nullopt;
  KernelContext context;
  const operators::Window window = operators::read_window({node, {}, context}, kernel, sizes);
  std::vector<Centres> centres;
  for (std::size_t i = 0; i < sizes.size(); ++i)
    centres.push_back({static_cast<double>(window.extent(i) - 1) / 2 - window.begin[i],
                       static_cast<double>(window.stride[i])});
  return centres;
}

// Of the positions of a node's output, in positions of its first input that depends on records.
std::optional<std::vector<Centres>> node_centres(const Session& session, const Node& node, const Ints& from,
                                                 const Ints& to) {
  const bool windows = node.op == "Conv" || (is_pooling(node.op) && node.has("kernel_shape"));
  if (windows) return window_centres(session, node, from);
  if (node.op == "Resize" || node.op == "Upsample") {
    std::vector<Centres> centres;
    for (std::size_t i = 0; i < from.size(); ++i) centres.push_back(evenly(to[i], from[i]));
    return centres;
  }
  const bool in_place = is_elementwise(node.op) || is_normalisation(node.op) || is_pass_through(node.op) ||
                        is_activation(node.op) || node.op == "Concat";
  if (!in_place || from != to) return std::nullopt;
  return std::vector<Centres>(from.size());
}

}  // namespace

Centres evenly(std::int64_t positions, std::int64_t extent) {
  const double stride = static_cast<double>(extent) / positions;
  return {(stride - 1) / 2, stride};
}

std::optional<std::vector<Centres>> receptive_centres(const Session& session, ValueId value,
                                                      std::size_t axes) {
  const Graph& graph = session.graph();
  std::vector<Centres> centres(axes);
  for (NodeId n = graph.producer(value); n != no_node; n = graph.producer(value)) {
    const Node& node = graph.node(n);
    const auto source = std::ranges::find_if(
        node.inputs, [&](ValueId id) { return id != no_value && session.record_axis(id).axis == 0; });
    if (source == node.inputs.end()) return std::nullopt;
    const Ints from = last_axes(session.shape(*source), axes), to = last_axes(session.shape(value), axes);
    if (from.size() != axes || to.size() != axes) return std::nullopt;
    const auto own = node_centres(session, node, from, to);
    if (!own) return std::nullopt;
    for (std::size_t i = 0; i < axes; ++i)
      centres[i] = {(*own)[i].at(centres[i].offset), centres[i].stride * (*own)[i].stride};
    value = *source;
  }
  const bool reached = std::ranges::find(graph.inputs(), value) != graph.inputs().end();
  return reached ? std::optional(centres) : std::nullopt;
}

}  // namespace assay::inspection
