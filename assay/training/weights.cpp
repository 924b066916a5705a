#include "assay/training/weights.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string_view>

#include <assay/extend/operator_traits.h>

namespace assay::training {
namespace {

// Whether the operator hands on every element of its input, in another order or shape at most.
bool rearranges(std::string_view op) {
  return op == "Transpose" || is_pass_through(op) || has_trait(op, Trait::reshapes);
}

struct Source {
  ValueId value = no_value;
  bool transposed = false;
};

class Finder {
 public:
  explicit Finder(const Graph& graph) : graph_(graph) {}

  std::vector<Weight> run() {
    for (std::size_t n = 0; n < graph_.nodes().size(); ++n) {
      at_ = static_cast<int>(n);
      visit(graph_.nodes()[n]);
    }
    std::vector<Weight> weights;
    for (const auto& [id, weight] : found_) weights.push_back(weight);
    return weights;
  }

 private:
  // The float constant behind an input of a node, if there is one.
  std::optional<Source> source(const Node& node, std::size_t input) const {
    if (input >= node.inputs.size() || node.inputs[input] == no_value) return std::nullopt;
    Source source{node.inputs[input], false};
    while (!graph_.is_constant(source.value)) {
      const int producer = graph_.producer(source.value);
      if (producer < 0) return std::nullopt;
      const Node& maker = graph_.nodes()[static_cast<std::size_t>(producer)];
      if (!rearranges(maker.op) || maker.inputs.empty()) return std::nullopt;
      if (maker.op == "Transpose") source.transposed = !source.transposed;
      source.value = maker.inputs[0];
    }
    const Array& array = graph_.constant(source.value);
    if (array.dtype() != DType::float32 || array.shape().empty()) return std::nullopt;
    return source;
  }

  void add(const Node& node, std::size_t input, Role role, std::int64_t fan_in = 1,
           std::int64_t fan_out = 1) {
    if (const auto found = source(node, input))
      found_.insert({found->value, {found->value, role, fan_in, fan_out, at_}});
  }

  const Shape& shape(const Source& source) const { return graph_.constant(source.value).shape(); }

  void visit(const Node& node) {
    if (is_convolution(node.op)) {
      convolution(node);
    } else if (node.op == "Gemm" || node.op == "MatMul") {
      product(node);
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
    if (!kernel || shape(*kernel).size() < 3) return;
    const Shape& sizes = shape(*kernel);
    std::int64_t window = 1;
    for (std::size_t i = 2; i < sizes.size(); ++i) window *= sizes[i];
    std::int64_t fan_in = sizes[1] * window, fan_out = sizes[0] * window;
    if (node.op == "ConvTranspose") std::swap(fan_in, fan_out);
    add(node, 1, Role::kernel, fan_in, fan_out);
    add(node, 2, Role::bias, fan_in, fan_out);
  }

  void product(const Node& node) {
    for (const std::size_t input : {0, 1}) {
      const auto kernel = source(node, input);
      if (!kernel || shape(*kernel).size() < 2) continue;
      const Shape& sizes = shape(*kernel);
      std::int64_t rows = sizes[sizes.size() - 2], columns = sizes.back();
      const char* flag = input == 0 ? "transA" : "transB";
      // A kernel on the left multiplies columns: its rows are the outputs.
      const bool transposed = kernel->transposed != (node.integer(flag, 0) != 0);
      if (transposed != (input == 0)) std::swap(rows, columns);
      add(node, input, Role::kernel, rows, columns);
      products_[node.outputs[0]] = {rows, columns, at_};
      if (node.op == "Gemm") add(node, 2, Role::bias, rows, columns);
    }
  }

  void bias_after_product(const Node& node) {
    for (const std::size_t input : {0, 1}) {
      const auto product = products_.find(node.inputs[1 - input]);
      if (product == products_.end()) continue;
      at_ = product->second.node;
      add(node, input, Role::bias, product->second.rows, product->second.columns);
    }
  }

  const Node* producer(ValueId value) const {
    const int node = value == no_value ? -1 : graph_.producer(value);
    return node < 0 ? nullptr : &graph_.nodes()[static_cast<std::size_t>(node)];
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

  // Layer and root-mean-square normalisation in operators of their own (before operator set 17), group
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
      if (normalised == normalised_.end() || !scale || element_count(shape(*scale)) < 2) continue;
      // Groups have no scale and shift of their own beside these.
      std::erase_if(found_, [&](const auto& one) { return one.second.node == normalised->second; });
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
    if (!table || shape(*table).size() != 2 || node.inputs.size() < 2 || graph_.is_constant(node.inputs[1]))
      return;
    add(node, 0, Role::table, shape(*table)[0], shape(*table)[1]);
  }

  void recurrent(const Node& node) {
    const auto input = source(node, 1), state = source(node, 2);
    if (!input || !state || shape(*input).size() != 3 || shape(*state).size() != 3) return;
    const std::int64_t gates = shape(*input)[1], hidden = shape(*state)[2];
    add(node, 1, Role::kernel, shape(*input)[2], gates);
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
    std::int64_t rows, columns;
    int node;
  };

  const Graph& graph_;
  int at_ = -1;  // the node that weights are found for
  std::map<ValueId, Weight> found_;
  std::map<ValueId, Product> products_;  // by their result
  // Of normalisations that are spelt out: the node that gives a value.
  std::map<ValueId, int> instances_, normalised_;
  std::set<ValueId> scaled_;  // products of the latter with a constant
};

}  // namespace

std::vector<Weight> find_weights(const Graph& graph) { return Finder(graph).run(); }

}  // namespace assay::training
