#include "assay/explore/shrink.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>

#include "assay/engine/elements.h"

namespace assay::explore {
namespace {

constexpr int halvings = 6;
constexpr std::size_t parts = 4;

class Shrinker {
 public:
  Shrinker(const Searches& searches, Found found,
           const std::function<Array(const Searches&, const Array&)>& record_of,
           const std::function<std::vector<bool>(const Array&)>& differs)
      : searches_(searches),
        found_(std::move(found)),
        record_of_(record_of),
        differs_(differs),
        rows_(searches.size()),
        width_(static_cast<std::size_t>(searches.seeds.count()) / std::max<std::size_t>(1, rows_)) {}

  Array records() const { return found_.records; }

  // The least share of the change that does.
  void scale() {
    const Array points = found_.points;
    std::vector<float> low(rows_), high(rows_, 1), middle(rows_);
    for (int i = 0; i < halvings; ++i) {
      for (std::size_t r = 0; r < rows_; ++r) middle[r] = (low[r] + high[r]) / 2;
      const std::vector<bool> good =
          attempt(by_element(points, [&](std::size_t r, std::size_t, float seed, float point) {
            return seed + (point - seed) * middle[r];
          }));
      for (std::size_t r = 0; r < rows_; ++r) (good[r] ? high : low)[r] = middle[r];
    }
  }

  // Without as many of the smallest elements of the change as can be.
  void drop_smallest() {
    const Array origin = found_.points;
    // The place of each element by the size of its change; elements that did not move come first.
    std::vector<std::size_t> place(rows_ * width_), idle(rows_), low(rows_), high(rows_), middle(rows_);
    for (std::size_t r = 0; r < rows_; ++r) {
      const std::span<const float> point = row(origin, r), seed = row(searches_.seeds, r);
      const auto size = [&](std::size_t i) { return std::abs(point[i] - seed[i]); };
      std::vector<std::size_t> order(width_);
      std::iota(order.begin(), order.end(), std::size_t{0});
      std::ranges::stable_sort(order, {}, size);
      for (std::size_t p = 0; p < width_; ++p) place[r * width_ + order[p]] = p;
      idle[r] = std::ranges::count_if(order, [&](std::size_t i) { return size(i) == 0; });
      high[r] = width_ - idle[r];
    }
    for (int i = 0; i < halvings; ++i) {
      for (std::size_t r = 0; r < rows_; ++r) middle[r] = (low[r] + high[r]) / 2;
      const std::vector<bool> good =
          attempt(by_element(origin, [&](std::size_t r, std::size_t e, float seed, float point) {
            return place[r * width_ + e] < idle[r] + middle[r] ? seed : point;
          }));
      for (std::size_t r = 0; r < rows_; ++r) (good[r] ? low : high)[r] = middle[r];
    }
  }

  // Without those quarters of the changed elements that are not needed, one after the other.
  void drop_parts() {
    std::vector<std::size_t> part(rows_ * width_, parts);  // of an element that changed
    for (std::size_t r = 0; r < rows_; ++r) {
      const std::span<const float> point = row(found_.points, r), seed = row(searches_.seeds, r);
      std::size_t count = 0, next = 0;
      for (std::size_t i = 0; i < width_; ++i) count += point[i] != seed[i] ? 1 : 0;
      for (std::size_t i = 0; i < width_; ++i) {
        if (point[i] != seed[i]) part[r * width_ + i] = next++ * parts / count;
      }
    }
    for (std::size_t p = 0; p < parts; ++p) {
      attempt(by_element(found_.points, [&](std::size_t r, std::size_t e, float seed, float point) {
        return part[r * width_ + e] == p ? seed : point;
      }));
    }
  }

 private:
  std::span<float> row(const Array& tensor, std::size_t r) const {
    return {tensor.elements<float>() + r * width_, width_};
  }

  // Candidates made of each element of the seeds and of points.
  template <typename Make>
  Array by_element(const Array& points, const Make& make) const {
    Array result = array::empty(points.shape());
    for (std::size_t r = 0; r < rows_; ++r) {
      const std::span<const float> point = row(points, r), seed = row(searches_.seeds, r);
      const std::span<float> to = row(result, r);
      for (std::size_t e = 0; e < width_; ++e) to[e] = make(r, e, seed[e], point[e]);
    }
    return result;
  }

  // Takes over candidates on which networks disagree, and tells which.
  std::vector<bool> attempt(const Array& candidate) {
    const Array records = record_of_(searches_, candidate);
    std::vector<bool> good = differs_(records);
    found_ = {found_.points.clone(), found_.records.clone()};  // candidates are made of the former ones
    for (std::size_t r = 0; r < rows_; ++r) {
      if (!good[r]) continue;
      std::ranges::copy(row(candidate, r), row(found_.points, r).begin());
      std::ranges::copy(row(records, r), row(found_.records, r).begin());
    }
    return good;
  }

  const Searches& searches_;
  Found found_;
  const std::function<Array(const Searches&, const Array&)>& record_of_;
  const std::function<std::vector<bool>(const Array&)>& differs_;
  std::size_t rows_, width_;  // records, and elements of each
};

}  // namespace

Array shrink(const Searches& searches, Found found, const Shrinking& allowed,
             const std::function<Array(const Searches&, const Array&)>& record_of,
             const std::function<std::vector<bool>(const Array&)>& differs) {
  Shrinker shrinker(searches, std::move(found), record_of, differs);
  if (allowed.scale) shrinker.scale();
  if (allowed.elements) {
    shrinker.drop_smallest();
    shrinker.drop_parts();
  }
  return shrinker.records();
}

}  // namespace assay::explore
