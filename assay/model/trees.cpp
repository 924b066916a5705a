#include "assay/model/trees.h"

#include <algorithm>
#include <cmath>
#include <span>

#include <assay/error.h>

namespace assay::inline model {
namespace {

using Ints = std::vector<std::int64_t>;

// A list that is a tensor; empty where it is not there.
template <typename T>
std::vector<T> tensor_of(const Node& node, const char* name) {
  const auto found = node.attributes.find(name);
  if (found == node.attributes.end()) return {};
  const Array* const array = std::get_if<Array>(&found->second);
  if (array == nullptr) fail(Fault::model, "{}: attribute '{}' is not a tensor", node.describe(), name);
  const Array values = array->to(dtype_of<T>()).contiguous();
  const std::span<const T> all = values.as<T>();
  return {all.begin(), all.end()};
}

// The lists of inner nodes before they are one list.
struct Lists {
  explicit Lists(const Node& node)
      : columns(node.integers("nodes_featureids", {})),
        yes(node.integers("nodes_truenodeids", {})),
        no(node.integers("nodes_falsenodeids", {})),
        yes_leaf(node.integers("nodes_trueleafs", {})),
        no_leaf(node.integers("nodes_falseleafs", {})),
        missing(node.integers("nodes_missing_value_tracks_true", {})),
        splits(tensor_of<float>(node, "nodes_splits")),
        modes(tensor_of<std::uint8_t>(node, "nodes_modes")) {
    if (missing.empty()) missing.resize(columns.size());
    for (const std::size_t size : {yes.size(), no.size(), yes_leaf.size(), no_leaf.size(), missing.size(),
                                   splits.size(), modes.size()}) {
      if (size != columns.size())
        fail(Fault::model, "{}: lists of nodes are {} and {} long", node.describe(), columns.size(), size);
    }
  }

  Ints columns, yes, no, yes_leaf, no_leaf, missing;
  std::vector<float> splits;
  std::vector<std::uint8_t> modes;
};

std::int64_t checked(const Node& node, const char* what, std::int64_t value, std::int64_t count) {
  if (value < 0 || value >= count) fail(Fault::model, "{}: {} {} of {}", node.describe(), what, value, count);
  return value;
}

std::int64_t child(const Node& node, std::int64_t number, bool leaf, std::int64_t nodes,
                   std::int64_t leaves) {
  return leaf ? ~checked(node, "leaf", number, leaves) : checked(node, "node", number, nodes);
}

// A node that asks for equality with the first of the set, and nodes after it for the others.
void expand_set(Forest& forest, std::size_t at, std::span<const float> set) {
  const TreeNode asked = forest.nodes[at];
  std::size_t here = at;
  for (std::size_t i = 0; i < set.size(); ++i) {
    forest.nodes[here].mode = Branch::equal;
    forest.nodes[here].split = set[i];
    if (i + 1 == set.size()) break;
    forest.nodes[here].no = std::ssize(forest.nodes);
    here = forest.nodes.size();
    forest.nodes.push_back(asked);
  }
}

void expand_sets(Forest& forest, const Node& node) {
  const std::vector<float> members = tensor_of<float>(node, "membership_values");
  auto begin = members.begin();
  const std::size_t count = forest.nodes.size();
  for (std::size_t i = 0; i < count; ++i) {
    if (forest.nodes[i].mode != Branch::member) continue;
    const auto end = std::find_if(begin, members.end(), [](float x) { return std::isnan(x); });
    if (begin == end) fail(Fault::model, "{}: node {} asks for membership of nothing", node.describe(), i);
    expand_set(forest, i, {begin, end});
    begin = end == members.end() ? end : end + 1;
  }
}

bool goes_to_yes(const TreeNode& node, float x) {
  switch (node.mode) {
    case Branch::at_most:
      return x <= node.split;
    case Branch::below:
      return x < node.split;
    case Branch::at_least:
      return x >= node.split;
    case Branch::above:
      return x > node.split;
    case Branch::unequal:
      return x != node.split;
    default:
      return x == node.split;
  }
}

void read_leaves(Forest& forest, const Node& node) {
  forest.targets = node.integers("leaf_targetids", {});
  forest.weights = tensor_of<float>(node, "leaf_weights");
  forest.width = node.integer("n_targets", 1);
  if (forest.targets.size() != forest.weights.size())
    fail(Fault::model, "{}: {} leaves with {} weights", node.describe(), forest.targets.size(),
         forest.weights.size());
  if (forest.targets.empty()) fail(Fault::model, "{}: it has no leaves", node.describe());
  for (const std::int64_t target : forest.targets) checked(node, "target", target, forest.width);
}

}  // namespace

Forest forest_of(const Node& node) {
  const Lists lists(node);
  Forest forest;
  read_leaves(forest, node);
  const std::int64_t count = std::ssize(lists.columns);
  constexpr std::int64_t widest = std::int64_t{1} << 30;
  for (std::size_t i = 0; i < lists.columns.size(); ++i) {
    checked(node, "kind of comparison", lists.modes[i], 7);
    forest.nodes.push_back({.column = checked(node, "column", lists.columns[i], widest),
                            .split = lists.splits[i],
                            .mode = static_cast<Branch>(lists.modes[i]),
                            .missing = lists.missing[i] != 0,
                            .yes = child(node, lists.yes[i], lists.yes_leaf[i] != 0, count, forest.leaves()),
                            .no = child(node, lists.no[i], lists.no_leaf[i] != 0, count, forest.leaves())});
  }
  forest.roots = node.integers("tree_roots", {});
  if (forest.roots.empty()) fail(Fault::model, "{}: it has no trees", node.describe());
  for (const std::int64_t root : forest.roots) checked(node, "root", root, count);
  expand_sets(forest, node);
  return forest;
}

std::map<std::string, Attribute> attributes_of(const Forest& forest) {
  Ints columns, yes, no, yes_leaf, no_leaf, missing;
  std::vector<float> splits;
  std::vector<std::uint8_t> modes;
  for (const TreeNode& one : forest.nodes) {
    columns.push_back(one.column);
    splits.push_back(one.split);
    modes.push_back(static_cast<std::uint8_t>(one.mode));
    missing.push_back(one.missing ? 1 : 0);
    yes.push_back(one.yes < 0 ? ~one.yes : one.yes);
    no.push_back(one.no < 0 ? ~one.no : one.no);
    yes_leaf.push_back(one.yes < 0 ? 1 : 0);
    no_leaf.push_back(one.no < 0 ? 1 : 0);
  }
  const std::int64_t nodes = std::ssize(forest.nodes);
  std::map<std::string, Attribute> all{{"tree_roots", forest.roots},
                                       {"nodes_featureids", columns},
                                       {"nodes_splits", Array::of<float>({nodes}, splits)},
                                       {"nodes_modes", Array::of<std::uint8_t>({nodes}, modes)},
                                       {"nodes_truenodeids", yes},
                                       {"nodes_trueleafs", yes_leaf},
                                       {"nodes_falsenodeids", no},
                                       {"nodes_falseleafs", no_leaf},
                                       {"leaf_targetids", forest.targets},
                                       {"leaf_weights", Array::of<float>({forest.leaves()}, forest.weights)},
                                       {"n_targets", forest.width},
                                       {"aggregate_function", std::int64_t{1}},
                                       {"post_transform", std::int64_t{0}}};
  if (std::ranges::find(missing, 1) != missing.end()) all["nodes_missing_value_tracks_true"] = missing;
  return all;
}

std::int64_t leaf_of(const Forest& forest, std::int64_t root, const float* record) {
  std::int64_t at = root;
  for (std::size_t steps = 0; steps <= forest.nodes.size(); ++steps) {
    if (at < 0) return ~at;
    const TreeNode& node = forest.nodes[at];
    const float x = record[node.column];
    at = goes_to_yes(node, x) || (node.missing && std::isnan(x)) ? node.yes : node.no;
  }
  if (at < 0) return ~at;
  fail(Fault::model, "the tree at node {} has a path that does not end", root);
}

std::vector<std::int64_t> leaves_below(const Forest& forest, std::int64_t root) {
  std::vector<bool> seen(forest.nodes.size()), reached(forest.targets.size());
  Ints pending{root}, leaves;
  while (!pending.empty()) {
    const std::int64_t at = pending.back();
    pending.pop_back();
    if (at < 0) {
      reached[~at] = true;
    } else if (!seen[at]) {
      seen[at] = true;
      pending.push_back(forest.nodes[at].yes);
      pending.push_back(forest.nodes[at].no);
    }
  }
  for (std::size_t leaf = 0; leaf < reached.size(); ++leaf) {
    if (reached[leaf]) leaves.push_back(leaf);
  }
  return leaves;
}

}  // namespace assay::inline model
