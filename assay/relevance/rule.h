#pragma once

// How relevance passes backwards through one linear layer. A rule knows nothing of networks.
// Adding a rule: one file in relevance/rules/, one line in rules/catalogue.cpp, a row in
// tests/relevance/rules_test.cpp, a paragraph in docs/algorithms/relevance.md.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <assay/catalogue.h>
#include "assay/relevance/linear_map.h"

namespace assay::relevance {

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
