#include "assay/coverage/criteria/top_k.h"

#include <functional>

namespace assay::coverage {

namespace {

template <typename Better>
void choose(std::span<const float> values, std::size_t k, Better better, std::vector<std::uint32_t>& out) {
  const auto insert = [&](std::uint32_t i) {
    std::size_t at = out.size();
    while (at > 0 && better(values[i], values[out[at - 1]])) --at;
    out.insert(out.begin() + static_cast<std::ptrdiff_t>(at), i);
  };
  std::uint32_t i = 0;
  for (; i < values.size() && out.size() < k; ++i) insert(i);
  if (i == values.size()) return;
  for (float last = values[out.back()]; i < values.size(); ++i) {
    if (!better(values[i], last)) continue;
    out.pop_back();
    insert(i);
    last = values[out.back()];
  }
}

}  // namespace

void top_k(std::span<const float> values, std::size_t k, bool least, std::vector<std::uint32_t>& out) {
  out.clear();
  if (k == 0) return;
  if (least)
    choose(values, k, std::less(), out);
  else
    choose(values, k, std::greater(), out);
}

}  // namespace assay::coverage
