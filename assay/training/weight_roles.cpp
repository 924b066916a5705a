#include "assay/training/weight_roles.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include <assay/extend/operator_traits.h>
#include <assay/tensor.h>
#include "assay/engine/constants.h"
#include "assay/support/memory.h"

namespace assay::training {
namespace {

// Whether the operator hands on every element of its input, in another order or shape at most.
bool rearranges(std::string_view op) {
  return op == "Transpose" || is_pass_through(op) || has_trait(op, Trait::reshapes);
}

// Operators whose results are elements of their first input, or of all inputs.
bool moves(std::string_view op) { return rearranges(op) || (is_movement(op) && op != "Where"); }

// The constant that a node reads, possibly through nodes that move elements of constants.
struct Source {
  std::vector<ValueId> constants;  // of float32, with at least one axis
  Shape shape;                     // as the node reads it
  bool whole = true;               // it has all elements of one constant
};

class Finder {
 public:
  explicit Finder(const Graph& graph) : graph_(graph), folded_(graph, memory_limit()) {}

  WeightRoles run() {
    for (const NodeId n : graph_.node_ids()) {
      at_ = n;
      visit(graph_.node(n));
    }
    return {std::move(found_), std::move(neutral_)};
  }

 private:
  bool is_weight(ValueId id) const {
    return graph_.constant(id).dtype() == DType::float32 && !graph_.constant(id).shape().empty();
  }

  // The constants whose elements come together in the value; none where one of them is computed otherwise.
  std::optional<Source> moved(ValueId from) const {
    Source source;
    std::set<ValueId> seen{from};
    for (std::vector<ValueId> open{from}; !open.empty();) {
      const ValueId id = open.back();
      open.pop_back();
      if (graph_.is_constant(id)) {
        if (is_weight(id)) source.constants.push_back(id);
        continue;
      }
      const Node* const maker = producer(id);
      if (maker == nullptr || !moves(maker->op) || maker->inputs.empty()) return std::nullopt;
      source.whole &= rearranges(maker->op);
      const std::size_t followed = maker->op == "Concat" ? maker->inputs.size() : 1;
      for (std::size_t i = 0; i < followed; ++i) {
        if (seen.insert(maker->inputs[i]).second) open.push_back(maker->inputs[i]);
      }
    }
    return source.constants.empty() ? std::nullopt : std::optional(std::move(source));
  }

  // An input of a node.
  std::optional<Source> source(const Node& node, std::size_t input) const {
    if (input >= node.inputs.size() || node.inputs[input] == no_value) return std::nullopt;
    const ValueId id = node.inputs[input];
    std::optional<Source> source = folded_.has(id) ? moved(id) : std::nullopt;
    if (source) source->shape = folded_.values()[index_of(id)].shape();
    return source;
  }

  void add(const Node& node, std::size_t input, Role role, std::int64_t fan_in = 1,
           std::int64_t fan_out = 1) {
    const auto found = source(node, input);
    if (!found) return;
    // Parts of a bias have another order than the whole one of a cell.
    if (role == Role::lstm_bias && !found->whole) role = Role::bias;
    for (const ValueId id : found->constants) found_.insert({id, {id, role, fan_in, fan_out, at_}});
  }

  void visit(const Node& node) {
    if (is_convolution(node.op)) {
      convolution(node);
    } else if (node.op == "Gemm" || node.op == "MatMul") {
      product(node);
    } else if (node.op == "Einsum") {
      contraction(node);
    } else if (node.op == "Add") {
      bias_after_product(node);
      shift_after_normalisation(node);
    } else if (node.op == "Div" || node.op == "Mul") {
      spelt_out_normalisation(node);
    } else if (node.op == "BatchNormalization") {
      add(node, 1, Role::scale);
      add(node, 2, Role::shift);
      add(node, 3, Role::mean);
      add(node, 4, Role::variance);
    } else if (is_normalisation(node.op)) {
      add(node, 1, Role::scale);
      add(node, 2, Role::shift);
      if (node.op == "InstanceNormalization") instances_[node.outputs[0]] = at_;
    } else if (node.op == "PRelu") {
      add(node, 1, Role::slope);
    } else if (node.op == "Gather") {
      embedding(node);
    } else if (is_recurrent(node.op)) {
      recurrent(node);
    } else if (rearranges(node.op) && !node.inputs.empty()) {
      const auto groups = instances_.find(node.inputs[0]);
      if (groups != instances_.end()) normalised_[node.outputs[0]] = groups->second;
    }
  }

  void convolution(const Node& node) {
    const auto kernel = source(node, 1);
    if (!kernel || kernel->shape.size() < 3) return;
    const Shape& sizes = kernel->shape;
    std::int64_t window = 1;
    for (std::size_t i = 2; i < sizes.size(); ++i) window *= sizes[i];
    std::int64_t fan_in = sizes[1] * window, fan_out = sizes[0] * window, units = sizes[0];
    if (node.op == "ConvTranspose") {
      std::swap(fan_in, fan_out);
      units = sizes[1] * node.integer("group", 1);
    }
    add(node, 1, Role::kernel, fan_in, fan_out);
    add(node, 2, Role::bias, fan_in, fan_out);
    products_[node.outputs[0]] = {fan_in, fan_out, units, at_};
  }

  void product(const Node& node) {
    for (const std::size_t input : {0, 1}) {
      const auto kernel = source(node, input);
      if (!kernel || kernel->shape.size() < 2) continue;
      const Shape& sizes = kernel->shape;
      std::int64_t rows = sizes[sizes.size() - 2], columns = sizes.back();
      const bool transposed = node.integer(input == 0 ? "transA" : "transB", 0) != 0;
      // A kernel on the left multiplies columns: its rows are the outputs.
      if (transposed != (input == 0)) std::swap(rows, columns);
      add(node, input, Role::kernel, rows, columns);
      products_[node.outputs[0]] = {rows, columns, columns, at_};
      if (node.op == "Gemm") add(node, 2, Role::bias, rows, columns);
    }
  }

  // An axis of the kernel that is summed over belongs to what comes in, one of the result to what goes out;
  // one that the other operand and the result have as well to neither.
  void contraction(const Node& node) {
    std::string equation = node.text("equation", "");
    std::erase(equation, ' ');
    const std::size_t comma = equation.find(','), arrow = equation.find("->");
    if (node.inputs.size() != 2 || comma == std::string::npos || arrow == std::string::npos) return;
    const std::string terms[] = {equation.substr(0, comma), equation.substr(comma + 1, arrow - comma - 1)},
                      result = equation.substr(arrow + 2);
    for (const std::size_t input : {0, 1}) {
      const auto kernel = source(node, input);
      const std::string &own = terms[input], &other = terms[1 - input];
      if (!kernel || kernel->shape.size() < 2 || kernel->shape.size() != own.size()) continue;
      std::int64_t fan_in = 1, fan_out = 1;
      for (std::size_t axis = 0; axis < own.size(); ++axis) {
        if (result.find(own[axis]) == std::string::npos)
          fan_in *= kernel->shape[axis];
        else if (other.find(own[axis]) == std::string::npos)
          fan_out *= kernel->shape[axis];
      }
      if (fan_in == 1) continue;  // nothing is summed: factors, not a kernel
      add(node, input, Role::kernel, fan_in, fan_out);
      products_[node.outputs[0]] = {fan_in, fan_out, kernel->shape.back(), at_};
    }
  }

  // One number a unit; positions, which have more, are operands.
  void bias_after_product(const Node& node) {
    for (const std::size_t input : {0, 1}) {
      const auto product = products_.find(node.inputs[1 - input]);
      const auto bias = source(node, input);
      if (product == products_.end() || !bias || element_count(bias->shape) != product->second.units)
        continue;
      at_ = product->second.node;
      add(node, input, Role::bias, product->second.rows, product->second.columns);
    }
  }

  const Node* producer(ValueId value) const {
    const NodeId node = value == no_value ? no_node : graph_.producer(value);
    return node == no_node ? nullptr : &graph_.node(node);
  }

  // The square root of a mean, to which a small number may be added.
  bool is_spread(ValueId value) const {
    const Node* node = producer(value);
    if (node == nullptr || node->op != "Sqrt") return false;
    node = producer(node->inputs[0]);
    if (node != nullptr && node->op == "Add")
      node = producer(node->inputs[producer(node->inputs[0]) == nullptr ? 1 : 0]);
    return node != nullptr && node->op == "ReduceMean";
  }

  // Layer and root-mean-square normalisation in separate operators (before operator set 17), group
  // normalisation by that of instances: a product with the spread, then one with a constant, then a sum.
  void spelt_out_normalisation(const Node& node) {
    const Node* other = producer(node.inputs[1]);
    const bool divides = node.op == "Div" && is_spread(node.inputs[1]);
    const bool multiplies =
        node.op == "Mul" && other != nullptr && other->op == "Reciprocal" && is_spread(other->inputs[0]);
    if (divides || multiplies) normalised_[node.outputs[0]] = at_;
    if (node.op != "Mul") return;
    for (const std::size_t input : {0, 1}) {
      const auto normalised = normalised_.find(node.inputs[1 - input]);
      const auto scale = source(node, input);
      if (normalised == normalised_.end() || !scale || element_count(scale->shape) < 2) continue;
      // Groups have no further scale and shift.
      std::erase_if(found_, [&](const auto& one) {
        const bool replaced = one.second.node == normalised->second;
        if (replaced) neutral_.insert(one.first);
        return replaced;
      });
      add(node, input, Role::scale);
      scaled_.insert(node.outputs[0]);
    }
  }

  void shift_after_normalisation(const Node& node) {
    for (const std::size_t input : {0, 1}) {
      if (scaled_.contains(node.inputs[1 - input])) add(node, input, Role::shift);
    }
  }

  void embedding(const Node& node) {
    const auto table = source(node, 0);
    if (!table || table->shape.size() != 2 || node.inputs.size() < 2 || folded_.has(node.inputs[1])) return;
    add(node, 0, Role::table, table->shape[0], table->shape[1]);
  }

  void recurrent(const Node& node) {
    const auto input = source(node, 1), state = source(node, 2);
    if (!input || !state || input->shape.size() != 3 || state->shape.size() != 3) return;
    const std::int64_t gates = input->shape[1], hidden = state->shape[2];
    add(node, 1, Role::kernel, input->shape[2], gates);
    add(node, 2, Role::recurrent, hidden, gates);
    const Role bias = node.op == "LSTM" ? Role::lstm_bias : Role::bias;
    const Node* padding = node.inputs.size() > 3 ? producer(node.inputs[3]) : nullptr;
    if (padding != nullptr && padding->op == "Pad") {  // one bias for both parts, and zeros for the other
      add(*padding, 0, bias, hidden, gates);
    } else {
      add(node, 3, bias, hidden, gates);
    }
    add(node, 7, Role::bias, hidden, gates);
  }

  struct Product {
    std::int64_t rows, columns, units;
    NodeId node;
  };

  const Graph& graph_;
  const Constants folded_;
  NodeId at_ = no_node;  // the node that weights are found for
  std::map<ValueId, Weight> found_;
  std::set<ValueId> neutral_;
  std::map<ValueId, Product> products_;  // by their result
  // Of normalisations that are spelt out: the node that gives a value.
  std::map<ValueId, NodeId> instances_, normalised_;
  std::set<ValueId> scaled_;  // products of the latter with a constant
};

}  // namespace

WeightRoles weight_roles(const Graph& graph) { return Finder(graph).run(); }

}  // namespace assay::training
