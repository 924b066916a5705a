#pragma once

// Likelihood-based surprise adequacy (Kim, Feldt and Yoo, ICSE 2019): -log of a Gaussian kernel density
// estimate over the training traces of the record's class, bandwidth by Scott's rule
// (docs/algorithms/surprise.md).

#include <iosfwd>
#include <memory>
#include <vector>

#include "assay/surprise/mdsa.h"
#include "assay/surprise/neighbours.h"

namespace assay::surprise {

// Whitens the training traces once. Scores have float64 accuracy: float32 only selects, with a proven bound,
// the terms that are computed; terms left out change a score by less than 1e-12. Regression: give all records
// one class. Memory 12 bytes per training record and kept dimension; scoring O(q n_c d) in matrix products.
class LsaReference {
 public:
  explicit LsaReference(const Traces& training, const GaussianOptions& options = {}, std::size_t threads = 0);
  std::vector<SurpriseScore> score(const Traces& test, const BlockOptions& options = {}) const;
  const Gaussians& gaussians() const { return gaussians_; }
  void save(std::ostream& out) const;
  static LsaReference load(std::istream& in);

 private:
  struct Kernel {
    std::vector<double> white;  // records x kept dimensions
    double constant = 0;        // log n_c + d/2 log 2 pi + log det L
    std::unique_ptr<surprise::References<double>> references;
  };
  LsaReference() = default;
  void prepare(std::int32_t c, std::vector<double> white);
  void score_class(const Traces& test, const std::vector<std::size_t>& records, std::int32_t c,
                   std::vector<SurpriseScore>& scores, const BlockOptions& options) const;

  Gaussians gaussians_;
  std::map<std::int32_t, Kernel> kernels_;
};

}  // namespace assay::surprise
