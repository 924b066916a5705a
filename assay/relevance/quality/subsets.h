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

// Judges every record by its subsets: what the relevance of each is beside what the score loses without it.
class SubsetQuality final : public Quality {
 public:
  using Judge = double (*)(const std::vector<double>& relevance, const std::vector<double>& loss);
  SubsetQuality(const SpecOptions& options, Judge judge) : options_(options), judge_(judge) {}
  QualityValues of(const ExplainedBatch& batch) const override;

 private:
  SubsetOptions options_;
  Judge judge_;
};

}  // namespace assay::relevance
