#pragma once

// Layer-wise relevance propagation through a whole network.

#include <map>
#include <memory>

#include <assay/extend/rule.h>
#include <assay/relevance.h>
#include "assay/relevance/compiled.h"
#include "assay/relevance/composite.h"
#include "assay/relevance/linear_unit.h"
#include "assay/relevance/operator.h"
#include "assay/relevance/route.h"
#include "assay/relevance/start.h"

namespace assay::relevance {

// Starts with the score that is explained and goes back node by node. Linear layers use the
// composite's rules, other operators their own (operator.h). Where a value has several readers their
// relevance adds up.
class Lrp final : public Attribution {
 public:
  // Throws Error{unsupported} naming the first node, from the decision, that has no rule, and Error{usage}
  // for layer_rules that name no linear layer.
  Lrp(const Composite& composite, const Session& session, const AttributionOptions& options);

  Relevance attribute(const Tensors& given, const Target& target,
                      std::span<const ValueId> wanted) const override;
  std::vector<ValueId> reads(std::span<const ValueId> wanted) const override;
  std::string describe() const override;

  // Marks the values to which relevance comes from the decision, and from which every way to it has rules.
  // O(nodes).
  static std::vector<bool> reachable(const Composite& composite, const Session& session);

 private:
  // Without a way.
  Lrp(const Composite& composite, const Session& session, AttributionOptions options, bool prepared);
  // Facts about a node before anything runs.
  struct Step {
    const OperatorInfo* passing = nullptr;
    std::optional<LinearUnit> unit;
    std::shared_ptr<const Rule> rule;
    std::optional<double> epsilon;  // of the epsilon rule
    Array left_out;                 // bias that does not absorb: taken off the stored output
    bool absorbed = false;          // belongs to a linear unit before it
  };

  std::vector<std::size_t> prepare(NodeId n);
  void find_units();
  void choose_rule(NodeId n);
  std::string rule_for(NodeId n) const;
  bool is_first(NodeId n) const;
  std::pair<Array, Array> bounds(ValueId input) const;
  const CompiledRelevance* compiled_for(std::span<const ValueId> wanted) const;
  std::unique_ptr<const CompiledRelevance> compile(ValueId wanted) const;
  // State of a batch on the way back.
  struct Way {
    const Tensors& values;
    Array negative;  // [n] true where the score of class 0 of a single number is explained; else undefined
  };
  void pass(NodeId n, const Way& way, Flow& flow) const;
  Array through_unit(NodeId n, const Way& way, const Array& arriving) const;
  NodeId deciding_unit() const;
  std::vector<Array> through_operator(NodeId n, const Tensors& values,
                                      std::span<const Array> relevance) const;
  Array look_up(ValueId id, const Tensors& values) const;

  Composite composite_;
  const Session& session_;
  Start start_;
  AttributionOptions options_;
  Dependence dependence_;
  std::vector<Step> steps_;         // one per node
  Tensors constants_;               // static inputs of the operators passed
  NodeId deciding_unit_ = no_node;  // the node whose unit gives the single number that is explained
  std::unique_ptr<Route> route_;
  mutable std::map<ValueId, std::unique_ptr<const CompiledRelevance>> compiled_;  // nullptr: not to be had
};

}  // namespace assay::relevance
