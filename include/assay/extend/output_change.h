#pragma once

// How far the output of a record has changed, for attacks on networks that do not name one class a record.

#include <cstddef>
#include <span>
#include <vector>

namespace assay::attack {

// How far records have changed whose outputs are not the scores of classes (numbers; many items): two scores
// follow from it, "has not changed enough" (class 0) and "has" (class 1). Immutable.
class OutputChange {
 public:
  virtual ~OutputChange() = default;
  // Above 0 where the record has changed enough; NaN where outputs are, or nothing can change. `place`: of
  // the record in the batch.
  virtual float beyond(std::size_t place, std::span<const float> outputs) const = 0;
  // What explanations of the record start from: a weight for each output. Empty: its greatest output.
  virtual std::vector<float> explained(std::size_t /*place*/, std::span<const float> /*outputs*/) const {
    return {};
  }
  // Adds `weight` times how that changes with each output, or where steps hide it what leads there.
  virtual void differentiate(std::size_t place, std::span<const float> outputs, float weight,
                             std::span<float> gradients) const = 0;
};

}  // namespace assay::attack
