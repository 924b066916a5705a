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
  virtual Tensor apply(const Tensor& input, const Tensor& weight) const = 0;
  // W^T y with the shape of `input`, whose values do not matter.
  virtual Tensor transpose(const Tensor& output, const Tensor& weight, const Tensor& input) const = 0;
};

// Cheap to copy.
struct LinearMap {
  std::shared_ptr<const LinearOperation> operation;
  Tensor weight;
  Tensor bias;  // broadcasts over the output; undefined when there is none

  Tensor forward(const Tensor& input) const { return operation->apply(input, weight); }
  Tensor pull_back(const Tensor& output, const Tensor& input) const {
    return operation->transpose(output, weight, input);
  }
  // forward() plus bias, if there is one.
  Tensor forward_with_bias(const Tensor& input) const;
  // The map with another weight and bias: `change` of these, element by element.
  LinearMap with(const std::function<Tensor(const Tensor&)>& change) const;
};

// relevance / (z + epsilon * sgn(z)) with sgn(0) = +1, and 0 where that denominator is 0: the division that
// rules share. The shapes broadcast.
Tensor share_of(const Tensor& relevance, const Tensor& z, double epsilon = 0);

class Rule {
 public:
  virtual ~Rule() = default;
  // Relevance of the layer's input, with its shape. `output` is the layer's stored output, bias included;
  // `relevance` has the output's shape. Where the layer's bias is undefined `output` has none either, so a
  // rule need not know whether biases absorb relevance.
  virtual Tensor redistribute(const LinearMap& layer, const Tensor& input, const Tensor& output,
                              const Tensor& relevance) const = 0;
};

// What rules can be made from.
struct RuleSettings {
  std::vector<double> numbers = {};  // given with the name, "gamma:0.25"; empty: the rule's defaults
  double epsilon = 1e-6;             // stabiliser
  Tensor low = {},
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
