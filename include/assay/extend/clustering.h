#pragma once

// Clustering of one neuron's activations. The published analysis uses k-means with the best silhouette; one
// dimension admits the exact optimum of both in O(n log n) (docs/algorithms/clustering.md).

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <assay/extend/catalogue.h>

namespace assay::clustering {

struct Clustering {
  std::vector<double> centroids;   // ascending
  std::vector<std::size_t> sizes;  // members of each cluster
  double silhouette = 0;           // mean, 0 when there is one cluster
  double within = 0;               // within-cluster sum of squares
  // Index of the nearest centroid, ties to the lower index.
  std::size_t nearest(double value) const;
};

// REQUIRES: `sorted` ascending and finite. k is reduced to the number of distinct values. Exact optimum;
// ties between splits go to the lower index. Time O(k n log n) with divide and conquer, memory O(k n).
Clustering kmeans_1d(std::span<const double> sorted, std::size_t k);

// Mean silhouette with |x - y| of contiguous clusters with the given sizes over `sorted`. A singleton scores
// 0, coinciding clusters score 0. O(n k).
double silhouette_1d(std::span<const double> sorted, std::span<const std::size_t> sizes);

struct ClusterOptions {
  std::size_t min_k = 2, max_k = 4;  // candidates of the published analysis
  bool drop_zeros = false;           // the released code drops exact zeros of dense layers
  int round_decimals = -1;           // the released code rounds centroids to 2; -1: never
  std::size_t min_distinct = 10;     // fewer distinct values give one cluster
};

// Turns one neuron's activations into clusters. Implementations are listed in the catalogue.
class Clusterer {
 public:
  static constexpr const char* kind = "clusterer";
  virtual ~Clusterer() = default;
  virtual Clustering cluster(std::vector<double> values) const = 0;
  virtual std::string describe() const = 0;
};

struct ClustererInfo {
  std::string name, summary, paper;
  std::function<std::unique_ptr<Clusterer>(const ClusterOptions&)> make;
};
Catalogue<ClustererInfo>& clusterers();

// A clusterer by name, or one of the caller's own that is in no catalogue.
using ClustererChoice = Choice<Clusterer>;
// The caller's own, or the catalogue's with these options. Throws Error{usage}.
std::shared_ptr<const Clusterer> make_clusterer(const ClustererChoice& choice, const ClusterOptions& options);

}  // namespace assay::clustering
