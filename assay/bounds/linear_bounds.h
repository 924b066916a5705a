#pragma once

// Bounds by linear functions of the input, from the output back to it (Zhang et al., CROWN, NeurIPS 2018;
// Singh et al., DeepPoly, POPL 2019).

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include <assay/bounds.h>
#include "assay/bounds/element_functions.h"
#include "assay/bounds/linear_rows.h"
#include "assay/bounds/relaxation.h"
#include "assay/engine/direct_sums.h"

namespace assay::bounds {

// Intervals of the values of a network for one box.
using Intervals = std::map<ValueId, Box>;
// Elements of a value with factors.
using Terms = std::vector<std::pair<std::size_t, double>>;

// Sums over elements of values that go back to the input (linear_bounds.cpp).
class BackwardSums;

class LinearBounds {
 public:
  // The network must outlive this. Throws Error{resources} where its layers have too many connections.
  explicit LinearBounds(const StaticNetwork& network);

  // Makes the intervals of what bends tighter, in the order of computation. `at` has all values.
  void refine(Intervals& at) const;
  // Lower bounds of sums over the output.
  std::vector<double> least(const Intervals& at, std::span<const Terms> sums) const {
    return least(at, network_.output, sums);
  }

 private:
  struct Step {
    Rule rule;
    ValueId output;
    LinearNode linear;                            // affine, sum, movement
    double rounding = 0;                          // of affine and sum: the share of sum |w x|
    std::optional<TransformRounding> transforms;  // of a convolution: what is lost beside that
    std::unique_ptr<UnaryFunction> function;      // monotone, curve
    Rows windows;                                 // greatest
    ValueId operand = no_value;                   // of the latter three
    // product: its operands, with a row of one element for each result.
    std::vector<LinearNode::Operand> factors;
  };

  std::vector<double> least(const Intervals& at, ValueId value, std::span<const Terms> sums) const;
  void back(const Step& step, const Intervals& at, BackwardSums& sums) const;
  // Of each unit.
  std::vector<double> lost_by_transforms(const Step& step, const Intervals& at) const;
  void refine(Intervals& at, ValueId value, const std::vector<std::size_t>& elements) const;
  void add_step(const Node& node, std::size_t output);
  void add_linear(Step& step, const Node& node, std::size_t output);
  void add_function(ValueId operand, ValueId output, std::unique_ptr<UnaryFunction> function);
  void add_product(const Node& node);
  // Throws Error{resources} where all steps have too many.
  void count_entries(const Node& node, const LinearNode& linear);
  void refine_operands(const Step& step, Intervals& at, std::set<ValueId>& tight) const;
  // Elements of a step's operand whose tighter bounds make the step's, or those of a maximum after it,
  // tighter.
  std::vector<std::size_t> loose(const Step& step, const Intervals& at) const;
  void tighten_output(const Step& step, Intervals& at) const;

  const StaticNetwork& network_;
  std::vector<Step> steps_;  // in the order of computation
  ElementFunctions functions_;
  std::set<ValueId> direct_;  // one sum from the input at most: their intervals are as tight as can be
  std::size_t entries_ = 0;
};

}  // namespace assay::bounds
