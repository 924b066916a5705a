#pragma once

// Mean and covariance of each class, in float64, and what likelihood-based and Mahalanobis surprise share:
// choice of dimensions, Cholesky factors, and what is done about singular covariances
// (docs/algorithms/surprise.md).

#include <cstdint>
#include <iosfwd>
#include <map>
#include <vector>

#include "assay/surprise/traces.h"

namespace assay::surprise {

struct GaussianOptions {
  // A dimension is dropped for all classes when its population variance within any class of at least two
  // records is under this. The published code has 1e-5; 0 keeps all.
  double minimum_variance = 1e-5;
  std::size_t max_dimensions = 0;  // of those, keep the ones of highest variance over all records; 0: all
};

struct ClassGaussian {
  std::size_t records = 0;
  std::vector<double> mean;      // kept dimensions
  std::vector<double> cholesky;  // lower triangle of the factor of covariance + jitter, row-major, the rest 0
  double jitter = 0;  // added to every variance: 0, or the first of 1e-10, 1e-9, ... that made it regular
  bool usable() const { return records >= 2; }
};

struct Gaussians {
  std::size_t dimensions = 0;     // of the traces
  std::vector<std::size_t> kept;  // ascending
  std::map<std::int32_t, ClassGaussian> classes;
  std::vector<std::size_t> left_out;  // training records with a NaN or an infinity

  // L^-1 (row - mean) over the kept dimensions for these records: [records, kept]. O(records d^2).
  std::vector<double> whitened(const ClassGaussian& of, const Traces& traces,
                               std::span<const std::size_t> records, std::size_t threads) const;
};

// Throws Error{data} when no dimension is left, naming the class that drops most. O(n d^2 + classes d^3),
// classes in parallel.
Gaussians learn_gaussians(const Traces& training, const GaussianOptions& options, std::size_t threads);

// Binary. The reader throws Error{data} for damage.
void save_gaussians(const Gaussians& gaussians, std::ostream& out);
Gaussians load_gaussians(std::istream& in);

}  // namespace assay::surprise
