#pragma once

// k-means in any number of dimensions (Lloyd's rounds from k-means++ starts, Arthur and Vassilvitskii 2007).

#include <cstdint>
#include <span>
#include <vector>

namespace assay::clustering {

struct Centroids {
  std::size_t dimensions = 0;
  std::vector<double> values;  // [count, dimensions]

  std::size_t count() const { return values.size() / dimensions; }
  // Of the nearest centroid, ties to the lower index. REQUIRES finite coordinates.
  std::size_t nearest(std::span<const float> point) const;
  // From a centroid to the nearest other one. REQUIRES two centroids.
  double least_distance(std::size_t centroid) const;
};

// points: [records, dimensions], finite. Fewer centroids than `count` where there are fewer different points.
// The same seed gives the same centroids.
Centroids find_centroids(std::span<const float> points, std::size_t dimensions, std::size_t count,
                         std::uint64_t seed);

}  // namespace assay::clustering
