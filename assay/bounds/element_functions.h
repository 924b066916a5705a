#pragma once

// Nodes that together compute one function of each element of a value, as exporters write activations.

#include <map>
#include <set>
#include <vector>

#include "assay/bounds/element_function.h"
#include "assay/bounds/static_network.h"

namespace assay::bounds {

struct FoundFunction {
  ValueId operand;
  std::vector<const Node*> nodes;  // in the order of computation; of the network's graph
  ElementFunction function;
};

struct ElementFunctions {
  std::map<ValueId, FoundFunction> at;  // by the value where they end
  std::set<ValueId> within;             // other values that their nodes compute
};

ElementFunctions element_functions(const StaticNetwork& network);

}  // namespace assay::bounds
