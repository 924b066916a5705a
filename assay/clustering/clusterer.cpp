#include <assay/extend/clustering.h>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include <assay/error.h>

namespace assay::clustering {
namespace {

// The values after the options, before clustering: zeros dropped, sorted.
std::vector<double> prepared(std::vector<double> values, const ClusterOptions& options) {
  if (options.drop_zeros) std::erase(values, 0.0);
  std::sort(values.begin(), values.end());
  return values;
}

bool has_distinct(std::span<const double> sorted, std::size_t wanted) {
  std::size_t distinct = sorted.empty() ? 0 : 1;
  for (std::size_t i = 1; i < sorted.size() && distinct < wanted; ++i) distinct += sorted[i] != sorted[i - 1];
  return distinct >= wanted;
}

// Rounds centroids; those that become equal are one cluster, so that full coverage stays possible.
void round_centroids(Clustering& clustering, int decimals) {
  if (decimals < 0) return;
  const double unit = std::pow(10.0, decimals);
  Clustering merged = clustering;
  merged.centroids.clear();
  merged.sizes.clear();
  for (std::size_t c = 0; c < clustering.centroids.size(); ++c) {
    const double rounded = std::round(clustering.centroids[c] * unit) / unit;
    if (!merged.centroids.empty() && merged.centroids.back() == rounded) {
      merged.sizes.back() += clustering.sizes[c];
    } else {
      merged.centroids.push_back(rounded);
      merged.sizes.push_back(clustering.sizes[c]);
    }
  }
  clustering = merged;
}

class ExactKMeans final : public Clusterer {
 public:
  explicit ExactKMeans(const ClusterOptions& options) : options_(options) {
    if (options.min_k < 1 || options.max_k < options.min_k) {
      fail(Fault::usage, "cluster counts from {} to {}: the first must be at least 1 and not above the last",
           options.min_k, options.max_k);
    }
  }

  Clustering cluster(std::vector<double> values) const override {
    const std::vector<double> sorted = prepared(std::move(values), options_);
    if (sorted.empty()) return {.centroids = {0.0}, .sizes = {0}};
    Clustering best;
    if (!has_distinct(sorted, options_.min_distinct)) {
      best = kmeans_1d(sorted, 1);
    } else {
      for (std::size_t k = options_.min_k; k <= options_.max_k; ++k) {
        Clustering candidate = kmeans_1d(sorted, k);
        if (best.centroids.empty() || candidate.silhouette > best.silhouette) best = std::move(candidate);
      }
    }
    round_centroids(best, options_.round_decimals);
    return best;
  }

  std::string describe() const override {
    return fmt::format(
        "exact one-dimensional k-means, k from {} to {} by best mean silhouette{}{}, fewer than {} distinct "
        "values give one cluster",
        options_.min_k, options_.max_k, options_.drop_zeros ? ", zeros dropped" : "",
        options_.round_decimals < 0
            ? ""
            : fmt::format(", centroids rounded to {} decimals", options_.round_decimals),
        options_.min_distinct);
  }

 private:
  ClusterOptions options_;
};

template <typename T>
std::unique_ptr<Clusterer> make(const ClusterOptions& options) {
  return std::make_unique<T>(options);
}

}  // namespace

Catalogue<ClustererInfo>& clusterers() {
  static Catalogue<ClustererInfo> all(
      {"clusterer"},
      {{"kmeans", "exact one-dimensional k-means with the best silhouette",
        "Gerasimou et al., ICSE 2020, section 3.2; Wang and Song, R Journal 2011", make<ExactKMeans>}});
  return all;
}

std::shared_ptr<const Clusterer> make_clusterer(const ClustererChoice& choice,
                                                const ClusterOptions& options) {
  return choice.object() ? choice.object() : clusterers().find(choice.spec().name).make(options);
}

}  // namespace assay::clustering
