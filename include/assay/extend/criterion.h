#pragma once

// A coverage criterion turns the activations of a test set into covered and coverable items, or into a
// measure. Every criterion can observe, merge, give its result, and be saved; optional abilities are in
// abilities.h.
//
// observe() may be called with the batches in any order and split in any way; merge() is commutative and
// associative, and a fresh criterion is its identity: a test set may be split over threads, machines and time
// without changing the result, not even a bit of what save() gives. Not thread-safe; give each thread its own
// and merge.

#include <cstdint>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

#include <assay/session.h>

namespace assay::coverage {

// Some records of a test set as criteria see them, all activations finite. Layers are those of the profile,
// in its order.
struct ActivationBatch {
  std::span<const std::size_t> indices;  // positions of the records in the data set
  std::span<const Activations> layers;   // [records, neurons] each
  // Least and greatest element of the whole layer per record, [layers][records]; empty unless a criterion
  // asked.
  std::span<const std::vector<float>> least = {}, greatest = {};
  std::span<const std::int64_t> predicted = {}, labels = {};  // class per record; empty where there are none
};

// Items covered of items coverable. Counts are exact decimal integers of any size, because a product of
// cluster counts can exceed 64 bits.
struct Coverage {
  std::string layer;                     // a layer's name, or "all" for all layers together
  std::string covered = "0", coverable;  // `coverable` is empty for measures without a greatest value
  double value = 0;  // covered / coverable in float64 (0 when nothing is coverable), or the measure
  // The same without the items that cannot be covered, or that are the same as others; as above when there
  // are none.
  std::string attainable_covered, attainable;
  double attainable_value = 0;
  std::string note;  // what was left out of the attainable items, and what fell outside
};

class Criterion {
 public:
  virtual ~Criterion() = default;
  virtual void observe(const ActivationBatch& batch) = 0;
  // REQUIRES: `other` is the same criterion with the same options and profile; throws Error{mismatch}
  // otherwise.
  virtual void merge(const Criterion& other) = 0;
  // Layer by layer, and "all" last where adding layers up makes sense.
  virtual std::vector<Coverage> result() const = 0;

  // Everything observed, in a canonical form; load() replaces what this fresh criterion holds and throws
  // std::runtime_error for what does not fit it.
  virtual nlohmann::json save() const = 0;
  virtual void load(const nlohmann::json& state) = 0;

  // Whether observe() needs ActivationBatch::least and greatest.
  virtual bool wants_extremes() const { return false; }
};

// The results of a criterion. Throws Error{usage}, which calls it `name`, if result() gives no row, or counts
// that are not integers.
std::vector<Coverage> result_of(const Criterion& criterion, const std::string& name);

// The "all" of layers whose counts add up.
Coverage coverage_of(std::string layer, std::uint64_t covered, std::uint64_t coverable);
Coverage coverage_of(std::string layer, std::uint64_t covered, std::uint64_t coverable,
                     std::uint64_t attainable_covered, std::uint64_t attainable);

}  // namespace assay::coverage
