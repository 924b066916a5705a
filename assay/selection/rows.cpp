#include <assay/selection.h>

#include <algorithm>

#include <assay/error.h>

namespace assay::selection {

void CoveredRows::add(std::span<const std::uint32_t> row) {
  items.insert(items.end(), row.begin(), row.end());
  begin.push_back(items.size());
}

std::uint64_t CoveredRows::item_limit() const {
  return items.empty() ? 0 : std::uint64_t{*std::max_element(items.begin(), items.end())} + 1;
}

CoveredRows CoveredRows::canonical() const {
  const bool rows = !begin.empty() && begin.front() == 0 && begin.back() == items.size() &&
                    std::is_sorted(begin.begin(), begin.end());
  if (!rows)
    fail(Fault::data, "covered items: the beginnings of the rows do not describe {} entries", items.size());
  CoveredRows result;
  result.begin.reserve(begin.size());
  result.items.reserve(items.size());
  std::vector<std::uint32_t> sorted;
  for (std::size_t r = 0; r < records(); ++r) {
    const auto found = row(r);
    sorted.assign(found.begin(), found.end());
    std::sort(sorted.begin(), sorted.end());
    sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
    result.add(sorted);
  }
  return result;
}

}  // namespace assay::selection
