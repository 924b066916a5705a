#include "assay/inspection/statistics/quantiles.h"

#include <algorithm>
#include <cmath>

#include "assay/support/thread_pool.h"

namespace assay::inspection {

std::vector<std::vector<float>> sorted_columns(std::span<const float> matrix, std::size_t columns) {
  std::vector<std::vector<float>> all(columns);
  split_loop(columns, 1, [&](std::size_t from, std::size_t to) {
    for (std::size_t c = from; c < to; ++c) {
      for (std::size_t i = c; i < matrix.size(); i += columns) {
        if (!std::isnan(matrix[i])) all[c].push_back(matrix[i]);
      }
      std::ranges::sort(all[c]);
    }
  });
  return all;
}

std::vector<float> thinned(const std::vector<float>& ascending, std::size_t most) {
  if (ascending.size() <= most) return ascending;
  std::vector<float> some(most);
  for (std::size_t i = 0; i < most; ++i) some[i] = ascending[(2 * i + 1) * ascending.size() / (2 * most)];
  return some;
}

std::vector<float> bin_edges(const std::vector<float>& ascending, std::size_t bins) {
  std::vector<float> edges;
  for (std::size_t i = 0; i + 1 < ascending.size() && edges.size() < bins; ++i) {
    if (ascending[i] < ascending[i + 1]) edges.push_back(ascending[i]);
  }
  if (edges.size() < bins) return edges;  // a bin for each value
  edges.clear();
  for (std::size_t k = 1; k < bins && !ascending.empty(); ++k) {
    const float edge = ascending[std::max<std::size_t>(k * ascending.size() / bins, 1) - 1];
    if (edge < ascending.back() && (edges.empty() || edge > edges.back())) edges.push_back(edge);
  }
  return edges;
}

std::size_t bin_of(std::span<const float> edges, float value) {
  return std::ranges::lower_bound(edges, value) - edges.begin();
}

}  // namespace assay::inspection
