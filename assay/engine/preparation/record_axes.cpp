#include "assay/engine/preparation/record_axes.h"

#include <algorithm>

#include <assay/model.h>

namespace assay::inline engine {
namespace {

Shape without(const Shape& shape, std::size_t axis) {
  Shape rest = shape;
  rest.erase(rest.begin() + axis);
  return rest;
}

// The axis without which the declared shape is that of a record: the usual one, or the only other.
std::optional<std::size_t> axis_as_told(const Shape& declared, const Shape& record, int usual) {
  if (usual >= 0 && fit_record(record, without(declared, usual))) return static_cast<std::size_t>(usual);
  std::optional<std::size_t> found;
  for (std::size_t axis = 0; axis < declared.size(); ++axis) {
    if (without(declared, axis) != record) continue;
    // Taking out either of two neighbours of one size leaves the same shape.
    if (found && declared[*found] != declared[axis]) return std::nullopt;
    found = axis;
  }
  return found;
}

}  // namespace

std::optional<RecordAxes> with_record_axes(const Graph& graph, const RecordShapes& known) {
  GraphBuilder edit(graph);
  std::int64_t batch = 0;
  bool unusual = false;
  for (const ValueId id : graph.inputs()) {
    Shape declared = graph.value(id).shape;
    const Shape& record = known.of(graph, id);
    if (declared.empty()) continue;  // one number for all records
    if (record.empty() || std::ranges::find(declared, -1) != declared.end()) return std::nullopt;
    const int usual = input_form(graph, id, {}).batch_axis;
    const std::optional<std::size_t> axis = axis_as_told(declared, record, usual);
    if (!axis || (batch > 0 && declared[*axis] != batch)) return std::nullopt;
    batch = declared[*axis];
    unusual |= static_cast<int>(*axis) != usual;
    declared[*axis] = -1;
    edit.set_type(id, graph.value(id).dtype, std::move(declared));
  }
  if (!unusual || batch <= 0) return std::nullopt;
  return RecordAxes{edit.build(), batch};
}

}  // namespace assay::inline engine
