#pragma once

// Nodes that are linear as rows of a sparse matrix, one a result; and the windows of maxima.

#include <cstdint>
#include <vector>

#include "assay/bounds/static_network.h"

namespace assay::bounds {

// Row r has the entries begin[r] to begin[r + 1].
struct Rows {
  std::vector<std::size_t> begin = {0};
  std::vector<std::int32_t> column;
  std::vector<double> factor;

  std::size_t count() const { return begin.size() - 1; }
  void add(std::int32_t column_, double factor_) { column.push_back(column_), factor.push_back(factor_); }
  void end_row() { begin.push_back(column.size()); }
};

// A linear node: rows for each operand that is computed, and what is added (empty: nothing).
struct LinearNode {
  struct Operand {
    ValueId value;
    Rows rows;
  };
  std::vector<Operand> operands;
  std::vector<double> added;
};

// REQUIRES a rule of affine, sum or movement. `output`: of the node, which may have several.
LinearNode linear_node(const StaticNetwork& network, const Node& node, std::size_t output);

// The elements that each result is the greatest of, with factors of 1.
Rows windows_of(const StaticNetwork& network, const Node& node);

}  // namespace assay::bounds
