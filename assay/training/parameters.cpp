#include "assay/training/parameters.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "assay/support/error.h"
#include "assay/support/hash.h"
#include "assay/support/random.h"
#include "assay/support/text.h"
#include "assay/training/trainer.h"

namespace assay {
namespace {

using Role = Parameter::Role;

class Collector {
 public:
  explicit Collector(const Graph& graph) : graph_(graph) {
    for (const Node& node : graph.nodes()) collect(node);
  }
  std::vector<Parameter> take() { return std::move(parameters_); }

 private:
  bool is_weight(const Node& node, std::size_t input) const {
    return input < node.inputs.size() && graph_.is_constant(node.inputs[input]) && graph_.constant(node.inputs[input]).dtype() == DType::float32;
  }

  void add(const Node& node, std::size_t input, Role role, std::int64_t fan_in, std::int64_t fan_out) {
    if (is_weight(node, input) && seen_.insert(node.inputs[input]).second) parameters_.push_back({node.inputs[input], role, fan_in, fan_out});
  }

  const Shape& shape(const Node& node, std::size_t input) const { return graph_.constant(node.inputs[input]).shape(); }

  void collect(const Node& node) {
    if (node.op == "Conv" || node.op == "ConvTranspose") return collect_convolution(node);
    if (node.op == "Gemm" || node.op == "MatMul") return collect_dense(node);
    if (node.op == "LSTM" || node.op == "GRU" || node.op == "RNN") return collect_recurrent(node);
    if (node.op == "BatchNormalization" || node.op == "LayerNormalization" || node.op == "InstanceNormalization" || node.op == "GroupNormalization") {
      add(node, 1, Role::scale, 1, 1);
      add(node, 2, Role::shift, 1, 1);
    } else if (node.op == "PRelu") {
      add(node, 1, Role::shift, 1, 1);
    } else if (node.op == "Gather") {
      if (is_weight(node, 0) && shape(node, 0).size() == 2) add(node, 0, Role::embedding, shape(node, 0)[0], shape(node, 0)[1]);
    } else if (node.op == "Add") {
      collect_added_bias(node);
    }
  }

  void collect_convolution(const Node& node) {
    if (!is_weight(node, 1)) return;
    const Shape& s = shape(node, 1);
    std::int64_t positions = 1;
    for (std::size_t d = 2; d < s.size(); ++d) positions *= s[d];
    const bool transposed = node.op == "ConvTranspose";
    const std::int64_t in = (transposed ? s[0] : s[1]) * positions, out = (transposed ? s[1] : s[0]) * positions;
    add(node, 1, Role::weight, in, out);
    add(node, 2, Role::bias, in, out);
  }

  void collect_dense(const Node& node) {
    for (std::size_t side : {std::size_t{1}, std::size_t{0}}) {
      if (!is_weight(node, side) || shape(node, side).size() < 2) continue;
      const Shape& s = shape(node, side);
      const bool transposed = node.op == "Gemm" && node.integer(side == 1 ? "transB" : "transA", 0) != 0;
      std::int64_t rows = s[s.size() - 2], columns = s.back();
      if (transposed != (side == 0)) std::swap(rows, columns);
      add(node, side, Role::weight, rows, columns);
      if (node.op == "Gemm") add(node, 2, Role::bias, rows, columns);
      return;
    }
  }

  void collect_recurrent(const Node& node) {
    if (!is_weight(node, 1) || !is_weight(node, 2)) return;
    const std::int64_t gates = shape(node, 1)[1], in = shape(node, 1)[2], hidden = shape(node, 2)[2];
    add(node, 1, Role::weight, in, gates);
    add(node, 2, Role::weight, hidden, gates);
    add(node, 3, Role::bias, hidden, gates);
  }

  // The bias of a MatMul, written as an Add by exporters.
  void collect_added_bias(const Node& node) {
    for (std::size_t i = 0; i < 2; ++i) {
      const int producer = graph_.is_constant(node.inputs[i]) ? -1 : graph_.producer(node.inputs[i]);
      if (producer < 0 || graph_.nodes()[static_cast<std::size_t>(producer)].op != "MatMul" || !is_weight(node, 1 - i)) continue;
      const Node& product = graph_.nodes()[static_cast<std::size_t>(producer)];
      if (!is_weight(product, 1)) continue;
      const Shape& s = shape(product, 1);
      add(node, 1 - i, Role::bias, s[s.size() - 2], s.back());
    }
  }

  const Graph& graph_;
  std::set<ValueId> seen_;
  std::vector<Parameter> parameters_;
};

double bound_of(const Parameter& parameter, bool pytorch) {
  const auto in = static_cast<double>(std::max<std::int64_t>(parameter.fan_in, 1)), out = static_cast<double>(std::max<std::int64_t>(parameter.fan_out, 1));
  if (parameter.role == Role::embedding) return pytorch ? 1.0 : 0.05;
  if (parameter.role == Role::bias) return pytorch ? 1 / std::sqrt(in) : 0;
  return pytorch ? 1 / std::sqrt(in) : std::sqrt(6 / (in + out));
}

}  // namespace

std::vector<Parameter> trainable_parameters(const Graph& graph) { return Collector(graph).take(); }

Graph initialise(const Graph& graph, const std::string& initialiser, std::uint64_t seed) {
  const std::vector<std::string> names{"keras", "pytorch", "keep"};
  if (std::find(names.begin(), names.end(), initialiser) == names.end()) {
    fail(Fault::usage, "no initialiser is named '{}'{}; there are {}", initialiser, did_you_mean(initialiser, names), joined(names));
  }
  if (initialiser == "keep") return graph;
  GraphBuilder edit(graph);
  for (const Parameter& parameter : trainable_parameters(graph)) {
    const Array& old = graph.constant(parameter.id);
    std::vector<float> values(static_cast<std::size_t>(old.count()), parameter.role == Role::scale ? 1.0F : 0.0F);
    if (parameter.role == Role::weight || parameter.role == Role::bias || parameter.role == Role::embedding) {
      // One stream per constant, named by it, so that adding a layer does not change the others.
      Rng rng(seed, {std::stoull(hash_hex(graph.value(parameter.id).name).substr(0, 15), nullptr, 16)});
      const double bound = bound_of(parameter, initialiser == "pytorch");
      for (float& v : values) v = static_cast<float>(rng.uniform(-bound, bound));
    }
    edit.replace_constant(parameter.id, Array::of<float>(old.shape(), values));
  }
  return edit.build();
}

}  // namespace assay
