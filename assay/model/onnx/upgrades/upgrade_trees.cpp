// Decision trees of ai.onnx.ml: which leaves a record reaches, then what leaves say as a matrix product.

#include <algorithm>
#include <map>
#include <set>

#include <assay/error.h>
#include "assay/model/onnx/upgrades/columns.h"
#include "assay/model/trees.h"

namespace assay::onnx_format {
namespace {

using Integers = std::vector<std::int64_t>;
using LeafWeights = std::vector<float>;

constexpr std::int64_t most_weights = std::int64_t{1} << 28;  // of leaves, as of sparse tensors

// A list that newer files have as a tensor.
LeafWeights listed_weights(const Node& node, const std::string& name) {
  const auto found = node.attributes.find(name + "_as_tensor");
  if (found == node.attributes.end()) return node.reals(name, {});
  const Array* const array = std::get_if<Array>(&found->second);
  if (array == nullptr)
    fail(Fault::model, "{}: attribute '{}' is not a tensor", node.describe(), found->first);
  const Array values = array->to(DType::float32).contiguous();
  return {values.as<float>().begin(), values.as<float>().end()};
}

Branch comparison_of(const Node& node, const std::string& mode) {
  static const std::map<std::string, Branch> modes{
      {"BRANCH_LEQ", Branch::at_most}, {"BRANCH_LT", Branch::below}, {"BRANCH_GTE", Branch::at_least},
      {"BRANCH_GT", Branch::above},    {"BRANCH_EQ", Branch::equal}, {"BRANCH_NEQ", Branch::unequal}};
  const auto found = modes.find(mode);
  if (found == modes.end()) fail(Fault::model, "{}: there is no comparison '{}'", node.describe(), mode);
  return found->second;
}

// Trees of files before version 5: nodes, leaves among them, have the number of a tree and one of their own.
class NumberedTrees {
 public:
  explicit NumberedTrees(const Node& node)
      : node_(node),
        trees_(node.integers("nodes_treeids", {})),
        ids_(node.integers("nodes_nodeids", {})),
        modes_(node.texts("nodes_modes", {})) {
    require_length("nodes_nodeids", ids_.size());
    require_length("nodes_modes", modes_.size());
    number_nodes();
    add_inner_nodes();
    add_roots();
    forest_.width = forest_.leaves();
  }

  // Each leaf is a target.
  const Forest& forest() const { return forest_; }

  // [leaves, count], as `kind` ("class", "target") says of leaves. Some files weigh inner nodes, which mean
  // nothing.
  LeafWeights says(const std::string& kind, const Integers& targets, std::int64_t count) const {
    const Integers trees = node_.integers(kind + "_treeids", {}), ids = node_.integers(kind + "_nodeids", {});
    const LeafWeights weights = listed_weights(node_, kind + "_weights");
    if (trees.size() != weights.size() || ids.size() != weights.size() || targets.size() != weights.size())
      fail(Fault::model, "{}: lists of weights have different lengths", node_.describe());
    if (count < 1 || count > most_weights / forest_.leaves())
      fail(Fault::model, "{}: {} leaves for {} results", node_.describe(), forest_.leaves(), count);
    LeafWeights all(forest_.leaves() * count);
    for (std::size_t i = 0; i < weights.size(); ++i) {
      if (targets[i] < 0 || targets[i] >= count)
        fail(Fault::model, "{}: result {} of {}", node_.describe(), targets[i], count);
      const std::int64_t place = place_of(trees[i], ids[i]);
      if (place < 0) all[~place * count + targets[i]] += weights[i];
    }
    return all;
  }

 private:
  void require_length(const char* name, std::size_t size) const {
    if (size != trees_.size() || size == 0)
      fail(Fault::model, "{}: {} nodes, and '{}' has {}", node_.describe(), trees_.size(), name, size);
  }

  std::int64_t place_of(std::int64_t tree, std::int64_t id) const {
    const auto found = places_.find({tree, id});
    if (found == places_.end()) fail(Fault::model, "{}: tree {} has no node {}", node_.describe(), tree, id);
    return found->second;
  }

  // Inner nodes from 0, leaves as ~number.
  void number_nodes() {
    std::int64_t inner = 0;
    for (std::size_t i = 0; i < ids_.size(); ++i) {
      const bool leaf = modes_[i] == "LEAF";
      if (!places_.emplace(std::pair(trees_[i], ids_[i]), leaf ? ~forest_.leaves() : inner).second)
        fail(Fault::model, "{}: tree {} has node {} twice", node_.describe(), trees_[i], ids_[i]);
      if (!leaf) ++inner;
      if (!leaf) continue;
      forest_.targets.push_back(forest_.leaves());
      forest_.weights.push_back(1);
    }
  }

  void add_inner_nodes() {
    const Integers columns = node_.integers("nodes_featureids", {});
    const Integers yes = node_.integers("nodes_truenodeids", {}),
                   no = node_.integers("nodes_falsenodeids", {});
    Integers missing = node_.integers("nodes_missing_value_tracks_true", {});
    const LeafWeights splits = listed_weights(node_, "nodes_values");
    if (missing.empty()) missing.resize(ids_.size());
    require_length("nodes_featureids", columns.size());
    require_length("nodes_truenodeids", yes.size());
    require_length("nodes_falsenodeids", no.size());
    require_length("nodes_values", splits.size());
    require_length("nodes_missing_value_tracks_true", missing.size());
    for (std::size_t i = 0; i < ids_.size(); ++i) {
      if (modes_[i] == "LEAF") continue;
      if (columns[i] < 0) fail(Fault::model, "{}: column {}", node_.describe(), columns[i]);
      forest_.nodes.push_back({.column = columns[i],
                               .split = splits[i],
                               .mode = comparison_of(node_, modes_[i]),
                               .missing = missing[i] != 0,
                               .yes = below(trees_[i], yes[i]),
                               .no = below(trees_[i], no[i])});
    }
  }

  std::int64_t below(std::int64_t tree, std::int64_t id) {
    const std::int64_t place = place_of(tree, id);
    if (!children_.insert(place).second)
      fail(Fault::model, "{}: node {} of tree {} is below two nodes", node_.describe(), id, tree);
    return place;
  }

  // Each tree has one node that is below none. A leaf alone is below a node that asks for nothing.
  void add_roots() {
    std::set<std::int64_t> rooted;
    for (std::size_t i = 0; i < ids_.size(); ++i) {
      const std::int64_t place = place_of(trees_[i], ids_[i]);
      if (children_.contains(place)) continue;
      if (!rooted.insert(trees_[i]).second)
        fail(Fault::model, "{}: tree {} has two roots", node_.describe(), trees_[i]);
      forest_.roots.push_back(place < 0 ? std::ssize(forest_.nodes) : place);
      if (place < 0) forest_.nodes.push_back({.yes = place, .no = place});
    }
    for (const std::int64_t tree : trees_) {
      if (!rooted.contains(tree)) fail(Fault::model, "{}: tree {} has no root", node_.describe(), tree);
    }
  }

  const Node& node_;
  Integers trees_, ids_;
  std::vector<std::string> modes_;
  std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> places_;
  std::set<std::int64_t> children_;
  Forest forest_;
};

// x through trees whose leaves are targets, and what leaves say, [leaves, results].
ValueId summed_leaves(Upgrade& u, const Forest& forest, const LeafWeights& says, const LeafWeights& base) {
  const ValueId leaves = u.before("leaves", "TreeEnsemble", {real_input(u, 0)}, attributes_of(forest));
  const std::int64_t results = std::ssize(says) / forest.leaves();
  std::vector<ValueId> inputs{leaves,
                              u.constant("weights", Array::of<float>({forest.leaves(), results}, says))};
  if (!base.empty()) inputs.push_back(u.constant("base", Array::of<float>({std::ssize(base)}, base)));
  return u.before("sum", "Gemm", std::move(inputs));
}

// ONNX Runtime, for which such files are made, leaves one result as it is.
void transform_results(Upgrade& u, ValueId sum, std::int64_t results, const std::string& how) {
  if (results > 1 || how == "NONE") return become_transform(u, sum, how);
  u.graph.remark(fmt::format("post_transform {} of one result does nothing, as in ONNX Runtime", how),
                 u.node.describe());
  become_transform(u, sum, "NONE");
}

// As many as results, or none.
LeafWeights base_of(const Node& node, std::int64_t results) {
  LeafWeights base = listed_weights(node, "base_values");
  if (!base.empty() && std::ssize(base) != results)
    fail(Fault::unsupported, "{}: {} base values for {} results", node.describe(), base.size(), results);
  return base;
}

void take_mean(const Node& node, const std::string& how, const Forest& forest, LeafWeights& says) {
  if (how == "SUM") return;
  if (how != "AVERAGE")
    fail(Fault::unsupported, "{}: aggregate_function {} is not supported; export with SUM or AVERAGE",
         node.describe(), how);
  for (float& weight : says) weight /= static_cast<float>(forest.roots.size());
}

std::string named_number(const Node& node, const char* attribute, std::int64_t fallback,
                         const std::vector<std::string>& names) {
  const std::int64_t number = node.integer(attribute, fallback);
  if (number < 0 || number >= std::ssize(names))
    fail(Fault::model, "{}: there is no {} {}", node.describe(), attribute, number);
  return names[number];
}

// As a Graph holds trees: nothing is left to do after the leaves.
bool says_leaves(const Forest& forest) {
  if (forest.width != forest.leaves()) return false;
  for (std::size_t leaf = 0; leaf < forest.targets.size(); ++leaf) {
    if (forest.targets[leaf] != static_cast<std::int64_t>(leaf) || forest.weights[leaf] != 1) return false;
  }
  return true;
}

}  // namespace

void tree_regressor(Upgrade& u) {
  const NumberedTrees trees(u.node);
  const std::int64_t results = u.node.integer("n_targets", 1);
  LeafWeights says = trees.says("target", u.node.integers("target_ids", {}), results);
  take_mean(u.node, u.node.text("aggregate_function", "SUM"), trees.forest(), says);
  const ValueId sum = summed_leaves(u, trees.forest(), says, base_of(u.node, results));
  transform_results(u, sum, results, u.node.text("post_transform", "NONE"));
}

// Of two classes, leaves may weigh one alone: that is the second class, however it is numbered, and its
// weights are shares if none is negative.
void tree_classifier(Upgrade& u) {
  const NumberedTrees trees(u.node);
  const Integers labels = u.node.integers("classlabels_int64s", {});
  const std::int64_t classes = std::max(std::ssize(labels), u.node.integer("texts", 0));
  const Integers ids = u.node.integers("class_ids", {});
  const std::string how = u.node.text("post_transform", "NONE");
  const bool single = classes == 2 && std::ranges::all_of(ids, [](std::int64_t id) { return id == 0; });
  const std::int64_t columns = single ? 1 : classes;
  const LeafWeights weights = listed_weights(u.node, "class_weights"), base = base_of(u.node, columns);
  if (columns == 2 && !base.empty())
    fail(Fault::unsupported, "{}: base values of two classes mean different things in different programs",
         u.node.describe());
  const ValueId scores = summed_leaves(u, trees.forest(), trees.says("class", ids, columns), base);
  const bool shares = std::ranges::all_of(weights, [](float weight) { return weight >= 0; });
  forward_class(u, scores, columns, labels, single && shares ? 0.5F : 0.0F);
  if (!single) return become_transform(u, scores, how);
  const bool logistic = how == "LOGISTIC";
  become_transform(u, both_columns(u, scores, shares && !logistic), logistic ? how : "NONE");
}

void tree_ensemble(Upgrade& u) {
  const Forest forest = forest_of(u.node);
  const std::string sum = named_number(u.node, "aggregate_function", 1, {"AVERAGE", "SUM", "MIN", "MAX"});
  const std::string how =
      named_number(u.node, "post_transform", 0, {"NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT"});
  if (sum == "SUM" && how == "NONE" && says_leaves(forest))
    return become(u, "TreeEnsemble", {real_input(u, 0)}, attributes_of(forest));
  if (forest.width < 1 || forest.width > most_weights / std::max<std::int64_t>(1, forest.leaves()))
    fail(Fault::model, "{}: {} leaves for {} results", u.node.describe(), forest.leaves(), forest.width);
  Forest leaves = forest;
  LeafWeights says(forest.leaves() * forest.width);
  leaves.width = forest.leaves();
  for (std::int64_t leaf = 0; leaf < forest.leaves(); ++leaf) {
    const std::size_t at = leaf;
    says[leaf * forest.width + forest.targets[at]] = forest.weights[at];
    leaves.targets[at] = leaf;
    leaves.weights[at] = 1;
  }
  take_mean(u.node, sum, forest, says);
  transform_results(u, summed_leaves(u, leaves, says, {}), forest.width, how);
}

}  // namespace assay::onnx_format
