#include "assay/model/stable_order.h"

#include <functional>
#include <queue>

namespace assay::inline model {

std::vector<std::size_t> stable_order(const std::vector<std::vector<std::size_t>>& before) {
  std::vector<std::vector<std::size_t>> after(before.size());
  std::vector<std::size_t> waiting(before.size());
  std::priority_queue<std::size_t, std::vector<std::size_t>, std::greater<>> ready;
  for (std::size_t n = 0; n < before.size(); ++n) {
    waiting[n] = before[n].size();
    for (const std::size_t one : before[n]) after[one].push_back(n);
    if (waiting[n] == 0) ready.push(n);
  }
  std::vector<std::size_t> order;
  while (!ready.empty()) {
    order.push_back(ready.top());
    ready.pop();
    for (const std::size_t next : after[order.back()]) {
      if (--waiting[next] == 0) ready.push(next);
    }
  }
  return order;
}

}  // namespace assay::inline model
