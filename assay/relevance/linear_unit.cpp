#include "assay/relevance/linear_unit.h"

#include <assay/array_math.h>

#include <algorithm>

#include <assay/extend/operator_traits.h>
#include "assay/engine/elements.h"

namespace assay::relevance {
namespace {

using Ints = std::vector<std::int64_t>;

Array along(const Array& vector, std::size_t rank, std::size_t axis) {
  Ints shape(rank, 1);
  shape[axis] = vector.count();
  return vector.reshape(shape);
}

// y = x * factor + shift, per channel.
struct Affine {
  Array factor, shift;
};

class Finder {
 public:
  Finder(const Dependence& dependence, const Session& session, ValueId start, NodeId n)
      : dependence_(dependence), session_(session), start_(start), node_(dependence.graph().node(n)) {}

  std::optional<LinearUnit> find() {
    const bool found = is_convolution(node_.op) ? take_convolution()
                       : is_dense(node_.op)     ? take_product()
                                                : take_normalisation();
    if (!found) return std::nullopt;
    unit_.end = node_.outputs[0];
    while (absorb_next()) {
    }
    return std::move(unit_);
  }

 private:
  bool is_static(const Node& node, std::size_t i) const {
    return i < node.inputs.size() && dependence_.is_static(node.inputs[i]);
  }
  bool carries(std::size_t i) const {
    return i < node_.inputs.size() && dependence_.carries(node_.inputs[i]);
  }
  Array value(const Node& node, std::size_t i) const { return static_value(session_, node.inputs[i]); }
  std::size_t rank() const { return session_.shape(node_.outputs[0]).size(); }
  // The addend at input i is constant or absent.
  bool simple_bias(std::size_t i) const {
    return i >= node_.inputs.size() || node_.inputs[i] == no_value || is_static(node_, i);
  }
  Array optional(std::size_t i) const { return is_static(node_, i) ? value(node_, i) : Array(); }

  bool take_convolution() {
    if (!carries(0) || !is_static(node_, 1) || !simple_bias(2)) return false;
    unit_.convolution = true;
    const Array bias = optional(2);
    const bool direct = node_.op == "Conv";
    const Array weight = value(node_, 1);
    unit_.map = {
        direct ? convolution(node_) : linear_node(node_, 0, 1, std::vector<Array>(node_.inputs.size())),
        weight, bias.defined() ? along(bias, weight.rank(), 1) : Array()};
    if (direct) channel_axis_ = 0;
    if (!direct && node_.integer("group", 1) == 1) channel_axis_ = 1;
    return true;
  }

  bool take_product() {
    const bool gemm = node_.op == "Gemm";
    if (node_.inputs.size() < 2 || (!gemm && node_.inputs.size() > 2) || (gemm && !simple_bias(2)))
      return false;
    const bool left = carries(0) && is_static(node_, 1), right = carries(1) && is_static(node_, 0);
    if (!left && !right) return false;
    unit_.input = left ? 0 : 1;
    const std::size_t constant = left ? 1 : 0;
    Array weight = value(node_, constant);
    const bool plain =
        left && weight.rank() == 2 && node_.op != "Einsum" && !(gemm && node_.integer("transA", 0) != 0);
    if (plain) {
      if (gemm && node_.integer("transB", 0) != 0) weight = weight.t();
      if (gemm && node_.real("alpha", 1) != 1) weight = weight * node_.real("alpha", 1);
      unit_.map = {matrix_product(), weight, {}};
      if (rank() == 2) channel_axis_ = 1;
    } else {
      unit_.map = {
          linear_node(node_, unit_.input, constant, std::vector<Array>(node_.inputs.size())), weight, {}};
    }
    if (!gemm || !is_static(node_, 2)) return true;
    const float beta = node_.real("beta", 1);
    unit_.map.bias = beta == 1 ? value(node_, 2) : value(node_, 2) * beta;
    return true;
  }

  bool take_normalisation() {
    if (!carries(0)) return false;
    const auto affine = normalisation(node_);
    if (!affine) return false;
    unit_.map = {scaling(), along(affine->factor, rank(), 1), along(affine->shift, rank(), 1)};
    return true;
  }

  std::optional<Affine> normalisation(const Node& node) const {
    if (node.op != "BatchNormalization" || node.integer("training_mode", 0) != 0) return std::nullopt;
    for (std::size_t i = 1; i <= 4; ++i) {
      if (!is_static(node, i)) return std::nullopt;
    }
    const Array factor = value(node, 1) * array::rsqrt(value(node, 4) + node.real("epsilon", 1e-5f));
    return Affine{factor, value(node, 2) - value(node, 3) * factor};
  }

  // The only reader of the unit's output so far, which must not be a result.
  NodeId only_reader() const {
    const Graph& graph = dependence_.graph();
    const auto readers = graph.consumers(unit_.end);
    const bool wanted = std::ranges::find(graph.outputs(), unit_.end) != graph.outputs().end();
    return readers.size() == 1 && !wanted && unit_.end != start_ ? readers[0] : no_node;
  }

  bool absorb_next() {
    const NodeId n = only_reader();
    if (n == no_node) return false;
    const Node& next = dependence_.graph().node(n);
    if (next.outputs.empty() || session_.shape(next.outputs[0]) != session_.shape(unit_.end)) return false;
    if (!absorb_bias(next) && !absorb_normalisation(next)) return false;
    unit_.absorbed.push_back(n);
    unit_.end = next.outputs[0];
    return true;
  }

  bool absorb_bias(const Node& next) {
    const bool subtracts = next.op == "Sub";
    if (next.op != "Add" && !subtracts) return false;
    const std::size_t own = next.inputs[0] == unit_.end ? 0 : 1;
    if (!is_static(next, 1 - own) || (subtracts && own == 1)) return false;
    const Array addend = subtracts ? -value(next, 1) : value(next, 1 - own);
    unit_.map.bias = unit_.map.bias.defined() ? unit_.map.bias + addend : addend;
    return true;
  }

  bool absorb_normalisation(const Node& next) {
    if (channel_axis_ < 0) return false;
    const auto affine = normalisation(next);
    if (!affine) return false;
    LinearMap& map = unit_.map;
    map.weight = map.weight * along(affine->factor, map.weight.rank(), channel_axis_);
    const Array shift = along(affine->shift, rank(), 1);
    map.bias = map.bias.defined() ? map.bias * along(affine->factor, rank(), 1) + shift : shift;
    return true;
  }

  const Dependence& dependence_;
  const Session& session_;
  ValueId start_;
  const Node& node_;
  LinearUnit unit_;
  int channel_axis_ = -1;  // of the weight, along which a normalisation can be folded in
};

}  // namespace

std::optional<LinearUnit> find_linear_unit(const Dependence& dependence, const Session& session,
                                           ValueId start, NodeId node) {
  return Finder(dependence, session, start, node).find();
}

Array static_value(const Session& session, ValueId id) {
  const Graph& graph = session.graph();
  if (graph.is_constant(id)) return graph.constant(id);
  return session.run({}, std::span(&id, 1)).at(id);
}

}  // namespace assay::relevance
