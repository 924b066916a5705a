#include <algorithm>
#include <iterator>
#include <numeric>

#include "assay/audit/curves/curve_forms.h"

namespace assay::audit {
namespace {

struct Block {
  double from = 0, sum = 0, count = 0;
  double mean() const { return sum / count; }
};

}  // namespace

Curve steps(std::span<const double> x, std::span<const double> y) {
  std::vector<std::size_t> order(x.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return x[i]; });
  std::vector<Block> blocks;
  for (const std::size_t i : order) {
    if (!blocks.empty() && blocks.back().from == x[i]) {
      blocks.back().sum += y[i];
      ++blocks.back().count;
    } else {
      blocks.push_back({x[i], y[i], 1});
    }
  }
  std::vector<Block> rising;
  for (const Block& block : blocks) {
    rising.push_back(block);
    while (rising.size() > 1 && rising[rising.size() - 2].mean() >= rising.back().mean()) {
      const Block last = rising.back();
      rising.pop_back();
      rising.back().sum += last.sum;
      rising.back().count += last.count;
    }
  }
  return [rising](double at) {
    const auto after = std::ranges::upper_bound(rising, at, {}, &Block::from);
    return after == rising.begin() ? rising.front().mean() : std::prev(after)->mean();
  };
}

}  // namespace assay::audit
