#pragma once

// A coverage criterion turns the activations of a test set into covered and coverable items.
//
// observe() may be called with the batches in any order and split in any way; merge() is commutative and
// associative, and a fresh criterion is its identity: a test set may be split over threads, machines and time
// without changing the result. Not thread-safe; give each thread its own and merge.

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "assay/engine/session.h"

namespace assay {

// One batch of a test set as criteria see it: neuron activations per layer of interest.
struct ActivationBatch {
  std::span<const std::size_t> indices;       // positions of the records in the data set
  std::span<const Layer> layers;
  std::span<const Activations> activations;   // one matrix per layer, rows as `indices`
};

// Items covered of items coverable. Counts are exact decimal integers of any size, because a product of cluster
// counts can exceed 64 bits; `fraction` is their quotient in float64.
struct Coverage {
  std::string covered = "0", coverable = "0";
  double fraction = 0;   // 0 for an empty test set, and when there is nothing to cover
};

class Criterion {
 public:
  virtual ~Criterion() = default;
  virtual void observe(const ActivationBatch& batch) = 0;
  // REQUIRES: `other` is the same criterion with the same options and profile; throws Error{mismatch} otherwise.
  virtual void merge(const Criterion& other) = 0;
  virtual Coverage result() const = 0;
};

}  // namespace assay
