#include "assay/audit/rank_correlation.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>

#include "assay/support/numbers/mean.h"

namespace assay::audit {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

std::int64_t pairs(std::int64_t n) { return n * (n - 1) / 2; }

// Pairs among runs of equal neighbours.
template <typename Equal>
std::int64_t tied_pairs(std::size_t n, Equal&& equal) {
  std::int64_t tied = 0, run = 1;
  for (std::size_t i = 1; i <= n; ++i) {
    if (i < n && equal(i - 1, i)) {
      ++run;
    } else {
      tied += pairs(run);
      run = 1;
    }
  }
  return tied;
}

// Sorts by merging and counts the exchanges that a bubble sort would need.
std::int64_t sort_counting(std::vector<double>& values, std::vector<double>& spare, std::size_t begin,
                           std::size_t end) {
  if (end - begin < 2) return 0;
  const std::size_t middle = begin + (end - begin) / 2;
  std::int64_t swaps =
      sort_counting(values, spare, begin, middle) + sort_counting(values, spare, middle, end);
  std::size_t left = begin, right = middle, out = begin;
  while (left < middle || right < end) {
    if (right == end || (left < middle && values[left] <= values[right])) {
      spare[out++] = values[left++];
    } else {
      swaps += static_cast<std::int64_t>(middle - left);
      spare[out++] = values[right++];
    }
  }
  std::copy(spare.begin() + begin, spare.begin() + end, values.begin() + begin);
  return swaps;
}

}  // namespace

double kendall(std::span<const double> a, std::span<const double> b) {
  const std::size_t n = a.size();
  std::vector<std::pair<double, double>> both(n);
  for (std::size_t i = 0; i < n; ++i) both[i] = {a[i], b[i]};
  std::ranges::sort(both);
  const std::int64_t all = pairs(static_cast<std::int64_t>(n));
  const std::int64_t tied_a =
      tied_pairs(n, [&](std::size_t i, std::size_t j) { return both[i].first == both[j].first; });
  const std::int64_t tied_both =
      tied_pairs(n, [&](std::size_t i, std::size_t j) { return both[i] == both[j]; });
  std::vector<double> sorted(n), spare(n);
  for (std::size_t i = 0; i < n; ++i) sorted[i] = both[i].second;
  const std::int64_t swaps = sort_counting(sorted, spare, 0, n);
  const std::int64_t tied_b =
      tied_pairs(n, [&](std::size_t i, std::size_t j) { return sorted[i] == sorted[j]; });
  if (tied_a == all || tied_b == all) return nan;
  const auto difference = static_cast<double>(all - tied_a - tied_b + tied_both - 2 * swaps);
  return difference / std::sqrt(static_cast<double>(all - tied_a)) /
         std::sqrt(static_cast<double>(all - tied_b));
}

std::vector<double> ranks(std::span<const double> values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t i) { return values[i]; });
  std::vector<double> result(values.size());
  for (std::size_t begin = 0; begin < order.size();) {
    std::size_t end = begin + 1;
    while (end < order.size() && values[order[end]] == values[order[begin]]) ++end;
    for (std::size_t i = begin; i < end; ++i) result[order[i]] = static_cast<double>(begin + 1 + end) / 2;
    begin = end;
  }
  return result;
}

double correlation(std::span<const double> a, std::span<const double> b) {
  const double mean_a = mean_of(a), mean_b = mean_of(b);
  double aa = 0, bb = 0, ab = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    aa += (a[i] - mean_a) * (a[i] - mean_a);
    bb += (b[i] - mean_b) * (b[i] - mean_b);
    ab += (a[i] - mean_a) * (b[i] - mean_b);
  }
  return aa > 0 && bb > 0 ? std::clamp(ab / std::sqrt(aa) / std::sqrt(bb), -1.0, 1.0) : nan;
}

double spearman(std::span<const double> a, std::span<const double> b) {
  return correlation(ranks(a), ranks(b));
}

double partial(double ab, double ac, double bc) {
  const double rest = (1 - ac * ac) * (1 - bc * bc);
  return rest > 0 ? std::clamp((ab - ac * bc) / std::sqrt(rest), -1.0, 1.0) : nan;
}

}  // namespace assay::audit
