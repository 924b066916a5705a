#include "assay/text/prefix_tree.h"

#include <algorithm>

#include "assay/support/ascii.h"

namespace assay::text {

PrefixTree::PrefixTree(const std::vector<std::pair<std::string, std::uint32_t>>& entries) {
  std::map<std::string, std::uint32_t> sorted;
  for (const auto& [text, number] : entries) {
    if (!text.empty()) sorted[text] = number;
  }
  entries_.assign(sorted.begin(), sorted.end());
  for (unsigned byte = 0; byte <= 256; ++byte) {
    const auto first = std::ranges::partition_point(
        entries_, [&](const auto& entry) { return byte_of(entry.first[0]) < byte; });
    begin_of_byte_.push_back(static_cast<std::uint32_t>(first - entries_.begin()));
  }
}

void PrefixTree::narrow(unsigned char byte, std::size_t at, std::size_t& low, std::size_t& high) const {
  if (at == 0) {
    low = begin_of_byte_[byte];
    high = begin_of_byte_[byte + 1U];
    return;
  }
  // The entry that ends here comes first.
  const auto *const begin = entries_.data() + low, *const end = entries_.data() + high;
  const auto value = [at](const auto& entry) {
    return entry.first.size() <= at ? -1 : int{byte_of(entry.first[at])};
  };
  const auto* const first = std::partition_point(begin, end, [&](const auto& e) { return value(e) < byte; });
  const auto* const last = std::partition_point(first, end, [&](const auto& e) { return value(e) <= byte; });
  low = first - entries_.data();
  high = last - entries_.data();
}

}  // namespace assay::text
