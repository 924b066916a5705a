#pragma once

// Items of all records by falling score, and how many of them are right down to each.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace assay::task {

// What is right, and what counts at all, may be read in several ways, as of boxes at several overlaps: a bit
// for each.
struct RankedItem {
  float score = 0;
  std::uint32_t record = 0, right = 0, counted = 1;
  std::optional<std::uint32_t> partner = {};  // the other record, where the item is a pair
};

// Of each record `times` says how often it counts: all figures are those of the items, repeated as often.
class Ranking {
 public:
  // In the order of the data, which equal scores keep. O(n log n).
  explicit Ranking(std::vector<RankedItem> items);

  // The mean of the precision at every right item, equal scores taken together (as scikit-learn's
  // average_precision_score). Nothing where no item is right. O(n).
  std::optional<double> average_precision(std::span<const std::uint32_t> times) const;
  // The mean over the recalls 0, 0.01, ..., 1 of the greatest precision at that recall or a higher one (as
  // COCO's evaluation), 0 at those that are not reached. `positives`: items that there are to be found.
  // O(n).
  double interpolated_precision(int reading, double positives, std::span<const std::uint32_t> times) const;
  // Area under the curve of true over false positive rates, and the rate at which false positives and false
  // negatives are as many, between points on the straight line. Nothing where all items are alike. O(n).
  struct Roc {
    double area = 0, equal_error = 0;
  };
  std::optional<Roc> roc(std::span<const std::uint32_t> times) const;
  // The share of the items that the threshold takes for what they are: right ones have a score of at least
  // it.
  std::optional<double> accuracy(double threshold, std::span<const std::uint32_t> times) const;

 private:
  std::vector<RankedItem> items_;
};

}  // namespace assay::task
