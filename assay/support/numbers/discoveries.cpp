#include "assay/support/numbers/discoveries.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace assay::inline support {

std::vector<double> benjamini_hochberg(std::span<const double> p) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < p.size(); ++i) {
    if (!std::isnan(p[i])) order.push_back(i);
  }
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return p[i]; });
  std::vector<double> q(p.size(), std::numeric_limits<double>::quiet_NaN());
  double least = 1;
  for (std::size_t rank = order.size(); rank > 0; --rank) {
    const std::size_t i = order[rank - 1];
    least = std::min(least, p[i] * static_cast<double>(order.size()) / rank);
    q[i] = least;
  }
  return q;
}

}  // namespace assay::inline support
