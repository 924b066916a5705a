#pragma once

// How relevance passes backwards through one node that is not a linear layer with weights (those take a
// Rule). Adding an operator: a function in one of the family files in relevance/operators/, one line in
// operators/catalogue.cpp, a test, a row in docs/algorithms/relevance.md.

#include <span>
#include <string_view>
#include <vector>

#include <assay/tensor.h>
#include "assay/relevance/dependence.h"

namespace assay::relevance {

// One node in one batch.
struct Passage {
  const Node& node;
  std::span<const Array> inputs;  // undefined where absent, and everywhere unless OperatorInfo::reads_inputs
  std::span<const Array>
      outputs;  // undefined where absent, and everywhere unless OperatorInfo::reads_outputs
  std::span<const Array> relevance;        // of the outputs; undefined where none arrives
  std::span<const std::size_t> receivers;  // input positions that receive relevance
  double epsilon;
  bool bias_absorbs;
  bool maxima_share;  // equal ones; otherwise the first takes all

  const Array& input(std::size_t i) const { return inputs[i]; }
  bool has(std::size_t i) const { return i < inputs.size() && inputs[i].defined(); }
  // Relevance of output 0.
  const Array& arriving() const { return relevance[0]; }
};

struct OperatorInfo {
  std::string_view op;
  // Input positions that receive relevance, decided before anything runs. Empty: relevance ends here.
  std::vector<std::size_t> (*receivers)(const Dependence&, const Node&);
  // Relevance for each entry of Passage::receivers, with the input's shape.
  std::vector<Array> (*propagate)(const Passage&);
  bool reads_outputs = false;
  bool reads_inputs = true;
};

// nullptr when there is none. `through_attention`: as Composite has it.
const OperatorInfo* find_relevance_operator(std::string_view op, bool through_attention = false);

}  // namespace assay::relevance
