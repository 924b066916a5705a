#include "assay/engine/preparation/value_bounds.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <initializer_list>
#include <map>
#include <span>
#include <string_view>
#include <vector>

#include <assay/extend/operator_traits.h>
#include "assay/engine/elements.h"
#include "assay/model/bodies.h"
#include "assay/model/trees.h"

namespace assay::inline engine {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

// 0 times infinity is 0: a bound that is not reached.
double times(double a, double b) { return a == 0 || b == 0 ? 0 : a * b; }

Bounds hull(std::initializer_list<double> ends) {
  const auto [low, high] = std::minmax_element(ends.begin(), ends.end());
  return {*low, *high};
}

Bounds sum(Bounds a, Bounds b) { return {a.low + b.low, a.high + b.high}; }
Bounds negative(Bounds a) { return {-a.high, -a.low}; }
Bounds product(Bounds a, Bounds b) {
  return hull({times(a.low, b.low), times(a.low, b.high), times(a.high, b.low), times(a.high, b.high)});
}
Bounds inverse(Bounds a) {
  if (a.low >= 0) return {1 / a.high, a.low > 0 ? 1 / a.low : infinity};
  return a.high < 0 ? Bounds{1 / a.high, 1 / a.low} : Bounds{};
}
Bounds join(Bounds a, Bounds b) { return {std::min(a.low, b.low), std::max(a.high, b.high)}; }

// Functions that never fall.
const std::map<std::string_view, double (*)(double)>& rising() {
  static const std::map<std::string_view, double (*)(double)> all{
      {"Exp", [](double x) { return std::exp(x); }},
      {"Log", [](double x) { return x > 0 ? std::log(x) : -infinity; }},
      {"Relu", [](double x) { return std::max(x, 0.0); }},
      {"Softsign", [](double x) { return std::isinf(x) ? std::copysign(1, x) : x / (1 + std::abs(x)); }},
      {"Softplus", [](double x) { return x > 30 ? x : std::log1p(std::exp(x)); }},
      {"Sqrt", [](double x) { return std::sqrt(std::max(x, 0.0)); }},
      {"Tanh", [](double x) { return std::tanh(x); }}};
  return all;
}

// Elements of one operand, elsewhere or combined so that none leaves its range.
bool keeps_range(std::string_view op) {
  static constexpr std::array<std::string_view, 3> averages{"ReduceMean", "ReduceMax", "ReduceMin"};
  static constexpr std::array<std::string_view, 13> moves{
      "Squeeze",        "Unsqueeze", "Reshape", "Flatten", "Transpose", "Slice", "Gather",
      "GatherElements", "GatherND",  "Split",   "Expand",  "Identity",  "Tile"};
  return std::ranges::find(averages, op) != averages.end() || std::ranges::find(moves, op) != moves.end() ||
         op == "GlobalAveragePool" || op == "GlobalMaxPool" || op == "Cast" || is_pass_through(op);
}

Bounds of_constant(const Array& array) {
  if (array.dtype() != DType::float32) return {};
  const auto found = range_of(array);
  return found ? Bounds{found->first, found->second} : Bounds{};
}

// Of sums of one or more elements.
Bounds of_sums(Bounds one) {
  return {one.low >= 0 ? one.low : -infinity, one.high <= 0 ? one.high : infinity};
}

class Propagation {
 public:
  // `given`: of the first of the graph's inputs.
  Propagation(const Graph& graph, std::span<const Bounds> given)
      : graph_(graph), bounds_(graph.values().size()), read_(graph.values().size()) {
    for (std::size_t i = 0; i < std::min(given.size(), graph.inputs().size()); ++i)
      bounds_[index_of(graph.inputs()[i])] = given[i];
    for (const Node& node : graph.nodes()) {
      if (node.outputs.size() > 1 && node.op != "Split") continue;
      const Bounds bounds = is_sum_of_trees(graph, node) ? of_trees(graph, node) : of_node(node);
      for (const ValueId id : node.outputs) {
        if (id != no_value) bounds_[index_of(id)] = bounds;
      }
    }
  }

  std::vector<Bounds> found() && { return std::move(bounds_); }

 private:
  // Constants are read where a node's bounds follow from theirs.
  Bounds of(ValueId id) {
    if (id == no_value) return {};
    const auto index = index_of(id);
    if (graph_.is_constant(id) && !read_[index]) {
      bounds_[index] = of_constant(graph_.constant(id));
      read_[index] = true;
    }
    return bounds_[index];
  }

  Bounds of_node(const Node& node) {
    if (node.inputs.empty()) return {};
    const auto input = [&](std::size_t i) { return i < node.inputs.size() ? of(node.inputs[i]) : Bounds{}; };
    if (is_sigmoid(node.op) || node.op == "Softmax") return {0, 1};
    if (keeps_range(node.op)) return input(0);
    if (const auto function = rising().find(node.op); function != rising().end())
      return {function->second(input(0).low), function->second(input(0).high)};
    if (node.op == "Add") return sum(input(0), input(1));
    if (node.op == "Sub") return sum(input(0), negative(input(1)));
    if (node.op == "Neg") return negative(input(0));
    if (node.op == "Mul") return product(input(0), input(1));
    if (node.op == "ReduceSum") return of_sums(input(0));
    if (node.op == "Reciprocal") return inverse(input(0));
    if (node.op == "Div") return product(input(0), inverse(input(1)));
    if (node.op == "Clip") return clipped(node);
    if (node.op == "Where") return join(input(1), input(2));
    if (node.op == "Max" || node.op == "Min" || node.op == "Concat" || node.op == "Mean") return joined(node);
    if (node.op == "If") return of_branches(node);
    return {};
  }

  // What leaves say, one leaf of each tree.
  static bool is_sum_of_trees(const Graph& graph, const Node& node) {
    if (node.op != "Gemm" || node.attributes.size() > 0 || !graph.is_constant(node.inputs.at(1)))
      return false;
    const NodeId trees = graph.producer(node.inputs[0]);
    return trees != no_node && graph.node(trees).op == "TreeEnsemble" &&
           (node.inputs.size() < 3 || graph.is_constant(node.inputs[2]));
  }

  Bounds of_trees(const Graph& graph, const Node& node) {
    const Forest forest = forest_of(graph.node(graph.producer(node.inputs[0])));
    const Array& says = graph.constant(node.inputs[1]);
    if (says.rank() != 2 || says.size(0) != forest.leaves() || says.dtype() != DType::float32) return {};
    const std::size_t results = says.size(1);
    const Array rows = says.contiguous();
    std::vector<Bounds> sums(results, Bounds{0, 0});
    for (const std::int64_t root : forest.roots) {
      std::vector<Bounds> one(results, Bounds{infinity, -infinity});
      for (const std::int64_t leaf : leaves_below(forest, root)) {
        const float* const row = rows.elements<float>() + leaf * says.size(1);
        for (std::size_t t = 0; t < results; ++t) one[t] = join(one[t], {row[t], row[t]});
      }
      for (std::size_t t = 0; t < results; ++t) sums[t] = sum(sums[t], one[t]);
    }
    Bounds all{infinity, -infinity};
    for (const Bounds& one : sums) all = join(all, one);
    return node.inputs.size() < 3 ? all : sum(all, of(node.inputs[2]));
  }

  // The condition comes first; what the branches capture are the other inputs.
  Bounds of_branches(const Node& node) {
    std::vector<Bounds> captured;
    for (std::size_t i = 1; i < node.inputs.size(); ++i) captured.push_back(of(node.inputs[i]));
    const auto of_branch = [&](const std::string& attribute) {
      const Graph body = read_body(node, attribute);
      return Propagation(body, captured).of(body.outputs()[0]);
    };
    return join(of_branch("then_branch"), of_branch("else_branch"));
  }

  Bounds clipped(const Node& node) {
    Bounds limits;
    limits.low = node.real("min", static_cast<float>(limits.low));
    limits.high = node.real("max", static_cast<float>(limits.high));
    if (node.inputs.size() > 1 && node.inputs[1] != no_value) limits.low = of(node.inputs[1]).low;
    if (node.inputs.size() > 2 && node.inputs[2] != no_value) limits.high = of(node.inputs[2]).high;
    const Bounds given = of(node.inputs.at(0));
    return {std::clamp(given.low, limits.low, std::max(limits.low, limits.high)),
            std::clamp(given.high, limits.low, std::max(limits.low, limits.high))};
  }

  Bounds joined(const Node& node) {
    Bounds all = of(node.inputs.at(0));
    for (const ValueId id : node.inputs) all = join(all, of(id));
    return all;
  }

  const Graph& graph_;
  std::vector<Bounds> bounds_;
  std::vector<bool> read_;  // of constants
};

}  // namespace

ValueBounds::ValueBounds(const Graph& graph) : bounds_(Propagation(graph, {}).found()) {}

}  // namespace assay::inline engine
