#pragma once

// Interval bounds as a network: every value of a network becomes two, the middles and radii of intervals that
// hold it. The engine runs it as any other: weights twice, and elementwise operators.
//
// Radii include all rounding: of the network in float32, and of the bounds themselves.

#include <map>

#include "assay/bounds/static_network.h"

namespace assay::bounds {

struct IntervalValue {
  ValueId middle = no_value, radius = no_value;
};

struct IntervalGraph {
  Graph graph;                              // of two inputs: `middle` and `radius`
  std::map<ValueId, IntervalValue> bounds;  // by value of the network
  // Values that something is divided by. Nothing is known where their intervals hold 0.
  std::vector<ValueId> divisors;
  // Values of which roots are taken. Nothing is known where their intervals hold negative numbers.
  std::vector<ValueId> roots;
};

IntervalGraph interval_graph(const StaticNetwork& network);

}  // namespace assay::bounds
