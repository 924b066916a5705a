#pragma once

// The trainable weights of a network: one array for all of them, so that a step of an optimiser is a few
// operations for any number of them, with a view of it for each.

#include <memory>
#include <vector>

#include <assay/extend/optimisers.h>
#include <assay/graph.h>
#include <assay/tensor.h>
#include <assay/training.h>
#include "assay/training/weights.h"

namespace assay::training {

class Parameters {
 public:
  // The weights of `graph`. Throws Error{mismatch} when there are none, Error{usage} as recipe and choice
  // demand.
  Parameters(const Graph& graph, const Recipe& recipe, const ConstantChoice& choice);

  // Points for gradients by the value they stand for: they follow every step.
  const Tensors& leaves() const { return leaves_; }
  // The regularisation term of the loss.
  double penalty() const;
  // One step from the gradients of leaves(), in their order; undefined ones count as zeros. Regularisation,
  // clipping of all gradients together and then of each element, weight decay and the optimiser, in this
  // order.
  void step(const std::vector<Array>& gradients);
  std::int64_t steps() const { return steps_; }

  // State of the optimiser, [parameters] each, for checkpoints.
  const std::vector<Array>& state() const { return state_; }
  // Throws Error{data} for values or state of another size.
  void restore(const Tensors& values, const std::vector<Array>& state, std::int64_t steps);

 private:
  struct Part {
    ValueId value;
    Array weight, gradient;  // views
    Penalty penalty;
  };

  void regularise();
  void clip();

  std::unique_ptr<Optimiser> optimiser_;
  double rate_, decay_, weight_decay_, clip_norm_, clip_value_;
  std::vector<Part> parts_;  // as in leaves_
  Tensors leaves_;
  Array values_, gradients_;
  std::vector<Array> state_;
  std::int64_t steps_ = 0;
};

}  // namespace assay::training
