#pragma once

// Operators that only move elements, as places along axes.

#include <cstdint>
#include <optional>
#include <vector>

#include "assay/engine/backend.h"

namespace assay::lanes {

// Where along its axes a result's element comes from, on an axis of the operand: start + step * index, or
// where a list says.
struct Course {
  std::size_t axis = 0;
  std::int64_t start = 0, step = 1;
  std::vector<std::int64_t> list = {};

  std::int64_t place(std::int64_t index) const {
    return list.empty() ? start + step * index : list[static_cast<std::size_t>(index)];
  }
};

// A movement: where each axis of the result goes, in order, and on an axis that the result lacks, the place.
struct Route {
  std::vector<Course> courses;
  std::optional<Course> fixed = {};
  float rest = 0;  // of elements from outside the operand
};

// One entry per result of the node that is a movement of its first operand; empty where it cannot be told.
std::vector<Route> routes_of(const Graph& graph, const Node& node, const ShapeOf& shape_of);

}  // namespace assay::lanes
