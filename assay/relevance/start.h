#pragma once

// The explained numbers: the score of a class of each record, or an element of its decision value.

#include <assay/relevance.h>
#include <assay/session.h>
#include "assay/engine/evaluation/scores.h"

namespace assay::relevance {

class Start {
 public:
  // `outputs`: as AttributionOptions has it.
  Start(const Session& session, bool outputs);

  // Where relevance is put in.
  ValueId value() const { return scores_.value; }
  // Whether it is one number z a record, above `threshold` for class 1: the scores of the classes are then
  // those of a network that gives -(z - threshold) / 2 and (z - threshold) / 2.
  bool single() const { return scores_.single; }
  double threshold() const { return scores_.threshold; }

  // The class that a record's elements name: the first of the greatest, a NaN counting as one.
  std::int64_t decided(std::span<const float> elements) const;
  // Throws Error{usage} for classes that the network does not have, and where they are not one a record.
  void check(const Target& target, std::size_t records, std::int64_t elements) const;
  // `target`, or the classes that `values` of the start name.
  Target settled(const Array& values, const Target& target) const;
  // Gradient of the explained number with respect to each element of `values` [n, ...]: 1 at the target's, 0
  // elsewhere; of a single number a half, below 0 for class 0; the target's own weights. Throws as check().
  Array weights(const Array& values, const Target& target) const;
  // The same of one record, added to zeros.
  void add_weights(std::span<const float> elements, const Target& target, std::size_t record,
                   std::span<float> weights) const;
  // The explained numbers, in the shape of `values`.
  Array explained(const Array& values, const Array& weights, const Target& target) const;
  // The same of `values`, summed over each record.
  std::vector<double> numbers(const Array& values, const Target& target) const;
  // The threshold of an element.
  double threshold(const Target& target) const { return single() ? threshold() : double{target.threshold}; }

 private:
  DecisionScores scores_;
};

// Sum over each record.
std::vector<double> per_record(const Array& relevance);

}  // namespace assay::relevance
