#pragma once

// Random subsets of positions, the same for every record: relevance there, beside what the score loses
// without them.

#include <cstdint>
#include <vector>

#include <assay/faithfulness.h>

namespace assay::relevance {

struct Subsets {
  // A number for each subset, by record.
  ExplainedBatch::Rows relevance, loss;
};

class SubsetOptions {
 public:
  // share, samples and seed. Throws Error{usage} for a share above 1.
  explicit SubsetOptions(const SpecOptions& options);
  static std::vector<SpecOption> declared();
  Subsets subsets_of(const ExplainedBatch& batch) const;

 private:
  double share_;
  std::size_t samples_;
  std::uint64_t seed_;
};

}  // namespace assay::relevance
