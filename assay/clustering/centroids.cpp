#include "assay/clustering/centroids.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <assay/extend/random.h>
#include <assay/progress.h>
#include "assay/support/thread_pool.h"

namespace assay::clustering {
namespace {

constexpr std::size_t most_rounds = 100;

template <typename Number>
double squared_distance(std::span<const Number> point, const double* centroid) {
  double sum = 0;
  for (std::size_t d = 0; d < point.size(); ++d) {
    const double off = point[d] - centroid[d];
    sum += off * off;
  }
  return sum;
}

class Lloyd {
 public:
  Lloyd(std::span<const float> points, std::size_t dimensions)
      : points_(points), centroids_{dimensions, {}} {}

  // Each next one is drawn by its squared distance to those that are there.
  void start(std::size_t count, Rng& rng) {
    std::vector<double> distances(records(), std::numeric_limits<double>::infinity());
    add(rng.below(records()));
    while (centroids_.count() < count) {
      check_interrupt();
      double sum = 0;
      const double* last = centroids_.values.data() + centroids_.values.size() - centroids_.dimensions;
      for (std::size_t r = 0; r < records(); ++r)
        sum += distances[r] = std::min(distances[r], squared_distance(point(r), last));
      if (sum == 0) return;
      add(drawn(distances, rng.uniform() * sum));
    }
  }

  // Until no record moves to another centroid.
  Centroids settle() {
    std::vector<std::size_t> owners(records(), centroids_.count());
    for (std::size_t round = 0; round < most_rounds; ++round) {
      check_interrupt();
      const std::vector<std::size_t> before = owners;
      support::split_loop(records(), 256, [&](std::size_t begin, std::size_t end) {
        for (std::size_t r = begin; r < end; ++r) owners[r] = centroids_.nearest(point(r));
      });
      if (owners == before) break;
      take_means(owners);
    }
    return std::move(centroids_);
  }

 private:
  std::size_t records() const { return points_.size() / centroids_.dimensions; }
  std::span<const float> point(std::size_t record) const {
    return points_.subspan(record * centroids_.dimensions, centroids_.dimensions);
  }
  void add(std::size_t record) {
    const auto chosen = point(record);
    centroids_.values.insert(centroids_.values.end(), chosen.begin(), chosen.end());
  }

  static std::size_t drawn(const std::vector<double>& weights, double at) {
    std::size_t last = 0;
    for (std::size_t r = 0; r < weights.size(); ++r) {
      if (weights[r] == 0) continue;
      last = r;
      at -= weights[r];
      if (at < 0) break;
    }
    return last;
  }

  // One that no record is nearest to stays where it is.
  void take_means(const std::vector<std::size_t>& owners) {
    const std::size_t d = centroids_.dimensions;
    std::vector<double> sums(centroids_.values.size());
    std::vector<std::size_t> counts(centroids_.count());
    for (std::size_t r = 0; r < records(); ++r) {
      ++counts[owners[r]];
      for (std::size_t i = 0; i < d; ++i) sums[owners[r] * d + i] += point(r)[i];
    }
    for (std::size_t c = 0; c < counts.size(); ++c)
      for (std::size_t i = 0; counts[c] > 0 && i < d; ++i)
        centroids_.values[c * d + i] = sums[c * d + i] / static_cast<double>(counts[c]);
  }

  std::span<const float> points_;
  Centroids centroids_;
};

}  // namespace

std::size_t Centroids::nearest(std::span<const float> point) const {
  std::size_t best = 0;
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t c = 0; c < count(); ++c) {
    const double distance = squared_distance(point, values.data() + c * dimensions);
    if (distance < least) {
      least = distance;
      best = c;
    }
  }
  return best;
}

double Centroids::least_distance(std::size_t centroid) const {
  const std::span<const double> here(values.data() + centroid * dimensions, dimensions);
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t c = 0; c < count(); ++c)
    if (c != centroid) least = std::min(least, squared_distance(here, values.data() + c * dimensions));
  return std::sqrt(least);
}

Centroids find_centroids(std::span<const float> points, std::size_t dimensions, std::size_t count,
                         std::uint64_t seed) {
  if (points.empty()) return {dimensions, {}};
  Rng rng(seed);
  Lloyd lloyd(points, dimensions);
  lloyd.start(count, rng);
  return lloyd.settle();
}

}  // namespace assay::clustering
