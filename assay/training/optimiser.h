#pragma once

// Optimisers as Keras 2 defines them. Adding one: a class and a line in optimiser.cpp, a test, a row in
// docs/training.md.

#include <memory>
#include <string>
#include <vector>

#include "assay/engine/tensor.h"
#include "assay/training/trainer.h"

namespace assay {

class Optimiser {
 public:
  virtual ~Optimiser() = default;
  // Tensors kept per parameter beside its value (momenta, running squares).
  virtual std::size_t slots() const = 0;
  // Updates one parameter in place. `rate` is the learning rate of this step, `step` counts from 1; `state` holds
  // slots() tensors of the parameter's shape, zero at the start.
  virtual void update(Tensor& value, const Tensor& gradient, std::vector<Tensor>& state, double rate, std::int64_t step) const = 0;
};

// Throws Error{usage} for an unknown name.
std::unique_ptr<Optimiser> make_optimiser(const Recipe& recipe);
std::vector<std::string> optimiser_names();

}  // namespace assay
