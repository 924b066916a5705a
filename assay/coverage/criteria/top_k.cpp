#include "assay/coverage/criteria/top_k.h"

#include <algorithm>

namespace assay::coverage {

void top_k(std::span<const float> values, std::size_t k, bool least, std::vector<std::uint32_t>& out) {
  out.clear();
  const auto better = [&](float a, float b) { return least ? a < b : a > b; };
  for (std::uint32_t i = 0; i < values.size(); ++i) {
    if (out.size() == k && !better(values[i], values[out.back()])) continue;
    if (out.size() == k) out.pop_back();
    std::size_t at = out.size();
    while (at > 0 && better(values[i], values[out[at - 1]])) --at;
    out.insert(out.begin() + static_cast<std::ptrdiff_t>(at), i);
  }
}

}  // namespace assay::coverage
