#include "assay/task/detection.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>

#include "assay/support/numbers/vectorised.h"

namespace assay::task {

double Box::area() const { return std::max(0.0, right - left) * std::max(0.0, bottom - top); }

Box around(double x, double y, double width, double height) {
  return {x - width / 2, y - height / 2, x + width / 2, y + height / 2};
}

double intersection(const Box& a, const Box& b) {
  const Box both{std::max(a.left, b.left), std::max(a.top, b.top), std::min(a.right, b.right),
                 std::min(a.bottom, b.bottom)};
  return both.area();
}

double overlap(const Box& a, const Box& b) {
  const double shared = intersection(a, b);
  return shared > 0 ? shared / (a.area() + b.area() - shared) : 0;
}

namespace {

// Sides of boxes, one after the other, for vectors.
struct Sides {
  const double *left, *top, *right, *bottom, *area;
  std::size_t count;
};

ASSAY_VECTORISED bool any_beyond(const Sides& others, const Box& box, double area, double threshold) {
  int any = 0;
  for (std::size_t i = 0; i < others.count; ++i) {
    const double width = std::min(others.right[i], box.right) - std::max(others.left[i], box.left),
                 height = std::min(others.bottom[i], box.bottom) - std::max(others.top[i], box.top),
                 shared = std::max(width, 0.0) * std::max(height, 0.0);
    any |= shared > threshold * (others.area[i] + area - shared) ? 1 : 0;
  }
  return any != 0;
}

class SidesOfBoxes {
 public:
  void add(const Box& box) {
    left_.push_back(box.left);
    top_.push_back(box.top);
    right_.push_back(box.right);
    bottom_.push_back(box.bottom);
    area_.push_back(box.area());
  }

  // Whether one of them may overlap this one by more than the threshold: also true a little below it.
  bool may_hide(const Box& box, double threshold) const {
    constexpr double nearly = 1 - 1e-9;
    return any_beyond({left_.data(), top_.data(), right_.data(), bottom_.data(), area_.data(), left_.size()},
                      box, box.area(), threshold * nearly);
  }

 private:
  std::vector<double> left_, top_, right_, bottom_, area_;
};

// Numbers of detections by falling score, equal ones in their order; as many as are asked for cost no more
// than that.
class ByScore {
 public:
  explicit ByScore(std::span<const Detection> detections) {
    for (std::size_t d = 0; d < detections.size(); ++d)
      waiting_.emplace_back(detections[d].score, -static_cast<std::int64_t>(d));
    std::ranges::make_heap(waiting_);
  }
  bool empty() const { return waiting_.empty(); }
  std::size_t next() {
    std::ranges::pop_heap(waiting_);
    const std::int64_t number = -waiting_.back().second;
    waiting_.pop_back();
    return number;
  }

 private:
  std::vector<std::pair<float, std::int64_t>> waiting_;
};

}  // namespace

std::vector<Detection> suppressed(std::span<const Detection> detections, double threshold, std::size_t most) {
  std::vector<Detection> kept;
  SidesOfBoxes sides;
  for (ByScore order(detections); !order.empty() && kept.size() < most;) {
    const Detection& one = detections[order.next()];
    const bool hidden = threshold < 1 && sides.may_hide(one.box, threshold) &&
                        std::ranges::any_of(kept, [&](const Detection& other) {
                          return overlap(one.box, other.box) > threshold;
                        });
    if (hidden) continue;
    kept.push_back(one);
    if (threshold < 1) sides.add(one.box);
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
      if (match >= 0 && wanted_[g].ignored && !wanted_[match].ignored) break;
      if ((taken[g] && !wanted_[g].ignored) || overlap_of(d, g) < best) continue;
      best = overlap_of(d, g);
      match = static_cast<int>(g);
    }
    if (match >= 0) taken[match] = true;
  }
  return found;
}

}  // namespace assay::task
