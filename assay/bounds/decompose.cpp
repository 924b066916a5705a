#include "assay/bounds/decompose.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <numeric>

#include <assay/array_math.h>
#include <assay/model.h>

namespace assay::bounds {
namespace {

using namespace std::string_view_literals;

constexpr std::array composed{"Gelu"sv, "HardSwish"sv, "LayerNormalization"sv, "Mish"sv, "Swish"sv};

Array scalar(double value) { return Array::of<float>({}, std::vector<float>{static_cast<float>(value)}); }

class Decomposition {
 public:
  explicit Decomposition(StaticNetwork& network)
      : network_(network), graph_(network.graph), edit_(graph_), shapes_(network.shapes) {}

  void run() {
    for (const NodeId n : graph_.node_ids()) replace(n, graph_.node(n));
    Graph made = edit_.build();
    shapes_.resize(made.values().size());
    network_.graph = std::move(made);
    network_.shapes = std::move(shapes_);
  }

 private:
  void replace(NodeId node_id, const Node& node) {
    if (node.op == "Gelu") return gelu(node_id, node);
    if (node.op == "LayerNormalization" && !gives_more(node)) return layer_normalisation(node_id, node);
    if (node.op == "Div" && !graph_.is_constant(node.inputs[1])) return quotient(node_id, node);
    if (node.op == "Sqrt") return root(node_id, node);
    const ValueId x = node.inputs.empty() ? no_value : node.inputs[0];
    if (node.op == "HardSwish") {
      put(node_id, node, "Mul",
          {x, add("HardSigmoid", {x}, shape(x), {{"alpha", 1.0F / 6}, {"beta", 0.5F}})});
    } else if (node.op == "Swish") {
      const ValueId scaled = add("Mul", {x, number(node.real("alpha", 1))}, shape(x));
      put(node_id, node, "Mul", {x, add("Sigmoid", {scaled}, shape(x))});
    } else if (node.op == "Mish") {
      put(node_id, node, "Mul", {x, add("Tanh", {add("Softplus", {x}, shape(x))}, shape(x))});
    }
  }

  // Whether mean or deviation of a normalisation are also read.
  bool gives_more(const Node& node) const {
    return std::any_of(node.outputs.begin() + 1, node.outputs.end(), [&](ValueId id) {
      return id != no_value && (id == network_.output || !graph_.consumers(id).empty() ||
                                std::ranges::find(graph_.outputs(), id) != graph_.outputs().end());
    });
  }

  const Shape& shape(ValueId id) const { return shapes_[index_of(id)]; }
  ValueId number(double value) { return note(edit_.constant("", scalar(value)), {}); }
  ValueId note(ValueId id, Shape of) {
    shapes_.resize(std::max(shapes_.size(), index_of(id) + 1));
    shapes_[index_of(id)] = std::move(of);
    return id;
  }
  ValueId add(const char* op, std::vector<ValueId> inputs, Shape of,
              std::map<std::string, Attribute> attributes = {}) {
    return note(edit_.add(op, "", std::move(inputs), std::move(attributes)), std::move(of));
  }
  // The node's result as that of another operator; errors still have its name.
  void put(NodeId node_id, const Node& node, const char* op, std::vector<ValueId> inputs) {
    edit_.replace_node(node_id, {.name = node.name,
                                 .op = op,
                                 .inputs = std::move(inputs),
                                 .outputs = {node.outputs[0]},
                                 .attributes = {}});
  }

  // x (1 + erf(x / sqrt(2))) / 2, or with a tangent in place of the error function.
  void gelu(NodeId node_id, const Node& node) {
    const ValueId x = node.inputs[0];
    const Shape of = shape(x);
    ValueId gate = no_value;
    if (node.text("approximate", "none") == "tanh") {
      const ValueId cube = add("Mul", {add("Pow", {x, number(3)}, of), number(0.044715)}, of);
      const ValueId sum = add("Add", {x, cube}, of);
      gate = add("Tanh", {add("Mul", {sum, number(std::sqrt(2 / std::numbers::pi))}, of)}, of);
    } else {
      gate = add("Erf", {add("Mul", {x, number(1 / std::numbers::sqrt2)}, of)}, of);
    }
    const ValueId half = add("Mul", {add("Add", {gate, number(1)}, of), number(0.5)}, of);
    put(node_id, node, "Mul", {x, half});
  }

  void quotient(NodeId node_id, const Node& node) {
    put(node_id, node, "Mul", {node.inputs[0], add("Reciprocal", {node.inputs[1]}, shape(node.inputs[1]))});
  }

  // Of a mean of squares and a positive number or none, which is at least that number however it is rounded.
  void root(NodeId node_id, const Node& node) {
    const double least = least_of(node.inputs[0]);
    if (least > 0 || is_mean_of_squares(node.inputs[0]))
      put(node_id, node, "Sqrt", {at_least(node.inputs[0], least)});
  }
  ValueId at_least(ValueId id, double least) {
    return add("Clip", {id, number(least * (1 - 1e-3))}, Shape(shape(id)));
  }
  double least_of(ValueId id) const {
    const NodeId made = graph_.producer(id);
    if (made == no_node || graph_.node(made).op != "Add") return 0;
    const Node& sum = graph_.node(made);
    for (std::size_t i = 0; i < 2; ++i) {
      const ValueId added = sum.inputs[i];
      if (!graph_.is_constant(added) || !is_mean_of_squares(sum.inputs[1 - i])) continue;
      return graph_.constant(added).to(DType::float64).min().item<double>();
    }
    return 0;
  }
  bool is_mean_of_squares(ValueId id) const {
    const NodeId made = graph_.producer(id);
    if (made == no_node) return false;
    const Node& node = graph_.node(made);
    if (node.op == "ReduceMean" || node.op == "ReduceSum") return is_mean_of_squares(node.inputs[0]);
    return is_square(graph_, node);
  }

  // (x - mean) / sqrt(mean of (x - mean)^2 + epsilon) scale + bias. Of n elements none is more than sqrt(n -
  // 1) deviations from their mean; a thousandth more is for rounding.
  void layer_normalisation(NodeId node_id, const Node& node) {
    const ValueId x = node.inputs[0];
    const Shape of = shape(x);
    const std::int64_t rank = std::ssize(of);
    std::int64_t axis = node.integer("axis", -1);
    if (axis < 0) axis += rank;
    std::vector<std::int64_t> axes(rank - axis);
    std::iota(axes.begin(), axes.end(), axis);
    Shape reduced = of;
    std::fill(reduced.begin() + axis, reduced.end(), 1);
    const auto mean = [&](ValueId id) {
      const ValueId along =
          note(edit_.constant("", Array::of<std::int64_t>({std::ssize(axes)}, axes)), {std::ssize(axes)});
      return add("ReduceMean", {id, along}, reduced, {{"keepdims", std::int64_t{1}}});
    };
    const double epsilon = node.real("epsilon", 1e-5F);
    const ValueId deviation = add("Sub", {x, mean(x)}, of);
    ValueId variance = add("Add", {mean(add("Pow", {deviation, number(2)}, of)), number(epsilon)}, reduced);
    if (epsilon > 0) variance = at_least(variance, epsilon);
    const ValueId inverse = add("Reciprocal", {add("Sqrt", {variance}, reduced)}, reduced);
    const double most =
        std::sqrt(static_cast<double>(element_count(of) / element_count(reduced))) * (1 + 1e-3);
    const ValueId unscaled =
        add("Clip", {add("Mul", {deviation, inverse}, of), number(-most), number(most)}, of);
    const bool shifted = node.inputs.size() > 2 && node.inputs[2] != no_value;
    if (!shifted) return put(node_id, node, "Mul", {unscaled, node.inputs[1]});
    put(node_id, node, "Add", {add("Mul", {unscaled, node.inputs[1]}, of), node.inputs[2]});
  }

  StaticNetwork& network_;
  const Graph& graph_;
  GraphBuilder edit_;
  std::vector<Shape> shapes_;
};

}  // namespace

void decompose(StaticNetwork& network) { Decomposition(network).run(); }

std::span<const std::string_view> decomposed_operators() { return composed; }

}  // namespace assay::bounds
