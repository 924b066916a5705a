#include <algorithm>
#include <numeric>

#include "assay/audit/curves/curve_forms.h"

namespace assay::audit {
namespace {

constexpr std::size_t fewest_in_leaf = 5;
constexpr int most_splits = 3;  // one after the other

// Either a leaf or a threshold with what lies up to it and above.
struct Branch {
  double mean = 0, threshold = 0;
  std::size_t low = 0, high = 0;  // 0: a leaf
};

class RegressionTree {
 public:
  RegressionTree(std::span<const double> x, std::span<const double> y) {
    std::vector<std::size_t> order(x.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, {}, [&](std::size_t i) { return x[i]; });
    for (const std::size_t i : order) x_.push_back(x[i]), y_.push_back(y[i]);
    grow(0, x_.size(), most_splits);
  }
  double operator()(double at) const {
    std::size_t b = 0;
    while (branches_[b].low != 0) b = at <= branches_[b].threshold ? branches_[b].low : branches_[b].high;
    return branches_[b].mean;
  }

 private:
  std::size_t grow(std::size_t begin, std::size_t end, int splits) {
    const std::size_t made = branches_.size();
    branches_.push_back({.mean = sum(begin, end) / static_cast<double>(end - begin)});
    const std::size_t at = splits > 0 ? split(begin, end) : end;
    if (at == end) return made;
    branches_[made].threshold = (x_[at - 1] + x_[at]) / 2;
    const std::size_t low = grow(begin, at, splits - 1), high = grow(at, end, splits - 1);
    branches_[made].low = low;
    branches_[made].high = high;
    return made;
  }
  // Where the second part begins for the least squared error of both; the end if there is nothing to gain.
  std::size_t split(std::size_t begin, std::size_t end) const {
    const double all = sum(begin, end);
    const auto part = [](double total, std::size_t count) {
      return total * total / static_cast<double>(count);
    };
    double best = part(all, end - begin) * (1 + 1e-12), low = 0;
    std::size_t place = end;
    for (std::size_t at = begin + 1; at + fewest_in_leaf <= end; ++at) {
      low += y_[at - 1];
      if (at - begin < fewest_in_leaf || x_[at - 1] == x_[at]) continue;
      const double gain = part(low, at - begin) + part(all - low, end - at);
      if (gain > best) best = gain, place = at;
    }
    return place;
  }
  double sum(std::size_t begin, std::size_t end) const {
    return std::accumulate(y_.begin() + begin, y_.begin() + end, 0.0);
  }

  std::vector<double> x_, y_;  // in the order of x
  std::vector<Branch> branches_;
};

}  // namespace

Curve tree(std::span<const double> x, std::span<const double> y) { return RegressionTree(x, y); }

}  // namespace assay::audit
