// Exact one-dimensional k-means: dynamic programming over contiguous clusters of the sorted values, with
// divide and conquer on the monotone position of the last split (docs/algorithms/clustering.md).

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include <assay/error.h>
#include <assay/extend/clustering.h>

namespace assay::clustering {
namespace {

// Distinct values with multiplicities, as prefix sums. Equal values never belong to different clusters of an
// optimum that is stable under nearest-centroid assignment, so working on distinct values loses nothing.
struct Weighted {
  // Entry i stands for the first i distinct values. Sums of values less the median, counted from the median
  // outwards, so that a sum over a range of values never has the rounding of what lies farther out.
  std::vector<double> count{0}, sum, squares;
  double shift = 0;

  explicit Weighted(std::span<const double> sorted) {
    shift = sorted[sorted.size() / 2];
    std::vector<double> distinct;
    std::size_t middle = 0;  // values below the median
    for (std::size_t begin = 0, end = 0; begin < sorted.size(); begin = end) {
      while (end < sorted.size() && sorted[end] == sorted[begin]) ++end;
      if (sorted[begin] == shift) middle = distinct.size();
      distinct.push_back(sorted[begin] - shift);
      count.push_back(count.back() + static_cast<double>(end - begin));
    }
    sum.assign(count.size(), 0);
    squares.assign(count.size(), 0);
    const auto many = [&](std::size_t i) { return count[i + 1] - count[i]; };
    for (std::size_t i = middle; i < distinct.size(); ++i) {
      sum[i + 1] = sum[i] + many(i) * distinct[i];
      squares[i + 1] = squares[i] + many(i) * distinct[i] * distinct[i];
    }
    for (std::size_t i = middle; i > 0; --i) {
      sum[i - 1] = sum[i] - many(i - 1) * distinct[i - 1];
      squares[i - 1] = squares[i] - many(i - 1) * distinct[i - 1] * distinct[i - 1];
    }
  }

  std::size_t size() const { return count.size() - 1; }

  // Within-cluster sum of squares of distinct values [begin, end).
  double cost(std::size_t begin, std::size_t end) const {
    const double s = sum[end] - sum[begin];
    return std::max(0.0, squares[end] - squares[begin] - s * s / (count[end] - count[begin]));
  }
};

// One row of the programme: best[i] is the least cost of the first i values in m clusters, split[i] the
// lowest start of the last cluster that reaches it.
using Best = std::vector<double>;
using Split = std::vector<std::uint32_t>;

void fill(const Weighted& values, const Best& previous, Best& row, Split& splits, std::size_t low,
          std::size_t high, std::size_t first, std::size_t last) {
  if (low > high) return;
  const std::size_t middle = low + (high - low) / 2;
  double best = std::numeric_limits<double>::infinity();
  std::size_t split = first;
  for (std::size_t j = first; j <= std::min(last, middle - 1); ++j) {
    const double cost = previous[j] + values.cost(j, middle);
    if (cost < best) {
      best = cost;
      split = j;
    }
  }
  row[middle] = best;
  splits[middle] = static_cast<std::uint32_t>(split);
  if (middle > low) fill(values, previous, row, splits, low, middle - 1, first, split);
  fill(values, previous, row, splits, middle + 1, high, split, last);
}

}  // namespace

std::size_t Clustering::nearest(double value) const {
  // The answer is one of `count` from `first` on. Which half it is in is chosen without a branch, since no
  // processor could foretell that.
  std::size_t first = 0;
  for (std::size_t count = centroids.size(); count > 1; count -= count / 2) {
    const std::size_t middle = first + count / 2;
    first = value - centroids[middle - 1] > centroids[middle] - value ? middle : first;
  }
  return first;
}

Clustering kmeans_1d(std::span<const double> sorted, std::size_t k) {
  if (sorted.empty()) return {};
  const Weighted values(sorted);
  const std::size_t n = values.size();
  if (n > std::numeric_limits<std::uint32_t>::max())
    fail(Fault::usage, "{} distinct activations are more than can be clustered exactly; use fewer records",
         n);
  k = std::clamp<std::size_t>(k, 1, n);
  Best best(n + 1, std::numeric_limits<double>::infinity()), next;
  for (std::size_t i = 1; i <= n; ++i) best[i] = values.cost(0, i);
  std::vector<Split> splits(k);  // none of the first row: one cluster begins at 0
  for (std::size_t m = 1; m < k; ++m) {
    next.assign(n + 1, std::numeric_limits<double>::infinity());
    splits[m].assign(n + 1, 0);
    fill(values, best, next, splits[m], m + 1, n, m, n - 1);
    best.swap(next);
  }
  Clustering result;
  result.within = best[n];
  for (std::size_t m = k, end = n; m > 0; --m) {
    const std::size_t begin = m == 1 ? 0 : splits[m - 1][end];
    const double count = values.count[end] - values.count[begin];
    result.centroids.push_back(values.shift + (values.sum[end] - values.sum[begin]) / count);
    result.sizes.push_back(static_cast<std::size_t>(count));
    end = begin;
  }
  std::reverse(result.centroids.begin(), result.centroids.end());
  std::reverse(result.sizes.begin(), result.sizes.end());
  result.silhouette = silhouette_1d(sorted, result.sizes);
  return result;
}

double silhouette_1d(std::span<const double> sorted, std::span<const std::size_t> sizes) {
  if (sizes.size() < 2) return 0;
  std::vector<double> means;
  for (std::size_t c = 0, at = 0; c < sizes.size(); at += sizes[c++]) {
    double sum = 0;
    for (std::size_t i = at; i < at + sizes[c]; ++i) sum += sorted[i] - sorted[at];
    means.push_back(sorted[at] + sum / sizes[c]);
  }
  double total = 0;
  for (std::size_t c = 0, at = 0; c < sizes.size(); at += sizes[c++]) {
    const std::size_t size = sizes[c];
    if (size == 1) continue;  // a singleton scores 0
    const double origin = sorted[at];
    const double whole = (means[c] - origin) * size;
    double before = 0;  // sum of the members below, relative to the cluster's first
    for (std::size_t r = 0; r < size; ++r) {
      const double x = sorted[at + r] - origin;
      const double below = x * r - before;
      const double above = whole - before - x * static_cast<double>(size - r);
      const double own = (below + above) / static_cast<double>(size - 1);
      // Clusters are contiguous, so only the neighbours can be nearest, each wholly on one side.
      double other = std::numeric_limits<double>::infinity();
      if (c > 0) other = std::min(other, sorted[at + r] - means[c - 1]);
      if (c + 1 < sizes.size()) other = std::min(other, means[c + 1] - sorted[at + r]);
      const double larger = std::max(own, other);
      if (larger > 0) total += (other - own) / larger;
      before += x;
    }
  }
  return total / sorted.size();
}

}  // namespace assay::clustering
