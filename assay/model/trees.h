#pragma once

// Decision trees as the operator TreeEnsemble (ai.onnx.ml 5) holds them: inner nodes compare a column with a
// number, leaves add a weight to a target. In a Graph each leaf is a separate target with weight 1, so that
// the result says which leaves a record reaches; a matrix product after it has what leaves say.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <assay/graph.h>

namespace assay::inline model {

// The numbers of the format.
enum class Branch : std::uint8_t { at_most, below, at_least, above, equal, unequal, member };

struct TreeNode {
  std::int64_t column = 0;
  float split = 0;
  Branch mode = Branch::at_most;
  bool missing = false;          // NaN goes to `yes`
  std::int64_t yes = 0, no = 0;  // an inner node, or leaf ~n
};

struct Forest {
  std::vector<TreeNode> nodes;
  std::vector<std::int64_t> roots;    // inner nodes, one a tree
  std::vector<std::int64_t> targets;  // one a leaf
  std::vector<float> weights;         // likewise
  std::int64_t width = 0;             // number of targets

  std::int64_t leaves() const { return std::ssize(targets); }
};

// Checks all numbers. Nodes that ask for membership of a set become several that ask for equality. Throws
// Error{model}.
Forest forest_of(const Node& node);
std::map<std::string, Attribute> attributes_of(const Forest& forest);

// The leaf that a record reaches; it has as many columns as nodes ask for. Throws Error{model} where a path
// does not end.
std::int64_t leaf_of(const Forest& forest, std::int64_t root, const float* record);
// Those below an inner node, ascending.
std::vector<std::int64_t> leaves_below(const Forest& forest, std::int64_t root);

}  // namespace assay::inline model
