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

CoveredRows CoveredRows::canonical() const& { return CoveredRows(*this).canonical(); }

CoveredRows CoveredRows::canonical() && {
  const bool rows = !begin.empty() && begin.front() == 0 && begin.back() == items.size() &&
                    std::is_sorted(begin.begin(), begin.end());
  if (!rows)
    fail(Fault::data, "covered items: the beginnings of the rows do not describe {} entries", items.size());
  const auto at = [&](std::uint64_t place) { return items.begin() + place; };
  std::uint64_t first = 0;  // of the row, in the rows as they were given
  for (std::size_t r = 0; r < records(); ++r) {
    const auto from = at(first), to = at(begin[r + 1]);
    std::sort(from, to);
    first = begin[r + 1];
    const auto kept = std::move(from, std::unique(from, to), at(begin[r]));
    begin[r + 1] = static_cast<std::uint64_t>(kept - items.begin());
  }
  items.resize(begin.back());
  return std::move(*this);
}

}  // namespace assay::selection
