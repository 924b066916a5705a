#include "assay/training/draws.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

namespace assay::training {

void fill_uniform(std::span<float> values, Rng& rng, double limit) {
  for (float& value : values) value = static_cast<float>(rng.uniform(-limit, limit));
}

// Normal numbers after Gram and Schmidt, twice for accuracy.
void fill_orthogonal(std::span<float> matrix, std::size_t columns, Rng& rng) {
  const std::size_t rows = matrix.size() / columns, length = std::max(rows, columns),
                    count = std::min(rows, columns);
  std::vector<std::vector<double>> basis;
  while (basis.size() < count) {
    std::vector<double> vector(length);
    for (double& value : vector) value = rng.normal();
    for (int pass = 0; pass < 2; ++pass) {
      for (const auto& other : basis) {
        const double along = std::inner_product(vector.begin(), vector.end(), other.begin(), 0.0);
        for (std::size_t i = 0; i < length; ++i) vector[i] -= along * other[i];
      }
    }
    const double norm = std::sqrt(std::inner_product(vector.begin(), vector.end(), vector.begin(), 0.0));
    for (double& value : vector) value /= norm;
    for (std::size_t i = 0; i < length; ++i) {
      const std::size_t at = columns <= rows ? i * columns + basis.size() : basis.size() * columns + i;
      matrix[at] = static_cast<float>(vector[i]);
    }
    basis.push_back(std::move(vector));
  }
}

}  // namespace assay::training
