// Networks of several training seeds on the same records.

#include <algorithm>
#include <cmath>

#include <assay/reliability.h>
#include "assay/support/numbers/distributions.h"

namespace assay::reliability {
namespace {

// x with P(|T| >= x) = p.
double student_critical(double p, double degrees) {
  double low = 0, high = 1e6;
  for (int i = 0; i < 200; ++i) {
    const double middle = 0.5 * (low + high);
    (student_two_sided(middle, degrees) > p ? low : high) = middle;
  }
  return high;
}

double share_of_differences(const std::vector<std::int64_t>& a, const std::vector<std::int64_t>& b) {
  std::size_t differ = 0;
  for (std::size_t i = 0; i < a.size(); ++i) differ += a[i] != b[i];
  return static_cast<double>(differ) / a.size();
}

void add_spread(Stability& found) {
  const auto networks = static_cast<double>(found.accuracies.size());
  for (const double one : found.accuracies) found.mean += one / networks;
  if (found.accuracies.size() < 2) return;
  double squares = 0;
  for (const double one : found.accuracies) squares += (one - found.mean) * (one - found.mean);
  found.deviation = std::sqrt(squares / (networks - 1));
  const double half = student_critical(0.05, networks - 1) * found.deviation / std::sqrt(networks);
  found.interval = {std::max(0.0, found.mean - half), std::min(1.0, found.mean + half)};
}

}  // namespace

Stability stability_of(std::span<const std::vector<std::int64_t>> classes,
                       std::span<const std::int64_t> labels) {
  Stability found;
  found.records = labels.size();
  for (const std::vector<std::int64_t>& of_network : classes) {
    std::size_t right = 0;
    for (std::size_t i = 0; i < labels.size(); ++i) right += of_network[i] == labels[i];
    found.accuracies.push_back(static_cast<double>(right) / labels.size());
  }
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const auto right = static_cast<std::size_t>(
        std::ranges::count_if(classes, [&](const auto& of_network) { return of_network[i] == labels[i]; }));
    ++(right == classes.size() ? found.all_right : right > 0 ? found.some_right : found.none_right);
  }
  double pairs = 0;
  for (std::size_t a = 0; a < classes.size(); ++a)
    for (std::size_t b = a + 1; b < classes.size(); ++b, ++pairs)
      found.disagreement += share_of_differences(classes[a], classes[b]);
  if (pairs > 0) found.disagreement /= pairs;
  add_spread(found);
  return found;
}

}  // namespace assay::reliability
