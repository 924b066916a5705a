#pragma once

// How relevance passes backwards through one linear layer (docs/algorithms/relevance.md). A rule knows
// nothing of networks: it sees the linear part of the layer, z = W x + b, forward and transposed, with the
// weights as they are or changed, so that it reads like its formula and works for every linear operator.

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <assay/extend/catalogue.h>
#include <assay/tensor.h>

namespace assay::relevance {

// How an operator applies weights; knows strides, groups, transposition, not the weights themselves.
class LinearOperation {
 public:
  virtual ~LinearOperation() = default;
  // W x, without bias.
  virtual Array apply(const Array& input, const Array& weight) const = 0;
  // W^T y with the shape of `input`, whose values do not matter.
  virtual Array transpose(const Array& output, const Array& weight, const Array& input) const = 0;
};

// Cheap to copy.
struct LinearMap {
  std::shared_ptr<const LinearOperation> operation;
  Array weight;
  Array bias;  // broadcasts over the output; undefined when there is none

  Array forward(const Array& input) const { return operation->apply(input, weight); }
  Array pull_back(const Array& output, const Array& input) const {
    return operation->transpose(output, weight, input);
  }
  // forward() plus bias, if there is one.
  Array forward_with_bias(const Array& input) const;
  // The map with another weight and bias: `change` of these, element by element.
  LinearMap with(const std::function<Array(const Array&)>& change) const;
};

// relevance / (z + epsilon * sgn(z)) with sgn(0) = +1, and 0 where that denominator is 0: the division that
// rules share. The shapes broadcast.
Array share_of(const Array& relevance, const Array& z, double epsilon = 0);

class Rule {
 public:
  virtual ~Rule() = default;
  // Relevance of the layer's input, with its shape. `output` is the layer's stored output, bias included;
  // `relevance` has the output's shape. Where the layer's bias is undefined `output` has none either, so a
  // rule need not know whether biases absorb relevance.
  virtual Array redistribute(const LinearMap& layer, const Array& input, const Array& output,
                             const Array& relevance) const = 0;
};

// Settings of rules.
struct RuleSettings {
  std::vector<double> numbers = {};  // given with the name, "gamma:0.25"; empty: the rule's defaults
  double epsilon = 1e-6;             // stabiliser
  Array low = {},
        high = {};  // bounds of the layer's input, broadcasting over it; only the box rule needs them
};

struct RuleInfo {
  std::string name, summary, paper;
  std::vector<double> defaults;  // of the numbers that may follow the name
  std::function<std::unique_ptr<Rule>(const RuleSettings&)> make;
};

Catalogue<RuleInfo>& rules();

// A rule by name, with numbers after a colon: "epsilon:0.01", "alpha-beta:2,1". Throws Error{usage}.
struct RuleChoice {
  const RuleInfo* info = nullptr;
  std::vector<double> numbers;
};
RuleChoice parse_rule(const std::string& text);

}  // namespace assay::relevance
