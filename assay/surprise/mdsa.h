#pragma once

// Mahalanobis-distance surprise: the distance of a record to the mean of its class under the class's
// covariance.

#include <iosfwd>
#include <vector>

#include "assay/surprise/gaussian.h"

namespace assay::surprise {

struct SurpriseScore {
  double value = 0;
  SurpriseStatus status = SurpriseStatus::ok;
};

// sqrt((x - mean)^T covariance^-1 (x - mean)), float64 throughout. O(q d^2).
class MdsaReference {
 public:
  explicit MdsaReference(const Traces& training, const GaussianOptions& options = {0.0, 0},
                         std::size_t threads = 0);
  std::vector<SurpriseScore> score(const Traces& test, std::size_t threads = 0) const;
  const Gaussians& gaussians() const { return gaussians_; }
  void save(std::ostream& out) const;
  static MdsaReference load(std::istream& in);

 private:
  explicit MdsaReference(Gaussians gaussians) : gaussians_(std::move(gaussians)) {}
  Gaussians gaussians_;
};

}  // namespace assay::surprise
