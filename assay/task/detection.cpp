#include "assay/task/detection.h"

#include <algorithm>
#include <functional>
#include <numeric>

namespace assay::task {

double Box::area() const { return std::max(0.0, right - left) * std::max(0.0, bottom - top); }

double intersection(const Box& a, const Box& b) {
  const Box both{std::max(a.left, b.left), std::max(a.top, b.top), std::min(a.right, b.right),
                 std::min(a.bottom, b.bottom)};
  return both.area();
}

double overlap(const Box& a, const Box& b) {
  const double shared = intersection(a, b);
  return shared > 0 ? shared / (a.area() + b.area() - shared) : 0;
}

std::vector<Detection> suppressed(std::vector<Detection> detections, double threshold, std::size_t most) {
  std::ranges::stable_sort(detections, std::greater<>(), &Detection::score);
  std::vector<Detection> kept;
  for (const Detection& one : detections) {
    if (kept.size() == most) break;
    const bool hidden = threshold < 1 && std::ranges::any_of(kept, [&](const Detection& other) {
                          return overlap(one.box, other.box) > threshold;
                        });
    if (!hidden) kept.push_back(one);
  }
  return kept;
}

Matching::Matching(std::span<const Detection> detections, std::span<const WantedBox> wanted)
    : wanted_(wanted), order_(wanted.size()), detections_(detections.size()) {
  std::iota(order_.begin(), order_.end(), std::size_t{0});
  std::ranges::stable_partition(order_, [&](std::size_t g) { return !wanted[g].ignored; });
  overlaps_.reserve(detections.size() * wanted.size());
  for (const Detection& one : detections) {
    const double area = one.box.area();
    for (const WantedBox& other : wanted) {
      const double inside = intersection(one.box, other.box);
      overlaps_.push_back(!other.ignored ? overlap(one.box, other.box) : area > 0 ? inside / area : 0);
    }
  }
}

double Matching::overlap_of(std::size_t detection, std::size_t wanted) const {
  return overlaps_[detection * wanted_.size() + wanted];
}

std::vector<int> Matching::at(double threshold) const {
  constexpr double almost_all = 1 - 1e-10;
  std::vector<int> found(detections_, -1);
  std::vector<bool> taken(wanted_.size());
  for (std::size_t d = 0; d < detections_; ++d) {
    double best = std::min(threshold, almost_all);
    int& match = found[d];
    for (const std::size_t g : order_) {
      if (match >= 0 && wanted_[g].ignored && !wanted_[static_cast<std::size_t>(match)].ignored) break;
      if ((taken[g] && !wanted_[g].ignored) || overlap_of(d, g) < best) continue;
      best = overlap_of(d, g);
      match = static_cast<int>(g);
    }
    if (match >= 0) taken[static_cast<std::size_t>(match)] = true;
  }
  return found;
}

}  // namespace assay::task
