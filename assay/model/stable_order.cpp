#include "assay/model/stable_order.h"

#include <functional>
#include <queue>

namespace assay::inline model {

std::vector<int> stable_order(const std::vector<std::vector<int>>& before) {
  const auto index = [](int place) { return static_cast<std::size_t>(place); };
  std::vector<std::vector<int>> after(before.size());
  std::vector<std::size_t> waiting(before.size());
  std::priority_queue<int, std::vector<int>, std::greater<>> ready;
  for (std::size_t n = 0; n < before.size(); ++n) {
    waiting[n] = before[n].size();
    for (const int one : before[n]) after[index(one)].push_back(static_cast<int>(n));
    if (waiting[n] == 0) ready.push(static_cast<int>(n));
  }
  std::vector<int> order;
  while (!ready.empty()) {
    order.push_back(ready.top());
    ready.pop();
    for (const int next : after[index(order.back())]) {
      if (--waiting[index(next)] == 0) ready.push(next);
    }
  }
  return order;
}

}  // namespace assay::inline model
