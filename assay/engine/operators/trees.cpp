// TreeEnsemble: decision trees.

#include <algorithm>

#include "assay/engine/operators/parts/support.h"
#include "assay/model/trees.h"

namespace assay::operators {
namespace {

std::int64_t columns_needed(const Forest& forest) {
  std::int64_t columns = 0;
  for (const TreeNode& node : forest.nodes) columns = std::max(columns, node.column + 1);
  return columns;
}

}  // namespace

// O(records * trees * depth + nodes).
Outputs tree_ensemble(const Call& call) {
  const Array& given = call.input(0);
  if (given.rank() != 2) fail(Fault::model, "trees take a table, [records, columns]");
  if (call.node.integer("aggregate_function", 1) != 1 || call.node.integer("post_transform", 0) != 0)
    fail(Fault::unsupported, "only sums of leaves are computed here");
  const Forest forest = forest_of(call.node);
  require_in("the number of columns", given.size(1), columns_needed(forest), largest_extent);
  check_size({given.size(0), forest.width}, sizeof(float));
  const Array x = given.detach().to(DType::float32).contiguous();
  Array sums = array::zeros({x.size(0), forest.width}, DType::float32);
  for (std::int64_t r = 0; r < x.size(0); ++r) {
    float* const row = sums.elements<float>() + r * forest.width;
    for (const std::int64_t root : forest.roots) {
      const std::size_t leaf = leaf_of(forest, root, x.elements<float>() + r * x.size(1));
      row[forest.targets[leaf]] += forest.weights[leaf];
    }
  }
  return {sums};
}

}  // namespace assay::operators
