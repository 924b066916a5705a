#include <assay/coverage_state.h>

#include <algorithm>

namespace assay::coverage {

void RecordRanges::add(std::size_t begin, std::size_t end) {
  if (begin >= end) return;
  std::vector<std::pair<std::size_t, std::size_t>> result;
  for (const auto& [from, to] : ranges_) {
    if (to < begin || from > end) {
      result.emplace_back(from, to);
    } else {
      begin = std::min(begin, from);
      end = std::max(end, to);
    }
  }
  result.emplace_back(begin, end);
  std::ranges::sort(result);
  ranges_ = std::move(result);
}

bool RecordRanges::overlaps(const RecordRanges& other) const {
  return std::ranges::any_of(ranges_, [&](const auto& a) {
    return std::ranges::any_of(other.ranges_,
                               [&](const auto& b) { return a.first < b.second && b.first < a.second; });
  });
}

std::size_t RecordRanges::size() const {
  std::size_t count = 0;
  for (const auto& [from, to] : ranges_) count += to - from;
  return count;
}

std::vector<std::size_t> RecordRanges::missing(std::size_t begin, std::size_t end) const {
  std::vector<std::size_t> positions;
  for (std::size_t i = begin; i < end; ++i) {
    const auto inside = std::ranges::find_if(
        ranges_, [&](const auto& range) { return range.first <= i && i < range.second; });
    if (inside == ranges_.end())
      positions.push_back(i);
    else
      i = inside->second - 1;
  }
  return positions;
}

}  // namespace assay::coverage
