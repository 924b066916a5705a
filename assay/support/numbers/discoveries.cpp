#include "assay/support/numbers/discoveries.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace assay::inline support {
namespace {

// Positions of the tests, the least p value first.
std::vector<std::size_t> ascending(std::span<const double> p) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < p.size(); ++i) {
    if (!std::isnan(p[i])) order.push_back(i);
  }
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return p[i]; });
  return order;
}

}  // namespace

std::vector<double> benjamini_hochberg(std::span<const double> p) {
  const std::vector<std::size_t> order = ascending(p);
  std::vector<double> q(p.size(), std::numeric_limits<double>::quiet_NaN());
  double least = 1;
  for (std::size_t rank = order.size(); rank > 0; --rank) {
    const std::size_t i = order[rank - 1];
    least = std::min(least, p[i] * order.size() / rank);
    q[i] = least;
  }
  return q;
}

std::vector<double> holm(std::span<const double> p) {
  const std::vector<std::size_t> order = ascending(p);
  std::vector<double> adjusted(p.size(), std::numeric_limits<double>::quiet_NaN());
  double greatest = 0;
  for (std::size_t rank = 0; rank < order.size(); ++rank) {
    greatest = std::max(greatest, p[order[rank]] * static_cast<double>(order.size() - rank));
    adjusted[order[rank]] = std::min(1.0, greatest);
  }
  return adjusted;
}

}  // namespace assay::inline support
