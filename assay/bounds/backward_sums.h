#pragma once

// Several sums over elements of values of a network, with the numbers added on the way back to its input, and
// how far all of that can be wrong.

#include <algorithm>
#include <cmath>
#include <map>
#include <span>
#include <vector>

#include "assay/bounds/static_network.h"

namespace assay::bounds {

class BackwardSums {
 public:
  // Factors of one element, one a sum.
  using Row = std::span<double>;
  // Of sums of up to ten million numbers in double precision, by their magnitude.
  static constexpr double accuracy = 1e7 * 0x1p-53;

  BackwardSums(const StaticNetwork& network, std::size_t count)
      : network_(network), count_(count), added_(count), slack_(count) {}

  bool has(ValueId id) const { return factors_.contains(id); }
  void drop(ValueId id) { factors_.erase(id); }
  Row row(ValueId id, std::size_t element) {
    std::vector<double>& all = factors_[id];
    if (all.empty()) all.resize(network_.size(id) * count_);
    return {all.data() + element * count_, count_};
  }
  static bool is_nothing(Row row) {
    return std::ranges::all_of(row, [](double one) { return one == 0; });
  }

  // The element is a number, give or take `error`.
  void add(double number, double error, Row row) { add(number, number, error, row); }
  // The same with one number where it is at least, another where it is at most.
  void add(double least, double most, double error, Row row) {
    for (std::size_t p = 0; p < count_; ++p) {
      const double number = row[p] > 0 ? least : most;
      added_[p] += number * row[p];
      slack_[p] += (std::abs(number) * accuracy + error) * std::abs(row[p]);
    }
  }
  // The element is a factor of another one: where it is at least, where it is at most.
  static void pass(Row to, double least, double most, Row row) {
    for (std::size_t p = 0; p < row.size(); ++p) to[p] += (row[p] > 0 ? least : most) * row[p];
  }
  static void pass(Row to, double factor, Row row) {
    for (std::size_t p = 0; p < row.size(); ++p) to[p] += factor * row[p];
  }
  std::vector<double> least() const {
    std::vector<double> result(count_);
    for (std::size_t p = 0; p < count_; ++p) result[p] = added_[p] - slack_[p] * (1 + 1e-6) - underflow;
    return result;
  }

 private:
  const StaticNetwork& network_;
  std::size_t count_;
  std::map<ValueId, std::vector<double>> factors_;
  std::vector<double> added_, slack_;
};

}  // namespace assay::bounds
