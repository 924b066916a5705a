#pragma once

// A mutant: operator, place and seed. A few bytes that always make the same mutated network from the same original.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "assay/mutation/catalogue.h"

namespace assay {

struct Mutant {
  Spec op;                 // "gf[sigma=0.5]"
  std::string layer;       // where its sites are; empty: sites drawn over the whole network
  std::uint64_t seed = 0;

  // "gf-conv2-17", letters, digits and - _ . only: fit for file names. Unique among the mutants of one draw.
  std::string id() const;
  // "gf[sigma=0.5]@conv2#17", or "gf#17" for the whole network: what parse_mutant() reads.
  std::string text() const;
  bool operator==(const Mutant&) const = default;
};

// Throws Error{usage} for text that names no mutant. Whether operator and layer exist is found out when it is applied.
Mutant parse_mutant(const std::string& text);

// A mutant's changes, or why there are none.
struct Outcome {
  std::unique_ptr<Edit> edit;  // null: not applicable; never empty()
  std::string reason;
};
// Draws the sites and writes the changes down, without building a graph. Where a draw changes nothing others are tried, a
// fixed number of times. The subject must outlive the result. Throws Error{usage} for operators, options and layers that
// do not exist.
Outcome plan_mutant(const Subject& subject, const Mutant& mutant, std::size_t most_kept = 1000);

// A mutated network with what was changed.
struct Mutation {
  Graph graph;                    // ids and names of all nodes and values of the original stay valid
  std::int64_t sites = 0;         // weights changed, or neurons at neuron level; 1 for a layer whose structure changes
  std::vector<Change> changes;    // the first 1,000
  std::int64_t change_count = 0;  // of all
  std::string summary;            // "Gaussian fuzzing: 24 weights of conv2"
};

// The original is untouched. Deterministic: randomness comes from streams named by seed, operator and layer. Throws
// Error{usage} when the operator does not apply, with the reason.
Mutation apply(const Subject& subject, const Mutant& mutant);

}  // namespace assay
