#include "assay/task/ranking.h"

#include <algorithm>
#include <functional>
#include <utility>

namespace assay::task {
namespace {

bool has_bit(std::uint32_t bits, int reading) { return (bits >> reading & 1U) != 0; }

double count_of(const RankedItem& item, std::span<const std::uint32_t> times) {
  return static_cast<double>(times[item.record]) * (item.partner ? times[*item.partner] : 1);
}

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
      const double count = count_of(items_[i], times);
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
    const double count = count_of(item, times);
    if (count == 0 || !has_bit(item.counted, reading)) continue;
    seen += count;
    if (!has_bit(item.right, reading)) continue;
    found += count;
    points.push_back({found / positives, found / seen});
  }
  return mean_over_recalls(points);
}

std::optional<Ranking::Roc> Ranking::roc(std::span<const std::uint32_t> times) const {
  double right = 0, wrong = 0;
  for (const RankedItem& item : items_) (has_bit(item.right, 0) ? right : wrong) += count_of(item, times);
  if (right == 0 || wrong == 0) return std::nullopt;
  Roc roc;
  double found = 0, mistaken = 0;  // rates so far
  for (std::size_t i = 0; i < items_.size();) {
    const float score = items_[i].score;
    double more_found = 0, more_mistaken = 0;
    for (; i < items_.size() && items_[i].score == score; ++i) {
      const double count = count_of(items_[i], times);
      has_bit(items_[i].right, 0) ? more_found += count / right : more_mistaken += count / wrong;
    }
    roc.area += more_mistaken * (found + more_found / 2);
    const double missing = 1 - found - mistaken, more = more_found + more_mistaken;
    if (missing > 0 && more >= missing) roc.equal_error = mistaken + more_mistaken * missing / more;
    found += more_found;
    mistaken += more_mistaken;
  }
  return roc;
}

std::optional<double> Ranking::accuracy(double threshold, std::span<const std::uint32_t> times) const {
  double right = 0, all = 0;
  for (const RankedItem& item : items_) {
    const double count = count_of(item, times);
    all += count;
    right += (item.score >= threshold) == has_bit(item.right, 0) ? count : 0;
  }
  return all > 0 ? std::optional(right / all) : std::nullopt;
}

}  // namespace assay::task
