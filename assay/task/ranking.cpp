#include "assay/task/ranking.h"

#include <algorithm>
#include <functional>
#include <utility>

namespace assay::task {
namespace {

bool has_bit(std::uint32_t bits, int reading) { return (bits >> reading & 1U) != 0; }

struct Point {
  double recall = 0, precision = 0;
};

// Points by rising recall.
double mean_over_recalls(std::span<const Point> points) {
  constexpr int steps = 100;
  double sum = 0, greatest = 0;
  std::size_t left = points.size();
  for (int step = steps; step >= 0; --step) {
    const double recall = step == steps ? 1 : step * (1.0 / steps);
    for (; left > 0 && points[left - 1].recall >= recall; --left)
      greatest = std::max(greatest, points[left - 1].precision);
    sum += greatest;
  }
  return sum / (steps + 1);
}

}  // namespace

Ranking::Ranking(std::vector<RankedItem> items) : items_(std::move(items)) {
  std::ranges::stable_sort(items_, std::greater<>(), &RankedItem::score);
}

std::optional<double> Ranking::average_precision(std::span<const std::uint32_t> times) const {
  double sum = 0, found = 0, seen = 0;
  for (std::size_t i = 0; i < items_.size();) {
    const float score = items_[i].score;
    double here = 0;
    for (; i < items_.size() && items_[i].score == score; ++i) {
      const double count = times[items_[i].record];
      seen += count;
      here += has_bit(items_[i].right, 0) ? count : 0;
    }
    found += here;
    if (here > 0) sum += here * found / seen;
  }
  return found > 0 ? std::optional(sum / found) : std::nullopt;
}

double Ranking::interpolated_precision(int reading, double positives,
                                       std::span<const std::uint32_t> times) const {
  double found = 0, seen = 0;
  std::vector<Point> points;
  for (const RankedItem& item : items_) {
    const double count = times[item.record];
    if (count == 0 || !has_bit(item.counted, reading)) continue;
    seen += count;
    if (!has_bit(item.right, reading)) continue;
    found += count;
    points.push_back({found / positives, found / seen});
  }
  return mean_over_recalls(points);
}

}  // namespace assay::task
