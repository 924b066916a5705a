// A custom clusterer: as many clusters as allowed, with equally many members each.
#include <algorithm>

#include <assay/extend/clustering.h>
#include <assay/extend/plugin.h>

namespace {

using namespace assay::clustering;

class Quantiles final : public Clusterer {
 public:
  explicit Quantiles(const ClusterOptions& options) : options_(options) {}

  Clustering cluster(std::vector<double> values) const override {
    if (values.empty()) return {.centroids = {0.0}, .sizes = {0}};
    std::ranges::sort(values);
    Clustering result;
    const std::size_t k = std::min(options_.max_k, values.size());
    for (std::size_t c = 0, begin = 0; c < k; ++c) {
      const std::size_t end = values.size() * (c + 1) / k;
      double sum = 0;
      for (std::size_t i = begin; i < end; ++i) sum += values[i];
      const double centroid = sum / static_cast<double>(end - begin);
      if (!result.centroids.empty() && result.centroids.back() == centroid) {
        result.sizes.back() += end - begin;
      } else {
        result.centroids.push_back(centroid);
        result.sizes.push_back(end - begin);
      }
      begin = end;
    }
    return result;
  }
  std::string describe() const override { return "clusters with equally many members"; }

 private:
  ClusterOptions options_;
};

void enter() {
  clusterers().add({.name = "quantiles",
                    .summary = "clusters with equally many members",
                    .paper = "an example",
                    .make = [](const ClusterOptions& options) -> std::unique_ptr<Clusterer> {
                      return std::make_unique<Quantiles>(options);
                    }});
}

}  // namespace

ASSAY_PLUGIN("quantiles", enter)
