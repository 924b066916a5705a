// DeepLIFT, rescale rule (Shrikumar et al., ICML 2017): multipliers m = delta y / delta x against a reference
// record go backwards by the chain rule; a value's contribution is its multiplier times its difference from
// the reference.

#include <assay/array_math.h>

#include <algorithm>

#include <assay/extend/operator_traits.h>
#include "assay/relevance/linear_unit.h"
#include "assay/relevance/methods.h"
#include "assay/relevance/route.h"
#include "assay/relevance/start.h"
#include "assay/relevance/vjp.h"

namespace assay::relevance {
namespace {

constexpr double smallest_difference =
    1e-7;  // below it the gradient at the reference stands for the quotient

enum class Kind {
  none,
  elementwise,  // a function of one operand, element by element: the quotient of differences
  multilinear,  // linear in each operand: the derivative in the middle of record and reference is the exact
                // quotient
  extreme,      // a maximum or minimum: to the winner at the record or at the reference
};

bool least_wins(const Node& node) { return node.op == "ReduceMin" || node.op == "Min"; }

Kind kind_of(const Node& node, std::size_t carrying) {
  const OperatorTraits* traits = traits_of(node.op);
  if (!traits) return Kind::none;
  if (traits->has(Trait::linear) || traits->has(Trait::bilinear)) return Kind::multilinear;
  if (traits->has(Trait::selects) || node.op == "Max" || node.op == "Min") return Kind::extreme;
  const bool of_one = traits->kind == OperatorKind::activation || traits->kind == OperatorKind::function ||
                      (traits->kind == OperatorKind::arithmetic && carrying == 1);
  return of_one ? Kind::elementwise : Kind::none;
}

class DeepLift final : public Attribution {
 public:
  DeepLift(const Session& session, const AttributionOptions& options)
      : session_(session), start_(session, options.outputs), options_(options), dependence_(session.graph()) {
    const array::Recording unrecorded(false);
    route_ = std::make_unique<Route>(dependence_, start_.value(), options.wanted,
                                     [this](NodeId n) { return prepare(n); });
  }

  std::vector<ValueId> reads(std::span<const ValueId> wanted) const override {
    std::vector<ValueId> ids(wanted.begin(), wanted.end());
    ids.push_back(start_.value());
    for (const NodeId n : route_->nodes_to(wanted)) {
      const Node& node = this->node(n);
      for (const ValueId id : node.inputs) ids.push_back(id);
      const Kind kind = kind_of(node, 1);
      if (kind == Kind::elementwise || kind == Kind::extreme) ids.push_back(node.outputs[0]);
    }
    std::ranges::sort(ids);
    ids.erase(std::ranges::unique(ids).begin(), ids.end());
    std::erase_if(ids, [&](ValueId id) { return id == no_value || dependence_.is_static(id); });
    return ids;
  }

  Relevance attribute(const Tensors& given, const Target& target,
                      std::span<const ValueId> wanted) const override {
    const array::Recording unrecorded(false);
    const std::vector<ValueId> needed = reads(wanted);
    Tensors reference_inputs = inputs_of(session_, given);
    const Tensors baseline = baseline_of(reference_inputs, options_);
    if (baseline.empty()) {
      fail(Fault::unsupported,
           "deeplift needs an input of real numbers; use 'epsilon' for networks that read tokens");
    }
    const Tensors here = session_.run(given, needed);
    for (const auto& [id, start] : baseline) reference_inputs[id] = start;
    const Tensors there = session_.run(reference_inputs, needed);
    const Array &scores = here.at(start_.value()), &reference = there.at(start_.value());
    const Array weights = start_.weights(scores, target);

    Flow flow(session_.graph());
    flow.add(start_.value(), weights);
    const std::vector<NodeId> nodes = route_->nodes_to(wanted);
    for (std::size_t i = nodes.size(); i-- > 0;) pass(nodes[i], here, there, flow);

    Relevance result{.values = {}, .start = per_record((scores - reference) * weights)};
    for (const ValueId id : wanted) {
      const Array difference = here.at(id) - there.at(id);
      result.values[id] = flow.at(id).defined() ? flow.at(id) * difference : array::zeros_like(difference);
    }
    return result;
  }

  std::string describe() const override {
    return options_.baseline ? "DeepLIFT rescale, given reference" : "DeepLIFT rescale, reference zeros";
  }

 private:
  const Node& node(NodeId n) const { return session_.graph().node(n); }

  std::vector<std::size_t> prepare(NodeId n) {
    std::vector<std::size_t> carrying = dependence_.carrying_inputs(node(n));
    if (kind_of(node(n), carrying.size()) == Kind::none) {
      fail(Fault::unsupported, "deeplift: {} has no rule; use an LRP composite or 'integrated-gradients'",
           node(n).describe());
    }
    for (const ValueId id : node(n).inputs) {
      if (dependence_.is_static(id)) constants_.emplace(id, static_value(session_, id));
    }
    return carrying;
  }

  std::vector<Array> inputs(const Node& node, const Tensors& values) const {
    std::vector<Array> tensors;
    for (const ValueId id : node.inputs) {
      const auto found = values.find(id);
      const auto fixed = constants_.find(id);
      tensors.push_back(found != values.end()       ? found->second
                        : fixed != constants_.end() ? fixed->second
                                                    : Array());
    }
    return tensors;
  }

  void pass(NodeId n, const Tensors& here, const Tensors& there, Flow& flow) const {
    const Node& node = this->node(n);
    const std::vector<Array> arriving = flow.of_outputs(node);
    if (std::ranges::none_of(arriving, [](const Array& m) { return m.defined(); })) return;
    std::vector<Array> point = inputs(node, here);
    std::vector<std::size_t> receivers = route_->receivers(n);
    // Positions and counts are what they are at the record, and receive nothing.
    std::erase_if(receivers, [&](std::size_t i) { return !is_real(point[i].dtype()); });
    if (receivers.empty()) return;
    const std::vector<Array> reference = inputs(node, there);
    const Kind kind = kind_of(node, receivers.size());
    if (kind == Kind::elementwise) {
      flow.add(node.inputs[receivers[0]],
               rescaled(node, receivers[0], point, reference, here, there, arriving[0]));
      return;
    }
    if (kind == Kind::extreme) {
      const ValueId out = node.outputs[0];
      const std::vector<Array> multipliers =
          won(node, receivers, point, reference, here.at(out) - there.at(out), arriving[0]);
      for (std::size_t i = 0; i < receivers.size(); ++i) flow.add(node.inputs[receivers[i]], multipliers[i]);
      return;
    }
    if (kind == Kind::multilinear) {
      for (const std::size_t i : receivers) point[i] = (point[i] + reference[i]) / 2;
    }
    const std::vector<Array> multipliers = vector_jacobian(node, point, receivers, arriving);
    for (std::size_t i = 0; i < receivers.size(); ++i) flow.add(node.inputs[receivers[i]], multipliers[i]);
  }

  static Array rescaled(const Node& node, std::size_t i, const std::vector<Array>& point,
                        const std::vector<Array>& reference, const Tensors& here, const Tensors& there,
                        const Array& arriving) {
    const Array change = point[i] - reference[i];
    const Array near = change.abs() < smallest_difference;
    const ValueId out = node.outputs[0];
    const Array quotient =
        (here.at(out) - there.at(out)) / array::where(near, array::ones_like(change), change);
    // An operand that was broadcast takes the sum over its copies.
    return array::where(near, vector_jacobian(node, reference, i, arriving),
                        array::sum_to(arriving * quotient, change.shape()));
  }

  // A maximum that is greater at the record than at the reference is so by its winner at the record, one that
  // is less by its winner at the reference, and these changed at least as much. For a minimum it is the other
  // way.
  static std::vector<Array> won(const Node& node, const std::vector<std::size_t>& receivers,
                                const std::vector<Array>& point, const std::vector<Array>& reference,
                                const Array& change, const Array& arriving) {
    const Array up = arriving * change.clamp_min(0), down = arriving * change.clamp_max(0);
    const bool least = least_wins(node);
    const std::vector<Array> at_record =
                                 vector_jacobian(node, point, receivers, std::span(least ? &down : &up, 1)),
                             at_reference = vector_jacobian(node, reference, receivers,
                                                            std::span(least ? &up : &down, 1)),
                             gradients = vector_jacobian(node, reference, receivers, std::span(&arriving, 1));
    std::vector<Array> multipliers;
    for (std::size_t i = 0; i < receivers.size(); ++i) {
      const Array moved = point[receivers[i]] - reference[receivers[i]];
      const Array near = moved.abs() < smallest_difference;
      const Array quotient =
          (at_record[i] + at_reference[i]) / array::where(near, array::ones_like(moved), moved);
      multipliers.push_back(array::where(near, gradients[i], quotient));
    }
    return multipliers;
  }

  const Session& session_;
  Start start_;
  AttributionOptions options_;
  Dependence dependence_;
  Tensors constants_;
  std::unique_ptr<Route> route_;
};

}  // namespace

AttributionInfo deeplift_method() {
  return {"deeplift", "DeepLIFT rescale: differences from a reference", "Shrikumar et al., ICML 2017",
          [](const Session& session, const AttributionOptions& options, const SpecOptions&) {
            return std::make_unique<DeepLift>(session, options);
          },
          false};
}

}  // namespace assay::relevance
