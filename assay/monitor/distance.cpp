// Means of classes and the covariance within them (Lee et al., NeurIPS 2018; Kim et al., ISSTA 2020).

#include <algorithm>
#include <cmath>

#include <assay/error.h>
#include "assay/monitor/features.h"

namespace assay::monitor {
namespace {

constexpr std::size_t most_features = 2048;
constexpr double ridge = 1e-3;  // of the mean variance, added to each

using Matrix = std::vector<double>;  // square, row by row

// L of A = L L'. REQUIRES a positive definite A.
Matrix cholesky(const Matrix& a, std::size_t size) {
  Matrix l(size * size, 0.0);
  for (std::size_t i = 0; i < size; ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      double sum = a[i * size + j];
      for (std::size_t k = 0; k < j; ++k) sum -= l[i * size + k] * l[j * size + k];
      l[i * size + j] = i == j ? std::sqrt(sum) : sum / l[j * size + j];
    }
  }
  return l;
}

// The inverse of a lower triangular matrix, transposed.
Matrix inverse_transposed(const Matrix& l, std::size_t size) {
  Matrix inverse(size * size, 0.0);
  for (std::size_t c = 0; c < size; ++c) {
    for (std::size_t r = c; r < size; ++r) {
      double sum = r == c ? 1 : 0;
      for (std::size_t k = c; k < r; ++k) sum -= l[r * size + k] * inverse[c * size + k];
      inverse[c * size + r] = sum / l[r * size + r];
    }
  }
  return inverse;
}

// Means of classes; of a class that no record has, the mean of all.
std::vector<double> means_of(const Features& features, std::size_t classes) {
  std::vector<double> means(classes * features.width, 0.0), all(features.width, 0.0), counts(classes, 0.0);
  for (std::size_t i = 0; i < features.classes.size(); ++i) {
    const std::size_t c = features.classes[i];
    ++counts[c];
    for (std::size_t f = 0; f < features.width; ++f) {
      const double one = features.rows[i * features.width + f];
      means[c * features.width + f] += one;
      all[f] += one / features.classes.size();
    }
  }
  for (std::size_t c = 0; c < classes; ++c)
    for (std::size_t f = 0; f < features.width; ++f) {
      double& mean = means[c * features.width + f];
      mean = counts[c] > 0 ? mean / counts[c] : all[f];
    }
  return means;
}

Matrix covariance_of(const Features& features, const std::vector<double>& means) {
  const std::size_t width = features.width;
  Matrix covariance(width * width, 0.0);
  std::vector<double> difference(width);
  for (std::size_t i = 0; i < features.classes.size(); ++i) {
    const double* const mean = means.data() + static_cast<std::size_t>(features.classes[i]) * width;
    for (std::size_t f = 0; f < width; ++f) difference[f] = features.rows[i * width + f] - mean[f];
    for (std::size_t a = 0; a < width; ++a)
      for (std::size_t b = 0; b <= a; ++b) covariance[a * width + b] += difference[a] * difference[b];
  }
  double variance = 0;
  for (double& one : covariance) one /= features.classes.size();
  for (std::size_t f = 0; f < width; ++f) variance += covariance[f * width + f] / width;
  for (std::size_t f = 0; f < width; ++f) covariance[f * width + f] += ridge * variance + 1e-12;
  return covariance;
}

}  // namespace

void fit_distance(Monitor& monitor, const Session& session, const DatasetPtr& training, Progress& progress) {
  const Features features = training_features(monitor, session, training, progress);
  if (features.width > most_features)
    fail(Fault::resources, "layer '{}' has {} neurons, and mdsa takes at most {}; choose another one with {}",
         monitor.layer, features.width, most_features, About{"the layer", "{layer=NAME}"});
  const std::vector<double> means = means_of(features, monitor.classes);
  const Matrix whitening =
      inverse_transposed(cholesky(covariance_of(features, means), features.width), features.width);
  monitor.means.assign(means.begin(), means.end());
  monitor.whitening.assign(whitening.begin(), whitening.end());
}

}  // namespace assay::monitor
